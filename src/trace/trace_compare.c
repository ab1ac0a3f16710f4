/* Compares two traces, thread by thread (trace_compare.h). */
#include "trace/trace_compare.h"

#include "base/memory.h"
#include "trace/producer_rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct WarpEvents { /* events of one warp, decoded */
    TraceEvent *events;
    int count, capacity;
} WarpEvents;

typedef struct ThreadEvents { /* events of one of its lanes */
    const TraceEvent **events;
    int count, capacity;
} ThreadEvents;

enum { LONGEST_ROUND = 16 };

typedef struct Compared { /* one block on both sides */
    const TraceSide *side[2];
    const TraceLaunch *launch[2];
    const TraceBlock *block[2];
    WarpEvents warp[2];
    ThreadEvents thread[2];
    TraceComparison *out;
} Compared;

static void read_warp(const TraceBlock *block, int warp, WarpEvents *out) {
    TraceEvent event;
    out->count = 0;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read_header(block, i, &event);
        if (event.warp != warp) continue;
        array_reserve(out->events, out->count + 1, out->capacity);
        trace_block_read(block, i, &out->events[out->count++]);
    }
}

/* The buffer that `value` points into, or -1. */
static int pointed_buffer(const TraceSide *side, uint64_t value) {
    for (int i = 0; side->base && i < side->trace->buffer_count; i++)
        if (value - side->base[i] < side->trace->buffers[i].bytes) return i;
    return -1;
}

static bool is_same_value(const Compared *compared, int bytes, uint64_t a, uint64_t b) {
    if (a == b) return true;
    if (bytes != 8) return false;
    int buffer = pointed_buffer(compared->side[0], a);
    return buffer >= 0 && buffer == pointed_buffer(compared->side[1], b) &&
           a - compared->side[0]->base[buffer] == b - compared->side[1]->base[buffer];
}

static bool is_placed(const TraceSide *side, const TraceEvent *event, int lane) {
    return !trace_kind_is_buffer(event->kind) || !side->base || side->base[event->buffer[lane]];
}

/* A buffer's address is not always known (base 0): offsets then say nothing. */
static bool is_same_address(const Compared *compared, const TraceEvent *a, const TraceEvent *b, int lane) {
    if (a->buffer[lane] != b->buffer[lane] || trace_event_peer(a) != trace_event_peer(b)) return false;
    return a->offset[lane] == b->offset[lane] || !is_placed(compared->side[0], a, lane) ||
           !is_placed(compared->side[1], b, lane);
}

static bool is_same_lane(const Compared *compared, const TraceEvent *a, const TraceEvent *b, int lane) {
    if (a->pc != b->pc || a->kind != b->kind || a->interval != b->interval) return false;
    if (trace_kind_is_access(a->kind) && !is_same_address(compared, a, b, lane)) return false;
    if (a->kind == TRACE_BRANCH) return (a->taken >> lane & 1) == (b->taken >> lane & 1);
    if (!is_same_value(compared, a->element_bytes, a->operand[lane], b->operand[lane])) return false;
    for (int e = 0; a->has_result && e < a->element_count; e++)
        if (!is_same_value(compared, a->element_bytes, a->value[e][lane], b->value[e][lane])) return false;
    return true;
}

static void tell_event(const Compared *compared, int side, const TraceEvent *event, Text *out) {
    text_print(out, "%s: ", compared->side[side]->name);
    if (event)
        trace_event_print(compared->side[side]->trace, compared->launch[side], compared->block[side], event,
                          out);
    else
        text_add(out, "nothing more");
    while (out->length && out->data[out->length - 1] == '\n') out->data[--out->length] = 0;
}

static void tell_both(const Compared *compared, int launch, int warp, int lane, const TraceEvent *a,
                      const TraceEvent *b, Text *out) {
    text_print(out, "launch %d, block %" PRIu32 ", warp %d, lane %d:\n  ", launch,
               trace_block_linear(compared->block[0]), warp, lane);
    tell_event(compared, 0, a, out);
    text_add(out, "\n  ");
    tell_event(compared, 1, b, out);
    text_add(out, "\n");
}

/* ---- one thread ---- */

static bool same_place(const TraceEvent *a, const TraceEvent *b, int lane) {
    return a->pc == b->pc && a->interval == b->interval && a->buffer[lane] == b->buffer[lane] &&
           a->offset[lane] == b->offset[lane] && trace_event_peer(a) == trace_event_peer(b);
}

