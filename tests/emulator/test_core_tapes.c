/* Tapes: blocks that replay a tape leave the same results as blocks run by the schedule. Each kernel runs
 * with and without tapes, in one thread and in several; the number of repeated blocks confirms that the case
 * is the intended one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "core.h"
#include "observer_log.h"
#include <stdlib.h>

enum { BLOCKS = 700, RECORDED = 4 }; /* blocks that are not repeated, in one thread, if all are alike */

/* The observer's view of the run. */
static char *text_of_observed(CoreKernel kernel, uint64_t *repeated) {
    ObserverLog log = {0};
    TraceObserver observer = observer_log(&log);
    kernel.options.observer = &observer;
    free(core_text_of(kernel, repeated));
    return log.text.data;
}

/* Returns how many blocks of an observed run were repeated. */
static uint64_t expect_same_observed(CoreKernel kernel) {
    uint64_t repeated;
    kernel.options.threads = 1;
    kernel.options.without_tapes = true;
    char *scheduled = text_of_observed(kernel, &repeated);
    kernel.options.without_tapes = false;
    char *played = text_of_observed(kernel, &repeated);
    for (size_t i = 0; strcmp(scheduled, played) != 0; i++)
        if (scheduled[i] != played[i])
            fail_msg("observed, %d blocks repeated, after %zu characters:\n%.300s\ninstead of\n%.300s",
                     (int)repeated, i, played + (i < 200 ? 0 : i - 200), scheduled + (i < 200 ? 0 : i - 200));
    free(scheduled);
    free(played);
    return repeated;
}

static uint64_t in_observed; /* blocks that were repeated in the last observed run */

/* Returns how many blocks were repeated in one thread. */
static uint64_t expect_same(CoreKernel kernel) {
    uint64_t repeated, in_one = 0;
    kernel.untraced = true;
    if (!kernel.grid) kernel.grid = BLOCKS;
    if (!kernel.block) kernel.block = 64;
    kernel.options.without_tapes = true;
    char *scheduled = core_text_of(kernel, &repeated);
    assert_int_equal(repeated, 0);
    kernel.options.without_tapes = false;
    static const int threads[] = {1, 2, 8};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        kernel.options.threads = threads[i];
        char *played = core_text_of(kernel, &repeated);
        if (strcmp(scheduled, played) != 0)
            fail_msg("in %d threads, %d blocks repeated:\n%.3000s\ninstead of\n%.3000s", threads[i],
                     (int)repeated, played, scheduled);
        free(played);
        if (!i) in_one = repeated;
    }
    free(scheduled);
    in_observed = expect_same_observed(kernel);
    return in_one;
}

/* ... and nearly all of an observed run. */
static void expect_all_repeated(CoreKernel kernel) {
    uint64_t repeated = expect_same(kernel);
    uint64_t blocks = (uint64_t)(kernel.grid ? kernel.grid : BLOCKS) * (kernel.grid_y ? kernel.grid_y : 1);
    assert_in_range(repeated, blocks - RECORDED, blocks - 1);
    assert_in_range(in_observed, blocks - RECORDED, blocks - 1);
}

static uint32_t *some_words(uint64_t count) {
    uint32_t *words = memory_new(count * sizeof *words);
    for (uint64_t i = 0; i < count; i++) words[i] = (uint32_t)(i * 2654435761u) >> 7;
    return words;
}

static void expect_repeated_with_data(CoreKernel kernel) {
    uint64_t threads = (uint64_t)(kernel.block ? kernel.block : 64) * (kernel.grid ? kernel.grid : BLOCKS) *
                       (kernel.grid_y ? kernel.grid_y : 1);
    uint32_t *words = some_words(threads);
    kernel.in = words;
    expect_all_repeated(kernel);
    free(words);
}

static const char shared_words[] = ".shared .align 16 .b8 word[1024];\n";

