#include "metrics/races/block_pattern.h"

#include "base/memory.h"
#include <stdlib.h>

enum { MOST_STEPS = 1 << 14 };

void block_pattern_begin(BlockPattern *pattern, bool is_used) {
    pattern->state = is_used ? PATTERN_FOLLOWS : PATTERN_ENDS;
    pattern->at = pattern->interval = 0;
}

void block_pattern_add(BlockPattern *pattern, const PatternStep *step) {
    if (pattern->count == MOST_STEPS)
        pattern->state = PATTERN_ENDS;
    else
        array_push(pattern->steps, pattern->count, pattern->capacity, *step);
}

void block_pattern_drop(BlockPattern *pattern) {
    pattern->state = PATTERN_ENDS;
    pattern->count = 0;
}

void block_pattern_done(BlockPattern *pattern) {
    free(pattern->steps);
    *pattern = (BlockPattern){0};
}
