/* The rules that both producers share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "trace/producer_rules.h"

static void test_source_lanes(void **state) {
    (void)state;
    enum { WARP = 0x1f, HALVES = 0x101f }; /* c: the last lane is the clamp; segments of 32 and of 16 lanes */
    assert_int_equal(trace_shuffle_source(SHUFFLE_DOWN, 3, 16, WARP), 19);
    assert_int_equal(trace_shuffle_source(SHUFFLE_DOWN, 16, 16, WARP), -1);
    assert_int_equal(trace_shuffle_source(SHUFFLE_DOWN, 15, 1, HALVES), -1);
    assert_int_equal(trace_shuffle_source(SHUFFLE_DOWN, 16, 1, HALVES), 17);
    assert_int_equal(trace_shuffle_source(SHUFFLE_UP, 5, 2, 0), 3);
    assert_int_equal(trace_shuffle_source(SHUFFLE_UP, 1, 2, 0), -1);
    assert_int_equal(trace_shuffle_source(SHUFFLE_UP, 17, 2, 0x1000), -1);
    assert_int_equal(trace_shuffle_source(SHUFFLE_BFLY, 5, 4, WARP), 1);
    assert_int_equal(trace_shuffle_source(SHUFFLE_BFLY, 5, 16, 0x0f), -1);
    assert_int_equal(trace_shuffle_source(SHUFFLE_IDX, 20, 35, WARP), 3); /* b wraps at 32 */
    assert_int_equal(trace_shuffle_source(SHUFFLE_IDX, 20, 3, HALVES), 19);
    assert_int_equal(trace_shuffle_source(SHUFFLE_IDX, 20, 3, 0x1011), -1);
}

static PtxInstruction instruction(PtxOpcode opcode, PtxModifier *modifier, PtxModifierKind kind) {
    *modifier = (PtxModifier){.kind = kind};
    return (PtxInstruction){.opcode = opcode, .modifiers = modifier, .modifier_count = 1};
}

static void test_what_watches(void **state) {
    (void)state;
    static const struct {
        PtxOpcode opcode;
        PtxModifierKind kind;
        bool watches;
    } cases[] = {
        {PTX_atom, PTX_MOD_ADD, true},    {PTX_red, PTX_MOD_ADD, false},     {PTX_ld, PTX_MOD_NC, false},
        {PTX_ld, PTX_MOD_VOLATILE, true}, {PTX_ld, PTX_MOD_RELAXED, true},   {PTX_ld, PTX_MOD_ACQUIRE, true},
        {PTX_ld, PTX_MOD_MMIO, true},     {PTX_st, PTX_MOD_VOLATILE, false}, {PTX_st, PTX_MOD_RELEASE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxModifier modifier;
        PtxInstruction in = instruction(cases[i].opcode, &modifier, cases[i].kind);
        if (trace_watches(&in) != cases[i].watches) fail_msg("case %zu", i);
    }
}

static void test_what_may_repeat(void **state) {
    (void)state;
    static const struct {
        TraceKind kind;
        PtxOpcode opcode;
        bool changed, repeats;
    } cases[] = {
        {TRACE_SHARED_LOAD, PTX_ld, false, true},     {TRACE_SHARED_STORE, PTX_st, false, false},
        {TRACE_GLOBAL_ATOMIC, PTX_atom, false, true}, {TRACE_GLOBAL_ATOMIC, PTX_atom, true, false},
        {TRACE_GLOBAL_ATOMIC, PTX_red, false, false}, {TRACE_BRANCH, PTX_bra, false, true},
        {TRACE_APPROXIMATE, PTX_mov, false, true},    {TRACE_BARRIER, PTX_bar, false, false},
        {TRACE_SHUFFLE, PTX_shfl, false, false},      {TRACE_WARP_SYNC, PTX_bar, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxInstruction in = {.opcode = cases[i].opcode};
        if (trace_may_repeat(cases[i].kind, &in, cases[i].changed) != cases[i].repeats)
            fail_msg("case %zu", i);
    }
}

/* Events are letters: capitals poll, equal letters are the same access. */
static bool is_same(const void *context, uint64_t late, uint64_t early) {
    const char *events = context;
    return events[late] == events[early];
}

static bool watches(const void *context, uint64_t event) {
    const char *events = context;
    return events[event] >= 'A' && events[event] <= 'Z';
}

/* The numbers of the events that are kept. */
static void check_rounds(const char *events, const char *left) {
    const SpinEvents spin = {is_same, watches, events};
    SpinHistory history = {0};
    char stays[64] = {0}, out[64] = {0};
    for (uint64_t i = 0; events[i]; i++) {
        stays[i] = 1;
        int period = spin_history_add(&history, i, &spin);
        for (int k = 0; k < period; k++) stays[history.event[history.count - 2 * period + k]] = 0;
        if (period) spin_history_drop_earlier(&history, period);
    }
    for (int i = 0, length = 0; events[i]; i++)
        if (stays[i]) out[length++] = events[i];
    assert_string_equal(out, left);
    assert_in_range(history.count, 1, SPIN_HISTORY);
}

static void test_rounds_collapse_to_the_last(void **state) {
    (void)state;
    check_rounds("A", "A");
    check_rounds("AAAA", "A");
    check_rounds("aaaa", "aaaa"); /* nothing polls */
    check_rounds("xAbAbAby", "xAby");
    check_rounds("ABABABC", "ABC");
    check_rounds("AbAc", "AbAc");
    check_rounds("AbcdefghAbcdefgh", "Abcdefgh");             /* eight events: the longest round */
    check_rounds("AbcdefghiAbcdefghi", "AbcdefghiAbcdefghi"); /* nine */
    check_rounds("abcdefghijklmnopqrstAAA", "abcdefghijklmnopqrstA");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source_lanes),
        cmocka_unit_test(test_what_watches),
        cmocka_unit_test(test_what_may_repeat),
        cmocka_unit_test(test_rounds_collapse_to_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
