/* Divergent lanes, and where they reconverge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

static void expect_lanes(const CoreRun *run, int word, uint32_t (*value)(uint32_t lane)) {
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t got = run->out[(uint32_t)word * 32 + lane], expected = value(lane);
        if (got != expected) fail_msg("word %d of lane %u is 0x%x, expected 0x%x", word, lane, got, expected);
    }
}

static uint32_t all(uint32_t lane) {
    return (void)lane, 0xffffffff;
}

/* ---- if, else ------------------------------------------------------------------------------------------ */

static uint32_t side_of_10(uint32_t lane) {
    return lane < 10 ? 0x3ff : 0xfffffc00;
}

static void test_if_else(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = "setp.lt.u32 %p0, %t, 10;\n"
                                                     "@%p0 bra THEN;\n"
                                                     "activemask.b32 %r0;\n"
                                                     "bra MEET;\n"
                                                     "THEN: activemask.b32 %r0;\n"
                                                     "MEET: activemask.b32 %r1;\n"
                                                     "st.global.u32 [%out], %r0;\n"
                                                     "st.global.u32 [%out+128], %r1;",
                                             .words = 64});
    expect_lanes(&run, 0, side_of_10);
    expect_lanes(&run, 1, all);
    assert_int_equal(core_counter(&run, "bra", 0)->divergent, 1);
    core_done(&run);
}

static uint32_t quarter(uint32_t lane) {
    return 0xffu << lane / 8 * 8;
}
static uint32_t half(uint32_t lane) {
    return lane < 16 ? 0xffff : 0xffff0000;
}

static void test_inner_branches_meet_first(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "setp.lt.u32 %p0, %t, 16;\n"
                                           "@!%p0 bra HIGH;\n"
                                           "setp.lt.u32 %p1, %t, 8;\n"
                                           "@%p1 bra A;\n"
                                           "activemask.b32 %r0; bra AB;\n"
                                           "A: activemask.b32 %r0;\n"
                                           "AB: activemask.b32 %r1; bra END;\n"
                                           "HIGH: setp.lt.u32 %p1, %t, 24;\n"
                                           "@%p1 bra C;\n"
                                           "activemask.b32 %r0; bra CD;\n"
                                           "C: activemask.b32 %r0;\n"
                                           "CD: activemask.b32 %r1;\n"
                                           "END: activemask.b32 %r2;\n"
                                           "st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;\n"
                                           "st.global.u32 [%out+256], %r2;",
                                   .words = 96});
    expect_lanes(&run, 0, quarter);
    expect_lanes(&run, 1, half);
    expect_lanes(&run, 2, all);
    core_done(&run);
}

/* A branch with the same outcome in all lanes does not diverge. */
static void test_uniform_branch(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = "setp.lt.u32 %p0, %t, 100;\n"
                                                     "@%p0 bra OVER;\n"
                                                     "mov.u32 %r0, 7;\n"
                                                     "OVER: activemask.b32 %r1; st.global.u32 [%out], %r1;"});
    expect_lanes(&run, 0, all);
    assert_int_equal(core_counter(&run, "bra", 0)->divergent, 0);
    assert_int_equal(core_counter(&run, "mov.u32 %r0, 7", 0)->executions, 0);
    core_done(&run);
}

static uint32_t guarded(uint32_t lane) {
    return lane % 3 ? 5 : 9;
}

static void test_guards_do_not_divide(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = "rem.u32 %r0, %t, 3; setp.eq.u32 %p0, %r0, 0;\n"
                                                     "mov.u32 %r1, 5;\n"
                                                     "@%p0 mov.u32 %r1, 9;\n"
                                                     "st.global.u32 [%out], %r1; activemask.b32 %r2;\n"
                                                     "st.global.u32 [%out+128], %r2;",
                                             .words = 64});
    expect_lanes(&run, 0, guarded);
    expect_lanes(&run, 1, all);
    assert_int_equal(core_counter(&run, "mov.u32 %r1, 9", 0)->executions, 1);
    assert_int_equal(core_counter(&run, "mov.u32 %r1, 9", 0)->lanes, 11);
    core_done(&run);
}

/* ---- loops --------------------------------------------------------------------------------------------- */

static uint32_t last_round(uint32_t lane) {
    return 0xffffffffu << lane;
}
static uint32_t rounds(uint32_t lane) {
    return lane + 1;
}

