/* Folds: compute the metrics of a launch, a line or a step from instructions' counters.
 *
 * Each row of metrics.def has one fold function. It gets counters of one kind of work at a time: a generic
 * instruction, whose lanes may access shared and global memory, is folded in parts. An event is folded as the
 * counters of a single execution, so that whole grids and single steps are counted by the same code. */
#include "metrics/metrics.h"

#include "base/memory.h"
#include "metrics/fold.h"
#include "metrics/totals.h"
#include <stdlib.h>
#include <string.h>

/* ---- what each metric takes ------------------------------------------------------------------------- */

#define FOLD(name)             static uint64_t fold_##name(TraceKind kind, const TraceCounter *counter)
#define OF_KIND(wanted, field) kind == TRACE_##wanted ? counter->field : 0

FOLD(warp_instructions) {
    (void)kind;
    return counter->executions;
}
FOLD(lane_instructions) {
    (void)kind;
    return counter->lanes;
}
FOLD(shared_loads) {
    return OF_KIND(SHARED_LOAD, requests);
}
FOLD(shared_stores) {
    return OF_KIND(SHARED_STORE, requests);
}
FOLD(shared_load_wavefronts) {
    return OF_KIND(SHARED_LOAD, wavefronts);
}
FOLD(shared_load_wavefronts_ideal) {
    return OF_KIND(SHARED_LOAD, ideal_wavefronts);
}
FOLD(shared_store_wavefronts) {
    return OF_KIND(SHARED_STORE, wavefronts);
}
FOLD(shared_store_wavefronts_ideal) {
    return OF_KIND(SHARED_STORE, ideal_wavefronts);
}
FOLD(shared_atomics) {
    return OF_KIND(SHARED_ATOMIC, requests);
}
FOLD(shared_atomic_wavefronts) {
    return OF_KIND(SHARED_ATOMIC, wavefronts);
}
FOLD(shared_atomic_wavefronts_ideal) {
    return OF_KIND(SHARED_ATOMIC, ideal_wavefronts);
}
FOLD(global_load_requests) {
    return OF_KIND(GLOBAL_LOAD, requests);
}
FOLD(global_load_sectors) {
    return OF_KIND(GLOBAL_LOAD, sectors);
}
FOLD(global_load_sectors_ideal) {
    return OF_KIND(GLOBAL_LOAD, ideal_sectors);
}
FOLD(global_store_requests) {
    return OF_KIND(GLOBAL_STORE, requests);
}
FOLD(global_store_sectors) {
    return OF_KIND(GLOBAL_STORE, sectors);
}
FOLD(global_store_sectors_ideal) {
    return OF_KIND(GLOBAL_STORE, ideal_sectors);
}
FOLD(shuffles) {
    return OF_KIND(SHUFFLE, requests);
}
FOLD(matrix_products) {
    return OF_KIND(MATRIX, requests);
}
FOLD(barriers) {
    return kind == TRACE_BARRIER || kind == TRACE_NAMED_BARRIER ? counter->requests : 0;
}
FOLD(branches) {
    return OF_KIND(BRANCH, requests);
}
FOLD(divergent_branches) {
    return OF_KIND(BRANCH, divergent);
}
FOLD(atomics) {
    return kind == TRACE_SHARED_ATOMIC || kind == TRACE_GLOBAL_ATOMIC ? counter->requests : 0;
}

void metrics_add_counter(TraceKind kind, const TraceCounter *counter, Totals *sum) {
#define METRIC(name, in_json, from_events, shown, of, label, pane) sum->name += fold_##name(kind, counter);
#include "metrics/metrics.def"
#undef METRIC
}

/* ---- whole grid ------------------------------------------------------------------------------------- */

/* A generic instruction or an asynchronous copy counts as three: what it issued, its work in shared memory
 * and its work in global memory. */
static void fold_parts(TraceKind in_shared, TraceKind in_global, const TraceCounter *counter, Totals *sum) {
    TraceCounter issued = {.executions = counter->executions, .lanes = counter->lanes};
    TraceCounter shared = {.requests = counter->shared_requests,
                           .wavefronts = counter->wavefronts,
                           .ideal_wavefronts = counter->ideal_wavefronts};
    TraceCounter global = {.requests = counter->global_requests,
                           .sectors = counter->sectors,
                           .ideal_sectors = counter->ideal_sectors};
    metrics_add_counter(TRACE_NOT_RECORDED, &issued, sum);
    metrics_add_counter(in_shared, &shared, sum);
    metrics_add_counter(in_global, &global, sum);
}

