/* Timelines of warps: stretches and sums by hand, and what holds for random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/emulator/lane_table.h"
#include "trace/warp_timeline.h"
#include <math.h>
#include <stdlib.h>

enum { GLOBAL, BARRIER, FENCE, SITES };

static WarpTimeline *new_timeline(int lines) {
    static const WarpActivity states[SITES] = {WARP_WAITS_GLOBAL, WARP_WAITS_BARRIER, WARP_WAITS_FENCE};
    WarpTimeline *timeline = warp_timeline_new(1, SITES, lines);
    for (int i = 0; i < SITES; i++) timeline->sites[i] = (WarpSite){.state = states[i], .load = -1};
    return timeline;
}

static void set_line(WarpTimeline *timeline, int index, uint32_t slot, uint32_t begin, uint32_t end,
                     const WarpWait *waits, int count) {
    timeline->lines[index] = (WarpLine){
        .warp = (uint32_t)index,
        .slot = slot,
        .begin = begin,
        .end = end,
        .waits = arena_copy(&timeline->arena, waits, (size_t)count * sizeof *waits + (count ? 0 : 1)),
        .wait_count = count};
}

/* ---- stretches ----------------------------------------------------------------------------------------- */

typedef struct Seen {
    Text text; /* "0-10 10-40g 40-50" */
    const WarpTimeline *timeline;
    uint32_t next;
    uint64_t cycles;
} Seen;

static void see(void *context, uint32_t begin, uint32_t end, int site) {
    Seen *seen = context;
    assert_int_equal(begin, seen->next);
    assert_true(end > begin);
    text_print(&seen->text, "%s%u-%u", seen->text.length ? " " : "", begin, end);
    if (site >= 0) text_print(&seen->text, "%c", warp_state_letter(seen->timeline->sites[site].state));
    seen->next = end;
    seen->cycles += end - begin;
}

static void expect_stretches(uint32_t begin, uint32_t end, const WarpWait *waits, int count,
                             const char *expected) {
    WarpTimeline *timeline = new_timeline(1);
    set_line(timeline, 0, 0, begin, end, waits, count);
    warp_timeline_finish(timeline);
    Seen seen = {.timeline = timeline, .next = begin};
    warp_line_stretches(&timeline->lines[0], see, &seen);
    assert_string_equal(text_string(&seen.text), expected);
    assert_int_equal(timeline->cycles, end);
    text_done(&seen.text);
    warp_timeline_free(timeline);
}
#define STRETCHES(begin, end, expected, ...)                                                                 \
    expect_stretches(begin, end, (const WarpWait[]){__VA_ARGS__},                                            \
                     (int)(sizeof(const WarpWait[]){__VA_ARGS__} / sizeof(WarpWait)), expected)

static void stretches_by_hand(void **state) {
    (void)state;
    expect_stretches(5, 50, (const WarpWait[]){{0}}, 0, "5-50");
    expect_stretches(5, 6, (const WarpWait[]){{0}}, 0, "5-6");
    expect_stretches(5, 5, (const WarpWait[]){{0}}, 0, "");
    STRETCHES(0, 50, "0-10 10-20g 20-30 30-50b", {10, 20, GLOBAL, 0}, {30, 50, BARRIER, 0});
    STRETCHES(0, 50, "0-20g 20-50b", {20, 50, BARRIER, 0}, {0, 20, GLOBAL, 0}); /* not sorted */
    /* Two paths of a split warp. The one that waited last goes on. */
    STRETCHES(0, 50, "0-10 10-20g 20-30b 30-50", {10, 40, GLOBAL, 0}, {20, 30, BARRIER, 7});
    STRETCHES(0, 50, "0-10 10-20g 20-45b 45-50", {10, 40, GLOBAL, 0}, {20, 45, BARRIER, 7});
    STRETCHES(0, 50, "0-10 10-40g 40-50", {10, 40, GLOBAL, 0}, {10, 30, BARRIER, 7});
    STRETCHES(0, 9, "0-4g 4-9", {0, 9, GLOBAL, 0}, {4, 4, BARRIER, 7}); /* of no cycle */
}

