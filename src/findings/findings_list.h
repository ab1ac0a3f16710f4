/* The list that all sources of findings append to. Private to src/findings. */
#ifndef FINDINGS_FINDINGS_LIST_H
#define FINDINGS_FINDINGS_LIST_H

#include "findings/findings.h"
#include "metrics/metrics.h"

typedef struct FindingsBuilder {
    Findings *list;
    int capacity;
    const Trace *trace;
    FindingNames names;
    double passes;                  /* of the run, without those of atomics */
    Text below[FINDING_KIND_COUNT]; /* lines whose cost is below FINDINGS_LEAST_PERCENT */
} FindingsBuilder;

FindingsBuilder findings_begin(const Trace *trace);
/* An empty finding at the end of the list, for the caller to fill in; valid until the next call. */
Finding *findings_add(Findings *list, int *capacity, FindingKind kind, int launch);
const char *findings_keep(Findings *list, Text *text); /* into the list's arena; frees `text` */
void finding_put_line(const TraceLaunch *launch, FindingAccess *access);
/* Sets the value's type. Compilers load and store integers of either sign, and floats, as words, so the
 * buffer's type decides; in other memory, the type that all buffers of this element size share. */
void finding_put_type(const Trace *trace, const TraceLaunch *launch, PtxSpace space, FindingAccess *access);
/* Sorts and counts the findings; the caller owns the list. */
Findings *findings_end(FindingsBuilder *builder);

/* Stores the counts of the race search and adds their sentences. */
void findings_set_unseen(Findings *findings, const FindingsUnseen *unseen, const char *names);

/* Groups the errors of a sorted and counted list by cause. */
void findings_find_causes(Findings *list);

/* Adds races, undefined shuffles, and possible origins of a wrong result. */
void findings_add_races(FindingsBuilder *builder, RaceDetector *detector);
void findings_add_traps(FindingsBuilder *builder);
/* findings_fused.c: a note for each product that was fused into several sums. */
void findings_add_fused(FindingsBuilder *builder);
void findings_add_leak(FindingsBuilder *builder, const FindingKnown *known); /* adds a note */
void findings_add_result(FindingsBuilder *builder, const RaceDetector *detector, const FindingResult *result);

/* Adds the slow places of the lines, without advice. */
void findings_add_slow_lines(FindingsBuilder *builder, const LineMetrics *lines, int count);
void findings_add_divergence(FindingsBuilder *builder, const LineMetrics *lines, int count,
                             const Totals *run);
typedef struct WarpCounts WarpCounts;
/* [line]; the caller frees it. `extra`: passes of atomics beyond one each. */
WarpCounts *findings_count_warps(const Trace *trace, const LineMetrics *lines, int count, double *extra);
void findings_add_warps(FindingsBuilder *builder, const LineMetrics *lines, int count,
                        const WarpCounts *sums);
Finding *findings_add_line(FindingsBuilder *builder, FindingKind kind, const LineMetrics *line);
/* An entry of the line that loses this many passes; NULL: none are lost, or too few for an entry. */
Finding *findings_add_slow(FindingsBuilder *builder, FindingKind kind, const LineMetrics *line, double lost);
/* Adds notes on shuffles from inactive lanes in the traced events, for runs without a detector. */
void findings_add_undefined_shuffles(FindingsBuilder *builder, const LineMetrics *lines, int count);
/* Adds a note if events are missing. */
void findings_add_dropped(FindingsBuilder *builder);

/* Gives every slow finding its most costly traced access as an example, and its advice. */
void findings_add_advice(const FindingsBuilder *builder);

#endif
