/* The contents of buffers before a run, by each fill. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make_buffer(Plan *plan, PtxType type, uint64_t count, FillKind fill) {
    *plan = (Plan){0};
    plan_add_buffer(plan, "in", type, count, fill);
}

static void fill_buffer(Plan *plan, uint64_t seed) {
    Error error = {0};
    if (!plan_fill(plan, seed, &error)) fail_msg("%s", error.message);
}

static void plain_fills_hold_what_they_say(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S8, PTX_U16, PTX_S32, PTX_U64, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int fill = FILL_ZERO; fill <= FILL_IOTA; fill++) {
            Plan plan;
            make_buffer(&plan, types[t], 100, (FillKind)fill);
            fill_buffer(&plan, 1);
            for (uint64_t i = 0; i < 100; i++)
                assert_true(plan_element(types[t], plan.buffers[0].bytes, i) ==
                            (fill == FILL_IOTA ? (double)i : fill));
            plan_free(&plan);
        }
}

static void iota_wraps_in_small_integers(void **state) {
    (void)state;
    Plan plan;
    make_buffer(&plan, PTX_S8, 300, FILL_IOTA);
    fill_buffer(&plan, 1);
    assert_true(plan_element(PTX_S8, plan.buffers[0].bytes, 128) == -128);
    assert_true(plan_element(PTX_S8, plan.buffers[0].bytes, 299) == 43);
    plan_free(&plan);
}

static void random_data_is_the_same_everywhere(void **state) {
    (void)state;
    /* SplitMix64, computed separately. If these change, every recorded session and every screen in the tests
     * changes with them. */
    static const int expected[] = {500, -255, -123, 909};
    Plan plan;
    make_buffer(&plan, PTX_S32, 4, FILL_RANDOM);
    fill_buffer(&plan, 1);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal((int)plan_element(PTX_S32, plan.buffers[0].bytes, i), expected[i]);
    plan_free(&plan);
}

/* 0 to 9 in every type, equally often, the same for all types. */
/* Sizes near the pieces that threads share, and more threads than pieces. */
static void threads_fill_what_one_fills(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, (1 << 20) - 1, (1 << 20) + 1, 5 * (1 << 20) + 77};
    static const int threads[] = {2, 3, 64, 0};
    for (int kind = FILL_ONES; kind <= FILL_UNWRITTEN; kind++)
        for (size_t c = 0; kind != FILL_FILE && kind != FILL_VALUE && c < sizeof counts / sizeof *counts;
             c++) {
            Plan one;
            make_buffer(&one, PTX_S16, counts[c], (FillKind)kind);
            one.threads = 1;
            fill_buffer(&one, 7);
            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
                Plan many;
                make_buffer(&many, PTX_S16, counts[c], (FillKind)kind);
                many.threads = threads[t];
                fill_buffer(&many, 7);
                assert_memory_equal(one.buffers[0].bytes, many.buffers[0].bytes, counts[c] * 2);
                void *copy = plan_copy_bytes(&many, 0);
                assert_memory_equal(one.buffers[0].bytes, copy, counts[c] * 2);
                free(copy);
                plan_free(&many);
            }
            plan_free(&one);
        }
}

static void digits_are_the_same_ten_in_every_type(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S8,  PTX_U8,  PTX_S16, PTX_U16,  PTX_S32, PTX_U32,
                                    PTX_S64, PTX_U64, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
    static const int first[] = {7, 3, 4, 9};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        Plan plan, other;
        int times[10] = {0};
        make_buffer(&plan, types[t], 20000, FILL_DIGITS);
        make_buffer(&other, types[t], 20000, FILL_DIGITS);
        plan.buffers[0].scale = 60000; /* for random numbers, not for digits */
        fill_buffer(&plan, 1);
        fill_buffer(&other, 2);
        for (uint64_t i = 0; i < 20000; i++) {
            double value = plan_element(types[t], plan.buffers[0].bytes, i);
            assert_true(value >= 0 && value <= 9 && value == floor(value));
            if (i < 4) assert_int_equal(value, first[i]);
            times[(int)value]++;
        }
        for (int digit = 0; digit < 10; digit++) assert_in_range(times[digit], 1800, 2200);
        assert_memory_not_equal(plan.buffers[0].bytes, other.buffers[0].bytes, 100);
        plan_free(&plan);
        plan_free(&other);
    }
}

static void peaks_are_rare_and_elsewhere_with_each_seed(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static char first[COUNT];
    int both = 0;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        Plan plan;
        int peaks = 0;
        make_buffer(&plan, PTX_F32, COUNT, FILL_PEAKS);
        plan.buffers[0].low = -3, plan.buffers[0].high = 0.5;
        fill_buffer(&plan, seed);
        for (uint64_t i = 0; i < COUNT; i++) {
            double value = plan_element(PTX_F32, plan.buffers[0].bytes, i);
            assert_true(value == -3 || value == 0.5);
            peaks += value == 0.5;
            both += value == 0.5 && first[i];
            first[i] = value == 0.5;
        }
        assert_in_range(peaks, COUNT / 199, COUNT / 199 + 1);
        plan_free(&plan);
    }
    assert_int_equal(both, 0);
}

