/* Blocks and lanes that repeat what others did: the search finds the same without comparing each access. A
 * block repeats the one before it in shared memory, a lane repeats others of its warp. */
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

enum { BLOCKS = 5 };

static void print_races(const char *body, Text *out) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    CoreRun run = core_run_well((CoreKernel){.module = ".shared .align 16 .b8 words[1024];\n",
                                             .body = body,
                                             .grid = BLOCKS,
                                             .block = 64,
                                             .untraced = true,
                                             .options = {.observer = &observer}});
    Findings *hazards = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_true(hazards->is_complete);
    for (int i = 0; i < hazards->error_count; i++) {
        const Finding *race = &hazards->items[i];
        text_print(out,
                   "%s%s: %" PRIu64 " in %" PRIu64 " blocks, in block %" PRIu64
                   " lanes %x of warp %d and %x of %d",
                   i ? "\n" : "", race->kind_text, race->count, race->blocks, race->access.linear_block,
                   race->access.lanes, race->access.warp, race->other.lanes, race->other.warp);
    }
    findings_free(hazards);
    race_detector_free(detector);
    core_done(&run);
}

/* %r1: the address of the thread's word; %r2: the block; %p2: it is block 2. */
static const char begin[] =
    "mov.u32 %r1, words; mad.lo.u32 %r1, %t, 4, %r1; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 2;\n";

