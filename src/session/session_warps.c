/* The timelines of warps of a session's run: measured now, or recorded for a kernel of the catalogue
 * (session.h). */
#include "base/sentence.h"
#include "gpu/warp_measure.h"
#include "report/report_warps.h"
#include "session/gpu.h"
#include "session/plain_run.h"
#include "session/recorded_runs.h"
#include "trace/warp_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOW "on a machine with a GPU, --timeline measures it"

/* ---- measured ------------------------------------------------------------------------------------------ */

static void keep(Session *session, WarpTimeline *timeline) {
    SessionWarps *warps = &session->machine.warps;
    array_push(warps->timelines, warps->count, warps->capacity, timeline);
}

static unsigned kinds_of(const RunSpec *options) {
    return WAIT_DEFAULT_KINDS | (options->times_shared ? 1u << WARP_WAITS_SHARED : 0) |
           (options->times_lines ? 1u << WARP_PASSES_LINE : 0);
}

/* False with `error`, where none could be measured. */
static bool measure(Session *session, Cuda *cuda, Error *error) {
    const RunSpec *options = &session->options;
    PlainRun plain = {0};
    Timer timer = {0};
    bool good = plain_run_open(&plain, session, cuda, false, error) && timer_new(&timer, cuda, error);
    for (int i = 0; good && i <= options->residency_count; i++) {
        WarpWork work = {.run = plain_run_work(&plain),
                         .block = options->has_trace_blocks ? options->trace_first : UINT64_MAX,
                         .kinds = kinds_of(options),
                         .resident = i ? options->residencies[i - 1] : 0};
        WarpTimeline *timeline;
        if (!i && options->residency_count) continue;
        good = gpu_measure_warps(&work, &timer, &timeline, error);
        if (!good) break;
        plain_run_describe(session, cuda, timeline->launches[0].entry, &timeline->arena, &timeline->of);
        keep(session, timeline);
    }
    timer_free(&timer);
    plain_run_done(&plain);
    return good;
}

void session_measure_warps(Session *session) {
    Error error = {0};
    SessionWarps *warps = &session->machine.warps;
    Cuda *cuda = session_gpu_take(&error);
    if (cuda) {
        cuda->cancel = session->options.cancel;
        bool good = measure(session, cuda, &error);
        cuda->cancel = NULL;
        session_gpu_give_back(!good);
    }
    warps->is_live = warps->count > 0;
    warps->has_failed = cuda && *error.message;
    if (*error.message)
        warps->why = arena_print(&session->arena, "%s%s", error.message, cuda ? "" : "; " HOW);
}

/* ---- measured beside the session ----------------------------------------------------------------------- */

bool session_wants_warps(Session *session, RunSpec *wanted) {
    const SessionWarps *warps = session_warps(session);
    *wanted = session->options;
    if (warps->is_live || session_is_from_file(session) || session->run->is_partial ||
        trace_has_fault(session->run->trace))
        return false;
    wanted->backend = BACKEND_EMULATOR;
    wanted->counters = COUNTERS_NONE;
    wanted->times_blocks = wanted->measure_sass = wanted->search_races = wanted->has_events = false;
    wanted->times_warps = wanted->keep_inputs = wanted->first_look = true;
    wanted->progress = NULL;
    wanted->unsupported = NULL;
    wanted->residency_count = 0;
    for (int i = 0; i < warps->count && i < SESSION_RESIDENCIES; i++)
        wanted->residencies[wanted->residency_count++] = warps->timelines[i]->resident;
    return true;
}

bool session_take_warps(Session *session, Session *from, const char *why) {
    SessionWarps *to = &session->machine.warps, *measured = from ? &from->machine.warps : NULL;
    to->why = arena_copy_string(&session->arena, measured ? measured->why : why);
    to->has_failed = measured && measured->has_failed;
    if (measured && strcmp(session->code.text, from->code.text) != 0) {
        to->why = "the file has changed since this run";
        to->has_failed = true;
        return false;
    }
    if (!measured || !measured->is_live) return false;
    SessionWarps old = *to;
    *to = *measured;
    *measured = old; /* freed with its session */
    to->why = old.why;
    return true;
}

/* ---- recorded ------------------------------------------------------------------------------------------ */

