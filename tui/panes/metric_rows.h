/* Metric rows: the metrics as the interface shows them, and which steps each was counted from. */
#ifndef TUI_PANES_METRIC_ROWS_H
#define TUI_PANES_METRIC_ROWS_H

#include "tui/scene/step_index.h"

enum { METRIC_ROW_COUNT = 11 };

typedef struct MetricRow {
    const char *label; /* two spaces in front: part of the row above */
    uint64_t (*value)(const Totals *totals);
    uint64_t (*ideal)(const Totals *totals);    /* NULL: there is none */
    bool (*counts)(const StepIndexEntry *step); /* the step has part in it */
} MetricRow;

extern const MetricRow metric_rows[METRIC_ROW_COUNT];

#endif
