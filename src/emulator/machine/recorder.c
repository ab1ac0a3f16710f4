/* Records events and collapses spin loops (recorder.h). */
#include "emulator/machine/recorder.h"

#include "emulator/machine/recorded_values.h"

#include "trace/block.h"
#include "trace/producer_rules.h"

#include <stdlib.h>

enum { QUEUE = 256, FLUSH_AT = 128 };

typedef struct Queued {
    bool dropped, watches;
    TraceEvent event;
} Queued;

typedef struct Occurrences { /* of one pc in a warp: per lane, within an interval */
    uint32_t interval[WARP_LANES], count[WARP_LANES];
} Occurrences;

struct Recorder {
    TraceBlock *block;
    int most;             /* events that the block keeps */
    Queued *queue;        /* [number % QUEUE] */
    uint64_t first, next; /* numbers of the oldest queued and of the next event */
    SpinHistory histories[MAX_WARPS];
    Occurrences **occurrences; /* [pc][warp], allocated when a pc is first recorded */
    int pc_count, warps;
    const BlockHooks *hooks; /* create the events; then everything else is empty; NULL: none */
};

Recorder *recorder_new(const Grid *grid, uint64_t linear) {
    Recorder *recorder = memory_new(sizeof *recorder);
    recorder->block = trace_block_new((uint32_t)linear);
    recorder->most = grid->trace_most;
    recorder->queue = memory_new(QUEUE * sizeof *recorder->queue);
    recorder->pc_count = grid->program->op_count;
    recorder->occurrences = memory_new(((size_t)recorder->pc_count + 1) * sizeof *recorder->occurrences);
    recorder->warps = grid->warps_per_block;
    return recorder;
}

Recorder *recorder_with_hooks(const BlockHooks *hooks) {
    Recorder *recorder = memory_new(sizeof *recorder);
    recorder->hooks = hooks;
    return recorder;
}

static void release(Recorder *recorder) {
    for (int pc = 0; pc < recorder->pc_count; pc++) free(recorder->occurrences[pc]);
    free(recorder->occurrences);
    free(recorder->queue);
    free(recorder);
}

static Queued *queued(Recorder *recorder, uint64_t number) {
    return &recorder->queue[number % QUEUE];
}

static Occurrences *occurrences_of(Recorder *recorder, int pc, int warp) {
    if (!recorder->occurrences[pc])
        recorder->occurrences[pc] = memory_new((size_t)recorder->warps * sizeof(Occurrences));
    return &recorder->occurrences[pc][warp];
}

static void count_occurrence(Occurrences *counts, uint32_t interval, uint32_t mask) {
    if (mask == ALL_LANES) {
        for (int l = 0; l < WARP_LANES; l++) {
            counts->count[l] = (counts->interval[l] == interval ? counts->count[l] : 0) + 1;
            counts->interval[l] = interval;
        }
        return;
    }
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        counts->count[lane] = (counts->interval[lane] == interval ? counts->count[lane] : 0) + 1;
        counts->interval[lane] = interval;
    }
}

/* Reuses the slot: clears the rows that its previous event used. */
static TraceEvent *new_event(Queued *slot) {
    TraceEvent *event = &slot->event;
    size_t begin = offsetof(TraceEvent, value), end = begin + sizeof event->value;
    size_t rows = event->element_count > 1 ? (size_t)event->element_count : 1;
    slot->dropped = slot->watches = false;
    memset(event, 0, begin);
    memset(event->value, 0, rows * sizeof *event->value);
    memset((char *)event + end, 0, sizeof *event - end);
    return event;
}

TraceEvent *recorder_begin(Recorder *recorder, const Warp *warp, int pc, uint32_t mask, TraceKind kind) {
    if (recorder->hooks) return recorder->hooks->begin_event(recorder->hooks->context, warp, pc, mask);
    if (warp->block->recorded_values) recorded_values_step(warp->block->recorded_values, warp, pc, mask);
    TraceEvent *event = new_event(queued(recorder, recorder->next));
    event->kind = kind;
    event->warp = warp->index;
    event->pc = pc;
    event->mask = mask;
    event->turn = (uint32_t)warp->block->turn;
    event->interval = warp->interval;
    Occurrences *counts = occurrences_of(recorder, pc, warp->index);
    int lowest = __builtin_ctz(mask);
    event->occurrence = counts->interval[lowest] == warp->interval ? counts->count[lowest] : 0;
    count_occurrence(counts, warp->interval, mask);
    return event;
}

