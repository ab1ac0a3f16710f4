/* The search keeps accesses in lists where it can, and shares clocks: it finds what a comparison cell by cell
 * finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "findings/races/race_detector.h"
#include "tests/emulator/core.h"
#include <inttypes.h>
#include <string.h>

enum { PROGRAMS = 400, MOST_ACTS = 12, PALETTE = 5 };

#define MODULE                                                                                               \
    ".shared .align 128 .b8 tile[2048];\n.global .align 128 .u32 source[1024];\n"                            \
    ".global .align 128 .u32 sums[1024];\n"
/* %r0, %q0: the thread's 16 bytes of `tile`, of `sums`; %r1, %q1: `tile`, `sums`; %q2: the thread's of
 * `source`; %r2: its word of `tile`; %p2: thread 0; %p3: thread 37; %p4: block 1. */
#define BEGIN                                                                                                \
    "mov.u32 %r1, tile; mad.lo.u32 %r0, %t, 16, %r1; mad.lo.u32 %r2, %t, 4, %r1; mov.u64 %q1, sums;\n"       \
    "mad.wide.u32 %q0, %t, 16, %q1; mov.u64 %q2, source; mad.wide.u32 %q2, %t, 16, %q2;\n"                   \
    "mov.u32 %r8, 7; mov.u32 %r9, %ctaid.x; setp.eq.u32 %p2, %t, 0; setp.eq.u32 %p3, %t, 37;\n"              \
    "setp.eq.u32 %p4, %r9, 1;\n"                                                                             \
    "st.shared.v4.u32 [%r0], {%r8, %r8, %r8, %r8}; st.shared.v4.u32 [%r0+1024], {%r8, %r8, %r8, %r8};\n"     \
    "bar.sync 0;\n"
#define PROXY "fence.proxy.async;\n"
#define GROUP "@%p2 cp.async.bulk.commit_group;\n"

static void add_findings(const CoreRun *run, const Findings *found, Text *out) {
    (void)run;
    for (int i = 0; i < found->count; i++) {
        const Finding *race = &found->items[i];
        const FindingAccess *sides[2] = {&race->access, &race->other};
        text_print(out, "%s %" PRIu64 " in %" PRIu64 ":", race->kind_text, race->count, race->blocks);
        for (int s = 0; s < 2; s++)
            text_print(out, " pc %d block %" PRIu64 " warp %d lanes %x lane %d buffer %d at %" PRIu64 ";",
                       sides[s]->pc, sides[s]->linear_block, sides[s]->warp, sides[s]->lanes, sides[s]->lane,
                       sides[s]->buffer, sides[s]->offset);
        text_add(out, "\n");
    }
}

static void search(const char *body, bool only_cells, Text *out) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    detector->only_cells = only_cells;
    Text text = {0};
    text_print(&text, "%s%s", BEGIN, body);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&text),
                                             .module = MODULE,
                                             .grid = 3,
                                             .block = 64,
                                             .options = {.observer = &observer}});
    Findings *found = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_true(found->is_complete);
    add_findings(&run, found, out);
    findings_free(found);
    race_detector_free(detector);
    core_done(&run);
    text_done(&text);
}

/* ---- any program --------------------------------------------------------------------------------------- */

static const char *const acts[] = {
    "st.shared.v4.u32 [%r0], {%t, %t, %t, %t};\n",
    "st.shared.u32 [%r2], %t;\n",
    "st.shared.u32 [%r2+512], 3;\n",
    "@%p3 st.shared.u32 [%r2+64], 3;\n",
    "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r0];\n",
    "ld.shared.u32 %r4, [%r2];\n",
    "ld.shared.u32 %r4, [%r1+36];\n",
    "@%p3 ld.shared.u32 %r4, [%r1+36];\n",
    "atom.shared.add.u32 %r4, [%r1+36], 1;\n",
    "red.shared.add.u32 [%r2], 1;\n",
    "@%p4 red.shared.add.u32 [%r1+40], 1;\n",
    "red.global.add.u32 [%q1+36], 1;\n",
    "red.global.add.u32 [%q0], 1;\n",
    "red.cta.global.add.u32 [%q1+36], 1;\n",
    "@%p3 red.cta.global.add.u32 [%q1+40], 1;\n",
    "red.release.gpu.global.add.u32 [%q1+64], 1;\n",
    "@%p3 st.global.u32 [%q1+36], 1;\n",
    "ld.global.u32 %r4, [%q1+36];\n",
    "@%p2 ld.acquire.gpu.global.u32 %r4, [%q1+64];\n",
    "cp.async.cg.shared.global [%r0], [%q2], 16;\n",
    "cp.async.ca.shared.global [%r2+1024], [%q2], 4;\n",
    "cp.async.ca.shared.global [%r0+512], [%q2], 8;\n",
    "cp.async.commit_group;\n",
    "cp.async.wait_group 0;\n",
    "cp.async.wait_group 1;\n",
    "cp.async.wait_all;\n",
    "@%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%q1], [%r1], 768;\n" GROUP,
    "@%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%q1+32], [%r1+256], 48;\n" GROUP,
    "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%q1+1024], [%r1+512], 272;\n" GROUP,
    "@%p2 cp.async.bulk.wait_group 0;\n",
    "@%p2 cp.async.bulk.wait_group.read 0;\n",
    "fence.proxy.async;\n",
    "@%p3 fence.proxy.async;\n",
    "membar.gl;\n",
    "@%p3 membar.cta;\n",
    "bar.sync 0;\n",
    "bar.sync 0;\n",
    "bar.warp.sync -1;\n",
    "bar.sync 1, 64;\n",
};

