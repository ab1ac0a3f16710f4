/* Instructions in which the lanes of a warp look at each other, while the warp is in parts. (Their values for
 * whole warps: the tests of the lanes.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

/* ---- waiting for the lanes of the mask -------------------------------------------------------------- */

/* Both ways of the branch come to the same shuffle, with nothing to meet at before it: all lanes are named,
 * so it waits. */
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

/* A shuffle that fewer lanes execute than wait for each other elsewhere. */
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
    TraceEvent event;
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
    Trap trap = core_run_trap(
        (CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @!%p0 bra MEET;\n"
                             "shfl.sync.down.b32 %r0, %t, 1, 31, -1;\n"
                             "MEET: st.global.u32 [%out], %r0;"},
        TRAP_MISSING_LANES,
        "lanes 0x000000ff of warp 0 wait at shfl.sync.down.b32 for lanes of its mask that do not come; "
        "lanes 0xffffff00");
    assert_int_equal(trap.lanes, 0xff);
    core_run_trap((CoreKernel){.body =
                                   "setp.lt.u32 %p0, %t, 8; @%p0 bar.warp.sync -1; st.global.u32 [%out], 1;\n"
                                   "bar.sync 0;"},
                  TRAP_MISSING_LANES, "bar.warp.sync");
}

/* Two shuffles in two branches, each naming all lanes, do not meet: they are different instructions. */
static void test_different_instructions_do_not_meet(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @!%p0 bra ELSE;\n"
                                       "shfl.sync.down.b32 %r0, %t, 1, 31, -1; bra MEET;\n"
                                       "ELSE: shfl.sync.down.b32 %r0, %t, 1, 31, -1;\n"
                                       "MEET: st.global.u32 [%out], %r0;"},
                  TRAP_MISSING_LANES, "do not come; lanes");
}

/* ---- bar.warp.sync ---------------------------------------------------------------------------------- */

/* It pairs lanes that stand at different ones, and orders memory between them. */
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

/* ---- votes over parts ------------------------------------------------------------------------------- */

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffle_waits_for_its_lanes),
        cmocka_unit_test(test_parts_that_name_themselves),
        cmocka_unit_test(test_exited_lanes_are_not_waited_for),
        cmocka_unit_test(test_source_lanes_that_are_elsewhere_give_zero),
        cmocka_unit_test(test_missing_lanes),
        cmocka_unit_test(test_different_instructions_do_not_meet),
        cmocka_unit_test(test_warp_sync_pairs_different_instructions),
        cmocka_unit_test(test_warp_sync_of_some_lanes),
        cmocka_unit_test(test_match_and_elect_in_parts),
        cmocka_unit_test(test_segments_in_one_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
