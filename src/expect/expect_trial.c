#include "expect/expect_trial.h"

#include "expect/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static uint64_t count_threads(const ExpectRun *run) {
    const PlanLaunch *launch = &run->done->launches[0];
    return launch_volume(launch->grid) * launch_volume(launch->block);
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

/* The type in which the run adds; where no instruction says so, as most kernels do. */
static PtxType sums_of(const ExpectTrial *trial) {
    PtxType sums = trial->run->arithmetic.sums;
    return sums ? sums : trial->out->type == PTX_F64 ? PTX_F64 : PTX_F32;
}

/* The most additions behind one another in a sum of `length` terms: those of a warp, then an atomic for each
 * other sum. A sum of n terms has n - 1, in any order. */
static double depth_of(const ExpectTrial *trial, uint64_t length) {
    const Arithmetic *known = &trial->run->arithmetic;
    uint64_t threads = count_threads(trial->run), depth = known->depth;
    if (!depth) depth = length / (threads ? threads : 1) + 12;
    if (trial->function->shape == EXPECT_EACH) depth += launch_volume(trial->run->done->launches[0].grid);
    depth += known->atomics < length ? known->atomics : length;
    return (double)(depth < length ? depth : length);
}

/* The relative error of that many additions: depth * u at most (Higham, Accuracy and Stability of Numerical
 * Algorithms, 4.2). Of very many in a wide type the errors add up like a random walk (Higham and Mary, A New
 * Approach to Probabilistic Rounding Error Analysis), with 8 for certainty. */
static double error_of_sum(double depth, PtxType type) {
    const double may_drift = 0x1p-7; /* until here no rounding is taken for random: equal terms drift */
    double u = reference_roundoff(type), worst = depth * u, likely = 8 * sqrt(depth) * u;
    bool is_wide = type == PTX_F32 || type == PTX_F64;
    if (!is_wide || worst <= may_drift) return worst;
    return fmin(worst, fmax(likely, may_drift));
}

/* Roundings of terms, functions and quotients on the way to a result, each within two units of its type. */
enum { TERM_ROUNDINGS = 3, FUNCTION_ROUNDINGS = 12 };

/* The error of a value that is rounded once more to a narrow type on its way: as a term, or as a partial
 * result. */
static double error_of_terms(const ExpectTrial *trial) {
    const Arithmetic *known = &trial->run->arithmetic;
    double u = known->terms ? reference_roundoff(known->terms) : 0;
    bool has_each = trial->function->shape == EXPECT_EACH; /* a result may be what its place held before */
    if (known->stores > (has_each ? trial->length : trial->changed.count))
        u = fmax(u, reference_roundoff(known->stored));
    if (trial->partials) u = fmax(u, reference_roundoff(trial->out->type));
    return u;
}

/* Sums of whole numbers are exact, in any order, as long as they fit the significand. */
static bool is_exact(const ExpectTrial *trial, long double magnitude) {
    double u = fmax(reference_roundoff(sums_of(trial)), error_of_terms(trial));
    return trial->function->error == EXPECT_OF_SUM && magnitude * u <= 1 && is_whole(trial, trial->a) &&
           is_whole(trial, trial->b);
}

/* The narrowest type that a value passes through, if it is narrower than the inputs; NO_TYPE: none. */
static PtxType narrowest_of(const ExpectTrial *trial) {
    const Arithmetic *known = &trial->run->arithmetic;
    PtxType type = known->terms ? known->terms : known->sums;
    bool is_narrower = type && ptx_type_is_float(trial->a->type) &&
                       reference_roundoff(type) > reference_roundoff(trial->a->type);
    return is_narrower ? type : PTX_NO_TYPE;
}

