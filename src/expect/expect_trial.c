#include "expect/expect_trial.h"

#include "expect/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- what a run changed -------------------------------------------------------------------------------- */

ExpectChanged expect_changes(const ExpectRun *run, int index) {
    const PlanBuffer *before = &run->filled->buffers[index], *after = &run->done->buffers[index];
    uint64_t bytes = (uint64_t)ptx_type_bytes(before->type);
    ExpectChanged changed = {.buffer = index};
    if (run->results && !run->results[index]) return changed; /* an intermediate result */
    for (uint64_t i = 0; i < before->count; i++)
        if (memcmp((const char *)before->bytes + i * bytes, (const char *)after->bytes + i * bytes, bytes) !=
            0) {
            changed.end = i + 1;
            changed.count++;
        }
    return changed;
}

uint64_t expect_threads(const ExpectRun *run) {
    const PlanLaunch *launch = &run->done->launches[0];
    return launch_volume(launch->grid) * launch_volume(launch->block);
}

double expect_growth(const ExpectRun *run, uint64_t length) {
    uint64_t threads = expect_threads(run), atomics = run->atomics < length ? run->atomics : length;
    uint64_t of_thread = length / (threads ? threads : 1);
    double depth = (double)of_thread + 12 + (double)atomics;
    return depth < 64 ? depth : 8 * sqrt(depth);
}

/* ---- how far off a result may be ----------------------------------------------------------------------- */

/* True if the buffer has only whole numbers; the answer is cached. */
static bool is_whole(const ExpectTrial *trial, const PlanBuffer *buffer) {
    if (!buffer || !ptx_type_is_float(buffer->type)) return true;
    int8_t *known = &trial->whole[buffer - trial->run->filled->buffers];
    for (uint64_t i = 0; !*known && i < buffer->count; i++) {
        double x = plan_element(buffer->type, buffer->bytes, i);
        if (x != trunc(x)) *known = -1;
    }
    if (!*known) *known = 1;
    return *known > 0;
}

/* Sums of whole numbers are exact, in any order, as long as they fit the significand. For other sums, the
 * longest chain is a thread's share, a tree over the block, and one atomic after another. Its errors add up
 * like a random walk (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis), with 8 for
 * certainty. */
static double bound_of(const ExpectTrial *trial, uint64_t length, long double value, long double magnitude) {
    PtxType type = trial->out->type;
    const ExpectFunction *function = trial->function;
    if (!ptx_type_is_float(type)) return 0;
    double roundoff = reference_roundoff(type);
    if (ptx_type_is_float(trial->a->type) && function->fold != EXPECT_MAX && function->fold != EXPECT_MIN)
        roundoff = fmax(roundoff, reference_roundoff(trial->a->type));
    bool adds = magnitude > 0;
    if (!function->is_rounded && !adds) return 0;
    if (!function->is_rounded && magnitude * roundoff <= 1 && is_whole(trial, trial->a) &&
        is_whole(trial, trial->b))
        return 0;
    double growth = expect_growth(trial->run, length) + (function->is_rounded ? 4 : 0);
    return growth * roundoff * (double)(magnitude > fabsl(value) ? magnitude : fabsl(value));
}

static long double narrow(const ExpectTrial *trial, long double value) {
    return ptx_type_is_float(trial->out->type) ? value : truncl(value);
}

static void compare(ExpectTrial *trial, uint64_t index, long double got, long double expected,
                    uint64_t length, long double magnitude) {
    expected = narrow(trial, expected);
    double bound = got == expected ? 0 : bound_of(trial, length, expected, magnitude);
    reference_judge(&trial->result, trial->out->type, index, got, expected, bound);
}

static bool may_work(ExpectTrial *trial, uint64_t elements) {
    if (!trial->is_guess) return true;
    if (*trial->work < elements) return false;
    *trial->work -= elements;
    return true;
}

/* ---- one number of all elements ------------------------------------------------------------------------ */

long double expect_element(const PlanBuffer *buffer, uint64_t i) {
    return (long double)plan_element(buffer->type, buffer->bytes, i);
}

/* Folds elements 0, step, 2 step, ... of the output. */
static long double fold_output(const ExpectTrial *trial, uint64_t end, uint64_t step) {
    ExpectFold fold = trial->function->fold;
    long double result = fold == EXPECT_SUM ? 0 : expect_element(trial->out, 0);
    for (uint64_t i = 0; i < end; i += step) {
        long double x = expect_element(trial->out, i);
        if (fold == EXPECT_SUM)
            result += x;
        else if (fold == EXPECT_MAX ? x > result : x < result)
            result = x;
    }
    return result;
}

