/* Progress: what a long run does, in words, and the line on stderr that shows it. The line appears after
 * 0.3 s and disappears when the run ends; nothing is written if stderr is not a terminal. */
#ifndef SESSION_PROGRESS_H
#define SESSION_PROGRESS_H

#include "session/session.h"

#define PROGRESS_AFTER_SECONDS 0.3 /* what takes longer says what it does */

typedef struct ProgressLine ProgressLine;

ProgressLine *progress_begin(const SessionProgress *of); /* NULL: stderr is not a terminal */
void progress_end(ProgressLine *progress);               /* NULL is allowed */

typedef struct ProgressState { /* the state of the run now and a second ago */
    uint64_t done, blocks;
    const char *what;            /* from SessionProgress */
    int run;                     /* from 1: how often the blocks started over */
    double seconds, run_seconds; /* since the line appeared, and since this run began */
} ProgressState;

/* Updates the state; a run that starts over counts as another one. */
void progress_follow(ProgressState *state, const SessionProgress *of, double seconds);
/* "1,200 of 4,096 blocks, about 12 s left"; "run 2: 100 of 4,096 blocks"; "trying other orders: 3 of 64, 5
 * s"; "the program runs: 12 launches, 3 s". In the language of the process. */
void progress_print(const ProgressState *state, Text *out);

#endif
