#include "findings/races/block_pattern.h"

#include "base/memory.h"
#include <stdlib.h>

enum { MOST_STEPS = 1 << 14 };

void block_pattern_begin(BlockPattern *pattern, bool is_used) {
    pattern->state = is_used ? PATTERN_FOLLOWS : PATTERN_ENDS;
    pattern->at = pattern->offsets_at = pattern->interval = 0;
}

bool block_pattern_follow_offsets(BlockPattern *pattern, const TraceAccess *access) {
    const PatternOffsets *offsets = &pattern->offsets[pattern->offsets_at];
    uint32_t wrong = 0;
    if (access->mask == ~UINT32_C(0)) {
        for (int l = 0; l < WARP_LANES; l++) wrong |= (uint32_t)access->offset[l] ^ offsets->lanes[l];
    } else {
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            wrong |= (uint32_t)access->offset[lane] ^ offsets->lanes[lane];
        }
    }
    pattern->offsets_at += !wrong;
    return !wrong;
}

void block_pattern_depart(BlockPattern *pattern) {
    pattern->state = PATTERN_DEPARTS;
    pattern->count = pattern->at;
    pattern->offsets_count = pattern->offsets_at;
}

void block_pattern_add(BlockPattern *pattern, PatternStep step, const TraceAccess *access) {
    if (pattern->count == MOST_STEPS) {
        pattern->state = PATTERN_ENDS;
        return;
    }
    if (step.stride == PATTERN_SCATTERED) {
        step.first = (uint32_t)pattern->offsets_count;
        array_reserve(pattern->offsets, pattern->offsets_count + 1, pattern->offsets_capacity);
        PatternOffsets *offsets = &pattern->offsets[pattern->offsets_count++];
        for (int l = 0; l < WARP_LANES; l++)
            offsets->lanes[l] = access->mask >> l & 1 ? (uint32_t)access->offset[l] : 0;
    }
    array_push(pattern->steps, pattern->count, pattern->capacity, step);
}

TraceAccess block_pattern_access(const BlockPattern *pattern, const PatternStep *step,
                                 uint64_t room[WARP_LANES]) {
    TraceAccess access = {.pc = (int)(step->origin >> 5),
                          .warp = (int)(step->origin & 31),
                          .mask = step->mask,
                          .space = PTX_SPACE_SHARED,
                          .buffer = -1,
                          .is_line = step->stride != PATTERN_SCATTERED,
                          .first = (uint64_t)(int32_t)step->first,
                          .stride = (int32_t)step->stride,
                          .offset = room};
    for (int l = 0; !access.is_line && l < WARP_LANES; l++) room[l] = pattern->offsets[step->first].lanes[l];
    return access;
}

void block_pattern_drop(BlockPattern *pattern) {
    pattern->state = PATTERN_ENDS;
    pattern->count = pattern->offsets_count = 0;
}

void block_pattern_done(BlockPattern *pattern) {
    free(pattern->steps);
    free(pattern->offsets);
    *pattern = (BlockPattern){0};
}
