/* Measured: times of kernels on a machine, and hardware counters beside the trace's predictions.
 *
 * Benchmarks fill these lists, session files keep them (tables timing, measured and interval_time), and panes
 * and reports read them. They are empty if nothing was measured. */
#ifndef TRACE_MEASURED_H
#define TRACE_MEASURED_H

#include "trace/store.h"

typedef struct Timing {   /* one kernel, size and method; unknown values are NaN */
    const char *kernel;   /* a kernel of the catalogue, or a reference: "cub", "thrust", "cpu" */
    const char *machine;  /* "NVIDIA H200" */
    const char *measured; /* UTC time of the measurement, "2026-11-21T15:00:00Z" */
    uint64_t n;
    const char *dtype, *op;
    uint32_t threads;         /* per block; 0: chosen by a library */
    bool to_scalar;           /* all launches down to one number; else the kernel alone */
    bool graph;               /* replays of a graph, without gaps; else single launches */
    bool cold;                /* the L2 cache held no input */
    uint64_t samples;         /* 0: skipped, for the reason in `note` */
    double median, low, high; /* microseconds; the 5th and 95th percentile */
    double gigabytes_per_second;
    double share_of_read, share_of_copy, share_of_peak; /* 0 to 1 */
    double clock, temperature;                          /* MHz, degrees Celsius */
    const char *note;                                   /* NULL: none */
} Timing;

typedef struct MeasuredCounter {
    int launch;
    const char *metric; /* the profiler's name */
    const char *label;  /* in words */
    const char *machine;
    double value, predicted; /* predicted NaN: the trace predicts nothing */
    const char *note;        /* why they differ; NULL: none */
} MeasuredCounter;

typedef struct IntervalTime { /* one block, between two of its block-wide barriers */
    int launch;
    uint32_t block, interval;
    const char *machine;
    /* Clock cycles of its multiprocessor until the last warp has passed the barrier or exited. */
    double cycles;
    double overhead; /* of reading the clock: the fraction by which it lengthens the launch; NaN: not known */
} IntervalTime;

/* Another measured value of a kernel: a metric of its profile, a latency. */
typedef struct MeasuredValue {
    const char *kernel, *machine, *measured;
    uint64_t n;
    const char *dtype, *op;
    const char *name, *unit; /* "DRAM", "% of peak" */
    double value;            /* NaN: not measured */
    const char *note;        /* the reason; NULL: none */
} MeasuredValue;

/* How a time was measured: with the L2 cache empty or not, in a CUDA graph (without the gaps between
 * launches) or as single calls (what a caller waits for). */
typedef enum TimesWay { TIMES_COLD, TIMES_WARM, TIMES_COLD_CALL, TIMES_WARM_CALL, TIMES_WAY_COUNT } TimesWay;

typedef struct Measurements {
    Timing *timings;
    int timing_count, timing_capacity;
    MeasuredCounter *counters;
    int counter_count, counter_capacity;
    IntervalTime *intervals;
    int interval_count, interval_capacity;
    MeasuredValue *values; /* from a benchmark; not kept in session files */
    int value_count, value_capacity;
    Arena arena; /* for their texts */
} Measurements;

/* Zero-initialised is a valid empty list. Texts are copied. */
void measured_add_timing(Measurements *measured, const Timing *timing);
/* As above, but replaces the entry of the same kernel, machine and method, whenever it was measured. */
void measured_put_timing(Measurements *measured, const Timing *timing);
TimesWay timing_way(const Timing *timing);
/* The number of launches that lead to one number: a benchmark notes "4 launches" for a catalogue kernel with
 * more than one. */
int timing_launches(const Timing *timing);
/* The methods that may replace `way`, the most similar first: `index` 0 is `way` itself. A kernel that cannot
 * be captured in a graph is called; a CPU has no L2 to empty. */
TimesWay timing_similar_way(TimesWay way, int index);
/* "L2 cold, in a CUDA graph" */
const char *timing_way_name(TimesWay way);

/* Selects a time. Among several, prefers 256 threads, then a graph, then the one added first. */
typedef struct TimingWanted {
    const char *kernel, *dtype, *op; /* op NULL: "sum" */
    uint64_t n;
    /* Alone: the kernel alone; else all launches down to one number. warm: else a cold L2 cache. */
    bool alone, warm;
    bool call; /* a single call, without a graph; else either */
} TimingWanted;

/* An entry of `measured`; NULL: not measured, or skipped. */
const Timing *measured_find_timing(const Measurements *measured, const TimingWanted *wanted);

void measured_add_value(Measurements *measured, const MeasuredValue *value);
/* Adds a value, or replaces the same one. */
void measured_put_value(Measurements *measured, const MeasuredValue *value);
/* NaN: not measured. */
double measured_find_value(const Measurements *measured, const char *kernel, uint64_t n, const char *dtype,
                           const char *op, const char *name);

void measured_add_counter(Measurements *measured, const MeasuredCounter *counter);
void measured_add_interval(Measurements *measured, const IntervalTime *time);
/* Adds a time, or replaces the same one. */
void measured_put_interval(Measurements *measured, const IntervalTime *time);
void measured_done(Measurements *measured);

void measured_write(const Measurements *measured, Store *store);
/* Errors stay in the store. */
void measured_read(Measurements *measured, int launch_count, Store *store);

#endif