/* What the run's arithmetic may be off by, before the result is rounded to the type of the output. */
static double error_of_arithmetic(const ExpectTrial *trial, uint64_t length, long double value,
                                  long double magnitude) {
    const ExpectFunction *function = trial->function;
    PtxType sums = sums_of(trial), narrowest = narrowest_of(trial);
    if (magnitude < fabsl(value)) magnitude = fabsl(value);
    if (function->error == EXPECT_EXACT)
        return narrowest && magnitude > 0 ? reference_roundoff(narrowest) * (double)magnitude : 0;
    if (is_exact(trial, magnitude)) return 0;
    bool has_functions = function->error == EXPECT_OF_ROUNDINGS || trial->weight || trial->bias;
    double few = has_functions ? FUNCTION_ROUNDINGS : TERM_ROUNDINGS,
           depth = function->error == EXPECT_OF_PRODUCT ? (double)length : depth_of(trial, length);
    double relative = error_of_sum(depth, sums) + few * reference_roundoff(sums);
    relative += few * error_of_terms(trial);
    double smallest = sums == PTX_F64 ? 0x1p-1022 : sums == PTX_F16 ? 0x1p-24 : 0x1p-126; /* .ftz */
    return relative * (double)magnitude + smallest;
}

static double largest_of(PtxType type) {
    return type == PTX_F16    ? 0x1.ffcp15
           : type == PTX_BF16 ? 0x1.fep127
           : type == PTX_F32  ? 0x1.fffffep127
                              : 0x1.fffffffffffffp1023;
}

static double bound_of(const ExpectTrial *trial, uint64_t length, long double value, long double magnitude) {
    PtxType type = trial->out->type;
    uint8_t nearest[8];
    if (!ptx_type_is_float(type)) return 0;
    double bound = error_of_arithmetic(trial, length, value, magnitude);
    plan_element_set(type, nearest, 0, (double)value);
    if (bound == 0 && (long double)plan_element(type, nearest, 0) == value) return 0;
    double least = type == PTX_F16 ? 0x1p-25 : type == PTX_F64 ? 0x1p-1022 : 0x1p-126;
    return bound + reference_roundoff(type) * ((double)fabsl(value) + bound) + least;
}

static long double narrow(const ExpectTrial *trial, long double value) {
    return ptx_type_is_float(trial->out->type) ? value : truncl(value);
}

static void compare(ExpectTrial *trial, uint64_t index, long double got, long double expected,
                    uint64_t length, long double magnitude) {
    PtxType type = trial->out->type;
    expected = narrow(trial, expected);
    double bound = bound_of(trial, length, expected, magnitude);
    bool overflows = ptx_type_is_float(type) && isfinite(expected) && fabsl(got) >= largest_of(type) &&
                     fabsl(expected) + bound >= largest_of(type);
    if (overflows && signbit(got) == signbit(expected)) expected = got;
    trial->expected += fabsl(expected);
    trial->allowed += bound;
    reference_judge(&trial->result, type, index, got, expected, bound);
}

/* ---- one number of all elements ------------------------------------------------------------------------ */

static long double element(const PlanBuffer *buffer, uint64_t i) {
    return (long double)plan_element(buffer->type, buffer->bytes, i);
}

/* Folds elements 0, step, 2 step, ... of the output. */
static long double fold_output(const ExpectTrial *trial, uint64_t end, uint64_t step) {
    ExpectFold fold = trial->function->fold;
    long double result = fold == EXPECT_SUM ? 0 : element(trial->out, 0);
    for (uint64_t i = 0; i < end; i += step) {
        long double x = element(trial->out, i);
        if (fold == EXPECT_SUM)
            result += x;
        else if (fold == EXPECT_MAX ? x > result : x < result)
            result = x;
    }
    return result;
}

static void begin(ExpectTrial *trial) {
    trial->result = (ExpectResult){0};
    trial->expected = trial->allowed = 0;
    trial->ties = 0;
}

/* argmax_any: of several equal extremes each is right. `got`, `value`: indices in the elements from
 * `first`. */
static long double of_ties(ExpectTrial *trial, long double got, long double value, uint64_t first,
                           uint64_t count, uint64_t step) {
    const char *name = trial->function->name;
    if (!strstr(name, "arg") || got == value || !(got >= 0 && got < (long double)count) || got != truncl(got))
        return value;
    bool is_tie =
        element(trial->a, first + (uint64_t)got * step) == element(trial->a, first + (uint64_t)value * step);
    bool takes_any = strstr(name, "_any") != NULL;
    if (is_tie && !takes_any) trial->ties++;
    return is_tie && takes_any ? got : value;
}

static bool is_right(ExpectTrial *trial, long double got, long double value, long double magnitude) {
    begin(trial);
    compare(trial, 0, got, of_ties(trial, got, value, 0, trial->length, 1), trial->length, magnitude);
    return trial->result.correct;
}

