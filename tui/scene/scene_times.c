#include "tui/scene/scene_times.h"

#include "base/characters.h"
#include "base/language.h"
#include "ladder/ladder.h"
#include "sass/sass.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Wanted {
    const char *kernel, *dtype, *op;
    uint64_t n;       /* 0: any */
    uint32_t threads; /* of the run's kernel; of others, preferred; 0: any */
    bool without;     /* recordings of this kernel have other parameters */
    bool alone;       /* no other kernel does the same work */
} Wanted;

static bool is_wanted(const Timing *timing, const Wanted *wanted) {
    return !strcmp(timing->dtype, wanted->dtype) && !strcmp(timing->op, wanted->op) &&
           (!wanted->n || timing->n == wanted->n) &&
           (!wanted->alone || !strcmp(timing->kernel, wanted->kernel));
}

/* The kernel's index in the catalogue; -1: not in it. */
static int place_of(const char *kernel) {
    for (int i = 0; i < catalog_count(); i++)
        if (!strcmp(catalog_row(i)->id, kernel)) return i;
    return -1;
}

static double distance(uint64_t a, uint64_t b) {
    return fabs(log2((double)(a ? a : 1)) - log2((double)(b ? b : 1)));
}

/* A kernel's timing at the size nearest to n; NULL: no kernel was timed as wanted. */
static const Timing *nearest(const Measurements *list, const Wanted *wanted, uint64_t n) {
    const Timing *best = NULL;
    for (int i = 0; list && i < list->timing_count; i++) {
        const Timing *timing = &list->timings[i];
        if (!is_wanted(timing, wanted) || (best && distance(timing->n, n) >= distance(best->n, n))) continue;
        if (wanted->alone || place_of(timing->kernel) >= 0) best = timing;
    }
    return best;
}

/* Among several block sizes of another kernel, the run's own is shown, else the one measured last. */
static void put(TimesRow *row, const Timing *timing, uint32_t threads) {
    const Timing **place = &row->of[timing->to_scalar][timing_way(timing)];
    if (!timing->samples)
        row->skipped = timing;
    else if (!*place || (*place)->threads != threads)
        *place = timing;
}

static bool is_there(const Times *times, int count, const char *kernel) {
    for (int i = 0; i < count; i++)
        if (!strcmp(times->rows[i].kernel, kernel)) return true;
    return false;
}

/* Of the run's own kernel, but in another setting: it would show what was not measured. */
static bool is_of_other_setting(Times *times, const Timing *timing, const Wanted *wanted, bool is_live) {
    if (strcmp(timing->kernel, wanted->kernel) != 0) return false;
    bool is_of_other_block = wanted->threads && timing->threads && timing->threads != wanted->threads;
    times->has_other_block |= is_of_other_block;
    return is_of_other_block || (wanted->without && !is_live);
}

/* Adds the kernels of the list, or the references; existing rows stay unchanged. */
static void add_rows(Times *times, const Measurements *list, const Wanted *wanted, bool kernels,
                     bool is_live) {
    int first = times->count;
    for (int i = 0; list && i < list->timing_count; i++) {
        const Timing *timing = &list->timings[i];
        if (!is_wanted(timing, wanted) || is_of_other_setting(times, timing, wanted, is_live)) continue;
        int place = place_of(timing->kernel), at = first;
        if ((place >= 0 || wanted->alone) != kernels || is_there(times, first, timing->kernel)) continue;
        if (kernels && !wanted->alone && catalog_row(place)->group != CATALOG_LADDER &&
            strcmp(timing->kernel, wanted->kernel) != 0)
            continue;
        while (at < times->count && strcmp(times->rows[at].kernel, timing->kernel) != 0) at++;
        if (at == TIMES_MOST_ROWS) continue;
        if (at == times->count)
            times->rows[times->count++] = (TimesRow){.kernel = timing->kernel, .is_live = is_live};
        put(&times->rows[at], timing, wanted->threads);
    }
}