static bool is_right(ExpectTrial *trial, uint64_t index, long double got, long double value,
                     long double magnitude) {
    trial->result = (ExpectResult){0};
    compare(trial, index, got, value, trial->length, magnitude);
    /* A wide bound would accept any value. */
    bool is_close = fabs((double)(got - value)) <= 1e-3 * fabs((double)value);
    return trial->result.correct &&
           (!trial->is_guess || got == value || is_close || !ptx_type_is_float(trial->out->type));
}

/* Every extreme of many elements lies on its side of their mean; copied elements do not. */
static bool are_extremes(const ExpectTrial *trial, uint64_t end) {
    enum { MANY = 32 };
    long double sum = 0;
    if (!end || trial->length / end < MANY) return true;
    for (uint64_t i = 0; i < trial->length; i++) sum += expect_element(trial->a, i);
    long double mean = sum / (long double)trial->length;
    bool is_max = trial->function->fold == EXPECT_MAX;
    for (uint64_t i = 0; i < end; i++)
        if (is_max ? expect_element(trial->out, i) < mean : expect_element(trial->out, i) > mean)
            return false;
    return true;
}

/* A kernel that compares nothing may still leave the last of ascending elements, or the largest of repeated
 * ones: not a maximum, but a wrong sum. */
static bool is_accident(const ExpectTrial *trial, long double value) {
    const char *name = trial->function->name;
    bool is_place = !strncmp(name, "arg", 3), is_count = !strcmp(name, "nonzero");
    bool is_extreme = trial->function->fold == EXPECT_MAX || trial->function->fold == EXPECT_MIN;
    uint64_t last = trial->length - 1, times = 0;
    if (trial->is_guess && is_count && trial->run->counts_values) return true;
    if (!trial->is_guess || trial->run->compares || (!is_place && !is_count && !is_extreme)) return false;
    if (is_place || (is_count && value == (long double)trial->length)) return true;
    if (value == expect_element(trial->a, 0) || value == expect_element(trial->a, last)) return true;
    for (uint64_t i = 0; is_extreme && i < trial->length && times < 2; i++)
        times += expect_element(trial->a, i) == value;
    return times > 1;
}

/* Computes the total of all elements; false: the work limit is exceeded. */
static bool compute_total(ExpectTrial *trial, long double *value, long double *magnitude) {
    ExpectTotals *totals = trial->totals;
    ExpectTotal total = {
        trial->function, trial->a->bytes, trial->b ? trial->b->bytes : NULL, trial->length, 0, 0};
    for (int i = 0; totals && i < totals->count; i++) {
        const ExpectTotal *known = &totals->all[i];
        if (known->function != total.function || known->a != total.a || known->b != total.b ||
            known->length != total.length)
            continue;
        *value = known->value;
        *magnitude = known->magnitude;
        return true;
    }
    if (!may_work(trial, trial->length)) return false;
    total.value = trial->function->of(trial->a, trial->b, 0, trial->length, 1, &total.magnitude);
    *value = total.value;
    *magnitude = total.magnitude;
    if (totals && totals->count < (int)(sizeof totals->all / sizeof *totals->all))
        totals->all[totals->count++] = total;
    return true;
}

