/* The machine code of a session's launches: measured on the GPU of this machine, else recorded (session.h). */
#include "gpu/nvml.h"
#include "gpu/sass_measure.h"
#include "metrics/counted.h"
#include "sass/recorded.h"
#include "session/gpu.h"
#include "session/plain_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_note(Session *session, const char *subject, const char *why) {
    SessionSass *sass = session->machine.sass;
    Text text = {0};
    if (sass->note_count == SESSION_SASS_NOTES) return;
    text_print(&text, "%s%s", subject, why);
    sass->notes[sass->note_count++] = arena_copy_string(&session->arena, text_string(&text));
    text_done(&text);
}

static void add_error(Session *session, const char *subject, const Error *error) {
    if (*error->message) add_note(session, subject, error->message);
}

static void add_notes(Session *session, const SassNotes *notes) {
    char words[128];
    add_error(session, "no machine code: ", &notes->code);
    add_error(session, "not counted: ", &notes->counts);
    add_error(session, "not sampled: ", &notes->samples);
    if (notes->dropped) {
        snprintf(words, sizeof words, "%" PRIu64 " samples found no room and are missing", notes->dropped);
        add_note(session, "", words);
    }
    if (notes->unplaced) {
        snprintf(words, sizeof words, "%" PRIu64 " counts and samples are of functions that are not listed",
                 notes->unplaced);
        add_note(session, "", words);
    }
}

/* ---- measured ------------------------------------------------------------------------------------------ */

static bool load(void *context, Error *error) {
    PlainRun *plain = context;
    return plain_run_load(plain, plain->run.cuda, true, error);
}

/* The metrics of counted.def: whoever counts later in this process finds them configured. */
static int list_later(const char *names[COUNTED_METRICS]) {
    int count = 0;
    for (int row = 0; row < COUNTED_ROWS; row++)
        if (!strchr(counted_rows[row].metric, ' ')) names[count++] = counted_rows[row].metric;
    return count;
}

static bool measure_on(Session *session, Cuda *cuda, SassNotes *notes, Error *error) {
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
                     .count = session->launches.count,
                     .also = later,
                     .also_count = list_later(later)};
    bool good = sass_measure(&work, SASS_ALL, session->machine.sass->kernels, notes, error);
    plain_run_done(&plain);
    return good;
}

static void name_kernels(Session *session) {
    SessionSass *sass = session->machine.sass;
    for (int i = 0; i < sass->count; i++) {
        SassKernel *kernel = &sass->kernels[i];
        if (!session->kernel.row) continue;
        kernel->kernel = session->kernel.row->id;
        kernel->dtype = session->kernel.dtype;
        kernel->op = session->kernel.op;
    }
}

static bool measure(Session *session, Error *error) {
    SassNotes notes = {0};
    if (session->is_partial) return error_set(error, "the run is not over");
    if (session_has_fatal_trap(session->trace)) return error_set(error, "the run ended in a trap");
    if (!session->emulator || !session->filled.buffers)
        return error_set(error, "the inputs of this run were not kept");
    Cuda *cuda = session_gpu_take(error);
    if (!cuda) return false;
    bool good = measure_on(session, cuda, &notes, error);
    session_gpu_give_back(!good);
    add_notes(session, &notes);
    return good && (session->machine.sass->kernels[0].count || error_set(error, "%s", notes.code.message));
}

/* ---- recorded ------------------------------------------------------------------------------------------ */

static bool find_recorded(Session *session, Error *error) {
    SessionSass *sass = session->machine.sass;
    if (!session->kernel.row)
        return error_set(error, "machine code is recorded of the catalogue's kernels only");
    for (int i = 0; i < sass->count; i++) {
        SassKey key = {.kernel = session->kernel.row->id,
                       .dtype = session->kernel.dtype,
                       .op = session->kernel.op,
                       .entry = session->trace->launches[i]->program->entry->name,
                       .launch = i};
        if (!sass_recorded_find(&key, &sass->kernels[i], error)) return false;
    }
    return true;
}

static void drop_kernels(SessionSass *sass) {
    for (int i = 0; i < sass->count; i++) sass_kernel_done(&sass->kernels[i]);
}

void session_sass_free(Session *session) {
    if (!session->machine.sass) return;
    drop_kernels(session->machine.sass);
    free(session->machine.sass);
}

const SessionSass *session_sass(Session *session) {
    Error live = {0}, recorded = {0};
    if (session->machine.sass) return session->machine.sass;
    SessionSass *sass = session->machine.sass = memory_new(sizeof *sass);
    sass->count = session->trace->launch_count < PLAN_LAUNCHES ? session->trace->launch_count : PLAN_LAUNCHES;
    if (session->options.backend != BACKEND_EMULATOR && measure(session, &live)) {
        sass->is_live = true;
        name_kernels(session);
        return sass;
    }
    drop_kernels(sass);
    if (!sass->note_count) add_error(session, "not measured here: ", &live);
    if (find_recorded(session, &recorded)) return sass;
    drop_kernels(sass);
    sass->count = 0;
    add_error(session, "not recorded: ", &recorded);
    return sass;
}
