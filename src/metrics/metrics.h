/* Metrics: the costs that a trace shows, whichever producer wrote it.
 *
 * A metric is one row of metrics.def and one fold function. Metrics count PTX instructions, not SASS; all are
 * per warp (a warp-level execution with at least one active lane), except lane_instructions. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "trace/steps.h"
#include "trace/trace.h"

typedef struct Totals {
#define METRIC(name, in_json, from_events, shown, of, label, pane) uint64_t name;
#include "metrics/metrics.def"
#undef METRIC
} Totals;

typedef enum Metric {
#define METRIC(name, in_json, from_events, shown, of, label, pane) METRIC_##name,
#include "metrics/metrics.def"
#undef METRIC
    METRIC_COUNT
} Metric;

typedef enum MetricShown { SHOWN_COUNT, SHOWN_PART, SHOWN_WASTE, SHOWN_IDEAL, SHOWN_LANES } MetricShown;

typedef struct MetricInfo { /* a row of metrics.def, which documents the columns */
    const char *name, *label, *pane;
    MetricShown shown;
    Metric of;
    bool from_events;
    size_t offset; /* in Totals */
} MetricInfo;

extern const MetricInfo metric_infos[METRIC_COUNT];
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

typedef struct LineMetrics {
    const char *file; /* borrowed from the program; as metrics_line_of() */
    int line;
    Totals totals;
    /* From traced events only: */
    int worst_shared;            /* most wavefronts per ideal one (8: an 8-way bank conflict); 0: none */
    int worst_global;            /* most sectors of a request; 0: none */
    uint64_t undefined_shuffles; /* executions that took a value from an inactive lane */
} LineMetrics;

/* One entry per source line of all launches, by file then line: whole grid, or `traced` blocks only. The
 * caller frees the array. */
LineMetrics *metrics_by_line(const Trace *trace, bool traced, int *count);

#endif
