/* bar and barrier: which threads wait for which, and what is a fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

/* The block's barrier: after it, all threads read what any wrote before it. */
static const char reverse[] =
    "shl.b32 %r0, %t, 2; mov.u32 %r1, words; add.u32 %r1, %r1, %r0;\n"
    "st.shared.u32 [%r1], %t;\n"
    "BARRIER;\n"
    "mov.u32 %r2, %ntid.x; sub.u32 %r2, %r2, 1; sub.u32 %r2, %r2, %t; shl.b32 %r2, %r2, 2;\n"
    "mov.u32 %r1, words; add.u32 %r1, %r1, %r2; ld.shared.u32 %r3, [%r1];\n"
    "st.global.u32 [%out], %r3;";

static void check_reverse(const char *barrier, uint32_t block) {
    Text body = {0};
    const char *at = strstr(reverse, "BARRIER");
    text_add_bytes(&body, reverse, (size_t)(at - reverse));
    text_add(&body, barrier);
    text_add(&body, at + strlen("BARRIER"));
    CoreRun run = core_run_well((CoreKernel){
        .body = text_string(&body), .module = ".shared .align 4 .b8 words[4096];\n", .block = block});
    for (uint32_t i = 0; i < block; i++) assert_int_equal(run.out[i], block - 1 - i);
    core_done(&run);
    text_done(&body);
}

static void test_all_wait_for_all(void **state) {
    (void)state;
    static const char *const barriers[] = {"bar.sync 0",
                                           "barrier.sync 0",
                                           "barrier.sync.aligned 3",
                                           "bar.cta.sync 15",
                                           "barrier.cta.sync 1",
                                           "mov.u32 %r9, 7; bar.sync %r9",
                                           "bar.red.popc.u32 %r9, 0, %p0"};
    for (size_t i = 0; i < sizeof barriers / sizeof *barriers; i++) {
        check_reverse(barriers[i], 256);
        check_reverse(barriers[i], 1024);
        check_reverse(barriers[i], 100);
    }
    check_reverse("bar.sync 2, 256", 256);
    check_reverse("bar.arrive 4, 64; bar.sync 0", 32); /* without effect */
}

/* Barriers are counted if the whole block waits; the others do not end an interval. */
static void test_intervals(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "bar.sync 0; bar.sync 1, 64; barrier.sync 0; st.global.u32 [%out], %t;", .block = 64});
    TraceEvent event;
    core_event(&run, 0, core_event_count(&run, 0) - 1, &event);
    assert_int_equal(event.kind, TRACE_GLOBAL_STORE);
    assert_int_equal(event.interval, 2);
    core_done(&run);
}

/* ---- reductions ---------------------------------------------------------------------------------------- */

static void test_reductions(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "setp.lt.u32 %p0, %t, 70; setp.lt.u32 %p1, %t, 200; setp.gt.u32 %p2, %t, 200;\n"
                "bar.red.popc.u32 %r0, 0, %p0;\n"
                "bar.red.and.pred %p3, 0, %p0; bar.red.and.pred %p4, 0, %p1;\n"
                "bar.red.or.pred %p5, 0, %p0; bar.red.or.pred %p6, 0, %p2;\n"
                "bar.red.popc.u32 %r2, 0, !%p0;\n"
                "selp.u32 %r1, 1, 0, %p3; selp.u32 %r3, 2, 0, %p4; or.b32 %r1, %r1, %r3;\n"
                "selp.u32 %r3, 4, 0, %p5; or.b32 %r1, %r1, %r3;\n"
                "selp.u32 %r3, 8, 0, %p6; or.b32 %r1, %r1, %r3;\n"
                "shl.b32 %r2, %r2, 16; or.b32 %r0, %r0, %r2; shl.b32 %r1, %r1, 8; or.b32 %r0, %r0, %r1;\n"
                "st.global.u32 [%out], %r0;",
        .block = 100};
    CoreRun run = core_run_well(kernel);
    for (int i = 0; i < 100; i++) assert_int_equal(run.out[i], 70 | (2 | 4) << 8 | 30 << 16);
    core_done(&run);
}

