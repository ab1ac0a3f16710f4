#include "expect/expect_search.h"

#include <math.h>

enum { MOST_GIVEN = 32 };

static void add_length(uint64_t *lengths, int *count, uint64_t length, uint64_t most) {
    if (length < 2 || length > most || *count == EXPECT_LENGTHS) return;
    for (int i = 0; i < *count; i++)
        if (lengths[i] == length) return;
    lengths[(*count)++] = length;
}

/* The numbers that are arguments of the first launch, as bits. Returns their count. */
static int list_given(const ExpectRun *run, uint64_t given[MOST_GIVEN]) {
    return plan_numbers(&run->done->launches[0], given, MOST_GIVEN);
}

int expect_lengths(const ExpectRun *run, const PlanBuffer *a, uint64_t *lengths) {
    uint64_t given[MOST_GIVEN];
    int count = 0, all = list_given(run, given);
    add_length(lengths, &count, a->count, a->count);
    add_length(lengths, &count, run->n, a->count);
    for (int i = 0; i + 2 < all; i++) { /* matrices, rows and columns */
        uint64_t matrices = given[i], rows = given[i + 1], columns = given[i + 2];
        bool fits =
            matrices > 1 && rows > 1 && columns > 1 && columns <= a->count && rows <= a->count / columns;
        if (fits && matrices <= a->count / columns / rows)
            add_length(lengths, &count, matrices * rows * columns, a->count);
    }
    for (int i = 0; i < all; i++) add_length(lengths, &count, given[i], a->count);
    for (int i = 0; i + 1 < all; i++) { /* rows and columns */
        uint64_t rows = given[i], columns = given[i + 1];
        if (rows > 1 && columns > 1 && rows <= a->count / columns)
            add_length(lengths, &count, rows * columns, a->count);
    }
    for (uint64_t each = 1; each <= 8; each *= 2)
        add_length(lengths, &count, expect_threads(run) * each, a->count);
    for (int i = 0; i < run->number_count; i++) add_length(lengths, &count, run->numbers[i], a->count);
    add_length(lengths, &count, a->count - 1, a->count); /* intervals between points */
    for (int i = 0; i < all && i < 2; i++)               /* x, y, z of that many points, one after another */
        for (uint64_t planes = 2; planes <= 4; planes++)
            if (given[i] <= a->count / planes) add_length(lengths, &count, given[i] * planes, a->count);
    return count;
}

static int columns_of(const ExpectTrial *trial, uint64_t *columns) {
    const ExpectRun *run = trial->run;
    const PlanLaunch *launch = &run->done->launches[0];
    uint64_t length = trial->length, block = launch_volume(launch->block), end = trial->changed.end;
    uint64_t given[MOST_GIVEN];
    int count = 0, all = list_given(run, given);
    if (trial->function->shape == EXPECT_EACH)
        columns[count++] = trial->function->each ? length : trial->out->count;
    for (int i = 0; i < all; i++) add_length(columns, &count, given[i], length);
    for (int i = 0; i < run->number_count && i < 6; i++) add_length(columns, &count, run->numbers[i], length);
    if (end > 1 && length % end == 0) add_length(columns, &count, length / end, length);
    add_length(columns, &count, end, length);
    add_length(columns, &count, length / launch_volume(launch->grid), length);
    add_length(columns, &count, block, length);
    add_length(columns, &count, 2 * block, length);
    add_length(columns, &count, 32, length); /* a warp's width */
    return count;
}

/* Matrices one after another whose rows are folded: in[b][r][c], one matrix for each result. The number of
 * columns is an argument of the kernel, or the product of two neighbouring ones. */
static bool try_matrices(ExpectTrial *trial) {
    uint64_t given[MOST_GIVEN], results = trial->changed.end;
    int all = list_given(trial->run, given);
    if (!trial->function->by_column || trial->function->shape != EXPECT_ROWS || results < 2 ||
        trial->length % results != 0 || trial->length / results < 2)
        return false;
    trial->width = trial->length / results;
    for (int i = 0; i < 2 * all; i++) {
        uint64_t more = i < all ? 1 : i - all + 1 < all ? given[i - all + 1] : 0, one = given[i % all];
        if (!more || one < 1 || one > results / more || results % (one * more) != 0 || one * more == results)
            continue;
        trial->columns = one * more;
        if (trial->columns > 1 && expect_try(trial)) return true;
    }
    trial->width = 0;
    return false;
}

