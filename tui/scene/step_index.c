#include "tui/scene/step_index.h"
#include "metrics/totals.h"

#include <stdlib.h>

/* The parts of an event's header that later passes need: decoding it takes as long as all other work on the
 * event. */
typedef struct Header {
    uint32_t mask;
    uint16_t warp;
    bool is_barrier;
} Header;

static void add_shared_cost(StepIndex *step_index, int number, TraceEvent *event) {
    const Steps *steps = step_index->steps;
    StepIndexEntry *out = &step_index->step[steps->step_of_event[number]];
    uint64_t offsets[WARP_LANES] = {0};
    trace_block_read_places(steps->block, number, event);
    if (trace_event_peer(event) >= 0) return;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (event->mask >> lane & 1)
            offsets[lane] = steps->launch->symbols[event->buffer[lane]].window_offset + event->offset[lane];
    SharedCost cost = trace_shared_cost(steps->launch->program, event, offsets, NULL);
    out->accesses++;
    out->wavefronts += (uint32_t)cost.wavefronts;
    out->ideal += (uint32_t)cost.ideal;
    if (cost.wavefronts > cost.ideal) out->conflicts = step_index->has_conflicts[event->pc] = true;
}

/* Adds every event to its step. Returns [event], which the caller owns. */
static Header *read_events(StepIndex *step_index, int event_count) {
    const Steps *steps = step_index->steps;
    Header *headers = memory_new(((size_t)event_count + 1) * sizeof *headers);
    TraceEvent *event = memory_new(sizeof *event);
    for (int i = 0; i < event_count; i++) {
        trace_block_read_header(steps->block, i, event);
        headers[i] = (Header){event->mask, (uint16_t)event->warp, event->kind == TRACE_BARRIER};
        int step = steps->step_of_event[i];
        StepIndexEntry *out = &step_index->step[step];
        step_index->has_events[event->pc] = true;
        if (steps->events[steps->steps[step].first] == i) out->kind = (uint8_t)event->kind;
        out->lanes += (uint32_t)__builtin_popcount(event->mask);
        if (event->kind == TRACE_BRANCH && event->taken && event->taken != event->mask) out->diverges = true;
        if (event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_SHARED_STORE ||
            event->kind == TRACE_SHARED_ATOMIC)
            add_shared_cost(step_index, i, event);
    }
    free(event);
    return headers;
}

StepIndex *step_index_new(const Steps *steps, const Trap *trap) {
    StepIndex *step_index = memory_new(sizeof *step_index);
    const TraceLaunch *launch = steps->launch;
    int event_count = trace_block_event_count(steps->block);
    step_index->steps = steps;
    step_index->trap = trap;
    step_index->thread_count = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    step_index->warp_count = (step_index->thread_count + WARP_LANES - 1) / WARP_LANES;
    step_index->step = memory_new((size_t)steps->step_count * sizeof *step_index->step);
    step_index->events = memory_new((size_t)event_count * sizeof *step_index->events);
    step_index->lanes_later = memory_new((size_t)event_count * sizeof *step_index->lanes_later);
    step_index->barrier_lanes = memory_new((size_t)event_count * sizeof *step_index->barrier_lanes);
    step_index->warp_begin =
        memory_new((size_t)(step_index->warp_count + 1) * sizeof *step_index->warp_begin);
    step_index->sums = memory_new((size_t)launch->program->code_count * sizeof *step_index->sums);
    step_index->has_events = memory_new((size_t)launch->program->code_count * sizeof *step_index->has_events);
    step_index->has_conflicts =
        memory_new((size_t)launch->program->code_count * sizeof *step_index->has_conflicts);
    Header *headers = read_events(step_index, event_count);
    /* Groups the events by warp: `events` and `warp_begin`; then what changes from one to the next, and the
     * two masks that look ahead. */
    for (int i = 0; i < event_count; i++) step_index->warp_begin[headers[i].warp + 1]++;
    for (int w = 0; w < step_index->warp_count; w++)
        step_index->warp_begin[w + 1] += step_index->warp_begin[w];
    int *fill = memory_new((size_t)(step_index->warp_count + 1) * sizeof *fill);
    memcpy(fill, step_index->warp_begin, (size_t)(step_index->warp_count + 1) * sizeof *fill);
    for (int i = 0; i < event_count; i++) step_index->events[fill[headers[i].warp]++] = i;
    free(fill);
    for (int w = 0; w < step_index->warp_count; w++) {
        uint32_t later = 0, barrier = 0;
        for (int i = step_index->warp_begin[w] + 1; i < step_index->warp_begin[w + 1]; i++) {
            int event = step_index->events[i];
            if (headers[event].mask == headers[step_index->events[i - 1]].mask) continue;
            step_index->step[step_index->steps->step_of_event[event]].changes_lanes = true;
        }
        for (int i = step_index->warp_begin[w + 1] - 1; i >= step_index->warp_begin[w]; i--) {
            const Header *header = &headers[step_index->events[i]];
            later |= header->mask;
            if (header->is_barrier) barrier = header->mask;
            step_index->lanes_later[i] = later;
            step_index->barrier_lanes[i] = barrier;
        }
    }
    /* For the timeline, which asks about ranges of steps of any length. */
    int count = step_index->steps->step_count;
    step_index->lanes_before = memory_new((size_t)(count + 1) * sizeof *step_index->lanes_before);
    step_index->conflict_from = memory_new((size_t)(count + 1) * sizeof *step_index->conflict_from);
    step_index->divergence_from = memory_new((size_t)(count + 1) * sizeof *step_index->divergence_from);
    for (int i = 0; i < count; i++)
        step_index->lanes_before[i + 1] = step_index->lanes_before[i] + step_index->step[i].lanes;
    step_index->conflict_from[count] = step_index->divergence_from[count] = count;
    for (int i = count - 1; i >= 0; i--) {
        step_index->conflict_from[i] = step_index->step[i].conflicts ? i : step_index->conflict_from[i + 1];
        step_index->divergence_from[i] =
            step_index->step[i].diverges ? i : step_index->divergence_from[i + 1];
    }
    free(headers);
    return step_index;
}

