/* Traces: events of every kind and shape are read as they were appended, in any order; the memory per event;
 * launches, blocks and traps; the kind that an instruction records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "trace/block.h"
#include "trace/encode.h"
#include "trace/trace.h"
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 0x9e3779b97f4a7c15u;
static uint32_t any32(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}
static uint64_t any64(void) {
    return (uint64_t)any32() << 32 | any32();
}
static uint32_t any(uint32_t below) {
    return any32() % below;
}

/* ---- random events ------------------------------------------------------------------------------------- */

static uint64_t narrow(uint64_t bits, int bytes) {
    return bytes == 8 ? bits : bits & (((uint64_t)1 << 8 * bytes) - 1);
}

/* Columns of every form of the encoding, and of no form; also negative, huge, wrapping. */
static void any_column(int bytes, uint32_t mask, uint64_t out[WARP_LANES]) {
    uint64_t base = any(3) ? any(1000) : any64(), step = any(3) ? any(64) : any64(), other = any64();
    int shape = (int)any(8), shift = (int)any(64);
    for (uint64_t lane = 0; lane < WARP_LANES; lane++) {
        uint64_t number = shape == 0   ? 0
                          : shape == 1 ? base
                          : shape == 2 ? base + lane * step
                          : shape == 3 ? (any(2) ? base : other)
                          : shape == 4 ? base - any(200)
                          : shape == 5 ? (uint64_t)any(100) << shift
                          : shape == 6 ? any64()
                                       : (lane == 7 ? other : base);
        out[lane] = mask >> lane & 1 ? narrow(number, bytes) : 0;
    }
}

static uint32_t any_mask(void) {
    return any(3) == 0 ? 0xffffffffu : any(3) == 0 ? 1u << any(32) : any(2) ? any32() : 0xffffu << any(16);
}

static TraceEvent any_event(TraceKind kind) {
    static const int sizes[] = {1, 2, 4, 8}, counts[] = {1, 2, 4, 8};
    TraceEvent event = {.kind = kind,
                        .warp = (int)any(33),
                        .pc = (int)any(any(2) ? 200 : 200000),
                        .mask = any_mask(),
                        .turn = any(4) ? any(100000) : any32(),
                        .interval = any(3) ? any(20) : any32(),
                        .occurrence = any(3) ? any(200) : any32(),
                        .is_load = any(2),
                        .has_result = any(2),
                        .participants = any(3) ? 0xffffffffu : any32(),
                        .taken = any(3) == 0 ? 0 : any32()};
    if (any(8) == 0) event.mask = 0;
    event.taken &= event.mask;
    bool access = trace_kind_is_access(kind);
    if (access || any(2)) {
        event.element_bytes = sizes[any(4)];
        event.element_count = access ? counts[any(4)] : 1;
        event.width = access ? event.element_bytes * event.element_count : any(2) ? 0 : 7;
    }
    int bytes = event.element_bytes ? event.element_bytes : 8;
    if (access) {
        any_column(8, event.mask, event.offset);
        uint64_t buffer[WARP_LANES];
        any_column(2, event.mask, buffer);
        for (int lane = 0; lane < WARP_LANES; lane++) event.buffer[lane] = (uint16_t)buffer[lane];
    }
    for (int row = 0; row < event.element_count || row < 1; row++)
        any_column(bytes, event.mask, event.value[row]);
    if (any(2)) any_column(bytes, event.mask, event.operand);
    if (kind != TRACE_SHUFFLE) return event;
    int distance = (int)any(32) - 16;
    bool scattered = any(3) == 0, faithful = any(3) > 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(event.mask >> lane & 1)) continue;
        int source = scattered ? (int)any(32) : lane + distance;
        if (source < 0 || source > 31) source = lane;
        event.source[lane] = (int8_t)(event.mask >> source & 1 ? source : -1);
        if (faithful && event.source[lane] >= 0) event.value[0][lane] = event.operand[source];
    }
    return event;
}

