/* A session's run on a GPU, instrumented (session_gpu.h). */
#include "session_gpu.h"

#include <stdlib.h>
#include <string.h>

enum { PROBE_LIMIT_BYTES = 1 << 20 };

static bool is_variable(const Session *session, const char *name) {
    for (int i = 0; i < session->module->variable_count; i++)
        if (!strcmp(session->module->variables[i]->name, name)) return true;
    return false;
}

/* The buffers of the emulated trace, in its order, so that both traces number them alike. */
static void list_buffers(GpuCopy *copy) {
    const Session *session = copy->session;
    const Trace *trace = session->trace;
    copy->buffers = memory_new((size_t)(trace->buffer_count + 1) * sizeof *copy->buffers);
    copy->base = memory_new((size_t)(trace->buffer_count + 1) * sizeof *copy->base);
    for (int i = 0; i < trace->buffer_count; i++) {
        CaptureBuffer buffer = {.name = trace->buffers[i].name, .bytes = trace->buffers[i].bytes, .index = i};
        trace_add_buffer(copy->trace, buffer.name, buffer.bytes, trace->buffers[i].type);
        if (i < session->filled.buffer_count) {
            buffer.host = memory_new(buffer.bytes + 1);
            memcpy(buffer.host, session->filled.buffers[i].bytes, buffer.bytes);
        } else if (is_variable(session, buffer.name)) {
            buffer.is_variable = true;
        } else {
            copy->other = i; /* what the driver has, too, but tells nobody where: a heap, a workspace */
            continue;
        }
        copy->buffers[copy->count++] = buffer;
    }
}

void gpu_copy_done(GpuCopy *copy) {
    for (int i = 0; i < copy->count; i++) free(copy->buffers[i].host);
    free(copy->buffers);
    free(copy->base);
    if (copy->trace) trace_free(copy->trace);
    *copy = (GpuCopy){0};
}

static uint64_t address_of(void *context, int buffer) {
    return ((const CaptureBuffer *)context)[buffer].address; /* the plan's buffers come first */
}

static bool pack(void *context, int launch, const CaptureBuffer *buffers, uint8_t **bytes, Error *error) {
    const Session *session = context;
    size_t size;
    return plan_pack_arguments(&session->plan.launches[launch], session->programs[launch]->entry, address_of,
                               (void *)(uintptr_t)buffers, bytes, &size, error);
}

static bool capture(GpuCopy *copy, Cuda *cuda, bool approximate, Error *error) {
    const Session *session = copy->session;
    const SessionOptions *options = &session->options;
    CaptureLaunch launches[PLAN_LAUNCHES];
    char path[PATH_MAX], *probe;
    size_t length;
    if (!catalog_path("assets/ptx", "probe.ptx", path, sizeof path, error) ||
        !text_read_file(path, PROBE_LIMIT_BYTES, &probe, &length, error))
        return false;
    for (int i = 0; i < session->plan.launch_count; i++) {
        const PlanLaunch *planned = &session->plan.launches[i];
        launches[i] = (CaptureLaunch){.program = session->programs[i],
                                      .grid = {planned->grid[0], planned->grid[1], planned->grid[2]},
                                      .block = {planned->block[0], planned->block[1], planned->block[2]},
                                      .shared_bytes = planned->shared_bytes,
                                      .cooperative = planned->cooperative,
                                      .pack = pack,
                                      .context = (void *)(uintptr_t)session};
    }
    CaptureOptions settings = {.first = options->has_trace_blocks ? options->trace_first : 0,
                               .last = options->has_trace_blocks ? options->trace_last : 0,
                               .other = copy->other,
                               .probe = probe,
                               .approximate = approximate};
    bool good = capture_run(cuda, launches, session->plan.launch_count, copy->buffers, copy->count, &settings,
                            copy->trace, &copy->tally, error);
    free(probe);
    return good;
}

bool gpu_copy_capture(GpuCopy *copy, const Session *session, Cuda *cuda, bool approximate, Error *error) {
    *copy = (GpuCopy){.session = session, .trace = trace_new("gpu"), .other = -1};
    list_buffers(copy);
    bool good = capture(copy, cuda, approximate, error);
    for (int i = 0; i < copy->count; i++) copy->base[copy->buffers[i].index] = copy->buffers[i].address;
    return good;
}