static void random_data_depends_on_seed_and_buffer(void **state) {
    (void)state;
    Plan one, other;
    make_buffer(&one, PTX_F64, 50, FILL_RANDOM);
    plan_add_buffer(&one, "second", PTX_F64, 50, FILL_RANDOM);
    make_buffer(&other, PTX_F64, 50, FILL_RANDOM);
    fill_buffer(&one, 1);
    fill_buffer(&other, 2);
    assert_memory_not_equal(one.buffers[0].bytes, other.buffers[0].bytes, 400);
    assert_memory_not_equal(one.buffers[0].bytes, one.buffers[1].bytes, 400);
    plan_free(&one);
    plan_free(&other);
}

static void random_data_stays_within_its_scale_and_reaches_it(void **state) {
    (void)state;
    static const struct {
        PtxType type;
        bool whole;
        double scale, least, most;
    } cases[] = {{PTX_S8, false, 0, -10, 10},      {PTX_U8, false, 0, 0, 10},  {PTX_S16, false, 0, -100, 100},
                 {PTX_S32, false, 0, -1000, 1000}, {PTX_S64, false, 5, -5, 5}, {PTX_F32, true, 0, -8, 8},
                 {PTX_F16, true, 2, -2, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Plan plan;
        double least = INFINITY, most = -INFINITY;
        make_buffer(&plan, cases[c].type, 20000, FILL_RANDOM);
        plan.buffers[0].whole_numbers = cases[c].whole;
        plan.buffers[0].scale = cases[c].scale;
        fill_buffer(&plan, 3);
        for (uint64_t i = 0; i < 20000; i++) {
            double value = plan_element(cases[c].type, plan.buffers[0].bytes, i);
            assert_true(value == floor(value));
            least = fmin(least, value);
            most = fmax(most, value);
        }
        assert_true(least == cases[c].least && most == cases[c].most);
        plan_free(&plan);
    }
    Plan plan;
    make_buffer(&plan, PTX_F32, 20000, FILL_RANDOM);
    fill_buffer(&plan, 3);
    double sum = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        double value = plan_element(PTX_F32, plan.buffers[0].bytes, i);
        assert_true(fabs(value) <= 1);
        sum += value;
    }
    assert_true(fabs(sum / 20000) < 0.02);
    plan_free(&plan);
}

static void files_fill_buffers_and_must_be_long_enough(void **state) {
    (void)state;
    char path[] = "/tmp/redviz_test_XXXXXX";
    int descriptor = mkstemp(path);
    static const uint8_t bytes[] = {1, 0, 0, 0, 254, 255, 255, 255};
    assert_int_equal(write(descriptor, bytes, sizeof bytes), sizeof bytes);
    close(descriptor);
    Plan plan;
    Error error = {0};
    make_buffer(&plan, PTX_S32, 2, FILL_FILE);
    plan.buffers[0].path = path;
    fill_buffer(&plan, 1);
    assert_true(plan_element(PTX_S32, plan.buffers[0].bytes, 1) == -2);
    plan_free(&plan);
    make_buffer(&plan, PTX_S32, 3, FILL_FILE);
    plan.buffers[0].path = path;
    assert_false(plan_fill(&plan, 1, &error));
    assert_non_null(strstr(error.message, "8 bytes are too few for in: 3 elements of int are 12"));
    plan_free(&plan);
    unlink(path);
    make_buffer(&plan, PTX_S32, 3, FILL_FILE);
    plan.buffers[0].path = "/nonexistent/redviz";
    assert_false(plan_fill(&plan, 1, &error));
    assert_string_equal(error.file, "/nonexistent/redviz");
    plan_free(&plan);
    make_buffer(&plan, PTX_S32, 3, FILL_FILE);
    plan.buffers[0].path = "/tmp";
    assert_false(plan_fill(&plan, 1, &error));
    plan_free(&plan);
}

static void plans_larger_than_the_machine_are_refused(void **state) {
    (void)state;
    Plan plan;
    Error error = {0};
    make_buffer(&plan, PTX_F64, (uint64_t)1 << 48, FILL_ZERO);
    assert_false(plan_fill(&plan, 1, &error));
    assert_non_null(strstr(error.message, "use a smaller --n"));
    plan_free(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_fills_hold_what_they_say),
        cmocka_unit_test(iota_wraps_in_small_integers),
        cmocka_unit_test(random_data_is_the_same_everywhere),
        cmocka_unit_test(threads_fill_what_one_fills),
        cmocka_unit_test(digits_are_the_same_ten_in_every_type),
        cmocka_unit_test(peaks_are_rare_and_elsewhere_with_each_seed),
        cmocka_unit_test(random_data_depends_on_seed_and_buffer),
        cmocka_unit_test(random_data_stays_within_its_scale_and_reaches_it),
        cmocka_unit_test(files_fill_buffers_and_must_be_long_enough),
        cmocka_unit_test(plans_larger_than_the_machine_are_refused),
    };
    return cmocka_run_group_tests_name("fill", tests, NULL, NULL);
}
