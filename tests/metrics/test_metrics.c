/* Metrics of the sample launch: the counters and events of each, generic accesses, lines, steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/totals.h"
#include "tests/metrics/sample.h"
#include <stdlib.h>
#include <string.h>

#define ALL 0xffffffffu

static void set_counters(TraceLaunch *launch) {
    TraceCounter *c = launch->counters;
    c[SAMPLE_LOAD_SHARED] = (TraceCounter){
        .executions = 10, .lanes = 320, .requests = 9, .wavefronts = 30, .ideal_wavefronts = 9};
    c[SAMPLE_STORE_SHARED] =
        (TraceCounter){.executions = 10, .lanes = 100, .requests = 8, .wavefronts = 8, .ideal_wavefronts = 8};
    c[SAMPLE_LOAD_GLOBAL] =
        (TraceCounter){.executions = 4, .lanes = 128, .requests = 4, .sectors = 20, .ideal_sectors = 16};
    c[SAMPLE_LOAD_GENERIC] = (TraceCounter){.executions = 6,
                                            .lanes = 192,
                                            .requests = 6,
                                            .shared_requests = 2,
                                            .global_requests = 5,
                                            .wavefronts = 7,
                                            .ideal_wavefronts = 2,
                                            .sectors = 40,
                                            .ideal_sectors = 20};
    c[SAMPLE_BRANCH] = (TraceCounter){.executions = 12, .lanes = 384, .requests = 12, .divergent = 5};
    c[SAMPLE_SHUFFLE] = (TraceCounter){.executions = 7, .lanes = 224, .requests = 7};
    c[SAMPLE_BARRIER] = (TraceCounter){.executions = 3, .lanes = 96, .requests = 3};
    c[SAMPLE_RED] =
        (TraceCounter){.executions = 2, .lanes = 2, .requests = 2, .sectors = 2, .ideal_sectors = 2};
    c[SAMPLE_EXIT] = (TraceCounter){.executions = 3, .lanes = 96, .requests = 3};
}

static void a_launch_is_the_sum_of_its_instructions(void **state) {
    (void)state;
    Sample sample;
    sample_open(&sample);
    set_counters(sample.launch);
    Totals totals;
    metrics_of_launch(sample.launch, &totals);
    const Totals expected = {.warp_instructions = 57,
                             .lane_instructions = 1542,
                             .shared_loads = 9 + 2, /* two of the generic loads reached shared memory */
                             .shared_stores = 8,
                             .shared_load_wavefronts = 30 + 7,
                             .shared_load_wavefronts_ideal = 9 + 2,
                             .shared_store_wavefronts = 8,
                             .shared_store_wavefronts_ideal = 8,
                             .global_load_requests = 4 + 5,
                             .global_load_sectors = 20 + 40,
                             .global_load_sectors_ideal = 16 + 20,
                             .shuffles = 7,
                             .barriers = 3,
                             .branches = 12,
                             .divergent_branches = 5,
                             .atomics = 2};
    assert_memory_equal(&totals, &expected, sizeof totals);
    assert_true(totals_average_active_lanes(&totals) > 27.05 && totals_average_active_lanes(&totals) < 27.06);
    assert_true(totals_average_active_lanes(&(Totals){0}) == 0);
    sample_close(&sample);
}

static void a_run_is_the_sum_of_its_launches(void **state) {
    (void)state;
    Sample sample;
    sample_open(&sample);
    set_counters(sample.launch);
    set_counters(trace_add_launch(sample.trace, &(Launch){.program = sample.program}));
    Totals totals;
    metrics_of_run(sample.trace, &totals);
    assert_int_equal(totals.warp_instructions, 2 * 57);
    assert_int_equal(totals.global_load_sectors, 2 * 60);
    sample_close(&sample);
}

static void lines_come_in_order_with_their_own_counts(void **state) {
    (void)state;
    Sample sample;
    sample_open(&sample);
    set_counters(sample.launch);
    int count;
    LineMetrics *lines = metrics_by_line(sample.trace, false, &count);
    assert_int_equal(count, 7); /* 10 to 16; ret has the line of the instruction before it */
    Totals sum = {0}, run;
    for (int i = 0; i < count; i++) {
        assert_string_equal(lines[i].file, "sample.cu");
        assert_int_equal(lines[i].line, 10 + i);
        totals_add(&sum, &lines[i].totals);
    }
    assert_int_equal(lines[0].totals.shared_loads, 9);
    assert_int_equal(lines[0].totals.shared_stores, 8);
    assert_int_equal(lines[2].totals.shared_loads, 2);
    assert_int_equal(lines[2].totals.global_load_requests, 5);
    assert_int_equal(lines[2].totals.warp_instructions, 6); /* once, though it accessed two spaces */
    metrics_of_run(sample.trace, &run);
    assert_memory_equal(&sum, &run, sizeof sum);
    free(lines);
    sample_close(&sample);
}