bool expect_try_total(ExpectTrial *trial) {
    long double magnitude, value;
    const PlanLaunch *launch = &trial->run->done->launches[0];
    uint64_t end = trial->changed.end, blocks = launch_volume(launch->grid),
             block = launch_volume(launch->block);
    if (!compute_total(trial, &value, &magnitude)) return false;
    trial->partials = 0;
    /* Zero, and small integers that few elements give in many ways, also match by chance. */
    bool is_likely = !strcmp(trial->function->name, "sum") ||
                     (trial->run->float_fold && !strcmp(trial->function->name, trial->run->float_fold));
    is_likely |= trial->b && fabsl(value) >= 256; /* a sum of products this large rarely matches by chance */
    bool is_one = value == 1 && trial->function->fold == EXPECT_NO_FOLD;
    if (trial->is_guess && (is_one || narrow(trial, value) == 0 ||
                            (trial->length < EXPECT_FEW && !is_likely && !trial->run->is_hint)))
        return false;
    if (is_accident(trial, value)) return false;
    bool is_trivial = trial->is_guess && (!end || (trial->explains_all && trial->changed.count > 1));
    bool is_extreme = trial->function->fold == EXPECT_MAX || trial->function->fold == EXPECT_MIN;
    /* The extreme of a row is also that of slightly more elements. */
    bool is_row =
        trial->is_guess && is_extreme && trial->changed.count > 1 && trial->length < trial->a->count;
    bool is_direct =
        !is_trivial && !is_row && is_right(trial, 0, expect_element(trial->out, 0), value, magnitude);
    bool may_be_partial = trial->is_guess && is_extreme && trial->changed.count > 1; /* one of them has it */
    if (is_direct && !may_be_partial) return true;
    ExpectResult direct = trial->result;
    /* The extreme of elements that are not partial results matches by chance. */
    bool has_partials = !is_extreme || !trial->is_guess ||
                        (end <= 2 * blocks && trial->changed.count * 2 >= end && are_extremes(trial, end));
    has_partials &= !trial->is_guess || trial->changed.count * 2 <= trial->length; /* else it is a copy */
    if (trial->function->fold != EXPECT_NO_FOLD && end > 1 && has_partials) {
        trial->partials = end;
        if (is_right(trial, 0, fold_output(trial, end, 1), value, magnitude)) return true;
        ExpectResult folded = trial->result;
        for (uint64_t step = block; blocks > 1 && !is_extreme && step <= 8 * block;
             step *= 2) { /* in place: the first of each group */
            if (step < 2 || step * (blocks - 1) >= trial->out->count) continue;
            trial->partials = blocks;
            if (is_right(trial, 0, fold_output(trial, step * (blocks - 1) + 1, step), value, magnitude))
                return true;
        }
        trial->partials = end;
        trial->result = folded;
        if (!is_direct && trial->changed.count > 1 && end <= blocks * 2) return false;
    }
    trial->partials = 0;
    trial->result = direct;
    return is_direct;
}

/* ---- a number of each row, of each element ------------------------------------------------------------- */

/* A bound may be wide, with few digits or many additions: any value would match the function. */
static bool is_close_enough(const ExpectTrial *trial, long double largest) {
    return !trial->is_guess || trial->result.absolute_error <= 0.02 * largest;
}

/* For columns, `width` is the number of rows of each matrix if the input has several. */
static bool try_rows(ExpectTrial *trial) {
    bool by_column = trial->function->by_column;
    uint64_t columns = trial->columns, rows = columns ? trial->length / columns : 0;
    uint64_t matrix = by_column && trial->width ? trial->width : rows;
    uint64_t count = by_column ? matrix : columns, results = count ? trial->length / count : 0;
    if (!rows || rows * columns != trial->length || rows % matrix != 0) return false;
    if (results > trial->out->count || count < 2) return false;
    if (trial->is_guess && results < 2) return false;
    if (trial->explains_all && results < trial->changed.count) return false;
    trial->partials = 0;
    trial->result = (ExpectResult){0};
    long double largest = 0, first_value = expect_element(trial->out, 0);
    bool differs = !trial->is_guess || !strcmp(trial->function->name + 3, "sum");
    for (uint64_t r = 0; r < results; r++) {
        long double magnitude = 0;
        uint64_t first = by_column ? r / columns * columns * matrix + r % columns : r * columns;
        if (!may_work(trial, count)) return false;
        long double value =
            trial->function->of(trial->a, trial->b, first, count, by_column ? columns : 1, &magnitude);
        compare(trial, r, expect_element(trial->out, r), value, count, magnitude);
        if (fabsl(value) > largest) largest = fabsl(value);
        differs |= value != first_value || (value != 0 && value != 1); /* values that many functions give */
        if (trial->is_guess && !trial->result.correct) return false;
    }
    return trial->result.correct && differs && is_close_enough(trial, largest);
}