/* Live timings of this size, else the recorded ones of the nearest size. */
static const Timing *choose(const SceneTimings *timings, Wanted *wanted, uint64_t n, bool *is_live) {
    wanted->n = n;
    const Timing *sample = nearest(timings->live, wanted, n);
    *is_live = sample != NULL;
    if (sample) return sample;
    wanted->n = 0;
    sample = nearest(timings->recorded, wanted, n);
    if (!sample && strcmp(wanted->op, "sum") != 0) { /* other operations take the same time */
        wanted->op = "sum";
        sample = nearest(timings->recorded, wanted, n);
    }
    wanted->n = sample ? sample->n : n;
    return sample;
}

/* The shipped timings were recorded with the kernels' default parameters. */
static bool has_other_parameters(const CatalogRun *run) {
    for (int i = 0; run && run->row && i < CATALOG_PARAMETERS && run->row->parameters[i].name; i++)
        if (run->parameters[i] != run->row->parameters[i].fallback) return true;
    return false;
}

/* The ladder's kernels do the same work as this one. */
static bool is_like_the_ladder(const Scene *scene) {
    return scene->identity.row && scene->identity.row->group != CATALOG_LAB;
}

void times_gather(Times *out, const Scene *scene) {
    const SceneTimings *timings = scene->borrowed.timings;
    /* A kernel of unknown type is compared with sums of int. */
    Wanted wanted = {.kernel = scene->identity.kernel,
                     .dtype = *scene->identity.dtype ? scene->identity.dtype : "int",
                     .op = *scene->identity.op ? scene->identity.op : "sum",
                     .threads = scene->identity.run ? scene->identity.run->block : 0,
                     .alone = !is_like_the_ladder(scene)};
    *out = (Times){.n = scene->identity.n};
    if (!timings || (!scene->identity.row && !timings->are_of_run)) return;
    bool is_changed = scene->identity.options && scene->identity.options->what_if.label;
    wanted.without = !timings->are_of_run && (is_changed || has_other_parameters(scene->identity.run));
    out->sample = choose(timings, &wanted, scene->identity.n, &out->is_live);
    out->n = wanted.n;
    add_rows(out, out->is_live ? timings->live : timings->recorded, &wanted, true, out->is_live);
    if (out->sample) {
        /* The run's own kernel has a row even if it was not timed. */
        if (out->count < TIMES_MOST_ROWS && !is_there(out, out->count, wanted.kernel))
            out->rows[out->count++] = (TimesRow){.kernel = wanted.kernel, .is_live = out->is_live};
    }
    for (int i = 1; i < out->count; i++)
        for (int j = i; j > 0 && place_of(out->rows[j - 1].kernel) > place_of(out->rows[j].kernel); j--) {
            TimesRow row = out->rows[j];
            out->rows[j] = out->rows[j - 1];
            out->rows[j - 1] = row;
        }
    out->kernel_count = out->count;
    add_rows(out, timings->live, &wanted, false, true);
    if (!out->is_live) add_rows(out, timings->recorded, &wanted, false, false); /* of another machine */
}

/* ---- one time ------------------------------------------------------------------------------------------ */

const Timing *times_of(const TimesRow *row, bool to_scalar, TimesWay way) {
    for (int i = 0; i < TIMES_WAY_COUNT; i++) {
        const Timing *timing = row->of[to_scalar][timing_similar_way(way, i)];
        if (timing) return timing;
    }
    return NULL;
}

const Timing *times_shown(const TimesRow *row, bool to_scalar, TimesWay way) {
    const Timing *timing = times_of(row, to_scalar, way);
    return timing || !to_scalar ? timing : times_of(row, false, way);
}

void times_find_limit(const Times *times, const Scene *scene, const TimesRow *row, TimesWay way,
                      LimitFigures *out) {
    const SceneTimings *timings = scene->borrowed.timings;
    const Measurements *from = times->is_live ? timings->live : timings->recorded;
    *out = limit_figures_unknown();
    if (!times->sample || !from) return;
    LadderOf of = {.dtype = times->sample->dtype, .op = times->sample->op, .way = way};
    ladder_find_limit(from, &of, row->kernel, times->n, times_of(row, false, way), times_of(row, true, way),
                      out);
}

