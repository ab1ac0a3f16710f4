/* Runs are the same with any number of host threads; schedules change the order only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <stdlib.h>

enum { BLOCKS = 700 }; /* enough to make host threads worthwhile */

static void expect_same_with_all_threads(CoreKernel kernel) {
    kernel.options.threads = 1;
    char *one = core_text_of(kernel, NULL);
    static const int counts[] = {2, 3, 8, 64};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        kernel.options.threads = counts[i];
        char *many = core_text_of(kernel, NULL);
        if (strcmp(one, many) != 0) fail_msg("%d threads give another run", counts[i]);
        free(many);
    }
    free(one);
}

static void test_blocks_that_have_nothing_to_do_with_each_other(void **state) {
    (void)state;
    expect_same_with_all_threads((CoreKernel){
        .body = "mov.u32 %r0, 0; and.b32 %r2, %t, 7;\n"
                "LOOP: add.u32 %r1, %r1, %i; add.u32 %r0, %r0, 1; setp.le.u32 %p0, %r0, %r2;\n"
                "@%p0 bra LOOP;\n"
                "st.shared.u32 [word], %r1; bar.sync 0; ld.shared.u32 %r1, [word];\n"
                "st.global.u32 [%out], %r1;\n"
                /* generic addresses, conflicts and partial sectors, too: each has a count of its own */
                "ld.u32 %r3, [%out]; mov.u64 %q0, word; cvta.shared.u64 %q1, %q0; ld.u32 %r4, [%q1];\n"
                "and.b32 %r5, %t, 3; shl.b32 %r5, %r5, 7; mov.u32 %r6, word; add.u32 %r6, %r6, %r5;\n"
                "ld.shared.u32 %r7, [%r6]; setp.eq.u32 %p1, %r2, 1; @%p1 ld.global.u32 %r8, [%out];",
        .module = ".shared .align 4 .b8 word[512];\n",
        .grid = BLOCKS,
        .block = 64});
}

/* All blocks write one word: the last block wins, as on one thread. */
static void test_race_of_stores(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "st.global.u32 [%base], %i; ld.global.u32 %r0, [%base]; st.global.u32 [%out+4], %r0;",
        .grid = BLOCKS,
        .words = BLOCKS * 32 + 1};
    expect_same_with_all_threads(kernel);
    kernel.options.threads = 8;
    CoreRun run = core_run_well(kernel);
    assert_int_equal(run.out[0], BLOCKS * 32 - 1);
    core_done(&run);
}

/* Each block reads what the one before has written. */
static void test_race_of_a_load(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "mov.u32 %r1, 0; mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 0;\n"
                "@!%p0 ld.global.u32 %r1, [%out-128]; add.u32 %r1, %r1, 1; st.global.u32 [%out], %r1;",
        .grid = BLOCKS};
    expect_same_with_all_threads(kernel);
    kernel.options.threads = 8;
    CoreRun run = core_run_well(kernel);
    for (uint32_t block = 0; block < BLOCKS; block++) assert_int_equal(run.out[32 * block], block + 1);
    core_done(&run);
}

/* Blocks that access different bytes of one word do not interfere. */
static void test_neighbouring_bytes(void **state) {
    (void)state;
    expect_same_with_all_threads(
        (CoreKernel){.body = "mov.u32 %r0, %ctaid.x; cvt.u64.u32 %q0, %r0; add.s64 %q0, %base, %q0;\n"
                             "st.global.u8 [%q0], %r0;",
                     .grid = BLOCKS});
}

static void test_atomics(void **state) {
    (void)state;
    expect_same_with_all_threads(
        (CoreKernel){.body = "rem.u32 %r0, %i, 13; mul.wide.u32 %q0, %r0, 4; add.s64 %q0, %base, %q0;\n"
                             "atom.global.add.u32 %r1, [%q0], %i; red.global.max.u32 [%base+60], %r1;",
                     .grid = BLOCKS});
}

static void test_module_variables_are_memory_too(void **state) {
    (void)state;
    expect_same_with_all_threads(
        (CoreKernel){.body = "ld.global.u32 %r0, [last]; add.u32 %r0, %r0, 1; st.global.u32 [last], %r0;\n"
                             "st.global.u32 [%out], %r0;",
                     .module = ".global .u32 last;\n",
                     .grid = BLOCKS});
}