/* Lane l executes l + 1 iterations. */
static void test_different_trip_counts(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "mov.u32 %r0, 0;\n"
                                           "LOOP: add.u32 %r0, %r0, 1;\n"
                                           "activemask.b32 %r1;\n"
                                           "setp.le.u32 %p0, %r0, %t;\n"
                                           "@%p0 bra LOOP;\n"
                                           "activemask.b32 %r2;\n"
                                           "st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;\n"
                                           "st.global.u32 [%out+256], %r2;",
                                   .words = 96});
    expect_lanes(&run, 0, rounds);
    expect_lanes(&run, 1, last_round);
    expect_lanes(&run, 2, all);
    const TraceCounter *body = core_counter(&run, "add.u32 %r0, %r0, 1", 0);
    assert_int_equal(body->executions, 32);
    assert_int_equal(body->lanes, 32 * 33 / 2);
    assert_int_equal(core_counter(&run, "bra", 0)->divergent, 31);
    assert_int_equal(core_counter(&run, "st.global.u32", 0)->executions, 1);
    core_done(&run);
}

static uint32_t steps_of_collatz(uint32_t lane) {
    uint32_t n = lane + 1, steps = 0;
    for (; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

/* Both paths through the body reconverge before the next iteration. */
static void test_branch_inside_a_loop(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "add.u32 %r0, %t, 1; mov.u32 %r1, 0;\n"
                                           "LOOP: setp.eq.u32 %p0, %r0, 1;\n"
                                           "@%p0 bra DONE;\n"
                                           "and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0;\n"
                                           "@%p1 bra EVEN;\n"
                                           "mad.lo.u32 %r0, %r0, 3, 1;\n"
                                           "bra NEXT;\n"
                                           "EVEN: shr.u32 %r0, %r0, 1;\n"
                                           "NEXT: add.u32 %r1, %r1, 1;\n"
                                           "bra LOOP;\n"
                                           "DONE: activemask.b32 %r3;\n"
                                           "st.global.u32 [%out], %r1; st.global.u32 [%out+128], %r3;",
                                   .words = 64});
    expect_lanes(&run, 0, steps_of_collatz);
    expect_lanes(&run, 1, all);
    uint32_t longest = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        if (steps_of_collatz(lane) > longest) longest = steps_of_collatz(lane);
    assert_int_equal(core_counter(&run, "add.u32 %r1, %r1, 1", 0)->executions, longest);
    core_done(&run);
}

static uint32_t product(uint32_t lane) {
    return (lane % 4 + 1) * (lane / 4 + 1);
}

static void test_nested_loops(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "and.b32 %r0, %t, 3; shr.u32 %r1, %t, 2; mov.u32 %r4, 0; mov.u32 %r2, 0;\n"
                             "OUTER: mov.u32 %r3, 0;\n"
                             "INNER: add.u32 %r4, %r4, 1; add.u32 %r3, %r3, 1;\n"
                             "setp.le.u32 %p0, %r3, %r0; @%p0 bra INNER;\n"
                             "add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r1; @%p1 bra OUTER;\n"
                             "st.global.u32 [%out], %r4;"});
    expect_lanes(&run, 0, product);
    assert_int_equal(core_counter(&run, "add.u32 %r4, %r4, 1", 0)->executions, 4 * 8);
    assert_int_equal(core_counter(&run, "st.global.u32", 0)->executions, 1);
    core_done(&run);
}

static uint32_t irreducible(uint32_t lane) {
    return lane % 2 ? 3 * 4 - 1 : 3 * 4;
}

/* A loop with two entries: odd lanes branch into its middle. */
static void test_irreducible_loop(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "mov.u32 %r0, 0; mov.u32 %r1, 0;\n"
                                           "and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 1;\n"
                                           "@%p0 bra MIDDLE;\n"
                                           "TOP: add.u32 %r0, %r0, 1;\n"
                                           "MIDDLE: add.u32 %r0, %r0, 2;\n"
                                           "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4;\n"
                                           "@%p1 bra TOP;\n"
                                           "activemask.b32 %r3;\n"
                                           "st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r3;",
                                   .words = 64});
    expect_lanes(&run, 0, irreducible);
    expect_lanes(&run, 1, all);
    core_done(&run);
}

/* ---- exits --------------------------------------------------------------------------------------------- */

static uint32_t low_half(uint32_t lane) {
    return lane < 16 ? 0xffff : 0;
}

static void test_lanes_that_exit_are_waited_for_by_nobody(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = "setp.ge.u32 %p0, %t, 16;\n"
                                                     "@%p0 exit;\n"
                                                     "setp.lt.u32 %p1, %t, 4;\n"
                                                     "@%p1 bra A;\n"
                                                     "mov.u32 %r0, 1; bra MEET;\n"
                                                     "A: mov.u32 %r0, 2;\n"
                                                     "MEET: activemask.b32 %r1; bar.sync 0;\n"
                                                     "st.global.u32 [%out], %r1;"});
    expect_lanes(&run, 0, low_half);
    assert_int_equal(core_counter(&run, "bar.sync", 0)->lanes, 16);
    core_done(&run);
}

