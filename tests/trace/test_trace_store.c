/* A trace and its measurements, to a file and back: every field of every table, more rows of each than fit at
 * first, and files that are refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/measured.h"
#include "trace/trace_store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAUNCHES = 2, SYMBOLS = 20, BUFFERS = 3, BLOCKS = 3 };

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel()\n{\n"
    ".reg .b32 %r<4>;\n.reg .b64 %q<4>;\nld.global.u32 %r0, [%q0];\nst.shared.u32 [%r1], %r0;\n"
    "bar.sync 0;\nret;\n}\n";
static PtxModule *module;
static PtxProgram *program;
static char path[] = "/tmp/redviz-trace-XXXXXX";

static int set_up(void **state) {
    (void)state;
    Error error = {0};
    module = ptx_module_parse(ptx, strlen(ptx), "store.ptx", &error);
    PtxFunction *entry = module ? ptx_module_find_entry(module, "kernel", &error) : NULL;
    program = entry ? ptx_program_link(module, entry, &error) : NULL;
    int file = mkstemp(path);
    if (file >= 0) close(file);
    return program && file >= 0 ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    ptx_program_free(program);
    ptx_module_free(module);
    return unlink(path);
}

/* ---- a trace with a different value in each field ---- */

static TraceBlock *new_block(uint32_t number, int events) {
    TraceBlock *block = trace_block_new(number);
    for (int i = 0; i < events; i++) {
        TraceEvent event = {.kind = i % 2 ? TRACE_SHARED_STORE : TRACE_GLOBAL_LOAD,
                            .warp = i % 3,
                            .pc = i % 2,
                            .mask = 0xffffffff >> i % 5,
                            .turn = (uint32_t)i,
                            .width = 4,
                            .element_bytes = 4,
                            .element_count = 1,
                            .is_load = !(i % 2),
                            .has_result = !(i % 2)};
        for (int lane = 0; lane < WARP_LANES; lane++) {
            if (!(event.mask >> lane & 1)) continue;
            event.buffer[lane] = (uint16_t)(i % 2 ? lane % 2 : 1 + lane % 2);
            event.offset[lane] = 4 * (uint64_t)((lane * 7 + i) % 32);
            event.value[0][lane] = (uint32_t)(i * 7919 + lane * lane * 104729);
        }
        trace_block_append(block, &event);
    }
    return block;
}

static TraceLaunch *add_launch(Trace *trace, int number) {
    uint32_t extra = (uint32_t)number * 10;
    Launch launched = {.program = program,
                       .grid = {5 + extra, 3, 2},
                       .block = {96, 2, 1 + (uint32_t)number},
                       .dynamic_shared_bytes = 512 + extra,
                       .cooperative = number != 0};
    TraceLaunch *launch = trace_add_launch(trace, &launched);
    launch->name = number ? "second" : "first";
    launch->static_shared_bytes = 4096 + extra;
    launch->dropped = UINT64_C(0x8000000000000001) + extra;
    int count = number ? 3 : SYMBOLS;
    launch->symbols = arena_new(&trace->arena, SYMBOLS * sizeof *launch->symbols);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d_%d", number, i);
        launch->symbols[launch->symbol_count++] =
            (TraceSymbol){arena_copy_string(&trace->arena, name),
                          i == count - 1 ? PTX_SPACE_LOCAL : PTX_SPACE_SHARED, 128 * (uint64_t)i, 128};
    }
    for (int pc = 0; pc < program->code_count; pc++) {
        uint64_t first = 1000 * ((uint64_t)pc + extra);
        if (pc != 2)
            launch->counters[pc] = (TraceCounter){first + 1, first + 2, first + 3, first + 4, first + 5,
                                                  first + 6, first + 7, first + 8, first + 9, first + 10};
    }
    for (uint32_t b = 0; b < BLOCKS; b++) trace_launch_add_block(launch, new_block(3 * b, 9000 * !b + 5));
    trace_launch_add_other(launch, new_block(1, 2));
    trace_launch_add_other(launch, new_block(4, 3));
    return launch;
}

