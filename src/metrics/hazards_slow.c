/* Findings of cost (hazards_slow.h). What another layout of a shared array would cost is evaluated: every
 * access of the traced blocks to it is counted again, at the place where the layout puts it. */
#include "metrics/hazards_slow.h"

#include "metrics/findings.h"
#include "metrics/metrics.h"
#include <inttypes.h>
#include <stdlib.h>

enum { MOST_EVENTS = 20000, MOST_SLOW = 16 };

/* ---- layouts ---------------------------------------------------------------------------------------- */

typedef struct SharedLayout {
    uint64_t row, pad; /* bytes: `pad` unused ones after every `row` */
    bool swizzles;     /* instead: within rows of 128 bytes, by the row's number */
} SharedLayout;

static uint64_t place_in(const SharedLayout *layout, uint64_t offset) {
    if (!layout->swizzles) return offset + offset / layout->row * layout->pad;
    uint64_t ways = LINE_BYTES / layout->pad;
    return offset ^ (offset / LINE_BYTES % ways * layout->pad);
}

typedef struct Cost { /* wavefronts of the traced accesses */
    uint64_t of_line, of_all;
} Cost;

typedef struct Conflict { /* a line's bank conflicts, and the array that has them */
    const Trace *trace;
    int launch, symbol;
    const char *file;
    int line;
    uint64_t width; /* the widest access of the array, in bytes */
} Conflict;

static bool is_on_line(const TraceLaunch *launch, int pc, const char *file, int line) {
    PtxSourceLine at = metrics_line_of(launch->program, pc);
    return at.line == line && (at.file == file || (at.file && file && !strcmp(at.file, file)));
}

static bool is_shared_access(const TraceEvent *event) {
    return event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_SHARED_STORE;
}

static int wavefronts_of(const TraceLaunch *launch, const TraceEvent *event, int symbol,
                         const SharedLayout *layout) {
    uint64_t offsets[WARP_LANES] = {0};
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t offset = event->offset[lane];
        if (layout && event->buffer[lane] == symbol) offset = place_in(layout, offset);
        offsets[lane] = launch->symbols[event->buffer[lane]].window_offset + offset;
    }
    return access_shared_cost(event->is_load, event->width, event->mask, offsets).wavefronts;
}

/* NULL: as it is. */
static Cost cost_of(const Conflict *conflict, const SharedLayout *layout) {
    const TraceLaunch *launch = conflict->trace->launches[conflict->launch];
    Cost cost = {0};
    TraceEvent event;
    int seen = 0;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]) && seen < MOST_EVENTS; i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            if (!is_shared_access(&event)) continue;
            trace_block_read(launch->blocks[b], i, &event);
            if (event.buffer[__builtin_ctz(event.mask)] != conflict->symbol) continue;
            uint64_t wavefronts = (uint64_t)wavefronts_of(launch, &event, conflict->symbol, layout);
            cost.of_all += wavefronts;
            if (is_on_line(launch, event.pc, conflict->file, conflict->line)) cost.of_line += wavefronts;
            seen++;
        }
    return cost;
}

/* The layout that is best for the line and no worse for the array. */
static bool find_layout(const Conflict *conflict, Cost now, SharedLayout *best, Cost *after) {
    uint64_t step = conflict->width < BANK_BYTES ? BANK_BYTES : conflict->width;
    bool found = false;
    *after = now;
    for (int i = 0; i <= 6; i++) {
        SharedLayout layout = {(uint64_t)LINE_BYTES << i, step, false};
        if (i == 6) layout = (SharedLayout){LINE_BYTES, step, true};
        Cost cost = cost_of(conflict, &layout);
        if (cost.of_line >= now.of_line || cost.of_all > now.of_all || cost.of_all >= after->of_all) continue;
        *best = layout;
        *after = cost;
        found = true;
    }
    return found;
}

/* ---- examples --------------------------------------------------------------------------------------- */

