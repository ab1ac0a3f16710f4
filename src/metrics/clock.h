/* Clock: what a thread knows to have happened before what it does now: for each block or thread, the stamp up
 * to which. Sparse, as most threads know nothing beyond their last barrier (order.h). Private to src/metrics.
 *
 * A clock that is shared is never changed: who wants another joins them into a new one. NULL knows nothing.
 */
#ifndef METRICS_CLOCK_H
#define METRICS_CLOCK_H

#include <stdint.h>

enum { CLOCK_WHOLE_BLOCK = 0xffff };

typedef struct ClockEntry { /* what `thread` of `block` did up to `stamp` */
    uint32_t block;
    uint16_t thread; /* in the block; or CLOCK_WHOLE_BLOCK */
    uint32_t stamp;
} ClockEntry;

typedef struct Clock {
    int references, count, capacity;
    ClockEntry entries[]; /* ascending by block, then thread; a block's whole comes after its threads */
} Clock;

Clock *clock_keep(Clock *clock);
void clock_drop(Clock *clock);
void clock_replace(Clock **at, Clock *clock); /* takes over the reference; drops the one that was there */
/* Up to which stamp is `thread` of `block` known? 0: not at all. */
uint32_t clock_find(const Clock *clock, uint32_t block, uint16_t thread);
/* Adds what `other` knows to *at. */
void clock_join(Clock **at, Clock *other);
void clock_add(Clock **at, const ClockEntry *entries, int count); /* the same, of entries in order */
/* Without what is known of `block` up to `stamp`. */
void clock_forget(Clock **at, uint32_t block, uint32_t stamp);

#endif
