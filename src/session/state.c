/* What every part of the session calls: its launches, its blocks, and freeing it (state.h). */
#include "session/state.h"

#include <stdlib.h>

/* ---- launches ------------------------------------------------------------------------------------------- */

bool session_link(Session *session, int index, const char *name, Error *error) {
    PtxFunction *entry = ptx_module_find_entry(session->code.module, name, error);
    if (!entry) return false;
    for (int i = 0; i < index; i++)
        if (session->launches.programs[i]->entry == entry)
            session->launches.programs[index] = session->launches.programs[i];
    if (!session->launches.programs[index])
        session->launches.programs[index] = ptx_program_link(session->code.module, entry, error);
    return session->launches.programs[index] != NULL;
}

bool session_link_launches(Session *session, Error *error) {
    size_t count = (size_t)session->plan.launch_count;
    session->launches.count = session->plan.launch_count;
    session->launches.programs = arena_new(&session->arena, count * sizeof *session->launches.programs);
    session->launches.bound = arena_new(&session->arena, count * sizeof *session->launches.bound);
    for (int i = 0; i < session->launches.count; i++)
        if (!session_link(session, i, session->plan.launches[i].entry, error)) return false;
    return true;
}

bool session_has_fault(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind) || trap_kind_is_dropped(trace->traps[i].kind))
            return true;
    return false;
}

bool session_has_fatal_trap(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind)) return true;
    return false;
}

bool session_is_stopped(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind)) return trace->traps[i].kind == TRAP_NOT_EMULATED;
    return false;
}

bool session_bind(const Session *session, int index, const uint64_t *addresses, Launch *bound, Error *error) {
    return plan_bind_launch(&session->plan.launches[index], session->launches.programs[index], addresses,
                            bound, error);
}

bool session_bind_emulated(const Session *session, int index, const Emulator *emulator, Launch *bound,
                           Error *error) {
    int count = session->plan.buffer_count;
    uint64_t *addresses = memory_new((size_t)(count + 1) * sizeof *addresses);
    for (int i = 0; i < count; i++) addresses[i] = emulator_buffer_address(emulator, i);
    bool good = session_bind(session, index, addresses, bound, error);
    free(addresses);
    return good;
}

bool session_has_grid(const Session *session) {
    return session->options.catalog.grid || session->options.grid[0];
}

SessionOptions session_options_of_grid(const Session *session, uint32_t blocks) {
    SessionOptions options = session->options;
    options.catalog.grid = session->kernel.row ? blocks : 0;
    options.grid[0] = session->kernel.row ? 0 : blocks;
    return options;
}

/* ---- parts and the whole -------------------------------------------------------------------------------- */

void session_list_blocks(Session *session) {
    int count = 0;
    for (int i = 0; i < session->trace->launch_count; i++) count += session->trace->launches[i]->block_count;
    session->views = arena_new(&session->arena, (size_t)count * sizeof *session->views);
    for (int i = 0; i < session->trace->launch_count; i++)
        for (int j = 0; j < session->trace->launches[i]->block_count; j++)
            session->views[session->view_count++].shown =
                (SessionBlock){.launch = i, .block = session->trace->launches[i]->blocks[j]};
}

void session_drop_inputs(Session *session) {
    for (int i = 0; i < session->filled.buffer_count; i++) free(session->filled.buffers[i].bytes);
    free(session->filled.buffers);
    session->filled = (Plan){0};
}

void session_free(Session *session) {
    if (!session) return;
    for (int i = 0; i < session->view_count; i++) {
        replay_free(session->views[i].replay);
        folds_free(session->views[i].folds);
        steps_free(session->views[i].shown.steps);
    }
    for (int i = 0; session->machine.sass && i < session->launches.count; i++) {
        sass_comparison_done(&session->machine.sass[i].comparison);
        sass_kernel_done(&session->machine.sass[i].kernel);
    }
    free(session->machine.sass);
    trace_free(session->trace);
    emulator_free(session->emulator);
    for (int i = 0; i < session->launches.count; i++) {
        bool is_shared = false;
        for (int j = 0; j < i; j++)
            is_shared |= session->launches.programs[j] == session->launches.programs[i];
        if (!is_shared) ptx_program_free(session->launches.programs[i]);
    }
    for (int i = 0; i < session->launches.count; i++) launch_done(&session->launches.bound[i]);
    measured_done(&session->machine.measured);
    grid_timeline_free(session->machine.grid.timeline);
    findings_free(session->findings.hazards);
    race_detector_free(session->findings.detector);
    free(session->findings.remedies);
    sources_done(&session->sources);
    session_drop_inputs(session);
    plan_free(&session->plan);
    ptx_module_free(session->code.module);
    free(session->code.text);
    arena_done(&session->arena);
    free(session);
}

const char *session_fill_text(Session *session) {
    const CatalogOptions *catalog = &session->options.catalog;
    if (!catalog->has_fill) return "random";
    if (catalog->fill != FILL_FILE) return plan_fill_name(catalog->fill);
    return arena_print(&session->arena, "file:%s", catalog->fill_path);
}

uint64_t session_count_instructions(const Session *session) {
    uint64_t count = 0;
    for (int i = 0; i < session->trace->launch_count; i++) {
        const TraceLaunch *launch = session->trace->launches[i];
        for (int pc = 0; pc < launch->program->code_count; pc++) count += launch->counters[pc].executions;
    }
    return count;
}
