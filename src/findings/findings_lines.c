/* Findings about source lines, from their counts. A line is worth a finding if it concerns a good part of
 * what the line does: the first thread of a block always diverges when it writes the result, and no kernel
 * can avoid that. */
#include "findings/findings_sentences.h"
#include "base/language.h"
#include "base/sentence.h"
#include "metrics/totals.h"
#include <stdlib.h>
#include <string.h>

static uint64_t sectors(const Totals *t) {
    return t->global_load_sectors + t->global_store_sectors;
}
static uint64_t sectors_ideal(const Totals *t) {
    return t->global_load_sectors_ideal + t->global_store_sectors_ideal;
}
static uint64_t requests(const Totals *t) {
    return t->global_load_requests + t->global_store_requests;
}

/* ---- slow ------------------------------------------------------------------------------------------- */

enum { SECTORS_OF_A_PASS = LINE_BYTES / SECTOR_BYTES };

static uint64_t excess(uint64_t cost, uint64_t ideal) {
    return cost > ideal ? cost - ideal : 0;
}

/* Without those of atomics. */
static double count_passes(const Totals *run) {
    uint64_t issued = run->warp_instructions;
    if (!issued) /* events only */
        issued = run->shared_loads + run->shared_stores + requests(run) + run->shuffles + run->barriers +
                 run->branches + run->atomics;
    return (double)issued + (double)excess(totals_wavefronts(run), totals_wavefronts_ideal(run)) +
           (double)excess(sectors(run), sectors_ideal(run)) / SECTORS_OF_A_PASS;
}

static bool is_mostly_of_atomics(const Totals *t) {
    uint64_t of_atomics = excess(t->shared_atomic_wavefronts, t->shared_atomic_wavefronts_ideal);
    return 2 * of_atomics > excess(totals_wavefronts(t), totals_wavefronts_ideal(t));
}

static void add_conflicts(FindingsBuilder *builder, const LineMetrics *line) {
    const Totals *t = &line->totals;
    Finding *finding = findings_add_slow(builder, FINDING_BANK_CONFLICT, line,
                                         (double)excess(totals_wavefronts(t), totals_wavefronts_ideal(t)));
    CountText cost, ideal;
    Text text = {0};
    if (!finding) return;
    finding->space = PTX_SPACE_SHARED;
    finding->cost = totals_wavefronts(t);
    finding->ideal = totals_wavefronts_ideal(t);
    bool always = finding->cost == finding->ideal * (uint64_t)line->worst_shared;
    finding_begin_place(&finding->access, &text);
    if (line->worst_shared > 1)
        text_print(&text, always ? tr("%d-way bank conflicts") : tr("up to %d-way bank conflicts"),
                   line->worst_shared);
    else
        text_add(&text, tr("bank conflicts"));
    if (is_mostly_of_atomics(t)) text_add(&text, tr(" of atomics"));
    text_print(&text, tr(": %s wavefronts, ideal %s."), count_text(finding->cost, &cost),
               count_text(finding->ideal, &ideal));
    finding->sentence = findings_keep(builder->list, &text);
}

/* The ragged end of an array is not a finding, and neither are a few sectors in all. */
enum { FEWEST_SECTORS = 8 };

static void add_sectors(FindingsBuilder *builder, const LineMetrics *line) {
    const Totals *t = &line->totals;
    uint64_t more = excess(sectors(t), sectors_ideal(t));
    if (more * 10 < sectors_ideal(t) || more < FEWEST_SECTORS) return;
    Finding *finding =
        findings_add_slow(builder, FINDING_UNCOALESCED, line, (double)more / SECTORS_OF_A_PASS);
    CountText cost, ideal, bytes;
    Text text = {0};
    if (!finding) return;
    finding->space = PTX_SPACE_GLOBAL;
    finding->cost = sectors(t);
    finding->ideal = sectors_ideal(t);
    finding_begin_place(&finding->access, &text);
    text_print(&text,
               tr("%.3g sectors per request, ideal %.3g; %s sectors in all, ideal %s (%s bytes more)."),
               (double)finding->cost / (double)requests(t), (double)finding->ideal / (double)requests(t),
               count_text(finding->cost, &cost), count_text(finding->ideal, &ideal),
               count_text(more * SECTOR_BYTES, &bytes));
    finding->sentence = findings_keep(builder->list, &text);
}

/* "bank conflicts in line 12; divergence in lines 23, 28" */
static void keep_below(FindingsBuilder *builder) {
    Text text = {0};
    for (int kind = 0; kind < FINDING_KIND_COUNT; kind++) {
        Text *lines = &builder->below[kind];
        if (lines->length)
            text_print(&text, tr("%s%s in line%s %s"), text.length ? tr("; ") : "",
                       finding_kind_title((FindingKind)kind), strchr(lines->data, ',') ? "s" : "",
                       text_string(lines));
        text_done(lines);
        *lines = (Text){0};
    }
    builder->list->below = text.length ? findings_keep(builder->list, &text) : NULL;
}

void findings_add_slow_lines(FindingsBuilder *builder, const LineMetrics *lines, int count) {
    Totals run = {0};
    for (int i = 0; i < count; i++) totals_add(&run, &lines[i].totals);
    double extra;
    WarpCounts *warps = findings_count_warps(builder->trace, lines, count, &extra);
    builder->passes = count_passes(&run) + extra;
    for (int i = 0; i < count; i++) {
        add_conflicts(builder, &lines[i]);
        add_sectors(builder, &lines[i]);
    }
    findings_add_divergence(builder, lines, count, &run);
    findings_add_warps(builder, lines, count, warps);
    keep_below(builder);
    free(warps);
}

/* ---- notes ------------------------------------------------------------------------------------------ */

void findings_add_dropped(FindingsBuilder *builder) {
    uint64_t dropped = 0;
    for (int i = 0; i < builder->trace->launch_count; i++) dropped += builder->trace->launches[i]->dropped;
    if (!dropped) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, FINDING_DROPPED_EVENTS, 0);
    CountText count;
    finding->count = dropped;
    finding->sentence = arena_print(&builder->list->arena, tr("%s event%s did not fit into the trace."),
                                    count_text(dropped, &count), plural(dropped));
}

/* Without a search it is not known whether the value is used. */
void findings_add_undefined_shuffles(FindingsBuilder *builder, const LineMetrics *lines, int count) {
    for (int i = 0; i < count; i++) {
        CountText executions;
        if (!lines[i].undefined_shuffles) continue;
        Finding *finding = findings_add_line(builder, FINDING_INACTIVE_SOURCE, &lines[i]);
        finding->count = lines[i].undefined_shuffles;
        Text text = {0};
        finding_begin_place(&finding->access, &text);
        text_print(&text,
                   tr("a shuffle reads inactive lanes (%s execution%s in the traced blocks); "
                      "--check says whether the undefined value is used."),
                   count_text(finding->count, &executions), plural(finding->count));
        finding->sentence = findings_keep(builder->list, &text);
    }
}
