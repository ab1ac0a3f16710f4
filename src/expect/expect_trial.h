/* Trial: compares one function of the inputs before a run with one output of the run. Private to
 * expect*.c. */
#ifndef EXPECT_EXPECT_TRIAL_H
#define EXPECT_EXPECT_TRIAL_H

#include "expect/expect.h"
#include "expect/expect_functions.h"

typedef struct ExpectChanged { /* what a run changed in a buffer */
    int buffer;
    uint64_t end, count; /* index after the last changed element; number of changed elements */
} ExpectChanged;

typedef struct ExpectTrial { /* a function of certain inputs, compared with a certain output */
    const ExpectRun *run;
    const ExpectFunction *function;
    const PlanBuffer *a, *b;
    const PlanBuffer *weight, *bias; /* one element for each column; NULL: none */
    const PlanBuffer *out;
    long double epsilon; /* that keeps a divisor above zero */
    /* Values per bin of a histogram, 0: 1; with columns: rows of each matrix, 0: one matrix. */
    uint64_t width;
    uint64_t base; /* first value of the first bin */
    ExpectChanged changed;
    uint64_t length;  /* elements of the inputs */
    uint64_t columns; /* for ROWS and EACH */
    int8_t *whole;    /* [buffer] 1: only whole numbers, -1: other numbers too, 0: not checked */
    ExpectResult result;
    bool of_all;                   /* every element of the output is a partial result */
    uint64_t partials;             /* number of partial results behind the result; 0: none */
    uint64_t ties;                 /* results that are the index of an equal extreme, not of the first */
    long double expected, allowed; /* sums of all results and of their bounds, absolute */
} ExpectTrial;

typedef struct ExpectInputs { /* what --expect names */
    const ExpectFunction *function;
    int a, b; /* buffers; -1: not named */
    uint64_t columns;
} ExpectInputs;

/* False: the expectation is a file, or not valid. */
bool expect_read_inputs(const char *expectation, const ExpectRun *run, ExpectInputs *inputs);

/* Changes of buffer `index`; none for an intermediate result. */
ExpectChanged expect_changes(const ExpectRun *run, int index);

/* True if the output is what the function gives; `result` has the error. */
bool expect_try(ExpectTrial *trial);
/* False: the bounds are about as large as the results, so that a result within them says nothing. */
bool expect_is_judged(const ExpectTrial *trial);
/* Prints the trial's name, "sum(in)", with the number of partial results. */
void expect_print_name(const ExpectTrial *trial, Text *what);

#endif
