/* Fold builder: builds the fold graph of a block while a replay runs (trace/folds.h). Private to the
 * emulator.
 *
 * In a replay that keeps folds, the producer in a Provenance is a node of the graph instead of an event: a
 * value's node moves with it through registers and memory. A move to another lane and a combination of two
 * values create a new node. */
#ifndef EMULATOR_REPLAY_FOLD_BUILDER_H
#define EMULATOR_REPLAY_FOLD_BUILDER_H

#include "emulator/replay/provenance.h"
#include "trace/folds.h"

enum { FOLD_OPERANDS = 3 };
typedef struct FoldOperands { /* what an instruction reads, in its type */
    uint64_t bits[FOLD_OPERANDS][WARP_LANES];
} FoldOperands;

/* Lanes of `mask` are about to execute `op`, which only affects registers. */
void fold_builder_read(const Warp *warp, const Op *op, uint32_t mask, FoldOperands *read);
/* They have; the provenance of its operands is unchanged so far. joined[lane]: the node of the result, or
 * FOLD_NONE if it holds no input. */
void fold_builder_lanes(Folds *folds, const ProvenanceRules *rules, const Warp *warp, const Frame *frame,
                        const Op *op, const FoldOperands *read, uint32_t mask, int32_t joined[WARP_LANES]);

/* redux: the lanes of `mask` fold their operands, whose provenance is `source`, into the lane of `place`, as
 * a chain from the lowest lane; returns its last node. */
int fold_builder_redux(Folds *folds, FoldPlace *place, const PtxInstruction *in,
                       const uint64_t operand[WARP_LANES], const Provenance *source, uint32_t mask);

#endif
