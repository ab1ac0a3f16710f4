/* What asynchronous copies and mbarriers share. Private to emulator/instructions. */
#ifndef EMULATOR_INSTRUCTIONS_COPY_ASYNC_H
#define EMULATOR_INSTRUCTIONS_COPY_ASYNC_H

#include "emulator/lower/lowered.h"

/* cp.async.mbarrier.arrive; cp.async.bulk and cp.reduce.async.bulk. */
bool mbarrier_lower_copies(Lowering *low, const PtxInstruction *in, Op *op);
bool bulk_lower(Lowering *low, const PtxInstruction *in, Op *op);

#endif
