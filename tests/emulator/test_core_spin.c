/* Threads that wait for each other in loops: lanes of a warp, warps of a block, blocks of a grid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

static int count_kind(const CoreRun *run, uint32_t block, int pc) {
    uint32_t masks[1];
    return core_masks(run, block, pc, masks, 1);
}

/* ---- lanes of one warp --------------------------------------------------------------------------------- */

/* The holder leaves the loop while others still try: correct since Volta, where lanes make progress
 * independently. */
static void test_lock_between_lanes(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "SPIN: atom.global.acquire.gpu.cas.b32 %r0, [%base+256], 0, 1;\n"
                                 "setp.ne.u32 %p0, %r0, 0;\n"
                                 "@%p0 bra SPIN;\n"
                                 "ld.global.u32 %r1, [%base+260];\n" /* not atomic: the lock protects it */
                                 "add.u32 %r2, %r1, 1;\n"
                                 "st.global.u32 [%base+260], %r2;\n"
                                 "st.global.u32 [%out], %r1;\n"
                                 "atom.global.release.gpu.exch.b32 %r0, [%base+256], 0;",
                         .words = 66};
    for (kernel.options.schedule = 0; kernel.options.schedule < 20; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        uint32_t seen = 0;
        for (int lane = 0; lane < 32; lane++) seen |= 1u << run.out[lane];
        assert_int_equal(seen, 0xffffffff); /* each was alone in the critical section */
        assert_int_equal(run.out[65], 32);
        assert_int_equal(run.out[64], 0);
        core_done(&run);
    }
}

/* A loop that changes memory while it waits for a lane of its own warp: that lane gets to run, and soon. */
static void test_busy_loop_around_a_lock(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "TRY: red.global.add.u32 [%base+264], 1;\n"
                                 "atom.global.cas.b32 %r0, [%base+256], 0, 1;\n"
                                 "setp.ne.u32 %p0, %r0, 0;\n"
                                 "@%p0 bra TRY;\n"
                                 "ld.volatile.global.u32 %r1, [%base+260];\n"
                                 "add.u32 %r2, %r1, 1;\n"
                                 "st.volatile.global.u32 [%base+260], %r2;\n"
                                 "membar.gl;\n"
                                 "atom.global.exch.b32 %r0, [%base+256], 0;\n"
                                 "shfl.sync.bfly.b32 %r3, %t, 5, 31, -1;\n"
                                 "st.global.u32 [%out], %r3;",
                         .words = 67};
    for (kernel.options.schedule = 0; kernel.options.schedule < 12; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        for (uint32_t lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane ^ 5);
        assert_int_equal(run.out[65], 32);
        assert_true(run.out[66] < 32 * 32 * 1000); /* attempts */
        core_done(&run);
    }
}

/* The same as beginners write it: the critical section inside the loop, with a flag to leave it. */
static void test_lock_inside_the_loop(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "setp.ne.u32 %p2, %t, 0;\n"
                                           "@!%p2 st.shared.u32 [lock], 0; @!%p2 st.shared.u32 [sum], 0;\n"
                                           "bar.sync 0;\n"
                                           "setp.ne.u32 %p1, %t, %t;\n" /* done: no */
                                           "AGAIN: atom.shared.cas.b32 %r0, [lock], 0, 1;\n"
                                           "setp.ne.u32 %p0, %r0, 0;\n"
                                           "@%p0 bra NEXT;\n"
                                           "ld.volatile.shared.u32 %r1, [sum]; add.u32 %r1, %r1, %t;\n"
                                           "st.volatile.shared.u32 [sum], %r1;\n"
                                           "setp.eq.u32 %p1, %t, %t;\n"
                                           "atom.shared.exch.b32 %r0, [lock], 0;\n"
                                           "NEXT: @!%p1 bra AGAIN;\n"
                                           "bar.sync 0;\n"
                                           "ld.shared.u32 %r1, [sum]; st.global.u32 [%out], %r1;",
                                   .module = ".shared .u32 lock; .shared .u32 sum;\n",
                                   .block = 64});
    for (int thread = 0; thread < 64; thread++) assert_int_equal(run.out[thread], 63 * 64 / 2);
    core_done(&run);
}

