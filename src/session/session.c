/* Accessors of a session (session.h). */
#include "session/state.h"

#include "gpu/libraries.h"
#include "trace/store.h"
#include <string.h>

/* ---- what it holds ---------------------------------------------------------------------------------- */

const RunSpec *session_spec(const Session *session) {
    return &session->options;
}
const CatalogRow *session_row(const Session *session) {
    return session->kernel.row;
}
const CatalogRun *session_run(const Session *session) {
    return session->kernel.row ? &session->kernel.run : NULL;
}
const Trace *session_trace(const Session *session) {
    return session->run->trace;
}
const ExpectResult *session_result(const Session *session) {
    return session->has_result ? &session->result : NULL;
}
bool session_is_interrupted(const Session *session) {
    return session->run->interrupted;
}

bool session_is_partial(const Session *session) {
    return session->run->is_partial;
}
bool session_is_captured(const Session *session) {
    return !strcmp(session->run->trace->producer, "gpu");
}

uint64_t session_dropped_events(const Session *session) {
    uint64_t dropped = 0;
    for (int i = 0; i < session->run->trace->launch_count; i++)
        dropped += session->run->trace->launches[i]->dropped;
    return dropped;
}

const char *session_backend(Session *session) {
    uint64_t schedule = session->options.schedule;
    if (session->machine.level) return session->machine.level;
    if (session->options.what_if.label)
        return session->machine.level =
                   session_is_captured(session) ? "LIVE, CHANGED COPY" : "EMULATED, CHANGED COPY";
    if (!session_is_captured(session) && session->options.hold_count)
        return session->machine.level = "EMULATED, ANOTHER ORDER";
    if (!session_is_captured(session))
        return !schedule ? "EMULATED"
                         : (session->machine.level = arena_print(&session->arena, "EMULATED, SCHEDULE %llu",
                                                                 (unsigned long long)schedule));
    const char *device = session->machine.device ? session->machine.device : "GPU", *maker = "NVIDIA ";
    if (!strncmp(device, maker, strlen(maker))) device += strlen(maker);
    Text level = {0};
    text_print(&level, session_is_from_file(session) ? "RECORDED %s" : "%s LIVE", device);
    if (session_dropped_events(session))
        text_print(&level, ", %llu EVENTS LOST", (unsigned long long)session_dropped_events(session));
    session->machine.level = arena_copy_text(&session->arena, text_string(&level), level.length);
    text_done(&level);
    return session->machine.level;
}
uint64_t session_n(const Session *session) {
    return session->kernel.n;
}
const char *const *session_files(const Session *session, int *count) {
    *count = session->code.file_count;
    return session->code.files;
}

bool session_reads_arguments(const Session *session) {
    return session->guess.account.reads_arguments;
}

bool session_has_program(const Session *session) {
    return session->guess.account.has_program;
}

bool session_is_guess(const Session *session) {
    return session->guess.account.invents_arguments;
}

const char *session_arguments(const Session *session) {
    return session->guess.account.arguments;
}

struct Program *session_take_program(Session *session) {
    struct Program *program = session->file.program;
    session->file.program = NULL;
    return program;
}

bool session_is_from_file(const Session *session) {
    return session->options.is_from_file;
}
const char *session_recorded(const Session *session) {
    return session->file.saved;
}
Measurements *session_measured(Session *session) {
    return &session->machine.measured; /* measurements are added to it */
}

const char *session_name(const Session *session) {
    return session->kernel.name;
}

bool session_is_unsupported(const Session *session) {
    return trace_is_stopped(session->run->trace);
}

int session_block_count(const Session *session) {
    return session->view_count;
}

/* Builds steps when a view is first asked for: a report needs none. */
const SessionBlock *session_block(const Session *session, int index) {
    if (index < 0 || index >= session->view_count) return NULL;
    SessionBlock *view = &session->views[index].shown;
    if (!view->steps) view->steps = steps_build(session->run->trace->launches[view->launch], view->block);
    return view;
}

/* ---- source text ------------------------------------------------------------------------------------ */

static Sources *sources_of(Session *session) {
    return &session->sources;
}

const char *session_unopened_source(Session *session) {
    Sources *sources = sources_of(session);
    for (int i = 0; i < session->run->launches.count; i++)
        for (int pc = 0; pc < session->run->launches.programs[i]->code_count; pc++) {
            const char *file = session->run->launches.programs[i]->code[pc].line.file;
            if (file) sources_line_count(sources, file);
        }
    return sources_first_unopened(sources);
}

int session_source_line_count(Session *session, const char *file) {
    return sources_line_count(sources_of(session), file);
}

const char *session_source_line(Session *session, const char *file, int line) {
    return sources_line(sources_of(session), file, line);
}

const char *session_ptx_line(Session *session, int launch, int pc) {
    const PtxProgram *program = session->run->trace->launches[launch]->program;
    if (pc < 0 || pc >= program->code_count) return NULL;
    if (!session->run->launches.ptx_lines)
        session->run->launches.ptx_lines =
            arena_new(&session->arena,
                      (size_t)session->run->trace->launch_count * sizeof *session->run->launches.ptx_lines);
    const char ***lines = &session->run->launches.ptx_lines[launch];
    if (!*lines) *lines = arena_new(&session->arena, (size_t)program->code_count * sizeof **lines);
    if ((*lines)[pc]) return (*lines)[pc];
    Text text = {0};
    ptx_instruction_print(program->code[pc].instruction, &text);
    (*lines)[pc] = arena_copy_text(&session->arena, text_string(&text), text.length);
    text_done(&text);
    return (*lines)[pc];
}

/* ---- the kernels of a file -------------------------------------------------------------------------- */

const char *const *session_entries(Session *session, int *count) {
    PtxModule *module = session->code.module;
    *count = 0;
    if (!module || session->kernel.row || session_is_from_file(session)) return NULL;
    if (!session->code.entries) {
        session->code.entries = arena_new(&session->arena, (size_t)module->function_count * sizeof(char *));
        for (int i = 0; i < module->function_count; i++) {
            PtxFunction *entry = module->functions[i], *found;
            if (!entry->is_entry || !entry->has_body) continue;
            const char *name = ptx_readable_name(module, entry->name);
            found = ptx_module_find_entry(module, name, NULL); /* another overload may have this name */
            session->code.entries[session->code.entry_count++] = found == entry ? name : entry->name;
        }
    }
    *count = session->code.entry_count;
    return session->code.entries;
}

void session_about(Text *out) {
    text_print(out, "SQLite %s\n", store_sqlite_version());
    found_print(out);
}
