/* Words of shared memory that a level reads before they are written. */
#include "tui/scene/reduction_state.h"

#include "base/memory.h"
#include <stdlib.h>

/* The bytes of the block's shared memory written so far, in the order in which the events were recorded. */
typedef struct Written {
    bool *byte;
    uint64_t count;
} Written;

static Written written_new(const TraceLaunch *launch) {
    Written written = {.count = 0};
    for (int i = 0; i < launch->symbol_count; i++) {
        const TraceSymbol *symbol = &launch->symbols[i];
        uint64_t end = symbol->window_offset + symbol->bytes;
        if (symbol->space == PTX_SPACE_SHARED && end > written.count) written.count = end;
    }
    written.byte = memory_new((size_t)written.count + 1);
    return written;
}

static uint64_t place_of(const Reduction *reduction, const TraceEvent *event, int lane, int element) {
    const TraceSymbol *symbol = &reduction->tree->steps->launch->symbols[event->buffer[lane]];
    return symbol->window_offset + event->offset[lane] + (uint64_t)element * (uint64_t)event->element_bytes;
}

/* The word to which the thread next stores its sum in this level; -1: none. `step`: the step of that
 * store. */
static int64_t next_stored(const Reduction *reduction, const ReductionLevel *level, int number,
                           const TraceEvent *load, int lane, int *step) {
    TraceEvent event;
    while ((number = step_index_neighbour(reduction->step_index, number, load->warp, 1)) >= 0) {
        *step = step_of_event(reduction, number);
        if (*step > level->last) return -1;
        if (reduction->step_index->step[*step].kind != TRACE_SHARED_STORE) continue;
        trace_block_read(reduction->tree->steps->block, number, &event);
        bool stores = event.kind == TRACE_SHARED_STORE && event.mask >> lane & 1;
        if (stores && event.buffer[lane] == level->symbol)
            return (int64_t)(event.offset[lane] / (uint64_t)event.element_bytes);
    }
    return -1;
}

static void note_read(const Reduction *reduction, ReductionLevel *level, int number, const TraceEvent *event,
                      int lane, int element) {
    int thread = event->warp * WARP_LANES + lane, step = 0;
    int64_t index =
        level->place == PLACE_WORD ? next_stored(reduction, level, number, event, lane, &step) : thread;
    ReductionBox *box = (ReductionBox *)reduction_find(level, index);
    ReductionTerm read = {.place = PLACE_WORD,
                          .node = FOLD_NONE,
                          .step = step_of_event(reduction, number),
                          .thread = thread,
                          .writer = -1};
    if (!box || box->unwritten >= 0) return;
    reduction_put_address(&read, event, lane, element);
    box->unwritten = read.index;
    if (!box->adds && level->place == PLACE_WORD) {
        /* The thread adds, but its sum contains no second input: the word it read holds none. */
        level->adding[thread / WARP_LANES] |= 1u << thread % WARP_LANES;
        box->adds = true;
        box->thread = thread;
        box->step = step;
        box->node = FOLD_NONE;
        box->first_term = level->term_count;
        box->term_count = 1;
        *reduction_add_term(level) = read;
    }
}

static void note_lanes(const Reduction *reduction, ReductionLevel *level, int number, const TraceEvent *event,
                       const Written *written) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1)
        for (int e = 0; e < event->element_count; e++) {
            uint64_t at = place_of(reduction, event, __builtin_ctz(rest), e);
            if (at < written->count && !written->byte[at])
                note_read(reduction, level, number, event, __builtin_ctz(rest), e);
        }
}

/* Reads or writes values in shared memory. */
static bool is_watched(TraceKind kind) {
    return kind == TRACE_SHARED_LOAD || kind == TRACE_SHARED_STORE || kind == TRACE_SHARED_ATOMIC ||
           kind == TRACE_SHARED_BULK_WRITE;
}

void reduction_find_unwritten(const Reduction *reduction, ReductionLevel *level) {
    const Steps *steps = reduction->tree->steps;
    Written written = written_new(steps->launch);
    int count = level->kind == TREE_FOLD && written.count ? trace_block_event_count(steps->block) : 0;
    TraceEvent event;
    for (int number = 0; number < count; number++) {
        int step = step_of_event(reduction, number);
        TraceKind kind = (TraceKind)reduction->step_index->step[step].kind;
        if (step > level->last || !is_watched(kind)) continue;
        trace_block_read(steps->block, number, &event);
        if (!is_watched(event.kind)) continue;
        if (event.is_load && step >= level->first) note_lanes(reduction, level, number, &event, &written);
        if (event.kind != TRACE_SHARED_LOAD) {
            for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
                uint64_t at = place_of(reduction, &event, __builtin_ctz(rest), 0);
                uint64_t bytes = trace_kind_is_bulk(event.kind) ? event.operand[__builtin_ctz(rest)]
                                                                : (uint64_t)event.width;
                for (uint64_t i = 0; i < bytes && at + i < written.count; i++) written.byte[at + i] = true;
            }
        }
    }
    free(written.byte);
}
