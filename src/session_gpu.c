/* The same run on a GPU: captured, and compared with what the emulator recorded (session.h, session_verify).
 */
#include "gpu/capture.h"
#include "session_state.h"
#include "trace/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_LIMIT_BYTES = 1 << 20 };

typedef struct GpuCopy { /* of the session's run, on the GPU */
    const Session *session;
    CaptureBuffer *buffers; /* [count]: those of the plan, then module variables */
    int count, other;
    Trace *trace;
    CaptureTally tally;
} GpuCopy;

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

static void copy_done(GpuCopy *copy) {
    for (int i = 0; i < copy->count; i++) free(copy->buffers[i].host);
    free(copy->buffers);
    if (copy->trace) trace_free(copy->trace);
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

static bool capture(GpuCopy *copy, Cuda *cuda, Error *error) {
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
                               .probe = probe};
    bool good = capture_run(cuda, launches, session->plan.launch_count, copy->buffers, copy->count, &settings,
                            copy->trace, &copy->tally, error);
    free(probe);
    return good;
}

/* Bytes of the plan's buffers that both left alike; false with `name` of the first that they did not. */
static bool results_agree(const GpuCopy *copy, const char **name) {
    const Plan *plan = &copy->session->plan;
    for (int i = 0; i < copy->count && i < plan->buffer_count; i++) {
        *name = copy->buffers[i].name;
        if (memcmp(copy->buffers[i].host, plan->buffers[i].bytes, copy->buffers[i].bytes) != 0) return false;
    }
    return true;
}

static void tell(const GpuCopy *copy, const Cuda *cuda, const TraceComparison *comparison, Text *out) {
    const char *name = "";
    bool agree = results_agree(copy, &name);
    text_print(out, "%s: emulator and %s %s\n", copy->session->name, cuda->name,
               comparison->same ? "agree" : "DIFFER");
    text_print(out,
               "  %" PRIu64 " blocks, %" PRIu64 " threads, %" PRIu64 " events of threads; %" PRIu64
               " values that only scheduling decides were not compared\n",
               comparison->blocks, comparison->threads, comparison->events, comparison->free_values);
    text_print(out, "  masks: %" PRIu64 " of %" PRIu64 " are the same\n", comparison->equal_masks,
               comparison->masks);
    text_print(out, "  memory afterwards: %s%s%s\n", agree ? "the same to the bit" : "`", agree ? "" : name,
               agree ? "" : "` differs");
    text_print(out,
               "  capture: %" PRIu64 " records, %" PRIu64 " dropped, %" PRIu64
               " iterations of waiting loops left out; %.1f us on the GPU\n",
               copy->tally.records, copy->tally.dropped, copy->tally.left_out,
               copy->tally.kernel_seconds * 1e6);
    if (comparison->difference.length) text_print(out, "  first difference: %s", comparison->difference.data);
}

static void compare(GpuCopy *copy, const Cuda *cuda, bool *same, Text *out) {
    const Session *session = copy->session;
    int count = session->trace->buffer_count;
    uint64_t *emulated = memory_new((size_t)(count + 1) * sizeof *emulated);
    uint64_t *real = memory_new((size_t)(count + 1) * sizeof *real);
    for (int i = 0; i < count; i++) emulated[i] = emulator_buffer_address(session->emulator, i);
    for (int i = 0; i < copy->count; i++) real[copy->buffers[i].index] = copy->buffers[i].address;
    TraceSide sides[2] = {{session->trace, emulated, "emulator"}, {copy->trace, real, cuda->name}};
    TraceComparison comparison;
    trace_compare(&sides[0], &sides[1], &comparison);
    *same = comparison.same;
    tell(copy, cuda, &comparison, out);
    trace_comparison_done(&comparison);
    free(emulated);
    free(real);
}

bool session_verify(const Session *session, Text *out, bool *same, Error *error) {
    if (!session->emulator || !session->filled.buffers)
        return error_set(error, "--verify needs a run, not a file of one that is over");
    Cuda *cuda = cuda_open(error);
    if (!cuda) return false;
    GpuCopy copy = {.session = session, .trace = trace_new("gpu"), .other = -1};
    list_buffers(&copy);
    bool good = capture(&copy, cuda, error);
    if (good) compare(&copy, cuda, same, out);
    copy_done(&copy);
    cuda_close(cuda);
    return good;
}
