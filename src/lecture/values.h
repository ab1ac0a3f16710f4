/* Values of claims: counts of the emulator, and figures measured on a GPU. Runs are opened at the first
 * question and kept. */
#ifndef LECTURE_VALUES_H
#define LECTURE_VALUES_H

#include "lecture/claim.h"
#include "session/session.h"

typedef struct ClaimRuns ClaimRuns;

typedef struct ClaimRunsOptions {
    const char *machine; /* whose recordings, where a claim names none; NULL: the default one */
    bool live;           /* times are measured now, on the GPU of this machine */
    int threads;         /* host threads of each run; 0: the default */
} ClaimRunsOptions;

ClaimRuns *claim_runs_new(const ClaimRunsOptions *options);
void claim_runs_free(ClaimRuns *runs);

/* What `here` and `beside` mean from now on; borrowed, NULL: there is none. */
void claim_runs_stand_at(ClaimRuns *runs, Session *here, Session *beside);

/* The run that a query names, whose `name` may be NULL; the run's owner keeps it. NULL with `error`. */
Session *claim_runs_session(ClaimRuns *runs, const ClaimQuery *query, Error *error);

/* A ClaimWorld's function, its context the ClaimRuns. Knows no LEVEL and no STEP: those are places of the interface. */
bool claim_runs_value(void *runs, const ClaimQuery *query, double *value, Error *error);

/* A value of INTERVAL or LEVEL, of steps `first` to `end` (without it) of a traced block. false: there is no such name, or
 * nothing to divide by. */
bool claim_steps_value(const SessionBlock *block, int first, int end, const char *name, double *value);

#endif
