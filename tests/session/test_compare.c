/* Two traces compared thread by thread (trace/trace_compare.h): what is equal, and what differs. */
#include "ask/ask.h"
#include "session/state.h"
#include "trace/trace_compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static Session *open_run(const char *kernel, uint64_t seed, uint64_t schedule) {
    Error error = {0};
    RunSpec options = {
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

/* ---- guided by a recording ----------------------------------------------------------------------------- */

/* The run in its usual order, guided by a recording in another order. */
static bool agrees(const char *kernel, const char *dtype, uint64_t schedule, uint32_t last_block,
                   Text *text) {
    Error error = {0};
    RunSpec options = {.kernel = kernel,
                       .catalog = {.n = 5000, .block = 64, .seed = 1},
                       .keep_inputs = true,
                       .has_trace_blocks = true,
                       .trace_last = last_block};
    assert_true(plan_type_parse(dtype, &options.catalog.dtype));
    Session *a = session_open(&options, &error);
    options.schedule = schedule;
    Session *b = session_open(&options, &error);
    if (!a || !b) fail_msg("%s", error.message);
    AskRecording other = {.recorded = session_trace(b), .name = "other order"};
    bool same = false;
    text_clear(text);
    if (!ask_compare(a, &other, &(EmulatorTakenValues){0}, text, &same, &error))
        fail_msg("%s", error.message);
    session_free(a);
    session_free(b);
    return same;
}

static void what_scheduling_decides_is_recorded(void **state) {
    (void)state;
    static const char *const kernels[] = {"last_block", "cooperative", "atomic", "shuffle_atomic", "mean"};
    static const char *const types[] = {"int", "float", "double"};
    Text text = {0};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (uint64_t schedule = 3; schedule < 6; schedule++) {
                const CatalogRow *row = catalog_find(kernels[k], NULL);
                if (!row || !strstr(row->types, types[t])) continue;
                if (!agrees(kernels[k], types[t], schedule, 100, &text)) fail_msg("%s", text_string(&text));
            }
    text_done(&text);
}

/* Another block may have been the last: the run then takes another path. */
static void another_path_is_followed(void **state) {
    (void)state;
    Text text = {0};
    assert_true(agrees("last_block", "float", 3, 100, &text));
    if (strstr(text_string(&text), "only scheduling decides; 0 differ")) fail_msg("%s", text_string(&text));
    text_done(&text);
}

/* A value that no other block writes is never taken from the recording. */
static void another_input_is_not_taken(void **state) {
    (void)state;
    Error error = {0};
    RunSpec options = {
        .kernel = "last_block", .catalog = {.n = 5000, .block = 64, .seed = 1}, .keep_inputs = true};
    Session *a = session_open(&options, &error);
    options.catalog.seed = 2;
    Session *b = session_open(&options, &error);
    AskRecording other = {.recorded = session_trace(b), .name = "other input"};
    Text text = {0};
    bool same = true;
    assert_true(ask_compare(a, &other, &(EmulatorTakenValues){0}, &text, &same, &error));
    assert_false(same);
    assert_non_null(strstr(text_string(&text), "first difference: launch 0, block 0, warp 0, lane 0:"));
    assert_non_null(strstr(text_string(&text), "global_load"));
    text_done(&text);
    session_free(a);
    session_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_run_is_the_same),
        cmocka_unit_test(another_order_of_warps_is_the_same_to_every_thread),
        cmocka_unit_test(another_value_is_told_with_both_sides),
        cmocka_unit_test(what_scheduling_decides_is_recorded),
        cmocka_unit_test(another_path_is_followed),
        cmocka_unit_test(another_input_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
