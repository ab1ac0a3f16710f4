/* Two traces compared: changes that make a thread different, and changes that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/trace_compare.h"
#include <string.h>

/* pcs of the program */
enum { LOAD, STORE, SPIN, BRANCH, ATOMIC, SHUFFLE, WIDE, BARRIER };

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b32 word;\n.visible .entry kernel()\n{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %q<4>;\n"
    "L: ld.global.u32 %r0, [%q0];\nst.shared.u32 [word], %r0;\nld.acquire.gpu.global.u32 %r1, [%q1];\n@%p0 "
    "bra L;\n"
    "atom.global.add.u32 %r2, [%q0], 1;\nshfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;\nld.global.u64 %q2, [%q0];\n"
    "bar.sync 0;\nret;\n}\n";
static PtxModule *module;
static PtxProgram *program;

static int set_up(void **state) {
    (void)state;
    Error error = {0};
    module = ptx_module_parse(ptx, strlen(ptx), "compare.ptx", &error);
    PtxFunction *entry = module ? ptx_module_find_entry(module, "kernel", &error) : NULL;
    program = entry ? ptx_program_link(module, entry, &error) : NULL;
    return program ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    ptx_program_free(program);
    ptx_module_free(module);
    return 0;
}

/* ---- two traces, equal at first ---- */

enum { SIDES = 2, MOST_EVENTS = 40 };

typedef struct Pair {
    TraceEvent events[SIDES][MOST_EVENTS];
    int count[SIDES];
    uint32_t threads;
    uint64_t base[SIDES][2];
    bool has_base;
} Pair;

static TraceEvent event_of(int pc, int warp, uint32_t mask) {
    static const TraceKind kinds[] = {TRACE_GLOBAL_LOAD, TRACE_SHARED_STORE,  TRACE_GLOBAL_LOAD,
                                      TRACE_BRANCH,      TRACE_GLOBAL_ATOMIC, TRACE_SHUFFLE,
                                      TRACE_GLOBAL_LOAD, TRACE_BARRIER};
    TraceEvent event = {
        .kind = kinds[pc], .warp = warp, .pc = pc, .mask = mask, .participants = ~UINT32_C(0)};
    event.element_bytes = pc == BRANCH || pc == BARRIER ? 0 : pc == WIDE ? 8 : 4;
    event.element_count = event.element_bytes ? 1 : 0;
    event.width = event.element_bytes;
    event.is_load = pc == LOAD || pc == SPIN || pc == WIDE;
    event.has_result = pc != BRANCH && pc != BARRIER;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        if (pc != SHUFFLE && event.element_bytes) event.offset[lane] = 4 * (uint64_t)lane;
        if (event.element_bytes) event.value[0][lane] = 100 + (uint64_t)lane;
        if (pc == ATOMIC || pc == SHUFFLE) event.operand[lane] = 7;
    }
    return event;
}

static void add(Pair *pair, TraceEvent event) {
    for (int side = 0; side < SIDES; side++) {
        event.turn = (uint32_t)pair->count[side];
        pair->events[side][pair->count[side]++] = event;
    }
}

static void add_to(Pair *pair, int side, TraceEvent event) {
    event.turn = (uint32_t)pair->count[side];
    pair->events[side][pair->count[side]++] = event;
}

static Pair new_pair(void) {
    Pair pair = {.threads = 64};
    for (int pc = LOAD; pc <= BARRIER; pc++) {
        if (pc == SPIN || pc == BRANCH) continue;
        add(&pair, event_of(pc, 0, ~UINT32_C(0)));
        add(&pair, event_of(pc, 1, ~UINT32_C(0)));
    }
    return pair;
}