/* Lane 0 waits for a word that lane 1 writes after the reconvergence point. */
static void test_lane_waits_for_its_sibling(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "mov.u32 %r1, 0;\n"
                                 "setp.ne.u32 %p0, %t, 0;\n"
                                 "@%p0 bra WRITE;\n"
                                 "WAIT: ld.volatile.global.u32 %r1, [%base+128];\n"
                                 "setp.eq.u32 %p1, %r1, 0;\n"
                                 "@%p1 bra WAIT;\n"
                                 "WRITE: setp.eq.u32 %p2, %t, 1;\n"
                                 "@%p2 st.volatile.global.u32 [%base+128], 77;\n"
                                 "st.global.u32 [%out], %r1;",
                         .words = 33};
    CoreRun run = core_run_well(kernel);
    assert_int_equal(run.out[0], 77);
    assert_int_equal(run.out[1], 0);
    /* The failed iterations are one event of the trace, the successful one is another. */
    assert_true(count_kind(&run, 0, core_pc(&run, "ld.volatile.global", 0)) <= 2);
    core_done(&run);
}

/* ---- warps of one block -------------------------------------------------------------------------------- */

/* Warp 0 passes numbers to warp 1 through one word of shared memory, 50 of them. */
static void test_producer_and_consumer(void **state) {
    (void)state;
    CoreKernel kernel = {.body =
                             "mov.u32 %r0, 0; mov.u32 %r3, 0;\n"
                             "setp.eq.u32 %p0, %t, 0; @%p0 st.volatile.shared.u32 [full], 0;\n"
                             "bar.sync 0;\n"
                             "setp.ne.u32 %p0, %w, 0; @%p0 bra CONSUME;\n"
                             "PRODUCE: setp.eq.u32 %p1, %t, 0; @!%p1 bra END;\n"
                             "P: ld.volatile.shared.u32 %r1, [full]; setp.ne.u32 %p2, %r1, 0; @%p2 bra P;\n"
                             "add.u32 %r0, %r0, 1;\n"
                             "st.volatile.shared.u32 [box], %r0;\n"
                             "membar.cta; st.volatile.shared.u32 [full], 1;\n"
                             "setp.lt.u32 %p3, %r0, 50; @%p3 bra P; bra END;\n"
                             "CONSUME: setp.eq.u32 %p1, %t, 32; @!%p1 bra END;\n"
                             "C: ld.volatile.shared.u32 %r1, [full]; setp.eq.u32 %p2, %r1, 0; @%p2 bra C;\n"
                             "ld.volatile.shared.u32 %r2, [box]; add.u32 %r3, %r3, %r2;\n"
                             "membar.cta; st.volatile.shared.u32 [full], 0;\n"
                             "add.u32 %r0, %r0, 1; setp.lt.u32 %p3, %r0, 50; @%p3 bra C;\n"
                             "st.global.u32 [%out], %r3;\n"
                             "END: bar.sync 0;",
                         .module = ".shared .u32 full; .shared .u32 box;\n",
                         .block = 64};
    for (kernel.options.schedule = 0; kernel.options.schedule < 6; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        assert_int_equal(run.out[32], 50 * 51 / 2);
        core_done(&run);
    }
}

/* A spinning warp takes no turns from others: it iterates about as often as the other one counts. */
static void test_spinning_warps_starve_nobody(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.ne.u32 %p0, %w, 0; @%p0 bra COUNT;\n"
                             "SPIN: ld.volatile.global.u32 %r0, [%base+256]; setp.eq.u32 %p1, %r0, 0;\n"
                             "@%p1 bra SPIN;\n"
                             "bra END;\n"
                             "COUNT: mov.u32 %r1, 0;\n"
                             "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 1000; @%p2 bra L;\n"
                             "st.volatile.global.u32 [%base+256], 1;\n"
                             "END: ret;",
                     .block = 64,
                     .words = 65});
    uint64_t rounds = core_counter(&run, "ld.volatile.global", 0)->executions;
    assert_in_range(rounds, 900, 1100);
    assert_true(count_kind(&run, 0, core_pc(&run, "ld.volatile.global", 0)) <= 2);
    core_done(&run);
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