/* The last `period` events repeat the `period` events before them: an iteration of a loop that waits. */
static bool is_round(const TraceLaunch *launch, const ThreadEvents *thread, int period, int lane) {
    bool waits = false;
    for (int i = thread->count - period; i < thread->count; i++) {
        const TraceEvent *event = thread->events[i];
        bool harmless = event->kind == TRACE_BRANCH || event->is_load;
        if (!harmless || !same_place(event, thread->events[i - period], lane)) return false;
        waits |= event->is_load && trace_watches(launch->program->code[event->pc].instruction);
    }
    return waits;
}

/* How often a thread iterates a waiting loop depends on other threads: keeps the last iteration. Producers
 * drop iterations that a whole warp repeats (producer_rules.h). This is the looser rule for one thread, part
 * of what --verify calls equal: it ignores values, and lanes may have been in different masks. Having both
 * rules keeps a fault in one from hiding in the other. */
static void collapse(const TraceLaunch *launch, ThreadEvents *thread, int lane) {
    for (int period = 1; period <= LONGEST_ROUND && 2 * period <= thread->count; period++) {
        if (!is_round(launch, thread, period, lane)) continue;
        const TraceEvent **last = &thread->events[thread->count - period];
        memmove(last - period, last, (size_t)period * sizeof *last);
        thread->count -= period;
        return;
    }
}

static void list_lane(const TraceLaunch *launch, const WarpEvents *warp, int lane, ThreadEvents *out) {
    out->count = 0;
    for (int i = 0; i < warp->count; i++) {
        if (!(warp->events[i].mask >> lane & 1)) continue;
        array_push(out->events, out->count, out->capacity, &warp->events[i]);
        collapse(launch, out, lane);
    }
}

static void compare_lane(Compared *compared, int launch, int warp, int lane) {
    const ThreadEvents *thread = compared->thread;
    for (int side = 0; side < 2; side++)
        list_lane(compared->launch[side], &compared->warp[side], lane, &compared->thread[side]);
    for (int i = 0; i < thread[0].count || i < thread[1].count; i++) {
        const TraceEvent *a = i < thread[0].count ? thread[0].events[i] : NULL;
        const TraceEvent *b = i < thread[1].count ? thread[1].events[i] : NULL;
        if (!a || !b || !is_same_lane(compared, a, b, lane)) {
            if (compared->out->same)
                tell_both(compared, launch, warp, lane, a, b, &compared->out->difference);
            compared->out->same = false;
            return;
        }
        compared->out->events++;
        if (lane != __builtin_ctz(a->mask)) continue;
        compared->out->masks++;
        compared->out->equal_masks += a->mask == b->mask;
        if (a->mask != b->mask && !compared->out->other_mask.length)
            tell_both(compared, launch, warp, lane, a, b, &compared->out->other_mask);
    }
}

static void compare_block(Compared *compared, int launch) {
    const uint32_t *block = compared->launch[0]->block;
    int threads = (int)(block[0] * block[1] * block[2]);
    compared->out->blocks++;
    compared->out->threads += (uint64_t)threads;
    for (int warp = 0; warp * WARP_LANES < threads; warp++) {
        for (int side = 0; side < 2; side++) read_warp(compared->block[side], warp, &compared->warp[side]);
        for (int lane = 0; lane < WARP_LANES && warp * WARP_LANES + lane < threads; lane++)
            compare_lane(compared, launch, warp, lane);
    }
}

void trace_compare(const TraceSide *a, const TraceSide *b, TraceComparison *out) {
    *out = (TraceComparison){.same = true};
    Compared compared = {.side = {a, b}, .out = out};
    int launches =
        a->trace->launch_count < b->trace->launch_count ? a->trace->launch_count : b->trace->launch_count;
    if (a->trace->launch_count != b->trace->launch_count) {
        out->same = false;
        text_print(&out->difference, "%s has %d launches, %s %d\n", a->name, a->trace->launch_count, b->name,
                   b->trace->launch_count);
    }
    for (int l = 0; l < launches; l++) {
        compared.launch[0] = a->trace->launches[l];
        compared.launch[1] = b->trace->launches[l];
        for (int i = 0; i < compared.launch[0]->block_count; i++) {
            compared.block[0] = compared.launch[0]->blocks[i];
            compared.block[1] =
                trace_launch_find_block(compared.launch[1], trace_block_linear(compared.block[0]));
            if (compared.block[1]) compare_block(&compared, l);
        }
    }
    for (int side = 0; side < 2; side++) {
        free(compared.warp[side].events);
        free(compared.thread[side].events);
    }
}

void trace_comparison_done(TraceComparison *comparison) {
    text_done(&comparison->difference);
    text_done(&comparison->other_mask);
}