const TimesRow *times_own(const Times *times, const Scene *scene) {
    for (int i = 0; i < times->kernel_count; i++)
        if (!strcmp(times->rows[i].kernel, scene->identity.kernel)) return &times->rows[i];
    return NULL;
}

void times_print(double microseconds, char *out, size_t bytes) {
    bool is_short = microseconds < 1000;
    double value = is_short ? microseconds : microseconds / 1000;
    snprintf(out, bytes, value < 99.95 ? "%.1f %s" : "%.0f %s", value, is_short ? "us" : "ms");
}

void times_print_ratio(double ratio, char *out, size_t bytes) {
    snprintf(out, bytes, ratio < 0.095 ? "%.2fx" : ratio < 99.95 ? "%.1fx" : "%.0fx", ratio);
}

/* ---- stalls -------------------------------------------------------------------------------------------- */

/* "87 % of samples wait for shared memory" of "waits for shared memory". */
static int print_share(double share, const char *words, char *out, size_t bytes) {
    if (!strcmp(language(), "en") && !strncmp(words, "waits ", 6))
        return snprintf(out, bytes, "%.0f %% of samples wait %s", share, words + 6);
    return snprintf(out, bytes, tr("%.0f %% of samples: %s"), share, tr(words));
}

/* The line with most samples of the stall; 0: none has a place. */
static int find_stalled_line(const SassKernel *kernel, SassStall stall, double *share) {
    uint64_t all = sass_sums(kernel).samples[stall], most = 0;
    int count, line = 0;
    SassLine *lines = sass_by_line(kernel, &count);
    for (int i = 0; i < count; i++)
        if (lines[i].file && lines[i].line && lines[i].sums.samples[stall] > most) {
            most = lines[i].sums.samples[stall];
            line = lines[i].line;
        }
    free(lines);
    *share = all ? (double)most / (double)all : 0;
    return line;
}

/* Of all samples, as everywhere, the most that wait: warps that neither issue nor could. */
bool times_print_stalls(const Scene *scene, const LimitFigures *figures, bool with_line, char *out,
                        size_t bytes) {
    SceneSass sass = {.kernel = NULL};
    if (scene->traced.block_count) sass = scene_sass(scene, 0);
    SassSums sums = {.executed = 0};
    if (sass.kernel) sums = sass_sums(sass.kernel);
    sums.samples[SASS_STALL_selected] = sums.samples[SASS_STALL_not_selected] = 0;
    SassStall top = sass_top_stall(sums.samples);
    double of_line = 0;
    if (top == SASS_STALLS) {
        double share;
        Stall most = limit_main_stall(figures, &share);
        if (most == STALL_COUNT) return false;
        snprintf(out, bytes, tr("%.0f %% of warp cycles wait for %s"), share * 100, tr(stall_words(most)));
        return true;
    }
    int length = print_share(100 * (double)sums.samples[top] / (double)sums.all_samples,
                             sass_stalls[top].words, out, bytes);
    int line = with_line ? find_stalled_line(sass.kernel, top, &of_line) : 0;
    if (line && (size_t)length < bytes)
        snprintf(out + length, bytes - (size_t)length, tr(", %.0f %% of them in line %d"), 100 * of_line,
                 line);
    return true;
}

/* ---- one line ------------------------------------------------------------------------------------------ */

typedef struct Line { /* text made of whole parts that fit */
    char *out;
    size_t bytes;
    int length, columns; /* bytes; room */
} Line;

/* False: it does not fit. */
__attribute__((format(printf, 2, 3))) static bool add_part(Line *line, const char *format, ...) {
    char part[160];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof part || (size_t)line->length + (size_t)length >= line->bytes ||
        characters_columns(line->out, (size_t)line->length) + characters_columns(part, sizeof part) >
            line->columns)
        return false;
    snprintf(line->out + line->length, line->bytes - (size_t)line->length, "%s", part);
    line->length += length;
    return true;
}