static TraceComparison compare(const Pair *pair) {
    static const char *const names[] = {"emulator", "gpu"};
    TraceComparison out;
    Trace *traces[SIDES];
    TraceSide sides[SIDES];
    for (int side = 0; side < SIDES; side++) {
        traces[side] = trace_new(names[side]);
        trace_add_buffer(traces[side], "in", 4096, PTX_U32);
        trace_add_buffer(traces[side], "out", 4096, PTX_U32);
        TraceLaunch *launch = trace_add_launch(traces[side], &(Launch){.program = program});
        launch->name = "kernel";
        launch->grid[0] = launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
        launch->block[0] = pair->threads;
        launch->symbols = arena_new(&traces[side]->arena, sizeof *launch->symbols);
        launch->symbols[launch->symbol_count++] = (TraceSymbol){"word", PTX_SPACE_SHARED, 0, 256};
        TraceBlock *block = trace_block_new(0);
        for (int i = 0; i < pair->count[side]; i++) trace_block_append(block, &pair->events[side][i]);
        trace_launch_add_block(launch, block);
        if (side) trace_launch_add_block(launch, trace_block_new(1)); /* which the first side does not have */
        sides[side] = (TraceSide){traces[side], pair->has_base ? pair->base[side] : NULL, names[side]};
    }
    trace_compare(&sides[0], &sides[1], &out);
    for (int side = 0; side < SIDES; side++) trace_free(traces[side]);
    return out;
}

static void expect_same(const Pair *pair, uint64_t events) {
    TraceComparison found = compare(pair);
    if (!found.same) fail_msg("%s", text_string(&found.difference));
    assert_int_equal(found.difference.length, 0);
    assert_int_equal(found.blocks, 1);
    assert_int_equal(found.threads, pair->threads);
    assert_int_equal(found.events, events);
    trace_comparison_done(&found);
}

/* `where`: the beginning of the first difference; `part`: text that it contains. */
static void expect_different(const Pair *pair, const char *where, const char *part) {
    TraceComparison found = compare(pair);
    assert_false(found.same);
    const char *text = text_string(&found.difference);
    if (strncmp(text, where, strlen(where)) != 0 || !strstr(text, part))
        fail_msg("'%s' and '%s' are not in '%s'", where, part, text);
    trace_comparison_done(&found);
}

/* ---- tests ---- */

static void test_alike(void **state) {
    (void)state;
    Pair pair = new_pair();
    expect_same(&pair, 6 * 64);
    TraceComparison found = compare(&pair);
    assert_int_equal(found.masks, 12);
    assert_int_equal(found.equal_masks, 12);
    assert_int_equal(found.other_mask.length, 0);
    trace_comparison_done(&found);
    pair.threads = 40; /* lanes without a thread are ignored */
    pair.events[1][1].value[0][20] ^= 1;
    expect_same(&pair, 6 * 40);
    pair.events[1][1].value[0][7] ^= 1;
    expect_different(&pair, "launch 0, block 0, warp 1, lane 7:\n  emulator: ", "\n  gpu: ");
}

static void test_each_field(void **state) {
    (void)state;
    static const char at[] = "launch 0, block 0, warp 1, lane 9:";
    enum { CHANGES = 9 };
    for (int change = 0; change < CHANGES; change++) {
        Pair pair = new_pair();
        TraceEvent *events = pair.events[1];
        switch (change) {
        case 0:
            events[1].offset[9] += 4;
            break;
        case 1:
            events[1].buffer[9] = 1;
            break;
        case 2:
            events[1].value[0][9]++;
            break;
        case 3:
            events[3].offset[9] += 4;
            break; /* shared */
        case 4:
            events[5].operand[9]++;
            break; /* of an atomic */
        case 5:
            events[7].value[0][9]++;
            break; /* shuffled in */
        case 6:
            events[9].value[0][9]++;
            break; /* of 8 bytes */
        case 7:
            events[11].mask &= ~(UINT32_C(1) << 9);
            break;
        default:
            events[11].kind = TRACE_NAMED_BARRIER;
            break;
        }
        expect_different(&pair, change == 8 ? "launch 0, block 0, warp 1, lane 0:" : at,
                         change == 7 ? "gpu: nothing more" : "gpu: block 0  warp 1");
    }
    Pair pair = new_pair();
    pair.events[0][11].mask &= ~(UINT32_C(1) << 9);
    expect_different(&pair, at, "emulator: nothing more");
    pair = new_pair();
    for (int side = 0; side < SIDES; side++) pair.events[side][1].has_result = false;
    pair.events[0][1].value[0][3] = 5; /* not of a result */
    expect_same(&pair, 6 * 64);
    pair.events[0][11].interval = 1;
    expect_different(&pair, "launch 0, block 0, warp 1, lane 0:", "interval 1");
}

