#include "ladder/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t usual_sizes[] = {1 << 10, 1 << 14, 1 << 18, 1 << 20,
                                       1 << 22, 1 << 24, 1 << 28, 1 << 30};
enum { USUAL_SIZES = sizeof usual_sizes / sizeof *usual_sizes };

/* ---- rows and columns ---------------------------------------------------------------------------------- */

static const CatalogRow *find_kernel(const char *id) {
    for (int i = 0; i < catalog_count(); i++)
        if (!strcmp(catalog_row(i)->id, id)) return catalog_row(i);
    return NULL;
}

static bool holds_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

/* True if the kernel, as launched, leaves one number. */
static bool ends_in_one(const CatalogRow *row, const LadderOf *of) {
    CatalogOptions options = {.op = of->op};
    CatalogRun run;
    Plan plan = {0};
    uint64_t left = 0;
    if (!plan_type_parse(of->dtype, &options.dtype) || !catalog_resolve(row, &options, &run, NULL))
        return false;
    if (catalog_plan(&run, &plan, NULL))
        for (int i = 0; i < plan.buffer_count; i++)
            if (!strcmp(plan.buffers[i].name, "out")) left = plan.buffers[i].count;
    plan_free(&plan);
    return left == 1;
}

static bool is_of(const Timing *timing, const LadderOf *of) {
    return !strcmp(timing->dtype, of->dtype) && !strcmp(timing->op, of->op);
}

static bool is_within(const Measurements *list, const Timing *timing) {
    return timing >= list->timings && timing < list->timings + list->timing_count;
}

/* Iterates over all of `from`, then the timings of `here` that are not in the catalogue. NULL: the first;
 * returns NULL past the last. */
static const Timing *next_timing(const Ladder *ladder, const Timing *last) {
    const Measurements *from = ladder->from, *here = ladder->here;
    if (!last && from->timing_count) return from->timings;
    if (last && from->timing_count && is_within(from, last)) {
        if (last + 1 < from->timings + from->timing_count) return last + 1;
        last = NULL;
    }
    if (!here || !here->timing_count) return NULL;
    const Timing *next = last ? last + 1 : here->timings;
    while (next < here->timings + here->timing_count && find_kernel(next->kernel)) next++;
    return next < here->timings + here->timing_count ? next : NULL;
}

static void add_row(Ladder *out, const char *id, const CatalogRow *row) {
    if (out->row_count < LADDER_ROWS) out->rows[out->row_count++] = (LadderRow){.id = id, .row = row};
}

int ladder_find_row(const Ladder *ladder, const char *id) {
    for (int i = 0; i < ladder->row_count; i++)
        if (!strcmp(ladder->rows[i].id, id)) return i;
    return -1;
}

static void add_rungs(Ladder *out) {
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group == CATALOG_LADDER && holds_word(row->types, out->of.dtype) &&
            holds_word(row->operations, out->of.op))
            add_row(out, row->id, row);
    }
    out->rung_count = out->row_count;
}

/* From the catalogue: Triton's programs or, if no rung has the type, all kernels that end in one number. */
static void add_others(Ladder *out) {
    for (int catalogue = 1; catalogue >= 0; catalogue--)
        for (const Timing *timing = NULL; (timing = next_timing(out, timing));) {
            const CatalogRow *row = find_kernel(timing->kernel);
            bool fits = !row || row->group == CATALOG_TRITON || !out->rung_count;
            if (!is_of(timing, &out->of) || (row != NULL) != catalogue || !fits ||
                ladder_find_row(out, timing->kernel) >= 0 || (row && !ends_in_one(row, &out->of)))
                continue;
            add_row(out, timing->kernel, row);
        }
}

static void add_size(Ladder *out, uint64_t n) {
    int at = out->size_count;
    for (int i = 0; i < out->size_count; i++)
        if (out->sizes[i] == n) return;
    if (at == LADDER_SIZES) return;
    for (; at > 0 && out->sizes[at - 1] > n; at--) out->sizes[at] = out->sizes[at - 1];
    out->sizes[at] = n;
    out->size_count++;
}

/* The usual sizes, and other sizes at which rungs were timed. */
static void add_sizes(Ladder *out) {
    for (int i = 0; i < USUAL_SIZES; i++) add_size(out, usual_sizes[i]);
    for (const Timing *timing = NULL; (timing = next_timing(out, timing));) {
        int row = is_of(timing, &out->of) ? ladder_find_row(out, timing->kernel) : -1;
        if (row >= 0 && out->rows[row].row) add_size(out, timing->n);
    }
}

/* ---- cells --------------------------------------------------------------------------------------------- */

static int size_index(const Ladder *ladder, uint64_t n) {
    for (int i = 0; i < ladder->size_count; i++)
        if (ladder->sizes[i] == n) return i;
    return -1;
}

/* How closely the timing matches the request: lower is better; -1: not at all. A program outside the ladder
 * that ends in one number by itself is timed alone. */
