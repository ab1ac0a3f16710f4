/* Folding: what a replay tells of who folded what (trace/folds.h). Private to the emulator.
 *
 * In a replay that keeps folds the producers of shadows are nodes of the folds instead of events: a value's
 * node flows with it through registers and memory, and a new node is made where a value moves to a lane or
 * two values meet. */
#ifndef EMULATOR_REPLAY_FOLD_BUILDER_H
#define EMULATOR_REPLAY_FOLD_BUILDER_H

#include "emulator/replay/provenance.h"
#include "trace/folds.h"

/* Lanes of `mask` ran `op`, which touches nothing but registers; what its operands held is still in their
 * shadows, where the destination is none of them. joined[lane]: the node of the result, FOLD_NONE where it
 * holds no input. */
void fold_builder_lanes(Folds *folds, const ProvenanceRules *rules, const Warp *warp, const Frame *frame,
                        const Op *op, uint32_t mask, int32_t joined[WARP_LANES]);

/* redux: the lanes of `mask` fold what `source` holds, in the hands of the lane of `place`, which becomes a
 * chain from the lowest lane on; returns its end. */
int fold_builder_redux(Folds *folds, FoldPlace *place, const TraceEvent *event, const Provenance *source,
                       uint32_t mask);

#endif
