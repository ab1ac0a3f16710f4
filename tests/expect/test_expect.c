/* --expect, and what outputs look like without it. */
#include "plan/npy.h"
#include "tests/catalog/made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* With `in` from -8 to 8, `other` if requested, and `out`. */
static void open_sample(MadeRun *sample, PtxType type, uint64_t n, uint64_t outputs, bool has_other) {
    made_open(sample, type, n, 8);
    if (has_other) made_add(sample, "other", type, n, FILL_DIGITS);
    made_add(sample, "out", type, outputs, FILL_ZERO);
    made_fill(sample);
}

static void put(MadeRun *sample, uint64_t i, double value) {
    made_put(sample, sample->done.buffer_count - 1, i, value);
}

/* The output looks like `what`; NULL: like nothing. */
static void assert_found(const MadeRun *sample, const char *what) {
    Text text = {0};
    bool found = expect_look(&sample->expect, &text);
    if (found != (what != NULL)) fail_msg("found: %s", text_string(&text));
    if (what) assert_string_equal(text_string(&text), what);
    text_done(&text);
}

static void assert_said(const MadeRun *sample, const char *expectation, bool correct) {
    ExpectResult result = {0};
    Text text = {0};
    Error error = {0};
    if (!expect_compare(expectation, &sample->expect, &result, &text, &error))
        fail_msg("%s: %s", expectation, error.message);
    if (result.correct != correct)
        fail_msg("%s: %s instead of %s", expectation, result.result_text, result.expected_text);
    text_done(&text);
}

/* BUFFER[]: also what was not written counts, and equal copies are no parts. */
static void every_element_is_a_part(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 1000, 4, false);
    double sum = 0;
    for (uint64_t i = 0; i < 1000; i++) sum += made_in(&sample, 0, i);
    put(&sample, 0, sum - 3), put(&sample, 1, 3);
    assert_said(&sample, "out[]=sum(in)", true);
    put(&sample, 3, 5);
    assert_said(&sample, "out[]=sum(in)", false);
    for (uint64_t i = 0; i < 4; i++) put(&sample, i, sum);
    assert_said(&sample, "out=sum(in)", true);
    assert_said(&sample, "out [] = sum(in)", false);
    ExpectResult result;
    Text text = {0};
    Error error = {0};
    assert_false(expect_compare("out[]=mean(in)", &sample.expect, &result, &text, &error));
    assert_string_equal(error.message, "--expect: mean has no partial results; leave out []");
    text_done(&text);
    made_close(&sample);
}

static void totals_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 1000, 1, false);
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < 1000; i++)
        sum += made_in(&sample, 0, i), squares += made_in(&sample, 0, i) * made_in(&sample, 0, i);
    put(&sample, 0, sum);
    assert_found(&sample, "sum(in)");
    assert_said(&sample, "sum(in)", true);
    assert_said(&sample, "out = sum( in )", true);
    assert_said(&sample, "max(in)", false);
    put(&sample, 0, sum + 1); /* small whole numbers: a sum of them is exact */
    assert_found(&sample, NULL);
    assert_said(&sample, "sum(in)", false);
    put(&sample, 0, squares);
    assert_found(&sample, NULL);
    put(&sample, 0, (float)(sum / 1000));
    assert_said(&sample, "mean(in)", true);
    made_close(&sample);
}

static void partial_results_are_folded(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 1000, 8, false);
    for (uint64_t i = 0; i < 1000; i++) {
        int32_t *out = sample.done.buffers[1].bytes;
        out[i / 250] += (int32_t)made_in(&sample, 0, i);
    }
    assert_found(&sample, "sum(in) of 4 partial results");
    assert_said(&sample, "rowsum(in, 250)", true);
    ((int32_t *)sample.done.buffers[1].bytes)[0] += 5;
    ((int32_t *)sample.done.buffers[1].bytes)[1] -= 5;
    assert_found(&sample, "sum(in) of 4 partial results");
    ((int32_t *)sample.done.buffers[1].bytes)[1] -= 5;
    assert_found(&sample, NULL);
    assert_said(&sample, "sum(in)", false);
    made_close(&sample);
}

