#include "trace/check.h"

#include "base/memory.h"
#include <stdlib.h>

struct EventCheck {
    const Trace *trace;
    const TraceLaunch *launch;
    uint32_t *kinds; /* [pc] bit k: it may make events of kind k */
    uint32_t threads;
};

static uint32_t bit(TraceKind kind) {
    return UINT32_C(1) << kind;
}

static uint32_t kinds_of(const PtxInstruction *instruction) {
    TraceKind kind = trace_kind_of(instruction);
    uint32_t kinds = bit(kind);
    if (trace_is_generic(instruction))
        kinds |= bit(trace_kind_in_space(kind, PTX_SPACE_SHARED)) |
                 bit(trace_kind_in_space(kind, PTX_SPACE_LOCAL));
    kinds |= bit(trace_written_kind_of(instruction));
    return kinds & ~bit(TRACE_NOT_RECORDED);
}

EventCheck *event_check_new(const Trace *trace, const TraceLaunch *launch) {
    EventCheck *check = memory_new(sizeof *check);
    const PtxProgram *program = launch->program;
    check->trace = trace;
    check->launch = launch;
    check->threads = launch->block[0] * launch->block[1] * launch->block[2];
    check->kinds = memory_new((size_t)program->code_count * sizeof *check->kinds);
    for (int pc = 0; pc < program->code_count; pc++)
        check->kinds[pc] = kinds_of(program->code[pc].instruction);
    return check;
}

void event_check_free(EventCheck *check) {
    if (!check) return;
    free(check->kinds);
    free(check);
}

/* The existing lanes of the warp. */
static uint32_t lanes_of(const EventCheck *check, int warp) {
    if (warp < 0 || (uint32_t)warp >= (check->threads + WARP_LANES - 1) / WARP_LANES) return 0;
    uint32_t left = check->threads - (uint32_t)warp * WARP_LANES;
    return left >= WARP_LANES ? ~UINT32_C(0) : (UINT32_C(1) << left) - 1;
}

static bool is_power_of_two(int size) {
    return size > 0 && (size & (size - 1)) == 0;
}

static bool check_sizes(const TraceEvent *event) {
    if (event->element_bytes > 16 || event->element_count > TRACE_MAX_ELEMENTS) return false;
    if (!trace_kind_is_access(event->kind)) return event->width >= 0 && event->width <= 32;
    return is_power_of_two(event->width) && event->width <= 32;
}

static bool check_place(const EventCheck *check, const TraceEvent *event, int lane) {
    const TraceLaunch *launch = check->launch;
    uint64_t offset = event->offset[lane], width = (uint64_t)event->width;
    int buffer = event->buffer[lane];
    if (trace_kind_is_shared(event->kind))
        return buffer < launch->symbol_count && launch->symbols[buffer].space == PTX_SPACE_SHARED &&
               offset < TRACE_WINDOW_LIMIT;
    if (trace_kind_is_local(event->kind))
        return buffer < launch->symbol_count && launch->symbols[buffer].space == PTX_SPACE_LOCAL &&
               offset < UINT32_MAX;
    return buffer < check->trace->buffer_count && width <= check->trace->buffers[buffer].bytes &&
           offset <= check->trace->buffers[buffer].bytes - width;
}

/* Another block's shared memory must belong to the same cluster. */
static bool check_peer(const EventCheck *check, const TraceEvent *event) {
    return trace_event_peer(event) < (int)trace_cluster_blocks(check->launch);
}

static bool check_lanes(const EventCheck *check, const TraceEvent *event) {
    bool is_access = trace_kind_is_access(event->kind);
    if (!is_access && event->kind != TRACE_SHUFFLE) return true;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (is_access && !check_place(check, event, lane)) return false;
        if (!is_access && (event->source[lane] < -1 || event->source[lane] >= WARP_LANES)) return false;
    }
    return true;
}

bool event_check(const EventCheck *check, const TraceEvent *event) {
    return event->pc >= 0 && event->pc < check->launch->program->code_count &&
           check->kinds[event->pc] >> event->kind & 1 && event->mask &&
           !(event->mask & ~lanes_of(check, event->warp)) && !(event->taken & ~event->mask) &&
           check_sizes(event) && check_peer(check, event) && check_lanes(check, event);
}
