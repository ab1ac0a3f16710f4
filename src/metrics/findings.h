/* Findings: what a lecturer would say about a run, one plain sentence each, most serious first. Private to
 * src/metrics. */
#ifndef METRICS_FINDINGS_H
#define METRICS_FINDINGS_H

#include "metrics/report.h"

/* Appends "- sentence" lines. `lines` as metrics_by_line() gives them. */
void findings_print(const ReportInput *input, const Totals *totals, const LineMetrics *lines, int line_count,
                    Text *out);

/* "1,048,576" into a buffer of the caller; returns it. */
typedef struct CountText {
    char text[32];
} CountText;
const char *count_text(uint64_t count, CountText *buffer);

#endif
