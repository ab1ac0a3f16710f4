/* What a session holds, as others ask for it (session.h). */
#include "session/state.h"

#include <string.h>

/* ---- what it holds ---------------------------------------------------------------------------------- */

const SessionOptions *session_options(const Session *session) {
    return &session->options;
}
const CatalogRow *session_row(const Session *session) {
    return session->kernel.row;
}
const CatalogRun *session_run(const Session *session) {
    return session->kernel.row ? &session->kernel.run : NULL;
}
const Trace *session_trace(const Session *session) {
    return session->trace;
}
const ExpectResult *session_result(const Session *session) {
    return session->has_result ? &session->result : NULL;
}
bool session_is_interrupted(const Session *session) {
    return session->interrupted;
}

bool session_is_partial(const Session *session) {
    return session->is_partial;
}
bool session_is_captured(const Session *session) {
    return !strcmp(session->trace->producer, "gpu");
}

uint64_t session_dropped_events(const Session *session) {
    uint64_t dropped = 0;
    for (int i = 0; i < session->trace->launch_count; i++) dropped += session->trace->launches[i]->dropped;
    return dropped;
}

const char *session_backend(const Session *session) {
    Session *cache = (Session *)(uintptr_t)session; /* logically const: printed at the first question */
    uint64_t schedule = session->options.schedule;
    if (session->machine.level) return session->machine.level;
    if (!session_is_captured(session))
        return !schedule ? "EMULATED"
                         : (cache->machine.level = arena_print(&cache->arena, "EMULATED, SCHEDULE %llu",
                                                               (unsigned long long)schedule));
    const char *device = session->machine.device ? session->machine.device : "GPU", *maker = "NVIDIA ";
    if (!strncmp(device, maker, strlen(maker))) device += strlen(maker);
    Text level = {0};
    text_print(&level, session_is_from_file(session) ? "RECORDED %s" : "%s LIVE", device);
    if (session_dropped_events(session))
        text_print(&level, ", %llu EVENTS LOST", (unsigned long long)session_dropped_events(session));
    cache->machine.level = arena_copy_text(&cache->arena, text_string(&level), level.length);
    text_done(&level);
    return cache->machine.level;
}
uint64_t session_n(const Session *session) {
    return session->kernel.n;
}
const char *const *session_files(const Session *session, int *count) {
    *count = session->code.file_count;
    return session->code.files;
}

const char *session_guess(const Session *session) {
    return session->kernel.guess;
}

const char *session_read(const Session *session) {
    return session->kernel.read;
}

const char *session_looks_like(const Session *session) {
    return session->kernel.looks_like;
}

const char *session_arguments(const Session *session) {
    return session->kernel.arguments;
}

const char *session_compiler(const Session *session) {
    return session->code.compiler;
}

bool session_is_from_file(const Session *session) {
    return session->options.is_from_file;
}
const char *session_recorded(const Session *session) {
    return session->file.saved;
}
Measurements *session_measured(const Session *session) {
    return &((Session *)(uintptr_t)session)->machine.measured; /* measurements are added to it */
}

const char *session_name(const Session *session) {
    return session->kernel.name;
}

bool session_is_unsupported(const Session *session) {
    return session_is_stopped(session->trace);
}

bool session_failed(const Session *session) {
    bool is_wrong = session->has_result && !session->result.correct;
    return !session_is_unsupported(session) && (session_has_fault(session->trace) || is_wrong);
}

int session_block_count(const Session *session) {
    return session->view_count;
}

/* Steps are made when a view is first looked at: a report needs none. */
const SessionBlock *session_block(const Session *session, int index) {
    if (index < 0 || index >= session->view_count) return NULL;
    SessionBlock *view = &session->views[index].shown;
    if (!view->steps) view->steps = steps_build(session->trace->launches[view->launch], view->block);
    return view;
}

/* ---- source text ------------------------------------------------------------------------------------ */

/* Logically const: text is read at the first question. */
static Sources *sources_of(const Session *session) {
    return &((Session *)(uintptr_t)session)->sources;
}

const char *session_unopened_source(const Session *session) {
    Sources *sources = sources_of(session);
    for (int i = 0; i < session->launches.count; i++)
        for (int pc = 0; pc < session->launches.programs[i]->code_count; pc++) {
            const char *file = session->launches.programs[i]->code[pc].line.file;
            if (file) sources_line_count(sources, file);
        }
    return sources_first_unopened(sources);
}

int session_source_line_count(const Session *session, const char *file) {
    return sources_line_count(sources_of(session), file);
}

const char *session_source_line(const Session *session, const char *file, int line) {
    return sources_line(sources_of(session), file, line);
}

const char *session_ptx_line(const Session *session, int launch, int pc) {
    Session *cache = (Session *)(uintptr_t)session; /* logically const: printed at the first question */
    const PtxProgram *program = session->trace->launches[launch]->program;
    if (pc < 0 || pc >= program->code_count) return NULL;
    if (!cache->launches.ptx_lines)
        cache->launches.ptx_lines = arena_new(&cache->arena, (size_t)session->trace->launch_count *
                                                                 sizeof *cache->launches.ptx_lines);
    const char ***lines = &cache->launches.ptx_lines[launch];
    if (!*lines) *lines = arena_new(&cache->arena, (size_t)program->code_count * sizeof **lines);
    if ((*lines)[pc]) return (*lines)[pc];
    Text text = {0};
    ptx_instruction_print(program->code[pc].instruction, &text);
    (*lines)[pc] = arena_copy_text(&cache->arena, text_string(&text), text.length);
    text_done(&text);
    return (*lines)[pc];
}
