/* State: making and freeing a session, its grid, its traced blocks. */
#include "session/state.h"

#include "runtime/user_program.h"

#include <stdlib.h>

bool session_has_grid(const Session *session) {
    return session->is_planned || session->options.catalog.grid || session->options.grid[0];
}

void session_set_grid(RunSpec *options, bool is_row, uint32_t blocks) {
    options->catalog.grid = is_row ? blocks : 0;
    options->grid[0] = is_row ? 0 : blocks;
}

void session_list_blocks(Session *session) {
    int count = 0;
    for (int i = 0; i < session->run->trace->launch_count; i++)
        count += session->run->trace->launches[i]->block_count;
    session->views = arena_new(&session->arena, (size_t)count * sizeof *session->views);
    for (int i = 0; i < session->run->trace->launch_count; i++)
        for (int j = 0; j < session->run->trace->launches[i]->block_count; j++)
            session->views[session->view_count++].shown =
                (SessionBlock){.launch = i, .block = session->run->trace->launches[i]->blocks[j]};
}

Session *session_new(const RunSpec *options) {
    Session *session = memory_new(sizeof *session);
    session->options = run_spec_copy(options, &session->arena);
    session->options.is_from_file = false;
    session->varied = arena_new(&session->arena, sizeof *session->varied);
    session->fault_block = -1;
    return session;
}

void session_free(Session *session) {
    if (!session || session->sharer_count-- > 0) return;
    for (int i = 0; session->varied && i < session->varied->count; i++)
        session_free(session->varied->runs[i]);
    for (int i = 0; i < session->view_count; i++) {
        replay_free(session->views[i].replay);
        folds_free(session->views[i].folds);
        steps_free(session->views[i].shown.steps);
    }
    for (int i = 0; session->machine.sass && session->run && i < session->run->launches.count; i++) {
        sass_comparison_done(&session->machine.sass[i].comparison);
        sass_kernel_done(&session->machine.sass[i].kernel);
    }
    free(session->machine.sass);
    session_run_free(session->run);
    measured_done(&session->machine.measured);
    grid_timeline_free(session->machine.grid.timeline);
    for (int i = 0; i < session->machine.warps.count; i++)
        warp_timeline_free(session->machine.warps.timelines[i]);
    free(session->machine.warps.timelines);
    findings_free(session->findings.hazards);
    findings_free(session->findings.counted);
    free(session->findings.remedies);
    sources_done(&session->sources);
    guess_done(&session->guess);
    ptx_module_free(session->code.module);
    for (int i = 0; i < session->code.other_count; i++) ptx_module_free(session->code.others[i]);
    free(session->code.text);
    program_free(session->file.program);
    arena_done(&session->arena);
    free(session);
}
