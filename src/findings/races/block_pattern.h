/* Block pattern: the shared memory accesses and barriers of the last block, in order. Private to
 * src/findings.
 *
 * Nearly all blocks of a grid do the same there. If nothing was found in one block, nothing will be found in
 * the next as long as it does the same, so its accesses are only compared with the pattern. Where it
 * *departs*, its accesses since its last barrier are added to the shadow memory, and the search continues
 * from that access. No access before a barrier of the whole block can race with one after it.
 *
 * This holds where lanes, addresses and barriers alone decide what races: in launches without fences,
 * volatile accesses, asynchronous copies and clusters; between barriers of whole blocks and of whole
 * warps. */
#ifndef FINDINGS_RACES_BLOCK_PATTERN_H
#define FINDINGS_RACES_BLOCK_PATTERN_H

#include "trace/observer.h"

typedef struct PatternStep {
    uint32_t origin; /* an access: as in WarpAccess; a barrier: PATTERN_BARRIER plus the warp that arrives */
    uint32_t mask;   /* lanes; 0: a barrier of the block */
    uint32_t first;  /* lane l accesses first + l * stride, modulo 2^32: shared memory is smaller */
    uint32_t stride; /* PATTERN_SCATTERED: no constant stride; the offsets start at offsets[first] */
} PatternStep;

#define PATTERN_BARRIER   UINT32_C(0xffffffe0) /* no instruction has this number */
#define PATTERN_SCATTERED UINT32_C(0x80000000)

typedef struct PatternOffsets {
    uint32_t lanes[WARP_LANES]; /* 0 for inactive lanes */
} PatternOffsets;

typedef enum PatternState {
    PATTERN_FOLLOWS, /* the block has done the same as the last one so far: steps [0 .. at - 1] */
    PATTERN_DEPARTS, /* it has not; its steps are added for the next block */
    PATTERN_ENDS     /* no more steps are added */
} PatternState;

typedef struct BlockPattern {
    PatternStep *steps;
    int count, capacity;
    PatternOffsets *offsets;
    int offsets_count, offsets_capacity;
    int at, offsets_at;
    int interval; /* the first step after its last barrier */
    PatternState state;
} BlockPattern;

void block_pattern_begin(BlockPattern *pattern, bool is_used);
/* Drops the steps of the last block that this one has not done. */
void block_pattern_depart(BlockPattern *pattern);
/* `access`: that of the step; NULL: the step is not an access. */
void block_pattern_add(BlockPattern *pattern, PatternStep step, const TraceAccess *access);
/* This block cannot serve as a pattern: a race was found, or something else that other blocks may lack. */
void block_pattern_drop(BlockPattern *pattern);
void block_pattern_done(BlockPattern *pattern);

static inline PatternStep block_pattern_step(const TraceAccess *access) {
    uint32_t origin = (uint32_t)access->pc << 5 | (uint32_t)access->warp;
    if (!access->is_line) return (PatternStep){origin, access->mask, 0, PATTERN_SCATTERED};
    return (PatternStep){origin, access->mask, (uint32_t)access->first, (uint32_t)access->stride};
}

bool block_pattern_follow_offsets(BlockPattern *pattern, const TraceAccess *access);

/* True: the last block did the same so far; moves to the next step. `access`: as in block_pattern_add(). */
static inline bool block_pattern_follow(BlockPattern *pattern, const PatternStep *step,
                                        const TraceAccess *access) {
    if (pattern->state != PATTERN_FOLLOWS || pattern->at == pattern->count) return false;
    const PatternStep *next = &pattern->steps[pattern->at];
    bool is_same = next->origin == step->origin && next->mask == step->mask && next->stride == step->stride &&
                   (step->stride == PATTERN_SCATTERED ? block_pattern_follow_offsets(pattern, access)
                                                      : next->first == step->first);
    pattern->at += is_same;
    return is_same;
}

/* Rebuilds the access of a step, without memory and values: nothing is reported about it. `room`: for its
 * offsets. */
TraceAccess block_pattern_access(const BlockPattern *pattern, const PatternStep *step,
                                 uint64_t room[WARP_LANES]);

#endif