/* Only threads that have not exited are counted (an H200 gives these numbers). */
static void test_reduction_of_those_that_stay(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "and.b32 %r0, %t, 31; setp.ge.u32 %p0, %r0, 16; @%p0 exit;\n"
                                           "bar.sync 1, 64;\n"
                                           "setp.lt.u32 %p1, %t, 40; bar.red.popc.u32 %r1, 0, %p1;\n"
                                           "setp.lt.u32 %p1, %t, 48; bar.red.and.pred %p2, 0, %p1;\n"
                                           "selp.u32 %r2, 100, 0, %p2; add.u32 %r1, %r1, %r2;\n"
                                           "st.global.u32 [%out], %r1;",
                                   .block = 64});
    for (int i = 0; i < 64; i++) assert_int_equal(run.out[i], i % 32 < 16 ? 124 : 0);
    core_done(&run);
}

/* ---- named barriers ------------------------------------------------------------------------------------ */

/* Two pairs of warps synchronize twice, at barriers of their own. */
static void test_named_barriers(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body =
            "shr.u32 %r0, %t, 6; add.u32 %r0, %r0, 1;\n" /* barrier 1 or 2 */
            "shl.b32 %r1, %t, 2; mov.u32 %r2, words; add.u32 %r2, %r2, %r1;\n"
            "st.shared.u32 [%r2], %t;\n"
            "bar.sync %r0, 64;\n"
            "xor.b32 %r3, %r1, 128; mov.u32 %r2, words; add.u32 %r2, %r2, %r3; ld.shared.u32 %r4, [%r2];\n"
            "bar.sync %r0, 64;\n"
            "add.u32 %r4, %r4, 1000; st.shared.u32 [%r2], %r4;\n"
            "bar.sync %r0, 64;\n"
            "mov.u32 %r2, words; add.u32 %r2, %r2, %r1; ld.shared.u32 %r4, [%r2];\n"
            "st.global.u32 [%out], %r4;",
        .module = ".shared .align 4 .b8 words[512];\n",
        .block = 128};
    for (kernel.options.schedule = 0; kernel.options.schedule < 6; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        for (uint32_t i = 0; i < 128; i++) assert_int_equal(run.out[i], 1000 + i);
        core_done(&run);
    }
}

/* Producers arrive and continue; consumers wait for them (the example of the PTX ISA). */
static void test_arrive_and_sync(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body =
            "mov.u32 %r0, 0; setp.ge.u32 %p0, %t, 64; @%p0 bra CONSUME;\n"
            "PRODUCE: shl.b32 %r1, %t, 2; mov.u32 %r2, words; add.u32 %r2, %r2, %r1;\n"
            "P: bar.sync 0, 128;\n" /* empty */
            "mad.lo.u32 %r3, %r0, 100, %t; st.shared.u32 [%r2], %r3;\n"
            "membar.cta; bar.arrive 1, 128;\n" /* full */
            "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 5; @%p1 bra P; bra END;\n"
            "CONSUME: sub.u32 %r1, %t, 64; shl.b32 %r1, %r1, 2; mov.u32 %r2, words; add.u32 %r2, %r2, %r1;\n"
            "mov.u32 %r5, 0; bar.arrive 0, 128;\n"
            "C: bar.sync 1, 128; ld.shared.u32 %r3, [%r2]; add.u32 %r5, %r5, %r3;\n"
            "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 5; @!%p1 bra OUT;\n"
            "bar.arrive 0, 128; bra C;\n"
            "OUT: st.global.u32 [%out], %r5;\n"
            "END: ret;",
        .module = ".shared .align 4 .b8 words[256];\n",
        .block = 128};
    for (kernel.options.schedule = 0; kernel.options.schedule < 6; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(run.out[64 + i], 100 * (0 + 1 + 2 + 3 + 4) + 5 * i);
        core_done(&run);
    }
}

