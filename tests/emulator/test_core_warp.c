/* Instructions in which the lanes of a divergent warp read each other. (Their values for whole warps: the
 * tests of the lanes.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

/* ---- waiting for the lanes of the mask ----------------------------------------------------------------- */

/* Both sides of the branch reach the same shuffle, without a reconvergence point before it: all lanes are
 * named, so it waits. */
static void test_shuffle_waits_for_its_lanes(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "mov.u32 %r0, 0; setp.lt.u32 %p0, %t, 5; @%p0 bra FEW;\n"
                             "mov.u32 %r1, 20; bra LOOP;\n"
                             "FEW: mov.u32 %r1, 3;\n"
                             "LOOP: add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, %r1; @%p1 bra LOOP;\n"
                             "shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\n"
                             "st.global.u32 [%out], %r2;"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane >= 16 && lane < 21 ? 3 : 20);
    core_done(&run);
}

/* Three paths lead to the shuffle, from different places, without a reconvergence point before it: they
 * reconverge there. */
static void test_parts_meet_at_the_instruction(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "mov.u32 %r1, 1; mov.u32 %r3, 0; setp.lt.u32 %p0, %t, 4; @%p0 bra SHUFFLE;\n"
                "mov.u32 %r1, 2; setp.lt.u32 %p0, %t, 12; @%p0 bra SHUFFLE;\n"
                "mov.u32 %r1, 3; setp.lt.u32 %p0, %t, 20; @%p0 bra SHUFFLE;\n"
                "bra OVER;\n"
                "SHUFFLE: redux.sync.add.u32 %r3, %r1, 0xfffff;\n"
                "OVER: activemask.b32 %r4; st.global.u32 [%out], %r3; st.global.u32 [%out+128], %r4;",
        .words = 64});
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(run.out[lane], lane < 20 ? 4 + 16 + 24 : 0);
        assert_int_equal(run.out[32 + lane], 0xffffffff);
    }
    assert_int_equal(core_counter(&run, "redux", 0)->executions, 1);
    assert_int_equal(core_counter(&run, "redux", 0)->lanes, 20);
    core_done(&run);
}

/* Parts of a warp that name only themselves do not wait. */
static void test_parts_that_name_themselves(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @%p0 bra LOW;\n"
                                           "shfl.sync.idx.b32 %r0, %t, 8, 31, 0xffffff00;\n"
                                           "vote.sync.ballot.b32 %r1, %p0, 0xffffff00; bra MEET;\n"
                                           "LOW: shfl.sync.idx.b32 %r0, %t, 7, 31, 0xff;\n"
                                           "vote.sync.ballot.b32 %r1, %p0, 0xff;\n"
                                           "MEET: st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;",
                                   .words = 64});
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(run.out[lane], lane < 8 ? 7 : 8);
        assert_int_equal(run.out[32 + lane], lane < 8 ? 0xff : 0);
    }
    uint32_t masks[1];
    assert_int_equal(core_masks(&run, 0, core_pc(&run, "shfl", 0), masks, 1), 1);
    assert_int_equal(masks[0], 0xffffff00);
    core_done(&run);
}

/* A shuffle executed by fewer lanes than wait for each other elsewhere. */
static void test_exited_lanes_are_not_waited_for(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "setp.ge.u32 %p0, %t, 20; @%p0 exit;\n"
                                           "shfl.sync.down.b32 %r0, %t, 8, 31, -1;\n"
                                           "redux.sync.add.u32 %r1, %t, -1;\n"
                                           "vote.sync.all.pred %p1, %p0, -1; selp.u32 %r2, 1000, 0, %p1;\n"
                                           "add.u32 %r1, %r1, %r2;\n"
                                           "st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;",
                                   .words = 64});
    for (int lane = 0; lane < 20; lane++) {
        assert_int_equal(run.out[lane],
                         lane + 8 < 20 ? lane + 8 : 0); /* an H200 gives 0 for lanes that have exited */
        assert_int_equal(run.out[32 + lane], 19 * 20 / 2);
    }
    core_done(&run);
}

