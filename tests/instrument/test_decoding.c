/* Decoded records of small kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "small_kernel.h"

/* ---- the order of decoded events ----------------------------------------------------------------------- */

/* Turn of the `index`th event (from 0) of a warp at the `nth` instruction whose text contains `text`. */
static uint32_t turn_of(const TraceLaunch *launch, int warp, const char *text, int nth, int index) {
    int pc = 0;
    for (;; pc++) {
        if (pc == launch->program->code_count) fail_msg("there is no such instruction: %s", text);
        Text printed = {0};
        ptx_instruction_print(launch->program->code[pc].instruction, &printed);
        bool is_it = strstr(text_string(&printed), text) && !nth--;
        text_done(&printed);
        if (is_it) break;
    }
    for (int i = 0; i < trace_block_event_count(launch->blocks[0]); i++) {
        TraceEvent event;
        trace_block_read_header(launch->blocks[0], i, &event);
        if (event.warp == warp && event.pc == pc && !index--) return event.turn;
    }
    fail_msg("warp %d has no such event: %s", warp, text);
    return 0;
}

/* bar.arrive continues at once; bar.sync continues after the last arrival. */
static void test_arrivals_do_not_wait(void **state) {
    (void)state;
    static const char work[] = "mov.u32 %r1, 0;\nWORK:\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%out], %r1;\n"
                               "setp.lt.u32 %p1, %r1, 20;\n@%p1 bra WORK;\n";
    Text body = {0};
    text_add(&body, "setp.ge.u32 %p0, %t, 32;\n@%p0 bra LATE;\nbar.arrive 1, 64;\n");
    for (int i = 0; i < 20000; i++) text_add(&body, "add.u32 %r2, %r2, 1;\n"); /* long, and no event */
    text_add(&body, "st.global.u32 [%out+4], 1;\nbra END;\nLATE:\n");
    text_add(&body, work);
    text_add(&body, "bar.sync 1, 64;\nst.global.u32 [%out+8], 1;\nEND:\n");
    SmallKernel early = {.name = "an early arrival", .body = text_string(&body), .block = 64};
    Twin twin = small_kernel_run(&early, (TwinOptions){.first = 0, .last = 0});
    twin_expect_same_events(&twin, early.name);
    const TraceLaunch *launch = twin.decoded->launches[0];
    uint32_t arrived = turn_of(launch, 0, "bar.arrive", 0, 0);
    assert_int_equal(turn_of(launch, 0, "st.global", 0, 0), arrived + 1);
    assert_true(arrived + 1 < turn_of(launch, 1, "bar.sync", 0, 0));
    twin_done(&twin);
    text_clear(&body);
    text_print(
        &body,
        "setp.ge.u32 %%p0, %%t, 32;\n@%%p0 bra SOON;\n%sbar.arrive 1, 64;\nst.global.u32 [%%out+4], 1;\n"
        "bra END;\nSOON:\nbar.sync 1, 64;\nst.global.u32 [%%out+8], 1;\nEND:\n",
        work);
    SmallKernel late = {.name = "a late arrival", .body = text_string(&body), .block = 64};
    twin = small_kernel_run(&late, (TwinOptions){.first = 0, .last = 0});
    twin_expect_same_events(&twin, late.name);
    launch = twin.decoded->launches[0];
    arrived = turn_of(launch, 0, "bar.arrive", 0, 0);
    assert_true(turn_of(launch, 1, "bar.sync", 0, 0) < arrived);
    assert_int_equal(turn_of(launch, 1, "st.global", 2, 0), arrived + 1);
    assert_int_equal(turn_of(launch, 0, "st.global", 1, 0), arrived + 1);
    twin_done(&twin);
    text_done(&body);
}

/* Shared variables are listed in address order, whichever the kernel uses first. */
static void test_symbols_lie_in_window_order(void **state) {
    (void)state;
    SmallKernel c = {
        .name = "symbols",
        .module = ".shared .align 16 .b8 first[16];\n.shared .align 4 .b8 second[36];\n"
                  ".shared .align 64 .b8 third[64];\n.extern .shared .align 16 .b8 rest[];\n",
        .body = "st.shared.u32 [rest+4], 1;\nst.shared.u32 [third+8], 2;\nst.shared.u32 [second], 3;\n"
                "st.shared.u32 [first+12], 4;\nst.shared.u32 [second+32], 5;\n",
        .shared_bytes = 32};
    static const struct {
        const char *name;
        uint64_t offset;
    } expected[] = {{"rest", 4}, {"third", 8}, {"second", 0}, {"first", 12}, {"second", 32}};
    Twin twin = small_kernel_run(&c, (TwinOptions){.first = 0, .last = 0});
    const TraceLaunch *launch = twin.decoded->launches[0];
    assert_int_equal(launch->symbol_count, 5); /* and "local" */
    for (int i = 1; i < 4; i++)
        assert_true(launch->symbols[i].window_offset >=
                    launch->symbols[i - 1].window_offset + launch->symbols[i - 1].bytes);
    assert_string_equal(launch->symbols[4].name, "local");
    assert_int_equal(trace_block_event_count(launch->blocks[0]), 5);
    for (int i = 0; i < 5; i++) {
        TraceEvent event;
        trace_block_read(launch->blocks[0], i, &event);
        assert_string_equal(launch->symbols[event.buffer[7]].name, expected[i].name);
        assert_int_equal(event.offset[7], expected[i].offset);
    }
    twin_done(&twin);
}