/* Counts the elements of each bin; with two inputs, sums those of the first, by the bins of the second. */
static bool try_bins(ExpectTrial *trial) {
    uint64_t width = trial->width ? trial->width : 1;
    uint64_t bins =
        trial->columns && trial->columns <= trial->out->count ? trial->columns : trial->out->count;
    const PlanBuffer *keys = trial->b ? trial->b : trial->a;
    if (trial->is_guess && !is_whole(trial, keys)) return false;
    if (!may_work(trial, trial->length + bins)) return false;
    uint64_t *counts = memory_new((size_t)bins * sizeof *counts);
    long double *sums = memory_new((size_t)bins * sizeof *sums),
                *magnitudes = memory_new((size_t)bins * sizeof *magnitudes), largest = 0;
    for (uint64_t i = 0; i < trial->length; i++) {
        long double x = expect_element(keys, i) - (long double)trial->base;
        if (x < 0 || x >= (long double)bins * (long double)width) continue;
        uint64_t bin = (uint64_t)x / width;
        long double value = trial->b ? expect_element(trial->a, i) : 1;
        counts[bin]++;
        sums[bin] += value;
        magnitudes[bin] += trial->b ? fabsl(value) : 0;
    }
    trial->result = (ExpectResult){0};
    for (uint64_t i = 0; i < bins; i++) {
        if (fabsl(sums[i]) > largest) largest = fabsl(sums[i]);
        compare(trial, i, expect_element(trial->out, i), sums[i], trial->b ? counts[i] : bins, magnitudes[i]);
    }
    free(magnitudes);
    free(sums);
    free(counts);
    return trial->result.correct && (!trial->is_guess || trial->changed.count > 1) &&
           (!trial->b || is_close_enough(trial, largest));
}

/* Tries bins of one value each, then of several. */
static bool try_histogram(ExpectTrial *trial) {
    static const uint64_t widths[] = {1, 2, 4, 8, 16, 32, 64, 5, 10, 100};
    if (!trial->is_guess || trial->b) return try_bins(trial);
    size_t count = sizeof widths / sizeof *widths;
    bool has_base = trial->a->has_range && trial->a->low >= 1;
    for (size_t i = 0; i < (has_base ? 2 * count : count); i++) {
        trial->width = widths[i % count];
        trial->base = i < count ? 0 : (uint64_t)trial->a->low;
        if (try_bins(trial)) return true;
    }
    trial->width = trial->base = 0;
    return false;
}

typedef struct ExpectGroup { /* elements that depend on each other: a row, or a column */
    uint64_t first, count, step;
} ExpectGroup;

/* The weight or bias of element i of a group: each column has its own. */
static long double of_column(const ExpectTrial *trial, const PlanBuffer *all, const ExpectGroup *group,
                             uint64_t i, long double none) {
    uint64_t column = trial->function->by_column ? group->first : i;
    return all && column < all->count ? expect_element(all, column) : none;
}

/* The magnitude of the terms that a normalized element is the sum of. */
static long double weight_of(const ExpectTrial *trial, const ExpectGroup *group, uint64_t i) {
    long double weight = fabsl(of_column(trial, trial->weight, group, i, 1));
    return weight * (trial->weight ? 4 : 1) + fabsl(of_column(trial, trial->bias, group, i, 0));
}

/* Restarts the scan at each flag. */
static void cut_segments(const ExpectTrial *trial, const ExpectGroup *group, long double *values) {
    long double before = 0;
    for (uint64_t i = 0; i < group->count; i++) {
        uint64_t at = group->first + i * group->step;
        if (expect_element(trial->b, at) != 0) before = values[i] - expect_element(trial->a, at);
        values[i] -= before;
    }
}

static void compute_group(const ExpectTrial *trial, const ExpectGroup *group, long double *values) {
    PlanBuffer gathered = {.type = PTX_F64, .count = group->count};
    if (group->step > 1) gathered.bytes = memory_new((size_t)group->count * sizeof(double));
    for (uint64_t i = 0; group->step > 1 && i < group->count; i++)
        plan_element_set(PTX_F64, gathered.bytes, i,
                         (double)expect_element(trial->a, group->first + i * group->step));
    const PlanBuffer *of = group->step > 1 ? &gathered : trial->a;
    trial->function->each(of, group->step > 1 ? 0 : group->first, group->count, trial->epsilon, values);
    if (trial->b) cut_segments(trial, group, values);
    for (uint64_t i = 0; i < group->count; i++)
        values[i] = values[i] * of_column(trial, trial->weight, group, i, 1) +
                    of_column(trial, trial->bias, group, i, 0);
    if (group->step > 1) free(gathered.bytes);
}

