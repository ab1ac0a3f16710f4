/* Code that asynchronous copies and mbarriers share. Private to emulator/instructions. */
#ifndef EMULATOR_INSTRUCTIONS_COPY_ASYNC_H
#define EMULATOR_INSTRUCTIONS_COPY_ASYNC_H

#include "emulator/lower/lowered.h"
#include "emulator/machine/machine_copies.h"

/* cp.async.mbarrier.arrive; cp.async.bulk and cp.reduce.async.bulk. */
bool mbarrier_lower_copies(Lowering *low, const PtxInstruction *in, Op *op);
bool bulk_lower(Lowering *low, const PtxInstruction *in, Op *op);
/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor. */
bool tensor_copy_lower(Lowering *low, const PtxInstruction *in, Op *op);
/* One element of a bulk reduction: the new value of `old`. */
uint64_t bulk_fold(PtxModifierKind operation, PtxType type, uint64_t old, uint64_t value);

/* Only a launch with clusters, even of one block each, may execute this instruction: elsewhere it faults.
 * Measured: st.async, red.async and both copies and reductions from shared::cta to shared::cluster stop a
 * kernel with CUDA_ERROR_ILLEGAL_INSTRUCTION on an H200 (driver 580.159.04, tests/device/verify_copies.sh);
 * the bulk copy from global to shared::cluster does not. The PTX ISA does not say so. */
bool lower_in_clusters(Lowering *low, Op *op, const char *name);
/* Commits a group of asynchronous operations, or waits for groups. */
bool lower_copy_group(Lowering *low, const PtxInstruction *in, Op *op, CopyCompletion groups);
/* Of no_effect.c. */
bool lower_prefetch(Lowering *low, const PtxInstruction *in, Op *op);

#endif
