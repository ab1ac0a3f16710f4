/* Actions: performs the action of the command line. actions.def is the table, perform.c prints output that
 * needs no run, perform_run.c runs kernels and shows them. */
#ifndef CLI_PERFORM_H
#define CLI_PERFORM_H

#include "bench/bench.h"
#include "cli/finish.h"
#include "cli/options.h"

/* False with `error`; the text in *out is printed in either case. */
typedef bool PrintAction(const Options *options, Text *out, Error *error);

/* What prints the action; NULL: it shows a run. */
PrintAction *perform_print(Action action);

/* Returns the exit status of the program. `print` NULL: makes a run and shows it. */
int perform_action(Options *options, PrintAction *print, Error *error);

/* What --bench measures. */
BenchOptions perform_bench(const Options *options);

/* perform_run.c: for the actions that show a run, or the runs of a lecture. */
int perform_run(Options *options, Error *error);

#endif