static void test_source_lanes_that_are_elsewhere_give_zero(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "add.u32 %r0, %t, 100; mov.u32 %r1, 1; setp.ge.u32 %p0, %t, 8;\n"
                                           "@%p0 bra MEET;\n"
                                           "shfl.sync.down.b32 %r1, %r0, 6, 31, 0xff;\n"
                                           "MEET: st.global.u32 [%out], %r1;"});
    static const uint32_t expected[] = {106, 107, 0, 0, 0, 0, 0, 0, 1, 1};
    core_check(&run, expected, 10);
    TraceEvent event = {0};
    for (int i = 0; i < core_event_count(&run, 0); i++) {
        core_event(&run, 0, i, &event);
        if (event.kind == TRACE_SHUFFLE) break;
    }
    assert_int_equal(event.kind, TRACE_SHUFFLE);
    assert_int_equal(event.source[1], 7);
    assert_int_equal(event.source[2], -1);
    core_done(&run);
}

static void test_missing_lanes(void **state) {
    (void)state;
    Trap trap = core_run_trap((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @!%p0 bra MEET;\n"
                                                   "shfl.sync.down.b32 %r0, %t, 1, 31, -1;\n"
                                                   "MEET: st.global.u32 [%out], %r0; bar.warp.sync -1;"},
                              TRAP_MISSING_LANES,
                              "lanes 0-7 of warp 0 wait at shfl.sync.down.b32: mask 0xffffffff names "
                              "lanes 8-31, which never "
                              "arrive; lanes 8-31 wait at bar.warp.sync, with mask 0xffffffff");
    assert_int_equal(trap.lanes, 0xff);
    core_run_trap((CoreKernel){.body =
                                   "setp.lt.u32 %p0, %t, 8; @%p0 bar.warp.sync -1; st.global.u32 [%out], 1;\n"
                                   "bar.sync 0;"},
                  TRAP_MISSING_LANES, "bar.warp.sync");
}

/* Lanes that skip the instruction, do something and exit are waited for until then, as on an H200
 * (half_passes_by in tests/kernels/early_return.cu). */
static void test_lanes_that_pass_by_and_end(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "setp.lt.u32 %p0, %t, 16; mov.u32 %r0, 7; @!%p0 bra MEET;\n"
                                           "redux.sync.add.u32 %r0, %t, -1;\n"
                                           "MEET: st.global.u32 [%out], %r0;"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane < 16 ? 120 : 7);
    core_done(&run);
}

/* ---- lanes that have exited ---------------------------------------------------------------------------- */

/* Lanes 20 to 31 exit before the instruction, in three ways: no lane waits for them, and they contribute
 * nothing. */
static void test_exited_lanes_in_every_mask(void **state) {
    (void)state;
    static const char *const ways[] = {
        "@%p0 bra END;",                                       /* `return`: at the end of the kernel */
        "@%p0 exit;",                                          /* asm("exit;") */
        "@!%p0 bra GO; mov.u32 %r8, 1; ret; GO:",              /* a return of its own */
        "@!%p0 bra GO; st.global.u32 [%out], 7; bra END; GO:", /* they do something first */
    };
    static const struct {
        const char *instruction;
        uint32_t expected; /* %r9 of lane 4 */
    } cases[] = {
        {"redux.sync.add.u32 %r9, %t, -1;", 190},
        {"redux.sync.max.u32 %r9, %t, -1;", 19},
        {"vote.sync.ballot.b32 %r9, %p1, -1;", 0xfffff},
        {"vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;", 1},
        {"match.any.sync.b32 %r9, 5, -1;", 0xfffff},
        {"match.all.sync.b32 %r9|%p2, 5, -1;", 0xfffff},
        {"elect.sync %r9|%p2, -1;", 0},
        {"shfl.sync.down.b32 %r9, %t, 8, 31, -1;", 12},
        {"shfl.sync.idx.b32 %r9, %t, 19, 31, -1;", 19},
        {"activemask.b32 %r9;", 0xfffff},
        {"st.volatile.shared.u32 [word], %t; bar.warp.sync -1; mov.u32 %r9, 3;", 3},
        {"bar.sync 0; mov.u32 %r9, 4;", 4},
        {"barrier.sync 0; mov.u32 %r9, 4;", 4},
        {"bar.red.popc.u32 %r9, 0, %p1;", 20},
    };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            Text body = {0};
            text_print(&body,
                       "setp.ge.u32 %%p0, %%t, 20; setp.lt.u32 %%p1, %%t, 32;\n%s\n%s\n"
                       "st.global.u32 [%%out], %%r9;\nEND:",
                       ways[w], cases[i].instruction);
            CoreRun run =
                core_run_well((CoreKernel){.body = text_string(&body), .module = ".shared .u32 word;\n"});
            if (run.out[4] != cases[i].expected)
                fail_msg("%s %s: lane 4 has %u, expected %u", ways[w], cases[i].instruction, run.out[4],
                         cases[i].expected);
            for (int lane = 20; lane < 32; lane++) assert_int_equal(run.out[lane], w == 3 ? 7 : 0);
            core_done(&run);
            text_done(&body);
        }
}