/* True if the output has a value of each block, or of each warp: then no single one is the result, even where
 * the others happen to be none. In an input, and in memory of all threads, the others are leftovers; equal
 * ones are the result, in many copies. */
static bool has_parts(const ExpectTrial *trial) {
    const PlanBuffer *filled = &trial->run->filled->buffers[trial->changed.buffer];
    bool is_own = filled->fill == FILL_ZERO || filled->fill == FILL_VALUE || filled->fill == FILL_UNWRITTEN;
    uint64_t bytes = (uint64_t)ptx_type_bytes(trial->out->type),
             warps = (count_threads(trial->run) + 31) / 32;
    const char *all = trial->out->bytes;
    if (!is_own || trial->changed.count < 2 || trial->changed.end > warps) return false;
    for (uint64_t i = 1; i < trial->changed.end; i++)
        if (memcmp(all, all + i * bytes, bytes) != 0) return true;
    return false;
}

/* The fold of the whole output, also of elements that the run did not write. */
static bool try_all(ExpectTrial *trial) {
    long double magnitude = 0,
                value = trial->function->of(trial->a, trial->b, 0, trial->length, 1, &magnitude);
    trial->partials = trial->out->count;
    return is_right(trial, fold_output(trial, trial->out->count, 1), value, magnitude);
}

/* Element 0 of the output, else the fold of all that changed, or of one element of each block's, in place. */
static bool try_total(ExpectTrial *trial) {
    if (trial->of_all) return try_all(trial);
    const PlanLaunch *launch = &trial->run->done->launches[0];
    uint64_t end = trial->changed.end, blocks = launch_volume(launch->grid),
             block = launch_volume(launch->block);
    bool is_extreme = trial->function->fold == EXPECT_MAX || trial->function->fold == EXPECT_MIN;
    long double magnitude = 0,
                value = trial->function->of(trial->a, trial->b, 0, trial->length, 1, &magnitude);
    bool has_fold = trial->function->fold != EXPECT_NO_FOLD,
         is_parts = has_fold && !is_extreme && has_parts(trial);
    if (is_right(trial, element(trial->out, 0), value, magnitude) && !is_parts) return true;
    ExpectResult direct = trial->result;
    if (has_fold && end > 1) {
        trial->partials = end;
        if (is_right(trial, fold_output(trial, end, 1), value, magnitude)) return true;
        ExpectResult folded = trial->result;
        for (uint64_t step = block; blocks > 1 && !is_extreme && !is_parts && step <= 8 * block; step *= 2) {
            if (step < 2 || step * (blocks - 1) >= trial->out->count) continue;
            trial->partials = blocks;
            if (is_right(trial, fold_output(trial, step * (blocks - 1) + 1, step), value, magnitude))
                return true;
        }
        trial->partials = end;
        trial->result = folded;
        if (is_parts || (trial->changed.count > 1 && end <= blocks * 2)) return false;
    }
    trial->partials = 0;
    trial->result = direct;
    return false;
}

/* ---- a number of each row, of each element ------------------------------------------------------------- */

/* BUFFER[]=: every element is the result of a row, and the last row may be shorter. */
static bool try_every_row(ExpectTrial *trial) {
    uint64_t columns = trial->columns, results = columns ? (trial->length + columns - 1) / columns : 0;
    if (!results || results != trial->out->count) return false;
    for (uint64_t r = 0; r < results; r++) {
        long double magnitude = 0;
        uint64_t first = r * columns, left = trial->length - first, count = left < columns ? left : columns;
        long double value = trial->function->of(trial->a, trial->b, first, count, 1, &magnitude),
                    got = element(trial->out, r);
        compare(trial, r, got, of_ties(trial, got, value, first, count, 1), count, magnitude);
    }
    return trial->result.correct;
}

