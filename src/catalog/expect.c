/* Reads --expect, or tries one function after another, and compares an output with what the function gives of the inputs as
 * they were before the run. */
#include "catalog/expect.h"

#include "catalog/expect_functions.h"
#include "catalog/expression.h"
#include "catalog/reference.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_LENGTHS = 24, WORK = 1 << 27 };
static const long double usual_epsilon = 1e-5L;

typedef struct Changed { /* what a run changed of a buffer */
    int buffer;
    uint64_t end, count; /* after the last changed element; how many */
} Changed;

typedef struct Trial { /* a function of certain inputs, compared with a certain output */
    const ExpectRun *run;
    const ExpectFunction *function;
    const PlanBuffer *a, *b;
    const PlanBuffer *weight, *bias; /* of each column; NULL: none */
    const PlanBuffer *out;
    long double epsilon;
    uint64_t width; /* of the bins of a histogram; 0: 1 */
    uint64_t base;  /* what the first bin begins with */
    Changed changed;
    uint64_t length;  /* elements of the inputs */
    uint64_t columns; /* of ROWS and EACH */
    bool is_guess;
    bool takes_parts; /* a part of the inputs may be all that one of several results is made of */
    int8_t *whole;    /* [buffer] 1: it has whole numbers only, -1: others, too, 0: not looked at yet */
    uint64_t *work;   /* elements that may still be looked at */
    CatalogResult result;
    uint64_t partials; /* the result is that of so many partial ones; 0: none */
} Trial;

/* ---- what a run changed ------------------------------------------------------------------------------------- */

static Changed changes(const ExpectRun *run, int index) {
    const PlanBuffer *before = &run->filled->buffers[index], *after = &run->done->buffers[index];
    uint64_t bytes = (uint64_t)ptx_type_bytes(before->type);
    Changed changed = {.buffer = index};
    if (run->results && !run->results[index]) return changed; /* an intermediate result */
    for (uint64_t i = 0; i < before->count; i++)
        if (memcmp((const char *)before->bytes + i * bytes, (const char *)after->bytes + i * bytes, bytes) !=
            0) {
            changed.end = i + 1;
            changed.count++;
        }
    return changed;
}

static uint64_t threads_of(const ExpectRun *run) {
    const PlanLaunch *launch = &run->done->launches[0];
    return launch_volume(launch->grid) * launch_volume(launch->block);
}

/* ---- how far off a result may be ---------------------------------------------------------------------------- */

/* Has it whole numbers only? Looked at once. */
static bool is_whole(const Trial *trial, const PlanBuffer *buffer) {
    if (!buffer || !ptx_type_is_float(buffer->type)) return true;
    int8_t *known = &trial->whole[buffer - trial->run->filled->buffers];
    for (uint64_t i = 0; !*known && i < buffer->count; i++) {
        double x = plan_element(buffer->type, buffer->bytes, i);
        if (x != trunc(x)) *known = -1;
    }
    if (!*known) *known = 1;
    return *known > 0;
}

/* Sums of whole numbers are exact, in any order, as long as they fit the significand. Else: additions on the longest way,
 * a share for each thread, a tree over the block, and the atomics one after another; their errors add up like a random walk
 * (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis), with 8 for certainty. */
static double bound_of(const Trial *trial, uint64_t length, long double value, long double magnitude) {
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
    uint64_t threads = threads_of(trial->run),
             atomics = trial->run->atomics < length ? trial->run->atomics : length;
    uint64_t of_thread = length / (threads ? threads : 1);
    double depth = (double)of_thread + 12 + (double)atomics;
    double growth = (depth < 64 ? depth : 8 * sqrt(depth)) + (function->is_rounded ? 4 : 0);
    return growth * roundoff * (double)(magnitude > fabsl(value) ? magnitude : fabsl(value));
}

static long double narrow(const Trial *trial, long double value) {
    return ptx_type_is_float(trial->out->type) ? value : truncl(value);
}

static void compare(Trial *trial, uint64_t index, long double got, long double expected, uint64_t length,
                    long double magnitude) {
    expected = narrow(trial, expected);
    double bound = got == expected ? 0 : bound_of(trial, length, expected, magnitude);
    rows_compare(&trial->result, trial->out->type, index, got, expected, bound);
}

