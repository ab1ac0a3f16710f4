/* Warp op: an instruction in which the lanes of a warp read each other, as tapes need it (emulator/tape).
 * Private to the emulator. */
#ifndef EMULATOR_INSTRUCTIONS_WARP_OP_H
#define EMULATOR_INSTRUCTIONS_WARP_OP_H

#include "emulator/machine/machine_block.h"

typedef struct WarpRegisters { /* of one instruction of CORE_EXCHANGE; NULL: it has no such operand */
    Operand *d, *p;            /* results; p: a predicate */
    Operand *a;                /* the value that is exchanged */
    Operand *fixed[3];         /* what decides who reads whom */
    int fixed_count;
    bool is_shuffle; /* d is a lane's a, or 0; p does not depend on a */
} WarpRegisters;

/* A copy of the Op whose registers can be replaced, which `run` executes for whole masks. */
Op *warp_op_copy(Arena *arena, const Op *op, WarpRegisters *registers);
/* No lane that it names is elsewhere in the warp: the lanes of `mask` execute it at once. */
bool warp_op_is_whole(const Op *op, Warp *warp, uint32_t mask);
/* A shuffle of the lanes of `mask`: from which lane each of them reads; WARP_LANES: it gets 0. */
void warp_op_sources(const Op *op, const Warp *warp, uint32_t mask, uint8_t from[WARP_LANES]);

#endif
