/* Orders other than the round robin's: by a number, several of which --check tries, and as a recording has it
 * (schedule.c). */
#ifndef EMULATOR_OTHER_ORDERS_H
#define EMULATOR_OTHER_ORDERS_H

#include "emulator/machine/machine_block.h"

/* Of `mask`, the lanes for which the guard of the instruction is true. */
static inline uint32_t guard_lanes(const Op *op, const Warp *warp, uint32_t mask) {
    uint32_t bits = *(const uint32_t *)operand_at(warp, op->guard);
    return mask & (op->guard_negated ? ~bits : bits);
}

/* ---- of blocks, by a number ---------------------------------------------------------------------------- */

/* The cluster of `count` that starts as number `index`: from the first, from the last, or in any order. */
uint64_t order_of_clusters(uint64_t schedule, uint64_t index, uint64_t count);
/* Do blocks take turns although none of them waits for another? Else they run one after another. */
bool order_interleaves(uint64_t schedule);
/* Warp instructions of a block's turn; 0: as many as it likes. */
uint64_t order_slice(uint64_t schedule, uint64_t round, uint64_t block);

/* ---- by a number --------------------------------------------------------------------------------------- */

/* Turns by which a warp is late, as one of four characters of schedule has it: all are a little; some are
 * slower than others; few are late now and then; or very late. */
uint64_t order_delay(const Block *block, const Warp *warp);
/* Lanes of a warp need not stay together: at an access of memory, some may stay behind until they are waited
 * for, or another part of the warp goes on. */
void order_part_lanes(const Block *block, Warp *warp, const Op *op);

/* ---- as recorded --------------------------------------------------------------------------------------- */

/* In a replay the events decide which fragment of a warp goes on, where spin loops that were left out of the
 * trace make a difference. */
bool order_is_out_of_turn(const Block *block, const Warp *warp, const Op *op);
/* The same difference may have left lanes together that were apart when the event was made. */
void order_split_as_recorded(const Block *block, Warp *warp, const Op *op);
/* A GPU may reconverge lanes elsewhere: the event may have more lanes than stand here. Those that
 * stand at the same place become one fragment; true: others have to come first. */
bool order_awaits_as_recorded(const Block *block, Warp *warp, const Op *op);

#endif