/* "15.7": three digits, in microseconds. */
static void print_microseconds(double time, char *out, size_t bytes) {
    snprintf(out, bytes, time < 99.95 ? "%.1f" : "%.0f", time);
}

/* *gap precedes the next time: "; " before the first. */
static void add_time(Line *line, const char **gap, const char *what, const char *name, const Timing *timing) {
    char time[32];
    if (!timing) return;
    print_microseconds(timing->median, time, sizeof time);
    if (add_part(line, "%s%s%s %s", *gap, what, name, time)) *gap = tr(", ");
}

static int find_row(const Times *times, const char *kernel) {
    for (int i = 0; i < times->count; i++)
        if (!strcmp(times->rows[i].kernel, kernel)) return i;
    return -1;
}

/* The kernel that the ladder begins with, also called K0. */
static int find_first_rung(const Times *times) {
    for (int i = 0; i < times->kernel_count; i++) {
        int place = place_of(times->rows[i].kernel);
        const char *aliases = place < 0 ? NULL : catalog_row(place)->aliases;
        if (aliases && !strncmp(aliases, "K0", 2)) return i;
    }
    return -1;
}

static int find_fastest(const Times *times, bool to_scalar, TimesWay way) {
    int best = -1;
    for (int i = 0; i < times->kernel_count; i++) {
        const Timing *timing = times_of(&times->rows[i], to_scalar, way);
        const Timing *least = best < 0 ? NULL : times_of(&times->rows[best], to_scalar, way);
        if (timing && (!least || timing->median < least->median)) best = i;
    }
    return best;
}

enum { DATED_COLUMNS = 100 };

static void add_others(Line *line, const Times *times, int here, const char *gap, bool to_scalar,
                       TimesWay way) {
    int next = here + 1 < times->kernel_count ? here + 1 : -1, best = find_fastest(times, to_scalar, way);
    int peer = find_row(times, "cub");
    if (next >= 0 && next != best && line->columns >= DATED_COLUMNS)
        add_time(line, &gap, tr("next "), times->rows[next].kernel,
                 times_of(&times->rows[next], to_scalar, way));
    if (best >= 0 && best != here)
        add_time(line, &gap, tr("best "), times->rows[best].kernel,
                 times_of(&times->rows[best], to_scalar, way));
    if (peer >= 0) add_time(line, &gap, "CUB", "", times_of(&times->rows[peer], to_scalar, way));
}

/* The recording of the same run beside its live time. */
static void add_recorded(Line *line, const Scene *scene, const Timing *live) {
    const SceneTimings *timings = scene->borrowed.timings;
    const Measurements *recorded = timings->are_of_run ? NULL : timings->recorded;
    if (scene->identity.is_edited || has_other_parameters(scene->identity.run)) return;
    for (int i = 0; recorded && i < recorded->timing_count; i++) {
        const Timing *timing = &recorded->timings[i];
        char time[32];
        if (strcmp(timing->kernel, live->kernel) != 0 || timing->n != live->n ||
            timing->threads != live->threads || strcmp(timing->dtype, live->dtype) != 0 ||
            strcmp(timing->op, live->op) != 0 || timing->to_scalar != live->to_scalar ||
            timing_way(timing) != timing_way(live) || !timing->samples)
            continue;
        print_microseconds(timing->median, time, sizeof time);
        add_part(line, tr(" (recorded %.40s %s)"), scene_machine_name(timing->machine), time);
        return;
    }
}

bool times_are_of_catalogue(const Scene *scene) {
    const SceneIdentity *identity = &scene->identity;
    return identity->row && !identity->is_edited && identity->row->group != CATALOG_BUG;
}

/* False: nothing is known of this very run. */
static bool add_own(Line *line, const Scene *scene) {
    const SceneOwnTime *own = scene->borrowed.timings ? &scene->borrowed.timings->own : NULL;
    char time[32];
    if (!own || times_are_of_catalogue(scene)) return false;
    if (own->microseconds > 0) {
        print_microseconds(own->microseconds, time, sizeof time);
        add_part(line, "%s", time);
        add_part(line, tr(" us live on this %.40s"), scene_machine_name(own->machine));
        add_part(line, tr(", a single call, L2 cold"));
        return true;
    }
    return *own->why && (add_part(line, tr("not timed on this GPU: %.110s"), tr(own->why)) ||
                         add_part(line, tr("not timed: %.60s"), tr(own->why)));
}