static int rank(const Ladder *ladder, const LadderRow *row, const Timing *timing, bool alone) {
    bool counts_as_both = row->row && row->row->group != CATALOG_LADDER;
    if (timing->to_scalar == alone && !counts_as_both) return -1;
    for (int i = 0; i < TIMES_WAY_COUNT; i++)
        if (timing_similar_way(ladder->of.way, i) == timing_way(timing)) return i;
    return -1;
}

static void put(const Ladder *ladder, const LadderRow *row, const Timing *timing, bool alone,
                const Timing **place) {
    int wanted = rank(ladder, row, timing, alone);
    if (wanted >= 0 && (!*place || wanted <= rank(ladder, row, *place, alone))) *place = timing;
}

static void add_times(Ladder *out) {
    for (const Timing *timing = NULL; (timing = next_timing(out, timing));) {
        if (!is_of(timing, &out->of)) continue;
        int row = ladder_find_row(out, timing->kernel), size = size_index(out, timing->n);
        if (row < 0 || size < 0) continue;
        LadderRow *place = &out->rows[row];
        if (!timing->samples) {
            place->skipped[size] = timing->note;
            continue;
        }
        if (!out->sample && row < out->rung_count) out->sample = timing;
        put(out, place, timing, true, &place->alone[size]);
        put(out, place, timing, false, &place->scalar[size]);
    }
    for (int row = 0; row < out->row_count; row++)
        for (int size = 0; size < out->size_count; size++)
            out->rows[row].times[size] =
                out->of.alone ? out->rows[row].alone[size] : out->rows[row].scalar[size];
}

/* Excludes another machine's times: the CPU's. */
static bool is_comparable(const Ladder *ladder, const Timing *timing) {
    return timing && (!ladder->sample || !strcmp(timing->machine, ladder->sample->machine));
}

static void find_best(Ladder *out) {
    for (int size = 0; size < out->size_count; size++) {
        out->best[size] = NAN;
        for (int row = 0; row < out->row_count; row++) {
            const Timing *timing = out->rows[row].times[size];
            if (is_comparable(out, timing) && !(out->best[size] <= timing->median))
                out->best[size] = timing->median;
        }
    }
}

const char *ladder_number(const LadderRow *row) {
    return row->row && row->row->aliases ? row->row->aliases : "";
}

static int find_first(const Ladder *ladder) {
    for (int row = 0; row < ladder->rung_count; row++)
        for (int size = 0; size < ladder->size_count && !strcmp(ladder_number(&ladder->rows[row]), "K0");
             size++)
            if (ladder->rows[row].times[size]) return row;
    return -1;
}

static bool has_any(const Measurements *from, const LadderOf *of) {
    for (int i = 0; i < from->timing_count; i++)
        if (is_of(&from->timings[i], of) && find_kernel(from->timings[i].kernel)) return true;
    return false;
}

void ladder_gather(Ladder *out, const Measurements *from, const Measurements *here, const LadderOf *of) {
    *out = (Ladder){.of = *of, .from = from, .here = here == from ? NULL : here};
    if (!has_any(from, of)) out->of.op = "sum";
    add_rungs(out);
    add_others(out);
    add_sizes(out);
    add_times(out);
    find_best(out);
    out->first = find_first(out);
}

int ladder_find_size(const Ladder *ladder, uint64_t n) {
    int best = 0;
    for (int i = 1; i < ladder->size_count; i++)
        if (fabs(log2((double)ladder->sizes[i] / (double)n)) <
            fabs(log2((double)ladder->sizes[best] / (double)n)))
            best = i;
    return best;
}

bool ladder_is_otherwise(const Ladder *ladder, const Timing *timing) {
    return timing_way(timing) != ladder->of.way;
}

int ladder_speed(const Ladder *ladder, int row, int size) {
    static const double least[LADDER_SPEEDS] = {0, 0.1, 0.25, 0.5, 0.9};
    const Timing *timing = ladder->rows[row].times[size];
    int speed = LADDER_SPEEDS - 1;
    if (!timing || isnan(ladder->best[size])) return -1;
    while (speed > 0 && ladder->best[size] / timing->median < least[speed]) speed--;
    return speed;
}

int ladder_timed(const Ladder *ladder, int *all) {
    int timed = 0;
    *all = ladder->rung_count * ladder->size_count;
    for (int row = 0; row < ladder->rung_count; row++)
        for (int size = 0; size < ladder->size_count; size++)
            timed += ladder->rows[row].times[size] || ladder->rows[row].skipped[size];
    return timed;
}

/* ---- figures of a rung at a size ----------------------------------------------------------------------- */

static double median(const Timing *timing) {
    return timing ? timing->median : (double)NAN;
}

static double value_of(const Ladder *ladder, int row, int size, const char *name) {
    return measured_find_value(ladder->from, ladder->rows[row].id, ladder->sizes[size], ladder->of.dtype,
                               ladder->of.op, name);
}

