/* Block pattern: the accesses and barriers of the last block in its shared memory, in order. Private to
 * src/metrics.
 *
 * Nearly all blocks of a grid do the same there. Where nothing was to be said of one, nothing is to be said of the next
 * as long as that does the same: it is only compared. Where it *departs*, what it has done since its last barrier is put
 * into the shadow memory, as if it had been there from the start, and the search goes on from that access; what lies
 * before a barrier of the whole block can race with nothing behind it.
 *
 * This holds where lanes, addresses and barriers alone decide what races: in launches without fences, volatile accesses,
 * asynchronous copies and clusters; between barriers of whole blocks and of whole warps. */
#ifndef FINDINGS_RACES_BLOCK_PATTERN_H
#define FINDINGS_RACES_BLOCK_PATTERN_H

#include "trace/observer.h"

typedef struct PatternStep {
    uint32_t origin; /* of an access: as in WarpAccess; else PATTERN_BARRIER, plus the warp that meets */
    uint32_t mask;   /* lanes; 0: a barrier of the block */
    uint32_t first;  /* lane l accesses first + l * stride, modulo 2^32: shared memory is smaller */
    uint32_t stride; /* PATTERN_SCATTERED: they are no line, but offsets[first] */
} PatternStep;

#define PATTERN_BARRIER   UINT32_C(0xffffffe0) /* no instruction has this number */
#define PATTERN_SCATTERED UINT32_C(0x80000000)

typedef struct PatternOffsets {
    uint32_t lanes[WARP_LANES]; /* 0 where one takes no part */
} PatternOffsets;

typedef enum PatternState {
    PATTERN_FOLLOWS, /* the block has done the same as the last one up to now: steps [0 .. at - 1] */
    PATTERN_DEPARTS, /* it has not; what it does is added, for the next one */
    PATTERN_ENDS     /* nothing is added any more */
} PatternState;

typedef struct BlockPattern {
    PatternStep *steps;
    int count, capacity;
    PatternOffsets *offsets;
    int offsets_count, offsets_capacity;
    int at, offsets_at;
    int interval; /* the first step behind its last barrier */
    PatternState state;
} BlockPattern;

void block_pattern_begin(BlockPattern *pattern, bool is_used);
/* The steps of the last block that this one has not done are dropped. */
void block_pattern_depart(BlockPattern *pattern);
/* `access`: of the step; NULL: it is none. */
void block_pattern_add(BlockPattern *pattern, PatternStep step, const TraceAccess *access);
/* A race was found, or something else that another block need not have: this block is no pattern. */
void block_pattern_drop(BlockPattern *pattern);
void block_pattern_done(BlockPattern *pattern);

static inline PatternStep block_pattern_step(const TraceAccess *access) {
    uint32_t origin = (uint32_t)access->pc << 5 | (uint32_t)access->warp;
    if (!access->is_line) return (PatternStep){origin, access->mask, 0, PATTERN_SCATTERED};
    return (PatternStep){origin, access->mask, (uint32_t)access->first, (uint32_t)access->stride};
}

bool block_pattern_follow_offsets(BlockPattern *pattern, const TraceAccess *access);

/* True: the last block did the same in this place, too, and up to here; then the next step is the one behind it. `access`:
 * as below. */
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

/* The access of a step; nothing is to be said of it, so that it needs no memory and no values. `room`: for its offsets. */
TraceAccess block_pattern_access(const BlockPattern *pattern, const PatternStep *step,
                                 uint64_t room[WARP_LANES]);

#endif
