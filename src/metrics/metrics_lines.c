/* Metrics by source line: the sums of a launch's counters. PTX without line information uses the lines of the
 * PTX text. */
#include "metrics/metrics.h"

#include "base/memory.h"
#include "metrics/fold.h"
#include "metrics/totals.h"
#include <stdlib.h>
#include <string.h>

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

/* ---- the sorted list of lines ----------------------------------------------------------------------- */

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
