/* Findings: what a lecturer would say about a run, one plain sentence each, most serious first. Private to
 * src/metrics. */
#ifndef METRICS_FINDINGS_H
#define METRICS_FINDINGS_H

#include "metrics/report.h"

/* Appends "- sentence" lines. `lines` as metrics_by_line() gives them. */
void findings_print(const ReportInput *input, const Totals *totals, const LineMetrics *lines, int line_count,
                    Text *out);

/* What could be saved in a line, in wavefronts, sectors, idle lanes; 0: not worth a sentence. */
uint64_t finding_worth_of_conflicts(const Totals *line, const Totals *run);
uint64_t finding_worth_of_sectors(const Totals *line, const Totals *run);
uint64_t finding_worth_of_idle_lanes(const Totals *line, const Totals *run);

/* Did the run end before its time? */
bool findings_has_fatal_trap(const Trace *trace);

/* A sentence of any length after `bullet`, broken into lines of at most 80 columns that stand under its first
 * word. */
void sentence_print(Text *out, const char *bullet, const char *sentence);

/* "1,048,576" into a buffer of the caller; returns it. */
typedef struct CountText {
    char text[32];
} CountText;
const char *count_text(uint64_t count, CountText *buffer);

#endif
