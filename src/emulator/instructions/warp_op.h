/* Warp op: an instruction that exchanges values between the lanes of a warp, as tapes need it
 * (emulator/tape). Private to the emulator. */
#ifndef EMULATOR_INSTRUCTIONS_WARP_OP_H
#define EMULATOR_INSTRUCTIONS_WARP_OP_H

#include "emulator/machine/machine_block.h"

typedef struct WarpRegisters { /* operands of an instruction of CORE_EXCHANGE; NULL: it lacks this operand */
    Operand *d, *p;            /* results; p: a predicate */
    Operand *a;                /* the value that is exchanged */
    Operand *fixed[3];         /* operands that decide which lane reads which */
    int fixed_count;
    bool is_shuffle; /* d is a lane's a, or 0; p does not depend on a */
} WarpRegisters;

/* Copies the Op so that its registers can be replaced; `run` executes the copy for whole masks. */
Op *warp_op_copy(Arena *arena, const Op *op, WarpRegisters *registers);
/* True if no lane that the op names is elsewhere in the warp: the lanes of `mask` execute it at once. */
bool warp_op_is_whole(const Op *op, Warp *warp, uint32_t mask);
/* The source lane of each lane of `mask` in a shuffle; WARP_LANES: the lane gets 0. */
void warp_op_sources(const Op *op, const Warp *warp, uint32_t mask, uint8_t from[WARP_LANES]);

#endif