static void test_branches(void **state) {
    (void)state;
    Pair pair = new_pair();
    TraceEvent branch = event_of(BRANCH, 0, ~UINT32_C(0));
    branch.taken = 0xffff;
    add(&pair, branch);
    expect_same(&pair, 6 * 64 + 32);
    pair.events[1][12].taken = 0xffff & ~UINT32_C(4);
    expect_different(&pair, "launch 0, block 0, warp 0, lane 2:", "taken");
}

/* Lanes that one side executed together and the other separately. */
static void test_masks(void **state) {
    (void)state;
    Pair pair = {.threads = 32};
    add_to(&pair, 0, event_of(LOAD, 0, ~UINT32_C(0)));
    add_to(&pair, 1, event_of(LOAD, 0, 0xffff));
    add_to(&pair, 1, event_of(LOAD, 0, 0xffff0000));
    add(&pair, event_of(STORE, 0, ~UINT32_C(0)));
    TraceComparison found = compare(&pair);
    assert_true(found.same);
    assert_int_equal(found.events, 64);
    assert_int_equal(found.masks, 2);
    assert_int_equal(found.equal_masks, 1);
    const char *text = text_string(&found.other_mask);
    assert_non_null(strstr(text, "launch 0, block 0, warp 0, lane 0:"));
    assert_non_null(strstr(text, "mask ffffffff"));
    assert_non_null(strstr(text, "mask 0000ffff"));
    assert_null(strstr(text, "mask ffff0000"));
    trace_comparison_done(&found);
}

/* A pointer is compared by its target. */
static void test_pointers(void **state) {
    (void)state;
    Pair pair = {.threads = 32, .has_base = true, .base = {{0x10000, 0x20000}, {0x7000000, 0x9000000}}};
    add(&pair, event_of(WIDE, 0, 1));
    pair.events[0][0].value[0][0] = 0x20000 + 12;
    pair.events[1][0].value[0][0] = 0x9000000 + 12;
    expect_same(&pair, 1);
    pair.events[1][0].value[0][0]++;
    expect_different(&pair, "launch 0", "");
    pair.events[1][0].value[0][0] = 0x7000000 + 12; /* the other buffer */
    expect_different(&pair, "launch 0", "");
    pair.events[0][0].value[0][0] = 0x10000 + 4096; /* just past the end */
    pair.events[1][0].value[0][0] = 0x7000000 + 4096;
    expect_different(&pair, "launch 0", "");
    pair.events[0][0].value[0][0] = 0x10000 + 4095;
    pair.events[1][0].value[0][0] = 0x7000000 + 4095;
    expect_same(&pair, 1);
    pair.has_base = false;
    expect_different(&pair, "launch 0", "");
    Pair narrow = {.threads = 32, .has_base = true, .base = {{0x10000, 0x20000}, {0x70000, 0x90000}}};
    add(&narrow, event_of(LOAD, 0, 1));
    narrow.events[0][0].value[0][0] = 0x10004; /* 4 bytes are no pointer */
    narrow.events[1][0].value[0][0] = 0x70004;
    expect_different(&narrow, "launch 0", "");
}