/* For columns, `width` is the number of rows of each matrix if the input has several. */
static bool try_rows(ExpectTrial *trial) {
    bool by_column = trial->function->by_column;
    if (trial->of_all) return try_every_row(trial);
    uint64_t columns = trial->columns, rows = columns ? trial->length / columns : 0;
    uint64_t matrix = by_column && trial->width ? trial->width : rows;
    uint64_t count = by_column ? matrix : columns, results = count ? trial->length / count : 0;
    if (!rows || rows * columns != trial->length || rows % matrix != 0) return false;
    if (results > trial->out->count || count < 2) return false;
    for (uint64_t r = 0; r < results; r++) {
        long double magnitude = 0;
        uint64_t first = by_column ? r / columns * columns * matrix + r % columns : r * columns;
        uint64_t step = by_column ? columns : 1;
        long double value = trial->function->of(trial->a, trial->b, first, count, step, &magnitude),
                    got = element(trial->out, r);
        compare(trial, r, got, of_ties(trial, got, value, first, count, step), count, magnitude);
    }
    return trial->result.correct;
}

/* Counts the elements of each bin; with two inputs, sums those of the first, by the bins of the second. */
static bool try_bins(ExpectTrial *trial) {
    uint64_t width = trial->width ? trial->width : 1;
    uint64_t bins =
        trial->columns && trial->columns <= trial->out->count ? trial->columns : trial->out->count;
    const PlanBuffer *keys = trial->b ? trial->b : trial->a;
    uint64_t *counts = memory_new((size_t)bins * sizeof *counts);
    long double *sums = memory_new((size_t)bins * sizeof *sums),
                *magnitudes = memory_new((size_t)bins * sizeof *magnitudes);
    for (uint64_t i = 0; i < trial->length; i++) {
        long double x = element(keys, i) - (long double)trial->base;
        if (x < 0 || x >= (long double)bins * (long double)width) continue;
        uint64_t bin = (uint64_t)x / width;
        long double value = trial->b ? element(trial->a, i) : 1;
        counts[bin]++;
        sums[bin] += value;
        magnitudes[bin] += trial->b ? fabsl(value) : 0;
    }
    for (uint64_t i = 0; i < bins; i++) {
        compare(trial, i, element(trial->out, i), sums[i], trial->b ? counts[i] : bins, magnitudes[i]);
    }
    free(magnitudes);
    free(sums);
    free(counts);
    return trial->result.correct;
}

typedef struct ExpectGroup { /* elements that depend on each other: a row, or a column */
    uint64_t first, count, step;
} ExpectGroup;

/* The weight or bias of element i of a group: each column has its own. */
static long double of_column(const ExpectTrial *trial, const PlanBuffer *all, const ExpectGroup *group,
                             uint64_t i, long double none) {
    uint64_t column = trial->function->by_column ? group->first : i;
    return all && column < all->count ? element(all, column) : none;
}

typedef struct ExpectValues { /* [count] of a group */
    long double *values, *magnitudes;
} ExpectValues;

/* Restarts the scan at each flag. */
static void cut_segments(const ExpectTrial *trial, const ExpectGroup *group, const ExpectValues *of) {
    long double value = 0, magnitude = 0;
    for (uint64_t i = 0; i < group->count; i++) {
        uint64_t at = group->first + i * group->step;
        long double x = element(trial->a, at);
        bool restarts = element(trial->b, at) != 0;
        of->values[i] = value = (restarts ? 0 : value) + x;
        of->magnitudes[i] = magnitude = (restarts ? 0 : magnitude) + fabsl(x);
    }
}

static void compute_group(const ExpectTrial *trial, const ExpectGroup *group, const ExpectValues *of) {
    PlanBuffer gathered = {.type = PTX_F64, .count = group->count};
    if (group->step > 1) gathered.bytes = memory_new((size_t)group->count * sizeof(double));
    for (uint64_t i = 0; group->step > 1 && i < group->count; i++)
        plan_element_set(PTX_F64, gathered.bytes, i,
                         (double)element(trial->a, group->first + i * group->step));
    const PlanBuffer *from = group->step > 1 ? &gathered : trial->a;
    trial->function->each(from, group->step > 1 ? 0 : group->first, group->count, trial->epsilon, of->values,
                          of->magnitudes);
    if (trial->b) cut_segments(trial, group, of);
    for (uint64_t i = 0; i < group->count; i++) {
        long double weight = of_column(trial, trial->weight, group, i, 1),
                    bias = of_column(trial, trial->bias, group, i, 0);
        of->values[i] = of->values[i] * weight + bias;
        of->magnitudes[i] = of->magnitudes[i] * fabsl(weight) + fabsl(bias);
    }
    if (group->step > 1) free(gathered.bytes);
}

