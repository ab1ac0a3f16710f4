/* Sparse vector clock: the latest stamp known per block or thread.
 *
 * Most threads know nothing beyond their last barrier (happens_before.h), so the clock is sparse. Private to
 * src/findings. Clocks are counted references; a shared clock never changes: a change makes a copy. NULL is
 * the empty clock. */
#ifndef FINDINGS_RACES_VECTOR_CLOCK_H
#define FINDINGS_RACES_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VECTOR_CLOCK_WHOLE_BLOCK = 0xffff };

typedef struct VectorClockEntry { /* everything that `thread` of `block` did up to `stamp` is known */
    uint32_t block;
    uint32_t thread; /* its index in the block; or VECTOR_CLOCK_WHOLE_BLOCK */
    uint32_t stamp;
} VectorClockEntry;

typedef struct VectorClock {
    int references, count, capacity;
    VectorClockEntry entries[]; /* ascending by block, then thread; a whole block comes after its threads */
} VectorClock;

VectorClock *vector_clock_keep(VectorClock *clock); /* another reference */
void vector_clock_drop(VectorClock *clock);
/* Sets *at, which takes over the reference; drops the clock that was there. */
void vector_clock_replace(VectorClock **at, VectorClock *clock);
static inline void vector_clock_clear(VectorClock **at) {
    if (*at) vector_clock_replace(at, NULL);
}
/* The latest known stamp of `thread` of `block`; 0: none. */
uint32_t vector_clock_find(const VectorClock *clock, uint32_t block, uint32_t thread);
bool vector_clock_has(const VectorClock *clock, uint32_t block); /* anything of the block is known */
/* Takes the later of both stamps for every thread. `entries` have the order of a clock's. */
void vector_clock_join_other(VectorClock **at, VectorClock *other); /* `other` is not NULL, nor *at */
static inline void vector_clock_join(VectorClock **at, VectorClock *other) {
    if (other && *at != other) vector_clock_join_other(at, other);
}
void vector_clock_add(VectorClock **at, const VectorClockEntry *entries, int count);
/* Removes the entries of `block` up to `stamp`. */
void vector_clock_forget(VectorClock **at, uint32_t block, uint32_t stamp);

/* The last of a row of joins. The next one often joins the same clocks, and then shares its result: threads
 * that wait together, words that are written together. Zero-initialised; it keeps references until done. */
typedef struct ClockJoin {
    VectorClock *before, *other, *after;
} ClockJoin;

void clock_join_again(ClockJoin *last, VectorClock **at, VectorClock *other); /* as vector_clock_join() */
void clock_join_done(ClockJoin *last);

#endif
