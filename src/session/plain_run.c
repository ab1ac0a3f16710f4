/* The session's run on a GPU as it is (plain_run.h). */
#include "session/plain_run.h"

#include <stdlib.h>

static bool load(PlainRun *plain, Cuda *cuda, bool keeps_code, Error *error) {
    const Session *session = plain->session;
    Text ptx = {0};
    ptx_programs_print((const PtxProgram *const *)session->run->launches.programs,
                       session->run->launches.count, &ptx);
    bool good =
        (keeps_code ? gpu_run_begin_keeping : gpu_run_begin)(&plain->run, cuda, text_string(&ptx), error);
    text_done(&ptx);
    for (int i = 0; good && i < session->run->filled.buffer_count; i++) {
        const PlanBuffer *buffer = &session->run->filled.buffers[i];
        size_t bytes = buffer->count * (size_t)ptx_type_bytes(buffer->type);
        good = gpu_run_add_buffer(&plain->run, buffer->bytes, bytes, error) >= 0;
    }
    return good;
}

static bool prepare_launches(PlainRun *plain, Error *error) {
    const GpuRun *run = &plain->run;
    uint64_t *addresses = memory_new((size_t)(run->buffer_count + 1) * sizeof *addresses);
    bool good = true;
    for (int i = 0; i < run->buffer_count; i++) addresses[i] = run->buffers[i].address;
    for (int i = 0; good && i < plain->session->run->launches.count; i++) {
        GpuLaunch *launch = &plain->launches[i];
        good = session_bind(plain->session, i, addresses, &launch->launch, error) &&
               gpu_run_prepare(run, launch, error);
    }
    free(addresses);
    return good;
}

bool plain_run_open(PlainRun *plain, const Session *session, Cuda *cuda, bool keeps_code, Error *error) {
    *plain = (PlainRun){.session = session};
    return load(plain, cuda, keeps_code, error) &&
           gpu_variables_keep(&plain->variables, &plain->run, session->code.module, error) &&
           prepare_launches(plain, error);
}

void plain_run_done(PlainRun *plain) {
    for (int i = 0; i < PLAN_LAUNCHES; i++) launch_done(&plain->launches[i].launch);
    gpu_variables_done(&plain->variables);
    gpu_run_end(&plain->run);
}

bool plain_run_restore(void *context, Error *error) {
    PlainRun *plain = context;
    return gpu_variables_restore(&plain->variables, plain->run.cuda, error) &&
           gpu_run_upload(&plain->run, error);
}

bool plain_run_launch(void *context, int index, Error *error) {
    const PlainRun *plain = context;
    return gpu_run_launch(&plain->run, &plain->launches[index], error);
}
