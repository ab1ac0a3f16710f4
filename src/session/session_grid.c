/* The grid of a session's run on the machine: where and when each block was on a GPU, measured now, or
 * recorded for a kernel of the catalogue (session.h). */
#include "gpu/residency.h"
#include "session/gpu.h"
#include "session/plain_run.h"
#include "session/recorded_runs.h"
#include "trace/grid_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_BLOCKS = 1 << 16 /* of a launch; more are drawn from bins */ };

/* ---- measured ------------------------------------------------------------------------------------------ */

static void describe(const Session *session, const Cuda *cuda, GridTimeline *timeline) {
    plain_run_describe(session, cuda, timeline->launches[0].entry, &timeline->arena, &timeline->of);
    grid_timeline_fold(timeline, KEPT_BLOCKS);
}

static bool measure(Session *session, Cuda *cuda, GridTimeline **timeline, Error *error) {
    PlainRun plain = {0};
    Timer timer = {0};
    bool good = plain_run_open(&plain, session, cuda, false, error) && timer_new(&timer, cuda, error);
    if (good) {
        ResidencyWork work = plain_run_work(&plain);
        good = gpu_measure_residency(&work, &timer, timeline, error);
    }
    timer_free(&timer);
    plain_run_done(&plain);
    return good;
}

void session_measure_grid(Session *session) {
    Error error = {0};
    SessionGrid *grid = &session->machine.grid;
    Cuda *cuda = session_gpu_take(&error);
    GridTimeline *timeline = NULL;
    if (cuda) {
        cuda->cancel = session->options.cancel;
        bool good = measure(session, cuda, &timeline, &error);
        cuda->cancel = NULL;
        if (good) describe(session, cuda, timeline);
        session_gpu_give_back(!good);
    }
    grid->timeline = timeline;
    grid->is_live = timeline != NULL;
    if (!timeline) grid->why = arena_copy_string(&session->arena, error.message);
}

/* ---- kept in the session's file ------------------------------------------------------------------------ */

bool session_write_grid(const Session *session, Text *out) {
    const SessionGrid *grid = &session->machine.grid;
    if (!grid->is_live && !grid->is_saved) return false;
    grid_file_write(grid->timeline, out);
    return true;
}

static void keep_first(void *context, GridTimeline *timeline) {
    GridTimeline **kept = context;
    if (*kept)
        grid_timeline_free(timeline);
    else
        *kept = timeline;
}

/* The timeline's launches are those of the trace. */
static bool is_of_run(const Session *session, const GridTimeline *timeline) {
    bool same = timeline->launch_count == session->run->trace->launch_count;
    for (int i = 0; same && i < timeline->launch_count; i++)
        same = grid_same_launch(&timeline->launches[i], session->run->trace->launches[i]->grid,
                                session->run->trace->launches[i]->block);
    return same;
}

bool session_read_grid(Session *session, const char *text, Error *error) {
    SessionGrid *grid = &session->machine.grid;
    bool good = grid_file_read_text(text, "grid", keep_first, &grid->timeline, error);
    if (!good || !grid->timeline) return good;
    grid->is_saved = true;
    return is_of_run(session, grid->timeline) || error_set(error, "it is of other launches");
}

/* ---- recorded ------------------------------------------------------------------------------------------ */

static void keep_nearest(void *context, GridTimeline *timeline) {
    Session *session = context;
    GridTimeline **kept = &session->machine.grid.timeline;
    double own = recorded_run_distance(session, &timeline->of);
    bool is_of_block = recorded_run_has_block(session, timeline->launches[0].block);
    if (!is_of_block && !session->machine.grid.why)
        session->machine.grid.why = recorded_run_other_block(session);
    bool is_nearer =
        isfinite(own) && is_of_block && (!*kept || own < recorded_run_distance(session, &(*kept)->of));
    grid_timeline_free(is_nearer ? *kept : timeline);
    if (is_nearer) *kept = timeline;
}

static int read_file(const char *path, Session *session, Error *error) {
    GridTimeline **kept = &session->machine.grid.timeline;
    if (grid_file_read(path, keep_nearest, session, error)) return *kept != NULL;
    grid_timeline_free(*kept);
    *kept = NULL;
    return -1;
}

static void read_recorded(Session *session) {
    const char *why = recorded_runs_read(session, "grid", read_file);
    if (why) session->machine.grid.why = why;
}

const SessionGrid *session_grid(Session *session) {
    SessionGrid *grid = &session->machine.grid;
    if (!grid->timeline && !session->machine.grid_was_read && session->kernel.row && !session->code.is_edited)
        read_recorded(session);
    session->machine.grid_was_read = true;
    if (session->options.is_from_file && !grid->timeline) grid->why = "the session file holds no grid";
    return grid;
}

const GridTimeline *session_own_grid(Session *session) {
    const SessionGrid *grid = session_grid(session);
    const GridTimeline *timeline = grid->timeline;
    if (!timeline || grid->is_live || grid->is_saved) return timeline;
    return recorded_run_is_own(session, &timeline->of) && is_of_run(session, timeline) ? timeline : NULL;
}
