/* Plain run: the session's PTX as it is, run on a GPU as often as asked. Private to the session. */
#ifndef SESSION_PLAIN_RUN_H
#define SESSION_PLAIN_RUN_H

#include "gpu/residency.h"
#include "gpu/variables.h"
#include "session/state.h"

typedef struct PlainRun { /* zero-initialised is a valid closed one */
    const Session *session;
    GpuRun run;
    GpuLaunch launches[PLAN_LAUNCHES]; /* [session->run->launches.count] prepared */
    GpuVariables variables;
} PlainRun;

/* Loads the programs, allocates the buffers, binds the launches; needs `filled`. keeps_code: the machine code
 * is kept (run.code). In any case plain_run_done(). */
bool plain_run_open(PlainRun *plain, const Session *session, Cuda *cuda, bool keeps_code, Error *error);
void plain_run_done(PlainRun *plain);
/* With a PlainRun as context: buffers and variables as before the run; enqueues a launch. */
bool plain_run_restore(void *context, Error *error);
bool plain_run_launch(void *context, int index, Error *error);

/* The run for a probe: with its launches, which it restores. Borrows `plain`. */
ResidencyWork plain_run_work(PlainRun *plain);
/* What is known of the run and of this GPU; texts live in `arena`. `entry`: its name if it is not of the
 * catalogue. */
void plain_run_describe(const Session *session, const Cuda *cuda, const char *entry, Arena *arena,
                        TimelineRun *of);

#endif
