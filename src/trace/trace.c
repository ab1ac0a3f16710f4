/* The containers of a trace: launches, buffers, traps, and which blocks are traced. */
#include "trace/trace.h"

#include "base/memory.h"
#include "trace/block.h"
#include <stdlib.h>

enum { MOST_TRAPS = 64 };

SharedCost trace_shared_cost(const PtxProgram *program, const TraceEvent *event,
                             const uint64_t offsets[WARP_LANES], uint16_t wavefront_of_lane[WARP_LANES]) {
    bool is_load = event->kind == TRACE_SHARED_LOAD;
    if (event->kind == TRACE_SHARED_ATOMIC)
        return access_atomic_cost(program->code[event->pc].atomic_form, event->width, event->mask, offsets,
                                  wavefront_of_lane);
    return wavefront_of_lane
               ? access_shared_schedule(is_load, event->width, event->mask, offsets, wavefront_of_lane)
               : access_shared_cost(is_load, event->width, event->mask, offsets);
}

Trace *trace_new(const char *producer) {
    Trace *trace = memory_new(sizeof *trace);
    trace->producer = arena_copy_string(&trace->arena, producer);
    return trace;
}

void trace_cut_printed(Text *printed) {
    if (printed->length <= TRACE_PRINTED_BYTES) return;
    printed->length = TRACE_PRINTED_BYTES + 1;
    printed->data[printed->length] = 0;
}

static void launch_free(TraceLaunch *launch) {
    for (int i = 0; i < launch->block_count; i++) trace_block_free(launch->blocks[i]);
    for (int i = 0; i < launch->other_count; i++) trace_block_free(launch->others[i]);
    free(launch->blocks);
    free(launch->others);
    free(launch->counters);
    free(launch);
}

void trace_free(Trace *trace) {
    if (!trace) return;
    for (int i = 0; i < trace->launch_count; i++) launch_free(trace->launches[i]);
    free(trace->launches);
    free(trace->buffers);
    free(trace->traps);
    text_done(&trace->printed);
    arena_done(&trace->arena);
    free(trace);
}

/* Short lists below grow one by one; lists that may be long double. Their capacity follows from their count,
 * so it is not kept. */
static bool is_power_of_two(int count) {
    return (count & (count - 1)) == 0;
}

static void *grown(void *items, int count, size_t item_bytes) {
    if (!is_power_of_two(count)) return items;
    return memory_resize(items, (size_t)(count ? count * 2 : 1) * item_bytes);
}

TraceLaunch *trace_add_launch(Trace *trace, const Launch *launch) {
    TraceLaunch *traced = memory_new(sizeof *traced);
    traced->program = launch->program;
    traced->name = "";
    memcpy(traced->grid, launch->grid, sizeof traced->grid);
    memcpy(traced->block, launch->block, sizeof traced->block);
    launch_cluster(launch, traced->cluster);
    traced->dynamic_shared_bytes = launch->dynamic_shared_bytes;
    traced->cooperative = launch->cooperative;
    traced->counters = memory_new((size_t)launch->program->code_count * sizeof *traced->counters);
    trace->launches = grown(trace->launches, trace->launch_count, sizeof *trace->launches);
    trace->launches[trace->launch_count++] = traced;
    return traced;
}

int trace_add_buffer(Trace *trace, const char *name, uint64_t bytes, PtxType type) {
    trace->buffers = grown(trace->buffers, trace->buffer_count, sizeof *trace->buffers);
    trace->buffers[trace->buffer_count] =
        (TraceBuffer){.name = arena_copy_string(&trace->arena, name), .bytes = bytes, .type = type};
    return trace->buffer_count++;
}

void trace_add_trap(Trace *trace, const Trap *trap) {
    if (trace->trap_count == MOST_TRAPS) return;
    trace->traps = grown(trace->traps, trace->trap_count, sizeof *trace->traps);
    Trap *copy = &trace->traps[trace->trap_count++];
    *copy = *trap;
    if (trap->detail) copy->detail = arena_copy_string(&trace->arena, trap->detail);
}

/* The index of `linear_block`, or where to insert it. */
static int place_of(const TraceLaunch *launch, uint32_t linear_block) {
    int low = 0, high = launch->block_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (trace_block_linear(launch->blocks[middle]) < linear_block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void trace_launch_add_block(TraceLaunch *launch, TraceBlock *block) {
    int place = place_of(launch, trace_block_linear(block));
    launch->blocks = grown(launch->blocks, launch->block_count, sizeof *launch->blocks);
    memmove(launch->blocks + place + 1, launch->blocks + place,
            (size_t)(launch->block_count - place) * sizeof *launch->blocks);
    launch->blocks[place] = block;
    launch->block_count++;
    launch->dropped += trace_block_dropped(block);
}

void trace_launch_add_other(TraceLaunch *launch, TraceBlock *block) {
    launch->others = grown(launch->others, launch->other_count, sizeof *launch->others);
    launch->others[launch->other_count++] = block;
}

void trace_launch_take_others(TraceLaunch *launch, TraceLaunch *from) {
    int kept = 0;
    for (int i = 0; i < from->block_count; i++)
        if (trace_launch_find_block(launch, trace_block_linear(from->blocks[i])))
            from->blocks[kept++] = from->blocks[i];
        else
            trace_launch_add_other(launch, from->blocks[i]);
    from->block_count = kept;
}

const TraceBlock *trace_launch_find_block(const TraceLaunch *launch, uint32_t linear_block) {
    int place = place_of(launch, linear_block);
    if (place == launch->block_count || trace_block_linear(launch->blocks[place]) != linear_block)
        return NULL;
    return launch->blocks[place];
}

/* ---- questions about all launches ---------------------------------------------------------------------- */

bool trace_has_fault(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind) || trap_kind_is_dropped(trace->traps[i].kind))
            return true;
    return false;
}

bool trace_has_fatal_trap(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind)) return true;
    return false;
}

bool trace_is_stopped(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind)) return trace->traps[i].kind == TRAP_NOT_EMULATED;
    return false;
}

uint64_t trace_count_instructions(const Trace *trace) {
    uint64_t count = 0;
    for (int i = 0; i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        for (int pc = 0; pc < launch->program->code_count; pc++) count += launch->counters[pc].executions;
    }
    return count;
}

uint64_t trace_count_atomics(const Trace *trace) {
    uint64_t count = 0;
    for (int i = 0; i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        for (int pc = 0; pc < launch->program->code_count; pc++) {
            const char *name = launch->program->code[pc].instruction->name;
            if (!strcmp(name, "atom") || !strcmp(name, "red")) count += launch->counters[pc].lanes;
        }
    }
    return count;
}
