/* User variables: variables of the module that a kernel stores to, as buffers of a result: `__device__ float total`,
 * `__managed__ int result`. Private to src/guess. */
#ifndef GUESS_USER_VARIABLES_H
#define GUESS_USER_VARIABLES_H

#include "guess/user_launch.h"

/* The guess's buffers before and after the run, and behind them the module's variables that its launches may write: shallow
 * copies, to be given back with user_variables_done(). */
typedef struct UserVariables {
    Plan filled, done;
    void *zeros; /* initial values that the module does not give */
    Arena arena; /* numbers that were printed */
} UserVariables;

enum { USER_PRINTED = 8, USER_GATHERED = 4 };

UserVariables user_variables(const Guess *guess);
/* Adds what the first launch takes by arrays of indices, "x[columns]", as inputs: at most USER_GATHERED of them. */
void user_add_gathered(Guess *guess, UserVariables *variables);
/* Adds what the run printed, as buffers: at most USER_PRINTED of them. How many. */
int user_add_printed(const Guess *guess, UserVariables *variables);
void user_variables_done(UserVariables *variables);

#endif
