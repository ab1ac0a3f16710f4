/* Schedules other than round robin: numbered ones, several of which --check tries, and the recorded one
 * (schedule.c). */
#ifndef EMULATOR_OTHER_ORDERS_H
#define EMULATOR_OTHER_ORDERS_H

#include "emulator/machine/machine_block.h"

/* The lanes of `mask` for which the instruction's guard is true. */
static inline uint32_t guard_lanes(const Op *op, const Warp *warp, uint32_t mask) {
    uint32_t bits = *(const uint32_t *)operand_at(warp, op->guard);
    return mask & (op->guard_negated ? ~bits : bits);
}

/* ---- blocks, by number --------------------------------------------------------------------------------- */

/* The cluster of `count` that starts at position `index`: ascending, descending, or in any order. */
uint64_t order_of_clusters(uint64_t schedule, uint64_t index, uint64_t count);
/* True if blocks take turns even though none of them waits for another; otherwise they run one after
 * another. */
bool order_interleaves(uint64_t schedule);
/* Warp instructions in a turn of the block; 0: unlimited. */
uint64_t order_slice(uint64_t schedule, uint64_t round, uint64_t block);

/* ---- warps, by number ---------------------------------------------------------------------------------- */

/* How many turns late a warp is. The schedule has one of four kinds: all warps are a little late; some are
 * slower than others; a few are late now and then; a few are very late. */
uint64_t order_delay(const Block *block, const Warp *warp);
/* Lanes of a warp need not stay together: at a memory access, some may stay behind until others wait for
 * them, or another part of the warp continues. */
void order_part_lanes(const Block *block, Warp *warp, const Op *op);

/* ---- as recorded --------------------------------------------------------------------------------------- */

/* In a replay, the events decide which fragment of a warp runs next; this matters if the trace leaves out
 * spin loops. */
bool order_is_out_of_turn(const Block *block, const Warp *warp, const Op *op);
/* Spin loops may also have left lanes together that were diverged when the event was recorded. */
void order_split_as_recorded(const Block *block, Warp *warp, const Op *op);
/* A GPU may reconverge lanes elsewhere, so the event may have more lanes than the current fragment. Merges
 * the fragments at the same place; true: other lanes must arrive first. */
bool order_awaits_as_recorded(const Block *block, Warp *warp, const Op *op);

#endif
