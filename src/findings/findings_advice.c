/* Advice for slow findings: the change and its computed cost. */
#include "findings/findings_sentences.h"
#include "findings/shared_layout.h"
#include "metrics/fold.h"
#include "base/language.h"
#include "base/sentence.h"

enum { MOST_EVENTS = 20000 };

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
                if (!finding_is_on_line(finding, launch, event.pc)) continue;
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
                finding->access.is_atomic =
                    event.kind == TRACE_SHARED_ATOMIC || event.kind == TRACE_GLOBAL_ATOMIC;
                if (!trace_kind_is_access(event.kind)) continue;
                finding->space = trace_kind_is_shared(event.kind)  ? PTX_SPACE_SHARED
                                 : trace_kind_is_local(event.kind) ? PTX_SPACE_LOCAL
                                                                   : PTX_SPACE_GLOBAL;
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

/* The most lanes on one word, less one. */
static uint64_t shared_words(const TraceLaunch *launch, const TraceEvent *event) {
    uint64_t most = 0;
    (void)launch;
    if (event->kind != TRACE_GLOBAL_ATOMIC) return 0;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        uint64_t same = 0;
        int lane = __builtin_ctz(rest);
        for (uint32_t others = rest & (rest - 1); others; others &= others - 1)
            same += event->offset[__builtin_ctz(others)] == event->offset[lane];
        if (same > most) most = same;
    }
    return most;
}

static uint64_t barriers(const TraceLaunch *launch, const TraceEvent *event) {
    (void)launch;
    return event->kind == TRACE_BARRIER ? event->interval + 1 : 0;
}

static uint64_t split_lanes(const TraceLaunch *launch, const TraceEvent *event) {
    (void)launch;
    bool splits = event->kind == TRACE_BRANCH && event->taken && event->taken != event->mask;
    return splits ? 1 : 0;
}

/* ---- advice ----------------------------------------------------------------------------------------- */

static void print_layout(const char *name, const SharedLayout *layout, LayoutKind kind, uint64_t element,
                         Text *out) {
    unsigned long long elements = layout->row / element,
                       pad = layout->pad / element ? layout->pad / element : 1;
    if (kind == LAYOUT_COPIED) {
        text_print(
            out, tr("have the tensor copy swizzle `%s` (128 bytes), and load byte a at a ^ (a >> 3 & 0x70)"),
            name);
        return;
    }
    if (layout->swizzles) {
        text_print(out, tr("swizzle `%s`: index ^ (index / %llu %% %llu"), name, elements,
                   LINE_BYTES / (unsigned long long)layout->pad);
        if (pad > 1) text_print(out, " * %llu", pad);
        text_add(out, ")");
        return;
    }
    text_print(out, tr("pad `%s`: %llu unused element%s after every %llu (index + index / %llu"), name, pad,
               plural(pad), elements, elements);
    if (pad > 1) text_print(out, " * %llu", pad);
    text_print(out, tr("; rows of %llu instead of %llu)"), elements + pad, elements);
}

static void advise_layout(const FindingsBuilder *builder, Finding *finding) {
    const Trace *trace = builder->trace;
    const TraceLaunch *launch = trace->launches[finding->launch];
    const PtxInstruction *in = launch->program->code[finding->access.pc].instruction;
    uint64_t element = in->type_count ? (uint64_t)ptx_type_bytes(in->types[0]) : BANK_BYTES;
    uint64_t width = element * (uint64_t)(in->vector > 1 ? in->vector : 1);
    SharedLayout layout;
    double rest;
    bool can_swizzle = true;
    LayoutKind kind = layout_is_of_tiles(trace, finding, &can_swizzle) ? LAYOUT_COPIED : LAYOUT_ANY;
    if (!can_swizzle || !layout_find(trace, finding, width, kind, &layout, &rest)) return;
    finding->predicted = (uint64_t)((double)finding->cost * rest + 0.5);
    CountText predicted, cost;
    Text text = {0};
    print_layout(findings_name_array(builder, launch, &finding->access), &layout, kind, element, &text);
    text_print(&text, tr(": %s wavefronts instead of %s, computed from the traced accesses"),
               count_text(finding->predicted, &predicted), count_text(finding->cost, &cost));
    finding->advice = findings_keep(builder->list, &text);
}

/* Most of its divergence is at branches that jump back: lanes leave a loop one after another. */
static bool is_of_loop(const Trace *trace, const Finding *finding) {
    const TraceLaunch *launch = trace->launches[finding->launch];
    const PtxProgram *program = launch->program;
    uint64_t back = 0, all = 0;
    for (int pc = 0; pc < program->code_count; pc++) {
        PtxSourceLine at = metrics_line_of(program, pc);
        if (at.line != finding->access.line) continue;
        all += launch->counters[pc].divergent;
        if (program->code[pc].target >= 0 && program->code[pc].target <= pc)
            back += launch->counters[pc].divergent;
    }
    return all && 2 * back > all;
}

