/* The grid of a session's run on the machine: where and when each block was on a GPU, measured now, or
 * recorded for a kernel of the catalogue (session.h). */
#include "gpu/nvml.h"
#include "gpu/residency.h"
#include "session/gpu.h"
#include "session/plain_run.h"
#include "trace/grid_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_BYTES = 256 << 20, KEPT_BLOCKS = 1 << 16 /* of a launch; more are drawn from bins */ };

/* ---- measured ---------------------------------------------------------------------------------------------- */

static void describe(const Session *session, const Cuda *cuda, GridTimeline *timeline) {
    Arena *arena = &timeline->arena;
    const CatalogRow *row = session->kernel.row;
    char now[32];
    Nvml nvml = {0};
    nvml_open(&nvml, cuda);
    timeline->driver = arena_print(arena, "%s%sCUDA %d.%d", nvml.driver, *nvml.driver ? ", " : "",
                                   cuda->driver_version / 1000, cuda->driver_version % 1000 / 10);
    nvml_close(&nvml);
    timeline->kernel = arena_copy_string(arena, row ? row->id : timeline->launches[0].entry);
    timeline->n = row ? session->kernel.run.n : session->options.catalog.n;
    timeline->dtype = arena_copy_string(arena, row ? plan_type_name(session->kernel.run.dtype) : "");
    timeline->op = arena_copy_string(arena, row ? session->kernel.run.op : "");
    timeline->measured = arena_copy_string(arena, text_now(now, sizeof now));
    grid_timeline_fold(timeline, KEPT_BLOCKS);
}

static bool is_large(const Session *session) {
    uint64_t bytes = 0;
    for (int i = 0; i < session->run->filled.buffer_count; i++) {
        const PlanBuffer *buffer = &session->run->filled.buffers[i];
        bytes += buffer->count * (uint64_t)ptx_type_bytes(buffer->type);
    }
    return bytes > LARGE_BYTES;
}

static bool measure(Session *session, Cuda *cuda, GridTimeline **timeline, Error *error) {
    PlainRun plain = {0};
    Timer timer = {0};
    bool good = plain_run_open(&plain, session, cuda, false, error) && timer_new(&timer, cuda, error);
    if (good) {
        ResidencyWork work = {.plain = &plain.run,
                              .launches = plain.launches,
                              .programs = (const PtxProgram *const *)session->run->launches.programs,
                              .count = session->run->launches.count,
                              .restore = plain_run_restore,
                              .context = &plain,
                              .is_large = is_large(session)};
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

/* ---- kept in the session's file ----------------------------------------------------------------------------- */

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

/* ---- recorded ---------------------------------------------------------------------------------------------- */

typedef struct NearestGrid {
    const Session *session;
    GridTimeline *timeline; /* NULL: none yet */
} NearestGrid;

/* Prefers the same type over the same size. */
static double distance(const Session *session, const GridTimeline *timeline) {
    double apart = fabs(log2((double)session->kernel.run.n + 1) - log2((double)timeline->n + 1));
    return apart + (strcmp(timeline->dtype, plan_type_name(session->kernel.run.dtype)) ? 100 : 0);
}

static void keep_nearest(void *context, GridTimeline *timeline) {
    NearestGrid *nearest = context;
    const Session *session = nearest->session;
    bool is_nearer =
        !strcmp(timeline->kernel, session->kernel.row->id) &&
        (!nearest->timeline || distance(session, timeline) < distance(session, nearest->timeline));
    grid_timeline_free(is_nearer ? nearest->timeline : timeline);
    if (is_nearer) nearest->timeline = timeline;
}

/* The recording of the requested machine, else of the first machine that has one. */
static void read_recorded(Session *session) {
    const char *machine = session->options.machine;
    char asked[64];
    const char *const folders[] = {machine ? asked : "assets/h200/grid",
                                   machine ? asked : "assets/h100/grid"};
    snprintf(asked, sizeof asked, "assets/%s/grid", machine ? machine : "");
    SessionGrid *grid = &session->machine.grid;
    NearestGrid nearest = {.session = session};
    char name[128], path[PATH_MAX];
    Error error = {0};
    snprintf(name, sizeof name, "%s.tsv", session->kernel.row->id);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !nearest.timeline; i++) {
        if (!catalog_path(folders[i], name, path, sizeof path, NULL)) continue;
        if (grid_file_read(path, keep_nearest, &nearest, &error)) continue;
        grid_timeline_free(nearest.timeline);
        nearest.timeline = NULL;
        grid->why = arena_print(&session->arena, "%s, line %d: %s", path, error.line, error.message);
    }
    grid->timeline = nearest.timeline;
}

const SessionGrid *session_grid(Session *session) {
    SessionGrid *grid = &session->machine.grid;
    if (!grid->timeline && !session->machine.grid_was_read && session->kernel.row) read_recorded(session);
    session->machine.grid_was_read = true;
    if (session->options.is_from_file && !grid->timeline) grid->why = "the session file holds no grid";
    return grid;
}

const GridTimeline *session_own_grid(Session *session) {
    const SessionGrid *grid = session_grid(session);
    const GridTimeline *timeline = grid->timeline;
    if (!timeline || grid->is_live || grid->is_saved) return timeline;
    bool same = timeline->n == session->kernel.run.n &&
                !strcmp(timeline->dtype, plan_type_name(session->kernel.run.dtype)) &&
                !strcmp(timeline->op, session->kernel.run.op) && is_of_run(session, timeline);
    return same ? timeline : NULL;
}
