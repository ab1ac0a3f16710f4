/* Findings about source lines, from their counts. A line is worth a finding if it concerns a good part of
 * what the line does: the first thread of a block always diverges when it writes the result, and no kernel
 * can avoid that. */
#include "findings/findings_list.h"
#include "base/sentence.h"

static uint64_t wavefronts(const Totals *t) {
    return t->shared_load_wavefronts + t->shared_store_wavefronts;
}
static uint64_t wavefronts_ideal(const Totals *t) {
    return t->shared_load_wavefronts_ideal + t->shared_store_wavefronts_ideal;
}
static uint64_t sectors(const Totals *t) {
    return t->global_load_sectors + t->global_store_sectors;
}
static uint64_t sectors_ideal(const Totals *t) {
    return t->global_load_sectors_ideal + t->global_store_sectors_ideal;
}
static uint64_t requests(const Totals *t) {
    return t->global_load_requests + t->global_store_requests;
}

static Finding *add(FindingsBuilder *builder, FindingKind kind, const LineMetrics *line) {
    Finding *finding = findings_add(builder->list, &builder->capacity, kind, 0);
    finding->access.file = line->file;
    finding->access.line = line->line;
    finding->count = 1;
    return finding;
}

/* ---- slow ------------------------------------------------------------------------------------------- */

static void add_conflicts(FindingsBuilder *builder, const LineMetrics *line, const Totals *run) {
    const Totals *t = &line->totals;
    (void)run;
    if (wavefronts(t) <= wavefronts_ideal(t)) return;
    Finding *finding = add(builder, FINDING_BANK_CONFLICT, line);
    CountText cost, ideal;
    Text text = {0};
    finding->space = PTX_SPACE_SHARED;
    finding->cost = wavefronts(t);
    finding->ideal = wavefronts_ideal(t);
    bool always = finding->cost == finding->ideal * (uint64_t)line->worst_shared;
    text_print(&text, "line %d: ", line->line);
    if (line->worst_shared > 1)
        text_print(&text, "%s%d-way bank conflicts", always ? "" : "up to ", line->worst_shared);
    else
        text_add(&text, "bank conflicts");
    text_print(&text, ": %s wavefronts, ideal %s.", count_text(finding->cost, &cost),
               count_text(finding->ideal, &ideal));
    finding->sentence = findings_keep(builder->list, &text);
}

/* The ragged end of an array is not a finding. */
static void add_sectors(FindingsBuilder *builder, const LineMetrics *line, const Totals *run) {
    const Totals *t = &line->totals;
    uint64_t excess = sectors(t) - sectors_ideal(t);
    (void)run;
    if (!excess || excess * 10 < sectors_ideal(t)) return;
    Finding *finding = add(builder, FINDING_UNCOALESCED, line);
    CountText cost, ideal, bytes;
    Text text = {0};
    finding->space = PTX_SPACE_GLOBAL;
    finding->cost = sectors(t);
    finding->ideal = sectors_ideal(t);
    text_print(&text,
               "line %d: %.3g sectors per request, ideal %.3g; %s sectors in all, ideal %s (%s bytes more).",
               line->line, (double)finding->cost / (double)requests(t),
               (double)finding->ideal / (double)requests(t), count_text(finding->cost, &cost),
               count_text(finding->ideal, &ideal), count_text(excess * SECTOR_BYTES, &bytes));
    finding->sentence = findings_keep(builder->list, &text);
}

/* At most half of the lanes are active, fewer than in the rest of the run, and the idle lanes are a tenth of
 * all lanes of the run. */
static void add_idle(FindingsBuilder *builder, const LineMetrics *line, const Totals *run) {
    const Totals *t = &line->totals;
    uint64_t idle = t->warp_instructions * WARP_LANES - t->lane_instructions;
    double lanes = totals_average_active_lanes(t);
    if (!idle || idle * 10 < run->warp_instructions * WARP_LANES || lanes * 2 > WARP_LANES ||
        lanes >= 0.75 * totals_average_active_lanes(run))
        return;
    Finding *finding = add(builder, FINDING_IDLE_LANES, line);
    Text text = {0};
    finding->cost = t->warp_instructions * WARP_LANES;
    finding->ideal = t->lane_instructions;
    text_print(&text, "line %d: %.1f of 32 lanes active on average (%.0f %% of all instructions).",
               line->line, lanes, 100.0 * (double)t->warp_instructions / (double)run->warp_instructions);
    finding->sentence = findings_keep(builder->list, &text);
}

void findings_add_slow_lines(FindingsBuilder *builder, const LineMetrics *lines, int count,
                             const Totals *run) {
    for (int i = 0; i < count; i++) {
        add_conflicts(builder, &lines[i], run);
        add_sectors(builder, &lines[i], run);
        add_idle(builder, &lines[i], run);
    }
}

/* ---- notes ------------------------------------------------------------------------------------------ */

void findings_add_branches(FindingsBuilder *builder, const LineMetrics *lines, int count) {
    for (int i = 0; i < count; i++) {
        const Totals *t = &lines[i].totals;
        CountText divergent, all;
        Text text = {0};
        if (t->divergent_branches * 8 <= t->branches) continue;
        Finding *finding = add(builder, FINDING_DIVERGENT_BRANCHES, &lines[i]);
        finding->cost = t->divergent_branches;
        finding->advice = "On hardware the compiler may use predication instead of a branch.";
        text_print(&text, "line %d: ", lines[i].line);
        if (t->divergent_branches == t->branches)
            text_print(&text, "every branch diverges (%s).", count_text(t->branches, &all));
        else
            text_print(&text, "%.0f %% of the branches diverge (%s of %s).",
                       100.0 * (double)t->divergent_branches / (double)t->branches,
                       count_text(t->divergent_branches, &divergent), count_text(t->branches, &all));
        finding->sentence = findings_keep(builder->list, &text);
    }
}

void findings_add_dropped(FindingsBuilder *builder) {
    uint64_t dropped = 0;
    for (int i = 0; i < builder->trace->launch_count; i++) dropped += builder->trace->launches[i]->dropped;
    if (!dropped) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, FINDING_DROPPED_EVENTS, 0);
    CountText count;
    finding->count = dropped;
    finding->sentence = arena_print(&builder->list->arena, "%s event%s did not fit into the trace.",
                                    count_text(dropped, &count), plural(dropped));
}

/* Without a search it is not known whether the value is used. */
void findings_add_undefined_shuffles(FindingsBuilder *builder, const LineMetrics *lines, int count) {
    for (int i = 0; i < count; i++) {
        CountText executions;
        if (!lines[i].undefined_shuffles) continue;
        Finding *finding = add(builder, FINDING_INACTIVE_SOURCE, &lines[i]);
        finding->count = lines[i].undefined_shuffles;
        finding->sentence =
            arena_print(&builder->list->arena,
                        "line %d: a shuffle reads inactive lanes (%s execution%s in the traced blocks); "
                        "--check says whether the "
                        "undefined value is used.",
                        lines[i].line, count_text(finding->count, &executions), plural(finding->count));
    }
}