/* A thread that has arrived and exits is not counted again: the barrier still waits for the two others. */
static void test_exits_behind_an_arrival(void **state) {
    (void)state;
    static const char *const early[] = {
        "bar.arrive 1, 96; exit;", /* all lanes at once; lane after lane */
        ("bar.arrive 1, 96; mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, %t; @%p4 bra L; "
         "exit;"),
        "setp.lt.u32 %p4, %t, 16; @%p4 barrier.arrive 1, 96; @%p4 exit; barrier.arrive 1, 96; exit;",
    };
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        Text body = {0};
        text_print(
            &body,
            "setp.eq.u32 %%p0, %%t, 0; @%%p0 st.shared.u32 [word], 0; bar.sync 0;\n"
            "setp.eq.u32 %%p1, %%w, 1; @%%p1 bra LATE; setp.eq.u32 %%p2, %%w, 2; @%%p2 bra WAIT;\n%s\n"
            "LATE: mov.u32 %%r0, 0; D: add.u32 %%r0, %%r0, 1; setp.lt.u32 %%p3, %%r0, 500; @%%p3 bra D;\n"
            "st.shared.u32 [word], 7; bar.arrive 1, 96; exit;\n"
            "WAIT: bar.sync 1, 96; ld.shared.u32 %%r1, [word]; st.global.u32 [%%out], %%r1;",
            early[i]);
        CoreKernel kernel = {.body = text_string(&body), .module = ".shared .u32 word;\n", .block = 96};
        for (kernel.options.schedule = 0; kernel.options.schedule < 4; kernel.options.schedule++) {
            CoreRun run = core_run_well(kernel);
            for (int thread = 64; thread < 96; thread++) assert_int_equal(run.out[thread], 7);
            core_done(&run);
        }
        text_done(&body);
    }
}

/* Lanes exit one after another; the arrived lanes of their warp stop waiting for them. */
static void test_exits_beside_an_arrival(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.lt.u32 %p0, %t, 5; @%p0 bra COME;\n"
                             "setp.ge.u32 %p1, %t, 32; @%p1 bra COME;\n"
                             "mov.u32 %r0, 0; mul.lo.u32 %r2, %t, 20;\n"
                             "D: add.u32 %r0, %r0, 1; setp.ge.u32 %p3, %r0, %r2;\n"
                             "setp.eq.and.u32 %p4, %t, 31, %p3; @%p4 st.global.u32 [%base+12], 9;\n"
                             "@%p3 exit; bra D;\n"
                             "COME: barrier.sync 1, 64; ld.volatile.global.u32 %r1, [%base+12];\n"
                             "st.global.u32 [%out+256], %r1;",
                     .block = 64,
                     .words = 128});
    for (int thread = 0; thread < 64; thread++)
        assert_int_equal(run.out[64 + thread], thread < 5 || thread >= 32 ? 9 : 0);
    core_done(&run);
}

/* ---- parts of warps ------------------------------------------------------------------------------------ */

static void test_exited_lanes_hold_nobody_up(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.ge.u32 %p0, %t, 70; @%p0 bra GONE;\n"
                             "bar.sync 0; st.global.u32 [%out], 1; bra END;\n"
                             "GONE: mov.u32 %r0, 0;\n"
                             "LATE: add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, %t; @%p1 bra LATE;\n"
                             "exit;\n"
                             "END: ret;",
                     .block = 128});
    for (int i = 0; i < 128; i++) assert_int_equal(run.out[i], i < 70);
    core_done(&run);
}

/* Compilers merge all returns into one and place the code before it after everything else; still, no lane
 * waits there. */
static void test_early_returns_hold_nobody_up(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = "setp.ge.u32 %p0, %t, 40; @%p0 bra END;\n"
                                                     "bar.sync 0; st.global.u32 [%out], 1;\n"
                                                     "END: ret;",
                                             .block = 64});
    for (int i = 0; i < 64; i++) assert_int_equal(run.out[i], i < 40);
    core_done(&run);
    run = core_run_well(
        (CoreKernel){.body = "mov.u32 %r0, 0;\n"
                             "LOOP: and.b32 %r1, %t, 3; setp.ne.u32 %p0, %r1, %r0; @%p0 bra JOIN;\n"
                             "setp.eq.u32 %p1, %t, 5; @%p1 bra FOUND;\n"
                             "add.u32 %r2, %r2, 1;\n"
                             "JOIN: activemask.b32 %r3; bar.sync 0;\n"
                             "add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 4; @%p2 bra LOOP;\n"
                             "st.global.u32 [%out], %r3; bra END;\n"
                             "FOUND: st.global.u32 [%out], 1;\n"
                             "END: ret;"});
    for (int i = 0; i < 32; i++) assert_int_equal(run.out[i], i == 5 ? 1 : 0xffffffdf);
    core_done(&run);
}

