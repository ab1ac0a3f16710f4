#include "tui/scene/figures.h"

#include "base/characters.h"
#include "base/language.h"
#include "base/sentence.h"
#include "metrics/totals.h"
#include "tui/scene/scene_times.h"
#include <stdio.h>
#include <string.h>

/* ---- of a run ------------------------------------------------------------------------------------------ */

static void take_time(RunFigures *out, double microseconds, const char *machine, bool is_live) {
    out->microseconds = microseconds;
    out->is_live = is_live;
    snprintf(out->machine, sizeof out->machine, "%s", scene_machine_name(machine));
}

/* The catalogue's times are of many sizes: only one of this size is this run's. */
static void find_time(const Scene *scene, bool to_scalar, TimesWay way, RunFigures *out) {
    const SceneOwnTime *own = scene->borrowed.timings ? &scene->borrowed.timings->own : NULL;
    if (own && own->microseconds > 0) {
        take_time(out, own->microseconds, own->machine, true);
        return;
    }
    Times times;
    CountText n;
    times_gather(&times, scene);
    const TimesRow *row = times_own(&times, scene);
    const Timing *timing = row ? times_shown(row, to_scalar, way) : NULL;
    if (timing && timing->n == scene->identity.n)
        take_time(out, timing->median, timing->machine, times.is_live);
    else if (timing)
        snprintf(out->missing, sizeof out->missing, tr("not measured with n %s"),
                 count_text(scene->identity.n, &n));
    else
        times_print_missing(&times, scene, out->missing, sizeof out->missing);
}

void figures_of(const Scene *scene, bool to_scalar, TimesWay way, RunFigures *out) {
    *out = (RunFigures){.is_whole = !scene_fatal_trap(scene), .is_counted = !scene->outcome.counting};
    find_time(scene, to_scalar, way, out);
    if (!out->is_counted) return;
    Totals totals = {0};
    metrics_of_run(scene->traced.trace, &totals);
    out->wavefronts = totals_wavefronts(&totals);
    out->divergent = totals.divergent_branches;
    out->barriers = totals.barriers;
}

/* ---- of two runs --------------------------------------------------------------------------------------- */

enum { MOST_CHANGES = 4, APART = 3 };

typedef struct FigureChange {
    char text[128];
    bool is_change, is_taken;
} FigureChange;

static int add_count(FigureChange *changes, int count, const char *name, uint64_t before, uint64_t after) {
    CountText a, b;
    if (!before && !after) return count;
    FigureChange *change = &changes[count];
    snprintf(change->text, sizeof change->text, "%s %s → %s", tr(name), count_text(before, &a),
             count_text(after, &b));
    change->is_change = before != after;
    return count + 1;
}

static void add_time(FigureChange *change, const RunFigures *before, const RunFigures *after) {
    char a[32], b[32];
    bool is_alike = before->is_live == after->is_live && !strcmp(before->machine, after->machine);
    times_print(before->microseconds, a, sizeof a);
    times_print(after->microseconds, b, sizeof b);
    change->is_change = true;
    if (!after->microseconds)
        snprintf(change->text, sizeof change->text, tr("time %s"), after->missing);
    else if (before->microseconds && is_alike)
        snprintf(change->text, sizeof change->text, tr("time %s → %s"), a, b);
    else
        snprintf(change->text, sizeof change->text, tr("time now %s"), b);
}

/* Takes the changes of one sort that fit into `columns`; returns what is left of these. */
static int take_changes(FigureChange *changes, int count, bool is_change, int columns) {
    for (int i = 0; i < count; i++) {
        int needed = characters_columns(changes[i].text, SIZE_MAX) + APART;
        if (changes[i].is_change != is_change || needed > columns) continue;
        changes[i].is_taken = true;
        columns -= needed;
    }
    return columns;
}

void figures_print(const RunFigures *before, const RunFigures *after, int columns, char *out, size_t bytes) {
    FigureChange changes[MOST_CHANGES] = {0};
    int count = 0;
    size_t at = 0;
    out[0] = 0;
    count = add_count(changes, count, "wavefronts", before->wavefronts, after->wavefronts);
    count = add_count(changes, count, "divergent branches", before->divergent, after->divergent);
    count = add_count(changes, count, "barriers", before->barriers, after->barriers);
    add_time(&changes[count++], before, after);
    columns = take_changes(changes, count, true, columns + APART);
    take_changes(changes, count, false, columns);
    for (int i = 0; i < count && at < bytes; i++)
        if (changes[i].is_taken)
            at += (size_t)snprintf(out + at, bytes - at, "%s%s", at ? "   " : "", changes[i].text);
}