static bool may_work(Trial *trial, uint64_t elements) {
    if (!trial->is_guess) return true;
    if (*trial->work < elements) return false;
    *trial->work -= elements;
    return true;
}

/* ---- one number of all elements ------------------------------------------------------------------------------ */

static long double element(const PlanBuffer *buffer, uint64_t i) {
    return (long double)plan_element(buffer->type, buffer->bytes, i);
}

/* Elements 0, step, 2 step, ... of the output, folded. */
static long double fold_output(const Trial *trial, uint64_t end, uint64_t step) {
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

static bool is_right(Trial *trial, uint64_t index, long double got, long double value,
                     long double magnitude) {
    trial->result = (CatalogResult){0};
    compare(trial, index, got, value, trial->length, magnitude);
    bool is_close = fabs((double)(got - value)) <=
                    1e-3 * fabs((double)value); /* else a wide bound makes anything look like it */
    return trial->result.correct &&
           (!trial->is_guess || got == value || is_close || !ptx_type_is_float(trial->out->type));
}

/* Every extreme of many elements lies on its side of their mean; elements that were only copied do not. */
static bool are_extremes(const Trial *trial, uint64_t end) {
    enum { MANY = 32 };
    long double sum = 0;
    if (!end || trial->length / end < MANY) return true;
    for (uint64_t i = 0; i < trial->length; i++) sum += element(trial->a, i);
    long double mean = sum / (long double)trial->length;
    bool is_max = trial->function->fold == EXPECT_MAX;
    for (uint64_t i = 0; i < end; i++)
        if (is_max ? element(trial->out, i) < mean : element(trial->out, i) > mean) return false;
    return true;
}

/* A kernel that compares nothing may still give the last of ascending elements, or the largest of those that occur many times:
 * that is no maximum, but what is left of a sum that went wrong. */
static bool is_accident(const Trial *trial, long double value) {
    const char *name = trial->function->name;
    bool is_place = !strncmp(name, "arg", 3), is_count = !strcmp(name, "nonzero");
    bool is_extreme = trial->function->fold == EXPECT_MAX || trial->function->fold == EXPECT_MIN;
    uint64_t last = trial->length - 1, times = 0;
    if (!trial->is_guess || trial->run->compares || (!is_place && !is_count && !is_extreme)) return false;
    if (is_place || (is_count && value == (long double)trial->length)) return true;
    if (value == element(trial->a, 0) || value == element(trial->a, last)) return true;
    for (uint64_t i = 0; is_extreme && i < trial->length && times < 2; i++)
        times += element(trial->a, i) == value;
    return times > 1;
}

static bool try_total(Trial *trial) {
    long double magnitude = 0, value;
    const PlanLaunch *launch = &trial->run->done->launches[0];
    uint64_t end = trial->changed.end, blocks = launch_volume(launch->grid),
             block = launch_volume(launch->block);
    if (!may_work(trial, trial->length)) return false;
    value = trial->function->of(trial->a, trial->b, 0, trial->length, 1, &magnitude);
    trial->partials = 0;
    /* Nothing, and what few elements can give in many ways, is found by chance, too. */
    bool is_likely = !strcmp(trial->function->name, "sum") ||
                     (trial->run->float_fold && !strcmp(trial->function->name, trial->run->float_fold));
    is_likely |= trial->b && fabsl(value) >= 256; /* a sum of products has digits enough */
    if (trial->is_guess && (narrow(trial, value) == 0 || (trial->length < 32 && !is_likely))) return false;
    if (is_accident(trial, value)) return false;
    bool is_trivial = trial->is_guess && !end;
    bool is_extreme = trial->function->fold == EXPECT_MAX || trial->function->fold == EXPECT_MIN;
    /* The extreme of a row is that of somewhat more elements, too. */
    bool is_row =
        trial->is_guess && is_extreme && trial->changed.count > 1 && trial->length < trial->a->count;
    if (!is_trivial && !is_row && is_right(trial, 0, element(trial->out, 0), value, magnitude)) return true;
    CatalogResult direct = trial->result;
    /* An extreme of elements that are no partial results would be found by chance. */
    bool has_partials = !is_extreme || !trial->is_guess ||
                        (end <= 2 * blocks && trial->changed.count * 2 >= end && are_extremes(trial, end));
    has_partials &= !trial->is_guess || trial->changed.count * 2 <= trial->length; /* else it is a copy */
    if (trial->function->fold != EXPECT_NO_FOLD && end > 1 && has_partials) {
        trial->partials = end;
        if (is_right(trial, 0, fold_output(trial, end, 1), value, magnitude)) return true;
        CatalogResult folded = trial->result;
        for (uint64_t step = block; blocks > 1 && !is_extreme && step <= 8 * block;
             step *= 2) { /* in place: the first of each */
            if (step < 2 || step * (blocks - 1) >= trial->out->count) continue;
            trial->partials = blocks;
            if (is_right(trial, 0, fold_output(trial, step * (blocks - 1) + 1, step), value, magnitude))
                return true;
        }
        trial->partials = end;
        trial->result = folded;
        if (trial->changed.count > 1 && end <= blocks * 2) return false;
    }
    trial->partials = 0;
    trial->result = direct;
    return false;
}

/* ---- a number of each row, of each element -------------------------------------------------------------------- */

/* A bound may be wide, of few digits, or where many are added: anything would look like the function. */
static bool is_close_enough(const Trial *trial, long double largest) {
    return !trial->is_guess || trial->result.absolute_error <= 0.02 * largest;
}

static bool try_rows(Trial *trial) {
    bool by_column = !strncmp(trial->function->name, "col", 3);
    uint64_t columns = trial->columns, rows = columns ? trial->length / columns : 0;
    uint64_t results = by_column ? columns : rows, count = by_column ? rows : columns;
    if (!rows || rows * columns != trial->length || results > trial->out->count || count < 2) return false;
    if (trial->is_guess && results < 2) return false;
    trial->partials = 0;
    trial->result = (CatalogResult){0};
    long double largest = 0;
    for (uint64_t r = 0; r < results; r++) {
        long double magnitude = 0;
        uint64_t first = by_column ? r : r * columns;
        if (!may_work(trial, count)) return false;
        long double value =
            trial->function->of(trial->a, trial->b, first, count, by_column ? columns : 1, &magnitude);
        compare(trial, r, element(trial->out, r), value, count, magnitude);
        if (fabsl(value) > largest) largest = fabsl(value);
        if (trial->is_guess && !trial->result.correct) return false;
    }
    return trial->result.correct && is_close_enough(trial, largest);
}

static bool try_bins(Trial *trial) {
    uint64_t width = trial->width ? trial->width : 1;
    uint64_t bins =
        trial->columns && trial->columns <= trial->out->count ? trial->columns : trial->out->count;
    if (trial->is_guess && ptx_type_is_float(trial->a->type)) return false;
    if (!may_work(trial, trial->length + bins)) return false;
    uint64_t *counts = memory_new((size_t)bins * sizeof *counts);
    for (uint64_t i = 0; i < trial->length; i++) {
        long double x = element(trial->a, i) - (long double)trial->base;
        if (x >= 0 && x < (long double)bins * (long double)width) counts[(uint64_t)x / width]++;
    }
    trial->result = (CatalogResult){0};
    for (uint64_t i = 0; i < bins; i++)
        compare(trial, i, element(trial->out, i), (long double)counts[i], bins, 0);
    free(counts);
    return trial->result.correct && (!trial->is_guess || trial->changed.count > 1);
}

/* Bins of one value each, else of several. */
static bool try_histogram(Trial *trial) {
    static const uint64_t widths[] = {1, 2, 4, 8, 16, 32, 64, 5, 10, 100};
    if (!trial->is_guess) return try_bins(trial);
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

static void weigh(const Trial *trial, uint64_t count, long double *values) {
    for (uint64_t i = 0; i < count; i++) {
        if (trial->weight && i < trial->weight->count) values[i] *= element(trial->weight, i);
        if (trial->bias && i < trial->bias->count) values[i] += element(trial->bias, i);
    }
}

/* How large the terms are that a normalized element is the sum of. */
static long double weight_of(const Trial *trial, uint64_t i) {
    long double weight = trial->weight ? fabsl(element(trial->weight, i)) : 1;
    return weight * (trial->weight ? 4 : 1) + (trial->bias ? fabsl(element(trial->bias, i)) : 0);
}

static bool try_each(Trial *trial) {
    if (trial->function->has_bins) return try_histogram(trial);
    uint64_t columns = trial->columns && trial->columns <= trial->length ? trial->columns : trial->length;
    if (trial->out->count < trial->length || columns < 2 || (trial->is_guess && trial->changed.count < 2))
        return false;
    long double *values = memory_new((size_t)columns * sizeof *values);
    bool is_scan = strstr(trial->function->name, "scan") != NULL;
    long double largest = 0;
    trial->result = (CatalogResult){0};
    for (uint64_t first = 0; first < trial->length; first += columns) {
        uint64_t count = trial->length - first < columns ? trial->length - first : columns;
        long double magnitude = 0;
        if (!may_work(trial, 2 * count)) break;
        trial->function->each(trial->a, first, count, trial->epsilon, values);
        weigh(trial, count, values);
        for (uint64_t i = 0; i < count && (!trial->is_guess || !i || trial->result.correct); i++) {
            magnitude = is_scan ? magnitude + fabsl(element(trial->a, first + i)) : fabsl(values[i]) * 16;
            if (!is_scan && !strstr(trial->function->name, "soft")) magnitude += weight_of(trial, i);
            if (fabsl(values[i]) > largest) largest = fabsl(values[i]);
            compare(trial, first + i, element(trial->out, first + i), values[i], is_scan ? i + 1 : count,
                    magnitude);
        }
        if (trial->is_guess && !trial->result.correct) break;
    }
    free(values);
    return trial->result.correct && trial->result.compared == trial->length &&
           is_close_enough(trial, largest);
}

/* Integers that would be what is left of floats: found by chance, too. Places and counts of elements are integers. */
static bool is_truncated(const Trial *trial) {
    const char *name = trial->function->name;
    bool is_place = strstr(name, "arg") != NULL || !strcmp(name, "nonzero");
    return !is_place && !ptx_type_is_float(trial->out->type) &&
           !(is_whole(trial, trial->a) && is_whole(trial, trial->b));
}

static bool try_function(Trial *trial) {
    trial->partials = 0;
    ExpectShape shape = trial->function->shape;
    return shape == EXPECT_TOTAL  ? try_total(trial)
           : shape == EXPECT_ROWS ? try_rows(trial)
                                  : try_each(trial);
}

static void print_name(const Trial *trial, Text *what) {
    text_print(what, "%s(%s", trial->function->name, trial->a->name);
    if (trial->b) text_print(what, ", %s", trial->b->name);
    if (trial->weight) text_print(what, ", %s", trial->weight->name);
    if (trial->bias) text_print(what, ", %s", trial->bias->name);
    bool is_part = trial->length < trial->a->count && trial->function->shape == EXPECT_TOTAL;
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

/* ---- by itself ------------------------------------------------------------------------------------------------ */

static void add_length(uint64_t *lengths, int *count, uint64_t length, uint64_t most) {
    if (length < 2 || length > most || *count == MOST_LENGTHS) return;
    for (int i = 0; i < *count; i++)
        if (lengths[i] == length) return;
    lengths[(*count)++] = length;
}

static uint64_t scalar(const PlanLaunch *launch, int argument) {
    uint64_t value;
    return plan_scalar(launch, argument, &value) ? value : 0;
}

/* How many elements the kernel may have looked at: all, n, a number that it was given, some for each thread. */
static int lengths_of(const ExpectRun *run, const PlanBuffer *a, uint64_t *lengths) {
    const PlanLaunch *launch = &run->done->launches[0];
    int count = 0;
    add_length(lengths, &count, a->count, a->count);
    add_length(lengths, &count, run->n, a->count);
    for (int i = 0; i < launch->argument_count; i++) add_length(lengths, &count, scalar(launch, i), a->count);
    for (int i = 0; i + 1 < launch->argument_count; i++) { /* rows and columns */
        uint64_t rows = scalar(launch, i), columns = scalar(launch, i + 1);
        if (rows > 1 && columns > 1 && rows <= a->count / columns)
            add_length(lengths, &count, rows * columns, a->count);
    }
    for (uint64_t each = 1; each <= 8; each *= 2)
        add_length(lengths, &count, threads_of(run) * each, a->count);
    for (int i = 0; i < run->number_count; i++) add_length(lengths, &count, run->numbers[i], a->count);
    return count;
}

static int columns_of(const Trial *trial, uint64_t *columns) {
    const ExpectRun *run = trial->run;
    const PlanLaunch *launch = &run->done->launches[0];
    uint64_t length = trial->length, block = launch_volume(launch->block), end = trial->changed.end;
    int count = 0;
    if (trial->function->shape == EXPECT_EACH)
        columns[count++] = trial->function->each ? length : trial->out->count;
    for (int i = 0; i < launch->argument_count; i++) add_length(columns, &count, scalar(launch, i), length);
    for (int i = 0; i < run->number_count && i < 6; i++) add_length(columns, &count, run->numbers[i], length);
    if (end > 1 && length % end == 0) add_length(columns, &count, length / end, length);
    add_length(columns, &count, end, length);
    add_length(columns, &count, length / launch_volume(launch->grid), length);
    add_length(columns, &count, block, length);
    add_length(columns, &count, 2 * block, length);
    return count;
}

/* With the usual epsilon, and with those that the kernel is given. */
static bool try_epsilons(Trial *trial) {
    const PlanLaunch *launch = &trial->run->done->launches[0];
    trial->epsilon = usual_epsilon;
    if (try_function(trial)) return true;
    if (!trial->function->takes_weights) return false;
    for (int i = 0; i < launch->argument_count; i++) {
        uint64_t bits;
        if (!plan_scalar(launch, i, &bits)) continue;
        double value = plan_element(bits >> 32 ? PTX_F64 : PTX_F32, &bits, 0);
        if (!(value > 1e-20 && value <= 1) || fabs(value - 1e-5) < 1e-9) continue;
        trial->epsilon = (long double)value;
        if (try_function(trial)) return true;
    }
    trial->epsilon = usual_epsilon;
    return false;
}

/* A norm, a variance, ... of integers is one only where the kernel has floats. */
static bool is_integer_norm(const Trial *trial) {
    const ExpectFunction *function = trial->function;
    return trial->is_guess && function->is_rounded && function->fold == EXPECT_NO_FOLD &&
           !ptx_type_is_float(trial->out->type) && !strstr(function->name, "mean");
}

static bool try_lengths(Trial *trial) {
    bool is_total = trial->function->shape == EXPECT_TOTAL;
    if (is_truncated(trial) || is_integer_norm(trial)) return false;
    uint64_t lengths[MOST_LENGTHS], columns[MOST_LENGTHS];
    int count = lengths_of(trial->run, trial->a, lengths);
    for (int i = 0; i < count; i++) {
        trial->length = lengths[i];
        trial->columns = 0;
        if (trial->b && trial->b->count < trial->length) continue;
        if (is_total && !trial->takes_parts && trial->length < trial->a->count && trial->changed.count > 1)
            continue;
        if (is_total && try_total(trial)) return true;
        if (is_total) continue;
        uint64_t end =
            trial->changed.end; /* what gives a number for each element changes all of them, and no more */
        if (trial->function->shape == EXPECT_EACH && trial->function->each &&
            (end > trial->length || end < trial->length - trial->length / 8))
            continue;
        int widths = i > 3 ? 0 : columns_of(trial, columns);
        for (int k = 0; k < widths; k++) {
            trial->columns = columns[k];
            bool fits = (!trial->weight || trial->weight->count >= columns[k]) &&
                        (!trial->bias || trial->bias->count >= columns[k]);
            if (fits && try_epsilons(trial)) return true;
        }
    }
    return false;
}

static bool is_input(const ExpectRun *run, int index) {
    const PlanBuffer *buffer = &run->filled->buffers[index];
    return buffer->fill != FILL_ZERO && buffer->fill != FILL_VALUE && buffer->count > 1;
}

/* A weight and a bias for each column, among the other inputs. */
static bool try_weights(Trial *trial) {
    const Plan *filled = trial->run->filled;
    for (int w = 0; w < filled->buffer_count; w++) {
        trial->weight = &filled->buffers[w];
        if (!is_input(trial->run, w) || trial->weight == trial->a) continue;
        trial->bias = NULL;
        if (try_lengths(trial)) return true;
        for (int b = 0; b < filled->buffer_count; b++) {
            trial->bias = &filled->buffers[b];
            if (b == w || !is_input(trial->run, b) || trial->bias == trial->a) continue;
            if (try_lengths(trial)) return true;
        }
    }
    trial->weight = trial->bias = NULL;
    return false;
}

static bool try_inputs(Trial *trial) {
    const Plan *filled = trial->run->filled;
    for (int i = 0; i < filled->buffer_count; i++) {
        if (!is_input(trial->run, i)) continue;
        trial->a = &filled->buffers[i];
        trial->b = NULL;
        if (trial->function->inputs == 1 && try_lengths(trial)) return true;
        if (trial->function->takes_weights && try_weights(trial)) return true;
        for (int k = i + 1; trial->function->inputs == 2 && k < filled->buffer_count; k++) {
            if (!is_input(trial->run, k)) continue;
            trial->b = &filled->buffers[k];
            if (try_lengths(trial)) return true;
        }
    }
    return false;
}

static bool keep(const Trial *trial, CatalogResult *result, Text *what) {
    *result = trial->result;
    if (trial->run->names_output) text_print(what, "%s = ", trial->out->name);
    print_name(trial, what);
    return true;
}

/* The one input and the one output of a kernel that only folds: what it gives is wrong unless it is the fold. */
static bool find_wrong(Trial *trial, CatalogResult *result, Text *what) {
    const Plan *filled = trial->run->filled;
    const char *name = !strcmp(trial->run->fold, "add") ? "sum" : trial->run->fold;
    int inputs = 0;
    for (int i = 0; i < filled->buffer_count; i++)
        if (is_input(trial->run, i)) {
            inputs++;
            trial->a = &filled->buffers[i];
        }
    if (inputs != 1) return false;
    for (int i = 0; i < expect_function_count; i++)
        if (!strcmp(expect_functions[i].name, name)) trial->function = &expect_functions[i];
    uint64_t lengths[MOST_LENGTHS];
    lengths_of(trial->run, trial->a, lengths);
    trial->b = NULL;
    trial->length = lengths[0];
    trial->columns = 0;
    trial->is_guess = false;
    trial->takes_parts = true;
    bool is_right = try_total(trial); /* of more elements than may be looked at without a reason */
    trial->result.correct = is_right;
    return keep(trial, result, what);
}

/* Functions that give as many numbers as there are elements come first where so many changed: they leave little to chance.
 * Those of a part of the inputs come last. */
static bool try_functions(Trial *trial) {
    bool has_many = trial->changed.count >= trial->run->n / 2 && trial->changed.count > 1;
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < expect_function_count; i++) {
            trial->function = &expect_functions[i];
            bool is_each = trial->function->shape == EXPECT_EACH,
                 is_total = trial->function->shape == EXPECT_TOTAL;
            bool is_due = pass == 0 ? has_many && is_each : pass == 1 ? !(has_many && is_each) : is_total;
            trial->takes_parts = pass == 2;
            if (is_due && trial->function->is_guessed && try_inputs(trial)) return true;
        }
    return false;
}

bool expect_find(const ExpectRun *run, CatalogResult *result, Text *what) {
    uint64_t work = run->is_trial ? WORK / 8 : WORK;
    int8_t *whole = memory_new((size_t)run->filled->buffer_count + 1);
    Trial trial = {.run = run, .is_guess = true, .whole = whole, .work = &work, .epsilon = usual_epsilon},
          last = {0};
    bool found = false;
    int outputs = 0, arguments = run->done->buffer_count - run->variables;
    for (int k = 0; k < run->done->buffer_count && !found; k++) {
        int i = k < arguments ? arguments - 1 - k : k; /* outputs follow inputs; then variables */
        Changed changed = changes(run, i);
        if (!changed.count) continue;
        trial.changed = changed;
        trial.out = &run->done->buffers[i];
        found = try_functions(&trial);
        if (found) keep(&trial, result, what);
        outputs++;
        last = trial;
    }
    const PlanLaunch *launch = &run->done->launches[0];
    bool is_fold = !found && outputs == 1 && run->fold && last.changed.end <= launch_volume(launch->grid);
    if (is_fold) found = find_wrong(&last, result, what);
    free(whole);
    return found;
}

/* ---- as said --------------------------------------------------------------------------------------------------- */

typedef struct Said {               /* --expect, read */
    const ExpectFunction *function; /* NULL: a file */
    int out, a, b, weight, bias;    /* buffers; -1: not named */
    uint64_t columns, width, base;
    char path[512];
} Said;

static bool no_buffer(const Plan *plan, const char *name, size_t length, Error *error) {
    Text names = {0};
    for (int i = 0; i < plan->buffer_count; i++)
        text_print(&names, "%s%s", i ? ", " : "", plan->buffers[i].name);
    error_set(error, "--expect: no buffer '%.*s'; there are: %.200s", (int)(length > 60 ? 60 : length), name,
              text_string(&names));
    text_done(&names);
    return false;
}

static bool read_function(const char *at, size_t length, const ExpectFunction **function, Error *error) {
    Text names = {0};
    for (int i = 0; i < expect_function_count; i++) {
        const char *name = expect_functions[i].name;
        if (strlen(name) == length && !memcmp(name, at, length)) *function = &expect_functions[i];
        text_print(&names, "%s%s", i ? ", " : "", name);
    }
    if (!*function)
        error_set(error, "--expect: '%.*s' is none of %s, file:PATH", (int)(length > 40 ? 40 : length), at,
                  text_string(&names));
    text_done(&names);
    return *function != NULL;
}

static const char *skip_name(const char *at) {
    while (isalnum((unsigned char)*at) || *at == '_') at++;
    return at;
}

static bool read_arguments(const char *at, const Plan *plan, const ExpectRun *run, Said *said, Error *error) {
    int weights = 0;
    for (int item = 0; *at != ')'; item++) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",)");
        size_t used = length;
        while (used && at[used - 1] == ' ') used--;
        if (!at[length]) return error_set(error, "--expect: ')' is missing");
        if (item < said->function->inputs) {
            int *input = item ? &said->b : &said->a;
            *input = plan_find_buffer(plan, at, used);
            if (*input < 0) return no_buffer(plan, at, used, error);
        } else if (said->function->takes_weights && said->bias < 0 && plan_find_buffer(plan, at, used) >= 0) {
            *(said->weight < 0 ? &said->weight : &said->bias) = plan_find_buffer(plan, at, used);
            weights++;
        } else {
            const PlanLaunch *launch = &plan->launches[0];
            ExpressionName names[] = {{"n", expression_integer(run ? (int64_t)run->n : 1)},
                                      {"block", expression_integer((int64_t)launch_volume(launch->block))},
                                      {"grid", expression_integer((int64_t)launch_volume(launch->grid))}};
            ExpressionValue value;
            Error inner = {0};
            int number = item - said->function->inputs - weights, most = said->function->has_bins ? 3 : 1;
            if (number >= most || !said->function->takes_columns)
                return error_set(error, "--expect: %s takes fewer arguments", said->function->name);
            if (!expression_evaluate(at, used, names, 3, &value, &inner))
                return error_set(error, "--expect: %s", inner.message);
            if (value.is_float || value.integer < 1)
                return error_set(error, "--expect: '%.*s' is not a whole number from 1 on", (int)used, at);
            *(number > 1 ? &said->base : number ? &said->width : &said->columns) = (uint64_t)value.integer;
        }
        at += length + (at[length] == ',');
    }
    bool has_all = said->a >= 0 && (said->function->inputs < 2 || said->b >= 0);
    if (!has_all)
        return error_set(error, "--expect: %s needs %d buffer%s", said->function->name,
                         said->function->inputs, said->function->inputs == 1 ? "" : "s");
    bool needs_columns = said->function->shape == EXPECT_ROWS && !said->columns;
    if (needs_columns)
        return error_set(error, "--expect: %s needs the number of columns: %s(%s, 1024)",
                         said->function->name, said->function->name, plan->buffers[said->a].name);
    at += 1 + strspn(at + 1, " ");
    return !*at || error_set(error, "--expect: '%.60s' follows ')'", at);
}

