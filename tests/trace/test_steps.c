/* Steps: small examples of alignment, and the invariants of steps.h on random traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/block.h"
#include "trace/steps.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program of 64 instructions, two to a source line. */
enum { CODE = 64 };
static PtxCode code[CODE];
static PtxProgram program = {.code = code, .code_count = CODE};
static TraceLaunch launch = {.program = &program};

static int make_program(void **state) {
    (void)state;
    for (int pc = 0; pc < CODE; pc++) code[pc].line = (PtxSourceLine){"sum.cu", 10 + pc / 2};
    return 0;
}

static void append(TraceBlock *block, uint32_t turn, int warp, uint32_t mask, uint32_t interval, int pc,
                   uint32_t occurrence) {
    TraceEvent event = {.kind = TRACE_BRANCH, .turn = turn, .warp = warp, .mask = mask};
    event.interval = interval;
    event.pc = pc;
    event.occurrence = occurrence;
    trace_block_append(block, &event);
}

/* "pc: warp.event warp.event | pc: ..." */
static char *describe(const Steps *steps) {
    static char text[1024];
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < steps->step_count; i++) {
        const Step *step = &steps->steps[i];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%d:", i ? " | " : "", step->pc);
        for (int k = 0; k < step->count; k++) {
            TraceEvent event;
            trace_block_read_header(steps->block, steps->events[step->first + k], &event);
            at += (size_t)snprintf(text + at, sizeof text - at, " %d.%d", event.warp,
                                   steps->events[step->first + k]);
        }
    }
    return text;
}

#define ALL 0xffffffffu

static void warps_at_the_same_place_share_a_step(void **state) {
    (void)state;
    TraceBlock *block = trace_block_new(0);
    append(block, 0, 0, ALL, 0, 5, 0);
    append(block, 0, 1, ALL, 0, 5, 0);
    append(block, 1, 0, ALL, 0, 7, 0);
    append(block, 3, 1, ALL, 0, 7, 0); /* warp 1 arrived later */
    append(block, 4, 0, ALL, 1, 7, 0); /* the next interval is another place */
    Steps *steps = steps_build(&launch, block);
    assert_string_equal(describe(steps), "5: 0.0 1.1 | 7: 0.2 1.3 | 7: 0.4");
    assert_int_equal(steps->step_of_event[3], 1);
    assert_int_equal(steps->interval_step_count, 2);
    assert_int_equal(steps->line_step_count, 3);
    steps_free(steps);
    trace_block_free(block);
}

static void a_step_splits_where_aligning_would_turn_a_warp_back(void **state) {
    (void)state;
    TraceBlock *block = trace_block_new(0);
    append(block, 0, 0, ALL, 0, 5, 0);
    append(block, 1, 0, ALL, 0, 7, 0);
    append(block, 2, 1, ALL, 0, 7, 0); /* warp 1 executes the two in the other order */
    append(block, 3, 1, ALL, 0, 5, 0);
    append(block, 4, 2, ALL, 0, 5, 0); /* joins the newest step at 5 */
    Steps *steps = steps_build(&launch, block);
    assert_string_equal(describe(steps), "5: 0.0 | 7: 0.1 1.2 | 5: 1.3 2.4");
    steps_free(steps);
    trace_block_free(block);
}

static void fragments_of_a_warp_share_a_step_if_they_have_no_lane_in_common(void **state) {
    (void)state;
    TraceBlock *block = trace_block_new(0);
    append(block, 0, 1, 0xffff0000u, 0, 5, 0);
    append(block, 1, 1, 0x0000ffffu, 0, 5, 0);
    append(block, 1, 0, ALL, 0, 5, 0);
    append(block, 2, 0, 1, 0, 5, 0); /* the same lane again */
    Steps *steps = steps_build(&launch, block);
    assert_string_equal(describe(steps), "5: 0.2 1.1 1.0 | 5: 0.3");
    steps_free(steps);
    trace_block_free(block);
}

static void steps_group_into_lines_within_intervals(void **state) {
    (void)state;
    TraceBlock *block = trace_block_new(0);
    append(block, 0, 0, ALL, 0, 4, 0); /* line 12 */
    append(block, 1, 0, ALL, 0, 5, 0); /* line 12 */
    append(block, 2, 0, ALL, 0, 6, 0); /* line 13 */
    append(block, 3, 0, ALL, 1, 7, 0); /* line 13, next interval */
    append(block, 4, 0, ALL, 1, 4, 0); /* line 12 */
    Steps *steps = steps_build(&launch, block);
    static const int lines[] = {0, 2, 3, 4, 5}, intervals[] = {0, 3, 5};
    assert_int_equal(steps->line_step_count, 4);
    assert_memory_equal(steps->line_begin, lines, sizeof lines);
    assert_int_equal(steps->interval_step_count, 2);
    assert_memory_equal(steps->interval_begin, intervals, sizeof intervals);
    assert_int_equal(steps->steps[3].line_step, 2);
    assert_int_equal(steps->steps[3].interval_step, 1);
    steps_free(steps);
    trace_block_free(block);
}

static void a_block_without_events_has_no_steps(void **state) {
    (void)state;
    TraceBlock *block = trace_block_new(0);
    Steps *steps = steps_build(&launch, block);
    assert_int_equal(steps->step_count, 0);
    assert_int_equal(steps->line_step_count, 0);
    assert_int_equal(steps->line_begin[0], 0);
    assert_int_equal(steps->interval_begin[0], 0);
    steps_free(steps);
    trace_block_free(block);
}

