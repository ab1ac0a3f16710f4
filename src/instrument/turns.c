/* Turns: when each warp would have recorded what it recorded, if every warp that can go on recorded one event
 * a turn, and barriers are waited for.
 *
 * The order of the records is one in which it can have happened: all that arrive at a barrier have recorded
 * it before any of them goes on. So one pass in that order is enough. What a thread does behind its k-th use
 * of a barrier comes after all k-th uses of it. */
#include "instrument/pieces.h"

#include "base/memory.h"
#include <stdlib.h>

enum { BARRIERS = 17, NO_BARRIER = 255 };

typedef struct Phases { /* of one barrier */
    uint32_t *latest;   /* [phase] turn of the latest arrival */
    size_t count, capacity;
} Phases;

typedef struct Thread {
    uint8_t behind; /* the barrier that it waits at; NO_BARRIER: none */
    uint32_t used[BARRIERS];
} Thread;

typedef struct Clock {
    Phases phases[BARRIERS];
    Thread *threads;
    uint32_t next[WARP_LANES]; /* [warp] its next turn */
} Clock;

static void wait_for(const Clock *clock, Thread *thread, uint32_t *turn) {
    if (thread->behind == NO_BARRIER) return;
    uint32_t released = clock->phases[thread->behind].latest[thread->used[thread->behind] - 1] + 1;
    if (released > *turn) *turn = released;
    thread->behind = NO_BARRIER;
}

static void arrive(Clock *clock, Thread *thread, uint32_t barrier, bool waits, uint32_t turn) {
    Phases *phases = &clock->phases[barrier];
    uint32_t phase = thread->used[barrier]++;
    while (phases->count <= phase) array_push(phases->latest, phases->count, phases->capacity, 0);
    if (phases->latest[phase] < turn) phases->latest[phase] = turn;
    if (waits) thread->behind = (uint8_t)barrier;
}

static bool is_barrier(const Piece *piece) {
    return piece->kind == TRACE_BARRIER || piece->kind == TRACE_NAMED_BARRIER;
}

static void take_turn(Clock *clock, const Pieces *pieces, Piece *piece) {
    const Record *record = &pieces->records->records[piece->record];
    Thread *threads = clock->threads + record->warp * WARP_LANES;
    uint32_t turn = clock->next[record->warp];
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1)
        wait_for(clock, &threads[__builtin_ctz(rest)], &turn);
    piece->turn = turn;
    clock->next[record->warp] = turn + 1;
    if (!is_barrier(piece) || record->extra >= BARRIERS) return;
    bool waits = !ptx_instruction_has(record->site->instruction, PTX_MOD_ARRIVE);
    for (uint32_t rest = piece->mask; rest; rest &= rest - 1)
        arrive(clock, &threads[__builtin_ctz(rest)], record->extra, waits, turn);
}

static int warp_of(const Pieces *pieces, const Piece *piece) {
    return pieces->records->records[piece->record].warp;
}

/* Turns rise in each warp, so that a counting sort by turn that takes the warps in order does. */
static void sort(Pieces *pieces) {
    uint32_t turns = 0;
    for (int i = 0; i < pieces->count; i++)
        if (pieces->pieces[i].turn >= turns) turns = pieces->pieces[i].turn + 1;
    size_t keys = ((size_t)turns + 1) * WARP_LANES;
    int *place = memory_new((keys + 1) * sizeof *place);
    for (int i = 0; i < pieces->count; i++)
        place[pieces->pieces[i].turn * (size_t)WARP_LANES + (size_t)warp_of(pieces, &pieces->pieces[i]) +
              1]++;
    for (size_t key = 1; key <= keys; key++) place[key] += place[key - 1];
    Piece *sorted = memory_new(((size_t)pieces->count + 1) * sizeof *sorted);
    for (int i = 0; i < pieces->count; i++) {
        const Piece *piece = &pieces->pieces[i];
        sorted[place[piece->turn * (size_t)WARP_LANES + (size_t)warp_of(pieces, piece)]++] = *piece;
    }
    free(place);
    free(pieces->pieces);
    pieces->pieces = sorted;
    pieces->capacity = pieces->count + 1;
}

void pieces_take_turns(Pieces *pieces) {
    Clock clock = {.threads = memory_new(((size_t)pieces->threads + WARP_LANES) * sizeof(Thread))};
    for (uint32_t i = 0; i < pieces->threads + WARP_LANES; i++) clock.threads[i].behind = NO_BARRIER;
    int kept = 0;
    for (int i = 0; i < pieces->count; i++)
        if (!pieces->pieces[i].is_dropped) pieces->pieces[kept++] = pieces->pieces[i];
    pieces->count = kept;
    for (int i = 0; i < kept; i++) take_turn(&clock, pieces, &pieces->pieces[i]);
    for (int b = 0; b < BARRIERS; b++) free(clock.phases[b].latest);
    free(clock.threads);
    sort(pieces);
}