/* Writes out the oldest events, except those that may still turn out to be iterations of a spin loop. */
static void flush(Recorder *recorder, bool all) {
    uint64_t until = recorder->next;
    for (int w = 0; w < MAX_WARPS; w++) {
        SpinHistory *history = &recorder->histories[w];
        if (all) history->count = 0;
        bool may_spin = false;
        for (int i = 0; i < history->count; i++) may_spin |= queued(recorder, history->event[i])->watches;
        if (!may_spin) history->count = 0;
        if (history->count && history->event[0] < until) until = history->event[0];
    }
    for (; recorder->first < until; recorder->first++) {
        const Queued *slot = queued(recorder, recorder->first);
        if (slot->dropped) continue;
        if (trace_block_event_count(recorder->block) < recorder->most)
            trace_block_append(recorder->block, &slot->event);
        else
            trace_block_drop(recorder->block);
    }
}

static bool is_same_access(const void *context, uint64_t late, uint64_t early) {
    const Recorder *recorder = context;
    const TraceEvent *a = &recorder->queue[late % QUEUE].event, *b = &recorder->queue[early % QUEUE].event;
    if (a->pc != b->pc || a->mask != b->mask || a->kind != b->kind) return false;
    bool is_atomic = a->kind == TRACE_SHARED_ATOMIC || a->kind == TRACE_GLOBAL_ATOMIC;
    if (is_atomic && memcmp(a->value, b->value, sizeof a->value) != 0) return false;
    if (is_atomic && memcmp(a->operand, b->operand, sizeof a->operand) != 0) return false;
    if (a->participants != b->participants) return false;
    return !memcmp(a->buffer, b->buffer, sizeof a->buffer) && !memcmp(a->offset, b->offset, sizeof a->offset);
}

static bool is_watching(const void *context, uint64_t number) {
    const Recorder *recorder = context;
    return recorder->queue[number % QUEUE].watches;
}

/* The later iteration replaces the earlier one in the counts. */
static void drop_round(Recorder *recorder, SpinHistory *history, int period) {
    int earlier = history->count - 2 * period, later = history->count - period;
    for (int i = 0; i < period; i++) {
        Queued *old = queued(recorder, history->event[earlier + i]),
               *new = queued(recorder, history->event[later + i]);
        old->dropped = true;
        new->event.occurrence = old->event.occurrence;
        Occurrences *counts = occurrences_of(recorder, old->event.pc, old->event.warp);
        for (uint32_t rest = old->event.mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            if (counts->interval[lane] == old->event.interval && counts->count[lane]) counts->count[lane]--;
        }
    }
    spin_history_drop_earlier(history, period);
}

void recorder_end(Recorder *recorder, bool repeatable, bool watches) {
    if (recorder->hooks) {
        recorder->hooks->end_event(recorder->hooks->context);
        return;
    }
    uint64_t number = recorder->next++;
    Queued *slot = queued(recorder, number);
    slot->watches = watches;
    SpinHistory *history = &recorder->histories[slot->event.warp];
    if (repeatable) {
        const SpinEvents events = {is_same_access, is_watching, recorder};
        int period = spin_history_add(history, number, &events);
        if (period) drop_round(recorder, history, period);
    } else {
        history->count = 0;
    }
    uint64_t waiting = recorder->next - recorder->first;
    if (waiting >= FLUSH_AT) flush(recorder, false);
    if (recorder->next - recorder->first >= QUEUE) flush(recorder, true);
}

void recorder_finish(Recorder *recorder, TraceLaunch *launch) {
    flush(recorder, true);
    trace_launch_add_block(launch, recorder->block);
    release(recorder);
}

void recorder_free(Recorder *recorder) {
    trace_block_free(recorder->block);
    release(recorder);
}