/* A block in the middle traps: the blocks before it have finished, those after it have not started. */
static void test_trap_in_the_middle(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "st.global.u32 [%out], 1; mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 500; @%p0 trap;",
        .grid = BLOCKS};
    expect_same_with_all_threads(kernel);
    kernel.options.threads = 8;
    CoreRun run = core_run(kernel);
    assert_int_equal(run.trace->trap_count, 1);
    assert_int_equal(run.trace->traps[0].block[0], 500);
    for (uint32_t block = 0; block < BLOCKS; block++) assert_int_equal(run.out[32 * block], block <= 500);
    core_done(&run);
}

/* Reports that do not stop the run are limited per instruction, and those of the first blocks are kept. */
static void test_reports(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "ld.shared.u32 %r0, [word]; st.global.u32 [%out], %r0;",
                         .module = ".shared .u32 word;\n",
                         .grid = BLOCKS};
    expect_same_with_all_threads(kernel);
    kernel.options.threads = 8;
    CoreRun run = core_run(kernel);
    assert_int_equal(run.trace->trap_count, 2);
    assert_int_equal(run.trace->traps[0].block[0], 0);
    assert_int_equal(run.trace->traps[1].block[0], 1);
    core_done(&run);
}

static void test_clocks(void **state) {
    (void)state;
    expect_same_with_all_threads(
        (CoreKernel){.body = "mov.u32 %r0, %clock; st.global.u32 [%out], %r0;", .grid = BLOCKS, .block = 64});
}

/* ---- schedules ----------------------------------------------------------------------------------------- */

/* Warps that synchronize at barriers, with a lock between them: right under every schedule, and reproducible
 * under each. */
static void test_schedules_change_the_order_only(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "shl.b32 %r0, %t, 2; mov.u32 %r1, words; add.u32 %r1, %r1, %r0; st.shared.u32 [%r1], %i;\n"
                "bar.sync 0; mov.u32 %r3, 64;\n"
                "LOOP: setp.ge.u32 %p0, %t, %r3; @%p0 bra NEXT;\n"
                "mad.lo.u32 %r4, %r3, 4, %r1; ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r1];\n"
                "add.u32 %r6, %r6, %r5; st.shared.u32 [%r1], %r6;\n"
                "NEXT: bar.sync 0; shr.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP;\n"
                "setp.ne.u32 %p2, %t, 0; @%p2 bra END;\n"
                "SPIN: atom.global.cas.b32 %r7, [%base], 0, 1; setp.ne.u32 %p3, %r7, 0; @%p3 bra SPIN;\n"
                "ld.global.u32 %r8, [%base+4]; add.u32 %r8, %r8, %r6; st.global.u32 [%base+4], %r8;\n"
                "membar.gl; atom.global.exch.b32 %r7, [%base], 0;\n"
                "END: ret;",
        .module = ".shared .align 4 .b8 words[512];\n",
        .grid = 5,
        .block = 128};
    char *first = core_text_of(kernel, NULL);
    int different = 0;
    for (kernel.options.schedule = 1; kernel.options.schedule <= 12; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        assert_int_equal(run.out[1], 639 * 640 / 2);
        core_done(&run);
        char *once = core_text_of(kernel, NULL), *again = core_text_of(kernel, NULL);
        assert_string_equal(once, again);
        different += strcmp(once, first) != 0;
        free(once);
        free(again);
    }
    assert_true(different > 6);
    free(first);
}

/* A race inside a block that round robin hides: some schedule exposes it. */
static void test_schedules_find_a_race(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "setp.ne.u32 %p0, %w, 0; @%p0 bra READ;\n"
                                 "st.shared.u32 [word], 7; bra END;\n"
                                 "READ: ld.shared.u32 %r0, [word]; st.global.u32 [%out], %r0;\n"
                                 "END: ret;",
                         .module = ".shared .u32 word;\n",
                         .block = 64};
    bool seen = false, missed = false;
    for (kernel.options.schedule = 0; kernel.options.schedule < 40; kernel.options.schedule++) {
        CoreRun run = core_run(kernel);
        seen |= run.out[32] == 7;
        missed |= run.out[32] != 7;
        core_done(&run);
    }
    assert_true(seen);
    assert_true(missed);
}