static void assert_same_event(const TraceEvent *a, const TraceEvent *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->warp, b->warp);
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->mask, b->mask);
    assert_int_equal(a->turn, b->turn);
    assert_int_equal(a->interval, b->interval);
    assert_int_equal(a->occurrence, b->occurrence);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->element_bytes, b->element_bytes);
    assert_int_equal(a->element_count, b->element_count);
    assert_int_equal(a->is_load, b->is_load);
    assert_int_equal(a->has_result, b->has_result);
    assert_int_equal(a->participants, b->participants);
    assert_int_equal(a->taken, b->taken);
    assert_memory_equal(a->buffer, b->buffer, sizeof a->buffer);
    assert_memory_equal(a->offset, b->offset, sizeof a->offset);
    assert_memory_equal(a->value, b->value, sizeof a->value);
    assert_memory_equal(a->operand, b->operand, sizeof a->operand);
    assert_memory_equal(a->source, b->source, sizeof a->source);
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

static void assert_same_places(const TraceEvent *a, const TraceEvent *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->mask, b->mask);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->is_load, b->is_load);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(b->mask >> lane & 1)) continue;
        assert_int_equal(a->buffer[lane], b->buffer[lane]);
        assert_int_equal(a->offset[lane], b->offset[lane]);
        if (b->kind == TRACE_BRANCH) assert_int_equal(a->value[0][lane], b->value[0][lane]);
    }
}

static void every_event_is_read_as_it_was_appended(void **state) {
    (void)state;
    enum { EVENTS = 6000 };
    TraceEvent *written = calloc(EVENTS, sizeof *written);
    TraceBlock *block = trace_block_new(7);
    assert_int_equal(trace_block_event_count(block), 0);
    for (int i = 0; i < EVENTS; i++) {
        written[i] = any_event((TraceKind)(1 + i % (TRACE_KIND_COUNT - 1)));
        trace_block_append(block, &written[i]);
    }
    assert_int_equal(trace_block_linear(block), 7);
    assert_int_equal(trace_block_event_count(block), EVENTS);
    TraceEvent *read = malloc(sizeof *read);
    for (int i = 0; i < EVENTS; i++) { /* in order */
        memset(read, 0xa5, sizeof *read);
        trace_block_read(block, i, read);
        assert_same_event(read, &written[i]);
    }
    for (int i = 0; i < EVENTS; i++) { /* random access, headers */
        int event = (int)any(EVENTS);
        trace_block_read_header(block, event, read);
        assert_int_equal(read->kind, written[event].kind);
        assert_int_equal(read->warp, written[event].warp);
        assert_int_equal(read->pc, written[event].pc);
        assert_int_equal(read->mask, written[event].mask);
        assert_int_equal(read->turn, written[event].turn);
        assert_int_equal(read->interval, written[event].interval);
        assert_int_equal(read->occurrence, written[event].occurrence);
        assert_int_equal(read->taken, written[event].taken);
        trace_block_read(block, event, read);
        assert_same_event(read, &written[event]);
        memset(read, 0xa5, sizeof *read);
        trace_block_read_places(block, event, read);
        assert_same_places(read, &written[event]);
    }
    free(read);
    free(written);
    trace_block_free(block);
}

/* Files keep events as these bytes, which later versions must read: every column, each with its form and
 * width. */
static void the_bytes_of_an_event_stay_what_they_are(void **state) {
    (void)state;
    TraceEvent event = {.kind = TRACE_SHUFFLE,
                        .warp = 3,
                        .pc = 200,
                        .turn = 5,
                        .mask = 0xf,
                        .has_result = true,
                        .element_bytes = 4,
                        .element_count = 1};
    for (int lane = 0; lane < 4; lane++) {
        event.operand[lane] = 7;
        event.source[lane] = (int8_t)(lane < 3 ? lane + 1 : 3);
        event.offset[lane] = (uint64_t)lane * 4;
        event.value[0][lane] = 1000 + (uint64_t)lane;
    }
    static const uint8_t expected[] = {
        0x2a, 0x4b, 0xf0,                         /* kind and result; sizes; all four columns */
        0x03, 0xc8, 0x01, 0x05, 0x00, 0x00,       /* warp, pc, turn, interval, occurrence */
        0x0f, 0x00, 0x00, 0x00,                   /* mask */
        0x10, 0x42, 0x00, 0x08,                   /* buffer: zero; offset: 8 bytes, strided by 4 */
        0x21, 0x0e,                               /* operand: 4 bytes, uniform */
        0x43, 0x08, 0x00, 0x00, 0x00, 0x02, 0x00, /* source: 8 bytes, two: a lane away, and none */
        0x22, 0xd0, 0x0f, 0x02};                  /* value: 4 bytes, strided by 1 */
    uint8_t bytes[ENCODED_EVENT_LIMIT];
    size_t length = encode_event(&event, bytes);
    assert_int_equal(length, sizeof expected);
    assert_memory_equal(bytes, expected, length);
}

