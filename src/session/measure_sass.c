/* Measuring the machine code of a session's launches on the GPU of this machine (session.h). */
#include "gpu/nvml.h"
#include "gpu/sass_measure.h"
#include "metrics/counted.h"
#include "session/gpu.h"
#include "session/plain_run.h"

#include <inttypes.h>
#include <string.h>

static void add_note(Session *session, const char *subject, const char *why) {
    SessionMachine *machine = &session->machine;
    char text[640];
    if (!*why || machine->sass_note_count == SESSION_SASS_NOTES) return;
    snprintf(text, sizeof text, "%s%s", subject, why);
    machine->sass_notes[machine->sass_note_count++] = arena_copy_string(&session->arena, text);
}

static void add_notes(Session *session, const SassNotes *notes) {
    char words[96];
    add_note(session, "machine code not counted: ", notes->counts.message);
    add_note(session, "machine code not sampled: ", notes->samples.message);
    snprintf(words, sizeof words, "%" PRIu64 " samples found no room and are missing", notes->dropped);
    add_note(session, "", notes->dropped ? words : "");
    snprintf(words, sizeof words, "%" PRIu64 " counts and samples are of functions that are not listed",
             notes->unplaced);
    add_note(session, "", notes->unplaced ? words : "");
}

static bool load(void *context, Error *error) {
    PlainRun *plain = context;
    return plain_run_open(plain, plain->session, plain->run.cuda, true, error);
}

/* The metrics of counted.def: whoever counts later in this process finds them configured. */
static int list_later(const char *names[COUNTED_METRICS]) {
    int count = 0;
    for (int row = 0; row < COUNTED_ROWS; row++)
        if (!strchr(counted_rows[row].metric, ' ')) names[count++] = counted_rows[row].metric;
    return count;
}

static bool measure_on(Session *session, Cuda *cuda, SassKernel *kernels, SassNotes *notes, Error *error) {
    const char *later[COUNTED_METRICS];
    char driver[96];
    Nvml nvml;
    PlainRun plain = {.session = session, .run.cuda = cuda};
    nvml_open(&nvml, cuda);
    nvml_describe_driver(&nvml, cuda, driver, sizeof driver);
    nvml_close(&nvml);
    SassWork work = {.cuda = cuda,
                     .n = session->kernel.n,
                     .driver = driver,
                     .load = load,
                     .restore = plain_run_restore,
                     .context = &plain,
                     .run = &plain.run,
                     .launches = plain.launches,
                     .count = session->run->launches.count,
                     .also = later,
                     .also_count = list_later(later)};
    bool good = gpu_sass_measure(&work, SASS_ALL, kernels, notes, error);
    plain_run_done(&plain);
    return good;
}

static bool measure(Session *session, Cuda *cuda, SassKernel *kernels, Error *error) {
    SassNotes notes = {.dropped = 0};
    if (!measure_on(session, cuda, kernels, &notes, error)) return false;
    add_notes(session, &notes);
    return kernels[0].count || error_set(error, "%s", notes.code.message);
}

static void take_over(Session *session, SassKernel *kernel, int launch) {
    if (session->kernel.row) {
        kernel->kernel = session->kernel.row->id;
        kernel->dtype = session->kernel.dtype;
        kernel->op = session->kernel.op;
    }
    session_set_sass(session, launch, kernel);
}

static bool can_measure(const Session *session, Error *error) {
    if (session->options.backend == BACKEND_EMULATOR) return error_set(error, "the emulator was asked for");
    if (session->run->is_partial) return error_set(error, "the run is not over");
    if (trace_has_fault(session->run->trace)) return error_set(error, "the run ended in a trap");
    return (session->run->emulator && session->run->filled.buffers) ||
           error_set(error, "the inputs of this run were not kept");
}

void session_measure_sass(Session *session) {
    SassKernel kernels[PLAN_LAUNCHES] = {{.count = 0}};
    Error why = {0};
    int count = session->run->launches.count;
    session->machine.sass_note_count = 0;
    Cuda *cuda = can_measure(session, &why) ? session_gpu_take(&why) : NULL;
    bool good = cuda && measure(session, cuda, kernels, &why);
    if (cuda) session_gpu_give_back(cuda->hung || cuda->faulted);
    if (cuda && !good) add_note(session, "machine code not measured: ", why.message);
    for (int i = 0; i < count; i++) {
        if (good && kernels[i].count)
            take_over(session, &kernels[i], i);
        else if (cuda) /* without a GPU: whatever is said of recordings */
            session_miss_sass(session, i, why.message);
        sass_kernel_done(&kernels[i]);
    }
}

const char *const *session_sass_notes(const Session *session, int *count) {
    *count = session->machine.sass_note_count;
    return session->machine.sass_notes;
}
