/* Progress: a line on stderr that says how much of a long run is done. It appears after a second and goes
 * when the run is over. Nothing is written where stderr is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "session/session.h"

typedef struct ProgressLine ProgressLine;

ProgressLine *progress_begin(const SessionProgress *of); /* NULL: stderr is no terminal */
void progress_end(ProgressLine *progress);               /* NULL is allowed */

typedef struct ProgressState { /* what is known of the run now, and was a second ago */
    uint64_t done, blocks;
    const char *what;            /* as in SessionProgress */
    int run;                     /* from 1: blocks began anew so many times */
    double seconds, run_seconds; /* since the line began, and since this run did */
} ProgressState;

/* Takes over how far it is; a run that begins anew is another one. */
void progress_follow(ProgressState *state, const SessionProgress *of, double seconds);
/* "1,200 of 4,096 blocks, about 12 s left"; "run 2: 100 of 4,096 blocks"; "trying other orders: 3 of 64, 5 s" */
void progress_print(const ProgressState *state, Text *out);

#endif
