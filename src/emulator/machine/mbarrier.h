/* mbarrier: 8 bytes of shared memory where threads and asynchronous copies synchronize, in phases ("Parallel
 * Synchronization and Communication Instructions: mbarrier" in the PTX ISA). Private to the emulator.
 *
 * A phase is complete when no arrival is pending and all expected bytes have arrived. The 8 bytes are opaque
 * in PTX; here they hold:
 *
 *     bits 0-19 pending arrivals, 20-39 arrivals of the next phase, 40-61 expected bytes (signed), 63 phase
 */
#ifndef EMULATOR_MACHINE_MBARRIER_H
#define EMULATOR_MACHINE_MBARRIER_H

#include "emulator/machine/machine_copies.h"

enum { MBARRIER_BYTES = 8, MBARRIER_MOST = (1 << 20) - 1 /* arrivals, bytes */ };

typedef struct Mbarrier {
    int64_t pending, expected, bytes;
    int phase; /* parity of the current phase */
} Mbarrier;

static inline uint64_t mbarrier_pack(Mbarrier m) {
    return (uint64_t)m.pending | (uint64_t)m.expected << 20 | ((uint64_t)m.bytes & 0x3fffff) << 40 |
           (uint64_t)m.phase << 63;
}

static inline Mbarrier mbarrier_unpack(uint64_t word) {
    int64_t bytes = (int64_t)(word << 2) >> 42;
    return (Mbarrier){(int64_t)(word & MBARRIER_MOST), (int64_t)(word >> 20 & MBARRIER_MOST), bytes,
                      (int)(word >> 63)};
}

static inline Mbarrier mbarrier_read(const Block *block, uint64_t place) {
    return mbarrier_unpack(bytes_read(block->shared + place, MBARRIER_BYTES));
}

/* Writes the mbarrier; threads that wait for an mbarrier of the block retry. `running`: the block whose lane
 * executes the write. */
void mbarrier_write(Block *block, uint64_t place, Mbarrier mbarrier, const Block *running);
/* Completes the phase and begins the next one. */
void mbarrier_flip(Mbarrier *mbarrier);
/* If only its own copies are missing, they arrive and complete the phase. `lane` of `warp`, of any block of
 * the cluster, is the first to know. */
void mbarrier_settle(Block *block, uint64_t place, const Warp *warp, int lane);
/* For a block that runs without its cluster, whose other blocks would complete the phase (guided_run.h):
 * completes the phase, with all copies of this block. */
void mbarrier_complete_alone(Block *block, uint64_t place, const Warp *warp, int lane);
/* Requires that the destination of a copy (block of rank `to`) and its mbarrier (rank `at`; -1: this block)
 * lie in the same block. False after a trap. */
bool mbarrier_lies_with(Block *block, const Warp *warp, const Op *op, int lane, int to, int at);
/* Copies have begun, which may complete phases. */
void mbarrier_wake(Block *block, const Block *running);
/* Nothing else can run: waits end with their phase incomplete, as on a GPU after a time limit. False: there
 * are no waits, or they have given up too often; the limit does not apply to a block without its cluster. */
bool mbarrier_give_up(Block *block);

#endif
