/* Order: which accesses of other threads are known to have happened before what a thread does now. Private to
 * src/metrics; the rules are named in hazards.h.
 *
 * Every access of a block has a *stamp*: a number that goes up whenever something puts the block's accesses
 * in order. That is nearly always a barrier, which makes everything stamped so far known to the whole block,
 * or a bar.warp.sync of a whole warp, which does so for the warp. Anything else (partial masks, named
 * barriers, fences with atomics) is kept as clocks of single threads. */
#ifndef METRICS_RACES_HAPPENS_BEFORE_H
#define METRICS_RACES_HAPPENS_BEFORE_H

#include "metrics/races/vector_clock.h"

#include "trace/observer.h"

enum { ORDER_WARPS = 32, ORDER_BARRIERS = 17 };

typedef struct WarpStamp { /* lanes of a warp that executed one instruction, at one stamp; mask 0: nobody */
    uint32_t block;        /* number of the block in the watch, from 1 */
    uint32_t stamp, mask;
    uint32_t place; /* warp_stamp_place() */
} WarpStamp;

static inline uint32_t warp_stamp_place(int pc, int warp) {
    return (uint32_t)pc << 5 | (uint32_t)warp;
}
static inline int warp_stamp_pc(const WarpStamp *slot) {
    return (int)(slot->place >> 5);
}
static inline int warp_stamp_warp(const WarpStamp *slot) {
    return (int)(slot->place & 31);
}

typedef enum OrderScope { ORDER_BLOCK, ORDER_DEVICE, ORDER_SCOPES } OrderScope;

typedef struct ThreadOrder {
    VectorClock *known; /* beyond what the block and its warp know */
    VectorClock
        *released[ORDER_SCOPES]; /* what a strong store of this thread makes known: all before its last
                                      fence of that scope */
    VectorClock *acquired;       /* seen by strong loads; known after the next fence */
} ThreadOrder;

typedef struct HappensBefore {
    uint32_t number;  /* of the block, from 1 */
    uint32_t first;   /* number of the first block of this launch: those before it have ended */
    uint32_t now;     /* the stamp of what is done now; never goes back when a block follows another */
    uint32_t barrier; /* what is stamped so or earlier is known to all of the block */
    uint32_t warp[ORDER_WARPS];     /* ... to all of the warp, of its own lanes */
    uint32_t started[ORDER_WARPS];  /* lanes that the warp began with */
    uint32_t interval[ORDER_WARPS]; /* block-wide barriers passed */
    VectorClock *known;             /* to all threads, of other blocks */
    ThreadOrder *threads;           /* [warp * 32 + lane]; NULL: none has anything */
    int thread_count;
    VectorClock *gathered[ORDER_BARRIERS]; /* what those that have come to a barrier know */
} HappensBefore;

/* A block begins, in what may be left of another one. */
void happens_before_begin(HappensBefore *order, uint32_t number, uint32_t first, int thread_count);
void happens_before_end(HappensBefore *order); /* frees clocks */

/* Of the lanes in `slot`, those whose access is not known to have happened before what `lane` does now. */
uint32_t happens_before_unknown(const HappensBefore *order, int warp, int lane, const WarpStamp *slot);

void happens_before_arrive(HappensBefore *order, const TraceSync *sync);
void happens_before_release(HappensBefore *order, const TraceSync *sync);
void happens_before_warp_sync(HappensBefore *order, int warp, uint32_t lanes);
void happens_before_fence(HappensBefore *order, int warp, uint32_t lanes, OrderScope scope);

typedef struct SyncPlace { /* a word through which threads talk to each other */
    VectorClock *released[ORDER_SCOPES];
    uint32_t block; /* whose threads the narrow one is for */
} SyncPlace;

/* A strong load sees what is in `place`; `acquires`: it needs no fence to make use of it. */
void happens_before_observe(HappensBefore *order, int warp, int lane, const SyncPlace *place, bool acquires);
/* A strong store or atomic puts there what its thread has released; `releases`: it needs no fence before;
 * `adds`: it is atomic, so that what was there stays. */
void happens_before_publish(HappensBefore *order, int warp, int lane, SyncPlace *place, OrderScope scope,
                            bool releases, bool adds);
void sync_place_done(SyncPlace *place);

#endif
