/* Shared memory before and after a level. */
#include "tui/scene/reduction_state.h"

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
                                         .before_type = PTX_NO_TYPE,
                                         .root = FOLD_NONE,
                                         .before_node = FOLD_NONE,
                                         .node = FOLD_NONE,
                                         .unwritten = -1,
                                         .thread = -1,
                                         .step = level->first};
    words_done(&before);
    words_done(&after);
}

/* ---- words that a level reads before they are written -------------------------------------------------- */

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

/* ---- stores of other threads to a word that a level reads ---------------------------------------------- */

typedef struct SharedStore { /* of one thread to one word */
    int event, warp, thread;
    uint32_t interval;
    uint64_t word, value;
    int next; /* an earlier one in the same place of SharedStores.last; -1: none */
} SharedStore;

typedef struct SharedStores { /* of the whole run, to one symbol */
    SharedStore *stores;
    int count, capacity;
    int *last; /* [count + 1], by the remainder of the word: its last store; -1: none */
} SharedStores;

static int *stores_at(const SharedStores *stores, uint64_t word) {
    return &stores->last[word % ((uint64_t)stores->count + 1)];
}

static void add_store(SharedStores *stores, const TraceEvent *event, int number, int lane) {
    for (int e = 0; e < event->element_count; e++) {
        SharedStore store = {.event = number,
                             .warp = event->warp,
                             .thread = event->warp * WARP_LANES + lane,
                             .interval = event->interval,
                             .word = event->offset[lane] / (uint64_t)event->element_bytes + (uint64_t)e,
                             .value = event->value[e][lane]};
        array_push(stores->stores, stores->count, stores->capacity, store);
    }
}

static void index_stores(SharedStores *stores) {
    stores->last = memory_new(((size_t)stores->count + 1) * sizeof *stores->last);
    for (int i = 0; i <= stores->count; i++) stores->last[i] = -1;
    for (int i = 0; i < stores->count; i++) {
        int *place = stores_at(stores, stores->stores[i].word);
        stores->stores[i].next = *place;
        *place = i;
    }
}

static SharedStores list_stores(const Reduction *reduction, int symbol) {
    const Steps *steps = reduction->tree->steps;
    SharedStores stores = {0};
    TraceEvent event;
    for (int step = 0; step < steps->step_count; step++) {
        if (reduction->step_index->step[step].kind != TRACE_SHARED_STORE) continue;
        for (int i = 0; i < steps->steps[step].count; i++) {
            int number = steps->events[steps->steps[step].first + i];
            trace_block_read(steps->block, number, &event);
            if (event.kind != TRACE_SHARED_STORE) continue;
            for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
                int lane = __builtin_ctz(rest);
                if (event.buffer[lane] == symbol) add_store(&stores, &event, number, lane);
            }
        }
    }
    index_stores(&stores);
    return stores;
}

/* Whether the warp executes __syncwarp() between two of its events. */
static bool is_synced(const Reduction *reduction, int warp, int event, int other) {
    int from = event < other ? event : other, to = event < other ? other : event;
    for (int i = step_index_neighbour(reduction->step_index, from, warp, 1); i >= 0 && i < to;
         i = step_index_neighbour(reduction->step_index, i, warp, 1))
        if (reduction->step_index->step[step_of_event(reduction, i)].kind == TRACE_WARP_SYNC) return true;
    return false;
}

static void find_writer(const Reduction *reduction, const SharedStores *stores, ReductionTerm *term) {
    const FoldNode *load = node_at(reduction, term->node);
    TraceEvent event;
    trace_block_read(reduction->tree->steps->block, load->event, &event);
    for (int i = *stores_at(stores, (uint64_t)term->index); i >= 0; i = stores->stores[i].next) {
        const SharedStore *store = &stores->stores[i];
        bool is_silent = store->value == load->bits;
        if (store->word != (uint64_t)term->index) continue;
        if (store->interval != event.interval || store->thread == term->thread) continue;
        if (is_silent && term->writer >= 0) continue;
        if (store->warp == load->warp && is_synced(reduction, store->warp, load->event, store->event))
            continue;
        term->writer = store->thread;
        term->is_silent = is_silent;
        term->is_early = store->event > load->event;
    }
}

void reduction_find_writers(const Reduction *reduction, ReductionLevel *level) {
    SharedStores stores = {0};
    int symbol = -1;
    for (int i = 0; i < level->term_count; i++) {
        ReductionTerm *term = &level->terms[i];
        if (term->place != PLACE_WORD) continue;
        if (symbol < 0) stores = list_stores(reduction, symbol = term->symbol);
        if (term->symbol == symbol && term->index >= 0) find_writer(reduction, &stores, term);
    }
    free(stores.stores);
    free(stores.last);
}