/* Each block waits for the one after it. */
static const char chain[] = "setp.ne.u32 %p0, %t, 0; @%p0 bra END;\n"
                            "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %nctaid.x; add.u32 %r2, %r0, 1;\n"
                            "mul.wide.u32 %q0, %r0, 4; add.s64 %q1, %base, %q0;\n"
                            "mov.u32 %r4, 0;\n"
                            "setp.eq.u32 %p1, %r2, %r1; @%p1 bra TELL;\n"
                            "SPIN: ld.acquire.gpu.global.u32 %r4, [%q1+4];\n"
                            "setp.eq.u32 %p2, %r4, 0; @%p2 bra SPIN;\n"
                            "TELL: add.u32 %r4, %r4, 1;\n"
                            "st.release.gpu.global.u32 [%q1], %r4;\n"
                            "END: ret;";

static void test_blocks_wait_for_later_ones(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = chain, .grid = 100, .words = 101});
    for (uint32_t block = 0; block < 100; block++) assert_int_equal(run.out[block], 100 - block);
    /* No thread spins for long. */
    assert_true(core_counter(&run, "ld.acquire", 0)->executions < 100000);
    for (uint32_t block = 0; block < 99; block++)
        assert_true(count_kind(&run, block, core_pc(&run, "ld.acquire", 0)) <= 2);
    core_done(&run);
}

/* The same by all lanes of the warp together. */
static void test_whole_warps_wait_for_other_blocks(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra TELL;\n"
                                           "SPIN: ld.volatile.global.u32 %r4, [%base+252];\n"
                                           "setp.eq.u32 %p2, %r4, 0; @%p2 bra SPIN;\n"
                                           "st.global.u32 [%out], %r4; bra END;\n"
                                           "TELL: st.volatile.global.u32 [%base+252], 9;\n"
                                           "END: ret;",
                                   .grid = 2});
    assert_int_equal(run.out[0], 9);
    assert_true(core_counter(&run, "ld.volatile", 0)->executions < 1000);
    core_done(&run);
}

/* With less patience: plain loads, after a delay loop. */
static void test_slow_polling(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra TELL;\n"
                             "SPIN: mov.u32 %r5, 0;\n"
                             "PAUSE: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 20; @%p1 bra PAUSE;\n"
                             "ld.global.u32 %r4, [%base+252]; membar.gl;\n"
                             "setp.eq.u32 %p2, %r4, 0; @%p2 bra SPIN;\n"
                             "st.global.u32 [%out], %r4; bra END;\n"
                             "TELL: st.volatile.global.u32 [%base+252], 9;\n"
                             "END: ret;",
                     .grid = 2});
    assert_int_equal(run.out[0], 9);
    assert_true(core_counter(&run, "ld.global", 0)->executions < 1000);
    core_done(&run);
}

/* The last block to finish sums the results of all (threadFenceReduction). */
static void test_last_block(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.ne.u32 %p0, %t, 0; @%p0 bra END;\n"
                             "mov.u32 %r0, %ctaid.x; add.u32 %r1, %r0, 1; mul.wide.u32 %q0, %r0, 4;\n"
                             "add.s64 %q1, %base, %q0; st.global.u32 [%q1+8], %r1;\n"
                             "membar.gl;\n"
                             "mov.u32 %r2, %nctaid.x;\n"
                             "atom.global.inc.u32 %r3, [%base], %r2;\n"
                             "sub.u32 %r4, %r2, 1; setp.ne.u32 %p1, %r3, %r4; @%p1 bra END;\n"
                             "mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u64 %q2, %base;\n"
                             "SUM: ld.global.u32 %r7, [%q2+8]; add.u32 %r6, %r6, %r7;\n"
                             "add.s64 %q2, %q2, 4; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r2;\n"
                             "@%p2 bra SUM;\n"
                             "st.global.u32 [%base+4], %r6;\n"
                             "END: ret;",
                     .grid = 300,
                     .words = 302});
    assert_int_equal(run.out[1], 300 * 301 / 2);
    core_done(&run);
}

