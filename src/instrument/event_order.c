/* The order of events: the turn at which each warp would have recorded each event. In each turn, every warp
 * that does not wait at a barrier records one event.
 *
 * The order of the records is a possible one: all threads that arrive at a barrier record it before any of
 * them continues. So one pass in that order is enough. Events of a thread after its k-th use of a barrier
 * come after all k-th uses of it. */
#include "instrument/partial_events.h"

#include "base/memory.h"
#include <stdlib.h>

enum { BARRIERS = 17, NO_BARRIER = 255 };

typedef struct BarrierPhases { /* of a single barrier */
    uint32_t *latest;          /* [phase] turn of the latest arrival */
    size_t count, capacity;
} BarrierPhases;

typedef struct ThreadTurns {
    uint8_t behind; /* the barrier that it waits at; NO_BARRIER: none */
    uint32_t used[BARRIERS];
} ThreadTurns;

typedef struct TurnClock {
    BarrierPhases phases[BARRIERS];
    ThreadTurns *threads;
    uint32_t next[WARP_LANES]; /* [warp] its next turn */
} TurnClock;

static void wait_for(const TurnClock *clock, ThreadTurns *thread, uint32_t *turn) {
    if (thread->behind == NO_BARRIER) return;
    uint32_t released = clock->phases[thread->behind].latest[thread->used[thread->behind] - 1] + 1;
    if (released > *turn) *turn = released;
    thread->behind = NO_BARRIER;
}

static void arrive(TurnClock *clock, ThreadTurns *thread, uint32_t barrier, bool waits, uint32_t turn) {
    BarrierPhases *phases = &clock->phases[barrier];
    uint32_t phase = thread->used[barrier]++;
    while (phases->count <= phase) array_push(phases->latest, phases->count, phases->capacity, 0);
    if (phases->latest[phase] < turn) phases->latest[phase] = turn;
    if (waits) thread->behind = (uint8_t)barrier;
}

static bool is_barrier(const PartialEvent *partial) {
    return partial->kind == TRACE_BARRIER || partial->kind == TRACE_NAMED_BARRIER;
}

static void take_turn(TurnClock *clock, const PartialEvents *partial_events, PartialEvent *partial) {
    const Record *record = &partial_events->records->records[partial->record];
    ThreadTurns *threads = clock->threads + record->warp * WARP_LANES;
    uint32_t turn = clock->next[record->warp];
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        wait_for(clock, &threads[__builtin_ctz(rest)], &turn);
    partial->turn = turn;
    clock->next[record->warp] = turn + 1;
    if (!is_barrier(partial) || record->extra >= BARRIERS) return;
    bool waits = !ptx_instruction_has(record->site->instruction, PTX_MOD_ARRIVE);
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        arrive(clock, &threads[__builtin_ctz(rest)], record->extra, waits, turn);
}

static int warp_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    return partial_events->records->records[partial->record].warp;
}

/* Turns increase within each warp, so a counting sort by turn that visits the warps in order is enough. */
static void sort(PartialEvents *partial_events) {
    uint32_t turns = 0;
    for (int i = 0; i < partial_events->count; i++)
        if (partial_events->partial_events[i].turn >= turns)
            turns = partial_events->partial_events[i].turn + 1;
    size_t keys = ((size_t)turns + 1) * WARP_LANES;
    int *place = memory_new((keys + 1) * sizeof *place);
    for (int i = 0; i < partial_events->count; i++)
        place[partial_events->partial_events[i].turn * (size_t)WARP_LANES +
              (size_t)warp_of(partial_events, &partial_events->partial_events[i]) + 1]++;
    for (size_t key = 1; key <= keys; key++) place[key] += place[key - 1];
    PartialEvent *sorted = memory_new(((size_t)partial_events->count + 1) * sizeof *sorted);
    for (int i = 0; i < partial_events->count; i++) {
        const PartialEvent *partial = &partial_events->partial_events[i];
        sorted[place[partial->turn * (size_t)WARP_LANES + (size_t)warp_of(partial_events, partial)]++] =
            *partial;
    }
    free(place);
    free(partial_events->partial_events);
    partial_events->partial_events = sorted;
    partial_events->capacity = partial_events->count + 1;
}

void partial_events_order(PartialEvents *partial_events) {
    TurnClock clock = {.threads =
                           memory_new(((size_t)partial_events->threads + WARP_LANES) * sizeof(ThreadTurns))};
    for (uint32_t i = 0; i < partial_events->threads + WARP_LANES; i++) clock.threads[i].behind = NO_BARRIER;
    int kept = 0;
    for (int i = 0; i < partial_events->count; i++)
        if (!partial_events->partial_events[i].is_dropped)
            partial_events->partial_events[kept++] = partial_events->partial_events[i];
    partial_events->count = kept;
    for (int i = 0; i < kept; i++) take_turn(&clock, partial_events, &partial_events->partial_events[i]);
    for (int b = 0; b < BARRIERS; b++) free(clock.phases[b].latest);
    free(clock.threads);
    sort(partial_events);
}
