#include "lecture/warps.h"

#include "base/memory.h"
#include "base/sentence.h"
#include "trace/warp_timeline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the timeline -------------------------------------------------------------------------------------- */

/* A recording is shown for other runs of the kernel, too; a claim is about this run. */
static bool is_of_run(Session *session, const WarpTimeline *timeline) {
    const CatalogRun *run = session_run(session);
    const Trace *trace = session_trace(session);
    if (!run) return true; /* only measured, of this run */
    if (timeline->of.n != run->n || strcmp(timeline->of.dtype, plan_type_name(run->dtype)) != 0 ||
        strcmp(timeline->of.op, run->op) != 0 || timeline->launch_count != trace->launch_count)
        return false;
    for (int i = 0; i < timeline->launch_count; i++)
        for (int axis = 0; axis < 3; axis++)
            if (timeline->launches[i].block[axis] != trace->launches[i]->block[axis] ||
                timeline->launches[i].grid[axis] != trace->launches[i]->grid[axis])
                return false;
    return true;
}

static const WarpTimeline *find_timeline(Session *session, const ClaimQuery *query, Error *error) {
    const SessionWarps *warps = session_warps(session);
    const WarpTimeline *found = NULL;
    for (int i = 0; i < warps->count && !found; i++)
        if (warps->timelines[i]->resident == query->resident) found = warps->timelines[i];
    if (!warps->count)
        error_set(error, "%s has no timeline of warps: %s", query->run, warps->why);
    else if (!found && query->resident)
        error_set(error, "%s has no timeline of warps with %u block%s at once; --timeline shows those it has",
                  query->run, query->resident, plural(query->resident));
    else if (!found)
        error_set(error, "%s has no timeline of warps with as many blocks as fit; add 'with 1 block'",
                  query->run);
    else if (!is_of_run(session, found))
        error_set(error, "%s has no timeline of warps of this size and type, only n = %llu, %s", query->run,
                  (unsigned long long)found->of.n, found->of.dtype);
    else
        return found;
    return NULL;
}

/* ---- its waits ----------------------------------------------------------------------------------------- */

typedef struct MeantWaits {
    const WarpTimeline *timeline;
    bool *is_meant; /* [site] */
    double cycles;  /* of stretches: of a warp's time none is counted twice */
} MeantWaits;

static void add_stretch(void *context, uint32_t begin, uint32_t end, int site) {
    MeantWaits *waits = context;
    if (site >= 0 && waits->is_meant[site]) waits->cycles += end - begin;
}

static bool site_is_meant(Session *session, const WarpSite *site, const ClaimQuery *query) {
    if (strcmp(warp_state_name(site->state), query->reason) != 0) return false;
    const char *line = query->text ? session_warps_source(session, site) : NULL;
    return !query->text || (line && strstr(line, query->text));
}

/* On average, as --timeline prints it. NaN: there is no such wait. */
static double mean_wait(const MeantWaits *waits) {
    double cycles = 0, count = 0;
    for (int i = 0; i < waits->timeline->line_count; i++) {
        const WarpLine *line = &waits->timeline->lines[i];
        for (int k = 0; k < line->wait_count; k++) {
            if (!waits->is_meant[line->waits[k].site]) continue;
            cycles += line->waits[k].end - line->waits[k].begin;
            count++;
        }
    }
    return count > 0 ? cycles / count : (double)NAN;
}

/* Of all warps' lives. */
static double share_of_lives(MeantWaits *waits) {
    double lives = 0;
    for (int i = 0; i < waits->timeline->line_count; i++) {
        const WarpLine *line = &waits->timeline->lines[i];
        warp_line_stretches(line, add_stretch, waits);
        lives += line->end - line->begin;
    }
    return waits->cycles / lives;
}

static bool wait_value(Session *session, const WarpTimeline *timeline, const ClaimQuery *query, double *value,
                       Error *error) {
    int count = 0;
    MeantWaits waits = {timeline, memory_new((size_t)timeline->site_count * sizeof *waits.is_meant + 1), 0};
    for (int i = 0; i < timeline->site_count; i++) {
        waits.is_meant[i] = site_is_meant(session, &timeline->sites[i], query);
        count += waits.is_meant[i];
    }
    *value = !count ? (double)NAN : !strcmp(query->name, "wait") ? mean_wait(&waits) : share_of_lives(&waits);
    free(waits.is_meant);
    return isfinite(*value) || error_set(error, "no warp of %s waits for %s%s%s%s", query->run, query->reason,
                                         query->text ? " in a line that holds \"" : "",
                                         query->text ? query->text : "", query->text ? "\"" : "");
}

/* ---- its other values ---------------------------------------------------------------------------------- */

static double timeline_named(const WarpTimeline *timeline, const char *name) {
    const WarpSummary *summary = &timeline->summary;
    if (!strcmp(name, "ready")) return summary->ready / summary->cycles;
    if (!strcmp(name, "no_warp")) return summary->empty / summary->cycles;
    if (!strcmp(name, "all_wait")) return 1 - (summary->ready + summary->empty) / summary->cycles;
    if (!strcmp(name, "throughput")) return (double)timeline->of.n / timeline->plain_us;
    if (!strcmp(name, "life")) return timeline->plain_life;
    if (!strcmp(name, "longer_life")) return timeline->traced_life / timeline->plain_life;
    return timeline->traced_us / timeline->plain_us; /* longer_launch */
}

bool claim_warps_value(Session *session, const ClaimQuery *query, double *value, Error *error) {
    const WarpTimeline *timeline = find_timeline(session, query, error);
    if (!timeline) return false;
    if (query->reason) return wait_value(session, timeline, query, value, error);
    *value = timeline_named(timeline, query->name);
    return isfinite(*value) || error_set(error, "the timeline of %s has no %s", query->run, query->name);
}