static uint32_t even_low(uint32_t lane) {
    return lane < 16 && lane % 2 ? 0 : 0xffff5555;
}

/* if (t < 16) { if (t is odd) return; }  the rest continues together. */
static void test_return_inside_a_branch(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = "setp.ge.u32 %p0, %t, 16;\n"
                                                     "@%p0 bra MEET;\n"
                                                     "and.b32 %r0, %t, 1; setp.eq.u32 %p1, %r0, 0;\n"
                                                     "@%p1 bra STAY;\n"
                                                     "ret;\n"
                                                     "STAY: mov.u32 %r2, 1;\n"
                                                     "MEET: activemask.b32 %r1; st.global.u32 [%out], %r1;"});
    expect_lanes(&run, 0, even_low);
    core_done(&run);
}

static uint32_t odd_or_high(uint32_t lane) {
    return lane % 2 && lane < 24 ? 0xffaaaaaa : lane < 24 ? 0 : 0xffaaaaaa;
}

/* Lanes exit two branches deep, while the others already wait for them at both. */
static void test_exit_from_inner_branches(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.ge.u32 %p0, %t, 24; @%p0 bra OUTER;\n"
                             "and.b32 %r0, %t, 1; setp.eq.u32 %p1, %r0, 1; @%p1 bra INNER;\n"
                             "mov.u32 %r1, 0;\n"
                             "LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %t; @%p2 bra LOOP;\n"
                             "setp.ne.u32 %p3, %r1, 1000; @%p3 exit;\n"
                             "INNER: add.u32 %r2, %r2, 1;\n"
                             "OUTER: activemask.b32 %r3; st.global.u32 [%out], %r3;"});
    expect_lanes(&run, 0, odd_or_high);
    core_done(&run);
}

static uint32_t left_at(uint32_t lane) {
    return lane;
}

static void test_one_lane_leaves_every_round(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "mov.u32 %r0, 0;\n"
                                           "LOOP: st.global.u32 [%out], %r0; setp.eq.u32 %p0, %r0, %t;\n"
                                           "@%p0 exit;\n"
                                           "add.u32 %r0, %r0, 1; bra LOOP;"});
    expect_lanes(&run, 0, left_at);
    assert_int_equal(core_counter(&run, "add.u32 %r0, %r0, 1", 0)->executions, 31);
    core_done(&run);
}

static void test_last_warp_is_partial(void **state) {
    (void)state;
    uint32_t masks[2];
    CoreRun run =
        core_run_well((CoreKernel){.body = "activemask.b32 %r0; st.global.u32 [%out], %r0;", .block = 40});
    assert_int_equal(run.out[0], 0xffffffff);
    assert_int_equal(run.out[32], 0xff);
    assert_int_equal(core_masks(&run, 0, core_pc(&run, "st.global", 0), masks, 2), 2);
    assert_int_equal(masks[1], 0xff);
    assert_int_equal(core_counter(&run, "st.global", 0)->lanes, 40);
    core_done(&run);
}

/* ---- brx ----------------------------------------------------------------------------------------------- */

static uint32_t table(uint32_t lane) {
    return (uint32_t[]){100, 200, 300, 200}[lane % 4];
}

static void test_indexed_branch(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "and.b32 %r0, %t, 3;\n"
                                           "TARGETS: .branchtargets A, B, C, B;\n"
                                           "brx.idx %r0, TARGETS;\n"
                                           "A: mov.u32 %r1, 100; bra MEET;\n"
                                           "B: mov.u32 %r1, 200; bra MEET;\n"
                                           "C: mov.u32 %r1, 300;\n"
                                           "MEET: activemask.b32 %r2;\n"
                                           "st.global.u32 [%out], %r1; st.global.u32 [%out+128], %r2;",
                                   .words = 64});
    expect_lanes(&run, 0, table);
    expect_lanes(&run, 1, all);
    assert_int_equal(core_counter(&run, "brx", 0)->divergent, 1);
    assert_int_equal(core_counter(&run, "mov.u32 %r1, 200", 0)->executions, 1);
    assert_int_equal(core_counter(&run, "mov.u32 %r1, 200", 0)->lanes, 16);
    core_done(&run);
}

