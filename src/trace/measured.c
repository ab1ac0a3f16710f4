#include "trace/measured.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

void measured_add_timing(Measurements *measured, const Timing *timing) {
    Timing own = *timing;
#define FIELD(kind, name, json) COPY_##kind(name)
#define COPY_TEXT(name)         own.name = arena_copy_string(&measured->arena, timing->name);
#define COPY_WORD(name)
#define COPY_THREADS(name)
#define COPY_FLAG(name)
#define COPY_REAL(name)
#include "trace/timing.def"
#undef FIELD
    array_push(measured->timings, measured->timing_count, measured->timing_capacity, own);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_way(const Timing *a, const Timing *b) {
    return a->n == b->n && a->threads == b->threads && a->to_scalar == b->to_scalar && a->graph == b->graph &&
           a->cold == b->cold && same_text(a->kernel, b->kernel) && same_text(a->machine, b->machine) &&
           same_text(a->dtype, b->dtype) && same_text(a->op, b->op);
}

void measured_put_timing(Measurements *measured, const Timing *timing) {
    int at = 0;
    while (at < measured->timing_count && !same_way(&measured->timings[at], timing)) at++;
    if (at == measured->timing_count) {
        Timing added = *timing;
        added.measured = NULL;
        measured_add_timing(measured, &added);
        return;
    }
    Timing *place = &measured->timings[at], old = *place; /* its texts belong to the list */
    *place = *timing;
    place->kernel = old.kernel;
    place->machine = old.machine;
    place->dtype = old.dtype;
    place->op = old.op;
    place->measured = NULL;
    place->note =
        same_text(old.note, timing->note) ? old.note : arena_copy_string(&measured->arena, timing->note);
}

int timing_launches(const Timing *timing) {
    int launches;
    return timing->note && sscanf(timing->note, "%d launches", &launches) == 1 ? launches : 1;
}

TimesWay timing_way(const Timing *timing) {
    if (timing->cold) return timing->graph ? TIMES_COLD : TIMES_COLD_CALL;
    return timing->graph ? TIMES_WARM : TIMES_WARM_CALL;
}

TimesWay timing_similar_way(TimesWay way, int index) {
    static const TimesWay order[TIMES_WAY_COUNT][TIMES_WAY_COUNT] = {
        [TIMES_COLD] = {TIMES_COLD, TIMES_COLD_CALL, TIMES_WARM, TIMES_WARM_CALL},
        [TIMES_WARM] = {TIMES_WARM, TIMES_WARM_CALL, TIMES_COLD, TIMES_COLD_CALL},
        [TIMES_COLD_CALL] = {TIMES_COLD_CALL, TIMES_WARM_CALL, TIMES_COLD, TIMES_WARM},
        [TIMES_WARM_CALL] = {TIMES_WARM_CALL, TIMES_COLD_CALL, TIMES_WARM, TIMES_COLD},
    };
    return order[way][index];
}

const char *timing_way_name(TimesWay way) {
    static const char *const names[TIMES_WAY_COUNT] = {"L2 cold, in a CUDA graph", "L2 warm, in a CUDA graph",
                                                       "L2 cold, single calls", "L2 warm, single calls"};
    return names[way];
}

static bool is_wanted(const Timing *timing, const TimingWanted *wanted) {
    return timing->samples && timing->n == wanted->n && timing->to_scalar == !wanted->alone &&
           timing->cold == !wanted->warm && !(timing->graph && wanted->call) &&
           same_text(timing->kernel, wanted->kernel) && same_text(timing->dtype, wanted->dtype) &&
           same_text(timing->op, wanted->op ? wanted->op : "sum");
}

static bool is_preferred(const Timing *timing, const Timing *found) {
    bool usual = timing->threads == 256, found_usual = found->threads == 256;
    return usual != found_usual ? usual : timing->graph && !found->graph;
}

const Timing *measured_find_timing(const Measurements *measured, const TimingWanted *wanted) {
    const Timing *found = NULL;
    for (int i = 0; i < measured->timing_count; i++) {
        const Timing *timing = &measured->timings[i];
        if (is_wanted(timing, wanted) && (!found || is_preferred(timing, found))) found = timing;
    }
    return found;
}

void measured_add_value(Measurements *measured, const MeasuredValue *value) {
    MeasuredValue own = *value;
    Arena *arena = &measured->arena;
    own.kernel = arena_copy_string(arena, value->kernel);
    own.machine = arena_copy_string(arena, value->machine);
    own.measured = arena_copy_string(arena, value->measured);
    own.dtype = arena_copy_string(arena, value->dtype);
    own.op = arena_copy_string(arena, value->op);
    own.name = arena_copy_string(arena, value->name);
    own.unit = arena_copy_string(arena, value->unit);
    own.note = arena_copy_string(arena, value->note);
    array_push(measured->values, measured->value_count, measured->value_capacity, own);
}

static MeasuredValue *find_value(const Measurements *measured, const char *kernel, uint64_t n,
                                 const char *dtype, const char *op, const char *name) {
    for (int i = 0; measured && i < measured->value_count; i++) {
        MeasuredValue *value = &measured->values[i];
        if (value->n == n && same_text(value->kernel, kernel) && same_text(value->name, name) &&
            same_text(value->dtype, dtype) && same_text(value->op, op))
            return value;
    }
    return NULL;
}

void measured_put_value(Measurements *measured, const MeasuredValue *value) {
    MeasuredValue *place =
        find_value(measured, value->kernel, value->n, value->dtype, value->op, value->name);
    if (place)
        place->value = value->value;
    else
        measured_add_value(measured, value);
}

double measured_find_value(const Measurements *measured, const char *kernel, uint64_t n, const char *dtype,
                           const char *op, const char *name) {
    const MeasuredValue *value = find_value(measured, kernel, n, dtype, op, name);
    return value ? value->value : (double)NAN;
}

void measured_add_counter(Measurements *measured, const MeasuredCounter *counter) {
    MeasuredCounter own = *counter;
    own.metric = arena_copy_string(&measured->arena, counter->metric);
    own.label = arena_copy_string(&measured->arena, counter->label);
    own.machine = arena_copy_string(&measured->arena, counter->machine);
    own.note = arena_copy_string(&measured->arena, counter->note);
    array_push(measured->counters, measured->counter_count, measured->counter_capacity, own);
}

void measured_add_interval(Measurements *measured, const IntervalTime *time) {
    IntervalTime own = *time;
    own.machine = arena_copy_string(&measured->arena, time->machine);
    array_push(measured->intervals, measured->interval_count, measured->interval_capacity, own);
}

void measured_put_interval(Measurements *measured, const IntervalTime *time) {
    for (int i = 0; i < measured->interval_count; i++) {
        IntervalTime *place = &measured->intervals[i];
        if (place->launch != time->launch || place->block != time->block || place->interval != time->interval)
            continue;
        place->cycles = time->cycles;
        place->overhead = time->overhead;
        return;
    }
    measured_add_interval(measured, time);
}

void measured_done(Measurements *measured) {
    free(measured->intervals);
    free(measured->timings);
    free(measured->counters);
    free(measured->values);
    arena_done(&measured->arena);
    *measured = (Measurements){0};
}

/* ---- in a file ----------------------------------------------------------------------------------------- */

static void write_timing(const Timing *timing, Store *store) {
    store_begin_row(store, TABLE_timing);
#define FIELD(kind, name, json) PUT_##kind(store, COLUMN_timing_##name, timing->name);
#define PUT_TEXT                store_put_text
#define PUT_WORD                store_put_word
#define PUT_THREADS             store_put_integer
#define PUT_FLAG                store_put_integer
#define PUT_REAL                store_put_real
#include "trace/timing.def"
#undef FIELD
    store_end_row(store);
}

static void write_counter(const MeasuredCounter *counter, Store *store) {
    store_begin_row(store, TABLE_measured);
    store_put_integer(store, COLUMN_measured_launch, counter->launch);
    store_put_text(store, COLUMN_measured_metric, counter->metric);
    store_put_text(store, COLUMN_measured_label, counter->label);
    store_put_text(store, COLUMN_measured_machine, counter->machine);
    store_put_real(store, COLUMN_measured_value, counter->value);
    store_put_real(store, COLUMN_measured_predicted, counter->predicted);
    store_put_text(store, COLUMN_measured_note, counter->note);
    store_end_row(store);
}

static void write_interval(const IntervalTime *time, Store *store) {
    store_begin_row(store, TABLE_interval_time);
    store_put_integer(store, COLUMN_interval_time_launch, time->launch);
    store_put_integer(store, COLUMN_interval_time_block, time->block);
    store_put_integer(store, COLUMN_interval_time_interval, time->interval);
    store_put_text(store, COLUMN_interval_time_machine, time->machine);
    store_put_real(store, COLUMN_interval_time_cycles, time->cycles);
    store_put_real(store, COLUMN_interval_time_overhead, time->overhead);
    store_end_row(store);
}

void measured_write(const Measurements *measured, Store *store) {
    for (int i = 0; i < measured->timing_count; i++) write_timing(&measured->timings[i], store);
    for (int i = 0; i < measured->counter_count; i++) write_counter(&measured->counters[i], store);
    for (int i = 0; i < measured->interval_count; i++) write_interval(&measured->intervals[i], store);
}

static void read_timing(Measurements *measured, Store *store) {
    Timing timing = {0};
#define FIELD(kind, name, json) timing.name = GET_##kind(COLUMN_timing_##name);
#define GET_TEXT(column)        store_name(store, column, &measured->arena)
#define GET_WORD(column)        store_word(store, column)
#define GET_THREADS(column)     (uint32_t) store_integer(store, column, 0, UINT32_MAX)
#define GET_FLAG(column)        store_flag(store, column)
#define GET_REAL(column)        store_real(store, column)
#include "trace/timing.def"
#undef FIELD
    if (!store_failed(store))
        array_push(measured->timings, measured->timing_count, measured->timing_capacity, timing);
}

static void read_counter(Measurements *measured, int launch_count, Store *store) {
    Arena *arena = &measured->arena;
    MeasuredCounter counter = {.launch =
                                   (int)store_integer(store, COLUMN_measured_launch, 0, launch_count - 1)};
    counter.metric = store_name(store, COLUMN_measured_metric, arena);
    counter.label = store_name(store, COLUMN_measured_label, arena);
    counter.machine = store_name(store, COLUMN_measured_machine, arena);
    counter.value = store_real(store, COLUMN_measured_value);
    counter.predicted = store_real(store, COLUMN_measured_predicted);
    counter.note = store_name(store, COLUMN_measured_note, arena);
    if (!store_failed(store))
        array_push(measured->counters, measured->counter_count, measured->counter_capacity, counter);
}

static void read_interval(Measurements *measured, int launch_count, Store *store) {
    IntervalTime time = {
        .launch = (int)store_integer(store, COLUMN_interval_time_launch, 0, launch_count - 1),
        .block = (uint32_t)store_integer(store, COLUMN_interval_time_block, 0, UINT32_MAX),
        .interval = (uint32_t)store_integer(store, COLUMN_interval_time_interval, 0, UINT32_MAX)};
    time.machine = store_name(store, COLUMN_interval_time_machine, &measured->arena);
    time.cycles = store_real(store, COLUMN_interval_time_cycles);
    time.overhead = store_real(store, COLUMN_interval_time_overhead);
    if (!store_failed(store))
        array_push(measured->intervals, measured->interval_count, measured->interval_capacity, time);
}

void measured_read(Measurements *measured, int launch_count, Store *store) {
    store_begin_table(store, TABLE_timing);
    while (store_next_row(store)) read_timing(measured, store);
    store_begin_table(store, TABLE_measured);
    while (store_next_row(store)) read_counter(measured, launch_count, store);
    store_begin_table(store, TABLE_interval_time);
    while (store_next_row(store)) read_interval(measured, launch_count, store);
}
