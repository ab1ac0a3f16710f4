/* Stores of other threads to a word that a level reads. */
#include "tui/scene/reduction_state.h"

#include "base/memory.h"
#include <stdlib.h>

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

static int *place_of(const SharedStores *stores, uint64_t word) {
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
        int *place = place_of(stores, stores->stores[i].word);
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
    for (int i = *place_of(stores, (uint64_t)term->index); i >= 0; i = stores->stores[i].next) {
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