static uint32_t next(uint64_t *seed) {
    *seed = *seed * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    return (uint32_t)(*seed >> 33);
}

static void lists_find_what_cells_find(void **state) {
    (void)state;
    uint64_t seed = 20261126;
    int with_findings = 0;
    for (int p = 0; p < PROGRAMS; p++) {
        Text body = {0}, lists = {0}, cells = {0};
        const char *palette[PALETTE] = {"bar.sync 0;\n"}; /* few of them, so that they meet */
        for (int i = 1; i < PALETTE; i++) palette[i] = acts[next(&seed) % (sizeof acts / sizeof *acts)];
        if (p % 2) text_add(&body, PROXY);
        for (uint32_t i = 2 + next(&seed) % MOST_ACTS; i; i--)
            text_add(&body, palette[next(&seed) % PALETTE]);
        search(text_string(&body), false, &lists);
        search(text_string(&body), true, &cells);
        with_findings += lists.length != 0;
        if (strcmp(text_string(&lists), text_string(&cells)) != 0)
            fail_msg("program %d:\n%s\nlists: %s\ncells: %s", p, text_string(&body), text_string(&lists),
                     text_string(&cells));
        text_done(&body);
        text_done(&lists);
        text_done(&cells);
    }
    assert_in_range(with_findings, PROGRAMS / 4, PROGRAMS - PROGRAMS / 16); /* right ones and wrong ones */
}

/* ---- one race in the middle of a range ----------------------------------------------------------------- */

static void check(const char *body, const char *expected) {
    Text lists = {0}, cells = {0};
    search(body, false, &lists);
    search(body, true, &cells);
    assert_string_equal(text_string(&lists), text_string(&cells));
    if (*expected ? !strstr(text_string(&lists), expected) : lists.length)
        fail_msg("%s\nexpected: %s\nfound: %s", body, expected, text_string(&lists));
    text_done(&lists);
    text_done(&cells);
}

static void a_race_within_a_range_has_its_byte_and_its_lane(void **state) {
    (void)state;
#define REDUCE "@%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%q1], [%r1], 768;\n" GROUP
#define WAIT   "@%p2 cp.async.bulk.wait_group 0;\n"
    check(PROXY REDUCE WAIT "bar.sync 0; @%p3 st.shared.u32 [%r2], 3;\n", "");
    check(PROXY REDUCE "@%p3 st.shared.u32 [%r2], 3;\n" WAIT,
          "async_write 3 in 3: pc 29 block 0 warp 1 lanes 20 lane 5 buffer 0 at 148;");
    check(PROXY REDUCE "@%p3 st.shared.u32 [%r2+1024], 3;\n" WAIT, ""); /* behind the range */
    check(PROXY REDUCE WAIT "@%p3 red.global.add.u32 [%q1+36], 3;\n", "");
    check(PROXY "@%p3 st.shared.u32 [%r2], 3; bar.sync 0;\n" REDUCE WAIT, "proxy_order");
    check("@%p3 st.shared.u32 [%r2], 3; fence.proxy.async; bar.sync 0;\n" REDUCE WAIT, "");
#define COPY "cp.async.cg.shared.global [%r0], [%q2], 16; cp.async.commit_group;\n"
    check(COPY "cp.async.wait_group 0; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r0];\n", "");
    check(COPY "@%p3 ld.shared.u32 %r4, [%r0+8]; cp.async.wait_group 0;\n",
          "warp 1 lanes 20 lane 5 buffer 0 at 600;");
    check(COPY "cp.async.wait_group 0; @%p3 ld.shared.u32 %r4, [%r0+24];\n",
          "warp 1 lanes 20 lane 5 buffer 0 at 616;"); /* the copy of another lane */
}

static void lanes_that_execute_an_atomic_apart_are_all_kept(void **state) {
    (void)state;
    check("and.b32 %r10, %t, 33; mov.u32 %r11, 0;\n" /* the even lanes of warp 0, then the odd ones */
          "AGAIN: setp.eq.u32 %p5, %r10, %r11; @%p5 red.shared.add.u32 [%r1+36], 1;\n"
          "add.u32 %r11, %r11, 1; setp.lt.u32 %p6, %r11, 2; @%p6 bra AGAIN;\n"
          "@%p3 ld.shared.u32 %r4, [%r1+36];\n",
          "warp 0 lanes ffffffff");
    check("red.shared.add.u32 [%r1+36], 1; red.shared.add.u32 [%r1+36], 1; bar.sync 0;\n"
          "@%p2 ld.shared.u32 %r4, [%r1+36];\n",
          "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_find_what_cells_find),
        cmocka_unit_test(a_race_within_a_range_has_its_byte_and_its_lane),
        cmocka_unit_test(lanes_that_execute_an_atomic_apart_are_all_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
