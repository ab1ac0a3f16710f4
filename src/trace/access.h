/* Access: the hardware cost of one warp's memory access.
 *
 * The rules are pure functions, measured on an H200 (tests/data/warp_access_counts.csv: 919 one-warp
 * accesses, which tests/trace reproduces). A *phase* is a run of consecutive lanes served together; a
 * *wavefront* is one pass over the 32 banks (4-byte words); *ideal* wavefronts = phases that have an active
 * lane; a *sector* is 32 aligned bytes. */
#ifndef TRACE_ACCESS_H
#define TRACE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

enum { WARP_LANES = 32, BANK_COUNT = 32, BANK_BYTES = 4, SECTOR_BYTES = 32, LINE_BYTES = 128 };

typedef struct SharedCost {
    int wavefronts; /* sum over the phases of the most distinct words in one bank */
    int ideal;      /* phases with an active lane */
    int phases;     /* 1, 2 or 4 */
    bool is_paired; /* the pair rule halved the phases (loads of 8 and 16 bytes only) */
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
                                  uint8_t wavefront_of_lane[WARP_LANES]);

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