/* Each place has its row, of which the last is short; a right total is not enough. */
static void every_row_has_its_place(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 1000, 4, false);
    double sums[4] = {0};
    for (uint64_t i = 0; i < 1000; i++) sums[i / 300] += made_in(&sample, 0, i);
    for (uint64_t i = 0; i < 4; i++) put(&sample, i, sums[i]);
    assert_said(&sample, "out[]=rowsum(in, 300)", true);
    assert_said(&sample, "out[]=rowsum(in, 250)", false);
    for (uint64_t i = 0; i < 4; i++) put(&sample, i, sums[3 - i]);
    assert_said(&sample, "out[]=sum(in)", true);
    assert_said(&sample, "out[]=rowsum(in, 300)", false);
    ExpectResult result;
    Text text = {0};
    Error error = {0};
    assert_false(expect_compare("out[]=rowsum(in, 200)", &sample.expect, &result, &text, &error));
    assert_non_null(strstr(error.message, "as many elements"));
    text_done(&text);
    made_close(&sample);
}

/* Copied elements have the same sum, but are not partial results. */
static void a_copy_is_no_reduction(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 1000, 1000, false);
    for (uint64_t i = 0; i < 1000; i++) put(&sample, i, made_in(&sample, 0, i));
    assert_found(&sample, NULL);
    made_close(&sample);
}

static void rows_and_elements_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 64 * 16, 64 * 16, true);
    double sum = 0;
    for (uint64_t i = 0; i < 64 * 16; i++) put(&sample, i, sum += made_in(&sample, 0, i));
    assert_found(&sample, NULL);
    assert_said(&sample, "scan(in)", true);
    assert_said(&sample, "exscan(in)", false);
    for (uint64_t i = 0; i < 64 * 16; i++) put(&sample, i, 0);
    for (uint64_t i = 0; i < 64; i++) {
        double most = -9;
        for (uint64_t k = 0; k < 16; k++)
            most = made_in(&sample, 0, 16 * i + k) > most ? made_in(&sample, 0, 16 * i + k) : most;
        put(&sample, i, most);
    }
    assert_said(&sample, "rowmax(in, 16)", true);
    assert_said(&sample, "rowmax(in, n / 64)", true);
    assert_said(&sample, "rowmin(in, 16)", false);
    double dot = 0;
    for (uint64_t i = 0; i < 64 * 16; i++)
        put(&sample, i, 0), dot += made_in(&sample, 0, i) * made_in(&sample, 1, i);
    put(&sample, 0, dot);
    assert_found(&sample, "dot(in, other)");
    assert_said(&sample, "dot(other, in)", true);
    made_close(&sample);
}

/* Ascending elements have their largest one last in every row, and exponentials of which one is everything:
 * any kernel that stores ones would look like it. */
static void ones_look_like_nothing(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 1024, 512, false);
    float *values = sample.filled.buffers[0].bytes;
    for (int i = 0; i < 1024; i++) values[i] = (float)i * 1024;
    memcpy(sample.done.buffers[0].bytes, values, 1024 * sizeof *values);
    for (uint64_t i = 0; i < 512; i++) put(&sample, i, 1);
    assert_found(&sample, NULL);
    assert_said(&sample, "rowargmax(in, 2)", true);
    made_close(&sample);
    open_sample(&sample, PTX_F32, 1024, 1, false);
    values = sample.filled.buffers[0].bytes;
    for (int i = 0; i < 1024; i++) values[i] = (float)i * 1024;
    memcpy(sample.done.buffers[0].bytes, values, 1024 * sizeof *values);
    put(&sample, 0, 1);
    assert_found(&sample, NULL);
    assert_said(&sample, "sumexp(in)", true);
    made_close(&sample);
}

