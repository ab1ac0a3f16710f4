/* The machine code of a session's launches: measured here, or recorded (session.h). */
#include "sass/recorded.h"
#include "session/state.h"

#include <stdlib.h>

static SessionSass *sass_of(Session *session, int launch) {
    SessionMachine *machine = &session->machine;
    if (!machine->sass)
        machine->sass = memory_new((size_t)session->run->launches.count * sizeof *machine->sass);
    return &machine->sass[launch];
}

static void find_recorded(Session *session, int launch, SessionSass *sass) {
    Arena *arena = &session->arena;
    Error error = {0};
    if (!session->kernel.row) {
        sass->why = "its machine code is not recorded: a GPU, with nvdisasm beside it, has to measure it";
        return;
    }
    SassKey key = {.machine = session->options.machine,
                   .kernel = session->kernel.row->id,
                   .dtype = session->kernel.dtype,
                   .op = session->kernel.op,
                   .entry = session->run->launches.programs[launch]->entry->name,
                   .launch = launch};
    if (sass_recorded_find(&key, &sass->kernel, &error)) return;
    sass->why = error.line ? arena_print(arena, "%s (%s, line %d)", error.message, error.file, error.line)
                           : arena_copy_string(arena, error.message);
}

const SassKernel *session_sass(Session *session, int launch, const char **why) {
    if (why) *why = "there is no such launch";
    if (launch < 0 || launch >= session->run->launches.count) return NULL;
    SessionSass *sass = sass_of(session, launch);
    if (!sass->was_looked_for) find_recorded(session, launch, sass);
    sass->was_looked_for = true;
    if (why) *why = sass->missed && !sass->kernel.count ? sass->missed : sass->why;
    return sass->kernel.count ? &sass->kernel : NULL;
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
