#include "tui/scene/scene_times.h"

#include "ladder/ladder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Wanted {
    const char *kernel, *dtype, *op;
    uint64_t n;          /* 0: any */
    uint32_t threads;    /* preferred */
    const char *without; /* recordings of this kernel have other parameters; NULL: none */
} Wanted;

static bool is_wanted(const Timing *timing, const Wanted *wanted) {
    return !strcmp(timing->dtype, wanted->dtype) && !strcmp(timing->op, wanted->op) &&
           (!wanted->n || timing->n == wanted->n);
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
        if (place_of(timing->kernel) >= 0) best = timing;
    }
    return best;
}

/* Among several block sizes, the run's own is shown, else the one measured last. */
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

/* Adds the kernels of the list, or the references; existing rows stay unchanged. */
static void add_rows(Times *times, const Measurements *list, const Wanted *wanted, bool kernels,
                     bool is_live) {
    int first = times->count;
    for (int i = 0; list && i < list->timing_count; i++) {
        const Timing *timing = &list->timings[i];
        if (!is_wanted(timing, wanted)) continue;
        if (wanted->without && !is_live && !strcmp(timing->kernel, wanted->without)) continue;
        int place = place_of(timing->kernel), at = first;
        if ((place >= 0) != kernels || is_there(times, first, timing->kernel)) continue;
        if (kernels && catalog_row(place)->group != CATALOG_LADDER &&
            strcmp(timing->kernel, wanted->kernel) != 0)
            continue;
        while (at < times->count && strcmp(times->rows[at].kernel, timing->kernel) != 0) at++;
        if (at == TIMES_MOST_ROWS) continue;
        if (at == times->count)
            times->rows[times->count++] = (TimesRow){.kernel = timing->kernel, .is_live = is_live};
        put(&times->rows[at], timing, wanted->threads);
    }
}

/* The run's own kernel has a row even if it was not timed. */
static void add_own_row(Times *times, const char *kernel) {
    if (times->count < TIMES_MOST_ROWS && !is_there(times, times->count, kernel))
        times->rows[times->count++] = (TimesRow){.kernel = kernel, .is_live = times->is_live};
}

static void sort_kernels(Times *times) {
    for (int i = 1; i < times->count; i++)
        for (int j = i; j > 0 && place_of(times->rows[j - 1].kernel) > place_of(times->rows[j].kernel); j--) {
            TimesRow row = times->rows[j];
            times->rows[j] = times->rows[j - 1];
            times->rows[j - 1] = row;
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

void times_gather(Times *out, const Scene *scene) {
    const SceneTimings *timings = scene->borrowed.timings;
    /* A run of unknown type is compared with sums of int. */
    Wanted wanted = {.kernel = scene->identity.kernel,
                     .dtype = *scene->identity.dtype ? scene->identity.dtype : "int",
                     .op = *scene->identity.op ? scene->identity.op : "sum",
                     .threads = scene->identity.run ? scene->identity.run->block : 0};
    *out = (Times){.n = scene->identity.n};
    if (!timings) return;
    if (!timings->are_of_run && has_other_parameters(scene->identity.run)) wanted.without = wanted.kernel;
    out->sample = choose(timings, &wanted, scene->identity.n, &out->is_live);
    out->n = wanted.n;
    add_rows(out, out->is_live ? timings->live : timings->recorded, &wanted, true, out->is_live);
    if (out->sample) add_own_row(out, wanted.kernel);
    sort_kernels(out);
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

/* ---- one line ------------------------------------------------------------------------------------------ */

typedef struct Line { /* text made of whole parts that fit */
    char *out;
    size_t bytes;
    int length, columns;
} Line;

/* False: it does not fit. */
__attribute__((format(printf, 2, 3))) static bool add_part(Line *line, const char *format, ...) {
    char part[96];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof part || line->length + length > line->columns) return false;
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
    if (add_part(line, "%s%s%s %s", *gap, what, name, time)) *gap = ", ";
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

/* With the date if there is room for both the date and the references. */
static void add_machine(Line *line, const Times *times, const Timing *timing) {
    const char *machine = timing->machine;
    if (!strncmp(machine, "NVIDIA ", 7)) machine += 7;
    if (times->is_live)
        add_part(line, " us now on %.40s", machine);
    else if (line->columns < DATED_COLUMNS)
        add_part(line, " us (%.40s, recorded)", machine);
    else
        add_part(line, " us on an %.40s, recorded %.10s", machine, timing->measured ? timing->measured : "");
}

static void add_others(Line *line, const Times *times, int here, const char *gap, bool to_scalar,
                       TimesWay way) {
    int next = here + 1 < times->kernel_count ? here + 1 : -1, best = find_fastest(times, to_scalar, way);
    int peer = find_row(times, "cub");
    if (next >= 0 && next != best && line->columns >= DATED_COLUMNS)
        add_time(line, &gap, "next ", times->rows[next].kernel, times_of(&times->rows[next], to_scalar, way));
    if (best >= 0 && best != here)
        add_time(line, &gap, "best ", times->rows[best].kernel, times_of(&times->rows[best], to_scalar, way));
    if (peer >= 0) add_time(line, &gap, "CUB", "", times_of(&times->rows[peer], to_scalar, way));
}

void times_print_line(const Scene *scene, bool to_scalar, TimesWay way, int columns, char *out,
                      size_t bytes) {
    Times times;
    Line line = {.out = out, .bytes = bytes, .columns = columns < (int)bytes ? columns : (int)bytes - 1};
    times_gather(&times, scene);
    *out = 0;
    int here = find_row(&times, scene->identity.kernel), first = find_first_rung(&times);
    const Timing *timing = here < 0 ? NULL : times_shown(&times.rows[here], to_scalar, way);
    if (!timing) {
        bool is_other = has_other_parameters(scene->identity.run);
        add_part(&line, is_other ? "not measured on a GPU with these parameters" : "not measured on a GPU");
        add_part(&line, "; --bench times kernels of the catalogue");
        return;
    }
    char time[32];
    print_microseconds(timing->median, time, sizeof time);
    add_part(&line, "%s", time);
    add_machine(&line, &times, timing);
    LimitFigures figures;
    char limit[48];
    times_find_limit(&times, scene, &times.rows[here], way, &figures);
    limit_print_short(&figures, limit, sizeof limit);
    if (limit_of(&figures) != LIMIT_UNKNOWN) add_part(&line, ", limited by %s", limit);
    if (timing->to_scalar != to_scalar) return; /* it ends with more than one number: not comparable */
    const Timing *rung = first < 0 ? NULL : times_of(&times.rows[first], to_scalar, way);
    const char *gap = "; ";
    if (rung && rung != timing && columns >= DATED_COLUMNS)
        add_part(&line, ", %.1fx as fast as %s", rung->median / timing->median, times.rows[first].kernel);
    else if (rung && rung != timing)
        add_time(&line, &gap, "", times.rows[first].kernel, rung);
    add_others(&line, &times, here, gap, to_scalar, way);
}
