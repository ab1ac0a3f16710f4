/* Program call: a function of FILE.cu, called by a generated main() for each n. What it writes is
 * compared. */
#ifndef CLI_PROGRAM_CALL_H
#define CLI_PROGRAM_CALL_H

#include "cli/options.h"
#include "runtime/user_program.h"

/* The run of the last n; the others are lines of the table that is printed. Sets options->call_failed if one
 * was wrong. */
Program *program_call_open(Options *options, Error *error);

#endif