/* Profiles measure the kernel alone, and so does its share of the bandwidth. */
void ladder_find_limit(const Measurements *from, const LadderOf *of, const char *kernel, uint64_t n,
                       const Timing *alone, const Timing *scalar, LimitFigures *limit) {
    *limit = limit_figures_unknown();
    limit->launches = scalar ? timing_launches(scalar) : 0;
    limit->read_share = alone ? alone->share_of_read : scalar ? scalar->share_of_read : (double)NAN;
    if (alone && scalar && timing_way(alone) == timing_way(scalar))
        limit->outside = fmax(0, 1 - alone->median / scalar->median);
    limit->issue = measured_find_value(from, kernel, n, of->dtype, of->op, "issue slots") / 100;
    limit->shared_pipe = measured_find_value(from, kernel, n, of->dtype, of->op, "shared pipe") / 100;
    limit->ready = measured_find_value(from, kernel, n, of->dtype, of->op, "stall selected") +
                   measured_find_value(from, kernel, n, of->dtype, of->op, "stall not_selected");
    for (int i = 0; i < STALL_COUNT; i++) {
        char name[48];
        snprintf(name, sizeof name, "stall %s", stall_word((Stall)i));
        limit->stalls[i] = measured_find_value(from, kernel, n, of->dtype, of->op, name);
    }
}

static void add_limit(const Ladder *ladder, int row, int size, LadderFigures *out) {
    const LadderRow *of = &ladder->rows[row];
    ladder_find_limit(ladder->from, &ladder->of, of->id, ladder->sizes[size], of->alone[size],
                      of->scalar[size], &out->limit);
    out->limit.launches = out->launches;
}

static double time_above(const Ladder *ladder, int row, int size) {
    if (row >= ladder->rung_count) return NAN;
    for (int i = row - 1; i >= 0; i--)
        if (ladder->rows[i].times[size]) return ladder->rows[i].times[size]->median;
    return NAN;
}

void ladder_figures(const Ladder *ladder, const LadderCounts *counts, int row, int size, LadderFigures *out) {
    const LadderRow *of = &ladder->rows[row];
    const Timing *timing = of->times[size];
    const LadderCount *count =
        ladder_counts_find(counts, of->id, ladder->sizes[size], ladder->of.dtype, ladder->of.op);
    bool counted = count && !count->failed;
    double first = ladder->first < 0 ? (double)NAN : median(ladder->rows[ladder->first].times[size]);
    *out = (LadderFigures){.microseconds = median(timing),
                           .over_first = first / median(timing),
                           .over_before = time_above(ladder, row, size) / median(timing),
                           .gigabytes = timing ? timing->gigabytes_per_second : (double)NAN,
                           .read_share = is_comparable(ladder, timing) ? timing->share_of_read : (double)NAN,
                           .sass = value_of(ladder, row, size, "SASS instructions"),
                           .wavefronts = counted ? count->wavefronts : (double)NAN,
                           .sectors = counted ? count->sectors : (double)NAN,
                           .barriers = counted ? count->barriers : (double)NAN,
                           .launches = of->row && of->scalar[size] ? timing_launches(of->scalar[size]) : 0};
    add_limit(ladder, row, size, out);
}

int ladder_types(const Measurements *from, const char *types[LADDER_TYPES]) {
    static const char *const order[] = {"int", "float", "double"};
    int count = 0;
    for (size_t turn = 0; turn <= sizeof order / sizeof *order; turn++)
        for (int i = 0; i < from->timing_count; i++) {
            const char *type = from->timings[i].dtype;
            const CatalogRow *row = find_kernel(from->timings[i].kernel);
            bool is_new = *type && count < LADDER_TYPES && (!row || row->group == CATALOG_LADDER);
            for (int seen = 0; is_new && seen < count; seen++) is_new = strcmp(types[seen], type) != 0;
            bool is_turn = turn == sizeof order / sizeof *order || !strcmp(type, order[turn]);
            if (is_new && is_turn) types[count++] = type;
        }
    return count;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

void ladder_print_time(double microseconds, char *out, size_t bytes) {
    if (isnan(microseconds))
        snprintf(out, bytes, "-");
    else if (microseconds < 99.95)
        snprintf(out, bytes, "%.1f", microseconds);
    else if (microseconds < 99999.5)
        snprintf(out, bytes, "%.0f", microseconds);
    else
        snprintf(out, bytes, microseconds < 9.9995e6 ? "%.0fms" : "%.0fs",
                 microseconds / (microseconds < 9.9995e6 ? 1e3 : 1e6));
}

void ladder_print_size(uint64_t n, char *out, size_t bytes) {
    int power = 0;
    while (power < 63 && (UINT64_C(1) << power) < n) power++;
    if (n == UINT64_C(1) << power)
        snprintf(out, bytes, "2^%d", power);
    else if (n % 1000000 == 0)
        snprintf(out, bytes, "%llu M", (unsigned long long)n / 1000000);
    else
        snprintf(out, bytes, "%llu", (unsigned long long)n);
}

void ladder_print_count(double count, char *out, size_t bytes) {
    if (isnan(count))
        snprintf(out, bytes, "-");
    else if (count < 1000)
        snprintf(out, bytes, "%.0f", count);
    else if (count < 1e6)
        snprintf(out, bytes, "%.0f,%03.0f", floor(count / 1000), fmod(count, 1000));
    else
        snprintf(out, bytes, count < 1e9 ? "%.3g M" : "%.3g G", count / (count < 1e9 ? 1e6 : 1e9));
}