static uint32_t guarded_table(uint32_t lane) {
    return lane < 20 ? 1 : lane % 2 ? 30 : 20;
}

static void test_guarded_indexed_branch(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "and.b32 %r0, %t, 1; setp.ge.u32 %p0, %t, 20;\n"
                                           "TARGETS: .branchtargets A, B;\n"
                                           "@%p0 brx.idx %r0, TARGETS;\n"
                                           "mov.u32 %r1, 1; bra MEET;\n"
                                           "A: mov.u32 %r1, 20; bra MEET;\n"
                                           "B: mov.u32 %r1, 30;\n"
                                           "MEET: activemask.b32 %r2;\n"
                                           "st.global.u32 [%out], %r1; st.global.u32 [%out+128], %r2;",
                                   .words = 64});
    expect_lanes(&run, 0, guarded_table);
    expect_lanes(&run, 1, all);
    core_done(&run);
}

static void test_index_outside_of_the_list(void **state) {
    (void)state;
    Trap trap = core_run_trap((CoreKernel){.body = "TARGETS: .branchtargets A, B;\n"
                                                   "shr.u32 %r0, %t, 4; add.u32 %r0, %r0, 1;\n"
                                                   "brx.idx %r0, TARGETS;\n"
                                                   "A: mov.u32 %r1, 1;\nB: mov.u32 %r1, 2;"},
                              TRAP_BAD_CALL, "index 2");
    assert_int_equal(trap.lanes, 0xffff0000);
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* Late lanes find their predicates unchanged, though others have gone on and reused that register's
 * storage. */
static void test_registers_of_late_lanes(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "setp.lt.u32 %p0, %t, 33;\n"
                                 "ld.global.u32 %r0, [%out];\n"
                                 "@%p0 mov.u32 %r0, 7;\n"
                                 "mov.u16 %h0, 0; mov.u16 %h1, 0; mov.u16 %h2, 0; mov.u16 %h3, 0;\n"
                                 "cvt.u32.u16 %r1, %h0; cvt.u32.u16 %r2, %h1; add.u32 %r0, %r0, %r1;\n"
                                 "cvt.u32.u16 %r1, %h2; add.u32 %r0, %r0, %r2; cvt.u32.u16 %r2, %h3;\n"
                                 "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2;\n"
                                 "st.global.u32 [%out], %r0;"};
    for (kernel.options.schedule = 1; kernel.options.schedule < 60; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], 7);
        core_done(&run);
    }
}

/* The lanes that do not take the branch go first; a schedule may change that, and changes nothing else. */
static void test_order_of_the_ways(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "setp.lt.u32 %p0, %t, 10;\n"
                                 "@%p0 bra JUMPED;\n"
                                 "atom.global.add.u32 %r0, [%base+128], 1; bra MEET;\n"
                                 "JUMPED: atom.global.add.u32 %r0, [%base+128], 1;\n"
                                 "MEET: st.global.u32 [%out], %r0;",
                         .words = 33};
    CoreRun run = core_run_well(kernel);
    assert_int_equal(run.out[10], 0);
    assert_int_equal(run.out[31], 21);
    assert_int_equal(run.out[0], 22);
    core_done(&run);
    bool jumped_first = false;
    for (uint64_t schedule = 1; schedule < 20; schedule++) {
        kernel.options.schedule = schedule;
        run = core_run_well(kernel);
        jumped_first |= run.out[0] == 0;
        assert_true(run.out[0] == 0 || run.out[10] == 0);
        assert_int_equal(run.out[32], 32);
        core_done(&run);
    }
    assert_true(jumped_first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if_else),
        cmocka_unit_test(test_inner_branches_meet_first),
        cmocka_unit_test(test_uniform_branch),
        cmocka_unit_test(test_guards_do_not_divide),
        cmocka_unit_test(test_different_trip_counts),
        cmocka_unit_test(test_branch_inside_a_loop),
        cmocka_unit_test(test_nested_loops),
        cmocka_unit_test(test_irreducible_loop),
        cmocka_unit_test(test_lanes_that_exit_are_waited_for_by_nobody),
        cmocka_unit_test(test_return_inside_a_branch),
        cmocka_unit_test(test_exit_from_inner_branches),
        cmocka_unit_test(test_one_lane_leaves_every_round),
        cmocka_unit_test(test_last_warp_is_partial),
        cmocka_unit_test(test_indexed_branch),
        cmocka_unit_test(test_guarded_indexed_branch),
        cmocka_unit_test(test_index_outside_of_the_list),
        cmocka_unit_test(test_order_of_the_ways),
        cmocka_unit_test(test_registers_of_late_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