/* Fills in the side of the finding: the worst traced event of the line, by `cost`. */
static bool find_worst(const Trace *trace, Hazard *hazard, const LineMetrics *line,
                       uint64_t (*cost)(const TraceLaunch *launch, const TraceEvent *event)) {
    uint64_t most = 0;
    TraceEvent event;
    for (int l = 0; l < trace->launch_count; l++) {
        const TraceLaunch *launch = trace->launches[l];
        for (int b = 0; b < launch->block_count; b++)
            for (int i = 0; i < trace_block_event_count(launch->blocks[b]) && i < MOST_EVENTS; i++) {
                trace_block_read_header(launch->blocks[b], i, &event);
                if (!is_on_line(launch, event.pc, line->file, line->line)) continue;
                trace_block_read(launch->blocks[b], i, &event);
                uint64_t is = cost(launch, &event);
                if (is <= most) continue;
                most = is;
                hazard->launch = l;
                hazard->access.pc = event.pc;
                hazard->access.warp = event.warp;
                hazard->access.lanes = event.mask;
                hazard->access.interval = event.interval;
                hazard->access.event = i;
                hazard->access.linear_block = trace_block_linear(launch->blocks[b]);
                hazard->access.is_store =
                    event.kind == TRACE_SHARED_STORE || event.kind == TRACE_GLOBAL_STORE;
                if (!trace_kind_is_access(event.kind)) continue;
                hazard->access.lane = __builtin_ctz(event.mask);
                hazard->access.buffer = event.buffer[hazard->access.lane];
                hazard->access.offset = event.offset[hazard->access.lane];
            }
    }
    return most > 0;
}

static uint64_t excess_wavefronts(const TraceLaunch *launch, const TraceEvent *event) {
    if (!is_shared_access(event)) return 0;
    uint64_t offsets[WARP_LANES] = {0};
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        offsets[lane] = launch->symbols[event->buffer[lane]].window_offset + event->offset[lane];
    }
    SharedCost cost = access_shared_cost(event->is_load, event->width, event->mask, offsets);
    return (uint64_t)(cost.wavefronts - cost.ideal);
}

static uint64_t excess_sectors(const TraceLaunch *launch, const TraceEvent *event) {
    (void)launch;
    if (event->kind != TRACE_GLOBAL_LOAD && event->kind != TRACE_GLOBAL_STORE) return 0;
    GlobalCost cost = access_global_cost(event->width, event->mask, event->offset);
    return (uint64_t)(cost.sectors - cost.ideal);
}

static uint64_t split_lanes(const TraceLaunch *launch, const TraceEvent *event) {
    (void)launch;
    bool splits = event->kind == TRACE_BRANCH && event->taken && event->taken != event->mask;
    return splits ? 1 : 0;
}

/* ---- findings --------------------------------------------------------------------------------------- */

typedef struct SlowAdviceBuilder {
    Hazards *list;
    int *capacity;
    const Trace *trace;
    Totals run;
} SlowAdviceBuilder;

/* An empty finding of the line. */
static Hazard *add(SlowAdviceBuilder *making, HazardKind kind, const LineMetrics *line) {
    Hazard *hazard = hazards_add(making->list, making->capacity, kind, 0);
    hazard->access.file = line->file;
    hazard->access.line = line->line;
    hazard->count = 1;
    return hazard;
}

static const char *keep(SlowAdviceBuilder *making, Text *text) {
    const char *kept = arena_copy_text(&making->list->arena, text_string(text), text->length);
    text_done(text);
    return kept;
}

static void advise_layout(SlowAdviceBuilder *making, Hazard *hazard) {
    const TraceLaunch *launch = making->trace->launches[hazard->launch];
    Conflict conflict = {.trace = making->trace,
                         .launch = hazard->launch,
                         .symbol = hazard->access.buffer,
                         .file = hazard->access.file,
                         .line = hazard->access.line};
    const PtxInstruction *in = launch->program->code[hazard->access.pc].instruction;
    uint64_t element = in->type_count ? (uint64_t)ptx_type_bytes(in->types[0]) : BANK_BYTES;
    conflict.width = element * (uint64_t)(in->vector > 1 ? in->vector : 1);
    Cost now = cost_of(&conflict, NULL), after;
    SharedLayout layout;
    hazard->advice = "let the lanes of a warp access words of different banks: neighbouring lanes, "
                     "neighbouring words";
    if (!now.of_line || !find_layout(&conflict, now, &layout, &after)) return;
    hazard->predicted = (hazard->cost * after.of_line + now.of_line / 2) / now.of_line;
    uint64_t elements = layout.row / element, pad = layout.pad / element ? layout.pad / element : 1;
    Text text = {0};
    if (layout.swizzles)
        text_print(&text, "swizzle `%s`: index ^ (index / %" PRIu64 " %% %" PRIu64 ")",
                   launch->symbols[conflict.symbol].name, elements, LINE_BYTES / layout.pad);
    else
        text_print(&text,
                   "pad `%s`: %" PRIu64 " unused element%s after every %" PRIu64 " (index + index / %" PRIu64
                   "%s; rows of %" PRIu64 " instead of %" PRIu64 ")",
                   launch->symbols[conflict.symbol].name, pad, pad == 1 ? "" : "s", elements, elements,
                   pad == 1 ? "" : " * the padding", elements + pad, elements);
    text_print(&text, ": %" PRIu64 " wavefronts instead of %" PRIu64 ", as the traced accesses evaluate",
               hazard->predicted, hazard->cost);
    hazard->advice = keep(making, &text);
}