/* barrier without .aligned: lanes may arrive one after another, from different places. */
static void test_unaligned_barrier(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [word], 0; bar.sync 0;\n"
                             "and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra EVEN;\n"
                             "atom.shared.add.u32 %r1, [word], 1;\n"
                             "barrier.sync 0; ld.shared.u32 %r2, [word]; bra MEET;\n"
                             "EVEN: mov.u32 %r3, 0;\n"
                             "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %t; @%p1 bra L;\n"
                             "atom.shared.add.u32 %r1, [word], 1;\n"
                             "barrier.sync 0; ld.shared.u32 %r2, [word];\n"
                             "MEET: st.global.u32 [%out], %r2;",
                     .module = ".shared .u32 word;\n",
                     .block = 96});
    for (int i = 0; i < 96; i++) assert_int_equal(run.out[i], 96);
    core_done(&run);
}

/* A counted barrier counts warps: half a warp has not arrived (PTX ISA: "causes executing thread to wait for
 * all non-exited threads from its warp and marks warps' arrival"). */
static void test_half_warps_do_not_add_up(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "and.b32 %r0, %t, 16; setp.eq.u32 %p0, %r0, 0;\n"
                                 "@!%p0 bra WAIT;\n"
                                 "barrier.sync 1, 32; bra END;\n"
                                 "WAIT: barrier.sync 2, 32;\n"
                                 "END: ret;",
                         .block = 64};
    core_run_trap(kernel, TRAP_DEADLOCK,
                  "warp 0 waits at barrier.sync (barrier 1: 0 of 32 threads have arrived)");
    /* Once the other half has exited, the rest is the whole warp. */
    kernel.body = "and.b32 %r0, %t, 16; setp.eq.u32 %p0, %r0, 0;\n"
                  "@!%p0 bra LEAVE;\n"
                  "barrier.sync 1, 64; st.global.u32 [%out], 5; bra END;\n"
                  "LEAVE: mov.u32 %r3, 0;\n"
                  "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 50; @%p1 bra L;\n"
                  "exit;\n"
                  "END: ret;";
    CoreRun run = core_run_well(kernel);
    for (int i = 0; i < 64; i++) assert_int_equal(run.out[i], i % 32 < 16 ? 5 : 0);
    core_done(&run);
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static void test_aligned_barrier_in_one_way_of_a_branch(void **state) {
    (void)state;
    Trap trap = core_run_trap((CoreKernel){.body = "setp.lt.u32 %p0, %t, 40; @!%p0 bra OVER;\n"
                                                   "bar.sync 0;\n"
                                                   "OVER: st.global.u32 [%out], %t;",
                                           .block = 64},
                              TRAP_DIVERGENT_BARRIER,
                              "bar.sync is reached by lanes 0-7 of warp 1, but all its live lanes 0-31 must");
    assert_int_equal(trap.warp, 1);
    assert_int_equal(trap.lanes, 0xff);
    core_run_trap((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @%p0 bra A; barrier.sync.aligned 0; bra B;\n"
                                       "A: barrier.sync.aligned 0;\nB: ret;"},
                  TRAP_DIVERGENT_BARRIER, "barrier.sync.aligned");
    core_run_trap((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @%p0 bar.sync 0;"}, TRAP_DIVERGENT_BARRIER,
                  "lanes 0-7 of warp 0");
}

/* Lanes that arrive at the same aligned barrier one after another reconverge there. */
static void test_aligned_barrier_gathers(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "TARGETS: .branchtargets A, B;\n"
                                           "and.b32 %r0, %t, 1;\n"
                                           "setp.lt.u32 %p1, %t, 9; @%p1 bra A;\n"
                                           "brx.idx %r0, TARGETS;\n"
                                           "A: mov.u32 %r1, 1;\n"
                                           "B: bar.sync 0; activemask.b32 %r2; st.global.u32 [%out], %r2;"});
    for (int i = 0; i < 32; i++) assert_int_equal(run.out[i], 0xffffffff);
    assert_int_equal(core_counter(&run, "bar.sync", 0)->executions, 1);
    core_done(&run);
}

