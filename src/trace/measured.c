#include "trace/measured.h"

#include <limits.h>
#include <stdlib.h>

static const char *copy(Measurements *measured, const char *text) {
    return text ? arena_copy_text(&measured->arena, text, strlen(text)) : NULL;
}

void measured_add_timing(Measurements *measured, const Timing *timing) {
    Timing own = *timing;
    own.kernel = copy(measured, timing->kernel);
    own.machine = copy(measured, timing->machine);
    own.measured = copy(measured, timing->measured);
    own.dtype = copy(measured, timing->dtype);
    own.op = copy(measured, timing->op);
    own.note = copy(measured, timing->note);
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
    Timing *place = &measured->timings[at], old = *place; /* its texts are the list's own */
    *place = *timing;
    place->kernel = old.kernel;
    place->machine = old.machine;
    place->dtype = old.dtype;
    place->op = old.op;
    place->measured = NULL;
    place->note = same_text(old.note, timing->note) ? old.note : copy(measured, timing->note);
}

void measured_add_counter(Measurements *measured, const MeasuredCounter *counter) {
    MeasuredCounter own = *counter;
    own.metric = copy(measured, counter->metric);
    own.label = copy(measured, counter->label);
    own.machine = copy(measured, counter->machine);
    own.note = copy(measured, counter->note);
    array_push(measured->counters, measured->counter_count, measured->counter_capacity, own);
}

void measured_add_interval(Measurements *measured, const IntervalTime *time) {
    IntervalTime own = *time;
    own.machine = copy(measured, time->machine);
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
    arena_done(&measured->arena);
    *measured = (Measurements){0};
}

/* ---- in a file ------------------------------------------------------------------------------------------
 */

static void write_timing(const Timing *timing, Store *store) {
    store_begin_row(store, "timing");
    store_put_text(store, timing->kernel);
    store_put_text(store, timing->machine);
    store_put_text(store, timing->measured);
    store_put_word(store, timing->n);
    store_put_text(store, timing->dtype);
    store_put_text(store, timing->op);
    store_put_integer(store, timing->threads);
    store_put_integer(store, timing->to_scalar);
    store_put_integer(store, timing->graph);
    store_put_integer(store, timing->cold);
    store_put_word(store, timing->samples);
    store_put_real(store, timing->median);
    store_put_real(store, timing->low);
    store_put_real(store, timing->high);
    store_put_real(store, timing->gigabytes_per_second);
    store_put_real(store, timing->share_of_read);
    store_put_real(store, timing->share_of_copy);
    store_put_real(store, timing->share_of_peak);
    store_put_real(store, timing->clock);
    store_put_real(store, timing->temperature);
    store_put_text(store, timing->note);
    store_end_row(store);
}

static void write_counter(const MeasuredCounter *counter, Store *store) {
    store_begin_row(store, "measured");
    store_put_integer(store, counter->launch);
    store_put_text(store, counter->metric);
    store_put_text(store, counter->label);
    store_put_text(store, counter->machine);
    store_put_real(store, counter->value);
    store_put_real(store, counter->predicted);
    store_put_text(store, counter->note);
    store_end_row(store);
}

static void write_interval(const IntervalTime *time, Store *store) {
    store_begin_row(store, "interval_time");
    store_put_integer(store, time->launch);
    store_put_integer(store, time->block);
    store_put_integer(store, time->interval);
    store_put_text(store, time->machine);
    store_put_real(store, time->cycles);
    store_put_real(store, time->overhead);
    store_end_row(store);
}

void measured_write(const Measurements *measured, Store *store) {
    for (int i = 0; i < measured->timing_count; i++) write_timing(&measured->timings[i], store);
    for (int i = 0; i < measured->counter_count; i++) write_counter(&measured->counters[i], store);
    for (int i = 0; i < measured->interval_count; i++) write_interval(&measured->intervals[i], store);
}

/* Never NULL: the schema says so, and where the row is bad it is not kept. */
static const char *read_word(Store *store, Arena *arena) {
    const char *text = store_name(store, arena);
    if (!text && !store_failed(store)) store_complain(store, "a text is missing");
    return text ? text : "";
}

static void read_timing(Measurements *measured, Store *store) {
    Arena *arena = &measured->arena;
    Timing timing = {0};
    timing.kernel = read_word(store, arena);
    timing.machine = read_word(store, arena);
    timing.measured = read_word(store, arena);
    timing.n = store_word(store);
    timing.dtype = read_word(store, arena);
    timing.op = read_word(store, arena);
    timing.threads = (uint32_t)store_integer(store, 0, UINT32_MAX);
    timing.to_scalar = store_flag(store);
    timing.graph = store_flag(store);
    timing.cold = store_flag(store);
    timing.samples = store_word(store);
    timing.median = store_real(store);
    timing.low = store_real(store);
    timing.high = store_real(store);
    timing.gigabytes_per_second = store_real(store);
    timing.share_of_read = store_real(store);
    timing.share_of_copy = store_real(store);
    timing.share_of_peak = store_real(store);
    timing.clock = store_real(store);
    timing.temperature = store_real(store);
    timing.note = store_name(store, arena);
    if (!store_failed(store))
        array_push(measured->timings, measured->timing_count, measured->timing_capacity, timing);
}

static void read_counter(Measurements *measured, int launch_count, Store *store) {
    Arena *arena = &measured->arena;
    MeasuredCounter counter = {.launch = (int)store_integer(store, 0, launch_count - 1)};
    counter.metric = read_word(store, arena);
    counter.label = read_word(store, arena);
    counter.machine = read_word(store, arena);
    counter.value = store_real(store);
    counter.predicted = store_real(store);
    counter.note = store_name(store, arena);
    if (!store_failed(store))
        array_push(measured->counters, measured->counter_count, measured->counter_capacity, counter);
}

static void read_interval(Measurements *measured, int launch_count, Store *store) {
    IntervalTime time = {.launch = (int)store_integer(store, 0, launch_count - 1),
                         .block = (uint32_t)store_integer(store, 0, UINT32_MAX),
                         .interval = (uint32_t)store_integer(store, 0, UINT32_MAX)};
    time.machine = read_word(store, &measured->arena);
    time.cycles = store_real(store);
    time.overhead = store_real(store);
    if (!store_failed(store))
        array_push(measured->intervals, measured->interval_count, measured->interval_capacity, time);
}

void measured_read(Measurements *measured, int launch_count, Store *store) {
    store_begin_table(store, "timing");
    while (store_next_row(store)) read_timing(measured, store);
    store_begin_table(store, "measured");
    while (store_next_row(store)) read_counter(measured, launch_count, store);
    store_begin_table(store, "interval_time");
    while (store_next_row(store)) read_interval(measured, launch_count, store);
}
