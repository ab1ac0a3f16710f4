/* Block pattern: what the last block did in its shared memory, access for access and barrier for barrier. Private to
 * src/metrics.
 *
 * Nearly all blocks of a grid do the same there. Where nothing was to be said of one, nothing is to be said of the next
 * as long as that does the same: it is only compared. Where it *departs*, what it has done since its last barrier is put
 * into the shadow memory, as if it had been there from the start, and the search goes on from that access; what lies
 * before a barrier of the whole block can race with nothing behind it.
 *
 * This holds where lanes, addresses and barriers alone decide what races: in launches without fences, volatile accesses,
 * asynchronous copies and clusters; of accesses that are lines; between barriers of whole blocks and of whole warps. */
#ifndef METRICS_RACES_BLOCK_PATTERN_H
#define METRICS_RACES_BLOCK_PATTERN_H

#include "trace/observer.h"

typedef struct PatternStep {
    uint32_t
        origin;    /* of an access: as in WarpAccess; else PATTERN_BARRIER, plus the warp that synchronizes */
    uint32_t mask; /* lanes; 0: a barrier of the block */
    uint32_t first; /* lane l accesses first + l * stride, modulo 2^32: shared memory is smaller */
    uint32_t stride;
} PatternStep;

#define PATTERN_BARRIER UINT32_C(0xffffffe0) /* no instruction has this number */

typedef enum PatternState {
    PATTERN_FOLLOWS, /* the block has done the same as the last one up to now: steps [0 .. at - 1] */
    PATTERN_DEPARTS, /* it has not; what it does is added, for the next one */
    PATTERN_ENDS     /* nothing is added any more */
} PatternState;

typedef struct BlockPattern {
    PatternStep *steps;
    int count, capacity;
    int at;
    int interval; /* the first step behind its last barrier */
    PatternState state;
} BlockPattern;

void block_pattern_begin(BlockPattern *pattern, bool is_used);
void block_pattern_add(BlockPattern *pattern, const PatternStep *step);
/* A race was found, or something else that another block need not have: this block is no pattern. */
void block_pattern_drop(BlockPattern *pattern);
void block_pattern_done(BlockPattern *pattern);

static inline PatternStep pattern_of_access(const TraceAccess *access) {
    return (PatternStep){(uint32_t)access->pc << 5 | (uint32_t)access->warp, access->mask,
                         (uint32_t)access->first, (uint32_t)access->stride};
}

/* The access of a step; nothing is to be said of it, so that it needs no memory and no values. */
static inline TraceAccess pattern_access(const PatternStep *step) {
    return (TraceAccess){.pc = (int)(step->origin >> 5),
                         .warp = (int)(step->origin & 31),
                         .mask = step->mask,
                         .space = PTX_SPACE_SHARED,
                         .buffer = -1,
                         .is_line = true,
                         .first = (uint64_t)(int32_t)step->first,
                         .stride = (int32_t)step->stride};
}

static inline bool block_pattern_is_next(const BlockPattern *pattern, const PatternStep *step) {
    if (pattern->state != PATTERN_FOLLOWS || pattern->at == pattern->count) return false;
    const PatternStep *next = &pattern->steps[pattern->at];
    return next->origin == step->origin && next->mask == step->mask && next->first == step->first &&
           next->stride == step->stride;
}

#endif