static Trace *new_trace(void) {
    Trace *trace = trace_new("emulator");
    for (int i = 0; i < LAUNCHES; i++) add_launch(trace, i);
    trace_add_buffer(trace, "in", 4096, PTX_F32);
    trace_add_buffer(trace, "out", UINT64_C(1) << 33, PTX_U8);
    trace_add_buffer(trace, "table", 1024, PTX_NO_TYPE);
    for (int i = 0; i < 3; i++) {
        Trap trap = {.kind = i ? TRAP_DEADLOCK : TRAP_OUT_OF_BOUNDS,
                     .launch = i == 2,
                     .pc = i ? PTX_NO_PC : 1,
                     .block = {3 + (uint32_t)i, 2, 1},
                     .warp = i - 1,
                     .lanes = 0x80000001,
                     .detail = i ? "it waits" : "4 bytes past the end"};
        for (int lane = 0; lane < WARP_LANES; lane++)
            trap.address[lane] = 0x0102030405060708u * (uint64_t)(lane + i);
        trace_add_trap(trace, &trap);
    }
    return trace;
}

static void assert_same_blocks(TraceBlock *const *a, TraceBlock *const *b, int count) {
    TraceEvent x, y;
    for (int i = 0; i < count; i++) {
        assert_int_equal(trace_block_linear(a[i]), trace_block_linear(b[i]));
        assert_int_equal(trace_block_event_count(a[i]), trace_block_event_count(b[i]));
        for (int e = 0; e < trace_block_event_count(a[i]); e++) {
            trace_block_read(a[i], e, &x);
            trace_block_read(b[i], e, &y);
            assert_int_equal(x.pc, y.pc);
            assert_int_equal(x.mask, y.mask);
            assert_memory_equal(x.offset, y.offset, sizeof x.offset);
            assert_memory_equal(x.buffer, y.buffer, sizeof x.buffer);
            assert_memory_equal(x.value[0], y.value[0], sizeof x.value[0]);
        }
    }
}

static void assert_same_launch(const TraceLaunch *a, const TraceLaunch *b) {
    assert_string_equal(a->name, b->name);
    assert_memory_equal(a->grid, b->grid, sizeof a->grid);
    assert_memory_equal(a->block, b->block, sizeof a->block);
    assert_int_equal(a->static_shared_bytes, b->static_shared_bytes);
    assert_int_equal(a->dynamic_shared_bytes, b->dynamic_shared_bytes);
    assert_int_equal(a->cooperative, b->cooperative);
    assert_int_equal(a->dropped, b->dropped);
    assert_int_equal(a->symbol_count, b->symbol_count);
    for (int i = 0; i < a->symbol_count; i++) {
        assert_string_equal(a->symbols[i].name, b->symbols[i].name);
        assert_int_equal(a->symbols[i].space, b->symbols[i].space);
        assert_int_equal(a->symbols[i].window_offset, b->symbols[i].window_offset);
        assert_int_equal(a->symbols[i].bytes, b->symbols[i].bytes);
    }
    assert_memory_equal(a->counters, b->counters, (size_t)program->code_count * sizeof *a->counters);
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(a->other_count, b->other_count);
    assert_same_blocks(a->blocks, b->blocks, a->block_count);
    assert_same_blocks(a->others, b->others, a->other_count);
}

/* ---- to a file and back ---- */

static void write_trace(const Trace *trace) {
    Error error = {0};
    Store *store = store_create(path, trace_stored_bytes(trace), &error);
    assert_non_null(store);
    trace_write(trace, store);
    if (!store_finish(store, &error)) fail_msg("%s", error.message);
}

/* NULL: it was refused, for a reason that contains `reason`. */
static Trace *read_trace(int launches, const char *reason) {
    Error error = {0};
    Launch bound[] = {{.program = program}, {.program = program}, {.program = program}};
    Trace *trace = trace_new("emulator");
    Store *store = store_open(path, &error);
    assert_non_null(store);
    trace_read(trace, bound, launches, store);
    bool good = store_close(store, &error);
    if (!reason && !good) fail_msg("%s", error.message);
    for (int i = 0; !reason && i < launches; i++) { /* the parameters of its launch are set in `bound`, too */
        assert_memory_equal(bound[i].grid, trace->launches[i]->grid, sizeof bound[i].grid);
        assert_memory_equal(bound[i].block, trace->launches[i]->block, sizeof bound[i].block);
        assert_int_equal(bound[i].dynamic_shared_bytes, trace->launches[i]->dynamic_shared_bytes);
        assert_int_equal(bound[i].cooperative, trace->launches[i]->cooperative);
    }
    if (!reason) return trace;
    trace_free(trace);
    assert_false(good);
    if (!strstr(error.message, reason)) fail_msg("'%s' is not in '%s'", reason, error.message);
    return NULL;
}