/* Out of a function, and out of two ifs: the reconvergence points on the way to the end do not wait. */
static void test_exits_behind_several_reconvergence_points(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.ge.u32 %p0, %t, 20; setp.ge.u32 %p1, %t, 10; mov.u32 %r9, 0;\n"
                             "@%p0 bra END;\n@%p1 bra AFTER;\n"
                             "call (%r9), sum, (%t); st.global.u32 [%out], %r9;\n"
                             "AFTER: add.u32 %r8, %r9, 1;\nEND:",
                     .module = ".func (.reg .u32 s) sum(.reg .u32 a)\n{ .reg .pred p;\n"
                               "setp.lt.u32 p, a, 4; @p bra LOW; redux.sync.add.u32 s, a, 0x3f0; bra BACK;\n"
                               "LOW: redux.sync.add.u32 s, a, 0xfffffc0f; BACK: ret; }\n"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane < 4 ? 6 : lane < 10 ? 39 : 0);
    core_done(&run);
}

/* The lanes that skip the instruction wait elsewhere, for ever. */
static void test_lanes_that_wait_elsewhere(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "@%p0 bra OVER; redux.sync.add.u32 %r0, %t, -1; OVER: barrier.sync 0; ret;",
        "@%p0 bra OVER; redux.sync.add.u32 %r0, %t, -1; bra END; OVER: bar.warp.sync -1; END:",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        Text body = {0};
        text_print(&body, "setp.ge.u32 %%p0, %%t, 20; setp.lt.u32 %%p1, %%t, 25; %s", bodies[i]);
        core_run_trap((CoreKernel){.body = text_string(&body)}, TRAP_MISSING_LANES, "never arrive");
        text_done(&body);
    }
}

/* "The behavior is undefined if the executing thread is not in the membermask"; it is reported, and the run
 * continues. */
