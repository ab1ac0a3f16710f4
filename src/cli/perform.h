/* Actions: performs the action of the command line. actions.def is the table, perform.c prints output that
 * needs no run, perform_run.c runs kernels and shows them. */
#ifndef CLI_PERFORM_H
#define CLI_PERFORM_H

#include "cli/finish.h"
#include "cli/options.h"

/* Returns the exit status of the program. */
int perform_action(Options *options, Error *error);

/* perform_run.c: for the actions that show a run, or the runs of a lecture. */
int perform_run(Options *options, Error *error);

#endif
