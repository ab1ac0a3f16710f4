/* Feed: what another producer recorded of one block, for its threads to take (emulator.h, Feeding). Private
 * to the emulator.
 *
 * Every thread goes through its own events, one after another: the next instruction that records must be the
 * one that its next event is of, or the thread is *lost* and takes nothing any more. */
#ifndef EMULATOR_FEED_H
#define EMULATOR_FEED_H

#include "emulator/access.h"

/* `others`: words of global memory (a bit each, as in a Footprint) that somebody else may have changed; the
 * feed's own, and grows. */
Feed *feed_new(const Grid *grid, const EmulatorFeed *from, const TraceBlock *recorded, const uint64_t *others,
               uint64_t words, EmulatorFed *fed);
void feed_free(Feed *feed);

/* The lanes are about to record an event of `pc`: each goes on to its next one. */
void feed_step(Feed *feed, const Warp *warp, int pc, uint32_t mask);
/* They have loaded, or an atomic has found, `values`: what only scheduling decides is taken instead. */
void feed_access(Feed *feed, const Access *access, const MemoryValue *values, int count);
/* `op` has been executed. */
void feed_approximate(Feed *feed, Warp *warp, const Op *op, int bytes, uint32_t mask,
                      const uint64_t argument[WARP_LANES]);

#endif