static void test_a_trace_comes_back(void **state) {
    (void)state;
    Trace *trace = new_trace();
    write_trace(trace);
    Trace *back = read_trace(LAUNCHES, NULL);
    assert_int_equal(back->launch_count, LAUNCHES);
    for (int i = 0; i < LAUNCHES; i++) assert_same_launch(trace->launches[i], back->launches[i]);
    assert_int_equal(back->buffer_count, BUFFERS);
    for (int i = 0; i < BUFFERS; i++) {
        assert_string_equal(back->buffers[i].name, trace->buffers[i].name);
        assert_int_equal(back->buffers[i].bytes, trace->buffers[i].bytes);
        assert_int_equal(back->buffers[i].type, trace->buffers[i].type);
    }
    assert_int_equal(back->trap_count, 3);
    for (int i = 0; i < 3; i++) {
        const Trap *a = &trace->traps[i], *b = &back->traps[i];
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->launch, b->launch);
        assert_int_equal(a->pc, b->pc);
        assert_memory_equal(a->block, b->block, sizeof a->block);
        assert_int_equal(a->warp, b->warp);
        assert_int_equal(a->lanes, b->lanes);
        assert_memory_equal(a->address, b->address, sizeof a->address);
        assert_string_equal(a->detail, b->detail);
    }
    assert_true(trace_stored_bytes(trace) > 9000 * 8);
    assert_int_equal(trace_stored_bytes(back), trace_stored_bytes(trace));
    trace_free(back);
    trace_free(trace);
}

/* ---- traces that no run can have written ---- */

static void too_many_rows(Trace *trace) {
    trace->launches[1]->grid[0] = 1u << 31;
}
static void too_many_columns(Trace *trace) {
    trace->launches[1]->grid[1] = 65536;
}
static void no_blocks(Trace *trace) {
    trace->launches[0]->grid[2] = 0;
}
static void too_many_blocks(Trace *trace) {
    memcpy(trace->launches[1]->grid, (uint32_t[]){65536, 65535, 2}, sizeof trace->launches[1]->grid);
}
static void too_many_threads(Trace *trace) {
    memcpy(trace->launches[0]->block, (uint32_t[]){1024, 2, 1}, sizeof trace->launches[0]->block);
}
static void too_deep(Trace *trace) {
    memcpy(trace->launches[0]->block, (uint32_t[]){1, 1, 65}, sizeof trace->launches[0]->block);
}
static void too_much_shared(Trace *trace) {
    trace->launches[0]->static_shared_bytes = (1 << 20) + 1;
}
static void too_much_dynamic(Trace *trace) {
    trace->launches[0]->dynamic_shared_bytes = (1 << 20) + 1;
}
static void symbol_too_far(Trace *trace) {
    trace->launches[0]->symbols[3].window_offset = (1 << 20) + 1;
}
static void huge_symbol(Trace *trace) {
    trace->launches[0]->symbols[3].bytes = UINT64_C(1) << 32;
}
static void huge_buffer(Trace *trace) {
    trace->buffers[1].bytes = (UINT64_C(1) << 46) + 1;
}
static void trap_outside(Trace *trace) {
    trace->traps[0].block[1] = 3;
}
static void trap_of_no_launch(Trace *trace) {
    trace->traps[2].launch = 2;
}
static void trap_of_no_instruction(Trace *trace) {
    trace->traps[0].pc = program->code_count;
}
static void trap_of_no_warp(Trace *trace) {
    trace->traps[0].warp = 32;
}
static void block_outside(Trace *trace) {
    trace_launch_add_block(trace->launches[0], new_block(30, 1));
}