/* One iteration of grid_stride: a coalesced load of any ints, its branch; sometimes the shuffles and the
 * shared accesses of the end. A million events take at most 200 MB, of which the steps take about 45 at worst
 * (a block of one warp). */
static void a_million_events_of_grid_stride_fit(void **state) {
    (void)state;
    enum { EVENTS = 20000 };
    TraceBlock *block = trace_block_new(0);
    for (uint32_t i = 0; i < EVENTS; i++) {
        TraceEvent event = {.warp = (int)(i % 8), .mask = 0xffffffffu, .turn = i / 8, .occurrence = i / 16};
        bool branch = i / 8 % 2;
        event.kind = branch ? TRACE_BRANCH : TRACE_GLOBAL_LOAD;
        event.pc = branch ? 40 : 33;
        if (branch)
            event.taken = event.mask;
        else
            event.width = event.element_bytes = 4, event.element_count = 1,
            event.is_load = event.has_result = true;
        for (uint64_t lane = 0; lane < WARP_LANES; lane++) {
            event.value[0][lane] = branch ? 30 : any32();
            if (!branch) event.offset[lane] = i * 33792 + 4 * lane;
        }
        trace_block_append(block, &event);
    }
    size_t bytes = trace_block_bytes(block) / EVENTS;
    assert_in_range(bytes, 70,
                    /* 128 bytes of noise in every second event: below 70 the encoding would not be exact. */
                    100);
    trace_block_free(block);
}

static void blocks_of_a_launch_are_kept_in_order(void **state) {
    (void)state;
    PtxCode code[3] = {{0}};
    PtxProgram program = {.code = code, .code_count = 3};
    Trace *trace = trace_new("emulator");
    TraceLaunch *launch = trace_add_launch(trace, &(Launch){.program = &program});
    assert_string_equal(trace->producer, "emulator");
    assert_int_equal(launch->counters[2].executions, 0);
    static const uint32_t order[] = {5, 1, 9, 0, 7, 3};
    for (int i = 0; i < 6; i++) trace_launch_add_block(launch, trace_block_new(order[i]));
    assert_int_equal(launch->block_count, 6);
    for (int i = 1; i < 6; i++)
        assert_true(trace_block_linear(launch->blocks[i - 1]) < trace_block_linear(launch->blocks[i]));
    assert_int_equal(trace_block_linear(trace_launch_find_block(launch, 7)), 7);
    assert_null(trace_launch_find_block(launch, 4));
    assert_null(trace_launch_find_block(launch, 10));
    trace_free(trace);
}