static void compare_group(ExpectTrial *trial, const ExpectGroup *group, const long double *values,
                          long double *largest) {
    ExpectRounding rounding = trial->function->rounding;
    bool is_prefix = rounding == EXPECT_OF_SUM_SO_FAR;
    long double magnitude = 0;
    for (uint64_t i = 0; rounding == EXPECT_OF_ALL && i < group->count; i++)
        magnitude += fabsl(expect_element(trial->a, group->first + i * group->step));
    for (uint64_t i = 0; i < group->count && (!trial->is_guess || !i || trial->result.correct); i++) {
        uint64_t at = group->first + i * group->step;
        if (is_prefix) magnitude += fabsl(expect_element(trial->a, at));
        if (rounding == EXPECT_OF_ELEMENT) magnitude = fabsl(values[i]) * 16;
        if (rounding == EXPECT_OF_SCALED) magnitude = fabsl(values[i]) * 16 + weight_of(trial, group, i);
        if (fabsl(values[i]) > *largest) *largest = fabsl(values[i]);
        compare(trial, at, expect_element(trial->out, at), values[i], is_prefix ? i + 1 : group->count,
                magnitude);
    }
}

static bool try_each(ExpectTrial *trial) {
    if (trial->function->has_bins) return try_histogram(trial);
    bool by_column = trial->function->by_column;
    uint64_t columns = trial->columns && trial->columns <= trial->length ? trial->columns : trial->length,
             rows = (trial->length + columns - 1) / columns, groups = by_column ? columns : rows;
    if (trial->out->count < trial->length || columns < 2 || (trial->is_guess && trial->changed.count < 2))
        return false;
    if (by_column && (rows < 2 || rows * columns != trial->length)) return false;
    long double *values = memory_new((size_t)(by_column ? rows : columns) * sizeof *values), largest = 0;
    trial->result = (ExpectResult){0};
    for (uint64_t g = 0; g < groups; g++) {
        uint64_t first = by_column ? 0 : g * columns, left = trial->length - first;
        ExpectGroup group = {first, left < columns ? left : columns, 1};
        if (by_column) group = (ExpectGroup){g, rows, columns};
        if (!may_work(trial, 2 * group.count)) break;
        compute_group(trial, &group, values);
        compare_group(trial, &group, values, &largest);
        if (trial->is_guess && !trial->result.correct) break;
    }
    free(values);
    return trial->result.correct && trial->result.compared == trial->length &&
           is_close_enough(trial, largest);
}

bool expect_is_truncated(const ExpectTrial *trial) {
    const char *name = trial->function->name;
    bool is_place = strstr(name, "arg") != NULL || !strcmp(name, "nonzero");
    return !is_place && !ptx_type_is_float(trial->out->type) &&
           !(is_whole(trial, trial->a) && is_whole(trial, trial->b));
}

bool expect_try(ExpectTrial *trial) {
    trial->partials = 0;
    ExpectShape shape = trial->function->shape;
    return shape == EXPECT_TOTAL  ? expect_try_total(trial)
           : shape == EXPECT_ROWS ? try_rows(trial)
                                  : try_each(trial);
}

void expect_print_name(const ExpectTrial *trial, Text *what) {
    if (trial->carried) text_print(what, "%s[", trial->carried->name);
    text_print(what, "%s(%s", trial->function->name, trial->a->name);
    if (trial->b) text_print(what, ", %s", trial->b->name);
    if (trial->weight) text_print(what, ", %s", trial->weight->name);
    if (trial->bias) text_print(what, ", %s", trial->bias->name);
    bool is_part = trial->length < trial->a->count &&
                   (trial->function->shape == EXPECT_TOTAL || trial->function->has_bins);
    if (is_part) text_print(what, "[0..%" PRIu64 "]", trial->length - 1);
    if (trial->columns && trial->columns < trial->length) text_print(what, ", %" PRIu64, trial->columns);
    if (trial->width > 1 || trial->base) {
        if (trial->columns >= trial->length) text_print(what, ", %" PRIu64, trial->columns);
        text_print(what, ", %" PRIu64, trial->width);
        if (trial->base) text_print(what, ", %" PRIu64, trial->base);
    }
    text_add(what, trial->carried ? ")]" : ")");
}

bool expect_keep(const ExpectTrial *trial, ExpectResult *result, Text *what) {
    *result = trial->result;
    if (trial->run->names_output) text_print(what, "%s = ", trial->out->name);
    expect_print_name(trial, what);
    result->outputs = 1;
    result->function_length = what->length;
    if (trial->partials) text_print(what, " of %" PRIu64 " partial results", trial->partials);
    return true;
}
