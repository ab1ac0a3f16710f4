/* Steps: aligns the event sequences of a block's warps.
 *
 * Events are taken in the order of the trace. An event joins the newest step with its key (interval, pc,
 * occurrence), unless its warp is already beyond that step; then it opens a new one. A warp can only join
 * steps at or after its last one, so its order is kept by construction, and only the newest step of a key can
 * still be joined. */
#include "trace/steps.h"

#include "base/memory.h"
#include <stdlib.h>

/* ---- newest step of a key: a hash table of step numbers --------------------------------------------- */

typedef struct Newest {
    int *places;  /* step number + 1; 0: empty */
    int capacity; /* a power of two, at least twice `used` */
    int used;     /* distinct keys */
} Newest;

static uint32_t hash_key(uint32_t interval, int pc, uint32_t occurrence) {
    uint64_t mixed =
        ((uint64_t)interval << 40 ^ (uint64_t)occurrence << 20 ^ (uint64_t)pc) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 32);
}

static int *place_of(const Newest *newest, const Step *steps, uint32_t interval, int pc,
                     uint32_t occurrence) {
    uint32_t last = (uint32_t)newest->capacity - 1, place = hash_key(interval, pc, occurrence) & last;
    for (;; place = (place + 1) & last) {
        int step = newest->places[place] - 1;
        if (step < 0) break;
        if (steps[step].pc == pc && steps[step].interval == interval && steps[step].occurrence == occurrence)
            break;
    }
    return &newest->places[place];
}

static void make_room(Newest *newest, const Step *steps) {
    if (newest->capacity > 2 * newest->used) return;
    Newest old = *newest;
    newest->capacity = old.capacity ? 2 * old.capacity : 256;
    newest->places = memory_new((size_t)newest->capacity * sizeof *newest->places);
    for (int i = 0; i < old.capacity; i++) {
        if (!old.places[i]) continue;
        const Step *step = &steps[old.places[i] - 1];
        *place_of(newest, steps, step->interval, step->pc, step->occurrence) = old.places[i];
    }
    free(old.places);
}

/* ---- giving every event its step -------------------------------------------------------------------- */

typedef struct Position { /* state of a warp */
    int step;             /* of its latest event; -1: none yet */
    uint32_t lanes;       /* lanes of this warp in that step */
} Position;

typedef struct Builder {
    Steps *steps;
    int step_capacity;
    Newest newest;
    Position *positions; /* [warp] */
    int warp_count, warp_capacity;
    int *rank; /* [event] warp * 32 + lowest lane: the order inside a step */
} Builder;

static Position *position_of(Builder *builder, int warp) {
    while (builder->warp_count <= warp)
        array_push(builder->positions, builder->warp_count, builder->warp_capacity, ((Position){-1, 0}));
    return &builder->positions[warp];
}

static int step_of(Builder *builder, const TraceEvent *event) {
    Steps *steps = builder->steps;
    Position *position = position_of(builder, event->warp);
    make_room(&builder->newest, steps->steps);
    int *place = place_of(&builder->newest, steps->steps, event->interval, event->pc, event->occurrence);
    int step = *place - 1;
    bool joins =
        step >= 0 && (position->step < step || (position->step == step && !(position->lanes & event->mask)));
    if (!joins) {
        if (step < 0) builder->newest.used++;
        Step fresh = {.pc = event->pc, .interval = event->interval, .occurrence = event->occurrence};
        step = steps->step_count;
        array_push(steps->steps, steps->step_count, builder->step_capacity, fresh);
        *place = step + 1;
    }
    if (position->step != step) *position = (Position){step, 0};
    position->lanes |= event->mask;
    steps->steps[step].count++;
    return step;
}

static void align_events(Builder *builder, int event_count) {
    TraceEvent event;
    for (int i = 0; i < event_count; i++) {
        trace_block_read_header(builder->steps->block, i, &event);
        builder->steps->step_of_event[i] = step_of(builder, &event);
        builder->rank[i] = event.warp * WARP_LANES + (event.mask ? __builtin_ctz(event.mask) : 0);
    }
}

/* ---- grouping events by step: two counting sorts, first by rank, then by step ----------------------- */

static int *sorted_by_rank(const Builder *builder, int event_count) {
    size_t ranks = (size_t)builder->warp_count * WARP_LANES;
    int *next = memory_new((ranks + 1) * sizeof *next),
        *sorted = memory_new((size_t)event_count * sizeof *sorted);
    for (int i = 0; i < event_count; i++) next[builder->rank[i] + 1]++;
    for (size_t i = 1; i <= ranks; i++) next[i] += next[i - 1];
    for (int i = 0; i < event_count; i++) sorted[next[builder->rank[i]]++] = i;
    free(next);
    return sorted;
}

static void group_events(Builder *builder, int event_count) {
    Steps *steps = builder->steps;
    int *sorted = sorted_by_rank(builder, event_count);
    int first = 0;
    for (int i = 0; i < steps->step_count; i++) {
        steps->steps[i].first = first;
        first += steps->steps[i].count;
        steps->steps[i].count = 0;
    }
    for (int i = 0; i < event_count; i++) {
        Step *step = &steps->steps[steps->step_of_event[sorted[i]]];
        steps->events[step->first + step->count++] = sorted[i];
    }
    free(sorted);
}

/* ---- groups of steps -------------------------------------------------------------------------------- */

static bool same_line(const TraceLaunch *launch, int a, int b) {
    const PtxSourceLine *x = &launch->program->code[a].line, *y = &launch->program->code[b].line;
    if (x->line != y->line || !x->file != !y->file) return false;
    return x->file == y->file || strcmp(x->file, y->file) == 0;
}

static void group_steps(Steps *steps) {
    int line_capacity = 0, interval_capacity = 0;
    for (int i = 0; i < steps->step_count; i++) {
        Step *step = &steps->steps[i];
        const Step *before = i ? step - 1 : NULL;
        bool new_interval = !before || before->interval != step->interval;
        if (new_interval) array_push(steps->interval_begin, steps->interval_step_count, interval_capacity, i);
        if (new_interval || !same_line(steps->launch, before->pc, step->pc))
            array_push(steps->line_begin, steps->line_step_count, line_capacity, i);
        step->interval_step = steps->interval_step_count - 1;
        step->line_step = steps->line_step_count - 1;
    }
    array_reserve(steps->interval_begin, steps->interval_step_count + 1, interval_capacity);
    array_reserve(steps->line_begin, steps->line_step_count + 1, line_capacity);
    steps->interval_begin[steps->interval_step_count] = steps->step_count;
    steps->line_begin[steps->line_step_count] = steps->step_count;
}

Steps *steps_build(const TraceLaunch *launch, const TraceBlock *block) {
    int event_count = trace_block_event_count(block);
    Steps *steps = memory_new(sizeof *steps);
    steps->launch = launch;
    steps->block = block;
    steps->events = memory_new((size_t)event_count * sizeof *steps->events);
    steps->step_of_event = memory_new((size_t)event_count * sizeof *steps->step_of_event);
    Builder builder = {.steps = steps};
    builder.rank = memory_new((size_t)event_count * sizeof *builder.rank);
    align_events(&builder, event_count);
    group_events(&builder, event_count);
    group_steps(steps);
    free(builder.rank);
    free(builder.positions);
    free(builder.newest.places);
    return steps;
}

void steps_free(Steps *steps) {
    if (!steps) return;
    free(steps->steps);
    free(steps->events);
    free(steps->step_of_event);
    free(steps->line_begin);
    free(steps->interval_begin);
    free(steps);
}