/* From another launch, the blocks that this one lacks are moved; a block that exists in both stays. */
static void blocks_go_over_to_the_others(void **state) {
    (void)state;
    PtxCode code[3] = {{0}};
    PtxProgram program = {.code = code, .code_count = 3};
    Trace *trace = trace_new("gpu"), *from = trace_new("gpu");
    TraceLaunch *launch = trace_add_launch(trace, &(Launch){.program = &program}),
                *source = trace_add_launch(from, &(Launch){.program = &program});
    trace_launch_add_block(launch, trace_block_new(2));
    for (uint32_t i = 0; i < 4; i++) trace_launch_add_block(source, trace_block_new(i));
    trace_launch_take_others(launch, source);
    static const uint32_t others[] = {0, 1, 3};
    assert_int_equal(launch->other_count, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(trace_block_linear(launch->others[i]), others[i]);
    assert_int_equal(launch->block_count, 1);
    assert_int_equal(source->block_count, 1);
    assert_int_equal(trace_block_linear(source->blocks[0]), 2);
    trace_free(trace);
    trace_free(from);
}

static void traps_and_buffers_are_copied_and_traps_are_bounded(void **state) {
    (void)state;
    Trace *trace = trace_new("gpu");
    char name[] = "in", detail[] = "4 bytes past the end";
    assert_int_equal(trace_add_buffer(trace, name, 64, PTX_S32), 0);
    assert_int_equal(trace_add_buffer(trace, "out", 4, PTX_S32), 1);
    for (int i = 0; i < 100; i++)
        trace_add_trap(trace, &(Trap){.kind = TRAP_OUT_OF_BOUNDS, .warp = i, .detail = detail});
    trace_add_trap(trace, &(Trap){.kind = TRAP_DEADLOCK});
    name[0] = detail[0] = 'X';
    assert_string_equal(trace->buffers[0].name, "in");
    assert_string_equal(trace->traps[63].detail, "4 bytes past the end");
    assert_int_equal(trace->traps[63].warp, 63);
    assert_int_equal(trace->trap_count, 64);
    trace_free(trace);
}

/* ---- kinds --------------------------------------------------------------------------------------------- */

static PtxInstruction instruction(PtxOpcode opcode, PtxSpace space, int operand_count) {
    return (PtxInstruction){.opcode = opcode, .space = space, .operand_count = operand_count};
}

static void an_instruction_records_what_its_text_says(void **state) {
    (void)state;
    static const struct {
        PtxOpcode opcode;
        PtxSpace space;
        TraceKind kind;
        bool generic;
    } rows[] = {
        {PTX_ld, PTX_SPACE_SHARED, TRACE_SHARED_LOAD, false},
        {PTX_st, PTX_SPACE_SHARED, TRACE_SHARED_STORE, false},
        {PTX_ld, PTX_SPACE_GLOBAL, TRACE_GLOBAL_LOAD, false},
        {PTX_st, PTX_SPACE_GLOBAL, TRACE_GLOBAL_STORE, false},
        {PTX_ld, PTX_SPACE_GENERIC, TRACE_GLOBAL_LOAD, true},
        {PTX_st, PTX_SPACE_GENERIC, TRACE_GLOBAL_STORE, true},
        {PTX_red, PTX_SPACE_GLOBAL, TRACE_GLOBAL_ATOMIC, false},
        {PTX_atom, PTX_SPACE_SHARED, TRACE_SHARED_ATOMIC, false},
        {PTX_atom, PTX_SPACE_GENERIC, TRACE_GLOBAL_ATOMIC, true},
        {PTX_ld, PTX_SPACE_PARAM, TRACE_NOT_RECORDED, false},
        {PTX_st, PTX_SPACE_PARAM, TRACE_NOT_RECORDED, false},
        {PTX_ld, PTX_SPACE_CONST, TRACE_CONSTANT_LOAD, false},
        {PTX_ld, PTX_SPACE_LOCAL, TRACE_LOCAL_LOAD, false},
        {PTX_shfl, PTX_SPACE_GENERIC, TRACE_SHUFFLE, false},
        {PTX_elect, PTX_SPACE_GENERIC, TRACE_VOTE, false},
        {PTX_redux, PTX_SPACE_GENERIC, TRACE_REDUX, false},
        {PTX_add, PTX_SPACE_GENERIC, TRACE_NOT_RECORDED, false},
        {PTX_bra, PTX_SPACE_GENERIC, TRACE_NOT_RECORDED, false},
        {PTX_brx, PTX_SPACE_GENERIC, TRACE_BRANCH, false},
        {PTX_OTHER, PTX_SPACE_GENERIC, TRACE_NOT_RECORDED, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtxInstruction in = instruction(rows[i].opcode, rows[i].space, 2);
        assert_int_equal(trace_kind_of(&in), rows[i].kind);
        assert_int_equal(trace_is_generic(&in), rows[i].generic);
    }
    PtxInstruction guarded = instruction(PTX_bra, PTX_SPACE_GENERIC, 1);
    guarded.guard.kind = PTX_OPERAND_REGISTER;
    assert_int_equal(trace_kind_of(&guarded), TRACE_BRANCH);
}

static TraceKind kind_of_barrier(PtxOpcode opcode, PtxModifierKind a, PtxModifierKind b, int operand_count) {
    PtxModifier modifiers[] = {{a, ""}, {b, ""}};
    PtxInstruction in = instruction(opcode, PTX_SPACE_GENERIC, operand_count);
    in.modifiers = modifiers;
    in.modifier_count = b == PTX_MODIFIER_NONE ? 1 : 2;
    return trace_kind_of(&in);
}

static void only_barriers_of_the_whole_block_end_an_interval(void **state) {
    (void)state;
    assert_int_equal(kind_of_barrier(PTX_bar, PTX_MOD_SYNC, PTX_MODIFIER_NONE, 1), TRACE_BARRIER);
    assert_int_equal(kind_of_barrier(PTX_bar, PTX_MOD_SYNC, PTX_MODIFIER_NONE, 2), TRACE_NAMED_BARRIER);
    assert_int_equal(kind_of_barrier(PTX_barrier, PTX_MOD_ARRIVE, PTX_MODIFIER_NONE, 2), TRACE_NAMED_BARRIER);
    assert_int_equal(kind_of_barrier(PTX_bar, PTX_MOD_RED, PTX_MOD_POPC, 3), TRACE_BARRIER);
    assert_int_equal(kind_of_barrier(PTX_bar, PTX_MOD_RED, PTX_MOD_POPC, 4), TRACE_NAMED_BARRIER);
    assert_int_equal(kind_of_barrier(PTX_bar, PTX_MOD_WARP, PTX_MOD_SYNC, 1), TRACE_WARP_SYNC);
    assert_int_equal(kind_of_barrier(PTX_barrier, PTX_MOD_CLUSTER, PTX_MOD_WAIT, 0), TRACE_NAMED_BARRIER);
}

static void the_address_decides_the_kind_of_a_generic_access(void **state) {
    (void)state;
    assert_int_equal(trace_kind_in_space(TRACE_GLOBAL_LOAD, PTX_SPACE_SHARED), TRACE_SHARED_LOAD);
    assert_int_equal(trace_kind_in_space(TRACE_GLOBAL_STORE, PTX_SPACE_LOCAL), TRACE_LOCAL_STORE);
    assert_int_equal(trace_kind_in_space(TRACE_GLOBAL_ATOMIC, PTX_SPACE_SHARED), TRACE_SHARED_ATOMIC);
    assert_int_equal(trace_kind_in_space(TRACE_GLOBAL_LOAD, PTX_SPACE_CONST), TRACE_GLOBAL_LOAD);
    assert_int_equal(trace_kind_in_space(TRACE_GLOBAL_LOAD, PTX_SPACE_GLOBAL), TRACE_GLOBAL_LOAD);
    assert_string_equal(trace_kind_text(TRACE_SHARED_LOAD), "shared_load");
    assert_string_equal(trap_kind_text(TRAP_OUT_OF_BOUNDS), "out_of_bounds");
    assert_string_equal(trap_kind_mark(TRAP_OUT_OF_BOUNDS), "TRAP out_of_bounds");
    assert_string_equal(trap_kind_mark(TRAP_TRAP_INSTRUCTION), "TRAP");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_read_as_it_was_appended),
        cmocka_unit_test(the_bytes_of_an_event_stay_what_they_are),
        cmocka_unit_test(a_million_events_of_grid_stride_fit),
        cmocka_unit_test(blocks_of_a_launch_are_kept_in_order),
        cmocka_unit_test(blocks_go_over_to_the_others),
        cmocka_unit_test(traps_and_buffers_are_copied_and_traps_are_bounded),
        cmocka_unit_test(an_instruction_records_what_its_text_says),
        cmocka_unit_test(only_barriers_of_the_whole_block_end_an_interval),
        cmocka_unit_test(the_address_decides_the_kind_of_a_generic_access),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