/* The clock of the probe and that of the warp's life are not read at once. */
static void waits_end_with_the_warp(void **state) {
    (void)state;
    STRETCHES(10, 50, "10-20g 20-50", {3, 20, GLOBAL, 0});
    STRETCHES(10, 50, "10-40 40-50g", {40, 70, GLOBAL, 0});
    STRETCHES(10, 50, "10-50", {2, 8, GLOBAL, 0}, {60, 70, BARRIER, 0});
    WarpTimeline *timeline = new_timeline(1);
    set_line(timeline, 0, 0, 10, 50, (const WarpWait[]){{2, 8, GLOBAL, 0}, {60, 70, BARRIER, 0}}, 2);
    warp_timeline_finish(timeline);
    const WarpWait *waits = timeline->lines[0].waits;
    assert_true(waits[0].begin == 10 && waits[0].end == 10 && waits[1].begin == 50 && waits[1].end == 50);
    warp_timeline_free(timeline);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

static void expect_summary(const WarpTimeline *timeline, uint32_t begin, uint32_t end, double ready,
                           double global, double barrier, double empty) {
    WarpSummary summary = warp_summary(timeline, begin, end);
    assert_true(summary.cycles == (double)WARP_SCHEDULERS * (end - begin));
    assert_true(summary.ready == ready && summary.empty == empty);
    assert_true(summary.waiting[WARP_WAITS_GLOBAL] == global);
    assert_true(summary.waiting[WARP_WAITS_BARRIER] == barrier);
    assert_true(summary.waiting[WARP_WORKS] == 0);
}

/* Scheduler 0: two warps; 1: one; 2 and 3: none. */
static void a_summary_by_hand(void **state) {
    (void)state;
    WarpTimeline *timeline = new_timeline(3);
    set_line(timeline, 0, 0, 0, 100, (const WarpWait[]){{20, 60, GLOBAL, 0}}, 1);
    set_line(timeline, 1, 4, 0, 80, (const WarpWait[]){{40, 80, BARRIER, 0}}, 1);
    set_line(timeline, 2, 1, 50, 70, (const WarpWait[]){{50, 70, GLOBAL, 0}}, 1);
    warp_timeline_finish(timeline);
    /* 40-60: both wait, for different things; 50-70: the third does. */
    expect_summary(timeline, 0, 100, 80, 10 + 20, 10, 80 + 200);
    expect_summary(timeline, 0, 20, 20, 0, 0, 60);
    expect_summary(timeline, 45, 55, 0, 5 + 5, 5, 5 + 20);
    expect_summary(timeline, 100, 120, 0, 0, 0, 80);
    double cycles[WARP_STATES];
    warp_state_cycles(timeline, cycles);
    assert_true(cycles[WARP_WORKS] == 100 && cycles[WARP_WAITS_GLOBAL] == 60 &&
                cycles[WARP_WAITS_BARRIER] == 40);
    assert_true(timeline->launches[0].begin == 0 && timeline->launches[0].end == 100);
    warp_timeline_free(timeline);
}

/* Coming to a line is no wait. */
static void lines_are_no_waits(void **state) {
    (void)state;
    WarpTimeline *timeline = warp_timeline_new(1, 1, 1);
    WarpWait passes = {10, 11, 0, 0};
    double cycles[WARP_STATES];
    timeline->sites[0] = (WarpSite){WARP_PASSES_LINE, 0, 3, -1, 7};
    timeline->lines[0] = (WarpLine){.begin = 0, .end = 20, .waits = &passes, .wait_count = 1};
    warp_timeline_finish(timeline);
    warp_state_cycles(timeline, cycles);
    assert_true(cycles[WARP_WORKS] == 20 && cycles[WARP_PASSES_LINE] == 0);
    assert_true(timeline->summary.ready == 20 && timeline->summary.waiting[WARP_PASSES_LINE] == 0);
    warp_timeline_free(timeline);
}

static void without_warps(void **state) {
    (void)state;
    WarpTimeline *timeline = new_timeline(0);
    warp_timeline_finish(timeline);
    assert_int_equal(timeline->cycles, 0);
    assert_true(timeline->launches[0].begin == 0 && timeline->launches[0].end == 0);
    expect_summary(timeline, 0, 0, 0, 0, 0, 0);
    expect_summary(timeline, 0, 10, 0, 0, 0, 40);
    warp_timeline_free(timeline);
    warp_timeline_free(NULL);
}

static void lines_are_sorted(void **state) {
    (void)state;
    WarpTimeline *timeline = warp_timeline_new(2, 0, 4);
    static const WarpLine lines[] = {
        {.launch = 1, .block = 0, .warp = 0, .begin = 90, .end = 95},
        {.launch = 0, .block = UINT64_C(1) << 40, .warp = 0, .begin = 7, .end = 9},
        {.launch = 0, .block = 3, .warp = 1, .begin = 4, .end = 60},
        {.launch = 0, .block = 3, .warp = 0, .begin = 5, .end = 50}};
    for (int i = 0; i < 4; i++) timeline->lines[i] = lines[i];
    warp_timeline_finish(timeline);
    for (int i = 0; i < 4; i++) assert_int_equal(timeline->lines[i].begin, lines[3 - i].begin);
    assert_true(timeline->launches[0].begin == 4 && timeline->launches[0].end == 60);
    assert_true(timeline->launches[1].begin == 90 && timeline->launches[1].end == 95);
    assert_true(timeline->lines[1].came == 4); /* when the first warp of its block began */
    warp_timeline_free(timeline);
    timeline = warp_timeline_new(1, 0, 2); /* a block that came before one with a smaller number */
    timeline->lines[0] = (WarpLine){.block = 2, .begin = 9, .end = 20};
    timeline->lines[1] = (WarpLine){.block = 7, .begin = 3, .end = 20};
    warp_timeline_finish(timeline);
    assert_int_equal(timeline->lines[0].block, 7);
    assert_true(timeline->summary.cycles == 4 * 20 && timeline->summary.ready == 17);
    warp_timeline_free(timeline);
}

/* ---- random timelines ---------------------------------------------------------------------------------- */

static uint32_t below(uint64_t *random, uint32_t sides) {
    return (uint32_t)(lane_random(random) >> 33) % sides;
}

static WarpTimeline *random_timeline(uint64_t *random) {
    int count = (int)below(random, 20);
    WarpTimeline *timeline = new_timeline(count);
    for (int i = 0; i < count; i++) {
        WarpWait waits[12];
        uint32_t begin = below(random, 300), end = begin + below(random, 300);
        int wait_count = (int)below(random, 12);
        for (int k = 0; k < wait_count; k++) {
            uint32_t at = below(random, 600);
            waits[k] = (WarpWait){at, at + below(random, 100), (uint16_t)below(random, SITES), 0};
        }
        set_line(timeline, i, below(random, 16), begin, end, waits, wait_count);
    }
    warp_timeline_finish(timeline);
    return timeline;
}

static double sum_of(const WarpSummary *summary) {
    double sum = summary->ready + summary->empty;
    for (int i = 0; i < WARP_STATES; i++) sum += summary->waiting[i];
    return sum;
}

/* Stretches cover each life; states add up to the lives, a summary to the cycles of its schedulers, and the
 * summaries of parts to that of the whole. */
static void sums_are_complete(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 500; round++) {
        WarpTimeline *timeline = random_timeline(&random);
        double lives = 0, states = 0, cycles[WARP_STATES];
        for (int i = 0; i < timeline->line_count; i++) {
            const WarpLine *line = &timeline->lines[i];
            Seen seen = {.timeline = timeline, .next = line->begin};
            warp_line_stretches(line, see, &seen);
            assert_int_equal(seen.next, line->end);
            assert_int_equal(seen.cycles, line->end - line->begin);
            text_done(&seen.text);
            lives += line->end - line->begin;
        }
        warp_state_cycles(timeline, cycles);
        for (int i = 0; i < WARP_STATES; i++) states += cycles[i];
        assert_true(states == lives);
        uint32_t end = timeline->cycles + 5, middle = below(&random, end);
        WarpSummary whole = warp_summary(timeline, 0, end), first = warp_summary(timeline, 0, middle),
                    second = warp_summary(timeline, middle, end);
        assert_true(fabs(sum_of(&whole) - whole.cycles) < 1e-6);
        assert_true(fabs(first.ready + second.ready - whole.ready) < 1e-6);
        assert_true(fabs(first.empty + second.empty - whole.empty) < 1e-6);
        warp_timeline_free(timeline);
    }
}

static void names_and_letters_differ(void **state) {
    (void)state;
    for (int i = 0; i < WARP_STATES; i++)
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(warp_state_name((WarpActivity)i), warp_state_name((WarpActivity)k));
            assert_true(warp_state_letter((WarpActivity)i) != warp_state_letter((WarpActivity)k));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_by_hand), cmocka_unit_test(waits_end_with_the_warp),
        cmocka_unit_test(a_summary_by_hand), cmocka_unit_test(lines_are_no_waits),
        cmocka_unit_test(without_warps),     cmocka_unit_test(lines_are_sorted),
        cmocka_unit_test(sums_are_complete), cmocka_unit_test(names_and_letters_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