void step_index_free(StepIndex *step_index) {
    if (!step_index) return;
    free(step_index->step);
    free(step_index->events);
    free(step_index->lanes_later);
    free(step_index->barrier_lanes);
    free(step_index->warp_begin);
    free(step_index->lanes_before);
    free(step_index->conflict_from);
    free(step_index->divergence_from);
    free(step_index->pc_totals);
    free(step_index->interval_totals);
    free(step_index->has_events);
    free(step_index->has_conflicts);
    free(step_index->sums);
    free(step_index->running_totals);
    free(step_index->progress);
    free(step_index);
}

/* The index in `events` of the warp's first event whose key is `least` or more. Keys ascend; NULL: the event
 * itself. */
static int find_position(const StepIndex *step_index, const int *keys, int least, int warp) {
    int low = step_index->warp_begin[warp], high = step_index->warp_begin[warp + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        int event = step_index->events[middle];
        if ((keys ? keys[event] : event) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t existing_lanes(const StepIndex *step_index, int warp) {
    int threads = step_index->thread_count - warp * WARP_LANES;
    return threads >= WARP_LANES ? 0xffffffffu : threads > 0 ? (1u << threads) - 1 : 0;
}

/* The turn of the schedule at which a step ends: that of its last event. */
static uint32_t step_turn(const Steps *steps, const Step *step) {
    TraceEvent event;
    uint32_t turn = 0;
    for (int i = 0; i < step->count; i++) {
        trace_block_read_header(steps->block, steps->events[step->first + i], &event);
        if (event.turn > turn) turn = event.turn;
    }
    return turn;
}

/* The state of lanes without further events. */
static void mark_ended(const StepIndex *step_index, int warp, WarpState *state) {
    if (!step_index->trap) {
        state->exited = state->exists;
        return;
    }
    if (step_index->trap->warp == warp) state->trapped = step_index->trap->lanes & state->exists;
    state->stopped = state->exists & ~state->trapped;
}

/* Warps that have arrived at the cluster's barrier with `wait` wait there while any of the block has not. The
 * trace of this block does not show when other blocks arrive. */
static bool waits_for_block(const StepIndex *step_index, int step, const TraceEvent *wait) {
    const Steps *steps = step_index->steps;
    for (int warp = 0; warp < step_index->warp_count; warp++)
        for (int i = find_position(step_index, step_index->steps->step_of_event, step, warp);
             i < step_index->warp_begin[warp + 1]; i++) {
            TraceEvent event;
            trace_block_read_header(steps->block, step_index->events[i], &event);
            if (trace_event_is_cluster_wait(&event) && event.pc == wait->pc &&
                event.interval == wait->interval && event.occurrence == wait->occurrence)
                return true;
        }
    return false;
}

WarpState step_index_warp_state(const StepIndex *step_index, int step, int warp) {
    const Steps *steps = step_index->steps;
    WarpState state = {.exists = existing_lanes(step_index, warp), .event = -1, .next_pc = -1};
    if (warp < 0 || warp >= step_index->warp_count || step < 0 || step >= steps->step_count) return state;
    int begin = step_index->warp_begin[warp], end = step_index->warp_begin[warp + 1];
    int here = find_position(step_index, step_index->steps->step_of_event, step, warp), next = here;
    TraceEvent event;
    for (; next < end && steps->step_of_event[step_index->events[next]] == step; next++) {
        trace_block_read_header(steps->block, step_index->events[next], &event);
        state.active |= event.mask;
        if (state.event < 0) state.event = step_index->events[next];
    }
    /* A lane has exited if its warp has no events left, or goes on to a barrier that does not wait for it. */
    if (here == end)
        mark_ended(step_index, warp, &state);
    else if (step_index->barrier_lanes[here])
        state.exited = state.exists & ~step_index->lanes_later[here] & ~step_index->barrier_lanes[here];
    if (next < end) {
        trace_block_read_header(steps->block, step_index->events[next], &event);
        state.next_pc = event.pc;
    }
    if (state.active) return state;
    /* It waits if it has arrived, and the step shown is still in the interval that the barrier ends. */
    if (here > begin) {
        TraceEvent before;
        trace_block_read_header(steps->block, step_index->events[here - 1], &before);
        if (before.kind == TRACE_BARRIER && before.interval >= steps->steps[step].interval)
            state.waiting = before.mask;
        if (trace_event_is_cluster_wait(&before) && waits_for_block(step_index, step, &before))
            state.waiting = before.mask;
    }
    if (!state.waiting && next < end && event.kind == TRACE_BARRIER &&
        event.turn <= step_turn(steps, &steps->steps[step]))
        state.waiting = event.mask;
    state.exited &= ~state.waiting;
    state.stopped &= ~state.waiting;
    return state;
}

int step_index_warp_event(const StepIndex *step_index, int step, int warp, int lane) {
    const Steps *steps = step_index->steps;
    if (warp < 0 || warp >= step_index->warp_count) return -1;
    int found = -1;
    TraceEvent event;
    for (int i = find_position(step_index, step_index->steps->step_of_event, step, warp);
         i < step_index->warp_begin[warp + 1]; i++) {
        if (steps->step_of_event[step_index->events[i]] != step) break;
        if (found < 0) found = step_index->events[i];
        trace_block_read_header(steps->block, step_index->events[i], &event);
        if (event.mask >> lane & 1) return step_index->events[i];
    }
    return found;
}

int step_index_neighbour(const StepIndex *step_index, int event, int warp, int by) {
    int at = find_position(step_index, NULL, event, warp) + by;
    bool is_of_warp = at >= step_index->warp_begin[warp] && at < step_index->warp_begin[warp + 1];
    return is_of_warp ? step_index->events[at] : -1;
}

const StepIndexSums *step_index_sums(StepIndex *step_index, int first, int count) {
    if (step_index->sums_first == first && step_index->sums_count == count) return step_index->sums;
    const Steps *steps = step_index->steps;
    memset(step_index->sums, 0, (size_t)steps->launch->program->code_count * sizeof *step_index->sums);
    for (int i = first; i < first + count; i++) {
        const StepIndexEntry *step = &step_index->step[i];
        StepIndexSums *sums = &step_index->sums[steps->steps[i].pc];
        sums->events += (uint64_t)steps->steps[i].count;
        sums->lanes += step->lanes;
        sums->accesses += step->accesses;
        sums->wavefronts += step->wavefronts;
        sums->ideal += step->ideal;
    }
    step_index->sums_first = first;
    step_index->sums_count = count;
    return step_index->sums;
}

static void gather_totals(StepIndex *step_index) {
    const Steps *steps = step_index->steps;
    if (step_index->pc_totals) return;
    step_index->pc_totals =
        memory_new((size_t)steps->launch->program->code_count * sizeof *step_index->pc_totals);
    step_index->interval_totals =
        memory_new((size_t)steps->interval_step_count * sizeof *step_index->interval_totals);
    for (int i = 0; i < steps->step_count; i++) {
        Totals totals = {0};
        metrics_of_step(steps, i, &totals);
        totals_add(&step_index->pc_totals[steps->steps[i].pc], &totals);
        totals_add(&step_index->interval_totals[steps->steps[i].interval_step], &totals);
    }
}

const Totals *step_index_pc_totals(StepIndex *step_index, int pc) {
    gather_totals(step_index);
    return &step_index->pc_totals[pc];
}

const Totals *step_index_interval_totals(StepIndex *step_index, int interval_step) {
    gather_totals(step_index);
    return &step_index->interval_totals[interval_step];
}

/* ---- running totals ------------------------------------------------------------------------------------ */

enum { SPACING = 64 };

void running_totals_at(StepIndex *step_index, int step, Totals *out) {
    *out = (Totals){0};
    if (step < 0 || step >= step_index->steps->step_count) return;
    if (!step_index->running_totals) {
        int count = step_index->steps->step_count / SPACING + 1;
        step_index->running_totals = memory_new((size_t)count * sizeof *step_index->running_totals);
        for (int i = 1; i < count; i++) {
            metrics_of_steps(step_index->steps, (i - 1) * SPACING, SPACING, &step_index->running_totals[i]);
            totals_add(&step_index->running_totals[i], &step_index->running_totals[i - 1]);
        }
    }
    int kept = (step + 1) / SPACING;
    metrics_of_steps(step_index->steps, kept * SPACING, step + 1 - kept * SPACING, out);
    totals_add(out, &step_index->running_totals[kept]);
}
