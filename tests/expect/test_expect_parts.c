/* Several results in one output, and several outputs: each part is recognized separately. */
#include "tests/catalog/made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1024, BLOCKS = MADE_BLOCKS, EACH = N / BLOCKS };

/* With `in` from -800 to 800, `out`, and `more` if there are two outputs. */
static void open_sample(MadeRun *sample, PtxType type, uint64_t outputs, int buffers) {
    made_open(sample, type, N, 800);
    made_add(sample, "out", type, outputs, FILL_ZERO);
    if (buffers > 1) made_add(sample, "more", type, outputs, FILL_ZERO);
    made_fill(sample);
    sample->expect.compares = true;
}

static double in(const MadeRun *sample, uint64_t i) {
    return made_in(sample, 0, i);
}

static double sum_of(const MadeRun *sample, uint64_t block, uint64_t component, uint64_t step) {
    double sum = 0;
    for (uint64_t i = component; i < EACH; i += step) sum += in(sample, block * EACH + i);
    return sum;
}

static double squares_of(const MadeRun *sample, uint64_t block) {
    double sum = 0;
    for (uint64_t i = 0; i < EACH; i++) sum += in(sample, block * EACH + i) * in(sample, block * EACH + i);
    return sum;
}

static uint64_t place_of(const MadeRun *sample, uint64_t block, int sign) {
    uint64_t best = block * EACH;
    for (uint64_t i = best; i < (block + 1) * EACH; i++)
        if (sign * in(sample, i) > sign * in(sample, best)) best = i;
    return best;
}

/* The output is recognized as `what`, with this many results; NULL: as nothing. */
static void assert_found(const MadeRun *sample, const char *what, uint64_t compared) {
    ExpectResult result = {0};
    Text text = {0};
    bool found = expect_find(&sample->expect, &result, &text);
    if (found != (what != NULL)) fail_msg("found: %s", text_string(&text));
    if (what) assert_string_equal(text_string(&text), what);
    if (what) assert_true(result.correct);
    if (what) assert_int_equal(result.compared, compared);
    text_done(&text);
}

static void pairs_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 2 * BLOCKS, 1);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        made_put(&sample, 1, 2 * b, sum_of(&sample, b, 0, 1));
        made_put(&sample, 1, 2 * b + 1, squares_of(&sample, b));
    }
    assert_found(&sample, "sum(in) and sumsq(in) of 4 partial results, as pairs", 2);
    made_put(&sample, 1, 5, 2 * squares_of(&sample, 2));
    assert_found(&sample, NULL, 0);
    made_close(&sample);
}

/* In scratch memory, which the kernel reads, one recognized part may be an accident. */
static void single_elements_are_found(void **state) {
    (void)state;
    MadeRun sample;
    double low = 0, high = 0;
    open_sample(&sample, PTX_F32, 2, 1);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        double least = in(&sample, place_of(&sample, b, -1)), most = in(&sample, place_of(&sample, b, 1));
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    made_put(&sample, 1, 0, low);
    made_put(&sample, 1, 1, high);
    assert_found(&sample, "min(in) and max(in), one element each", 2);
    made_put(&sample, 1, 1, high + 1);
    assert_found(&sample, NULL, 0);
    bool read[] = {true, true};
    sample.expect.read = read;
    assert_found(&sample, "min(in)", 1);
    made_close(&sample);
}

static void halves_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_S32, 2 * BLOCKS, 1);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        made_put(&sample, 1, b, in(&sample, place_of(&sample, b, -1)));
        made_put(&sample, 1, BLOCKS + b, in(&sample, place_of(&sample, b, 1)));
    }
    assert_found(&sample, "min(in) and max(in) of 4 partial results, one after the other", 2);
    made_put(&sample, 1, BLOCKS + 1, 801);
    assert_found(&sample, NULL, 0);
    made_close(&sample);
}

/* {float value; int index}, in either order: the integers are indices of the values beside them. */
static void places_are_found(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        MadeRun sample;
        open_sample(&sample, PTX_F32, 2 * BLOCKS, 1);
        int32_t *out = sample.done.buffers[1].bytes;
        for (uint64_t b = 0; b < BLOCKS; b++) {
            uint64_t place = place_of(&sample, b, 1);
            made_put(&sample, 1, 2 * b + (uint64_t)first, in(&sample, place));
            out[2 * b + 1 - (uint64_t)first] = (int32_t)place;
        }
        assert_found(&sample,
                     first ? "argmax(in) and max(in) of 4 partial results, as pairs"
                           : "max(in) and argmax(in) of 4 partial results, as pairs",
                     2);
        out[3 - first]++;
        assert_found(&sample, NULL, 0);
        made_close(&sample);
    }
}

