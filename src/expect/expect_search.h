/* Search: the function of a run's inputs that one of its outputs looks like. Private to expect*.c. */
#ifndef EXPECT_EXPECT_SEARCH_H
#define EXPECT_EXPECT_SEARCH_H

#include "expect/expect_trial.h"

/* Functions that give as many numbers as there are elements come first where so many changed: they leave little to chance.
 * Those of a part of the inputs come last. */
typedef enum ExpectPass { EXPECT_PASS_EACH, EXPECT_PASS_ALL, EXPECT_PASS_PARTS } ExpectPass;

enum { EXPECT_LENGTHS = 24 };

/* Tries the functions of this pass on trial->out, of all inputs and lengths that the launch suggests; the trial is then the one
 * that was found. */
bool expect_search(ExpectTrial *trial, ExpectPass pass);
/* How many elements of `a` the kernel may have looked at, [EXPECT_LENGTHS]: all, n, a number that it was given, some for each
 * thread. How many of these there are. */
int expect_lengths(const ExpectRun *run, const PlanBuffer *a, uint64_t *lengths);
bool expect_is_input(const ExpectRun *run, int index);

#endif