static void add_conflicts(SlowAdviceBuilder *making, const LineMetrics *line) {
    const Totals *t = &line->totals;
    Hazard *hazard = add(making, HAZARD_BANK_CONFLICT, line);
    hazard->space = PTX_SPACE_SHARED;
    hazard->cost = t->shared_load_wavefronts + t->shared_store_wavefronts;
    hazard->ideal = t->shared_load_wavefronts_ideal + t->shared_store_wavefronts_ideal;
    Text text = {0};
    text_print(&text, "line %d: %" PRIu64 " wavefronts where %" PRIu64 " would do", line->line, hazard->cost,
               hazard->ideal);
    if (line->worst_shared > 1) text_print(&text, ", up to %d-way bank conflicts", line->worst_shared);
    text_add(&text, ".");
    hazard->sentence = keep(making, &text);
    if (find_worst(making->trace, hazard, line, excess_wavefronts)) advise_layout(making, hazard);
}

static void add_sectors(SlowAdviceBuilder *making, const LineMetrics *line) {
    const Totals *t = &line->totals;
    Hazard *hazard = add(making, HAZARD_UNCOALESCED, line);
    hazard->space = PTX_SPACE_GLOBAL;
    hazard->cost = t->global_load_sectors + t->global_store_sectors;
    hazard->ideal = t->global_load_sectors_ideal + t->global_store_sectors_ideal;
    Text text = {0};
    text_print(&text,
               "line %d: %" PRIu64 " sectors where %" PRIu64 " would do: %" PRIu64 " bytes are wasted.",
               line->line, hazard->cost, hazard->ideal, (hazard->cost - hazard->ideal) * SECTOR_BYTES);
    hazard->sentence = keep(making, &text);
    hazard->advice =
        "let neighbouring lanes access neighbouring elements, from a multiple of 32 bytes on; or go "
        "through shared memory";
    find_worst(making->trace, hazard, line, excess_sectors);
}

static void add_idle(SlowAdviceBuilder *making, const LineMetrics *line) {
    const Totals *t = &line->totals;
    Hazard *hazard = add(making, HAZARD_DIVERGENCE, line);
    hazard->cost = t->warp_instructions * WARP_LANES;
    hazard->ideal = t->lane_instructions;
    Text text = {0};
    text_print(&text, "line %d: %.1f of 32 lanes are active, in %.0f %% of the instructions.", line->line,
               totals_average_active_lanes(t),
               100.0 * (double)t->warp_instructions / (double)making->run.warp_instructions);
    hazard->sentence = keep(making, &text);
    hazard->advice = "let whole warps take the same way: choose the threads that work by neighbours, not by "
                     "a remainder";
    find_worst(making->trace, hazard, line, split_lanes);
}

void hazards_add_slow(Hazards *list, int *capacity, const Trace *trace) {
    SlowAdviceBuilder making = {.list = list, .capacity = capacity, .trace = trace};
    int count, first = list->count;
    LineMetrics *lines = metrics_by_line(trace, false, &count);
    metrics_of_run(trace, &making.run);
    for (int i = 0; i < count && list->count - first < MOST_SLOW; i++) {
        if (finding_worth_of_conflicts(&lines[i].totals, &making.run)) add_conflicts(&making, &lines[i]);
        if (finding_worth_of_sectors(&lines[i].totals, &making.run)) add_sectors(&making, &lines[i]);
        if (finding_worth_of_idle_lanes(&lines[i].totals, &making.run)) add_idle(&making, &lines[i]);
    }
    free(lines);
}
