/* Metrics: the costs that a trace shows, whichever producer wrote it.
 *
 * A metric is one row of metrics.def and one fold function. Metrics count PTX instructions, not SASS; all are
 * per warp (a warp-level execution with at least one active lane), except lane_instructions. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "trace/steps.h"
#include "trace/trace.h"

/* These three are in totals.h, which only those include that name a metric: sums of all metrics, one of them,
 * and the sums of a source line. */
typedef struct Totals Totals;
typedef int Metric;
typedef struct LineMetrics LineMetrics;

uint64_t totals_value(const Totals *totals, Metric metric);

/* Of all shared accesses: loads, stores and atomics. */
uint64_t totals_wavefronts(const Totals *totals);
uint64_t totals_wavefronts_ideal(const Totals *totals);
double totals_average_active_lanes(const Totals *totals); /* 0 if nothing was executed */
void totals_add(Totals *sum, const Totals *addend);
/* Adds the share of `counter`, for work of one kind, in each metric. */
void metrics_add_counter(TraceKind kind, const TraceCounter *counter, Totals *sum);

/* Whole grid. */
void metrics_of_launch(const TraceLaunch *launch, Totals *out);
void metrics_of_run(const Trace *trace, Totals *out);
/* Traced events only: metrics that cannot be counted from events stay 0. */
void metrics_of_step(const Steps *steps, int step, Totals *out);
void metrics_of_steps(const Steps *steps, int first, int count, Totals *out); /* a line, an interval, ... */
void metrics_of_traced_launch(const TraceLaunch *launch, Totals *out);        /* all its traced blocks */

/* The source line of an instruction as reports name it: a line of the PTX text if it has no line
 * information. */
PtxSourceLine metrics_line_of(const PtxProgram *program, int pc);
/* True if `file` is neither NULL nor the file of the kernel, that of its first line. */
bool metrics_is_elsewhere(const PtxProgram *program, const char *file);

/* One entry per source line of all launches, by file then line: whole grid, or `traced` blocks only. The
 * caller frees the array. */
LineMetrics *metrics_by_line(const Trace *trace, bool traced, int *count);

#endif
