/* Search: the function of a run's inputs that one of its outputs looks like. Private to expect*.c. */
#ifndef EXPECT_EXPECT_SEARCH_H
#define EXPECT_EXPECT_SEARCH_H

#include "expect/expect_trial.h"

/* Functions with a number for each element come first if that many changed: they rarely match by chance.
 * Functions of a part of the inputs come last. */
typedef enum ExpectPass { EXPECT_PASS_EACH, EXPECT_PASS_ALL, EXPECT_PASS_PARTS } ExpectPass;

enum { EXPECT_LENGTHS = 24 };

/* Tries the functions of this pass on trial->out, with all inputs and lengths that the launch suggests. True:
 * the trial is the match. */
bool expect_search(ExpectTrial *trial, ExpectPass pass);
/* Lists how many elements of `a` the kernel may have read, [EXPECT_LENGTHS]: all, n, a number among its
 * arguments, a few for each thread. Returns their count. */
int expect_lengths(const ExpectRun *run, const PlanBuffer *a, uint64_t *lengths);
bool expect_is_input(const ExpectRun *run, int index);

#endif