static bool read_said(const char *text, const Plan *plan, const ExpectRun *run, Said *said, Error *error) {
    for (const char *c = text; *c; c++) /* messages quote it, in one line */
        if ((unsigned char)*c < ' ')
            return error_set(error, "--expect: a control character (0x%02x) in its text", (unsigned char)*c);
    const char *at = text + strspn(text, " "), *end = skip_name(at);
    *said = (Said){.out = -1, .a = -1, .b = -1, .weight = -1, .bias = -1};
    const char *equal = end + strspn(end, " ");
    if (*equal == '=') {
        said->out = plan_find_buffer(plan, at, (size_t)(end - at));
        if (said->out < 0) return no_buffer(plan, at, (size_t)(end - at), error);
        at = equal + 1 + strspn(equal + 1, " ");
    }
    if (!strncmp(at, "file:", 5)) {
        snprintf(said->path, sizeof said->path, "%s", at + 5);
        return *said->path || error_set(error, "--expect: a path follows file:");
    }
    end = skip_name(at);
    if (!read_function(at, (size_t)(end - at), &said->function, error)) return false;
    if (*end != '(') return error_set(error, "--expect: write %s(BUFFER)", said->function->name);
    return read_arguments(end + 1, plan, run, said, error);
}

bool expect_read(const char *expectation, const Plan *plan, Error *error) {
    Said said = {.out = -1};
    return read_said(expectation, plan, NULL, &said, error);
}