/* Every block adds one, all wait for all, every block reads the sum: three times over. */
static void test_barrier_of_the_grid(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "mov.u32 %r9, 0; mov.u32 %r8, %nctaid.x; mov.u32 %r7, 0;\n"
                                           "ROUND: add.u32 %r7, %r7, %r8;\n"
                                           "bar.sync 0;\n"
                                           "setp.ne.u32 %p0, %t, 0; @%p0 bra MEET;\n"
                                           "membar.gl; atom.global.add.u32 %r0, [%base], 1;\n"
                                           "SPIN: ld.acquire.gpu.global.u32 %r0, [%base];\n"
                                           "setp.lt.u32 %p1, %r0, %r7; @%p1 bra SPIN;\n"
                                           "MEET: bar.sync 0;\n"
                                           "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 3; @%p2 bra ROUND;\n"
                                           "ld.global.u32 %r0, [%base]; mov.u32 %r1, %ctaid.x;\n"
                                           "mul.wide.u32 %q0, %r1, 4; add.s64 %q0, %base, %q0;\n"
                                           "setp.eq.u32 %p3, %t, 0; @%p3 st.global.u32 [%q0+4], %r0;",
                                   .grid = 132,
                                   .block = 64,
                                   .cooperative = true,
                                   .words = 133,
                                   .untraced = true});
    for (int block = 0; block < 132; block++) assert_int_equal(run.out[1 + block], 3 * 132);
    core_done(&run);
}

/* ---- endless waits ------------------------------------------------------------------------------------- */

/* The grid is larger than what is resident at once, so the last blocks never start. */
static void test_waiting_for_blocks_that_cannot_start(void **state) {
    (void)state;
    core_run_trap(
        (CoreKernel){
            .body = chain, .grid = 72, .words = 73, .options = {.multiprocessors = 2}, .untraced = true},
        TRAP_DEADLOCK, "8 more are not resident: they start once one of them ends; block 0 warp 0 spins");
}

static void test_waiting_for_nobody(void **state) {
    (void)state;
    core_run_trap(
        (CoreKernel){.body =
                         "SPIN: ld.volatile.global.u32 %r0, [%base]; setp.eq.u32 %p0, %r0, 0; @%p0 bra SPIN;",
                     .untraced = true},
        TRAP_DEADLOCK,
        "1 block only waits for memory that no thread changes; block 0 warp 0 spins at ld.volatile");
}

/* A lock of 128 bits that no thread releases: a failed attempt changes nothing. */
static void test_waiting_for_a_wide_lock(void **state) {
    (void)state;
    static const char *const held[] = {"5", "-5"}; /* below and above the expected value */
    for (int i = 0; i < 2; i++) {
        Text body = {0};
        text_print(
            &body,
            "{ .reg .b128 zero, mine, found; mov.u64 %%q0, 0; mov.u64 %%q1, 0; mov.b128 zero, {%%q0, %%q1};\n"
            "mov.u64 %%q0, %s; mov.b128 mine, {%%q0, %%q1};\n"
            "SPIN: atom.global.cas.b128 found, [%%base], zero, mine;\n"
            "mov.b128 {%%q2, %%q3}, found; setp.ne.u64 %%p0, %%q2, 0; @%%p0 bra SPIN; }",
            held[i]);
        core_run_trap((CoreKernel){.body = text_string(&body),
                                   .untraced = true,
                                   .options = {.instruction_budget = 10000000}},
                      TRAP_DEADLOCK, "only waits for memory that no thread changes");
        text_done(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_between_lanes),
        cmocka_unit_test(test_busy_loop_around_a_lock),
        cmocka_unit_test(test_lock_inside_the_loop),
        cmocka_unit_test(test_lane_waits_for_its_sibling),
        cmocka_unit_test(test_producer_and_consumer),
        cmocka_unit_test(test_spinning_warps_starve_nobody),
        cmocka_unit_test(test_blocks_wait_for_later_ones),
        cmocka_unit_test(test_whole_warps_wait_for_other_blocks),
        cmocka_unit_test(test_slow_polling),
        cmocka_unit_test(test_last_block),
        cmocka_unit_test(test_barrier_of_the_grid),
        cmocka_unit_test(test_waiting_for_blocks_that_cannot_start),
        cmocka_unit_test(test_waiting_for_nobody),
        cmocka_unit_test(test_waiting_for_a_wide_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