/* Schedules let warps run far ahead of others, but delay none for ever. */
static void test_schedules_are_fair(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "mov.u32 %r0, 0; mul.wide.u32 %q0, %w, 4; add.s64 %q0, %base, %q0;\n"
                                 "LOOP: red.shared.add.u32 [word], 1; add.u32 %r0, %r0, 1; setp.lt.u32 %p0, "
                                 "%r0, 500; @%p0 bra LOOP;\n"
                                 "mov.u32 %r1, %clock; st.global.u32 [%q0], %r1;",
                         .module = ".shared .u32 word;\n",
                         .block = 256};
    for (kernel.options.schedule = 0; kernel.options.schedule < 6; kernel.options.schedule++) {
        CoreRun run = core_run(kernel);
        uint32_t least = UINT32_MAX, most = 0;
        for (int warp = 0; warp < 8; warp++) {
            if (run.out[warp] < least) least = run.out[warp];
            if (run.out[warp] > most) most = run.out[warp];
        }
        assert_true(most < least + (kernel.options.schedule ? 1 << 21 : least / 2));
        core_done(&run);
    }
}

/* Each block draws a number: the order of their execution. All draw, once, in any order; several orders
 * occur, including the reverse, and with one and two threads the same. */
static void test_schedules_permute_blocks(void **state) {
    (void)state;
    enum { DRAWING = 8 };
    CoreKernel kernel = {
        .body = "setp.ne.u32 %p0, %t, 0; @%p0 bra END;\n"
                "atom.global.add.u32 %r0, [%base], 1; mov.u32 %r1, %ctaid.x;\n"
                "mul.wide.u32 %q0, %r1, 4; add.s64 %q0, %q0, %base; st.global.u32 [%q0+16], %r0;\n"
                "END: ret;",
        .grid = DRAWING,
        .block = 32};
    bool is_reversed = false, is_mixed = false;
    for (kernel.options.schedule = 0; kernel.options.schedule < 16; kernel.options.schedule++) {
        kernel.options.threads = 1 + (int)(kernel.options.schedule % 2);
        CoreRun run = core_run_well(kernel);
        uint32_t seen = 0;
        bool reversed = true, ascending = true;
        for (uint32_t b = 0; b < DRAWING; b++) {
            seen |= UINT32_C(1) << run.out[4 + b];
            reversed &= run.out[4 + b] == DRAWING - 1 - b;
            ascending &= run.out[4 + b] == b;
        }
        assert_int_equal(seen, (1 << DRAWING) - 1);
        if (!kernel.options.schedule) assert_true(ascending);
        is_reversed |= reversed;
        is_mixed |= !reversed && !ascending;
        core_done(&run);
    }
    assert_true(is_reversed);
    assert_true(is_mixed);
}

/* Blocks that do not communicate are also interleaved: a non-atomic addition loses some updates; the atomic
 * version none. */
static void test_schedules_interleave_blocks(void **state) {
    (void)state;
    static const char *const additions[] = {
        "ld.global.u32 %r0, [%base]; add.u32 %r0, %r0, 1; st.global.u32 [%base], %r0;",
        "red.global.add.u32 [%base], 1;"};
    for (int atomic = 0; atomic < 2; atomic++) {
        Text body = {0};
        text_print(&body, "setp.eq.u32 %%p0, %%t, 0; @%%p0 bra ADD; ret;\nADD: %s", additions[atomic]);
        CoreKernel kernel = {.body = text_string(&body), .grid = 40, .block = 32};
        int lost = 0;
        for (kernel.options.schedule = 0; kernel.options.schedule < 12; kernel.options.schedule++) {
            CoreRun run = core_run_well(kernel);
            if (!kernel.options.schedule) assert_int_equal(run.out[0], 40);
            lost += run.out[0] != 40;
            core_done(&run);
        }
        if (atomic)
            assert_int_equal(lost, 0);
        else
            assert_true(lost > 2);
        text_done(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_that_have_nothing_to_do_with_each_other),
        cmocka_unit_test(test_race_of_stores),
        cmocka_unit_test(test_race_of_a_load),
        cmocka_unit_test(test_neighbouring_bytes),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_module_variables_are_memory_too),
        cmocka_unit_test(test_trap_in_the_middle),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_schedules_change_the_order_only),
        cmocka_unit_test(test_schedules_find_a_race),
        cmocka_unit_test(test_schedules_are_fair),
        cmocka_unit_test(test_schedules_permute_blocks),
        cmocka_unit_test(test_schedules_interleave_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