/* What the options ask for; without --residency, all. */
static bool is_asked(const RunSpec *options, const WarpTimeline *timeline) {
    bool is_asked = !options->residency_count;
    for (int i = 0; i < options->residency_count; i++)
        is_asked |= options->residencies[i] == timeline->resident;
    return is_asked && timeline->is_order_only == (options->times_shared || options->times_lines);
}

static void forget(SessionWarps *warps) {
    while (warps->count) warp_timeline_free(warps->timelines[--warps->count]);
}

/* Keeps those that are nearest to the session's run. */
static void keep_nearest(void *context, WarpTimeline *timeline) {
    Session *session = context;
    SessionWarps *warps = &session->machine.warps;
    double best = warps->count ? recorded_run_distance(session, &warps->timelines[0]->of) : (double)INFINITY;
    double own = recorded_run_distance(session, &timeline->of);
    bool is_of_block = recorded_run_has_block(session, timeline->launches[0].block);
    if (!is_of_block && !warps->why) warps->why = recorded_run_other_block(session);
    if (!isfinite(own) || !is_of_block || own > best || !is_asked(&session->options, timeline)) {
        warp_timeline_free(timeline);
        return;
    }
    if (own < best) forget(warps);
    keep(session, timeline);
}

static int read_file(const char *path, Session *session, Error *error) {
    SessionWarps *warps = &session->machine.warps;
    if (warp_file_read(path, keep_nearest, session, error)) return warps->count;
    forget(warps);
    return -1;
}

static void read_recorded(Session *session) {
    SessionWarps *warps = &session->machine.warps;
    const char *why = recorded_runs_read(session, "warps", read_file);
    if (why) warps->why = why;
    if (!warps->count && !warps->why) warps->why = "this was not recorded; " HOW;
}

const SessionWarps *session_warps(Session *session) {
    SessionWarps *warps = &session->machine.warps;
    if (warps->count || warps->was_read) return warps;
    warps->was_read = true;
    if (session->kernel.row && !session->code.is_edited)
        read_recorded(session);
    else if (!warps->why)
        warps->why = "not measured; " HOW;
    return warps;
}

/* ---- printed ------------------------------------------------------------------------------------------- */

/* A recording is of the PTX that ships, which has these pcs. */
const char *session_warps_source(Session *session, const WarpSite *site) {
    bool is_there = site->launch < session->run->launches.count;
    const PtxSourceLine *place =
        is_there ? warp_site_place(site, session->run->launches.programs[site->launch]) : NULL;
    return place && site->line ? session_source_line(session, place->file, place->line) : NULL;
}

static const char *source_text(void *context, const WarpSite *site) {
    return session_warps_source(context, site);
}

/* "sequential, n = 5,000, float, max", if what is recorded is of another size, type or operation. */
static const char *not_recorded(Session *session) {
    const SessionWarps *warps = &session->machine.warps;
    const TimelineRun *of = warps->count ? &warps->timelines[0]->of : NULL;
    CountText count;
    if (!of || warps->is_live || !session->kernel.row || recorded_run_is_own(session, of)) return NULL;
    return arena_print(&session->arena, "%s, n = %s, %s, %s", of->kernel,
                       count_text(session->kernel.n, &count), session->kernel.dtype, session->kernel.op);
}

bool session_print_warps(Session *session, SessionWarpsForm form, Text *out, Error *error) {
    static void (*const prints[])(const ReportWarps *, Text *) = {[WARPS_TEXT] = report_warps_text,
                                                                  [WARPS_JSON] = report_warps_json,
                                                                  [WARPS_PERFETTO] = report_warps_perfetto};
    const SessionWarps *warps = session_warps(session);
    if (!warps->count && session->options.machine && form != WARPS_JSON)
        return error_set(
            error,
            "--machine %s: no timeline of this kernel is recorded there; leave out --machine, or "
            "run --timeline on a machine with a GPU",
            session->options.machine);
    if (!warps->count && (form == WARPS_PERFETTO || form == WARPS_TSV))
        return error_set(error, "no timeline of warps: %s", warps->why);
    ReportWarps report = {.timelines = warps->timelines,
                          .count = warps->count,
                          .is_live = warps->is_live,
                          .why = warps->why,
                          .instead_of = not_recorded(session),
                          .source_text = source_text,
                          .context = session};
    for (int i = 0; form == WARPS_TSV && i < warps->count; i++) warp_file_write(warps->timelines[i], out);
    if (form != WARPS_TSV) prints[form](&report, out);
    return true;
}
