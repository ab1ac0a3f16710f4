/* Expect: the right result of a kernel outside the catalogue, given with --expect.
 *
 *   --expect [BUFFER=]FUNCTION(INPUT[,INPUT, COLUMNS])     or     [BUFFER=]file:PATH     or
 *                                                          BUFFER[]=FUNCTION(INPUT)
 *
 * Of equal extremes argmax and argmin ask for the first; argmax_any and argmin_any take each.
 *
 * The result of a function of all elements (sum, max, ...) is compared with one element of the output or, if
 * blocks leave partial results, with their fold; BUFFER[]: with the fold of all its elements, whether written
 * or not. Functions of rows, and scans, have one element each; BUFFER[]: every element is the result of a
 * row, of which the last may be shorter. */
#ifndef EXPECT_EXPECT_H
#define EXPECT_EXPECT_H

#include "expect/arithmetic.h"
#include "expect/reference.h"

typedef struct ExpectShadow ExpectShadow;
struct ExpectShadow { /* the same run without rounding */
    /* What the elements of a buffer of `done` would be, in [count]. False: not known. `of_literal`: some
     * depend on literals that f32 rounds. */
    bool (*of)(const ExpectShadow *shadow, const PlanBuffer *buffer, double *elements, bool *of_literal);
    const void *context;
};

typedef struct ExpectRun {
    const Plan *filled, *done; /* before and after the run; done->launches[0] ran first */
    uint64_t n;
    int variables;         /* number of buffers at the end that are variables of the module */
    const bool *results;   /* [buffer] written by the last launch: only these are results; NULL: not known */
    Arithmetic arithmetic; /* how its values are rounded */
    const ExpectShadow *shadow; /* compared in place of the values; NULL: they are */
} ExpectRun;

/* Compares the output with `expectation`. False: `expectation` is invalid, see `error`. `what` gets the name,
 * "sum(in)". */
bool expect_compare(const char *expectation, const ExpectRun *run, ExpectResult *result, Text *what,
                    Error *error);
/* Gives `other`, a copy of the plan, another input for which faults show that this one may hide: whole
 * numbers, whose sums are exact in any order; extremes of one sign. `what` gets its name. False: there is
 * none for this expectation. */
typedef struct ExpectOther {
    int turn;     /* from 0: several inputs of one kind */
    double count; /* times this, the result is a whole number; 0: it is one, or an extreme */
    bool is_root; /* its square is */
} ExpectOther;
bool expect_other_input(const char *expectation, const ExpectRun *run, Plan *other, ExpectOther *of,
                        Text *what);
/* The result with that input is wrong, and no rounding. */
bool expect_other_is_wrong(const ExpectOther *of, const ExpectResult *other);
/* Without an expectation: is the output the sum, the maximum or the minimum of an input, or the dot product
 * of two, as one number or as one for each block? `what` gets the name. It is a resemblance, and no check. */
bool expect_look(const ExpectRun *run, Text *what);
/* True if all memory is as before the run. */
bool expect_changes_nothing(const ExpectRun *run);
/* Checks `expectation` without a run, so that errors show before anything runs. */
bool expect_read(const char *expectation, const Plan *plan, Error *error);

#endif