/* The last buffer that was changed and is none of the inputs. */
static int default_output(const ExpectRun *run, const Said *said) {
    int found = -1;
    int arguments = run->done->buffer_count - run->variables;
    for (int i = 0; i < run->done->buffer_count && (i < arguments || found < 0); i++)
        if (i != said->a && i != said->b && changes(run, i).count) found = i;
    if (found < 0 && said->a >= 0 && changes(run, said->a).count) return said->a;
    for (int i = 0; found < 0 && i < run->done->buffer_count; i++)
        if (i != said->a && i != said->b) found = i;
    return found < 0 ? 0 : found;
}

static bool compare_file(const ExpectRun *run, const Said *said, int out, CatalogResult *result, Text *what,
                         Error *error) {
    const PlanBuffer *done = &run->done->buffers[out];
    size_t bytes = (size_t)done->count * (size_t)ptx_type_bytes(done->type), length;
    char *expected;
    if (!text_read_file(said->path, bytes + 1, &expected, &length, error)) return false;
    uint64_t count = length / (uint64_t)ptx_type_bytes(done->type);
    *result = (CatalogResult){0};
    for (uint64_t i = 0; i < count && i < done->count; i++) {
        long double wanted = (long double)plan_element(done->type, expected, i);
        double bound =
            ptx_type_is_float(done->type) ? 64 * reference_roundoff(done->type) * fabs((double)wanted) : 0;
        rows_compare(result, done->type, i, element(done, i), wanted, bound);
    }
    free(expected);
    text_print(what, "%s", said->path);
    return count > 0 || error_set(error, "--expect: %s holds no element", said->path);
}

