/* Expect: the right result of a kernel that is in no catalogue, said with --expect or found.
 *
 *   --expect [BUFFER=]FUNCTION(INPUT[,INPUT, COLUMNS])     or     [BUFFER=]file:PATH
 *
 * Functions of all elements (sum, max, ...) are compared with one element of the output, or, where blocks leave partial
 * results, with their fold. Those of rows, and scans, have an element each. */
#ifndef EXPECT_EXPECT_H
#define EXPECT_EXPECT_H

#include "expect/reference.h"

enum { EXPECT_FEW = 32 }; /* elements: of fewer, many functions give the same by chance */

typedef struct ExpectRun {
    const Plan *filled, *done; /* before and after the run; done->launches[0] is what ran first */
    uint64_t n;
    int variables;       /* so many buffers, the last ones, are variables of the module */
    const bool *results; /* [buffer] the last launch writes it: only then is it the result; NULL: not known */
    const bool *read;    /* [buffer] the kernel loads from it: it may be scratch memory; NULL: nothing is */
    uint64_t atomics;    /* lanes that executed atomics of memory: how long a chain of additions may be */
    const char
        *fold; /* "add", "min", "max": the kernel folds one input with this alone, so anything else is wrong;
                          NULL: not known */
    const char *
        float_fold; /* all that is done to floats is this, or other things than additions, minima and maxima */
    const uint64_t *numbers; /* that the kernel is compiled with: one may be how many elements it takes */
    int number_count;
    bool counts_values; /* elements are indices, as a histogram's: how many are not zero is an accident */
    bool compares;      /* the kernel compares elements with each other: an extreme of them is no accident */
    bool names_output;  /* several buffers may be meant: what it looks like begins with the name of its own */
    bool takes_most;    /* guesses were tried: a result of less than half of an input is an accident */
    bool is_hint;  /* what few elements give by chance, too, is taken: other draws will confirm it, or not */
    bool is_trial; /* of sizes that are tried: a fraction of the usual search is enough */
} ExpectRun;

/* Compares with what `expectation` says. False with `error`: it cannot be read. `what` gets its name, "sum(in)". */
bool expect_compare(const char *expectation, const ExpectRun *run, ExpectResult *result, Text *what,
                    Error *error);
/* The same with what the output looks like. False: like nothing that is known, and nothing says what it should be. */
bool expect_find(const ExpectRun *run, ExpectResult *result, Text *what);
/* Reads it, without a run: what is wrong is known before anything runs. */
bool expect_read(const char *expectation, const Plan *plan, Error *error);

#endif
