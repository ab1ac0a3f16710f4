/* Values of claims: counts of the emulator, and figures measured on a GPU. Runs are opened on first use and
 * kept. */
#ifndef LECTURE_VALUES_H
#define LECTURE_VALUES_H

#include "lecture/claim.h"
#include "session/session.h"

typedef struct ClaimRuns ClaimRuns;

typedef struct ClaimRunsOptions {
    const char *machine; /* whose recordings to use if a claim names none; NULL: the default */
    bool live;           /* measures times now, on the GPU of this machine */
    int threads;         /* host threads of each run; 0: the default */
} ClaimRunsOptions;

ClaimRuns *claim_runs_new(const ClaimRunsOptions *options);
void claim_runs_free(ClaimRuns *runs);

/* Sets the meaning of `here` and `beside`; borrowed, NULL: none. */
void claim_runs_stand_at(ClaimRuns *runs, Session *here, Session *beside);

/* The run of a query, whose `name` may be NULL; the run's owner keeps it. NULL with `error`. */
Session *claim_runs_session(ClaimRuns *runs, const ClaimQuery *query, Error *error);

/* A ClaimWorld's function, with the ClaimRuns as context. Does not support LEVEL and STEP, which are places
 * of the interface. */
bool claim_runs_value(void *runs, const ClaimQuery *query, double *value, Error *error);

/* A value of INTERVAL or LEVEL, for steps `first` to `end` (exclusive) of a traced block. False: unknown
 * name, or division by zero. */
bool claim_steps_value(const SessionBlock *block, int first, int end, const char *name, double *value);

#endif