/* ---- invariants ---------------------------------------------------------------------------------------- */

static uint64_t random_state;
static uint32_t any(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

static TraceBlock *any_block(int events, int warps) {
    TraceBlock *block = trace_block_new(0);
    uint32_t interval[64] = {0};
    int pc[64] = {0};
    for (int i = 0; i < events; i++) {
        int warp = (int)any((uint32_t)warps);
        /* Mostly in order, so that much is aligned. */
        pc[warp] = any(4) ? (pc[warp] + 1) % CODE : (int)any(CODE);
        if (any(20) == 0) interval[warp]++;
        uint32_t mask = any(3) ? ALL : any(2) ? 0xffffu << any(17) : 1u << any(32);
        append(block, (uint32_t)(i / warps), warp, mask, interval[warp], pc[warp], any(3));
    }
    return block;
}

static int lowest(uint32_t mask) {
    return __builtin_ctz(mask);
}

/* Every event is in exactly one step, at its own key, in order of warp and lane. */
static void check_membership(const Steps *steps, int events) {
    char *seen = calloc((size_t)events, 1);
    int next = 0;
    for (int i = 0; i < steps->step_count; i++) {
        const Step *step = &steps->steps[i];
        assert_int_equal(step->first, next);
        assert_true(step->count > 0);
        next += step->count;
        TraceEvent event, before = {0};
        for (int k = 0; k < step->count; k++) {
            int number = steps->events[step->first + k];
            trace_block_read_header(steps->block, number, &event);
            assert_false(seen[number]);
            seen[number] = 1;
            assert_int_equal(steps->step_of_event[number], i);
            assert_true(event.pc == step->pc && event.interval == step->interval &&
                        event.occurrence == step->occurrence);
            if (k) assert_true(before.warp < event.warp || lowest(before.mask) < lowest(event.mask));
            if (k && before.warp == event.warp) assert_int_equal(before.mask & event.mask, 0);
            before = event;
        }
    }
    assert_int_equal(next, events);
    free(seen);
}

/* A warp never goes back, and is in a step twice only with different lanes. */
static void check_order(const Steps *steps, int events) {
    int latest[64], first_event_before = -1;
    uint32_t lanes[64] = {0};
    for (int warp = 0; warp < 64; warp++) latest[warp] = -1;
    TraceEvent event;
    for (int i = 0; i < events; i++) {
        trace_block_read_header(steps->block, i, &event);
        int step = steps->step_of_event[i];
        assert_true(step >= latest[event.warp]);
        if (step > latest[event.warp]) lanes[event.warp] = 0;
        assert_int_equal(lanes[event.warp] & event.mask, 0);
        lanes[event.warp] |= event.mask;
        latest[event.warp] = step;
    }
    for (int i = 0; i < steps->step_count; i++) { /* steps are ordered by their first event */
        int first = INT32_MAX;
        for (int k = 0; k < steps->steps[i].count; k++) {
            int number = steps->events[steps->steps[i].first + k];
            if (number < first) first = number;
        }
        assert_true(first > first_event_before);
        first_event_before = first;
    }
}

static void random_traces_keep_every_invariant(void **state) {
    (void)state;
    for (int round = 0; round < 60; round++) {
        random_state = (uint64_t)round + 1;
        int events = 1 + (int)any(3000), warps = 1 + (int)any(32);
        TraceBlock *block = any_block(events, warps);
        Steps *steps = steps_build(&launch, block), *again = steps_build(&launch, block);
        check_membership(steps, events);
        check_order(steps, events);
        assert_int_equal(steps->step_count, again->step_count);
        assert_memory_equal(steps->events, again->events, (size_t)events * sizeof *steps->events);
        steps_free(again);
        steps_free(steps);
        trace_block_free(block);
    }
}

/* Warps that run the same code are fully aligned, however they drift apart. */
static void drifting_warps_align_completely(void **state) {
    (void)state;
    random_state = 99;
    TraceBlock *block = trace_block_new(0);
    int done[8] = {0};
    for (int left = 8 * 200; left;) {
        int warp = (int)any(8);
        if (done[warp] == 200) continue;
        append(block, 0, warp, ALL, 0, done[warp] % 20, (uint32_t)(done[warp] / 20));
        done[warp]++;
        left--;
    }
    Steps *steps = steps_build(&launch, block);
    assert_int_equal(steps->step_count, 200);
    for (int i = 0; i < 200; i++) assert_int_equal(steps->steps[i].count, 8);
    steps_free(steps);
    trace_block_free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_at_the_same_place_share_a_step),
        cmocka_unit_test(a_step_splits_where_aligning_would_turn_a_warp_back),
        cmocka_unit_test(fragments_of_a_warp_share_a_step_if_they_have_no_lane_in_common),
        cmocka_unit_test(steps_group_into_lines_within_intervals),
        cmocka_unit_test(a_block_without_events_has_no_steps),
        cmocka_unit_test(random_traces_keep_every_invariant),
        cmocka_unit_test(drifting_warps_align_completely),
    };
    return cmocka_run_group_tests_name("steps", tests, make_program, NULL);
}
