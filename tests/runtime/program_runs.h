/* Runs of programs on the emulator for tests: many at once, and what --report=json says of each as a few
 * lines.
 *
 * A set-up adds all commands, then runs them; each test reads the one that it is about. */
#ifndef TESTS_RUNTIME_PROGRAM_RUNS_H
#define TESTS_RUNTIME_PROGRAM_RUNS_H

#include "tests/cli/program.h"

/* Builds programs/ends.c in the folder of the tests, which becomes $TMPDIR. False: no compiler does. */
bool program_runs_build_ends(void);
/* Adds a command, in which @ stands for redviz and % for tests/runtime/programs; `name` is its own. */
void program_runs_add(const char *name, const char *command);
/* Runs all of them, as many at a time as there are cores. */
void program_runs_do(void);

/* What the command left. The test is skipped if there is no compiler for the host code of a program. */
Outcome program_runs_outcome(const char *name);
/* The JSON that it printed, the caller's; its exit status must be this. */
char *program_runs_json(const char *name, int status);

/* The text of a JSON string, the caller's; "-" of null. */
char *program_json_text(const char *json, const char *path);
/* A report as lines, the caller's:
 *
 *     exited 0: 103 launches, 4 distinct
 *     1 reduce 391x256 line 29: d_out 391
 *     2-100 as 1
 *     101 square 4x256 line 13: d_values 992 [700]
 *     error copies.cu:13: cudaMemcpy failed: ...         what the host did wrong
 *     trap line 6: just past the end of `d_values` ...    of the launch that is shown */
char *program_runs_lines(const char *json);

/* The output of the program and these lines, for a run whose command exits with `status`. */
void program_runs_expect(const char *name, int status, const char *output, const char *lines);

#endif
