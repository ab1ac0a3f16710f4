/* Trial: compares one function of the inputs before a run with one output of the run. Private to
 * expect*.c. */
#ifndef EXPECT_EXPECT_TRIAL_H
#define EXPECT_EXPECT_TRIAL_H

#include "expect/expect.h"
#include "expect/expect_functions.h"

#define EXPECT_EPSILON 1e-5L /* which frameworks add to a variance */

typedef struct ExpectChanged { /* what a run changed in a buffer */
    int buffer;
    uint64_t end, count; /* index after the last changed element; number of changed elements */
} ExpectChanged;

typedef struct ExpectTotal { /* a function's cached result for these elements */
    const ExpectFunction *function;
    const void *a, *b; /* addresses of the bytes, which do not move */
    uint64_t length;
    long double value, magnitude;
} ExpectTotal;

typedef struct ExpectTotals {
    ExpectTotal all[512];
    int count;
} ExpectTotals;

typedef struct ExpectTrial { /* a function of certain inputs, compared with a certain output */
    const ExpectRun *run;
    const ExpectFunction *function;
    const PlanBuffer *a, *b;
    const PlanBuffer *weight, *bias; /* one element for each column; NULL: none */
    /* For a place: the result is this buffer's element there, indices[argmax(values)]; NULL: the place
     * itself. */
    const PlanBuffer *carried;
    const PlanBuffer *out;
    long double epsilon;
    /* Values per bin of a histogram, 0: 1; with columns: rows of each matrix, 0: one matrix. */
    uint64_t width;
    uint64_t base; /* first value of the first bin */
    ExpectChanged changed;
    uint64_t length;  /* elements of the inputs */
    uint64_t columns; /* for ROWS and EACH */
    bool is_guess;
    bool is_component;    /* a component of an output, at a fixed distance: functions of EACH are not tried */
    bool explains_all;    /* every changed element must be explained */
    bool takes_parts;     /* one of several results may use only a part of the inputs */
    int8_t *whole;        /* [buffer] 1: only whole numbers, -1: other numbers too, 0: not checked */
    ExpectTotals *totals; /* NULL: each total is computed anew */
    uint64_t *work;       /* elements that may still be read */
    ExpectResult result;
    uint64_t partials; /* number of partial results behind the result; 0: none */
} ExpectTrial;

/* Changes of buffer `index`; none for an intermediate result. */
ExpectChanged expect_changes(const ExpectRun *run, int index);
uint64_t expect_threads(const ExpectRun *run); /* of the first launch */

/* Bound on the roundings in a sum of `length` elements: a thread adds its share, then a tree and atomics
 * follow. Errors of many additions cancel partly. */
double expect_growth(const ExpectRun *run, uint64_t length);

long double expect_element(const PlanBuffer *buffer, uint64_t i);

/* True if the output is what the function gives; `result` has the error. */
bool expect_try(ExpectTrial *trial);
bool expect_try_total(ExpectTrial *trial); /* as above, for a function with one result */
/* Integers that look like truncated floats also match by chance. Places and counts of elements are
 * integers. */
bool expect_is_truncated(const ExpectTrial *trial);
void expect_print_name(const ExpectTrial *trial, Text *what); /* "sum(in)" */
/* Copies the trial's result and prints its name with the number of partial results; returns true. */
bool expect_keep(const ExpectTrial *trial, ExpectResult *result, Text *what);

#endif
