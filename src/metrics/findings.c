/* The list of findings: what is collected for it, and in which order (findings.h). */
#include "metrics/findings.h"

#include "metrics/findings_list.h"
#include <stdlib.h>

static const struct {
    const char *text, *title;
    Severity severity;
} kinds[FINDING_KIND_COUNT] = {
#define FINDING(id, text, severity, title) {text, title, SEVERITY_##severity},
#include "metrics/findings.def"
#undef FINDING
};

const char *finding_kind_text(FindingKind kind) {
    return kinds[kind].text;
}

const char *finding_kind_title(FindingKind kind) {
    return kinds[kind].title;
}

const char *finding_severity_text(Severity severity) {
    static const char *const texts[] = {"error", "slow", "note"};
    return texts[severity];
}

const char *finding_space_text(PtxSpace space) {
    return space == PTX_SPACE_SHARED   ? "shared"
           : space == PTX_SPACE_GLOBAL ? "global"
           : space == PTX_SPACE_LOCAL  ? "local"
                                       : NULL;
}

/* ---- making a list ---------------------------------------------------------------------------------- */

FindingsBuilder findings_begin(const Trace *trace) {
    return (FindingsBuilder){.list = memory_new(sizeof(Findings)), .trace = trace};
}

Finding *findings_add(Findings *list, int *capacity, FindingKind kind, int launch) {
    Finding finding = {.kind = kind,
                       .severity = kinds[kind].severity,
                       .kind_text = kinds[kind].text,
                       .launch = launch,
                       .access = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1},
                       .other = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1}};
    array_push(list->items, list->count, *capacity, finding);
    return &list->items[list->count - 1];
}

const char *findings_keep(Findings *list, Text *text) {
    const char *kept = arena_copy_text(&list->arena, text_string(text), text->length);
    text_done(text);
    return kept;
}

void finding_put_line(const TraceLaunch *launch, FindingAccess *access) {
    if (access->pc < 0) return;
    PtxSourceLine line = metrics_line_of(launch->program, access->pc);
    access->file = line.file;
    access->line = line.line;
}

static int compare(const void *a, const void *b) {
    const Finding *x = a, *y = b;
    if (x->severity != y->severity) return (int)x->severity - (int)y->severity;
    uint64_t p = x->cost - x->ideal, q = y->cost - y->ideal;
    if (p != q) return p < q ? 1 : -1;
    if (x->launch != y->launch) return x->launch - y->launch;
    if (x->access.line != y->access.line) return x->access.line - y->access.line;
    if (x->access.pc != y->access.pc) return x->access.pc - y->access.pc;
    if (x->other.pc != y->other.pc) return x->other.pc - y->other.pc;
    return (int)x->kind - (int)y->kind;
}

Findings *findings_end(FindingsBuilder *builder) {
    Findings *list = builder->list;
    if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, compare);
    list->error_count = 0;
    while (list->error_count < list->count && list->items[list->error_count].severity == SEVERITY_ERROR)
        list->error_count++;
    return list;
}

void findings_free(Findings *findings) {
    if (!findings) return;
    free(findings->items);
    arena_done(&findings->arena);
    free(findings);
}

/* ---- events ----------------------------------------------------------------------------------------- */

static bool is_event_of(const TraceEvent *event, const FindingAccess *access) {
    if (event->pc != access->pc || event->warp != access->warp) return false;
    if (access->lane >= 0 && !(event->mask >> access->lane & 1)) return false;
    if (access->buffer < 0) return true;
    uint64_t first = event->offset[access->lane];
    return event->buffer[access->lane] == access->buffer && access->offset >= first &&
           access->offset < first + (uint64_t)event->width;
}

/* The last such event before `before` (-1: the first of all) in the access's block, in its interval. */
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

static void add_slow(FindingsBuilder *builder) {
    int count;
    Totals run;
    LineMetrics *lines = metrics_by_line(builder->trace, false, &count);
    metrics_of_run(builder->trace, &run);
    findings_add_slow_lines(builder, lines, count, &run);
    free(lines);
}

/* Advice takes time: the most costly findings get it, and the others are left out. */
static void cut_slow(Findings *list) {
    enum { MOST_SLOW = 16 };
    if (list->count > list->error_count + MOST_SLOW) list->count = list->error_count + MOST_SLOW;
}

Findings *findings_new(RaceDetector *detector, const Trace *trace, const FindingResult *result) {
    FindingsBuilder builder = findings_begin(trace);
    if (detector) findings_add_races(&builder, detector);
    findings_add_traps(&builder);
    findings_add_result(&builder, detector, result);
    add_slow(&builder);
    cut_slow(findings_end(&builder));
    findings_add_advice(builder.list, trace);
    Findings *list = findings_end(&builder); /* its examples decide between findings of equal cost */
    for (int i = 0; i < list->error_count; i++) find_events(trace, &list->items[i]);
    return list;
}
