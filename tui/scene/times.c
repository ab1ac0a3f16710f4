#include "tui/scene/times.h"

#include <math.h>
#include <string.h>

typedef struct Wanted {
    const char *kernel, *dtype, *op;
    uint64_t n;       /* 0: any */
    uint32_t threads; /* preferred */
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

/* A kernel's timing of the size that is nearest to n; NULL: no kernel was timed as wanted. */
static const Timing *nearest(const Measurements *list, const Wanted *wanted, uint64_t n) {
    const Timing *best = NULL;
    for (int i = 0; list && i < list->timing_count; i++) {
        const Timing *timing = &list->timings[i];
        if (!is_wanted(timing, wanted) || (best && distance(timing->n, n) >= distance(best->n, n))) continue;
        if (place_of(timing->kernel) >= 0) best = timing;
    }
    return best;
}

/* Of several block sizes the run's own is shown, else the one measured last. */
static void put(TimesRow *row, const Timing *timing, uint32_t threads) {
    TimesWay way = timing->cold    ? timing->graph ? TIMES_COLD : TIMES_COLD_CALL
                   : timing->graph ? TIMES_WARM
                                   : TIMES_WARM_CALL;
    const Timing **place = &row->of[timing->to_scalar][way];
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

/* Adds the kernels of the list, or the references; rows that exist already stay as they are. */
static void add_rows(Times *times, const Measurements *list, const Wanted *wanted, bool kernels,
                     bool is_live) {
    int first = times->count;
    for (int i = 0; list && i < list->timing_count; i++) {
        const Timing *timing = &list->timings[i];
        if (!is_wanted(timing, wanted)) continue;
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
    if (!sample && strcmp(wanted->op, "sum") != 0) { /* another operation takes equally long */
        wanted->op = "sum";
        sample = nearest(timings->recorded, wanted, n);
    }
    wanted->n = sample ? sample->n : n;
    return sample;
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
    out->sample = choose(timings, &wanted, scene->identity.n, &out->is_live);
    out->n = wanted.n;
    add_rows(out, out->is_live ? timings->live : timings->recorded, &wanted, true, out->is_live);
    sort_kernels(out);
    out->kernel_count = out->count;
    add_rows(out, timings->live, &wanted, false, true);
    add_rows(out, timings->recorded, &wanted, false, false);
}

/* ---- one time ------------------------------------------------------------------------------------------ */

const Timing *times_of(const TimesRow *row, bool to_scalar, TimesWay way) {
    static const TimesWay order[TIMES_WAY_COUNT][TIMES_WAY_COUNT] = {
        [TIMES_COLD] = {TIMES_COLD, TIMES_COLD_CALL, TIMES_WARM, TIMES_WARM_CALL},
        [TIMES_WARM] = {TIMES_WARM, TIMES_WARM_CALL, TIMES_COLD, TIMES_COLD_CALL},
        [TIMES_COLD_CALL] = {TIMES_COLD_CALL, TIMES_WARM_CALL, TIMES_COLD, TIMES_WARM},
        [TIMES_WARM_CALL] = {TIMES_WARM_CALL, TIMES_COLD_CALL, TIMES_WARM, TIMES_COLD},
    };
    for (int i = 0; i < TIMES_WAY_COUNT; i++)
        if (row->of[to_scalar][order[way][i]]) return row->of[to_scalar][order[way][i]];
    return NULL;
}