/* Tries the usual epsilon, and those that are arguments of the kernel. */
static bool try_epsilons(ExpectTrial *trial) {
    trial->epsilon = EXPECT_EPSILON;
    if (expect_try(trial)) return true;
    if (!trial->function->takes_weights) return false;
    uint64_t given[MOST_GIVEN];
    for (int i = 0, all = list_given(trial->run, given); i < all; i++) {
        double value = plan_element(given[i] >> 32 ? PTX_F64 : PTX_F32, &given[i], 0);
        if (!(value > 1e-20 && value <= 1) || fabs(value - 1e-5) < 1e-9) continue;
        trial->epsilon = (long double)value;
        if (expect_try(trial)) return true;
    }
    trial->epsilon = EXPECT_EPSILON;
    return false;
}

/* A norm, a variance, ... of integers counts only if the kernel uses floats. */
static bool is_integer_norm(const ExpectTrial *trial) {
    const ExpectFunction *function = trial->function;
    return trial->is_guess && function->is_rounded && function->fold == EXPECT_NO_FOLD &&
           !ptx_type_is_float(trial->out->type) && !strstr(function->name, "mean");
}

static bool try_lengths(ExpectTrial *trial) {
    bool is_total = trial->function->shape == EXPECT_TOTAL;
    if (expect_is_truncated(trial) || is_integer_norm(trial)) return false;
    uint64_t lengths[EXPECT_LENGTHS], columns[EXPECT_LENGTHS];
    int count = expect_lengths(trial->run, trial->a, lengths);
    for (int i = 0; i < count; i++) {
        trial->length = lengths[i];
        trial->columns = 0;
        if (trial->b && trial->b->count < trial->length) continue;
        if (trial->run->takes_most && trial->length < trial->a->count / 2) continue;
        bool is_part = trial->length < trial->a->count && trial->changed.count > 1;
        bool takes_part =
            trial->takes_parts || (trial->is_component && trial->length == expect_threads(trial->run));
        if (is_total && is_part && !takes_part) continue;
        if (is_total && expect_try_total(trial)) return true;
        if (is_total) continue;
        /* A function with a number for each element changes all of them, and no more. */
        uint64_t end = trial->changed.end;
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
        if (i <= 3 && try_matrices(trial)) return true;
    }
    return false;
}

bool expect_is_input(const ExpectRun *run, int index) {
    const PlanBuffer *buffer = &run->filled->buffers[index];
    return buffer->fill != FILL_ZERO && buffer->fill != FILL_VALUE && buffer->count > 1;
}

/* Tries a weight and a bias for each column, among the other inputs. */
static bool try_weights(ExpectTrial *trial) {
    const Plan *filled = trial->run->filled;
    for (int w = 0; w < filled->buffer_count; w++) {
        trial->weight = &filled->buffers[w];
        if (!expect_is_input(trial->run, w) || trial->weight == trial->a) continue;
        trial->bias = NULL;
        if (try_lengths(trial)) return true;
        for (int b = 0; b < filled->buffer_count; b++) {
            trial->bias = &filled->buffers[b];
            if (b == w || !expect_is_input(trial->run, b) || trial->bias == trial->a) continue;
            if (try_lengths(trial)) return true;
        }
    }
    trial->weight = trial->bias = NULL;
    return false;
}

static bool try_inputs(ExpectTrial *trial) {
    const Plan *filled = trial->run->filled;
    for (int i = 0; i < filled->buffer_count; i++) {
        if (!expect_is_input(trial->run, i)) continue;
        trial->a = &filled->buffers[i];
        trial->b = NULL;
        if (trial->function->inputs == 1 && try_lengths(trial)) return true;
        if (trial->function->takes_weights && try_weights(trial)) return true;
        bool has_order = trial->function->has_bins; /* values, and the bins they belong to */
        for (int k = has_order ? 0 : i + 1; trial->function->inputs == 2 && k < filled->buffer_count; k++) {
            if (!expect_is_input(trial->run, k) || k == i) continue;
            trial->b = &filled->buffers[k];
            if (try_lengths(trial)) return true;
        }
    }
    return false;
}

bool expect_search(ExpectTrial *trial, ExpectPass pass) {
    bool has_many = trial->changed.count >= trial->run->n / 2 && trial->changed.count > 1;
    trial->takes_parts = pass == EXPECT_PASS_PARTS;
    for (int i = 0; i < expect_function_count; i++) {
        trial->function = &expect_functions[i];
        bool is_each = trial->function->shape == EXPECT_EACH,
             has_keys =
                 trial->function->has_bins && trial->function->inputs == 2 && trial->run->counts_values,
             comes_first = is_each && (has_many || has_keys);
        bool is_due = pass == EXPECT_PASS_EACH  ? comes_first
                      : pass == EXPECT_PASS_ALL ? !comes_first
                                                : trial->function->shape == EXPECT_TOTAL;
        is_due &= !(is_each && trial->is_component);
        if (is_due && trial->function->is_guessed && try_inputs(trial)) return true;
    }
    return false;
}
