/* Barriers of a block: arriving and being released (barrier.c). Private to the emulator. */
#ifndef EMULATOR_MACHINE_BARRIER_H
#define EMULATOR_MACHINE_BARRIER_H

#include "emulator/machine/machine_block.h"

typedef enum BarrierAction { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED } BarrierAction;

typedef struct BarrierOp {
    CoreOp core;
    BarrierAction action;
    bool aligned, has_count, blockwide, is_plain;
    bool is_cluster;           /* barrier.cluster: ARRIVE is its arrive, SYNC its wait */
    PtxModifierKind reduction; /* POPC, AND, OR */
    Operand number, count, predicate, d;
    uint8_t d_bytes;
} BarrierOp;

/* CoreOp.execute of a BarrierOp. */
Outcome barrier_execute(Block *block, Warp *warp, const Op *op, uint32_t mask);
/* CoreOp.execute_together of a BarrierOp: whole warps at a __syncthreads(). */
int barrier_sync_together(Block *block, const Op *op, const Gang *gang);

#endif
