/* Expect: the right result of a kernel outside the catalogue, given with --expect or found.
 *
 *   --expect [BUFFER=]FUNCTION(INPUT[,INPUT, COLUMNS])     or     [BUFFER=]file:PATH
 *
 * The result of a function of all elements (sum, max, ...) is compared with one element of the output or, if
 * blocks leave partial results, with their fold. Functions of rows, and scans, have one element each. */
#ifndef EXPECT_EXPECT_H
#define EXPECT_EXPECT_H

#include "expect/reference.h"

enum { EXPECT_FEW = 32 }; /* below this many elements, many functions agree by chance */

typedef struct ExpectRun {
    const Plan *filled, *done; /* before and after the run; done->launches[0] ran first */
    uint64_t n;
    int variables;       /* number of buffers at the end that are variables of the module */
    const bool *results; /* [buffer] written by the last launch: only these are results; NULL: not known */
    const bool *read;    /* [buffer] loaded by the kernel: may be scratch memory; NULL: none */
    /* Lanes that executed atomics on memory: bounds the length of a chain of additions. */
    uint64_t atomics;
    /* "add", "min", "max": the kernel folds one input with this alone, so any other function is wrong; NULL:
     * not known. */
    const char *fold;
    /* The only operation on floats, beside others that are not additions, minima or maxima. */
    const char *float_fold;
    /* Constants of the compiled kernel: one may be the number of elements it takes. */
    const uint64_t *numbers;
    int number_count;
    /* Elements are indices, as in a histogram: the number of nonzero elements matches by chance. */
    bool counts_values;
    bool compares;     /* the kernel compares elements with each other: an extreme is not a chance match */
    bool names_output; /* several buffers may be the output: the description starts with its name */
    bool takes_most;   /* guesses were tried: a result of less than half of an input is a chance match */
    bool is_hint;      /* accepts what few elements may match by chance; other draws confirm or refute it */
    bool is_trial;     /* a run that tries sizes: a fraction of the usual search is enough */
} ExpectRun;

/* Compares the output with `expectation`. False: `expectation` is invalid, see `error`. `what` gets the name,
 * "sum(in)". */
bool expect_compare(const char *expectation, const ExpectRun *run, ExpectResult *result, Text *what,
                    Error *error);
/* As above, with the function that the output looks like. False: it looks like no known function. */
bool expect_find(const ExpectRun *run, ExpectResult *result, Text *what);
/* Checks `expectation` without a run, so that errors show before anything runs. */
bool expect_read(const char *expectation, const Plan *plan, Error *error);

#endif
