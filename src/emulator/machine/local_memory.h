/* Local memory of a warp's lanes, in pieces of 16 bytes. The pieces of the 32 lanes are adjacent. Private to
 * the emulator. */
#ifndef EMULATOR_MACHINE_LOCAL_MEMORY_H
#define EMULATOR_MACHINE_LOCAL_MEMORY_H

#include "emulator/machine/machine_block.h"

/* Ensures that the warp has `bytes` of local memory per lane; false (after a trap) if that is too much. */
bool local_reserve(Block *block, Warp *warp, uint64_t bytes);
/* The host address of a byte of one lane's local memory. NULL: out of bounds. Pieces of 16 bytes are
 * contiguous. */
uint8_t *local_at(const Warp *warp, int lane, uint64_t offset);

/* The offset in warp->local of byte `offset` of a lane. */
static inline uint64_t local_offset(uint64_t offset, int lane) {
    return (offset / 16 * WARP_LANES + (uint64_t)lane) * 16 + offset % 16;
}

#endif