bool times_print_own(const Scene *scene, int columns, char *out, size_t bytes) {
    Line line = {.out = out, .bytes = bytes, .columns = columns};
    *out = 0;
    return add_own(&line, scene);
}

void times_print_missing(const Times *times, const Scene *scene, char *out, size_t bytes) {
    const CatalogRun *run = scene ? scene->identity.run : NULL;
    if (has_other_parameters(run))
        snprintf(out, bytes, "%s", tr("not measured on a GPU with these parameters"));
    else if (run && times->has_other_block)
        snprintf(out, bytes, tr("not measured with block %u"), run->block);
    else
        snprintf(out, bytes, "%s", tr("not measured on a GPU"));
}

void times_print_line(const Scene *scene, bool to_scalar, TimesWay way, int columns, char *out,
                      size_t bytes) {
    Times times;
    Line line = {.out = out, .bytes = bytes, .columns = columns};
    *out = 0;
    if (add_own(&line, scene)) return;
    times_gather(&times, scene);
    int here = find_row(&times, scene->identity.kernel), first = find_first_rung(&times);
    const Timing *timing = here < 0 ? NULL : times_shown(&times.rows[here], to_scalar, way);
    if (!timing) {
        char missing[80];
        times_print_missing(&times, scene, missing, sizeof missing);
        add_part(&line, "%s", missing);
        add_part(&line, tr("; --bench times kernels of the catalogue"));
        return;
    }
    char time[32];
    print_microseconds(timing->median, time, sizeof time);
    add_part(&line, "%s", time);
    /* With the date if there is room for both the date and the references. */
    const char *machine = scene_machine_name(timing->machine);
    if (times.is_live)
        add_part(&line, tr(" us live on this %.40s"), machine);
    else if (line.columns < DATED_COLUMNS)
        add_part(&line, tr(" us (%.40s, recorded)"), machine);
    else
        add_part(&line, tr(" us on an %.40s, recorded %.10s"), machine,
                 timing->measured ? timing->measured : "");
    if (times.is_live) add_recorded(&line, scene, timing);
    /* Of another size than the run has. */
    char size[32];
    if (timing->n && !(timing->n & (timing->n - 1)))
        snprintf(size, sizeof size, "2^%d", __builtin_ctzll(timing->n));
    else
        snprintf(size, sizeof size, "%llu", (unsigned long long)timing->n);
    if (timing->n != scene->identity.n) add_part(&line, tr(" at n = %s"), size);
    LimitFigures figures;
    char limit[128];
    times_find_limit(&times, scene, &times.rows[here], way, &figures);
    Limit of = limit_of(&figures);
    bool waits = of == LIMIT_LATENCY || of == LIMIT_BARRIERS;
    if (waits && times_print_stalls(scene, &figures, true, limit, sizeof limit) &&
        add_part(&line, tr("; %s"), limit)) {
        /* with its line */
    } else if (waits && times_print_stalls(scene, &figures, false, limit, sizeof limit)) {
        add_part(&line, tr("; %s"), limit);
    } else if (of != LIMIT_UNKNOWN) {
        limit_print_short(&figures, limit, sizeof limit);
        add_part(&line, tr(", limited by %s"), limit);
    }
    if (timing->to_scalar != to_scalar) return; /* it ends with more than one number: not comparable */
    const Timing *rung = first < 0 ? NULL : times_of(&times.rows[first], to_scalar, way);
    const char *gap = tr("; ");
    if (rung && rung != timing && columns >= DATED_COLUMNS)
        add_part(&line, tr(", %.1fx as fast as %s"), rung->median / timing->median, times.rows[first].kernel);
    else if (rung && rung != timing)
        add_time(&line, &gap, "", times.rows[first].kernel, rung);
    add_others(&line, &times, here, gap, to_scalar, way);
}