bool expect_compare(const char *expectation, const ExpectRun *run, CatalogResult *result, Text *what,
                    Error *error) {
    Said said = {.out = -1};
    if (!read_said(expectation, run->filled, run, &said, error)) return false;
    int out = said.out >= 0 ? said.out : default_output(run, &said);
    if (!said.function) return compare_file(run, &said, out, result, what, error);
    Trial trial = {.run = run,
                   .function = said.function,
                   .a = &run->filled->buffers[said.a],
                   .b = said.b < 0 ? NULL : &run->filled->buffers[said.b],
                   .out = &run->done->buffers[out],
                   .changed = changes(run, out),
                   .whole = memory_new((size_t)run->filled->buffer_count + 1),
                   .columns = said.columns,
                   .width = said.width,
                   .base = said.base,
                   .weight = said.weight < 0 ? NULL : &run->filled->buffers[said.weight],
                   .bias = said.bias < 0 ? NULL : &run->filled->buffers[said.bias],
                   .epsilon = usual_epsilon};
    assert(trial.a);
    trial.length = trial.b && trial.b->count < trial.a->count ? trial.b->count : trial.a->count;
    bool is_right = try_function(&trial);
    free(trial.whole);
    if (!trial.result.compared)
        return error_set(error, "--expect: %s does not have as many elements as %s gives of %s",
                         trial.out->name, said.function->name, trial.a->name);
    trial.result.correct = is_right;
    return keep(&trial, result, what);
}
