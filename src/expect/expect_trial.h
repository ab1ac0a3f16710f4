/* Trial: one function of the inputs before a run, compared with one output of the run. Private to
 * expect*.c. */
#ifndef EXPECT_EXPECT_TRIAL_H
#define EXPECT_EXPECT_TRIAL_H

#include "expect/expect.h"
#include "expect/expect_functions.h"

#define EXPECT_EPSILON 1e-5L /* that frameworks add to a variance */

typedef struct ExpectChanged { /* what a run changed of a buffer */
    int buffer;
    uint64_t end, count; /* after the last changed element; how many */
} ExpectChanged;

typedef struct ExpectTotal { /* what a function gives of all these elements, once computed */
    const ExpectFunction *function;
    const void *a, *b; /* bytes, which stay where they are */
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
    const PlanBuffer *weight, *bias; /* of each column; NULL: none */
    const PlanBuffer
        *carried; /* of a place: the result is its element there, indices[argmax(values)]; NULL: the place */
    const PlanBuffer *out;
    long double epsilon;
    uint64_t width; /* of the bins of a histogram; 0: 1. Of columns: rows of each matrix; 0: there is one */
    uint64_t base;  /* what the first bin begins with */
    ExpectChanged changed;
    uint64_t length;  /* elements of the inputs */
    uint64_t columns; /* of ROWS and EACH */
    bool is_guess;
    bool is_component; /* of an output, every so many elements: no numbers for each element are looked for */
    bool explains_all; /* no element that changed may be left over */
    bool takes_parts;  /* a part of the inputs may be all that one of several results is made of */
    int8_t *whole;     /* [buffer] 1: it has whole numbers only, -1: others, too, 0: not looked at yet */
    ExpectTotals *totals; /* NULL: each is computed anew */
    uint64_t *work;       /* elements that may still be looked at */
    ExpectResult result;
    uint64_t partials; /* the result is that of so many partial ones; 0: none */
} ExpectTrial;

/* Of buffer `index`; nothing of an intermediate result. */
ExpectChanged expect_changes(const ExpectRun *run, int index);
uint64_t expect_threads(const ExpectRun *run); /* of the first launch */

/* So many roundings, at most, a sum of `length` elements is off by: one after another are added those of a thread, of a tree, and
 * by atomics. Errors of many additions cancel partly. */
double expect_growth(const ExpectRun *run, uint64_t length);

long double expect_element(const PlanBuffer *buffer, uint64_t i);

/* Is the output what the function gives? `result` says how far off it is. */
bool expect_try(ExpectTrial *trial);
bool expect_try_total(ExpectTrial *trial); /* the same of a function that gives one number */
/* Integers that would be what is left of floats: found by chance, too. Places and counts of elements are integers. */
bool expect_is_truncated(const ExpectTrial *trial);
void expect_print_name(const ExpectTrial *trial, Text *what); /* "sum(in)" */
/* Copies the trial's result and prints its name, with the number of partial results; true. */
bool expect_keep(const ExpectTrial *trial, ExpectResult *result, Text *what);

#endif