/* ---- iterations that change nothing -------------------------------------------------------------------- */

static int events_of(const TraceLaunch *launch, PtxOpcode opcode) {
    int found = 0;
    for (int i = 0; i < trace_block_event_count(launch->blocks[0]); i++) {
        TraceEvent event;
        trace_block_read_header(launch->blocks[0], i, &event);
        found += launch->program->code[event.pc].instruction->opcode == opcode;
    }
    return found;
}

#define WIDE                                                                                                 \
    "{\n.reg .b128 six, seven, d;\nmov.u64 %q0, 6;\nmov.u64 %q1, 7;\nmov.u64 %q2, 0;\n"                      \
    "mov.b128 six, {%q0, %q2};\nmov.b128 seven, {%q1, %q2};\n"

/* Six iterations of atomics on a word with the value `start`: those that leave the word unchanged are one
 * event, those that change it are six, for both producers. */
static void test_atomics_that_change_nothing_are_one_event(void **state) {
    (void)state;
    static const struct {
        const char *start, *round;
        int expected; /* events of atom */
    } rounds[] = {
        {"7", "atom.global.exch.b32 %r0, [word], 7;\n", 1},
        {"7", "atom.global.exch.b32 %r0, [word], 6;\natom.global.exch.b32 %r0, [word], 7;\n", 12},
        {"7", "atom.global.cas.b32 %r0, [word], 6, 5;\n", 1},
        {"7", "atom.global.cas.b32 %r0, [word], 8, 5;\n", 1},
        {"7", "atom.global.cas.b32 %r0, [word], 7, 6;\natom.global.cas.b32 %r0, [word], 6, 7;\n", 12},
        {"7", "atom.global.and.b32 %r0, [word], 15;\n", 1},
        {"7", "atom.global.or.b32 %r0, [word], 5;\n", 1},
        {"7", "atom.global.and.b32 %r0, [word], 5;\natom.global.or.b32 %r0, [word], 2;\n", 12},
        {"7", "atom.global.add.u32 %r0, [word], 0;\n", 1},
        {"7", "atom.global.add.u32 %r0, [word], 1;\natom.global.add.u32 %r0, [word], -1;\n", 12},
        {"7", "atom.global.xor.b32 %r0, [word], 0;\n", 1},
        {"7", "atom.global.xor.b32 %r0, [word], 8;\n", 6},
        {"7", "atom.global.min.u32 %r0, [word], 8;\n", 1},
        {"7", "atom.global.min.u32 %r0, [word], 7;\n", 1},
        {"7", "atom.global.min.s32 %r0, [word], -1;\natom.global.exch.b32 %r0, [word], 7;\n", 12},
        {"7", "atom.global.min.u32 %r0, [word], -1;\n", 1},
        {"7", "atom.global.max.s32 %r0, [word], -1;\n", 1},
        {"7", "atom.global.max.u32 %r0, [word], -1;\natom.global.exch.b32 %r0, [word], 7;\n", 12},
        {"7", "atom.global.max.u32 %r0, [word], 3;\n", 1},
        {"-3", "atom.global.min.s32 %r0, [word], -1;\n", 1},
        {"-3", "atom.global.max.s32 %r0, [word], -5;\n", 1},
        {"-3", "atom.global.min.u32 %r0, [word], -1;\n", 1},
        {"-3", "atom.global.max.u32 %r0, [word], 5;\n", 1},
        {"-3", "atom.global.max.s32 %r0, [word], 2;\natom.global.exch.b32 %r0, [word], -3;\n", 12},
        {"7", "ld.volatile.global.u32 %r1, [word];\natom.global.or.b32 %r0, [word], 1;\n", 1},
        /* Some of their operands are not recorded: they count as changes. */
        {"7", WIDE "atom.global.cas.b128 d, [word], six, seven;\n}\n", 6},
        {"7", WIDE "atom.global.exch.b128 d, [word], seven;\n}\n", 6},
        {"0", "atom.global.add.v2.f32 {%f0, %f1}, [word], {0f00000000, 0f00000000};\n", 6},
    };
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        Text module = {0}, body = {0};
        text_print(&module, ".global .align 16 .u32 word[4] = {%s, 0, 0, 0};\n", rounds[i].start);
        text_print(&body,
                   "mov.u32 %%r2, 0;\nAGAIN:\n%sadd.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%p0, %%r2, 6;\n@%%p0 "
                   "bra AGAIN;\n",
                   rounds[i].round);
        SmallKernel c = {.name = rounds[i].round,
                         .module = text_string(&module),
                         .body = text_string(&body),
                         .block = 1,
                         .version = "8.3"};
        Twin twin = small_kernel_run(&c, (TwinOptions){.first = 0, .last = 0});
        int emulated = events_of(twin.original->launches[0], PTX_atom);
        int decoded = events_of(twin.decoded->launches[0], PTX_atom);
        if (emulated != rounds[i].expected || decoded != rounds[i].expected)
            fail_msg("%s: %d events, decoded %d, expected %d", c.name, emulated, decoded, rounds[i].expected);
        twin_done(&twin);
        text_done(&module);
        text_done(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrivals_do_not_wait),
                                       cmocka_unit_test(test_symbols_lie_in_window_order),
                                       cmocka_unit_test(test_atomics_that_change_nothing_are_one_event)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
