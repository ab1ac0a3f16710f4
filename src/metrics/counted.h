/* Counted: hardware counters of a launch beside what its trace predicts. A counter is one row of
 * counted.def. */
#ifndef METRICS_COUNTED_H
#define METRICS_COUNTED_H

#include "metrics/metrics.h"
#include "sass/compare.h"
#include "trace/measured.h"

typedef enum CountedRule { COUNTED_EXACT, COUNTED_NOISY, COUNTED_OTHER } CountedRule;

typedef struct CountedRow {
    const char *metric; /* "a", or "a + b": the sum of two; at most COUNTED_METRICS in all rows */
    const char *label;  /* two spaces in front: part of the row above */
    CountedRule rule;
    SassClass class; /* what it counts; SASS_OTHER: all; SASS_CLASSES: nothing that machine code explains */
    const char *why; /* a sentence; NULL: nothing to say */
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

/* The prediction of each row, whole grid; NaN: there is none (what some counters make of cp.async is not
 * known). `waits` ([program->code_count], or NULL): instructions in loops that wait for other blocks; their accesses,
 * which cannot be predicted, are in waiting[] instead of predicted[]. */
void counted_predict(const TraceLaunch *launch, const bool *waits, double predicted[COUNTED_ROWS],
                     double waiting[COUNTED_ROWS]);

typedef enum CountedAgreement {
    COUNTED_EQUAL,
    COUNTED_WITHIN_NOISE, /* more, by a tenth at most */
    COUNTED_DIFFERS,
    COUNTED_NOT_COMPARED /* they count different things, or the note says why they cannot be compared */
} CountedAgreement;

const CountedRow *counted_find(const char *metric); /* NULL: this version has no such row */
CountedAgreement counted_agreement(const MeasuredCounter *counter);
const char *counted_agreement_text(CountedAgreement agreement); /* "equal", "noise", "differs", "" */

/* Why the machine code counts something else than the PTX: adds the reason that accounts for most of it, as a sentence
 * with its line. false: the counter does not differ, or the machine code does not tell. */
bool counted_reason(const MeasuredCounter *counter, const SassComparison *comparison, Text *out);

#endif
