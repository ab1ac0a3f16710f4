/* mbarrier: 8 bytes of shared memory where threads and asynchronous copies meet, in phases ("Parallel
 * Synchronization and Communication Instructions: mbarrier" in the PTX ISA). Private to the emulator.
 *
 * A phase is complete when no arrival is pending and as many bytes have arrived as were expected. What the 8 bytes
 * hold is opaque in PTX; here:
 *
 *     bits 0-19 pending arrivals, 20-39 arrivals of the next phase, 40-61 bytes that are expected (signed), 63 phase */
#ifndef EMULATOR_MACHINE_MBARRIER_H
#define EMULATOR_MACHINE_MBARRIER_H

#include "emulator/machine/machine_copies.h"

enum { MBARRIER_BYTES = 8, MBARRIER_MOST = (1 << 20) - 1 /* arrivals, bytes */ };

typedef struct Mbarrier {
    int64_t pending, expected, bytes;
    int phase; /* parity of the current one */
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

/* Writes it; those that wait for an mbarrier of the block try again. `running`: the block whose lane does it. */
void mbarrier_write(Block *block, uint64_t place, Mbarrier mbarrier, const Block *running);
/* The phase is complete: the next one begins. */
void mbarrier_flip(Mbarrier *mbarrier);
/* The copies that belong to it are all that is missing: they arrive, and the phase is complete. `lane` of `warp`, of any
 * block of the cluster, is the first to know. */
void mbarrier_settle(Block *block, uint64_t place, const Warp *warp, int lane);
/* The phase that a block waits for which runs without its cluster, whose other blocks would complete it (guided_run.h):
 * it is complete, with all copies of the own block. */
void mbarrier_complete_alone(Block *block, uint64_t place, const Warp *warp, int lane);
/* What a copy writes lies in the block of rank `to`, its mbarrier in that of rank `at` (-1: the own one): they must be
 * the same one. False after a trap. */
bool mbarrier_lies_with(Block *block, const Warp *warp, const Op *op, int lane, int to, int at);
/* Copies have begun: phases may be complete. */
void mbarrier_wake(Block *block, const Block *running);
/* Nothing else can run: waits end without their phase being complete, as they do on a GPU after a time limit. False: there
 * are none, or they have given up in vain for long, which a block without its cluster never has. */
bool mbarrier_give_up(Block *block);

#endif