/* layernorm(in) * weight + bias, by rows of 128; with --expect and without. */
static void weights_and_biases_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 512, 512, true);
    Plan *const plans[] = {&sample.filled, &sample.done};
    for (int i = 0; i < 2; i++) { /* the row of weights precedes the output */
        PlanBuffer *other = &plans[i]->buffers[1];
        other->count = 128;
    }
    for (int row = 0; row < 4; row++) {
        double sum = 0, squares = 0;
        for (uint64_t i = 0; i < 128; i++) sum += made_in(&sample, 0, (uint64_t)row * 128 + i);
        for (uint64_t i = 0; i < 128; i++)
            squares += pow(made_in(&sample, 0, (uint64_t)row * 128 + i) - sum / 128, 2);
        for (uint64_t i = 0; i < 128; i++)
            put(&sample, (uint64_t)row * 128 + i,
                (made_in(&sample, 0, (uint64_t)row * 128 + i) - sum / 128) / sqrt(squares / 128 + 1e-5) *
                    made_in(&sample, 1, i));
    }
    assert_said(&sample, "layernorm(in, other, 128)", true);
    assert_said(&sample, "layernorm(in, 128)", false);
    made_close(&sample);
}

static void segments_begin_at_flags(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 512, 512, true);
    Plan *const plans[] = {&sample.filled, &sample.done};
    double sum = 0;
    for (uint64_t i = 0; i < 512; i++) {
        for (int k = 0; k < 2; k++) ((int32_t *)plans[k]->buffers[1].bytes)[i] = i % 7 == 3;
        sum = (i % 7 == 3 ? 0 : sum) + made_in(&sample, 0, i);
        put(&sample, i, sum);
    }
    assert_said(&sample, "segscan(in, other)", true);
    assert_said(&sample, "scan(in)", false);
    made_close(&sample);
}

/* A column has its own mean, variance and weight; a scan goes down it. */
static void columns_are_groups(void **state) {
    (void)state;
    enum { COLUMNS = 32, ROWS = 16 };
    MadeRun sample;
    open_sample(&sample, PTX_F32, ROWS * COLUMNS, ROWS * COLUMNS, true);
    Plan *const plans[] = {&sample.filled, &sample.done};
    for (int i = 0; i < 2; i++) plans[i]->buffers[1].count = COLUMNS;
    for (uint64_t c = 0; c < COLUMNS; c++) {
        double sum = 0, squares = 0;
        for (uint64_t r = 0; r < ROWS; r++) sum += made_in(&sample, 0, r * COLUMNS + c);
        for (uint64_t r = 0; r < ROWS; r++)
            squares += pow(made_in(&sample, 0, r * COLUMNS + c) - sum / ROWS, 2);
        for (uint64_t r = 0; r < ROWS; r++)
            put(&sample, r * COLUMNS + c,
                (made_in(&sample, 0, r * COLUMNS + c) - sum / ROWS) / sqrt(squares / ROWS + 1e-5) *
                    made_in(&sample, 1, c));
    }
    assert_said(&sample, "batchnorm(in, other, 32)", true);
    assert_said(&sample, "layernorm(in, other, 32)", false);
    for (uint64_t c = 0; c < COLUMNS; c++) {
        double sum = 0;
        for (uint64_t r = 0; r < ROWS; r++)
            put(&sample, r * COLUMNS + c, sum += made_in(&sample, 0, r * COLUMNS + c));
    }
    assert_said(&sample, "scan(in, 32)", false);
    made_close(&sample);
}

/* Three matrices one after another: in[b][r][c] is folded over r. */
static void columns_of_several_matrices_are_found(void **state) {
    (void)state;
    enum { COLUMNS = 16, ROWS = 10, MATRICES = 3 };
    MadeRun sample;
    open_sample(&sample, PTX_F32, MATRICES * ROWS * COLUMNS, MATRICES * COLUMNS, false);
    for (uint64_t b = 0; b < MATRICES; b++)
        for (uint64_t c = 0; c < COLUMNS; c++) {
            double most = -100;
            for (uint64_t r = 0; r < ROWS; r++)
                most = fmax(most, made_in(&sample, 0, (b * ROWS + r) * COLUMNS + c));
            put(&sample, b * COLUMNS + c, most);
        }
    assert_said(&sample, "colmax(in, 16, 10)", true);
    assert_said(&sample, "colmin(in, 16, 10)", false);
    assert_said(&sample, "colmax(in, 10, 16)", false);
    made_close(&sample);
}

