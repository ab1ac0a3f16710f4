/* Metric rows: metrics as the interface shows them, with the steps that they count. Loads and stores are
 * summed. A row has the number of the first of its metrics (metrics.def); the other numbers are empty
 * rows. */
#ifndef TUI_PANES_METRIC_ROWS_H
#define TUI_PANES_METRIC_ROWS_H

#include "tui/scene/step_index.h"

int metric_row_count(void);

const char *metric_row_label(int row);
bool metric_row_is_part(int row); /* of the row above it */
uint64_t metric_row_value(int row, const Totals *totals);
bool metric_row_has_excess(int row, const Totals *totals);
bool metric_row_counts(int row, const StepIndexEntry *step); /* the row counts this step */

#endif
