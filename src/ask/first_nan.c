/* The first NaN that a traced block stores, where all that it loaded so far was finite.
 *
 * Or the first infinite result: elsewhere an infinity is where a search for an extreme begins.
 *
 * A NaN spreads from where it is made to all that is made of it, so the first one is what to look at. It may
 * be meant: one sentence says it, and it is no finding. */
#include "ask/questions.h"

#include <math.h>
#include <string.h>

/* The type of the values of an event; NO_TYPE: no floats, or not known. */
static PtxType type_of(const Trace *trace, const TraceLaunch *launch, const TraceEvent *event, int lane) {
    const PtxInstruction *in = launch->program->code[event->pc].instruction;
    PtxType type = in->type_count ? in->types[0] : PTX_NO_TYPE;
    bool is_buffer = trace_kind_is_buffer(event->kind) && event->buffer[lane] < trace->buffer_count;
    if (!ptx_type_is_float(type) && is_buffer) type = trace->buffers[event->buffer[lane]].type;
    bool fits =
        type != PTX_NO_TYPE && ptx_type_is_float(type) && ptx_type_bytes(type) == event->element_bytes;
    return fits && type != PTX_F16X2 && type != PTX_BF16X2 && type != PTX_F32X2 ? type : PTX_NO_TYPE;
}

/* The first lane with a NaN, or, with `or_infinite`, with an infinity; -1: none. */
static int find_lane(const Trace *trace, const TraceLaunch *launch, const TraceEvent *event,
                     bool or_infinite) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int i = 0; (event->mask >> lane & 1) && i < event->element_count; i++) {
            PtxType type = type_of(trace, launch, event, lane);
            if (type == PTX_NO_TYPE) continue;
            double x = plan_element(type, &event->value[i][lane], 0);
            if (isnan(x) || (or_infinite && isinf(x))) return lane;
        }
    return -1;
}

static bool is_load_of_buffer(const TraceEvent *event) {
    return trace_kind_is_buffer(event->kind) && event->is_load && event->has_result;
}

static bool is_store(const TraceEvent *event) {
    return event->kind == TRACE_GLOBAL_STORE || event->kind == TRACE_SHARED_STORE;
}

static void say(const Trace *trace, const TraceLaunch *launch, const TraceEvent *event, int lane, Text *out) {
    const char *what = find_lane(trace, launch, event, false) >= 0 ? "NaN" : "infinity";
    int line = launch->program->code[event->pc].line.line;
    if (line)
        text_print(out, "The first %s that is made of finite input is stored in line %d", what, line);
    else
        text_print(out, "The first %s that is made of finite input is stored by instruction %d", what,
                   event->pc);
    if (event->kind == TRACE_GLOBAL_STORE && event->buffer[lane] < trace->buffer_count)
        text_print(out, ", to %s[%llu]", trace->buffers[event->buffer[lane]].name,
                   (unsigned long long)(event->offset[lane] / (uint64_t)event->element_bytes));
    text_print(out, ", by lane %d of warp %d.", lane, event->warp);
}

/* False: the search is over. */
static bool look_at(const Trace *trace, const TraceLaunch *launch, const TraceBlock *block, Text *out) {
    TraceEvent event;
    bool has_loaded = false;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read(block, i, &event);
        if (is_load_of_buffer(&event) && find_lane(trace, launch, &event, true) >= 0) return false;
        has_loaded |= is_load_of_buffer(&event);
        bool is_result = event.kind == TRACE_GLOBAL_STORE && has_loaded;
        int lane = is_store(&event) ? find_lane(trace, launch, &event, is_result) : -1;
        if (lane < 0) continue;
        say(trace, launch, &event, lane, out);
        return false;
    }
    return true;
}

const char *ask_first_nan(Session *session) {
    SessionFindings *findings = &session->findings;
    if (findings->has_first_nan) return findings->first_nan;
    findings->has_first_nan = true;
    const Trace *trace = session->run->trace;
    Text sentence = {0};
    bool goes_on = true;
    for (int l = 0; goes_on && l < trace->launch_count; l++)
        for (int b = 0; goes_on && b < trace->launches[l]->block_count; b++)
            goes_on = look_at(trace, trace->launches[l], trace->launches[l]->blocks[b], &sentence);
    if (sentence.length)
        findings->first_nan = arena_copy_text(&session->arena, text_string(&sentence), sentence.length);
    text_done(&sentence);
    return findings->first_nan;
}
