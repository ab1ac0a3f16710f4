/* The folds of the sample, written by hand: its tree and its reduction, without a replay. */
#ifndef TESTS_TUI_SAMPLE_FOLDS_H
#define TESTS_TUI_SAMPLE_FOLDS_H

#include "sample.h"

typedef enum SampleFault { NO_FAULT, FOLDS_TWICE, LOSES_ONE } SampleFault;
enum { SAMPLE_FAULTY_LANE = 5 }; /* the thread with the fault */

typedef struct SampleFolds {
    Folds *folds;
    Tree *trees[1];
    Reduction *reductions[1];
} SampleFolds;

/* Gives the sample's scene a tree and a reduction; `out` must not move. */
void sample_fold(Sample *sample, SampleFault fault, SampleFolds *out);
void sample_folds_done(SampleFolds *folds); /* before sample_free() */

#endif
