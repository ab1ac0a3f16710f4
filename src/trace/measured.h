/* Measured: times of kernels on a machine, and hardware counters beside the trace's predictions. Plain
 * lists that benchmarks fill, session files keep (tables timing, measured and interval_time), and panes
 * and reports read. Empty where nothing was measured. */
#ifndef TRACE_MEASURED_H
#define TRACE_MEASURED_H

#include "trace/store.h"

typedef struct Timing {   /* of one kernel, size and way of measuring; what is not known is NaN */
    const char *kernel;   /* of the catalogue, or what it is compared with: "cub", "thrust", "cpu" */
    const char *machine;  /* "NVIDIA H200" */
    const char *measured; /* when: UTC, "2026-11-21T15:00:00Z" */
    uint64_t n;
    const char *dtype, *op;
    uint32_t threads;         /* per block; 0: chosen by a library */
    bool to_scalar;           /* with all launches down to one number, else the kernel alone */
    bool graph;               /* replays of a graph, without gaps, else single launches */
    bool cold;                /* the L2 cache held nothing of the input */
    uint64_t samples;         /* 0: it was skipped, and `note` says why */
    double median, low, high; /* microseconds; the 5th and 95th percentile */
    double gigabytes_per_second;
    double share_of_read, share_of_copy, share_of_peak; /* 0 to 1 */
    double clock, temperature;                          /* MHz, degrees Celsius */
    const char *note;                                   /* NULL: nothing to say */
} Timing;

typedef struct MeasuredCounter {
    int launch;
    const char *metric; /* the profiler's name */
    const char *label;  /* in words */
    const char *machine;
    double value, predicted; /* predicted NaN: the trace says nothing about it */
    const char *note;        /* why they differ; NULL: nothing to say */
} MeasuredCounter;

typedef struct IntervalTime { /* of a block, between two of its block-wide barriers */
    int launch;
    uint32_t block, interval;
    const char *machine;
    double cycles; /* of its multiprocessor's clock, until the last warp has passed the barrier, or exited */
    double overhead; /* of reading the clock: the fraction by which the launch took longer; NaN: not known */
} IntervalTime;

/* Something else that was measured of a kernel: a metric of its profile, a latency. */
typedef struct MeasuredValue {
    const char *kernel, *machine, *measured;
    uint64_t n;
    const char *dtype, *op;
    const char *name, *unit; /* "DRAM", "% of peak" */
    double value;            /* NaN: not measured */
    const char *note;        /* why; NULL: nothing to say */
} MeasuredValue;

/* How a time was taken: with the L2 cache empty or not, in a CUDA graph (without the gaps between launches)
 * or as single calls (what a caller waits for). */
typedef enum TimesWay { TIMES_COLD, TIMES_WARM, TIMES_COLD_CALL, TIMES_WARM_CALL, TIMES_WAY_COUNT } TimesWay;

typedef struct Measurements {
    Timing *timings;
    int timing_count, timing_capacity;
    MeasuredCounter *counters;
    int counter_count, counter_capacity;
    IntervalTime *intervals;
    int interval_count, interval_capacity;
    MeasuredValue *values; /* of a benchmark; session files do not keep them */
    int value_count, value_capacity;
    Arena arena; /* their texts */
} Measurements;

/* Zero-initialised is a valid empty one. Texts are copied. */
void measured_add_timing(Measurements *measured, const Timing *timing);
/* The same, in place of what is there of the same kernel, machine and way; when it was measured is not kept. */
void measured_put_timing(Measurements *measured, const Timing *timing);
TimesWay timing_way(const Timing *timing);
/* "4 launches" is what a benchmark notes of a kernel of the catalogue that needs more than one down to one number. */
int timing_launches(const Timing *timing);
/* The ways that may stand in for `way`, the most similar first: `index` 0 is itself. A kernel that cannot be in a
 * graph is called, a CPU has no L2 to empty. */
TimesWay timing_similar_way(TimesWay way, int index);
/* "L2 cold, in a CUDA graph" */
const char *timing_way_name(TimesWay way);

/* Which time is wanted. Of several, that with 256 threads comes first, then one in a graph, then the one that was added
 * first. */
typedef struct TimingWanted {
    const char *kernel, *dtype, *op; /* op NULL: "sum" */
    uint64_t n;
    bool alone, warm; /* else all launches down to one number, with a cold L2 cache */
    bool call;        /* a single call, no graph; else either */
} TimingWanted;

/* One of `measured`; NULL: it was not measured, or was skipped. */
const Timing *measured_find_timing(const Measurements *measured, const TimingWanted *wanted);

void measured_add_value(Measurements *measured, const MeasuredValue *value);
/* The same, in place of the same one's. */
void measured_put_value(Measurements *measured, const MeasuredValue *value);
/* NaN: not measured. */
double measured_find_value(const Measurements *measured, const char *kernel, uint64_t n, const char *dtype,
                           const char *op, const char *name);

void measured_add_counter(Measurements *measured, const MeasuredCounter *counter);
void measured_add_interval(Measurements *measured, const IntervalTime *time);
void measured_put_interval(Measurements *measured, const IntervalTime *time); /* in place of the same one's */
void measured_done(Measurements *measured);

void measured_write(const Measurements *measured, Store *store);
void measured_read(Measurements *measured, int launch_count,
                   Store *store); /* what is wrong stays in the store */

#endif
