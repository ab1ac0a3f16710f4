/* Shared memory before and after a level. */
#include "tui/scene/reduction_state.h"

#include "base/memory.h"
#include <stdlib.h>

typedef struct SharedWords {  /* of one symbol */
    int symbol, count, bytes; /* bytes: size of an element */
    uint64_t *value;
    bool *written, *live;
    int *node; /* the node that was stored, if a later load identifies it */
} SharedWords;

static bool is_shared_write(TraceKind kind) {
    return kind == TRACE_SHARED_STORE || kind == TRACE_SHARED_ATOMIC;
}

static void store_words(SharedWords *words, const TraceEvent *event) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (event->buffer[lane] != words->symbol || event->element_bytes != words->bytes) continue;
        for (int e = 0; e < event->element_count; e++) {
            uint64_t at = event->offset[lane] / (uint64_t)words->bytes + (uint64_t)e;
            if (at >= (uint64_t)words->count) continue;
            words->value[at] = event->value[e][lane];
            words->written[at] = true;
        }
    }
}

/* The contents after the stores of the steps before `end`. */
static void fill_words(const Reduction *reduction, SharedWords *words, int end) {
    const Steps *steps = reduction->tree->steps;
    TraceEvent event;
    for (int step = 0; step < end && step < steps->step_count; step++) {
        if (!is_shared_write((TraceKind)reduction->step_index->step[step].kind)) continue;
        for (int i = 0; i < steps->steps[step].count; i++) {
            trace_block_read(reduction->tree->steps->block, steps->events[steps->steps[step].first + i],
                             &event);
            if (event.kind == TRACE_SHARED_STORE) store_words(words, &event);
        }
    }
}

/* Words whose value a later load uses for a result, before it is overwritten. */
static void find_live(const Reduction *reduction, SharedWords *words, int from) {
    const Steps *steps = reduction->tree->steps;
    bool *closed = memory_new((size_t)words->count + 1);
    TraceEvent event;
    for (int step = from; step < steps->step_count; step++) {
        TraceKind kind = (TraceKind)reduction->step_index->step[step].kind;
        if (kind != TRACE_SHARED_LOAD && !is_shared_write(kind)) continue;
        for (int i = 0; i < steps->steps[step].count; i++) {
            int number = steps->events[steps->steps[step].first + i];
            trace_block_read(reduction->tree->steps->block, number, &event);
            for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
                int lane = __builtin_ctz(rest);
                if (event.buffer[lane] != words->symbol || event.element_bytes != words->bytes) continue;
                for (int e = 0; e < event.element_count; e++) {
                    uint64_t at = event.offset[lane] / (uint64_t)words->bytes + (uint64_t)e;
                    if (at >= (uint64_t)words->count || closed[at]) continue;
                    if (event.kind == TRACE_SHARED_STORE)
                        closed[at] = true;
                    else if (reduction->useful[number] >> lane & 1)
                        words->live[at] = closed[at] = true;
                }
            }
        }
    }
    free(closed);
}

static SharedWords words_at(const Reduction *reduction, int symbol, int bytes, int step) {
    const TraceSymbol *of = &reduction->tree->steps->launch->symbols[symbol];
    SharedWords words = {.symbol = symbol, .bytes = bytes, .count = (int)(of->bytes / (uint64_t)bytes)};
    /* Dynamic shared memory may be one symbol without a size: its size is what was written. */
    size_t count = (size_t)words.count + 1;
    words.value = memory_new(count * sizeof *words.value);
    words.written = memory_new(count);
    words.live = memory_new(count);
    fill_words(reduction, &words, step);
    find_live(reduction, &words, step);
    return words;
}

static void words_done(SharedWords *words) {
    free(words->value);
    free(words->written);
    free(words->live);
}

void reduction_fill_words(const Reduction *reduction, ReductionLevel *level) {
    int bytes = ptx_type_bytes(level->type), end = reduction_level_first(reduction, level->level + 1);
    SharedWords before = words_at(reduction, level->symbol, bytes, level->first);
    SharedWords after = words_at(reduction, level->symbol, bytes, end);
    int count = 0;
    for (int i = 0; i < before.count; i++)
        if (before.written[i] || after.written[i]) count = i + 1;
    level->box_count = count;
    level->boxes = memory_new(((size_t)count + 1) * sizeof *level->boxes);
    for (int i = 0; i < count; i++)
        level->boxes[i] = (ReductionBox){.index = i,
                                         .before = before.value[i],
                                         .after = after.value[i],
                                         .has_before = before.written[i],
                                         .has_after = after.written[i],
                                         .was_live = before.live[i],
                                         .is_live = after.live[i],
                                         .before_node = FOLD_NONE,
                                         .node = FOLD_NONE,
                                         .unwritten = -1,
                                         .thread = -1,
                                         .step = level->first};
    words_done(&before);
    words_done(&after);
}
