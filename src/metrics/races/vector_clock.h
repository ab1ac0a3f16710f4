/* Clock: what a thread knows to have happened before what it does now: for each block or thread, the stamp up
 * to which. Sparse, as most threads know nothing beyond their last barrier (order.h). Private to src/metrics.
 *
 * A clock that is shared is never changed: who wants another joins them into a new one. NULL knows nothing.
 */
#ifndef METRICS_RACES_VECTOR_CLOCK_H
#define METRICS_RACES_VECTOR_CLOCK_H

#include <stdint.h>

enum { VECTOR_CLOCK_WHOLE_BLOCK = 0xffff };

typedef struct VectorClockEntry { /* what `thread` of `block` did up to `stamp` */
    uint32_t block;
    uint16_t thread; /* in the block; or VECTOR_CLOCK_WHOLE_BLOCK */
    uint32_t stamp;
} VectorClockEntry;

typedef struct VectorClock {
    int references, count, capacity;
    VectorClockEntry entries[]; /* ascending by block, then thread; a block's whole comes after its threads */
} VectorClock;

VectorClock *vector_clock_keep(VectorClock *clock);
void vector_clock_drop(VectorClock *clock);
void vector_clock_replace(VectorClock **at,
                          VectorClock *clock); /* takes over the reference; drops the one that was there */
/* Up to which stamp is `thread` of `block` known? 0: not at all. */
uint32_t vector_clock_find(const VectorClock *clock, uint32_t block, uint16_t thread);
/* Adds what `other` knows to *at. */
void vector_clock_join(VectorClock **at, VectorClock *other);
void vector_clock_add(VectorClock **at, const VectorClockEntry *entries,
                      int count); /* the same, of entries in order */
/* Without what is known of `block` up to `stamp`. */
void vector_clock_forget(VectorClock **at, uint32_t block, uint32_t stamp);

#endif
