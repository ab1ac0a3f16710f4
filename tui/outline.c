#include "outline.h"

#include "base/memory.h"
#include <stdlib.h>

static void outline_step(Outline *outline, int index, TraceEvent *event) {
    const Steps *steps = outline->steps;
    const Step *step = &steps->steps[index];
    OutlineStep *out = &outline->step[index];
    outline->has_events[step->pc] = true;
    for (int i = 0; i < step->count; i++) {
        int number = steps->events[step->first + i];
        trace_block_read_header(steps->block, number, event);
        if (i == 0) out->kind = (uint8_t)event->kind;
        out->lanes += (uint32_t)__builtin_popcount(event->mask);
        if (event->kind == TRACE_BRANCH && event->taken && event->taken != event->mask) out->diverges = true;
        if (event->kind != TRACE_SHARED_LOAD && event->kind != TRACE_SHARED_STORE) continue;
        trace_block_read(steps->block, number, event);
        uint64_t offsets[WARP_LANES] = {0};
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (event->mask >> lane & 1)
                offsets[lane] =
                    steps->launch->symbols[event->buffer[lane]].window_offset + event->offset[lane];
        SharedCost cost =
            access_shared_cost(event->kind == TRACE_SHARED_LOAD, event->width, event->mask, offsets);
        out->accesses++;
        out->wavefronts += (uint32_t)cost.wavefronts;
        out->ideal += (uint32_t)cost.ideal;
        if (cost.wavefronts > cost.ideal) out->conflicts = true;
    }
}

/* Groups the events by warp: `events` and `warp_begin`, then the two masks that look ahead. */
static void outline_warps(Outline *outline, const int *warp_of_event, int event_count, TraceEvent *event) {
    for (int i = 0; i < event_count; i++) outline->warp_begin[warp_of_event[i] + 1]++;
    for (int w = 0; w < outline->warp_count; w++) outline->warp_begin[w + 1] += outline->warp_begin[w];
    int *fill = memory_new((size_t)(outline->warp_count + 1) * sizeof *fill);
    memcpy(fill, outline->warp_begin, (size_t)(outline->warp_count + 1) * sizeof *fill);
    for (int i = 0; i < event_count; i++) outline->events[fill[warp_of_event[i]]++] = i;
    free(fill);
    for (int w = 0; w < outline->warp_count; w++) {
        uint32_t later = 0, barrier = 0;
        for (int i = outline->warp_begin[w + 1] - 1; i >= outline->warp_begin[w]; i--) {
            trace_block_read_header(outline->steps->block, outline->events[i], event);
            later |= event->mask;
            if (event->kind == TRACE_BARRIER) barrier = event->mask;
            outline->lanes_later[i] = later;
            outline->barrier_lanes[i] = barrier;
        }
    }
}

/* What the timeline asks of any range of steps, however long. */
static void outline_ranges(Outline *outline) {
    int count = outline->steps->step_count;
    outline->lanes_before = memory_new((size_t)(count + 1) * sizeof *outline->lanes_before);
    outline->conflict_from = memory_new((size_t)(count + 1) * sizeof *outline->conflict_from);
    outline->divergence_from = memory_new((size_t)(count + 1) * sizeof *outline->divergence_from);
    for (int i = 0; i < count; i++)
        outline->lanes_before[i + 1] = outline->lanes_before[i] + outline->step[i].lanes;
    outline->conflict_from[count] = outline->divergence_from[count] = count;
    for (int i = count - 1; i >= 0; i--) {
        outline->conflict_from[i] = outline->step[i].conflicts ? i : outline->conflict_from[i + 1];
        outline->divergence_from[i] = outline->step[i].diverges ? i : outline->divergence_from[i + 1];
    }
}

Outline *outline_new(const Steps *steps, const Trap *trap) {
    Outline *outline = memory_new(sizeof *outline);
    const TraceLaunch *launch = steps->launch;
    int event_count = trace_block_event_count(steps->block);
    outline->steps = steps;
    outline->trap = trap;
    outline->thread_count = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    outline->warp_count = (outline->thread_count + WARP_LANES - 1) / WARP_LANES;
    outline->step = memory_new((size_t)steps->step_count * sizeof *outline->step);
    outline->events = memory_new((size_t)event_count * sizeof *outline->events);
    outline->lanes_later = memory_new((size_t)event_count * sizeof *outline->lanes_later);
    outline->barrier_lanes = memory_new((size_t)event_count * sizeof *outline->barrier_lanes);
    outline->warp_begin = memory_new((size_t)(outline->warp_count + 1) * sizeof *outline->warp_begin);
    outline->sums = memory_new((size_t)launch->program->code_count * sizeof *outline->sums);
    outline->has_events = memory_new((size_t)launch->program->code_count * sizeof *outline->has_events);
    TraceEvent *event = memory_new(sizeof *event);
    int *warp_of_event = memory_new((size_t)event_count * sizeof *warp_of_event);
    for (int i = 0; i < event_count; i++) {
        trace_block_read_header(steps->block, i, event);
        warp_of_event[i] = event->warp;
    }
    outline_warps(outline, warp_of_event, event_count, event);
    for (int i = 0; i < steps->step_count; i++) outline_step(outline, i, event);
    outline_ranges(outline);
    free(warp_of_event);
    free(event);
    return outline;
}

void outline_free(Outline *outline) {
    if (!outline) return;
    free(outline->step);
    free(outline->events);
    free(outline->lanes_later);
    free(outline->barrier_lanes);
    free(outline->warp_begin);
    free(outline->lanes_before);
    free(outline->conflict_from);
    free(outline->divergence_from);
    free(outline->pc_totals);
    free(outline->interval_totals);
    free(outline->has_events);
    free(outline->sums);
    free(outline->tally);
    free(outline->progress);
    free(outline);
}