static void test_lanes_outside_the_mask(void **state) {
    (void)state;
    static const struct {
        const char *instruction, *part;
    } cases[] = {
        {"bar.warp.sync 0xffff;",
         "__syncwarp() is executed by lanes that its mask does not name (in lane 16 it is 0x0000ffff)"},
        {"mov.u32 %r1, 0xffff; bar.warp.sync %r1;", "__syncwarp()"},
        {"shfl.sync.idx.b32 %r0, %t, 3, 31, 0xffff;", "shfl is executed by"},
        {"vote.sync.ballot.b32 %r0, 1, 0xffff;", "vote is executed by"},
        {"redux.sync.add.u32 %r0, %t, 0xffff;", "redux is executed by"},
        {"match.any.sync.b32 %r0, %t, 0xffff;", "match is executed by"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Trap trap =
            core_run_trap((CoreKernel){.body = cases[i].instruction}, TRAP_LANE_OUTSIDE_MASK, cases[i].part);
        assert_int_equal(trap.lanes, 0xffff0000);
        Text body = {0}; /* the lanes of the mask alone */
        text_print(&body, "setp.ge.u32 %%p0, %%t, 16; @%%p0 bra END; %s\nEND:", cases[i].instruction);
        CoreRun run = core_run_well((CoreKernel){.body = text_string(&body), .untraced = true});
        core_done(&run);
        text_done(&body);
    }
    /* one report per instruction and warp; the values of the others are unchanged */
    CoreRun run = core_run((CoreKernel){
        .body = "redux.sync.add.u32 %r0, %t, 0xff; bar.warp.sync 0xff; st.global.u32 [%out], %r0;"});
    assert_int_equal(run.trace->trap_count, 2);
    for (int lane = 0; lane < 8; lane++) assert_int_equal(run.out[lane], 28);
    core_done(&run);
}

/* ---- bar.warp.sync ------------------------------------------------------------------------------------- */

/* It pairs lanes that wait at different ones, and orders memory between them. */
static void test_warp_sync_pairs_different_instructions(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "mov.u32 %r0, 0; setp.lt.u32 %p0, %t, 16; @%p0 bra WRITE;\n"
                                           "bar.warp.sync -1; ld.volatile.shared.u32 %r0, [word]; bra MEET;\n"
                                           "WRITE: mov.u32 %r1, 0;\n"
                                           "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra L;\n"
                                           "st.volatile.shared.u32 [word], 9; bar.warp.sync -1;\n"
                                           "MEET: st.global.u32 [%out], %r0;",
                                   .module = ".shared .u32 word;\n"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane < 16 ? 0 : 9);
    core_done(&run);
}

static void test_warp_sync_of_some_lanes(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.lt.u32 %p0, %t, 4; setp.lt.u32 %p1, %t, 8;\n"
                             "mov.u32 %r0, 0;\n"
                             "@%p0 bra A; @%p1 bra B; bra MEET;\n"
                             "A: st.volatile.shared.u32 [word], 3; bar.warp.sync 0xff; bra MEET;\n"
                             "B: bar.warp.sync 0xff; ld.volatile.shared.u32 %r0, [word];\n"
                             "MEET: st.global.u32 [%out], %r0;",
                     .module = ".shared .u32 word;\n"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane >= 4 && lane < 8 ? 3 : 0);
    core_done(&run);
}

/* ---- votes over parts ---------------------------------------------------------------------------------- */

static void test_match_and_elect_in_parts(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "and.b32 %r0, %t, 3; setp.lt.u32 %p0, %t, 16; @%p0 bra LOW;\n"
                                           "activemask.b32 %r1; match.any.sync.b32 %r2, %r0, %r1;\n"
                                           "elect.sync %r3|%p1, %r1; bra MEET;\n"
                                           "LOW: activemask.b32 %r1; match.any.sync.b32 %r2, %r0, %r1;\n"
                                           "elect.sync %r3|%p1, %r1;\n"
                                           "MEET: selp.u32 %r4, 100, 0, %p1; add.u32 %r3, %r3, %r4;\n"
                                           "st.global.u32 [%out], %r2; st.global.u32 [%out+128], %r3;",
                                   .words = 64});
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(run.out[lane], 0x1111u << lane % 4 << (lane < 16 ? 0 : 16));
        assert_int_equal(run.out[32 + lane], (lane < 16 ? 0 : 16) + (lane % 16 == 0 ? 100 : 0));
    }
    core_done(&run);
}

/* Lanes that name different sets, in one instruction, together. */
static void test_segments_in_one_instruction(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "and.b32 %r0, %t, 24; mov.u32 %r1, 0xff; shl.b32 %r1, %r1, %r0;\n"
                                           "redux.sync.add.u32 %r2, %t, %r1;\n"
                                           "st.global.u32 [%out], %r2;"});
    for (int lane = 0; lane < 32; lane++) {
        int first = lane / 8 * 8;
        assert_int_equal(run.out[lane], 8 * first + 28);
    }
    assert_int_equal(core_counter(&run, "redux", 0)->executions, 1);
    core_done(&run);
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* The pseudocode of "shfl.sync" in the PTX ISA. */
static uint32_t shuffled(const char *mode, uint32_t lane, uint32_t b, uint32_t c, bool *inside) {
    int segment = c >> 8 & 31, most = (int)(lane & segment) | ((int)(c & 31) & ~segment),
        least = lane & segment;
    int j = 0, own = (int)lane;
    b &= 31;
    if (!strcmp(mode, "up")) j = own - (int)b, *inside = j >= most;
    if (!strcmp(mode, "down")) j = own + (int)b, *inside = j <= most;
    if (!strcmp(mode, "bfly")) j = own ^ (int)b, *inside = j <= most;
    if (!strcmp(mode, "idx")) j = least | ((int)b & ~segment), *inside = j <= most;
    return (uint32_t)(*inside ? j : own);
}