/* All lanes of a warp have its sum. */
static void totals_in_every_element_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 96, 96, false);
    for (uint64_t i = 0; i < 96; i++) {
        double sum = 0;
        for (uint64_t k = 0; k < 32; k++) sum += made_in(&sample, 0, i / 32 * 32 + k);
        put(&sample, i, sum);
    }
    assert_said(&sample, "allmax(in, 32)", false);
    put(&sample, 95, -1000); /* one lane of the last warp has another */
    assert_said(&sample, "allsum(in, 32)", false);
    made_close(&sample);
}

/* Bins of eight values, and of letters by fours; with --expect, and without. */
static void histograms_have_wider_bins(void **state) {
    (void)state;
    for (int letters = 0; letters < 2; letters++) {
        MadeRun sample;
        open_sample(&sample, PTX_S32, 1024, 8, false);
        PlanBuffer *input = &sample.filled.buffers[0];
        int32_t *values = input->bytes, *same = sample.done.buffers[0].bytes;
        input->low = letters ? 'a' : 0;
        for (int i = 0; i < 1024; i++) same[i] = values[i] = letters ? 'a' + i % 26 : i * 7 % 64;
        int counts[8] = {0};
        for (int i = 0; i < 1024; i++) counts[letters ? (values[i] - 'a') / 4 : values[i] / 8]++;
        for (uint64_t i = 0; i < 8; i++) put(&sample, i, counts[i]);
        assert_said(&sample, letters ? "histogram(in, 8, 4, 97)" : "histogram(in, 8, 8)", true);
        assert_said(&sample, "histogram(in, 8)", false);
        made_close(&sample);
    }
}

/* The last buffers are variables of the module: results, if no argument is one. */
static void variables_are_results(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 1000, 1, false);
    sample.expect.variables = 1;
    double sum = 0;
    for (uint64_t i = 0; i < 1000; i++) sum += made_in(&sample, 0, i);
    put(&sample, 0, sum);
    assert_found(&sample, "sum(in)");
    assert_said(&sample, "out = sum(in)", true);
    made_close(&sample);
}

/* An exclusive scan in tiles of 64, each of which begins with the element before it. */
static void shifted_tiles_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 256, 256, false);
    double sum = 0;
    for (uint64_t i = 0; i < 256; i++) {
        if (i % 64 == 0) sum = 0;
        put(&sample, i, sum += i ? made_in(&sample, 0, i - 1) : 0);
    }
    assert_said(&sample, "shiftscan(in, 64)", true);
    made_close(&sample);
}

/* The last of several launches has the result: leftovers of the others are not results. */
static void intermediate_results_are_none(void **state) {
    (void)state;
    MadeRun sample;
    static const bool none[] = {true, false}, last[] = {false, true};
    open_sample(&sample, PTX_S32, 64, 1, false);
    double sum = 0;
    for (uint64_t i = 0; i < 64; i++) sum += made_in(&sample, 0, i);
    put(&sample, 0, sum);
    sample.expect.results = none;
    assert_found(&sample, NULL);
    sample.expect.results = last;
    assert_found(&sample, "sum(in)");
    made_close(&sample);
}

