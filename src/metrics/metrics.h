/* Metrics: what a trace says about cost. Reads traces only; never knows who produced them.
 * A metric is one row of metrics.def plus one fold function. Counts here are of PTX instructions, not SASS. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "trace/steps.h"
#include "trace/trace.h"

typedef struct Totals {          /* the counters of DESIGN's JSON */
    uint64_t warp_instructions, lane_instructions, shared_loads, shared_stores, shared_load_wavefronts,
        shared_load_wavefronts_ideal, shared_store_wavefronts, shared_store_wavefronts_ideal, global_load_requests,
        global_load_sectors, global_load_sectors_ideal, global_store_requests, global_store_sectors,
        global_store_sectors_ideal, shuffles, barriers, branches, divergent_branches, atomics;
} Totals;

double totals_average_active_lanes(const Totals *totals);
void totals_add(Totals *sum, const Totals *addend);

/* Whole grid. */
void metrics_of_launch(const TraceLaunch *launch, Totals *out);
void metrics_of_run(const Trace *trace, Totals *out);
/* Traced events only (no warp_instructions: events are not all instructions). */
void metrics_of_step(const Steps *steps, int step, Totals *out);
void metrics_of_steps(const Steps *steps, int first, int count, Totals *out); /* a line, an interval, a block */

typedef struct LineMetrics {
    const char *file;            /* borrowed from the program */
    int line;
    Totals totals;
} LineMetrics;

/* One per source line of all launches, whole grid, by file then line. Caller frees the array. */
LineMetrics *metrics_by_line(const Trace *trace, int *count);

#endif