/* Probabilities of a group add up to 1, whatever the error of the exponentials, which are also in the
 * divisor: only the roundings of the sum and of the quotients are left, and, where the divisor is subtracted
 * as a logarithm, those of the exponent. */
static void compare_total(ExpectTrial *trial, const ExpectGroup *group, const ExpectValues *of) {
    long double total = 0, expected = 0, farthest = 0, most = 0;
    uint64_t at = 0;
    for (uint64_t i = 0; i < group->count; i++) {
        long double got = element(trial->out, group->first + i * group->step),
                    off = fabsl(got - of->values[i]);
        total += got;
        expected += of->values[i];
        most = fmaxl(most, fabsl(element(trial->a, group->first + i * group->step)));
        if (off <= farthest) continue;
        farthest = off;
        at = i;
    }
    if (!isfinite(total) || !isfinite(expected) || !isfinite(most)) return;
    double u = fmax(reference_roundoff(sums_of(trial)), error_of_terms(trial)),
           units = depth_of(trial, group->count) + FUNCTION_ROUNDINGS +
                   2 * ((double)most + log((double)group->count)),
           bound = units * u + reference_roundoff(trial->out->type) +
                   (trial->out->type == PTX_F16 ? 0x1p-25 * (double)group->count : 0);
    if (fabsl(total - expected) <= bound) return;
    uint64_t index = group->first + at * group->step;
    reference_judge(&trial->result, trial->out->type, index, element(trial->out, index), of->values[at],
                    bound * (double)of->values[at]);
    trial->result.correct = false;
}

static bool try_each(ExpectTrial *trial) {
    if (trial->function->has_bins) return try_bins(trial);
    bool by_column = trial->function->by_column;
    uint64_t columns = trial->columns && trial->columns <= trial->length ? trial->columns : trial->length,
             rows = (trial->length + columns - 1) / columns, groups = by_column ? columns : rows;
    if (trial->out->count < trial->length || columns < 2) return false;
    if (by_column && (rows < 2 || rows * columns != trial->length)) return false;
    size_t most = (size_t)(by_column ? rows : columns);
    ExpectValues of = {memory_new(most * sizeof *of.values), memory_new(most * sizeof *of.magnitudes)};
    for (uint64_t g = 0; g < groups; g++) {
        uint64_t first = by_column ? 0 : g * columns, left = trial->length - first;
        ExpectGroup group = {first, left < columns ? left : columns, 1};
        if (by_column) group = (ExpectGroup){g, rows, columns};
        compute_group(trial, &group, &of);
        for (uint64_t i = 0; i < group.count; i++) {
            uint64_t at = group.first + i * group.step;
            compare(trial, at, element(trial->out, at), of.values[i], group.count, of.magnitudes[i]);
        }
        bool adds_to_one =
            !strcmp(trial->function->name, "softmax") || !strcmp(trial->function->name, "colsoftmax");
        if (adds_to_one && trial->result.correct) compare_total(trial, &group, &of);
    }
    free(of.magnitudes);
    free(of.values);
    return trial->result.correct && trial->result.compared >= trial->length;
}

static bool try_shape(ExpectTrial *trial) {
    trial->partials = 0;
    begin(trial);
    ExpectShape shape = trial->function->shape;
    return shape == EXPECT_TOTAL  ? try_total(trial)
           : shape == EXPECT_ROWS ? try_rows(trial)
                                  : try_each(trial);
}

/* The divisors of frameworks have one of these; the first, where none is right. */
static const long double epsilons[] = {1e-5L, 1e-6L, 1e-8L, 1e-12L, 0};

bool expect_try(ExpectTrial *trial) {
    size_t count = trial->function->takes_weights ? sizeof epsilons / sizeof *epsilons : 1;
    for (size_t i = 0; i < count; i++) {
        trial->epsilon = epsilons[i];
        if (try_shape(trial)) return true;
    }
    trial->epsilon = epsilons[0];
    return try_shape(trial);
}

bool expect_is_judged(const ExpectTrial *trial) {
    return trial->result.absolute_error == 0 || trial->allowed < trial->expected / 2;
}

void expect_print_name(const ExpectTrial *trial, Text *what) {
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
    text_add(what, ")");
    if (trial->partials) text_print(what, " of %" PRIu64 " partial results", trial->partials);
}
