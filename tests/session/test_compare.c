/* Two traces compared thread by thread (trace/compare.h): what is the same, and what is not. */
#include "session.h"
#include "trace/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static Session *open_run(const char *kernel, uint64_t seed, uint64_t schedule) {
    Error error = {0};
    SessionOptions options = {
        .kernel = kernel, .catalog = {.n = 1000, .block = 64, .seed = seed}, .schedule = schedule};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static void compare(const char *kernel, uint64_t seed, uint64_t schedule, TraceComparison *out) {
    Session *a = open_run(kernel, 1, 0), *b = open_run(kernel, seed, schedule);
    TraceSide sides[2] = {{session_trace(a), NULL, "first"}, {session_trace(b), NULL, "second"}};
    trace_compare(&sides[0], &sides[1], out);
    session_free(a);
    session_free(b);
}

static void the_same_run_is_the_same(void **state) {
    (void)state;
    TraceComparison comparison;
    compare("interleaved", 1, 0, &comparison);
    assert_true(comparison.same);
    assert_int_equal(comparison.blocks, 1);
    assert_int_equal(comparison.threads, 64);
    assert_true(comparison.events > 64);
    assert_true(comparison.masks > 0);
    assert_int_equal(comparison.equal_masks, comparison.masks);
    assert_int_equal(comparison.difference.length, 0);
    trace_comparison_done(&comparison);
}

static void another_order_of_warps_is_the_same_to_every_thread(void **state) {
    (void)state;
    TraceComparison comparison;
    compare("strided", 1, 7, &comparison);
    assert_true(comparison.same);
    trace_comparison_done(&comparison);
}

static void another_value_is_told_with_both_sides(void **state) {
    (void)state;
    TraceComparison comparison;
    compare("interleaved", 2, 0, &comparison);
    assert_false(comparison.same);
    const char *text = text_string(&comparison.difference);
    assert_non_null(strstr(text, "launch 0, block 0, warp 0, lane 0:\n  first: "));
    assert_non_null(strstr(text, "\n  second: "));
    assert_non_null(strstr(text, "global_load"));
    trace_comparison_done(&comparison);
}

static void what_atomics_find_is_counted_and_not_compared(void **state) {
    (void)state;
    TraceComparison comparison;
    compare("atomic", 1, 0, &comparison);
    assert_true(comparison.same);
    assert_true(comparison.free_values > 0);
    trace_comparison_done(&comparison);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_run_is_the_same),
        cmocka_unit_test(another_order_of_warps_is_the_same_to_every_thread),
        cmocka_unit_test(another_value_is_told_with_both_sides),
        cmocka_unit_test(what_atomics_find_is_counted_and_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
