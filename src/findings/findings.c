/* Collects the findings of a run and the events that show them (findings.h). */
#include "findings/findings.h"

#include "findings/findings_list.h"
#include <stdlib.h>
#include <string.h>

/* ---- events ----------------------------------------------------------------------------------------- */

static bool is_event_of(const TraceEvent *event, const FindingAccess *access) {
    if (event->pc != access->pc || event->warp != access->warp) return false;
    if (access->lane >= 0 && !(event->mask >> access->lane & 1)) return false;
    if (access->buffer < 0) return true;
    uint64_t first = event->offset[access->lane];
    return event->buffer[access->lane] == access->buffer && access->offset >= first &&
           access->offset < first + (uint64_t)event->width;
}

/* The last matching event before `before` in the access's block and interval (-1: the first of all). */
static int find_event(const TraceLaunch *launch, const FindingAccess *access, int before) {
    const TraceBlock *block = trace_launch_find_block(launch, (uint32_t)access->linear_block);
    int found = -1, count = block && access->pc >= 0 ? trace_block_event_count(block) : 0;
    TraceEvent event;
    for (int i = 0; i < count && (before < 0 ? found < 0 : i < before); i++) {
        trace_block_read_header(block, i, &event);
        if (event.pc != access->pc || event.warp != access->warp || event.interval != access->interval)
            continue;
        trace_block_read(block, i, &event);
        if (is_event_of(&event, access)) found = i;
    }
    return found;
}

static void find_events(const Trace *trace, Finding *finding) {
    const TraceLaunch *launch = trace->launches[finding->launch];
    finding->access.event = find_event(launch, &finding->access, -1);
    bool same = finding->access.linear_block == finding->other.linear_block && finding->access.event >= 0;
    finding->other.event = find_event(launch, &finding->other, same ? finding->access.event + 1 : -1);
}

/* ---- the list of a run ------------------------------------------------------------------------------ */

/* `traced`, or a run without counters of the grid: of the traced events. */
static void add_slow(FindingsBuilder *builder, bool traced) {
    int count;
    LineMetrics *lines = metrics_by_line(builder->trace, traced, &count);
    findings_add_slow_lines(builder, lines, count);
    free(lines);
}

/* Keeps the most costly findings and drops the others, because computing advice takes time. */
static void cut_slow(Findings *list) {
    enum { MOST_SLOW = 16 };
    int slow = findings_count(list, SEVERITY_SLOW), left = slow - MOST_SLOW, from = list->error_count + slow;
    if (left <= 0) return;
    memmove(list->items + from - left, list->items + from,
            (size_t)(list->count - from) * sizeof *list->items);
    list->count -= left;
}

static Findings *finish(FindingsBuilder *builder) {
    cut_slow(findings_end(builder));
    findings_add_advice(builder);
    Findings *list = findings_end(builder); /* its examples order findings of equal cost */
    for (int i = 0; i < list->count; i++)
        if (list->items[i].severity != SEVERITY_SLOW) find_events(builder->trace, &list->items[i]);
    return list;
}

void findings_count_slow_again(Findings *list, const Trace *trace, FindingNames names) {
    FindingsBuilder builder = {.list = list, .capacity = list->count, .trace = trace, .names = names};
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].severity != SEVERITY_SLOW) list->items[kept++] = list->items[i];
    list->count = kept;
    add_slow(&builder, false);
    cut_slow(findings_end(&builder));
    findings_add_advice(&builder);
    findings_end(&builder);
}

Findings *findings_new(RaceDetector *detector, const Trace *trace, const FindingResult *result,
                       const FindingKnown *known) {
    FindingsBuilder builder = findings_begin(trace);
    builder.names = known->names;
    if (detector) findings_add_races(&builder, detector);
    findings_add_traps(&builder);
    findings_add_result(&builder, detector, result);
    findings_add_leak(&builder, known);
    findings_add_fused(&builder);
    add_slow(&builder, false);
    return finish(&builder);
}

Findings *findings_new_counted(const Trace *trace, const FindingResult *result, FindingNames names,
                               bool traced) {
    FindingsBuilder builder = findings_begin(trace);
    builder.names = names;
    int count;
    findings_add_traps(&builder);
    LineMetrics *lines = metrics_by_line(trace, traced, &count);
    findings_add_undefined_shuffles(&builder, lines, count);
    free(lines);
    findings_add_result(&builder, NULL, result);
    add_slow(&builder, traced);
    findings_add_dropped(&builder);
    return finish(&builder);
}

void findings_put_samples(Findings *findings, FindingSamples samples, void *context) {
    for (int i = 0; i < findings->count; i++) {
        Finding *finding = &findings->items[i];
        if (finding->severity != SEVERITY_SLOW) continue;
        finding->samples = samples(context, finding->launch, finding->access.file, finding->access.line,
                                   &finding->waits_for);
    }
}
