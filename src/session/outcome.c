/* What came of a run: whether its result is right, and what every reader asks for. */
#include "session/state.h"

#include "catalog/occupancy.h"

#include <stdlib.h>

bool session_judge(Session *session, Error *error) {
    const SessionRun *run = session->run;
    const CatalogRow *row = session->kernel.row;
    bool is_whole = !run->is_partial || session->machine.device; /* a GPU runs all blocks */
    if (session->is_unchecked) return true;
    if (row && is_whole && session->options.has_shadow) {
        session_judge_shadow(session);
    } else if (row && is_whole) {
        session->has_result = true;
        row->check(&session->kernel.run, &run->filled, &run->plan, &session->result);
        if (trace_has_fatal_trap(run->trace)) session->result.correct = false;
    }
    if (row) return true;
    void **bytes = memory_new((size_t)(run->trace->buffer_count + 1) * sizeof *bytes);
    for (int i = 0; i < run->trace->buffer_count; i++) bytes[i] = emulator_buffer_bytes(run->emulator, i);
    ExpectShadow shadow = session_shadow(session);
    GuessRun ran = {.filled = &run->filled,
                    .done = &run->plan,
                    .trace = run->trace,
                    .bytes = bytes,
                    .is_partial = run->is_partial,
                    .shadow = session->options.has_shadow ? &shadow : NULL};
    bool good = guess_compare(&session->guess, &ran, error);
    free(bytes);
    session->has_result = session->guess.verdict.has_result;
    session->result = session->guess.verdict.result;
    return good;
}

static void find_occupancy(Session *session) {
    size_t count = (size_t)session->run->plan.launch_count;
    session->run->launches.registers =
        arena_new(&session->arena, count * sizeof *session->run->launches.registers);
    session->run->launches.occupancy =
        arena_new(&session->arena, count * sizeof *session->run->launches.occupancy);
    for (int i = 0; i < session->run->plan.launch_count; i++) {
        session->run->launches.registers[i] = -1;
        session->run->launches.occupancy[i] = -1;
        if (!session->kernel.row || session->code.is_edited || i >= session->run->trace->launch_count)
            continue;
        const TraceLaunch *launch = session->run->trace->launches[i];
        session->run->launches.registers[i] =
            occupancy_registers(session->run->launches.programs[i]->entry->name, OCCUPANCY_H200);
        if (session->run->launches.registers[i] < 0) continue;
        session->run->launches.occupancy[i] =
            occupancy_theoretical(OCCUPANCY_H200, (uint32_t)session->run->launches.registers[i],
                                  launch->static_shared_bytes + launch->dynamic_shared_bytes,
                                  (uint32_t)launch_volume(launch->block));
    }
}

void session_name_run(Session *session) {
    session->kernel.name =
        session->kernel.row ? session->kernel.row->id : session->run->trace->launches[0]->name;
    if (session->code.is_edited)
        session->kernel.name =
            arena_print(&session->arena, session->options.what_if.label ? "%s (copy)" : "%s (edited)",
                        session->kernel.name);
    session->kernel.n = session->kernel.row ? session->kernel.run.n : session->options.catalog.n;
    session->kernel.dtype = session->kernel.row ? plan_type_name(session->kernel.run.dtype) : NULL;
    session->kernel.op = session->kernel.row ? session->kernel.run.op : NULL;
}

/* Fills in what every reader asks for. */
void session_describe(Session *session) {
    session_name_run(session);
    find_occupancy(session);
    session_list_blocks(session);
}