static void test_what_is_refused(void **state) {
    (void)state;
    static const struct {
        void (*damage)(Trace *trace);
        const char *reason;
    } cases[] = {
        {too_many_rows, "(table launch, row 1)"},   {too_many_columns, "(table launch, row 1)"},
        {no_blocks, "(table launch, row 0)"},       {too_many_blocks, "no such grid (table launch, row 1)"},
        {too_many_threads, "no such grid"},         {too_deep, "(table launch, row 0)"},
        {too_much_shared, "(table launch, row 0)"}, {too_much_dynamic, "(table launch, row 0)"},
        {symbol_too_far, "(table symbol, row 3)"},  {huge_symbol, "(table symbol, row 3)"},
        {huge_buffer, "(table buffer, row 1)"},     {trap_outside, "(table trap, row 0)"},
        {trap_of_no_launch, "(table trap, row 2)"}, {trap_of_no_instruction, "(table trap, row 0)"},
        {trap_of_no_warp, "(table trap, row 0)"},   {block_outside, "(table block, row 3)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Trace *trace = new_trace();
        cases[i].damage(trace);
        write_trace(trace);
        read_trace(LAUNCHES, cases[i].reason);
        trace_free(trace);
    }
    Trace *trace = new_trace();
    write_trace(trace);
    read_trace(1, "it has no entry (table launch, row 1)");
    read_trace(3, "there are 3 entries (table launch");
    trace_free(trace);
}

/* The largest values that CUDA allows are read back. */
static void test_the_largest_grid(void **state) {
    (void)state;
    Trace *trace = trace_new("emulator");
    TraceLaunch *launch = trace_add_launch(trace, &(Launch){.program = program,
                                                            .grid = {INT32_MAX, 1, 2},
                                                            .block = {16, 1, 64},
                                                            .dynamic_shared_bytes = 1 << 20});
    launch->name = "large";
    launch->static_shared_bytes = 1 << 20;
    trace_launch_add_block(launch, trace_block_new(4294967293u));
    trace_add_buffer(trace, "all", UINT64_C(1) << 46, PTX_S64);
    write_trace(trace);
    Trace *back = read_trace(1, NULL);
    assert_same_launch(launch, back->launches[0]);
    assert_int_equal(back->buffers[0].bytes, UINT64_C(1) << 46);
    trace_free(back);
    trace_free(trace);
}

/* ---- measurements ---- */

static Timing timing_of(int i) {
    return (Timing){.kernel = i % 2 ? "warp" : "shuffle",
                    .machine = "NVIDIA H200",
                    .measured = "2026-11-21T15:00:00Z",
                    .n = 1000 + (uint64_t)i / 2,
                    .dtype = "int",
                    .op = "sum",
                    .threads = 256,
                    .to_scalar = i & 4,
                    .graph = i & 8,
                    .cold = i & 16,
                    .samples = 100 + (uint64_t)i,
                    .median = i + 0.5,
                    .low = i + 0.25,
                    .high = i + 0.75,
                    .gigabytes_per_second = 1000 + i,
                    .share_of_read = 0.5,
                    .share_of_copy = 0.25,
                    .share_of_peak = i ? 0.125 : (double)NAN,
                    .clock = 1980,
                    .temperature = 33,
                    .note = i % 3 ? NULL : "a note"};
}

static void assert_same_timing(const Timing *a, const Timing *b) {
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->machine, b->machine);
    assert_string_equal(a->dtype, b->dtype);
    assert_string_equal(a->op, b->op);
    assert_true(a->n == b->n && a->threads == b->threads && a->samples == b->samples);
    assert_true(a->to_scalar == b->to_scalar && a->graph == b->graph && a->cold == b->cold);
    const double *x = &a->median, *y = &b->median;
    for (int i = 0; i < 9; i++) assert_true(x[i] == y[i] || (isnan(x[i]) && isnan(y[i])));
    assert_int_equal(!a->note, !b->note);
    if (a->note) assert_string_equal(a->note, b->note);
}

