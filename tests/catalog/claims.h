/* Claims: sentences as expressions over recorded figures and the emulator's counts. The figures are those of
 * an H200 (assets/h200/timings.tsv and counters.txt), or of the recording that ON() names. The functions
 * below are the words of such expressions. Each fails the test if nothing was recorded under that name, and
 * records its value: a claim that fails prints all of its values. Include cmocka's headers first. */
#ifndef TESTS_CATALOG_CLAIMS_H
#define TESTS_CATALOG_CLAIMS_H

#include "trace/trace.h"
#include <stdbool.h>

enum { ALONE, SCALAR }; /* the kernel alone; all launches down to one number */
enum { COLD, WARM };    /* the L2 cache */
/* assets/h200 and assets/h100; assets/h200/multi_gpu.tsv, whose kernels are "1 GPU", "2 GPUs NCCL", ... */
typedef enum Recording { H200, H100, TWO_H200, RECORDING_COUNT } Recording;

/* Microseconds for 2^log_n elements, summed with 256 threads a block, or as many as were recorded: in a
 * graph, or as a single call if the kernel cannot be in a graph. */
double claim_time(const char *kernel, const char *type, int log_n, bool to_scalar, bool warm);
/* The largest ratio of the time of `kernel` to that of `other`, over all sizes recorded for both: scalar,
 * cold. */
double claim_most_ratio(const char *kernel, const char *other, const char *type);
/* The same over all types, down to one number: in graphs and as calls, with a cold and a warm cache. */
double claim_most_ratio_of_all(const char *kernel, const char *other);
/* In how many of these `kernel` takes at least as long as `other`. */
double claim_slower(const char *kernel, const char *other);
double claim_gigabytes_per_second(const char *kernel, const char *type, int log_n); /* scalar, cold */
double claim_read_bandwidth(void); /* GB/s that a read-only kernel reached */
double claim_value(const char *kernel, int log_n, const char *name); /* from --profile and lab_latency */
double claim_clock_cost(const char *kernel, int log_n); /* % that reading the clock adds to the launch */
double claim_interval(const char *kernel, int log_n, int first, int last,
                      bool most); /* cycles: most or least */

/* The overhead of the grid's probe on the launches, as a fraction, over all kernels in the recording's grid/
 * (log_n 0: both sizes): the median, the maximum, the kernel's. */
double claim_probe_median(int log_n);
double claim_probe_most(void);
double claim_probe(const char *kernel, int log_n);

/* Columns of counters.txt: for the first launch, 2^20 elements. */
enum { SASS_INSTRUCTIONS = 11, SASS_BRANCHES = 12, SASS_DIVERGENT = 13 };
double claim_counter(const char *kernel, const char *type, int column);

/* The emulator's count for a run: "NAME" with its defaults, or "NAME n=4096 block=32 dtype=double
 * columns=256". `name` is a word of lectures' claims (lecture/claim_words.def) or a metric. */
double claim_of_run(const char *spec, const char *name);
double claim_of_line(const char *spec, const char *text,
                     const char *name); /* of the lines that contain the text */
/* For block 0 between two barriers, counted from 0 as in recordings (0: up to the first). */
double claim_of_interval(const char *spec, int interval, const char *name);
double claim_events(const char *spec, TraceKind kind); /* in block 0 */

bool claim_about(double value, double figure);   /* within 3 % */
bool claim_rounds(double value, double figure);  /* rounded to the whole number */
bool claim_percent(double share, double figure); /* as a fraction, to the whole per cent */
bool claim_near(double share, double figure);    /* as a fraction, within 3 per cent of it: "a quarter" */
bool claim_is_half(double share);                /* as a fraction: 0.47 to 0.53 */

#define TIME(kernel, type, log_n, scope, cache)                                                              \
    claim_time(kernel, type, log_n, (scope) == SCALAR, (cache) == WARM)
#define MOST_RATIO(kernel, other, type)          claim_most_ratio(kernel, other, type)
#define MOST_RATIO_OF_ALL(kernel, other)         claim_most_ratio_of_all(kernel, other)
#define SLOWER(kernel, other)                    claim_slower(kernel, other)
#define PROBE_MEDIAN(log_n)                      claim_probe_median(log_n)
#define PROBE_MOST                               claim_probe_most()
#define PROBE(kernel, log_n)                     claim_probe(kernel, log_n)
#define GIGABYTES(kernel, type, log_n)           claim_gigabytes_per_second(kernel, type, log_n)
#define READ_BANDWIDTH                           claim_read_bandwidth()
#define VALUE(kernel, log_n, name)               claim_value(kernel, log_n, name)
#define CLOCK_COST(kernel, log_n)                claim_clock_cost(kernel, log_n)
#define MOST_CYCLES(kernel, log_n, first, last)  claim_interval(kernel, log_n, first, last, true)
#define LEAST_CYCLES(kernel, log_n, first, last) claim_interval(kernel, log_n, first, last, false)
#define COUNTER(kernel, type, column)            claim_counter(kernel, type, column)
#define METRIC_OF(spec, metric)                  claim_of_run(spec, #metric)
#define LINE_METRIC(spec, text, metric)          claim_of_line(spec, text, #metric)
#define BLOCKS(spec)                             claim_of_run(spec, "blocks")
#define LAUNCHES(spec)                           claim_of_run(spec, "launches")
#define SHARED_BYTES(spec)                       claim_of_run(spec, "shared_bytes")
#define RESULT(spec)                             claim_of_run(spec, "result")
#define EXCESS(spec)                             claim_of_run(spec, "excess")
#define WAVEFRONTS(spec)                         claim_of_run(spec, "wavefronts_per_load")
#define SECTORS(spec)                            claim_of_run(spec, "sectors_per_load")
#define LANES(spec)                              claim_of_run(spec, "lanes")
#define WAYS(spec, interval)                     claim_of_interval(spec, interval, "ways")
#define MOST_WAVEFRONTS(spec, interval)          claim_of_interval(spec, interval, "most_wavefronts")
#define STORING_LANES(spec, interval)            claim_of_interval(spec, interval, "storing_lanes")
#define STORING_WARPS(spec, interval)            claim_of_interval(spec, interval, "storing_warps")
#define EVENTS(spec, kind)                       claim_events(spec, TRACE_##kind)
#define ABOUT(value, figure)                     claim_about(value, figure)
#define ROUNDS(value, figure)                    claim_rounds(value, figure)
#define PERCENT(share, figure)                   claim_percent(share, figure)
#define NEAR(share, figure)                      claim_near(share, figure)
#define IS_HALF(share)                           claim_is_half(share)
/* The ratio of the kernel's time to the other's: ints, each alone, with a cold cache. */
#define TIME_SHARE(kernel, other, log_n)                                                                     \
    (TIME(kernel, "int", log_n, ALONE, COLD) / TIME(other, "int", log_n, ALONE, COLD))

/* The value of an expression over another recording: ON(H100, READ_BANDWIDTH). */
#define ON(recording, value) (claims_use(recording), claims_used(value))
void claims_use(Recording recording);
double claims_used(double value); /* uses the H200's figures from here on */

void claims_begin(void);         /* the next claim */
const char *claims_values(void); /* the values of its functions, one per line */
void claims_done(void);

#endif