void fold_instruction(const TraceLaunch *launch, int pc, Totals *sum) {
    const PtxInstruction *instruction = launch->program->code[pc].instruction;
    TraceKind kind = trace_kind_of(instruction);
    if (trace_is_generic(instruction))
        fold_parts(trace_kind_in_space(kind, PTX_SPACE_SHARED), trace_kind_in_space(kind, PTX_SPACE_GLOBAL),
                   &launch->counters[pc], sum);
    else if (ptx_asynchronous(instruction) == PTX_ASYNC_COPY)
        fold_parts(trace_written_kind_of(instruction), kind, &launch->counters[pc], sum);
    else
        metrics_add_counter(kind, &launch->counters[pc], sum);
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Buffers start at 256-byte boundaries and never share a sector, so any addresses far apart give the same
 * count. */
static uint64_t address_in_global(const TraceEvent *event, int lane) {
    enum { BUFFER_SHIFT = 47 };
    return ((uint64_t)event->buffer[lane] << BUFFER_SHIFT) + event->offset[lane];
}

static uint64_t address_in_window(const TraceLaunch *launch, const TraceEvent *event, int lane) {
    int symbol = event->buffer[lane];
    uint64_t window = symbol < launch->symbol_count ? launch->symbols[symbol].window_offset : 0;
    return window + event->offset[lane];
}

static bool goes_both_ways(const TraceEvent *event) {
    uint32_t rest = event->mask;
    if (!rest) return false;
    uint64_t first = event->value[0][__builtin_ctz(rest)];
    for (; rest; rest &= rest - 1)
        if (event->value[0][__builtin_ctz(rest)] != first) return true;
    return false;
}

TraceCounter fold_counter_of_event(const TraceLaunch *launch, const TraceEvent *event) {
    TraceCounter counter = {.requests = event->mask != 0};
    uint64_t address[WARP_LANES] = {0};
    switch (event->kind) {
    case TRACE_SHARED_LOAD:
    case TRACE_SHARED_STORE:
    case TRACE_SHARED_ATOMIC:
        if (trace_event_peer(event) >= 0) break; /* not modelled */
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (event->mask >> lane & 1) address[lane] = address_in_window(launch, event, lane);
        SharedCost shared = trace_shared_cost(launch->program, event, address, NULL);
        counter.wavefronts = (uint64_t)shared.wavefronts;
        counter.ideal_wavefronts = (uint64_t)shared.ideal;
        break;
    case TRACE_GLOBAL_LOAD:
    case TRACE_GLOBAL_STORE:
    case TRACE_GLOBAL_ATOMIC:
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (event->mask >> lane & 1) address[lane] = address_in_global(event, lane);
        GlobalCost global = access_global_cost(event->width, event->mask, address);
        counter.sectors = (uint64_t)global.sectors;
        counter.ideal_sectors = (uint64_t)global.ideal;
        break;
    case TRACE_BRANCH:
        counter.divergent = goes_both_ways(event);
        break;
    default:
        break;
    }
    return counter;
}

static void fold_event(const TraceLaunch *launch, const TraceEvent *event, Totals *sum) {
    if (event->kind == TRACE_MATRIX && event->participants) return; /* more registers of one wgmma */
    TraceCounter counter = fold_counter_of_event(launch, event);
    metrics_add_counter(event->kind, &counter, sum);
}

/* ---- totals ----------------------------------------------------------------------------------------- */

const MetricInfo metric_infos[METRIC_COUNT] = {
#define METRIC(name, in_json, from_events, shown, of, label, pane)                                           \
    {#name, label, pane, SHOWN_##shown, METRIC_##of, from_events, offsetof(Totals, name)},
#include "metrics/metrics.def"
#undef METRIC
};

uint64_t totals_value(const Totals *totals, Metric metric) {
    uint64_t value;
    memcpy(&value, (const char *)totals + metric_infos[metric].offset, sizeof value);
    return value;
}

uint64_t totals_wavefronts(const Totals *totals) {
    return totals->shared_load_wavefronts + totals->shared_store_wavefronts +
           totals->shared_atomic_wavefronts;
}

uint64_t totals_wavefronts_ideal(const Totals *totals) {
    return totals->shared_load_wavefronts_ideal + totals->shared_store_wavefronts_ideal +
           totals->shared_atomic_wavefronts_ideal;
}

double totals_average_active_lanes(const Totals *totals) {
    return totals->warp_instructions ? (double)totals->lane_instructions / (double)totals->warp_instructions
                                     : 0;
}

void totals_add(Totals *sum, const Totals *addend) {
#define METRIC(name, in_json, from_events, shown, of, label, pane) sum->name += addend->name;
#include "metrics/metrics.def"
#undef METRIC
}

void metrics_of_launch(const TraceLaunch *launch, Totals *out) {
    *out = (Totals){0};
    for (int pc = 0; pc < launch->program->code_count; pc++) fold_instruction(launch, pc, out);
}

void metrics_of_run(const Trace *trace, Totals *out) {
    *out = (Totals){0};
    for (int i = 0; i < trace->launch_count; i++) {
        Totals launch;
        metrics_of_launch(trace->launches[i], &launch);
        totals_add(out, &launch);
    }
}

void metrics_of_steps(const Steps *steps, int first, int count, Totals *out) {
    *out = (Totals){0};
    TraceEvent event;
    for (int i = first; i < first + count; i++) {
        const Step *step = &steps->steps[i];
        for (int k = 0; k < step->count; k++) {
            trace_block_read_places(steps->block, steps->events[step->first + k], &event);
            fold_event(steps->launch, &event, out);
        }
    }
}

void metrics_of_step(const Steps *steps, int step, Totals *out) {
    metrics_of_steps(steps, step, 1, out);
}

void metrics_of_traced_launch(const TraceLaunch *launch, Totals *out) {
    *out = (Totals){0};
    TraceEvent event;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]); i++) {
            trace_block_read_places(launch->blocks[b], i, &event);
            fold_event(launch, &event, out);
        }
}

