/* The session's run on a GPU as it is (plain_run.h). */
#include "session/plain_run.h"

#include "gpu/nvml.h"
#include <stdlib.h>

enum { LARGE_BYTES = 256 << 20 };

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
        GpuBuffer wanted = {
            .host = buffer->bytes, .bytes = bytes, .variable = buffer->variable, .captured = buffer->address};
        good = gpu_run_add(&plain->run, &wanted, error) >= 0;
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

static bool is_large(const Session *session) {
    uint64_t bytes = 0;
    for (int i = 0; i < session->run->filled.buffer_count; i++) {
        const PlanBuffer *buffer = &session->run->filled.buffers[i];
        bytes += buffer->count * (uint64_t)ptx_type_bytes(buffer->type);
    }
    return bytes > LARGE_BYTES;
}

ResidencyWork plain_run_work(PlainRun *plain) {
    const Session *session = plain->session;
    return (ResidencyWork){.plain = &plain->run,
                           .launches = plain->launches,
                           .programs = (const PtxProgram *const *)session->run->launches.programs,
                           .count = session->run->launches.count,
                           .restore = plain_run_restore,
                           .context = plain,
                           .is_large = is_large(session)};
}

void plain_run_describe(const Session *session, const Cuda *cuda, const char *entry, Arena *arena,
                        TimelineRun *of) {
    const CatalogRow *row = session->kernel.row;
    char now[32];
    Nvml nvml = {0};
    nvml_open(&nvml, cuda);
    of->driver = arena_print(arena, "%s%sCUDA %d.%d", nvml.driver, *nvml.driver ? ", " : "",
                             cuda->driver_version / 1000, cuda->driver_version % 1000 / 10);
    nvml_close(&nvml);
    of->kernel = arena_copy_string(arena, row ? row->id : entry);
    of->n = row ? session->kernel.run.n : session->options.catalog.n;
    of->dtype = arena_copy_string(arena, row ? plan_type_name(session->kernel.run.dtype) : "");
    of->op = arena_copy_string(arena, row ? session->kernel.run.op : "");
    of->measured = arena_copy_string(arena, text_now(now, sizeof now));
}