/* A sum of all elements does not prove that the two are not confused. */
static void components_of_inputs_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 2 * BLOCKS, 1);
    for (uint64_t b = 0; b < BLOCKS; b++)
        for (uint64_t c = 0; c < 2; c++) made_put(&sample, 1, 2 * b + c, sum_of(&sample, b, c, 2));
    assert_found(&sample, "sum(in[0::2]) and sum(in[1::2]) of 4 partial results, as pairs", 2);
    made_put(&sample, 1, 3, sum_of(&sample, 1, 1, 2) + 1);
    assert_found(&sample, NULL, 0);
    made_close(&sample);
}

static void two_outputs_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, BLOCKS, 2);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        made_put(&sample, 1, b, sum_of(&sample, b, 0, 1));
        made_put(&sample, 2, b, in(&sample, place_of(&sample, b, 1)));
    }
    assert_found(&sample, "out = sum(in) of 4 partial results; more = max(in) of 4 partial results", 2);
    made_put(&sample, 1, 1, 0.5);
    assert_found(&sample, NULL, 0);
    bool read[] = {true, true, false};
    sample.expect.read = read; /* what the kernel reads may be scratch memory */
    assert_found(&sample, "max(in) of 4 partial results", 1);
    made_close(&sample);
}

/* The indices of the values in another output; a counter of blocks is not a result. */
static void an_output_of_places_is_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, BLOCKS, 2);
    sample.filled.buffers[2].type = sample.done.buffers[2].type = PTX_S32;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        made_put(&sample, 1, b, in(&sample, place_of(&sample, b, -1)));
        made_put(&sample, 2, b, (double)place_of(&sample, b, -1));
    }
    assert_found(&sample, "out = min(in) of 4 partial results; more = argmin(in) of 4 partial results", 2);
    made_put(&sample, 2, 2, (double)place_of(&sample, 2, 1));
    assert_found(&sample, NULL, 0);
    double sum = 0;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        sum += sum_of(&sample, b, 0, 1);
        made_put(&sample, 1, b, 0);
        made_put(&sample, 2, b, 0);
    }
    made_put(&sample, 1, 0, sum);
    made_put(&sample, 2, 0, BLOCKS);
    assert_found(&sample, "sum(in)", 1);
    made_close(&sample);
}

/* Components of another output's search have other values, at any place. */
static void two_outputs_have_parts(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, 2 * BLOCKS, 2);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        for (uint64_t c = 0; c < 2; c++) made_put(&sample, 1, 2 * b + c, sum_of(&sample, b, c, 2));
        made_put(&sample, 2, 2 * b, in(&sample, place_of(&sample, b, 1)));
        made_put(&sample, 2, 2 * b + 1, squares_of(&sample, b));
    }
    assert_found(&sample,
                 "out = sum(in[0::2]) and sum(in[1::2]) of 4 partial results, as pairs; "
                 "more = max(in) and sumsq(in) of 4 partial results, as pairs",
                 4);
    made_put(&sample, 2, 3, 1);
    assert_found(&sample, NULL, 0);
    made_close(&sample);
}

/* Indices that are an input of their own are recognized by their place beside the extreme value. */
static void carried_indices_are_found(void **state) {
    (void)state;
    MadeRun sample;
    open_sample(&sample, PTX_F32, BLOCKS, 2);
    Plan *const plans[] = {&sample.filled, &sample.done};
    Error error = {0};
    for (int k = 0; k < 2; k++) {
        int index = plan_add_buffer(plans[k], "indices", PTX_S32, N, FILL_PERMUTATION);
        assert_true(plan_fill_buffer(plans[k], index, 1, &error));
        plans[k]->buffers[2].type = PTX_S32;
    }
    const int32_t *indices = sample.filled.buffers[3].bytes;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        uint64_t place = place_of(&sample, b, 1);
        made_put(&sample, 1, b, in(&sample, place));
        made_put(&sample, 2, b, indices[place]);
    }
    assert_found(&sample,
                 "out = max(in) of 4 partial results; more = indices[argmax(in)] of 4 partial results", 5);
    made_put(&sample, 2, 1, indices[place_of(&sample, 1, -1)]);
    assert_found(&sample, NULL, 0);
    made_close(&sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_found),
        cmocka_unit_test(single_elements_are_found),
        cmocka_unit_test(halves_are_found),
        cmocka_unit_test(places_are_found),
        cmocka_unit_test(components_of_inputs_are_found),
        cmocka_unit_test(two_outputs_are_found),
        cmocka_unit_test(an_output_of_places_is_found),
        cmocka_unit_test(two_outputs_have_parts),
        cmocka_unit_test(carried_indices_are_found),
    };
    return cmocka_run_group_tests_name("parts of results", tests, NULL, NULL);
}
