/* Advice for slow findings: the change and its computed cost. The cost of another layout of a shared array is
 * computed by counting every traced access to the array again, at its offset in that layout. */
#include "findings/findings_list.h"
#include "metrics/fold.h"
#include "base/sentence.h"
#include <inttypes.h>

enum { MOST_EVENTS = 20000 };

/* ---- layouts ---------------------------------------------------------------------------------------- */

typedef struct SharedLayout {
    uint64_t row, pad; /* bytes: `pad` unused bytes after every `row` */
    bool swizzles;     /* instead of padding: XOR with the number of the 128-byte row, in units of `pad` */
} SharedLayout;

static uint64_t offset_in(const SharedLayout *layout, uint64_t offset) {
    if (!layout->swizzles) return offset + offset / layout->row * layout->pad;
    uint64_t ways = LINE_BYTES / layout->pad;
    return offset ^ (offset / LINE_BYTES % ways * layout->pad);
}

typedef struct Cost { /* wavefronts of the traced accesses */
    uint64_t of_line, of_all;
} Cost;

typedef struct Conflict { /* the bank conflicts of a line, and their array */
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
    if (trace_event_peer(event) >= 0) return 0;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t offset = event->offset[lane];
        if (layout && event->buffer[lane] == symbol) offset = offset_in(layout, offset);
        offsets[lane] = launch->symbols[event->buffer[lane]].window_offset + offset;
    }
    return access_shared_cost(event->is_load, event->width, event->mask, offsets).wavefronts;
}

/* `layout` NULL: the present layout. */
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

/* The layout that is best for the array among those that improve the line. */
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

/* Sets the access of the finding to the traced event of its line with the highest `cost`. */
static bool find_worst(const Trace *trace, Finding *finding,
                       uint64_t (*cost)(const TraceLaunch *launch, const TraceEvent *event)) {
    uint64_t most = 0;
    TraceEvent event;
    for (int l = 0; l < trace->launch_count; l++) {
        const TraceLaunch *launch = trace->launches[l];
        for (int b = 0; b < launch->block_count; b++)
            for (int i = 0; i < trace_block_event_count(launch->blocks[b]) && i < MOST_EVENTS; i++) {
                trace_block_read_header(launch->blocks[b], i, &event);
                if (!is_on_line(launch, event.pc, finding->access.file, finding->access.line)) continue;
                trace_block_read(launch->blocks[b], i, &event);
                uint64_t own = cost(launch, &event);
                if (own <= most) continue;
                most = own;
                finding->launch = l;
                finding->access.pc = event.pc;
                finding->access.warp = event.warp;
                finding->access.lanes = event.mask;
                finding->access.interval = event.interval;
                finding->access.event = i;
                finding->access.linear_block = trace_block_linear(launch->blocks[b]);
                finding->access.is_store =
                    event.kind == TRACE_SHARED_STORE || event.kind == TRACE_GLOBAL_STORE;
                if (!trace_kind_is_access(event.kind)) continue;
                finding->access.lane = __builtin_ctz(event.mask);
                finding->access.buffer = event.buffer[finding->access.lane];
                finding->access.offset = event.offset[finding->access.lane];
            }
    }
    return most > 0;
}

static uint64_t excess_wavefronts(const TraceLaunch *launch, const TraceEvent *event) {
    TraceCounter counter = fold_counter_of_event(launch, event);
    return counter.wavefronts - counter.ideal_wavefronts;
}

static uint64_t excess_sectors(const TraceLaunch *launch, const TraceEvent *event) {
    TraceCounter counter = fold_counter_of_event(launch, event);
    return event->kind == TRACE_GLOBAL_ATOMIC ? 0 : counter.sectors - counter.ideal_sectors;
}

static uint64_t split_lanes(const TraceLaunch *launch, const TraceEvent *event) {
    (void)launch;
    bool splits = event->kind == TRACE_BRANCH && event->taken && event->taken != event->mask;
    return splits ? 1 : 0;
}

/* ---- advice ----------------------------------------------------------------------------------------- */

static void print_layout(const Conflict *conflict, const SharedLayout *layout, uint64_t element, Text *out) {
    const char *name = conflict->trace->launches[conflict->launch]->symbols[conflict->symbol].name;
    uint64_t elements = layout->row / element, pad = layout->pad / element ? layout->pad / element : 1;
    if (layout->swizzles) {
        text_print(out, "swizzle `%s`: index ^ (index / %" PRIu64 " %% %" PRIu64, name, elements,
                   LINE_BYTES / layout->pad);
        if (pad > 1) text_print(out, " * %" PRIu64, pad);
        text_add(out, ")");
        return;
    }
    text_print(out,
               "pad `%s`: %" PRIu64 " unused element%s after every %" PRIu64 " (index + index / %" PRIu64,
               name, pad, plural(pad), elements, elements);
    if (pad > 1) text_print(out, " * %" PRIu64, pad);
    text_print(out, "; rows of %" PRIu64 " instead of %" PRIu64 ")", elements + pad, elements);
}

static void advise_layout(Findings *list, const Trace *trace, Finding *finding) {
    const TraceLaunch *launch = trace->launches[finding->launch];
    Conflict conflict = {.trace = trace,
                         .launch = finding->launch,
                         .symbol = finding->access.buffer,
                         .file = finding->access.file,
                         .line = finding->access.line};
    const PtxInstruction *in = launch->program->code[finding->access.pc].instruction;
    uint64_t element = in->type_count ? (uint64_t)ptx_type_bytes(in->types[0]) : BANK_BYTES;
    conflict.width = element * (uint64_t)(in->vector > 1 ? in->vector : 1);
    Cost now = cost_of(&conflict, NULL), after;
    SharedLayout layout;
    if (!now.of_line || !find_layout(&conflict, now, &layout, &after)) return;
    finding->predicted = (finding->cost * after.of_line + now.of_line / 2) / now.of_line;
    CountText predicted, cost;
    Text text = {0};
    print_layout(&conflict, &layout, element, &text);
    text_print(&text, ": %s wavefronts instead of %s, computed from the traced accesses",
               count_text(finding->predicted, &predicted), count_text(finding->cost, &cost));
    finding->advice = findings_keep(list, &text);
}

static void advise(Findings *list, const Trace *trace, Finding *finding) {
    switch (finding->kind) {
    case FINDING_BANK_CONFLICT:
        finding->advice = "let the lanes of a warp access words in different banks: neighbouring lanes, "
                          "neighbouring words";
        if (find_worst(trace, finding, excess_wavefronts)) advise_layout(list, trace, finding);
        break;
    case FINDING_UNCOALESCED:
        finding->advice = "let neighbouring lanes access neighbouring elements, starting at a multiple of 32 "
                          "bytes; or go through shared memory";
        find_worst(trace, finding, excess_sectors);
        break;
    default:
        finding->advice = "let whole warps take the same path: choose the active threads by consecutive "
                          "indices, not by a remainder";
        find_worst(trace, finding, split_lanes);
    }
}

void findings_add_advice(Findings *list, const Trace *trace) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].severity == SEVERITY_SLOW) advise(list, trace, &list->items[i]);
}
