/* Program offer: runs the program of --run or of what follows --, and chooses the launch that is shown. */
#ifndef CLI_PROGRAM_OFFER_H
#define CLI_PROGRAM_OFFER_H

#include "cli/options.h"
#include "runtime/user_program.h"

/* Runs it, and sets the captured launch of options->session: -1, if no launch can be shown. NULL with
 * `error`: it cannot be compiled or started. The caller frees it after the session. */
Program *program_offer_open(Options *options, Error *error);
/* Prints what is known of a program that has no launch to show; the exit status. */
int program_offer_refuse(const Options *options, const Program *program, Error *error);

#endif