/* Metrics by source line: the sums of a launch's counters. PTX without line information uses the lines of the
 * PTX text. */

PtxSourceLine metrics_line_of(const PtxProgram *program, int pc) {
    const PtxCode *code = &program->code[pc];
    if (code->line.file && code->line.line > 0) return code->line;
    return (PtxSourceLine){program->module ? program->module->file : NULL, code->instruction->line};
}

bool metrics_is_elsewhere(const PtxProgram *program, const char *file) {
    int pc = 0;
    while (pc < program->code_count && !program->code[pc].line.file) pc++;
    if (!file || !program->code_count) return false;
    const char *own = metrics_line_of(program, pc < program->code_count ? pc : 0).file;
    return own && strcmp(own, file) != 0;
}

/* ---- by source line: the sorted list ------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b) {
    const LineMetrics *x = a, *y = b;
    int files = x->file == y->file ? 0 : strcmp(x->file ? x->file : "", y->file ? y->file : "");
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static LineMetrics *list_lines(const Trace *trace, int *count) {
    LineMetrics *lines = NULL;
    int all = 0, capacity = 0;
    for (int i = 0; i < trace->launch_count; i++) {
        const PtxProgram *program = trace->launches[i]->program;
        for (int pc = 0; pc < program->code_count; pc++) {
            PtxSourceLine line = metrics_line_of(program, pc);
            LineMetrics fresh = {.file = line.file, .line = line.line};
            /* Neighbouring instructions usually share a line. */
            if (all && compare_lines(&fresh, &lines[all - 1]) == 0) continue;
            array_push(lines, all, capacity, fresh);
        }
    }
    *count = 0;
    if (!all) return lines;
    qsort(lines, (size_t)all, sizeof *lines, compare_lines);
    for (int i = 0; i < all; i++)
        if (!i || compare_lines(&lines[i], &lines[*count - 1]) != 0) lines[(*count)++] = lines[i];
    return lines;
}

static LineMetrics *find_line(LineMetrics *lines, int count, const PtxProgram *program, int pc) {
    PtxSourceLine line = metrics_line_of(program, pc);
    LineMetrics key = {.file = line.file, .line = line.line};
    return bsearch(&key, lines, (size_t)count, sizeof *lines, compare_lines);
}

/* ---- filling it ------------------------------------------------------------------------------------- */

static void keep_worst(LineMetrics *line, const TraceCounter *event) {
    if (event->ideal_wavefronts) {
        int ways = (int)((event->wavefronts + event->ideal_wavefronts - 1) / event->ideal_wavefronts);
        if (ways > line->worst_shared) line->worst_shared = ways;
    }
    if ((int)event->sectors > line->worst_global) line->worst_global = (int)event->sectors;
}

static bool takes_from_inactive_lane(const TraceEvent *event) {
    if (event->kind != TRACE_SHUFFLE) return false;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1)
        if (event->source[__builtin_ctz(rest)] < 0) return true;
    return false;
}

static void add_events(const TraceLaunch *launch, const TraceBlock *block, LineMetrics *const *line_of_pc,
                       bool totals) {
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        if (!totals) trace_block_read_header(block, i, &event);
        if (!totals && !trace_kind_is_access(event.kind) && event.kind != TRACE_SHUFFLE) continue;
        trace_block_read_places(block, i, &event);
        LineMetrics *line = line_of_pc[event.pc];
        TraceCounter counter = fold_counter_of_event(launch, &event);
        keep_worst(line, &counter);
        line->undefined_shuffles += takes_from_inactive_lane(&event);
        if (totals) fold_event(launch, &event, &line->totals);
    }
}

LineMetrics *metrics_by_line(const Trace *trace, bool traced, int *count) {
    LineMetrics *lines = list_lines(trace, count);
    for (int i = 0; i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        int code_count = launch->program->code_count;
        LineMetrics **line_of_pc = memory_new((size_t)code_count * sizeof *line_of_pc);
        for (int pc = 0; pc < code_count; pc++) {
            line_of_pc[pc] = find_line(lines, *count, launch->program, pc);
            if (!traced) fold_instruction(launch, pc, &line_of_pc[pc]->totals);
        }
        for (int b = 0; b < launch->block_count; b++)
            add_events(launch, launch->blocks[b], line_of_pc, traced);
        free(line_of_pc);
    }
    return lines;
}
