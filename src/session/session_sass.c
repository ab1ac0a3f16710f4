/* The machine code of a session's launches: measured here, recorded, or assembled (session.h). */
#include "base/language.h"
#include "sass/assemble.h"
#include "sass/recorded.h"
#include "session/state.h"

#include <stdlib.h>

static SessionSass *sass_of(Session *session, int launch) {
    SessionMachine *machine = &session->machine;
    if (!machine->sass)
        machine->sass = memory_new((size_t)session->run->launches.count * sizeof *machine->sass);
    return &machine->sass[launch];
}

/* Of the user's: nothing of it is recorded. */
static bool is_a_file(const Session *session) {
    return !session->kernel.row || session->code.is_edited;
}

/* It was counted and sampled in blocks of the run's size. */
static bool is_of_blocks(const Session *session, int launch, const SassKernel *kernel) {
    uint64_t threads = launch_volume(session->run->trace->launches[launch]->block);
    return (!kernel->counted.n || kernel->counted.block == threads) &&
           (!kernel->sampled.n || kernel->sampled.block == threads);
}

static void find_recorded(Session *session, int launch, SessionSass *sass) {
    Arena *arena = &session->arena;
    Error error = {0};
    if (session->options.what_if.label) {
        sass->why = tr("the copy with the remedy is not measured: its machine code is another");
        return;
    }
    if (is_a_file(session)) {
        sass->why = tr("its machine code is not recorded: a GPU, with nvdisasm beside it, has to measure it");
        return;
    }
    SassKey key = {.machine = session->options.machine,
                   .kernel = session->kernel.row->id,
                   .dtype = session->kernel.dtype,
                   .op = session->kernel.op,
                   .entry = session->run->launches.programs[launch]->entry->name,
                   .launch = launch};
    if (sass_recorded_find(&key, &sass->kernel, &error)) {
        if (!is_of_blocks(session, launch, &sass->kernel)) sass_forget_measured(&sass->kernel);
        return;
    }
    sass->was_assembled = error.line; /* a damaged recording is not hidden */
    sass->why = error.line ? arena_print(arena, "%s (%s, line %d)", error.message, error.file, error.line)
                           : arena_copy_string(arena, error.message);
}

const SassKernel *session_sass(Session *session, int launch, const char **why) {
    if (why) *why = tr("there is no such launch");
    if (launch < 0 || launch >= session->run->launches.count) return NULL;
    SessionSass *sass = sass_of(session, launch);
    if (!sass->was_looked_for) find_recorded(session, launch, sass);
    sass->was_looked_for = true;
    if (why) *why = sass->missed && !sass->kernel.count ? sass->missed : sass->why;
    return sass->kernel.count ? &sass->kernel : NULL;
}

/* True if the machine code of an earlier launch is of the same program. */
static bool take_from_earlier(Session *session, int launch, SassKernel *kernel) {
    PtxProgram *const *programs = session->run->launches.programs;
    for (int i = 0; i < launch; i++) {
        const SassKernel *earlier = session_sass(session, i, NULL);
        if (!earlier || !earlier->assembler || programs[i] != programs[launch]) continue;
        sass_kernel_copy(kernel, earlier);
        return true;
    }
    return false;
}

static void assemble(Session *session, int launch, double seconds) {
    SessionSass *sass = sass_of(session, launch);
    SassKernel kernel = {.count = 0};
    Error error = {0};
    sass->was_assembled = true;
    if (!take_from_earlier(session, launch, &kernel) &&
        !sass_assemble(session->run->launches.programs[launch], seconds, &kernel, &error)) {
        sass->why =
            is_a_file(session) && !session->options.what_if.label
                ? arena_print(&session->arena, tr("its machine code is not recorded; %s"), error.message)
                : arena_print(&session->arena, "%s; %s", sass->why, error.message);
        return;
    }
    kernel.launch = launch;
    sass_comparison_done(&sass->comparison);
    sass->kernel = kernel;
    sass->why = NULL;
}

void session_assemble_sass(Session *session, int launch, double seconds) {
    if (launch < 0 || launch >= session->run->launches.count || session_sass(session, launch, NULL)) return;
    if (!sass_of(session, launch)->was_assembled) assemble(session, launch, seconds);
}

bool session_sass_is_live(Session *session, int launch) {
    return session_sass(session, launch, NULL) && sass_of(session, launch)->is_live;
}

const SassComparison *session_compared_sass(Session *session, int launch) {
    const SassKernel *kernel = session_sass(session, launch, NULL);
    if (!kernel) return NULL;
    SassComparison *comparison = &sass_of(session, launch)->comparison;
    if (!comparison->program) sass_compare(session->run->launches.programs[launch], kernel, comparison);
    return comparison;
}

void session_set_sass(Session *session, int launch, SassKernel *kernel) {
    SessionSass *sass = sass_of(session, launch);
    sass_comparison_done(&sass->comparison);
    sass_kernel_done(&sass->kernel);
    *sass = (SessionSass){.kernel = *kernel, .was_looked_for = true, .is_live = true};
    *kernel = (SassKernel){.count = 0};
}

void session_miss_sass(Session *session, int launch, const char *why) {
    sass_of(session, launch)->missed = arena_copy_string(&session->arena, why);
}
