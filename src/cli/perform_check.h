/* --check: what it prints, and its exit status. */
#ifndef CLI_PERFORM_CHECK_H
#define CLI_PERFORM_CHECK_H

#include "cli/options.h"
#include "runtime/user_program.h"

/* Reads the files of --baseline and --suppress into `accepted`, zeroed at first, which the caller ends with
 * accepted_done(); sets options->accepted if one of --baseline, --suppress, --fail-on, --tool was given. */
bool perform_check_begin(Options *options, Accepted *accepted, Error *error);
/* Checks the run, or all launches of its program. *status stays if the session's own failures decide it. */
void perform_check(const Options *options, Session *session, Text *out, int *status);
/* The check of a program without a launch that can be shown; returns the exit status. `status`: without
 * --baseline and the like. */
int perform_check_unlaunched(const Options *options, const Program *program, int status);

#endif