static void test_measurements_come_back(void **state) {
    (void)state;
    enum { COUNT = 20 };
    Measurements measured = {0}, back = {0};
    for (int i = 0; i < COUNT; i++) {
        Timing timing = timing_of(i);
        measured_add_timing(&measured, &timing);
        measured_add_counter(&measured, &(MeasuredCounter){.launch = i % 2,
                                                           .metric = "l1tex__data",
                                                           .label = "wavefronts",
                                                           .machine = "NVIDIA H100",
                                                           .value = 7 + i,
                                                           .predicted = i ? 8 + i : (double)NAN,
                                                           .note = i % 2 ? "not modelled" : NULL});
        measured_add_interval(&measured, &(IntervalTime){.launch = i % 2,
                                                         .block = 1u << i,
                                                         .interval = 3u * (uint32_t)i,
                                                         .machine = "NVIDIA H200",
                                                         .cycles = 100 + i,
                                                         .overhead = i ? 0.5 : (double)NAN});
    }
    Error error = {0};
    Store *store = store_create(path, 1000, &error);
    measured_write(&measured, store);
    assert_true(store_finish(store, &error));
    store = store_open(path, &error);
    measured_read(&back, 2, store);
    assert_true(store_close(store, &error));
    assert_true(back.timing_count == COUNT && back.counter_count == COUNT && back.interval_count == COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_same_timing(&measured.timings[i], &back.timings[i]);
        assert_string_equal(measured.timings[i].measured, back.timings[i].measured);
        const MeasuredCounter *a = &measured.counters[i], *b = &back.counters[i];
        assert_int_equal(a->launch, b->launch);
        assert_string_equal(a->metric, b->metric);
        assert_string_equal(a->label, b->label);
        assert_string_equal(a->machine, b->machine);
        assert_true(a->value == b->value && (i ? a->predicted == b->predicted : isnan(b->predicted)));
        assert_int_equal(!a->note, !b->note);
        const IntervalTime *x = &measured.intervals[i], *y = &back.intervals[i];
        assert_true(x->launch == y->launch && x->block == y->block && x->interval == y->interval);
        assert_string_equal(x->machine, y->machine);
        assert_true(x->cycles == y->cycles && (i ? x->overhead == y->overhead : isnan(y->overhead)));
    }
    Measurements refused = {0};
    store = store_open(path, &error);
    measured_read(&refused, 1, store); /* there is no launch 1 */
    assert_false(store_close(store, &error));
    assert_non_null(strstr(error.message, "(table measured, row 1)"));
    measured_done(&refused);
    measured_done(&measured);
    measured_done(&back);
}

/* A second time replaces the first of the same kind; one measured in another way does not. */
static void test_a_newer_time_takes_the_place(void **state) {
    (void)state;
    Measurements measured = {0};
    Timing first = timing_of(3), newer = first;
    measured_put_timing(&measured, &first);
    assert_null(measured.timings[0].measured); /* the date is not kept */
    newer.median = 99;
    newer.samples = 7;
    newer.note = "slower";
    measured_put_timing(&measured, &newer);
    assert_int_equal(measured.timing_count, 1);
    assert_same_timing(&measured.timings[0], &newer);
    assert_null(measured.timings[0].measured);
    Timing others[9];
    for (int i = 0; i < 9; i++) others[i] = first;
    others[0].kernel = "other", others[1].machine = "other", others[2].n++, others[3].dtype = "float";
    others[4].op = "min", others[5].threads = 128, others[6].to_scalar ^= 1, others[7].graph ^= 1,
    others[8].cold ^= 1;
    for (int i = 0; i < 9; i++) {
        measured_put_timing(&measured, &others[i]);
        assert_int_equal(measured.timing_count, 2 + i);
        assert_same_timing(&measured.timings[1 + i], &others[i]);
    }
    for (int i = 0; i < 9; i++) {
        others[i].high = 7777;
        measured_put_timing(&measured, &others[i]);
        assert_same_timing(&measured.timings[1 + i], &others[i]);
    }
    assert_int_equal(measured.timing_count, 10);
    assert_same_timing(&measured.timings[0], &newer);
    IntervalTime time = {
        .launch = 1, .block = 2, .interval = 3, .machine = "m", .cycles = 5, .overhead = 0.5};
    IntervalTime changed[3] = {time, time, time};
    measured_put_interval(&measured, &time);
    changed[0].launch = 0, changed[1].block = 1, changed[2].interval = 2;
    for (int i = 0; i < 3; i++) measured_put_interval(&measured, &changed[i]);
    assert_int_equal(measured.interval_count, 4);
    time.cycles = 6, time.overhead = 0.25;
    measured_put_interval(&measured, &time);
    assert_int_equal(measured.interval_count, 4);
    assert_true(measured.intervals[0].cycles == 6 && measured.intervals[0].overhead == 0.25);
    assert_true(measured.intervals[3].cycles == 5);
    measured_done(&measured);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_trace_comes_back),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_the_largest_grid),
        cmocka_unit_test(test_measurements_come_back),
        cmocka_unit_test(test_a_newer_time_takes_the_place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
