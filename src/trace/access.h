/* Access: the hardware cost of one warp's memory access.
 *
 * The rules are pure functions, measured on an H200 (tests/data/warp_access_counts.csv: 919 one-warp
 * accesses, which tests/trace reproduces). A *phase* is a run of consecutive lanes served together; a
 * *wavefront* is one pass over the 32 banks (4-byte words); *ideal* wavefronts = phases that have an active
 * lane; a *sector* is 32 aligned bytes.
 *
 * Atomics on shared memory were measured on an H100 (tests/data/shared_atomics.csv). Their cost depends on
 * what the machine makes of them (PtxAtomicForm) and on the lanes of a bank, not only on its words: 32 lanes
 * that update one word take 32 wavefronts. Narrow ones occupy the whole 4-byte word. */
#ifndef TRACE_ACCESS_H
#define TRACE_ACCESS_H

#include "ptx/program.h"

enum { WARP_LANES = 32, BANK_COUNT = 32, BANK_BYTES = 4, SECTOR_BYTES = 32, LINE_BYTES = 128 };

typedef struct SharedCost {
    int wavefronts; /* sum over the phases of the most distinct words in one bank */
    int ideal;      /* phases with an active lane */
    int phases;     /* 1, 2 or 4 */
    bool is_paired; /* the pair rule halved the phases (loads of 8 and 16 bytes only) */
    int rounds;     /* atomics that are a loop (PTX_ATOMIC_SPUN, ...): times that it is executed; else 0 */
    int each;       /* wavefronts that serve a lane: 1; 2 to compare and swap */
} SharedCost;

/* `offsets[lane]`: byte offset in the block's shared window, for lanes in `mask`. `width`: bytes per lane
 * (1..16; 32-byte accesses count as two of 16). 1, 2 and 4 bytes take one phase of all lanes, 8 bytes two of
 * 16 lanes, 16 bytes four of 8 lanes. Loads only: half as many phases if each active lane l has lane l^1
 * inactive or at the same address, or each has lane l^2 so. */
SharedCost access_shared_cost(bool is_load, int width, uint32_t mask, const uint64_t offsets[WARP_LANES]);

/* For panes: which wavefront serves each active lane (0-based over the whole access; a 16-byte lane is served
 * in one phase). Returns the same cost. Within a phase, wavefront k serves the k-th distinct word (ascending)
 * of every bank. A lane wider than 4 bytes is served when its last word is. */
SharedCost access_shared_schedule(bool is_load, int width, uint32_t mask, const uint64_t offsets[WARP_LANES],
                                  uint16_t wavefront_of_lane[WARP_LANES]);

/* An atomic or a reduction. Phases as above, of 32, 16 or 8 lanes for 4, 8 and 16 bytes:
 *
 *   LANES             a phase takes as many wavefronts as its fullest bank has active lanes
 *   COUNTED           as a load: the most distinct words of a bank
 *   COMBINED, SCANNED 1; SCANNED with inactive lanes as LANES
 *   COMPARED          twice as many as LANES
 *   COMPARED_HALF     likewise, and again for the lanes of a word's other half
 *   SPUN, TRIED       a loop. In each round, each phase with lanes left takes 2; of each bank the lowest lane
 *                     is done, unless an earlier phase changed its word in this round. TRIED: 1 more for each
 *                     phase, before it
 *   SWAPPED           a loop of COMPARED; in each round the lowest lane of each word is done
 *
 *   UNKNOWN           none
 *
 * The rounds are those of a warp alone: an update by another warp between load and compare adds one.
 *
 * Ideal: each phase once, without two lanes in a bank. 64-bit minimum, maximum, and, or skip lanes that would
 * change nothing, which depends on values: these counts are then the most that can be.
 *
 * `wavefront_of_lane`: NULL, or the first of the wavefronts that serve each active lane (`each` of them). */
SharedCost access_atomic_cost(PtxAtomicForm form, int width, uint32_t mask,
                              const uint64_t offsets[WARP_LANES], uint16_t wavefront_of_lane[WARP_LANES]);

/* The wavefronts are those of lanes, not of distinct words. */
bool access_atomic_counts_lanes(PtxAtomicForm form);

typedef struct GlobalCost {
    int sectors; /* access_global_sectors */
    int ideal;   /* access_global_sectors_ideal */
} GlobalCost;

/* Both counts of a request in one pass, as a producer needs them for every access. */
GlobalCost access_global_cost(int width, uint32_t mask, const uint64_t addresses[WARP_LANES]);

/* Distinct 32-byte sectors touched by the active lanes (an access may straddle sectors). */
int access_global_sectors(int width, uint32_t mask, const uint64_t addresses[WARP_LANES]);
/* The minimum number of sectors for that many distinct bytes. */
int access_global_sectors_ideal(int width, uint32_t mask, const uint64_t addresses[WARP_LANES]);

#endif