/* A tree in shared memory with fewer active lanes at each level. */
static void test_tree(void **state) {
    (void)state;
    static const uint32_t blocks[] = {32, 40, 64, 200, 256};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        expect_repeated_with_data((CoreKernel){
            .module = shared_words,
            .block = blocks[i],
            .body =
                "ld.global.u32 %r0, [%out]; shl.b32 %r1, %t, 2; mov.u32 %r2, word; add.u32 %r2, %r2, %r1;\n"
                "st.shared.u32 [%r2], %r0; mov.u32 %r3, %ntid.x;\n"
                "LOOP: bar.sync 0; add.u32 %r4, %r3, 1; shr.u32 %r4, %r4, 1; add.u32 %r5, %t, %r4;\n"
                "setp.ge.u32 %p0, %r5, %r3; @%p0 bra NEXT;\n"
                "shl.b32 %r6, %r4, 2; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6];\n"
                "ld.shared.u32 %r8, [%r2]; add.u32 %r8, %r8, %r7; st.shared.u32 [%r2], %r8;\n"
                "NEXT: mov.u32 %r3, %r4; setp.gt.u32 %p1, %r3, 1; @%p1 bra LOOP;\n"
                "bar.sync 0; ld.shared.u32 %r9, [%r2]; st.global.u32 [%out], %r9;"});
}

/* Lanes of a register that are the same in every block, beside lanes that differ. */
static void test_values_that_half_the_lanes_load(void **state) {
    (void)state;
    expect_repeated_with_data((CoreKernel){
        .body = "and.b32 %r0, %t, 3; setp.ne.u32 %p0, %r0, 1; mov.u32 %r1, %t; mov.u16 %h0, 7;\n"
                "mov.u64 %q0, 5; setp.eq.u32 %p1, %r0, 2;\n"
                "@%p0 bra JOIN;\n"
                "ld.global.u32 %r1, [%out]; cvt.u16.u32 %h0, %r1; cvt.u64.u32 %q0, %r1;\n"
                "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;\n"
                "JOIN: cvt.u32.u16 %r3, %h0; cvt.u32.u64 %r4, %q0; selp.u32 %r5, 100, 200, %p1;\n"
                "add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; st.global.u32 [%out], "
                "%r1;"});
    expect_repeated_with_data(
        (CoreKernel){.body = "mov.u32 %r0, 1; setp.lt.u32 %p0, %t, 9; ld.global.u32 %r1, [%out];\n"
                             "@%p0 add.u32 %r0, %r1, 3; @!%p0 mov.u32 %r0, 4; setp.lt.u32 %p1, %t, 20;\n"
                             "@%p1 add.u32 %r0, %r0, 1; add.u32 %r0, %r0, %r0; st.global.u32 [%out], %r0;"});
}