/* Place in `events` of the warp's first event at `step` or later. */
static int warp_position(const Outline *outline, int step, int warp) {
    int low = outline->warp_begin[warp], high = outline->warp_begin[warp + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (outline->steps->step_of_event[outline->events[middle]] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t existing_lanes(const Outline *outline, int warp) {
    int threads = outline->thread_count - warp * WARP_LANES;
    return threads >= WARP_LANES ? 0xffffffffu : threads > 0 ? (1u << threads) - 1 : 0;
}

/* The turn of the schedule at which a step is over: its last event's. */
static uint32_t step_turn(const Steps *steps, const Step *step) {
    TraceEvent event;
    uint32_t turn = 0;
    for (int i = 0; i < step->count; i++) {
        trace_block_read_header(steps->block, steps->events[step->first + i], &event);
        if (event.turn > turn) turn = event.turn;
    }
    return turn;
}

/* What became of lanes that have no events any more. */
static void tell_end(const Outline *outline, int warp, WarpState *state) {
    if (!outline->trap) {
        state->exited = state->exists;
        return;
    }
    if (outline->trap->warp == warp) state->trapped = outline->trap->lanes & state->exists;
    state->stopped = state->exists & ~state->trapped;
}

WarpState outline_warp_state(const Outline *outline, int step, int warp) {
    const Steps *steps = outline->steps;
    WarpState state = {.exists = existing_lanes(outline, warp), .event = -1, .next_pc = -1};
    if (warp < 0 || warp >= outline->warp_count || step < 0 || step >= steps->step_count) return state;
    int begin = outline->warp_begin[warp], end = outline->warp_begin[warp + 1];
    int here = warp_position(outline, step, warp), next = here;
    TraceEvent event;
    for (; next < end && steps->step_of_event[outline->events[next]] == step; next++) {
        trace_block_read_header(steps->block, outline->events[next], &event);
        state.active |= event.mask;
        if (state.event < 0) state.event = outline->events[next];
    }
    /* A lane has exited when its warp has no events left, or goes on to a barrier that does not wait for it.
     */
    if (here == end)
        tell_end(outline, warp, &state);
    else if (outline->barrier_lanes[here])
        state.exited = state.exists & ~outline->lanes_later[here] & ~outline->barrier_lanes[here];
    if (next < end) {
        trace_block_read_header(steps->block, outline->events[next], &event);
        state.next_pc = event.pc;
    }
    if (state.active) return state;
    /* It waits if it has arrived, and the steps shown have not left the interval that the barrier closes. */
    if (here > begin) {
        TraceEvent before;
        trace_block_read_header(steps->block, outline->events[here - 1], &before);
        if (before.kind == TRACE_BARRIER && before.interval >= steps->steps[step].interval)
            state.waiting = before.mask;
    }
    if (!state.waiting && next < end && event.kind == TRACE_BARRIER &&
        event.turn <= step_turn(steps, &steps->steps[step]))
        state.waiting = event.mask;
    state.exited &= ~state.waiting;
    state.stopped &= ~state.waiting;
    return state;
}

int outline_warp_event(const Outline *outline, int step, int warp, int lane) {
    const Steps *steps = outline->steps;
    if (warp < 0 || warp >= outline->warp_count) return -1;
    int found = -1;
    TraceEvent event;
    for (int i = warp_position(outline, step, warp); i < outline->warp_begin[warp + 1]; i++) {
        if (steps->step_of_event[outline->events[i]] != step) break;
        if (found < 0) found = outline->events[i];
        trace_block_read_header(steps->block, outline->events[i], &event);
        if (event.mask >> lane & 1) return outline->events[i];
    }
    return found;
}

int outline_neighbour(const Outline *outline, int event, int warp, int by) {
    int low = outline->warp_begin[warp], high = outline->warp_begin[warp + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (outline->events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    low += by;
    return low >= outline->warp_begin[warp] && low < outline->warp_begin[warp + 1] ? outline->events[low]
                                                                                   : -1;
}

const OutlineSums *outline_sums(Outline *outline, int first, int count) {
    if (outline->sums_first == first && outline->sums_count == count) return outline->sums;
    const Steps *steps = outline->steps;
    memset(outline->sums, 0, (size_t)steps->launch->program->code_count * sizeof *outline->sums);
    for (int i = first; i < first + count; i++) {
        const OutlineStep *step = &outline->step[i];
        OutlineSums *sums = &outline->sums[steps->steps[i].pc];
        sums->events += (uint64_t)steps->steps[i].count;
        sums->lanes += step->lanes;
        sums->accesses += step->accesses;
        sums->wavefronts += step->wavefronts;
        sums->ideal += step->ideal;
    }
    outline->sums_first = first;
    outline->sums_count = count;
    return outline->sums;
}

static void gather_totals(Outline *outline) {
    const Steps *steps = outline->steps;
    if (outline->pc_totals) return;
    outline->pc_totals = memory_new((size_t)steps->launch->program->code_count * sizeof *outline->pc_totals);
    outline->interval_totals =
        memory_new((size_t)steps->interval_step_count * sizeof *outline->interval_totals);
    for (int i = 0; i < steps->step_count; i++) {
        Totals totals = {0};
        metrics_of_step(steps, i, &totals);
        totals_add(&outline->pc_totals[steps->steps[i].pc], &totals);
        totals_add(&outline->interval_totals[steps->steps[i].interval_step], &totals);
    }
}

const Totals *outline_pc_totals(Outline *outline, int pc) {
    gather_totals(outline);
    return &outline->pc_totals[pc];
}

const Totals *outline_interval_totals(Outline *outline, int interval_step) {
    gather_totals(outline);
    return &outline->interval_totals[interval_step];
}