/* ---- which lanes split off ----------------------------------------------------------------------------- */

typedef enum SplitShape {
    SPLIT_SPACED,    /* lanes at one distance, as of `tid % 4 == 0` */
    SPLIT_FIRST,     /* the first or the last lanes, as of `tid < s` */
    SPLIT_IRREGULAR, /* any: it depends on data */
    SPLIT_SHAPES
} SplitShape;

/* At least two lanes, each as far from the next, and others between them. */
static bool is_spaced(uint32_t lanes) {
    if (!(lanes & (lanes - 1))) return false;
    int first = __builtin_ctz(lanes), distance = __builtin_ctz(lanes & (lanes - 1)) - first, next = first;
    for (uint32_t rest = lanes; rest; rest &= rest - 1, next += distance)
        if (__builtin_ctz(rest) != next) return false;
    return distance > 1;
}

static SplitShape shape_of(uint32_t taken, uint32_t mask) {
    uint32_t other = mask & ~taken;
    bool is_first =
        31 - __builtin_clz(taken) < __builtin_ctz(other) || 31 - __builtin_clz(other) < __builtin_ctz(taken);
    return is_first ? SPLIT_FIRST : is_spaced(taken) || is_spaced(other) ? SPLIT_SPACED : SPLIT_IRREGULAR;
}

/* The shape of most traced splits of the finding's line; SPLIT_SHAPES: none is traced. */
static SplitShape usual_shape(const Trace *trace, const Finding *finding) {
    int seen[SPLIT_SHAPES] = {0}, most = 0;
    SplitShape usual = SPLIT_SHAPES;
    const TraceLaunch *launch = trace->launches[finding->launch];
    TraceEvent event;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]) && i < MOST_EVENTS; i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            if (split_lanes(launch, &event) && finding_is_on_line(finding, launch, event.pc))
                seen[shape_of(event.taken, event.mask)]++;
        }
    for (int shape = 0; shape < SPLIT_SHAPES; shape++)
        if (seen[shape] > most) usual = (SplitShape)shape, most = seen[shape];
    return usual;
}

static const char *advice_of_split(const Trace *trace, const Finding *finding) {
    if (is_of_loop(trace, finding))
        return tr("give the lanes of a warp loops of about the same length: sort or bin the data, or "
                  "share it out");
    switch (usual_shape(trace, finding)) {
    case SPLIT_SPACED:
        return tr("let whole warps take the same path: choose the active threads by consecutive "
                  "indices, not by a remainder");
    case SPLIT_FIRST:
        return tr("the threads that run it are consecutive already, but less than a warp: do the last "
                  "steps of a warp with shuffles, without a branch");
    case SPLIT_IRREGULAR:
        return tr("data decides which lanes run it: sort or bin the data, or compute both ways and select");
    default:
        return tr("let whole warps take the same path");
    }
}

static void advise(const FindingsBuilder *builder, Finding *finding) {
    const Trace *trace = builder->trace;
    switch (finding->kind) {
    case FINDING_BANK_CONFLICT:
        finding->advice = tr("let the lanes of a warp access words in different banks: neighbouring lanes, "
                             "neighbouring words");
        if (!find_worst(trace, finding, excess_wavefronts)) break;
        if (finding->access.is_atomic)
            finding->advice =
                tr("a bank serves the lanes of an atomic one after another, also those on one word: "
                   "give each warp its own copy, or combine equal elements in registers first");
        advise_layout(builder, finding);
        break;
    case FINDING_UNCOALESCED:
        finding->advice =
            tr("let neighbouring lanes access neighbouring elements, starting at a multiple of 32 "
               "bytes; or go through shared memory");
        find_worst(trace, finding, excess_sectors);
        break;
    case FINDING_ATOMIC_CONFLICT:
        finding->advice = tr("combine the values of a warp first, and let one lane update the word");
        find_worst(trace, finding, shared_words);
        break;
    case FINDING_IDLE_WARPS:
        finding->advice = tr("give each thread more elements, and let warps that are done leave the loop");
        find_worst(trace, finding, barriers);
        break;
    case FINDING_NEEDLESS_BARRIER:
        finding->advice = tr("let one warp do the last steps with __syncwarp() or shuffles, after the loop");
        find_worst(trace, finding, barriers);
        break;
    default:
        finding->advice = advice_of_split(trace, finding);
        find_worst(trace, finding, split_lanes);
    }
}

void findings_add_advice(const FindingsBuilder *builder) {
    for (int i = 0; i < builder->list->count; i++)
        if (builder->list->items[i].severity == SEVERITY_SLOW) advise(builder, &builder->list->items[i]);
}
