#include "tui/panes/path_signs.h"

Role path_role(const BranchRows *rows, int row) {
    return (Role)(ROLE_PATH_A + (rows->first_letter + row) % PATH_ROLES);
}

void path_signs_of(const StepContext *context, int event, PathSigns *out) {
    int block = context->view->place.block;
    const Paths *paths = scene_paths(context->scene, block);
    *out = (PathSigns){.letter = {0}};
    if (event < 0) return;
    int at = paths->split_at[event], path = paths->of_event[event];
    if (at < 0 && path < 0) return;
    BranchRows rows;
    TraceEvent header;
    branch_rows_of(paths, context->launch->program, at >= 0 ? at : paths->paths[path].split, &rows);
    trace_block_read_header(context->steps->block, event, &header);
    int running = branch_rows_find(paths, &rows, path);
    for (int i = 0; i < rows.count; i++) {
        uint32_t lanes = at >= 0 ? rows.rows[i].lanes & header.mask : i == running ? header.mask : 0;
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (lanes >> lane & 1) {
                out->letter[lane] = branch_letter(&rows, i);
                out->role[lane] = path_role(&rows, i);
            }
    }
}
