/* Launches of a run: their programs, and their arguments at the addresses of a backend. */
#include "session/state.h"

#include <stdlib.h>

PtxModule *session_module(const Session *session, int index) {
    return index ? session->code.others[index - 1] : session->code.module;
}

void session_find_entries(const Session *session, const Plan *plan, const PtxFunction **entries) {
    for (int i = 0; i < plan->launch_count; i++)
        entries[i] = ptx_module_find_entry(session_module(session, plan->launches[i].module),
                                           plan->launches[i].entry, NULL);
}

bool session_link(Session *session, int index, const char *name, Error *error) {
    PtxProgram **programs = session->run->launches.programs;
    PtxModule *module = session_module(session, session->run->plan.launches[index].module);
    PtxFunction *entry = ptx_module_find_entry(module, name, error);
    if (!entry) return false;
    for (int i = 0; i < index; i++)
        if (programs[i]->entry == entry) programs[index] = programs[i];
    if (!programs[index]) programs[index] = ptx_program_link(module, entry, error);
    return programs[index] != NULL;
}

bool session_take_plan(Session *session, const Plan *plan, Error *error) {
    SessionRun *run = session->run = memory_new(sizeof *run);
    size_t count = (size_t)plan->launch_count;
    run->plan = *plan;
    if (session->options.has_trace_blocks) {
        run->plan.has_trace_blocks = true;
        run->plan.trace_first = session->options.trace_first;
        run->plan.trace_last = session->options.trace_last;
    }
    run->launches.count = plan->launch_count;
    run->launches.programs = arena_new(&run->arena, count * sizeof *run->launches.programs);
    run->launches.bound = arena_new(&run->arena, count * sizeof *run->launches.bound);
    for (int i = 0; i < run->launches.count; i++)
        if (!session_link(session, i, plan->launches[i].entry, error)) return false;
    return true;
}

static void free_inputs(SessionRun *run) {
    for (int i = 0; i < run->filled.buffer_count; i++) free(run->filled.buffers[i].bytes);
    free(run->filled.buffers);
    run->filled = (Plan){0};
}

void session_drop_inputs(Session *session) {
    free_inputs(session->run);
}

void session_run_free(SessionRun *run) {
    if (!run) return;
    trace_free(run->trace);
    emulator_free(run->emulator);
    for (int i = 0; i < run->launches.count; i++) {
        bool is_shared = false;
        for (int j = 0; j < i; j++) is_shared |= run->launches.programs[j] == run->launches.programs[i];
        if (!is_shared) ptx_program_free(run->launches.programs[i]);
    }
    for (int i = 0; i < run->launches.count; i++) launch_done(&run->launches.bound[i]);
    race_detector_free(run->detector);
    free_inputs(run);
    plan_free(&run->plan);
    arena_done(&run->arena);
    free(run);
}

bool session_bind(const Session *session, int index, const uint64_t *addresses, Launch *bound, Error *error) {
    if (!plan_bind_launch(&session->run->plan.launches[index], session->run->launches.programs[index],
                          addresses, bound, error))
        return false;
    if (bound->dynamic_shared_bytes) bound->dynamic_shared_bytes += session->options.what_if.more_shared;
    return true;
}

bool session_bind_emulated(const Session *session, int index, const Emulator *emulator, Launch *bound,
                           Error *error) {
    int count = session->run->plan.buffer_count;
    uint64_t *addresses = memory_new((size_t)(count + 1) * sizeof *addresses);
    for (int i = 0; i < count; i++) addresses[i] = emulator_buffer_address(emulator, i);
    bool good = session_bind(session, index, addresses, bound, error);
    free(addresses);
    return good;
}
