/* Workers: what one host thread gathers while it runs blocks; and traps. */
#include "emulator/machine/block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TRAPS = 64 };

Worker *worker_new(Grid *grid) {
    Worker *worker = memory_new(sizeof *worker);
    size_t count = (size_t)grid->program->op_count + 1;
    worker->grid = grid;
    worker->observed_by = grid->observer ? grid->observer->context : NULL;
    worker->runs = memory_new(count * sizeof *worker->runs);
    worker->counters = memory_new(count * sizeof *worker->counters);
    worker->patterns = memory_new(count * PATTERNS * sizeof *worker->patterns);
    worker->last_region = memory_new(count * sizeof *worker->last_region);
    worker->reported = memory_new(count);
    return worker;
}

void worker_free(Worker *worker) {
    if (!worker) return;
    free(worker->runs);
    free(worker->counters);
    free(worker->patterns);
    free(worker->last_region);
    free(worker->reported);
    free(worker->traps);
    text_done(&worker->printed);
    footprint_free(worker->footprint);
    arena_done(&worker->arena);
    free(worker);
}

static void add_counter(TraceCounter *into, const TraceCounter *from) {
    into->executions += from->executions;
    into->lanes += from->lanes;
    into->requests += from->requests;
    into->shared_requests += from->shared_requests;
    into->global_requests += from->global_requests;
    into->wavefronts += from->wavefronts;
    into->ideal_wavefronts += from->ideal_wavefronts;
    into->sectors += from->sectors;
    into->ideal_sectors += from->ideal_sectors;
    into->divergent += from->divergent;
}

void worker_merge(Worker *into, Worker *from) {
    int count = into->grid->program->op_count;
    for (int pc = 0; pc < count; pc++) {
        into->runs[pc].executions += from->runs[pc].executions;
        into->runs[pc].lanes += from->runs[pc].lanes;
        add_counter(&into->counters[pc], &from->counters[pc]);
    }
    for (int i = 0; i < from->trap_count; i++) {
        Trap trap = from->traps[i];
        if (!trap_kind_is_fatal(trap.kind) && into->reported[trap.pc]++ >= MAX_REPORTED) continue;
        trap.detail = arena_copy_string(&into->arena, trap.detail);
        if (into->trap_count < MAX_TRAPS)
            array_push(into->traps, into->trap_count, into->trap_capacity, trap);
    }
    if (from->printed.length) text_add_bytes(&into->printed, from->printed.data, from->printed.length);
    trace_cut_printed(&into->printed);
    into->executed += from->executed;
    if (from->latest > into->latest) into->latest = from->latest;
}

void worker_finish(Worker *worker) {
    const Grid *grid = worker->grid;
    int64_t executions = 0, lanes = 0;
    for (int pc = 0; pc < grid->program->op_count; pc++) {
        executions += worker->runs[pc].executions;
        lanes += worker->runs[pc].lanes;
        TraceCounter total = worker->counters[pc];
        total.executions += (uint64_t)executions;
        total.lanes += (uint64_t)lanes;
        add_counter(&grid->trace->counters[pc], &total);
    }
}

void raise_trap(Block *block, TrapKind kind, const Warp *warp, int pc, uint32_t lanes,
                const uint64_t *address, const char *format, ...) {
    Worker *worker = block->worker;
    if (worker->stopped) return;
    if (trap_kind_is_fatal(kind)) worker->stopped = true;
    if (worker->trap_count >= MAX_TRAPS && !worker->stopped) return;
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    Trap trap = {.kind = kind,
                 .launch = block->grid->launch_index,
                 .pc = pc,
                 .block = {block->id[0], block->id[1], block->id[2]},
                 .warp = warp ? warp->index : 0,
                 .lanes = lanes};
    for (int lane = 0; address && lane < WARP_LANES; lane++)
        if (lanes & lane_bit[lane]) trap.address[lane] = address[lane];
    trap.detail = arena_copy_string(&worker->arena, text);
    array_push(worker->traps, worker->trap_count, worker->trap_capacity, trap);
}