static void test_shuffles(void **state) {
    (void)state;
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (size_t m = 0; m < 4; m++)
        for (uint32_t width = 1; width <= 32; width *= 2)
            for (uint32_t b = 0; b < 36; b += 1 + b / 4) {
                uint32_t c = (32 - width) << 8 | (m == 0 ? 0 : 31); /* as CUDA's __shfl functions set it */
                Text body = {0};
                text_print(&body,
                           "mad.lo.u32 %%r0, %%t, 3, 100; mov.u32 %%r1, %u; mov.u32 %%r2, %u;\n"
                           "shfl.sync.%s.b32 %%r3|%%p0, %%r0, %%r1, %%r2, -1; selp.u32 %%r4, 1, 0, %%p0;\n"
                           "st.global.u32 [%%out], %%r3; st.global.u32 [%%out+128], %%r4;",
                           b, c, modes[m]);
                CoreRun run = core_run_well((CoreKernel){.body = text_string(&body), .words = 64});
                for (uint32_t lane = 0; lane < 32; lane++) {
                    bool inside = false;
                    uint32_t source = shuffled(modes[m], lane, b, c, &inside);
                    if (run.out[lane] != 100 + 3 * source || run.out[32 + lane] != inside)
                        fail_msg("%s by %u, width %u, lane %u: %u %u", modes[m], b, width, lane,
                                 run.out[lane], run.out[32 + lane]);
                }
                core_done(&run);
                text_done(&body);
            }
}

/* Each lane may name another source, and another segment. */
static void test_shuffles_by_lane(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "sub.u32 %r0, 31, %t; shfl.sync.idx.b32 %r1, %t, %r0, 31, -1;\n"
                             "setp.lt.u32 %p0, %t, 16; selp.u32 %r2, 0x181f, 31, %p0;\n"
                             "shfl.sync.idx.b32 %r3, %t, 3, %r2, -1; st.global.u32 [%out], %r1;\n"
                             "st.global.u32 [%out+128], %r3;",
                     .words = 64});
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(run.out[lane], 31 - lane);
        assert_int_equal(run.out[32 + lane], lane < 16 ? lane / 8 * 8 + 3 : 3);
    }
    core_done(&run);
}

static void expect_all_lanes(const char *instruction, const char *result, uint32_t expected) {
    Text body = {0};
    /* %r0: the lane as a number from -16; %p0: lanes 4-31; %p1: none; %p2: all */
    text_print(&body,
               "sub.s32 %%r0, %%t, 16; setp.ge.u32 %%p0, %%t, 4; setp.gt.u32 %%p1, %%t, 99; setp.le.u32 "
               "%%p2, %%t, 99;\n"
               "%s %s st.global.u32 [%%out], %%r9;",
               instruction, result);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&body)});
    for (int lane = 0; lane < 32; lane++)
        if (run.out[lane] != expected)
            fail_msg("%s: lane %d has 0x%x, expected 0x%x", instruction, lane, run.out[lane], expected);
    core_done(&run);
    text_done(&body);
}