/* For a buffer with an unknown address, offsets are not compared. */
static void test_places_that_are_not_known(void **state) {
    (void)state;
    Pair pair = {.threads = 32, .has_base = true, .base = {{0x10000, 0x20000}, {0x70000, 0x90000}}};
    add(&pair, event_of(LOAD, 0, 1));
    pair.events[0][0].offset[0] = 400;
    expect_different(&pair, "launch 0", "");
    pair.base[0][0] = 0;
    expect_same(&pair, 1);
    pair.base[0][0] = 0x10000;
    pair.base[1][0] = 0;
    expect_same(&pair, 1);
    pair.base[1][0] = 0x70000;
    pair.base[1][1] = pair.base[0][1] = 0; /* the base of the other one */
    expect_different(&pair, "launch 0", "");
    Pair shared = {.threads = 32, .has_base = true};
    add(&shared, event_of(STORE, 0, 1));
    shared.events[0][0].offset[0] = 8;
    expect_different(&shared, "launch 0", "");
}

/* The number of iterations of a waiting loop is not compared; its last iteration is. */
static void test_rounds_of_waiting(void **state) {
    (void)state;
    for (int rounds = 1; rounds < 9; rounds++) {
        Pair pair = {.threads = 1};
        add(&pair, event_of(STORE, 0, 1));
        for (int side = 0; side < SIDES; side++)
            for (int i = 0; i < (side ? rounds : 3); i++) {
                TraceEvent spin = event_of(SPIN, 0, 1), branch = event_of(BRANCH, 0, 1);
                spin.value[0][0] = i + 1 == (side ? rounds : 3) ? 9 : 0;
                branch.taken = spin.value[0][0] == 0;
                add_to(&pair, side, spin);
                add_to(&pair, side, branch);
            }
        add(&pair, event_of(STORE, 0, 1));
        expect_same(&pair, 4);
        pair.events[1][2 * rounds - 1].value[0][0] = 8;
        expect_different(&pair, "launch 0, block 0, warp 0, lane 0", "");
    }
    static const int loops[] = {LOAD, STORE, ATOMIC}; /* these do not wait */
    for (int i = 0; i < 3; i++) {
        Pair pair = {.threads = 1};
        add(&pair, event_of(loops[i], 0, 1));
        add_to(&pair, 1, event_of(loops[i], 0, 1));
        expect_different(&pair, "launch 0, block 0, warp 0, lane 0", "emulator: nothing more");
    }
    Pair other = {.threads = 1}; /* two polls of different words */
    add(&other, event_of(SPIN, 0, 1));
    add_to(&other, 1, event_of(SPIN, 0, 1));
    other.events[1][1].offset[0] = 64;
    expect_different(&other, "launch 0, block 0, warp 0, lane 0", "emulator: nothing more");
    other.events[1][1].offset[0] = 0;
    expect_same(&other, 1);
    other.events[1][1].interval = 1;
    expect_different(&other, "launch 0, block 0, warp 0, lane 0", "emulator: nothing more");
    other.events[1][1].interval = 0;
    other.events[1][1].buffer[0] = 1;
    expect_different(&other, "launch 0, block 0, warp 0, lane 0", "emulator: nothing more");
}

static void test_launches(void **state) {
    (void)state;
    Trace *one = trace_new("emulator"), *two = trace_new("gpu");
    for (int i = 0; i < 3; i++) {
        TraceLaunch *launch = trace_add_launch(i ? two : one, &(Launch){.program = program});
        launch->block[0] = launch->block[1] = launch->block[2] = 1;
    }
    TraceSide a = {one, NULL, "emulator"}, b = {two, NULL, "gpu"};
    TraceComparison found;
    trace_compare(&a, &b, &found);
    assert_false(found.same);
    assert_string_equal(text_string(&found.difference), "emulator has 1 launches, gpu 2\n");
    assert_int_equal(found.blocks, 0);
    trace_comparison_done(&found);
    trace_compare(&b, &b, &found);
    assert_true(found.same);
    trace_comparison_done(&found);
    trace_free(one);
    trace_free(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_each_field),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_places_that_are_not_known),
        cmocka_unit_test(test_rounds_of_waiting),
        cmocka_unit_test(test_launches),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
