/* Workers: the counts and traps that one host thread collects while it runs blocks. */
#include "emulator/machine/machine_block.h"

#include "base/language.h"

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
    worker->dropped = memory_new(count * sizeof *worker->dropped);
    return worker;
}

void worker_free(Worker *worker) {
    if (!worker) return;
    free(worker->runs);
    free(worker->counters);
    free(worker->patterns);
    free(worker->last_region);
    free(worker->reported);
    free(worker->dropped);
    free(worker->traps);
    text_done(&worker->printed);
    footprint_free(worker->footprint);
    arena_done(&worker->arena);
    free(worker);
}

void counter_add(TraceCounter *into, const TraceCounter *from, uint64_t times) {
    into->executions += from->executions * times;
    into->lanes += from->lanes * times;
    into->requests += from->requests * times;
    into->shared_requests += from->shared_requests * times;
    into->global_requests += from->global_requests * times;
    into->wavefronts += from->wavefronts * times;
    into->ideal_wavefronts += from->ideal_wavefronts * times;
    into->sectors += from->sectors * times;
    into->ideal_sectors += from->ideal_sectors * times;
    into->divergent += from->divergent * times;
}

void worker_merge(Worker *into, Worker *from) {
    int count = into->grid->program->op_count;
    for (int pc = 0; pc < count; pc++) {
        into->runs[pc].executions += from->runs[pc].executions;
        into->runs[pc].lanes += from->runs[pc].lanes;
        counter_add(&into->counters[pc], &from->counters[pc], 1);
        into->dropped[pc] += from->dropped[pc];
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
    into->repeated_blocks += from->repeated_blocks;
    into->outdone |= from->outdone;
    if (from->latest > into->latest) into->latest = from->latest;
}

/* Non-fatal faults state how often they occurred. */
static void count_dropped(Worker *worker) {
    for (int i = 0; i < worker->trap_count; i++) {
        Trap *trap = &worker->traps[i];
        bool is_read = trap->kind == TRAP_READ_OUTSIDE;
        if (!is_read && trap->kind != TRAP_WRITE_OUTSIDE) continue;
        unsigned long long count = worker->dropped[trap->pc];
        trap->detail = arena_print(&worker->arena, tr("%s; %llu such access%s of a lane %s"), trap->detail,
                                   count, count == 1 ? "" : "es",
                                   is_read      ? tr("gave 0")
                                   : count == 1 ? tr("was dropped")
                                                : tr("were dropped"));
    }
}

void worker_finish(Worker *worker) {
    count_dropped(worker);
    const Grid *grid = worker->grid;
    int64_t executions = 0, lanes = 0;
    for (int pc = 0; pc < grid->program->op_count; pc++) {
        executions += worker->runs[pc].executions;
        lanes += worker->runs[pc].lanes;
        TraceCounter total = worker->counters[pc];
        total.executions += (uint64_t)executions;
        total.lanes += (uint64_t)lanes;
        counter_add(&grid->trace->counters[pc], &total, 1);
    }
}

Trap *raise_trap(Block *block, TrapKind kind, const Warp *warp, int pc, uint32_t lanes,
                 const uint64_t *address, const char *format, ...) {
    Worker *worker = block->worker;
    worker->irregular++;
    if (worker->stopped) return NULL;
    if (trap_kind_is_fatal(kind)) worker->stopped = true;
    if (worker->trap_count >= MAX_TRAPS && !worker->stopped) return NULL;
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
                 .lanes = lanes,
                 .buffer = -1};
    for (int lane = 0; address && lane < WARP_LANES; lane++)
        if (lanes & lane_bit[lane]) trap.address[lane] = address[lane];
    trap.detail = arena_copy_string(&worker->arena, text);
    array_push(worker->traps, worker->trap_count, worker->trap_capacity, trap);
    return &worker->traps[worker->trap_count - 1];
}
