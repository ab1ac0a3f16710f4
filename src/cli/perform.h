/* Actions: performs what the command line asks for. actions.def is the table, perform.c prints what needs no run, perform_run.c
 * makes a run and shows it. */
#ifndef CLI_PERFORM_H
#define CLI_PERFORM_H

#include "cli/finish.h"
#include "cli/options.h"

/* The exit status of the program. */
int perform_action(Options *options, Error *error);

/* perform_run.c: for the actions that show a run, or the runs of a lecture. */
int perform_run(Options *options, Error *error);

#endif