/* Two warps: a 2-way conflict, a store of one lane at an odd place of the window, global loads coalesced and
 * strided, a divergent branch. */
static TraceBlock *traced_block(void) {
    TraceBlock *block = trace_block_new(0);
    for (int warp = 0; warp < 2; warp++) {
        TraceEvent events[] = {sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, ALL, 0, 0, 8),
                               sample_access(TRACE_SHARED_STORE, SAMPLE_STORE_SHARED, 1, 1, 0, 4),
                               sample_access(TRACE_GLOBAL_LOAD, SAMPLE_LOAD_GLOBAL, ALL, 0, 0, 4),
                               sample_access(TRACE_GLOBAL_LOAD, SAMPLE_LOAD_GENERIC, ALL, 0, 0, 128),
                               sample_branch(ALL, warp ? ALL : 0xffff)};
        for (int i = 0; i < 5; i++) {
            events[i].warp = warp;
            trace_block_append(block, &events[i]);
        }
    }
    return block;
}

static void events_are_counted_by_the_same_folds(void **state) {
    (void)state;
    Sample sample;
    sample_open(&sample);
    trace_launch_add_block(sample.launch, traced_block());
    Steps *steps = steps_build(sample.launch, sample.launch->blocks[0]);
    assert_int_equal(steps->step_count, 5);
    Totals step, block, launch;
    metrics_of_step(steps, 0, &step);
    assert_int_equal(step.shared_loads, 2);
    assert_int_equal(step.shared_load_wavefronts, 4);
    assert_int_equal(step.shared_load_wavefronts_ideal, 2);
    assert_int_equal(step.warp_instructions, 0);
    metrics_of_step(steps, 3, &step);
    assert_int_equal(step.global_load_sectors, 64);
    assert_int_equal(step.global_load_sectors_ideal, 8);
    metrics_of_step(steps, 4, &step);
    assert_int_equal(step.branches, 2);
    assert_int_equal(step.divergent_branches, 1);
    metrics_of_steps(steps, 0, steps->step_count, &block);
    metrics_of_traced_launch(sample.launch, &launch);
    assert_memory_equal(&block, &launch, sizeof block);
    assert_int_equal(block.global_load_requests, 4);
    assert_int_equal(block.shared_stores, 2);
    steps_free(steps);
    sample_close(&sample);
}

/* Symbols need not start at a multiple of 128 bytes: the address in the window determines the bank. */
static void banks_follow_from_the_place_in_the_window(void **state) {
    (void)state;
    Sample sample;
    sample_open(&sample);
    TraceEvent event = sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, 3, 0, 0, 0);
    event.buffer[1] = 1;   /* tail begins at 4100 */
    event.offset[1] = 124; /* bank (4100 + 124) / 4 % 32 = 0, as lane 0 */
    TraceBlock *block = trace_block_new(0);
    trace_block_append(block, &event);
    event.offset[1] = 120;
    trace_block_append(block, &event);
    trace_launch_add_block(sample.launch, block);
    Totals totals;
    metrics_of_traced_launch(sample.launch, &totals);
    assert_int_equal(totals.shared_load_wavefronts, 2 + 1);
    sample_close(&sample);
}

/* The lanes between the first and the last also matter. */
static void a_branch_diverges_if_any_lane_does(void **state) {
    (void)state;
    static const uint32_t taken[] = {0, ALL, 1, 0x80000000u, 0x00010000, ~UINT32_C(0x00010000)};
    Sample sample;
    sample_open(&sample);
    TraceBlock *block = trace_block_new(0);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        TraceEvent event = sample_branch(ALL, taken[i]);
        trace_block_append(block, &event);
    }
    trace_launch_add_block(sample.launch, block);
    Totals totals;
    metrics_of_traced_launch(sample.launch, &totals);
    assert_int_equal(totals.branches, 6);
    assert_int_equal(totals.divergent_branches, 4);
    sample_close(&sample);
}

static void lines_know_their_worst_traced_access(void **state) {
    (void)state;
    Sample sample;
    sample_open(&sample);
    trace_launch_add_block(sample.launch, traced_block());
    int count;
    LineMetrics *lines = metrics_by_line(sample.trace, true, &count);
    assert_int_equal(lines[0].worst_shared, 2);
    assert_int_equal(lines[1].worst_global, 4);
    assert_int_equal(lines[2].worst_global, 32);
    assert_int_equal(lines[3].totals.branches, 2);
    assert_int_equal(lines[4].worst_shared, 0);
    free(lines);
    sample_close(&sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_is_the_sum_of_its_instructions),
        cmocka_unit_test(a_run_is_the_sum_of_its_launches),
        cmocka_unit_test(lines_come_in_order_with_their_own_counts),
        cmocka_unit_test(events_are_counted_by_the_same_folds),
        cmocka_unit_test(banks_follow_from_the_place_in_the_window),
        cmocka_unit_test(a_branch_diverges_if_any_lane_does),
        cmocka_unit_test(lines_know_their_worst_traced_access),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
