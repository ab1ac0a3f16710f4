/* The metrics of metrics.def by name: their sums, their order, and what is known of each. */
#ifndef METRICS_TOTALS_H
#define METRICS_TOTALS_H

#include "metrics/metrics.h"

struct Totals {
#define METRIC(name, in_json, from_events, shown, of, label, pane) uint64_t name;
#include "metrics/metrics.def"
#undef METRIC
};

enum { /* of Metric */
#define METRIC(name, in_json, from_events, shown, of, label, pane) METRIC_##name,
#include "metrics/metrics.def"
#undef METRIC
       METRIC_COUNT
};

typedef enum MetricShown { SHOWN_COUNT, SHOWN_PART, SHOWN_WASTE, SHOWN_IDEAL, SHOWN_LANES } MetricShown;

typedef struct MetricInfo { /* a row of metrics.def, which documents the columns */
    const char *name, *label, *pane;
    MetricShown shown;
    Metric of;
    bool from_events;
    size_t offset; /* in Totals */
} MetricInfo;

extern const MetricInfo metric_infos[METRIC_COUNT];

struct LineMetrics {
    const char *file; /* borrowed from the program; as metrics_line_of() */
    int line;
    Totals totals;
    /* From traced events only: */
    int worst_shared;            /* most wavefronts per ideal one (8: an 8-way bank conflict); 0: none */
    int worst_global;            /* most sectors of a request; 0: none */
    uint64_t undefined_shuffles; /* executions that took a value from an inactive lane */
};

#endif
