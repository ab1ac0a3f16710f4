/* Folding: what a replay tells of who folded what (trace/folds.h). Private to the emulator.
 *
 * In a replay that keeps folds the producers of shadows are nodes of the folds instead of events: a value's
 * node flows with it through registers and memory, and a new node is made where a value moves to a lane or
 * two values meet. */
#ifndef EMULATOR_FOLDING_H
#define EMULATOR_FOLDING_H

#include "emulator/shadow.h"
#include "trace/folds.h"

/* Lanes of `mask` ran `op`, which touches nothing but registers; what its operands held is still in their
 * shadows, where the destination is none of them. joined[lane]: the node of the result, FOLD_NONE where it
 * holds no input. */
void folding_lanes(Folds *folds, const ShadowRules *rules, const Warp *warp, const Frame *frame, const Op *op,
                   uint32_t mask, int32_t joined[WARP_LANES]);

/* redux: the lanes of `mask` fold what `source` holds, in the hands of the lane of `place`, which becomes a
 * chain from the lowest lane on; returns its end. */
int folding_redux(Folds *folds, FoldPlace *place, const TraceEvent *event, const Shadow *source,
                  uint32_t mask);

#endif