/* One phase of a barrier has one thread count; the next phase may have another. */
static void test_thread_counts_of_a_barrier_agree(void **state) {
    (void)state;
    static const struct {
        const char *first, *last, *fault;
    } cases[] = {
        {"bar.arrive 3, 96", "bar.sync 3, 64",
         "the thread counts of barrier 3 differ: bar.arrive expects 96 threads, but bar.sync expects 64 "
         "threads"},
        {"bar.sync 3", "bar.sync 3, 64",
         "barrier 3 differ: bar.sync expects all threads of the block, but bar.sync expects 64 threads"},
        {"bar.arrive 3, 96", "bar.sync 3, 96", NULL},
        {"bar.sync 3, 96", "bar.sync 3", NULL}, /* all of the block */
        {"bar.sync 3, 96; bar.sync 3, 64", "bar.sync 3, 96", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body, "setp.ge.u32 %%p0, %%t, 64; @%%p0 bra LAST;\n%s; bra END;\nLAST: %s;\nEND: ret;",
                   cases[i].first, cases[i].last);
        CoreKernel kernel = {.body = text_string(&body), .block = 96};
        if (cases[i].fault) {
            core_run_trap(kernel, TRAP_TRAP_INSTRUCTION, cases[i].fault);
        } else {
            CoreRun run = core_run_well(kernel);
            core_done(&run);
        }
        text_done(&body);
    }
}

static void test_deadlock_says_who_waits_where(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "setp.eq.u32 %p0, %w, 0; @%p0 bra ONE; bar.sync 1; bra END;\n"
                                       "ONE: bar.sync 2;\nEND: ret;",
                               .block = 96},
                  TRAP_DEADLOCK,
                  "warp 0 waits at bar.sync (barrier 2: 32 of all live threads have arrived); warp 1 waits "
                  "at bar.sync "
                  "(barrier 1: 64 of all live threads have arrived); warp 2");
    core_run_trap((CoreKernel){.body = "bar.sync 3, 96;", .block = 64}, TRAP_DEADLOCK,
                  "64 of 96 threads have arrived");
}

static void test_impossible_barriers(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "mov.u32 %r0, 16; bar.sync %r0;"}, TRAP_TRAP_INSTRUCTION,
                  "barrier 16 does not exist");
    core_run_trap((CoreKernel){.body = "mov.u32 %r0, 33; bar.sync 0, %r0;"}, TRAP_TRAP_INSTRUCTION,
                  "multiple of 32, not 33");
    core_run_trap((CoreKernel){.body = "mov.u32 %r0, 0; bar.sync 0, %r0;"}, TRAP_TRAP_INSTRUCTION,
                  "multiple of 32, not 0");
    core_run_trap((CoreKernel){.body = "and.b32 %r0, %t, 1; bar.sync %r0;"}, TRAP_NOT_EMULATED,
                  "different barriers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_wait_for_all),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_reduction_of_those_that_stay),
        cmocka_unit_test(test_named_barriers),
        cmocka_unit_test(test_arrive_and_sync),
        cmocka_unit_test(test_exits_behind_an_arrival),
        cmocka_unit_test(test_exits_beside_an_arrival),
        cmocka_unit_test(test_exited_lanes_hold_nobody_up),
        cmocka_unit_test(test_early_returns_hold_nobody_up),
        cmocka_unit_test(test_unaligned_barrier),
        cmocka_unit_test(test_half_warps_do_not_add_up),
        cmocka_unit_test(test_aligned_barrier_in_one_way_of_a_branch),
        cmocka_unit_test(test_aligned_barrier_gathers),
        cmocka_unit_test(test_thread_counts_of_a_barrier_agree),
        cmocka_unit_test(test_deadlock_says_who_waits_where),
        cmocka_unit_test(test_impossible_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
