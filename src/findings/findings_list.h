/* The list of findings that all sources of findings append to. Private to src/metrics. */
#ifndef FINDINGS_FINDINGS_LIST_H
#define FINDINGS_FINDINGS_LIST_H

#include "findings/findings.h"
#include "metrics/metrics.h"

typedef struct FindingsBuilder {
    Findings *list;
    int capacity;
    const Trace *trace;
    FindingSource source; /* NULL: not known */
    void *context;
} FindingsBuilder;

FindingsBuilder findings_begin(const Trace *trace);
/* An empty finding at the end of the list, to be filled in; valid until the next one. */
Finding *findings_add(Findings *list, int *capacity, FindingKind kind, int launch);
const char *findings_keep(Findings *list, Text *text); /* into the list's arena; frees `text` */
void finding_put_line(const TraceLaunch *launch, FindingAccess *access);
/* Compilers load and store integers of either sign, and floats, as words: what a buffer holds says which; in other memory,
 * what the buffers of as many bytes all hold. */
void finding_put_type(const Trace *trace, const TraceLaunch *launch, PtxSpace space, FindingAccess *access);
/* Sorts and counts; the list is the caller's. */
Findings *findings_end(FindingsBuilder *builder);

/* What the search for races has counted; adds the sentences. */
void findings_set_unseen(Findings *findings, const FindingsUnseen *unseen);

/* What of the errors has one cause; of a list that is sorted and counted. */
void findings_find_causes(Findings *list);

/* Races, undefined shuffles, and where a wrong result may come from. */
void findings_add_races(FindingsBuilder *builder, RaceDetector *detector);
void findings_add_traps(FindingsBuilder *builder);
void findings_add_leak(FindingsBuilder *builder, const FindingKnown *known); /* a note */
void findings_add_result(FindingsBuilder *builder, const RaceDetector *detector, const FindingResult *result);

/* Bank conflicts, excess sectors and idle lanes of the lines, without advice. `run`: the sum of all lines. */
void findings_add_slow_lines(FindingsBuilder *builder, const LineMetrics *lines, int count,
                             const Totals *run);
/* Notes: divergent branches of the lines. */
void findings_add_branches(FindingsBuilder *builder, const LineMetrics *lines, int count);
/* Notes: shuffles from inactive lanes that the traced events of the lines show, for runs without a detector. */
void findings_add_undefined_shuffles(FindingsBuilder *builder, const LineMetrics *lines, int count);
/* A note, where events are missing. */
void findings_add_dropped(FindingsBuilder *builder);

/* Of all slow findings: the most costly traced access as an example, and the advice. */
void findings_add_advice(Findings *list, const Trace *trace);

#endif
