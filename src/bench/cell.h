/* Cells: the sizes and types to measure, and the path of results to the sink. All timings use them. Private
 * to src/bench. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

#include "base/samples.h"
#include "bench/bench.h"

enum { BENCH_SIZES = 8, BENCH_TYPES = 4 };

extern const double bench_cell_seconds;        /* default */
extern const PtxType bench_types[BENCH_TYPES]; /* default */

/* The requested sizes, in ascending order; returns their number. */
int bench_list_sizes(const BenchOptions *options, uint64_t sizes[BENCH_SIZES]);
double bench_seconds(const BenchOptions *options);
/* False with `error` if cancelled. */
bool bench_may_go_on(const BenchOptions *options, Error *error);

/* The types for which a reduction to one number is requested (of the GPU, a library or the CPU). Returns
 * their number, 0 if the requested kernels do something else, or -1 with `error` if the kernel does not
 * exist. */
int bench_list_reductions(const BenchOptions *options, PtxType types[BENCH_TYPES], Error *error);

/* A timing without samples: only its description is known. */
Timing bench_timing(const char *kernel, const char *machine, const char *measured, uint64_t n, PtxType type,
                    const char *op);
/* Sets times in microseconds and values derived from them; shares only if the machine's ceilings are
 * known. */
void bench_set_times(Timing *timing, const Spread *microseconds, uint64_t bytes, const BenchMachine *machine);

void bench_send_cell(const BenchSink *sink, const char *kernel, uint64_t n);
void bench_send_timing(const BenchSink *sink, const Timing *timing);
void bench_send_value(const BenchSink *sink, const BenchValue *value);

#endif
