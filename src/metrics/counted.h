/* Counted: hardware counters of a launch beside their predictions from its trace. A counter is one row of
 * counted.def. */
#ifndef METRICS_COUNTED_H
#define METRICS_COUNTED_H

#include "metrics/metrics.h"
#include "sass/compare.h"
#include "trace/measured.h"

typedef enum CountedRule { COUNTED_EXACT, COUNTED_NOISY, COUNTED_OTHER } CountedRule;

typedef struct CountedRow {
    const char *metric; /* "a", or "a + b" for a sum; COUNTED_METRICS in all rows */
    const char *label;  /* two leading spaces: part of the row above */
    CountedRule rule;
    SassClass class; /* what it counts; SASS_OTHER: all; SASS_CLASSES: machine code explains nothing */
    const char *why; /* a sentence; NULL: none */
} CountedRow;

enum {
    COUNTED_METRICS = 64,
    COUNTED_NAME = 96, /* bytes of a metric's name */
#define COUNTED(metric, label, rule, class, prediction, why) +1
    COUNTED_ROWS = 0
#include "metrics/counted.def"
#undef COUNTED
};

extern const CountedRow counted_rows[COUNTED_ROWS];

/* The prediction of each row for the whole grid; NaN: none (how some counters count cp.async is not known).
 * `waits` ([program->code_count], or NULL): instructions in loops that wait for other blocks; their accesses,
 * which cannot be predicted, are in waiting[] instead of predicted[]. */
void counted_predict(const TraceLaunch *launch, const bool *waits, double predicted[COUNTED_ROWS],
                     double waiting[COUNTED_ROWS]);

/* The prediction is the least that can be counted: atomics that are a loop load and compare in each round,
 * and go round again when another warp has changed the word. */
bool counted_is_least(const TraceLaunch *launch, int row);

typedef enum CountedAgreement {
    COUNTED_EQUAL,
    COUNTED_WITHIN_NOISE, /* at most a tenth more */
    COUNTED_DIFFERS,
    COUNTED_NOT_COMPARED /* they count different things, or are not comparable for the reason in the note */
} CountedAgreement;

const CountedRow *counted_find(const char *metric); /* NULL: this version has no such row */
CountedAgreement counted_agreement(const MeasuredCounter *counter);
const char *counted_agreement_text(CountedAgreement agreement); /* "equal", "noise", "differs", "" */

/* Adds a sentence that explains why the machine code and the PTX give different counts: the reason with the
 * largest share, and its line. False: the counter does not differ, or the machine code has no explanation. */
bool counted_reason(const MeasuredCounter *counter, const SassComparison *comparison, Text *out);

#endif