/* A fence orders none of this, but with one in the kernel each block is compared separately. */
static void check_kernel(const char *body, const char *expected) {
    Text found = {0}, alone = {0}, kernel = {0}, with_fence = {0};
    text_print(&kernel, "%s%s", begin, body);
    text_print(&with_fence, "%s membar.cta;", text_string(&kernel));
    print_races(text_string(&kernel), &found);
    print_races(text_string(&with_fence), &alone);
    if (strcmp(text_string(&found), expected) != 0)
        fail_msg("%s: expected '%s', found '%s'", body, expected, text_string(&found));
    assert_string_equal(text_string(&alone), expected);
    text_done(&found);
    text_done(&alone);
    text_done(&kernel);
    text_done(&with_fence);
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

static void a_race_in_one_block_is_found(void **state) {
    (void)state;
    check_kernel("st.shared.u32 [%r1], %t; bar.sync 0; ld.shared.u32 %r3, [%r1];", "");
    check_kernel("st.shared.u32 [%r1], %t; @%p2 bra NEXT; bar.sync 0; NEXT: ld.shared.u32 %r3, [words+4];",
                 "shared_race: 1 in 1 blocks, in block 2 lanes ffffffff of warp 1 and 2 of 0\n"
                 "warp_race: 1 in 1 blocks, in block 2 lanes fffffffd of warp 0 and 2 of 0");
    check_kernel("st.shared.u32 [%r1], %t; @%p2 st.shared.u32 [words+160], 7; bar.sync 0;",
                 "shared_race: 1 in 1 blocks, in block 2 lanes 1 of warp 0 and 100 of 1");
    check_kernel("st.shared.u32 [%r1], %t; bar.sync 0; ld.shared.u32 %r3, [%r1];\n"
                 "@%p2 xor.b32 %r1, %r1, 128; st.shared.u32 [%r1], 1;",
                 "shared_race: 2 in 1 blocks, in block 2 lanes ffffffff of warp 0 and ffffffff of 1");
}

static void what_follows_a_departure_is_compared_with_what_precedes_it(void **state) {
    (void)state;
    /* addresses that do not form a line: in all blocks, after accesses that are equal in all of them */
    check_kernel("st.shared.u32 [%r1], %t; bar.warp.sync -1; mul.lo.u32 %r3, %t, %t; and.b32 %r3, %r3, 63;\n"
                 "shl.b32 %r3, %r3, 2; mov.u32 %r4, words; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3];",
                 "shared_race: 10 in 5 blocks, in block 0 lanes 66aacc0 of warp 0 and 2020212 of 1");
    /* a named barrier in one block */
    check_kernel("st.shared.u32 [%r1], %t; @!%p2 bra ALL; bar.sync 1, 64; bra NEXT; ALL: bar.sync 0;\n"
                 "NEXT: xor.b32 %r3, %r1, 128; ld.shared.u32 %r4, [%r3]; @%p2 st.shared.u32 [%r1], 1;",
                 "shared_race: 2 in 1 blocks, in block 2 lanes ffffffff of warp 0 and ffffffff of 1");
    /* part of a warp synchronizes */
    check_kernel("and.b32 %r3, %t, 31; setp.lt.u32 %p1, %r3, 16; st.shared.u32 [%r1], %t; @!%p1 bra NEXT;\n"
                 "bar.warp.sync 0xffff; xor.b32 %r4, %r1, 4; ld.shared.u32 %r5, [%r4];\n"
                 "@%p2 ld.shared.u32 %r5, [%r1+64]; NEXT: bar.warp.sync -1;",
                 "warp_race: 2 in 1 blocks, in block 2 lanes ffff of warp 0 and ffff0000 of 0");
    /* one block does less, the next one more again */
    check_kernel(
        "st.shared.u32 [%r1], %t; bar.sync 0; @%p2 bra END; ld.shared.u32 %r3, [words]; bar.warp.sync -1;\n"
        "setp.eq.u32 %p3, %r2, 4; @%p3 st.shared.u32 [%r1], 1; END:",
        "shared_race: 1 in 1 blocks, in block 4 lanes 1 of warp 0 and ffffffff of 1");
}

/* %r3: the address of word t * t % 64; for thread 40 in block 2: of word 2, which is not a square. */
#define SCATTERED                                                                                            \
    "mul.lo.u32 %r3, %t, %t; and.b32 %r3, %r3, 63; setp.eq.u32 %p1, %t, 40; and.pred %p1, %p1, %p2;\n"       \
    "shl.b32 %r3, %r3, 2; @%p1 mov.u32 %r3, 8; mov.u32 %r4, words; add.u32 %r3, %r3, %r4;\n"

static void addresses_that_are_no_line_are_compared(void **state) {
    (void)state;
    check_kernel("st.shared.u32 [%r1], %t; bar.sync 0;\n" SCATTERED "ld.shared.u32 %r5, [%r3];", "");
    check_kernel("st.shared.u32 [%r1], %t; bar.sync 0;\n" SCATTERED
                 "ld.shared.u32 %r5, [%r3]; setp.eq.u32 %p3, %t, 2; @%p3 st.shared.u32 [words+8], 1;",
                 "shared_race: 1 in 1 blocks, in block 2 lanes 4 of warp 0 and 100 of 1");
    check_kernel("st.shared.u32 [%r1], %t; bar.sync 0;\n" SCATTERED
                 "ld.shared.u32 %r5, [%r3]; @%p2 st.shared.u32 [words+144], 1;",
                 "shared_race: 2 in 1 blocks, in block 2 lanes ffffffff of warp 0 and 4400440 of 1\n"
                 "warp_race: 2 in 1 blocks, in block 2 lanes ffffffff of warp 0 and 4400440 of 0");
}

static void values_decide_in_each_block(void **state) {
    (void)state;
    check_kernel("selp.b32 %r3, %t, 7, %p2; st.shared.u32 [words], %r3; bar.sync 0;",
                 "shared_race: 1 in 1 blocks, in block 2 lanes 1 of warp 1 and ffffffff of 0\n"
                 "store_conflict: 2 in 1 blocks, in block 2 lanes fffffffe of warp 0 and 1 of 0");
    check_kernel("setp.eq.u32 %p1, %t, 40; and.pred %p1, %p1, %p2; selp.b32 %r3, 1, 0, %p1;\n"
                 "st.shared.u32 [words], 0; bar.sync 0; st.shared.u32 [words], %r3;",
                 "store_conflict: 1 in 1 blocks, in block 2 lanes 100 of warp 1 and 1 of 1");
}

/* ---- lanes --------------------------------------------------------------------------------------------- */

static void the_last_lane_may_store_something_else(void **state) {
    (void)state;
    check_kernel("and.b32 %r3, %t, 31; setp.eq.u32 %p1, %r3, 31; selp.b32 %r3, 1, 0, %p1;\n"
                 "st.shared.u32 [words], %r3;",
                 "shared_race: 5 in 5 blocks, in block 0 lanes 1 of warp 1 and ffffffff of 0\n"
                 "store_conflict: 10 in 5 blocks, in block 0 lanes 80000000 of warp 0 and 1 of 0");
    check_kernel("st.shared.u32 [words], 9; bar.sync 0;\n"
                 "ld.shared.u32 %r3, [words]; ld.shared.u32 %r4, [words]; st.shared.u32 [words], %t;\n"
                 "st.shared.u32 [words], 5; ld.shared.u32 %r3, [words];",
                 "shared_race: 20 in 5 blocks, in block 0 lanes ffffffff of warp 0 and ffffffff of 1\n"
                 "warp_race: 20 in 5 blocks, in block 0 lanes ffffffff of warp 0 and ffffffff of 0\n"
                 "shared_race: 5 in 5 blocks, in block 0 lanes 1 of warp 1 and ffffffff of 0\n"
                 "store_conflict: 10 in 5 blocks, in block 0 lanes fffffffe of warp 0 and 1 of 0\n"
                 "shared_race: 20 in 5 blocks, in block 0 lanes ffffffff of warp 0 and ffffffff of 1\n"
                 "warp_race: 20 in 5 blocks, in block 0 lanes ffffffff of warp 0 and ffffffff of 0\n"
                 "shared_race: 5 in 5 blocks, in block 0 lanes 1 of warp 0 and ffffffff of 1\n"
                 "shared_race: 5 in 5 blocks, in block 0 lanes ffffffff of warp 0 and ffffffff of 1\n"
                 "warp_race: 5 in 5 blocks, in block 0 lanes ffffffff of warp 1 and ffffffff of 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_in_one_block_is_found),
        cmocka_unit_test(what_follows_a_departure_is_compared_with_what_precedes_it),
        cmocka_unit_test(addresses_that_are_no_line_are_compared),
        cmocka_unit_test(values_decide_in_each_block),
        cmocka_unit_test(the_last_lane_may_store_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