static void test_votes(void **state) {
    (void)state;
    static const char predicate[] = "selp.u32 %r9, 1, 0, %p9;";
    static const struct {
        const char *mode, *source;
        uint32_t expected;
    } cases[] = {{"all", "%p0", 0}, {"all", "%p2", 1}, {"all", "!%p1", 1},
                 {"any", "%p0", 1}, {"any", "%p1", 0}, {"uni", "%p0", 0},
                 {"uni", "%p1", 1}, {"uni", "%p2", 1}, {"any", "!%p0", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text vote = {0};
        text_print(&vote, "vote.sync.%s.pred %%p9, %s, -1;", cases[i].mode, cases[i].source);
        expect_all_lanes(text_string(&vote), predicate, cases[i].expected);
        text_done(&vote);
    }
    expect_all_lanes("vote.sync.ballot.b32 %r9, %p0, -1;", "", 0xfffffff0);
    expect_all_lanes("vote.sync.ballot.b32 %r9, !%p0, -1;", "", 0xf);
}

static void test_matches(void **state) {
    (void)state;
    expect_all_lanes("match.all.sync.b32 %r9|%p9, 7, -1;", "selp.u32 %r9, %r9, 0, %p9;", 0xffffffff);
    expect_all_lanes("match.all.sync.b32 %r9|%p9, %t, -1;", "selp.u32 %r8, 5, 0, %p9; add.u32 %r9, %r9, %r8;",
                     0);
    expect_all_lanes("mov.u64 %q0, 0x100000000; selp.b64 %q1, %q0, 0, %p0; match.any.sync.b64 %r9, %q1, -1;",
                     "selp.u32 %r8, 0xfffffff0, 0xf, %p0; sub.u32 %r9, %r9, %r8;", 0);
}

static void test_redux(void **state) {
    (void)state;
    static const struct {
        const char *operation, *source;
        uint32_t expected;
    } cases[] = {{"add.s32", "%r0", (uint32_t)-16},
                 {"add.u32", "%t", 496},
                 {"min.s32", "%r0", (uint32_t)-16},
                 {"min.u32", "%r0", 0},
                 {"max.s32", "%r0", 15},
                 {"max.u32", "%r0", (uint32_t)-1},
                 {"and.b32", "%r0", 0},
                 {"or.b32", "%r0", 0xffffffff},
                 {"xor.b32", "%t", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text redux = {0};
        text_print(&redux, "redux.sync.%s %%r9, %s, -1;", cases[i].operation, cases[i].source);
        expect_all_lanes(text_string(&redux), "", cases[i].expected);
        text_done(&redux);
    }
    static const char floats[] =
        "cvt.rn.f32.s32 %f0, %r0; mov.b32 %r1, %f0; @!%p0 mov.b32 %r1, 0x7fc00000; mov.b32 %f0, %r1;";
    static const struct {
        const char *operation;
        uint32_t expected;
    } more[] = {{"min.f32", 0xc1400000},     {"max.f32", 0x41700000},     {"min.abs.f32", 0},
                {"max.abs.f32", 0x41700000}, {"min.NaN.f32", 0x7fffffff}, {"max.abs.NaN.f32", 0x7fffffff}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        Text redux = {0};
        text_print(&redux, "%s redux.sync.%s %%f1, %%f0, -1;", floats, more[i].operation);
        expect_all_lanes(text_string(&redux), "mov.b32 %r9, %f1;", more[i].expected);
        text_done(&redux);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffle_waits_for_its_lanes),
        cmocka_unit_test(test_parts_meet_at_the_instruction),
        cmocka_unit_test(test_parts_that_name_themselves),
        cmocka_unit_test(test_exited_lanes_are_not_waited_for),
        cmocka_unit_test(test_source_lanes_that_are_elsewhere_give_zero),
        cmocka_unit_test(test_missing_lanes),
        cmocka_unit_test(test_lanes_that_pass_by_and_end),
        cmocka_unit_test(test_exited_lanes_in_every_mask),
        cmocka_unit_test(test_exits_behind_several_reconvergence_points),
        cmocka_unit_test(test_lanes_that_wait_elsewhere),
        cmocka_unit_test(test_lanes_outside_the_mask),
        cmocka_unit_test(test_warp_sync_pairs_different_instructions),
        cmocka_unit_test(test_warp_sync_of_some_lanes),
        cmocka_unit_test(test_match_and_elect_in_parts),
        cmocka_unit_test(test_segments_in_one_instruction),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_shuffles_by_lane),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_redux),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
