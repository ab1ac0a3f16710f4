/* A session's run on the GPU as it is, not instrumented: its PTX, its launches, its buffers, as often as a measurement
 * needs it. Private to the session. */
#ifndef SESSION_PLAIN_RUN_H
#define SESSION_PLAIN_RUN_H

#include "gpu/run.h"
#include "session/state.h"

typedef struct PlainVariable { /* of the module: the kernel may change it */
    CudaAddress address;
    size_t bytes;
    uint8_t *before;
} PlainVariable;

typedef struct PlainRun {
    const Session *session;
    GpuRun run;
    GpuLaunch launches[PLAN_LAUNCHES];
    PlainVariable *variables;
    int variable_count, variable_capacity;
} PlainRun;

/* `plain` has its session, which holds its inputs (`filled`). linked: its machine code is kept (run.code). In any case
 * plain_run_done(). */
bool plain_run_load(PlainRun *plain, Cuda *cuda, bool linked, Error *error);
void plain_run_done(PlainRun *plain);

/* `plain`: a PlainRun. Its buffers and variables as they were before the run. */
bool plain_run_restore(void *plain, Error *error);
/* Enqueues a launch. */
bool plain_run_launch(void *plain, int index, Error *error);

#endif