static void bad_expectations_say_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"", "is not one of sum, max"},
        {"sum", "write sum(BUFFER)"},
        {"dot(\nin,", "a control character (0x0a)"},
        {"sum(", "')' is missing"},
        {"sum()", "needs 1 buffer"},
        {"sum(im)", "no buffer 'im'; there are: in, out"},
        {"tot=sum(in)", "no buffer 'tot'"},
        {"total(in)", "'total' is not one of"},
        {"sum(in, 4)", "takes fewer arguments"},
        {"rowsum(in)", "needs the number of columns"},
        {"rowsum(in, 0)", "not a whole number from 1"},
        {"rowsum(in, k)", "'k' is not known"},
        {"dot(in)", "needs 2 buffers"},
        {"sum(in) + 1", "'+ 1' follows ')'"},
        {"file:", "a path follows"},
    };
    MadeRun sample;
    open_sample(&sample, PTX_F32, 64, 1, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error error = {0};
        if (expect_read(cases[i].text, &sample.filled, &error)) fail_msg("%s is accepted", cases[i].text);
        if (!strstr(error.message, cases[i].problem)) fail_msg("%s: %s", cases[i].text, error.message);
    }
    made_close(&sample);
}

/* A rounding error is not the kernel's error; another value is. */
static void rounding_is_allowed_for(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 1 << 16, 1, false);
    for (int i = 0; i < 2; i++) {
        PlanBuffer *buffer = i ? &sample.done.buffers[0] : &sample.filled.buffers[0];
        for (uint64_t k = 0; k < buffer->count; k++)
            plan_element_set(PTX_F32, buffer->bytes, k, 1.0 / (double)(k + 3));
    }
    float sum = 0;
    double exact = 0;
    for (uint64_t i = 0; i < 1 << 16; i++)
        sum += (float)made_in(&sample, 0, i), exact += made_in(&sample, 0, i);
    assert_false((double)sum == exact);
    put(&sample, 0, exact * (1 + 1e-6));
    assert_found(&sample, "sum(in)");
    put(&sample, 0, exact * 1.01);
    assert_found(&sample, NULL);
    made_close(&sample);
}

static void arrays_of_numpy_are_read_and_written(void **state) {
    (void)state;
    float values[] = {1, 2.5F, -3};
    NpyFile file;
    Error error = {0};
    assert_true(npy_write("build/expect.npy", PTX_F32, values, 3, &error));
    assert_true(npy_read_head("build/expect.npy", &file, &error));
    assert_int_equal(file.type, PTX_F32);
    assert_int_equal(file.count, 3);
    assert_int_equal(file.data_bytes % 64, 0);
    static const struct {
        const char *head, *problem;
    } cases[] = {{"", "no .npy file"},
                 {"{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }", "its elements are"},
                 {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", "Fortran"},
                 {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", "no elements"},
                 {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999,), }", "damaged"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *to = fopen("build/expect.npy", "wb");
        size_t length = strlen(cases[i].head);
        if (length) fwrite("\x93NUMPY\x01\x00", 1, 8, to), fputc((int)length, to), fputc(0, to);
        fputs(cases[i].head, to);
        fclose(to);
        if (npy_read_head("build/expect.npy", &file, &error)) fail_msg("%s is accepted", cases[i].head);
        if (!strstr(error.message, cases[i].problem)) fail_msg("%s: %s", cases[i].head, error.message);
    }
    remove("build/expect.npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_place),
        cmocka_unit_test(a_copy_is_no_reduction),
        cmocka_unit_test(totals_are_found),
        cmocka_unit_test(every_element_is_a_part),
        cmocka_unit_test(partial_results_are_folded),
        cmocka_unit_test(rows_and_elements_are_found),
        cmocka_unit_test(ones_look_like_nothing),
        cmocka_unit_test(weights_and_biases_are_found),
        cmocka_unit_test(shifted_tiles_are_found),
        cmocka_unit_test(histograms_have_wider_bins),
        cmocka_unit_test(variables_are_results),
        cmocka_unit_test(intermediate_results_are_none),
        cmocka_unit_test(columns_are_groups),
        cmocka_unit_test(segments_begin_at_flags),
        cmocka_unit_test(columns_of_several_matrices_are_found),
        cmocka_unit_test(totals_in_every_element_are_found),
        cmocka_unit_test(bad_expectations_say_what_is_wrong),
        cmocka_unit_test(rounding_is_allowed_for),
        cmocka_unit_test(arrays_of_numpy_are_read_and_written),
    };
    return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