static void test_exchanges(void **state) {
    (void)state;
    static const char *const kernels[] = {
        "ld.global.u32 %r0, [%out]; shfl.sync.down.b32 %r1|%p0, %r0, 4, 31, -1; selp.u32 %r2, 1, 0, %p0;\n"
        "shfl.sync.up.b32 %r3, %r0, 3, 0, -1; shfl.sync.bfly.b32 %r4, %r3, 5, 31, -1;\n"
        "shfl.sync.idx.b32 %r5, %r4, 9, 31, -1; shfl.sync.down.b32 %r6, %r4, 2, 0x180f, -1;\n"
        "add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3; xor.b32 %r0, %r0, %r5; add.u32 %r0, %r0, %r6;\n"
        "st.global.u32 [%out], %r0;",
        "ld.global.u32 %r0, [%out]; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;\n"
        "vote.sync.ballot.b32 %r2, %p0, -1; vote.sync.any.pred %p1, %p0, -1; selp.u32 %r3, 5, 6, %p1;\n"
        "match.any.sync.b32 %r4, %r1, -1; redux.sync.add.s32 %r5, %r0, -1; activemask.b32 %r6;\n"
        "add.u32 %r0, %r2, %r3; add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r5; add.u32 %r0, %r0, %r6;\n"
        "st.global.u32 [%out], %r0;",
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        expect_repeated_with_data((CoreKernel){.body = kernels[i]});
}

/* Lane 15 shuffles an undefined value: an observed block tracks it, and runs by the schedule. */
static void test_half_a_warp(void **state) {
    (void)state;
    uint32_t *words = some_words(BLOCKS * 64);
    uint64_t repeated = expect_same((CoreKernel){
        .in = words,
        .body = "ld.global.u32 %r0, [%out]; and.b32 %r1, %t, 31; setp.ge.u32 %p0, %r1, 16; @%p0 bra END;\n"
                "shfl.sync.down.b32 %r2, %r0, 1, 31, 0xffff; shfl.sync.bfly.b32 %r0, %r0, 2, 31, 0xffff;\n"
                "add.u32 %r0, %r0, %r2; bar.warp.sync 0xffff;\n"
                "END: st.global.u32 [%out], %r0;"});
    assert_in_range(repeated, BLOCKS - RECORDED, BLOCKS - 1);
    assert_int_equal(in_observed, 0);
    free(words);
}

static void test_widths_and_strides(void **state) {
    (void)state;
    static const char *const kernels[] = {
        /* elsewhere in a sector in each block */
        "mul.lo.u32 %r0, %w, 3; mov.u32 %r1, %ctaid.x; add.u32 %r0, %r0, %r1; mul.wide.u32 %q0, %r0, 4;\n"
        "add.u64 %q0, %q0, %base; ld.global.u32 %r2, [%q0]; and.b32 %r3, %t, 31; mul.wide.u32 %q1, %r3, 4;\n"
        "add.u64 %q1, %q1, %q0; ld.global.u32 %r4, [%q1]; add.u32 %r2, %r2, %r4;",
        "mov.u32 %r1, %ctaid.x; mul.lo.u32 %r1, %r1, 8; add.u32 %r1, %r1, %t; mul.wide.u32 %q0, %r1, 8;\n"
        "add.u64 %q0, %q0, %base; ld.global.v2.u32 {%r2, %r3}, [%q0]; ld.global.u64 %q1, [%q0];\n"
        "ld.global.s8 %h0, [%q0+1]; ld.global.u16 %h1, [%q0+2]; sub.u64 %q2, %base, %q0; neg.s64 %q2, %q2;\n"
        "ld.u32 %r4, [%q0];",
        /* backwards, and the same word for all */
        "mov.u32 %r1, %ctaid.x; add.u32 %r1, %r1, 63; sub.u32 %r1, %r1, %t; mul.wide.u32 %q0, %r1, 4;\n"
        "add.u64 %q0, %q0, %base; ld.global.u32 %r2, [%q0]; ld.global.u32 %r3, [%base];\n"
        "setp.gt.u32 %p0, %t, 99; @%p0 ld.global.u32 %r3, [%q0+64];",
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        expect_repeated_with_data((CoreKernel){.body = kernels[i]});
    expect_repeated_with_data((CoreKernel){
        /* scattered, as pairs, as bytes */
        .module = shared_words,
        .body = "ld.global.u32 %r0, [%out]; xor.b32 %r1, %t, 5; shl.b32 %r1, %r1, 3; mov.u32 %r2, word;\n"
                "add.u32 %r2, %r2, %r1; st.shared.v2.u32 [%r2], {%r0, %t}; bar.sync 0; mov.u32 %r3, word;\n"
                "add.u32 %r3, %r3, %t; ld.shared.u8 %h0, [%r3]; ld.shared.u32 %r4, [%r2]; cvt.u32.u16 %r5, "
                "%h0; add.u32 %r4, %r4, %r5; st.global.u32 [%out], %r4;"});
}

static void test_grid_of_two_dimensions(void **state) {
    (void)state;
    expect_repeated_with_data((CoreKernel){
        .grid = 37,
        .grid_y = 11,
        .words = 37 * 11 * 64,
        .body = "mov.u32 %r0, %ctaid.y; mov.u32 %r1, %nctaid.x; mad.lo.u32 %r0, %r0, %r1, %r0;\n"
                "mov.u32 %r2, %smid; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r0, %r1, %r3;\n"
                "mad.lo.u32 %r4, %r4, 3, %r2; ld.global.u32 %r5, [%out]; add.u32 %r5, %r5, %r4;\n"
                "st.global.u32 [%out], %r5;"});
}

/* The writes of a block are undone when the block turns out to differ. */
static void test_blocks_that_turn_out_different(void **state) {
    (void)state;
    uint32_t *words = memory_new(BLOCKS * 64 * sizeof *words);
    for (uint32_t i = 0; i < BLOCKS * 64; i++) words[i] = i % 7 == 0 && i / 64 % 100 == 50 ? 1 : 0;
    uint64_t repeated = expect_same(
        (CoreKernel){.in = words,
                     .body = "ld.global.u32 %r0, [%out]; add.u32 %r1, %r0, 10; st.global.u32 [%out], %r1;\n"
                             "ld.global.u32 %r2, [%out]; setp.eq.u32 %p0, %r0, 0; @%p0 bra END;\n"
                             "add.u32 %r2, %r2, 1000; st.global.u32 [%out], %r2;\n"
                             "END: @!%p0 add.u32 %r2, %r2, 1;"});
    assert_in_range(repeated, BLOCKS - 12, BLOCKS - 8); /* seven differ */
    /* No two are alike: by data, then by the number of the block. */
    for (uint32_t i = 0; i < BLOCKS * 64; i++) words[i] = i * 2654435761u >> 30;
    repeated = expect_same((CoreKernel){
        .in = words,
        .body =
            "ld.global.u32 %r0, [%out];\nLOOP: setp.eq.u32 %p0, %r0, 0; @%p0 bra END; sub.u32 %r0, %r0, 1;\n"
            "ld.global.u32 %r1, [%out]; add.u32 %r1, %r1, 1; st.global.u32 [%out], %r1; bra LOOP;\nEND:"});
    assert_int_equal(repeated, 0);
    repeated = expect_same((CoreKernel){
        .body = "mov.u32 %r0, %ctaid.x; and.b32 %r1, %r0, 1; add.u32 %r2, %t, %r1; shl.b32 %r2, %r2, 2;\n"
                "mul.wide.u32 %q0, %r2, 4; add.u64 %q0, %q0, %base; st.global.u32 [%base], %r0;\n"
                "setp.gt.u32 %p0, %r0, 500; @%p0 st.global.u32 [%out], %r0;"});
    assert_in_range(repeated, BLOCKS - 20, BLOCKS - 3);
    free(words);
}

static void test_faults(void **state) {
    (void)state;
    static const char outside[] =
        "mov.u32 %r0, %ctaid.x; mul.wide.u32 %q0, %r0, 512; add.u64 %q0, %q0, %out;\n"
        "st.global.u32 [%out], 3; ld.global.u32 %r1, [%q0]; add.u32 %r1, %r1, 1;\n"
        "st.global.u32 [%out], %r1;";
    uint64_t repeated = expect_same((CoreKernel){.body = outside});
    assert_in_range(repeated, 100, BLOCKS - 1);
    repeated = expect_same((CoreKernel){.body = outside, .options.keeps_going = true});
    assert_in_range(repeated, 100, BLOCKS - 1);
    /* In every block; two are reported. */
    repeated = expect_same((CoreKernel){.module = shared_words,
                                        .body = "ld.shared.u32 %r0, [word+4]; st.global.u32 [%out], %r0;"});
    assert_int_equal(repeated, 0);
    for (uint64_t budget = 500; budget < 520; budget++)
        expect_same((CoreKernel){.body = "st.global.u32 [%out], 1;", .options.instruction_budget = budget});
}

/* Blocks may see each other, or the clock: each runs by the schedule. */
static void test_what_is_not_repeated(void **state) {
    (void)state;
    static const char *const kernels[] = {
        "atom.global.add.u32 %r0, [%base], 1; st.global.u32 [%out+4], %r0;",
        "mov.u32 %r0, %clock; st.global.u32 [%out], %r0;",
        "ld.volatile.global.u32 %r0, [%base]; add.u32 %r0, %r0, %i; st.global.u32 [%out], %r0;",
        ("ld.global.u32 %r0, [%out]; and.b32 %r0, %r0, 15; shl.b32 %r0, %r0, 2; mov.u32 %r1, word;\n"
         "add.u32 %r0, %r0, %r1; st.shared.u32 [%r0], 1; bar.sync 0;"),
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        assert_int_equal(
            expect_same((CoreKernel){.body = kernels[i], .module = shared_words, .words = BLOCKS * 64 + 1}),
            0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_values_that_half_the_lanes_load),
        cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_half_a_warp),
        cmocka_unit_test(test_widths_and_strides),
        cmocka_unit_test(test_grid_of_two_dimensions),
        cmocka_unit_test(test_blocks_that_turn_out_different),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_what_is_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
