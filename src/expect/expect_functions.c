#include "expect/expect_functions.h"

#include <math.h>
#include <string.h>

typedef long double HostReal;

static HostReal at(const PlanBuffer *buffer, uint64_t i) {
    return (HostReal)plan_element(buffer->type, buffer->bytes, i);
}

/* NOLINTBEGIN(readability-non-const-parameter): all functions share one signature, and some ignore parts of
 * it */
#define FUNCTION(NAME)                                                                                       \
    static HostReal NAME(const PlanBuffer *a, const PlanBuffer *b, uint64_t first, uint64_t count,           \
                         uint64_t step, HostReal *magnitude)
#define EACH(I)  for (uint64_t k = 0, I = first; k < count; k++, I += step)
#define UNUSED_B (void)b

FUNCTION(sum) {
    HostReal result = 0;
    UNUSED_B;
    EACH(i) {
        HostReal x = at(a, i);
        result += x;
        *magnitude += fabsl(x);
    }
    return result;
}

FUNCTION(sum_of_squares) {
    HostReal result = 0;
    UNUSED_B;
    EACH(i) {
        HostReal x = at(a, i);
        result += x * x;
    }
    *magnitude += result;
    return result;
}

FUNCTION(sum_of_cubes) {
    HostReal result = 0;
    UNUSED_B;
    EACH(i) {
        HostReal x = at(a, i);
        result += x * x * x;
        *magnitude += fabsl(x * x * x);
    }
    return result;
}

FUNCTION(sum_of_absolutes) {
    HostReal result = 0;
    UNUSED_B;
    EACH(i) result += fabsl(at(a, i));
    *magnitude += result;
    return result;
}

FUNCTION(norm) {
    HostReal of = 0, result = sqrtl(sum_of_squares(a, b, first, count, step, &of));
    *magnitude += result;
    return result;
}

FUNCTION(mean) {
    HostReal of = 0, result = sum(a, b, first, count, step, &of) / (HostReal)count;
    *magnitude += of / (HostReal)count;
    return result;
}

/* A kernel may subtract the square of the mean from the mean of the squares. */
FUNCTION(variance) {
    HostReal of = 0, average = mean(a, b, first, count, step, &of), result = 0;
    EACH(i) {
        HostReal x = at(a, i) - average;
        result += x * x;
    }
    result /= (HostReal)count;
    *magnitude += result + average * average + 2 * of * of;
    return result;
}

FUNCTION(sample_variance) {
    HostReal result = variance(a, b, first, count, step, magnitude),
             more = (HostReal)count / (HostReal)(count - 1);
    *magnitude *= more;
    return result * more;
}

FUNCTION(max) {
    HostReal result = at(a, first);
    UNUSED_B;
    EACH(i) {
        HostReal x = at(a, i);
        if (x > result) result = x;
    }
    *magnitude += fabsl(result);
    return result;
}

FUNCTION(min) {
    HostReal result = at(a, first);
    UNUSED_B;
    EACH(i) {
        HostReal x = at(a, i);
        if (x < result) result = x;
    }
    *magnitude += fabsl(result);
    return result;
}

/* The denominator of softmax. A rounding of the exponent x - most changes the exponential by that much times
 * itself, with and without the maximum subtracted. */
FUNCTION(sum_of_exponentials) {
    HostReal total = 0, none = 0, most = max(a, b, first, count, step, &none);
    EACH(i) {
        HostReal x = at(a, i) - most, of = expl(x);
        total += of;
        if (of > 0) *magnitude += of * (1 + fabsl(x) + fabsl(most)); /* exp(-inf) is 0 exactly */
    }
    return total;
}

FUNCTION(log_sum_exp) {
    HostReal of = 0, none = 0, most = max(a, b, first, count, step, &none),
             total = sum_of_exponentials(a, b, first, count, step, &of);
    *magnitude += fabsl(most) + of / total;
    return most + logl(total);
}

FUNCTION(absolute_max) {
    HostReal result = 0;
    UNUSED_B;
    EACH(i) result = fmaxl(result, fabsl(at(a, i)));
    *magnitude += result;
    return result;
}

FUNCTION(argmax) {
    uint64_t best = 0;
    UNUSED_B;
    (void)magnitude;
    EACH(i) if (at(a, i) > at(a, first + best * step)) best = k;
    return (HostReal)best;
}

FUNCTION(argmin) {
    uint64_t best = 0;
    UNUSED_B;
    (void)magnitude;
    EACH(i) if (at(a, i) < at(a, first + best * step)) best = k;
    return (HostReal)best;
}

FUNCTION(nonzero) {
    HostReal result = 0;
    UNUSED_B;
    (void)magnitude;
    EACH(i) result += at(a, i) != 0;
    return result;
}

/* Whole numbers: with the bits that 64-bit integers keep. */
FUNCTION(product) {
    HostReal result = 1;
    uint64_t bits = 1;
    bool is_whole = !ptx_type_is_float(a->type);
    UNUSED_B;
    EACH(i) {
        result *= at(a, i);
        if (is_whole) bits *= (uint64_t)(int64_t)at(a, i);
    }
    if (is_whole && fabsl(result) >= 0x1p63L) result = (HostReal)(int64_t)bits;
    *magnitude += fabsl(result);
    return result;
}

FUNCTION(dot) {
    HostReal result = 0;
    EACH(i) {
        HostReal x = at(a, i) * at(b, i);
        result += x;
        *magnitude += fabsl(x);
    }
    return result;
}

FUNCTION(squared_distance) {
    HostReal result = 0;
    EACH(i) {
        HostReal x = at(a, i) - at(b, i);
        result += x * x;
    }
    *magnitude += result;
    return result;
}

FUNCTION(mean_squared_error) {
    HostReal of = 0, result = squared_distance(a, b, first, count, step, &of) / (HostReal)count;
    *magnitude += result;
    return result;
}

FUNCTION(absolute_distance) {
    HostReal result = 0;
    EACH(i) result += fabsl(at(a, i) - at(b, i));
    *magnitude += result;
    return result;
}

/* ---- one result for each element ----------------------------------------------------------------------- */

/* `of` gets the magnitudes to which the rounding errors of `out` are relative. */
#define FUNCTION_OF_EACH(NAME)                                                                               \
    static void NAME(const PlanBuffer *a, uint64_t first, uint64_t count, HostReal epsilon, HostReal *out,   \
                     HostReal *of)

FUNCTION_OF_EACH(scan) {
    (void)epsilon;
    HostReal sum_so_far = 0, magnitude = 0;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = sum_so_far += at(a, first + i);
        of[i] = magnitude += fabsl(at(a, first + i));
    }
}

FUNCTION_OF_EACH(exclusive_scan) {
    (void)epsilon;
    HostReal sum_so_far = 0, magnitude = 0;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = sum_so_far;
        sum_so_far += at(a, first + i);
        of[i] = magnitude += fabsl(at(a, first + i)); /* of an inclusive scan, less the element */
    }
}

/* An exclusive scan in tiles, each of which begins with the element before it, as when a shifted load feeds
 * the scan. */
FUNCTION_OF_EACH(shifted_scan) {
    HostReal sum_so_far = 0, magnitude = 0;
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) {
        HostReal x = first + i ? at(a, first + i - 1) : 0;
        out[i] = sum_so_far += x;
        of[i] = magnitude += fabsl(x);
    }
}

/* The total in every element of the row, as a butterfly of shuffles leaves it in all lanes. */
FUNCTION_OF_EACH(total_for_all) {
    HostReal magnitude = 0, total = sum(a, a, first, count, 1, &magnitude);
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) out[i] = total, of[i] = magnitude;
}

FUNCTION_OF_EACH(max_for_all) {
    HostReal none = 0, most = max(a, a, first, count, 1, &none);
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) out[i] = most, of[i] = fabsl(most);
}

FUNCTION_OF_EACH(max_scan) {
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = at(a, first + i);
        if (i && out[i - 1] > out[i]) out[i] = out[i - 1];
        of[i] = fabsl(out[i]);
    }
}

FUNCTION_OF_EACH(softmax) {
    (void)epsilon;
    HostReal none = 0, of_total = 0, most = max(a, a, first, count, 1, &none),
             total = sum_of_exponentials(a, a, first, count, 1, &of_total);
    for (uint64_t i = 0; i < count; i++) {
        HostReal x = at(a, first + i) - most;
        out[i] = expl(x) / total;
        of[i] = out[i] > 0 ? out[i] * (1 + fabsl(x) + fabsl(most) + of_total / total) : 0;
    }
}

FUNCTION_OF_EACH(log_softmax) {
    HostReal magnitude = 0, total = log_sum_exp(a, a, first, count, 1, &magnitude);
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = at(a, first + i) - total;
        of[i] = fabsl(at(a, first + i)) + magnitude;
    }
}

FUNCTION_OF_EACH(normalize) {
    HostReal none = 0, length = norm(a, a, first, count, 1, &none);
    for (uint64_t i = 0; i < count; i++) {
        out[i] = at(a, first + i) / (length > epsilon ? length : epsilon);
        of[i] = fabsl(out[i]);
    }
}

/* An error of the mean moves all results; one of the variance stretches them. */
FUNCTION_OF_EACH(layer_norm) {
    HostReal of_mean = 0, of_variance = 0, average = mean(a, a, first, count, 1, &of_mean),
             spread = variance(a, a, first, count, 1, &of_variance), divisor = sqrtl(spread + epsilon);
    for (uint64_t i = 0; i < count; i++) {
        HostReal x = at(a, first + i);
        out[i] = (x - average) / divisor;
        of[i] = (fabsl(x) + of_mean) / divisor + fabsl(out[i]) * (1 + of_variance / (2 * (spread + epsilon)));
    }
}

FUNCTION_OF_EACH(rms_norm) {
    HostReal none = 0, square = sum_of_squares(a, a, first, count, 1, &none) / (HostReal)count;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = at(a, first + i) / sqrtl(square + epsilon);
        of[i] = fabsl(out[i]);
    }
}

// clang-format off
const ExpectFunction expect_functions[] = {
    /* name          shape         fold            inputs columns error ... bins, weights, by column */
    {"sum",          EXPECT_TOTAL, EXPECT_SUM,     1, false, EXPECT_OF_SUM, sum, NULL, false, false, false},
    {"max",          EXPECT_TOTAL, EXPECT_MAX,     1, false, EXPECT_EXACT, max, NULL, false, false, false},
    {"min",          EXPECT_TOTAL, EXPECT_MIN,     1, false, EXPECT_EXACT, min, NULL, false, false, false},
    {"mean",         EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_OF_ROUNDINGS, mean, NULL, false, false,
     false},
    {"dot",          EXPECT_TOTAL, EXPECT_SUM,     2, false, EXPECT_OF_SUM, dot, NULL, false, false, false},
    {"argmax",       EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_EXACT, argmax, NULL, false, false, false},
    {"argmax_any",   EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_EXACT, argmax, NULL, false, false, false},
    {"argmin",       EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_EXACT, argmin, NULL, false, false, false},
    {"argmin_any",   EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_EXACT, argmin, NULL, false, false, false},
    {"sumsq",        EXPECT_TOTAL, EXPECT_SUM,     1, false, EXPECT_OF_SUM, sum_of_squares, NULL, false,
     false, false},
    {"sumcube",      EXPECT_TOTAL, EXPECT_SUM,     1, false, EXPECT_OF_SUM, sum_of_cubes, NULL, false,
     false, false},
    {"sumabs",       EXPECT_TOTAL, EXPECT_SUM,     1, false, EXPECT_OF_SUM, sum_of_absolutes, NULL, false,
     false, false},
    {"maxabs",       EXPECT_TOTAL, EXPECT_MAX,     1, false, EXPECT_EXACT, absolute_max, NULL, false, false,
     false},
    {"norm",         EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_OF_ROUNDINGS, norm, NULL, false, false,
     false},
    {"variance",     EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_OF_ROUNDINGS, variance, NULL, false,
     false, false},
    {"samplevariance",EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_OF_ROUNDINGS, sample_variance, NULL,
     false, false, false},
    {"logsumexp",    EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_OF_ROUNDINGS, log_sum_exp, NULL, false,
     false, false},
    {"sumexp",       EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_OF_ROUNDINGS, sum_of_exponentials, NULL,
     false, false, false},
    {"nonzero",      EXPECT_TOTAL, EXPECT_SUM,     1, false, EXPECT_EXACT, nonzero, NULL, false, false,
     false},
    {"product",      EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, EXPECT_OF_PRODUCT, product, NULL, false, false,
     false},
    {"sqdist",       EXPECT_TOTAL, EXPECT_SUM,     2, false, EXPECT_OF_SUM, squared_distance, NULL, false,
     false, false},
    {"mse",          EXPECT_TOTAL, EXPECT_NO_FOLD, 2, false, EXPECT_OF_ROUNDINGS, mean_squared_error, NULL,
     false, false, false},
    {"absdist",      EXPECT_TOTAL, EXPECT_SUM,     2, false, EXPECT_OF_SUM, absolute_distance, NULL, false,
     false, false},
    {"rowsum",       EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_SUM, sum, NULL, false, false, false},
    {"rowmax",       EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, max, NULL, false, false, false},
    {"rowmin",       EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, min, NULL, false, false, false},
    {"rowmean",      EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, mean, NULL, false, false,
     false},
    {"rowargmax",    EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, argmax, NULL, false, false, false},
    {"rowargmax_any", EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, argmax, NULL, false, false,
     false},
    {"rowargmin",    EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, argmin, NULL, false, false, false},
    {"rowargmin_any", EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, argmin, NULL, false, false,
     false},
    {"rownorm",      EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, norm, NULL, false, false,
     false},
    {"rowvariance",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, variance, NULL, false,
     false, false},
    {"rowlogsumexp", EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, log_sum_exp, NULL, false,
     false, false},
    {"rowsumexp",    EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, sum_of_exponentials, NULL,
     false, false, false},
    {"rowdot",       EXPECT_ROWS,  EXPECT_NO_FOLD, 2, true,  EXPECT_OF_SUM, dot, NULL, false, false, false},
    {"colsum",       EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_SUM, sum, NULL, false, false, true},
    {"colmax",       EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, max, NULL, false, false, true},
    {"colmin",       EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, min, NULL, false, false, true},
    {"colmean",      EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, mean, NULL, false, false,
     true},
    {"colnorm",      EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, norm, NULL, false, false,
     true},
    {"colvariance",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, variance, NULL, false,
     false, true},
    {"scan",         EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_SUM, NULL, scan, false, false, false},
    {"exscan",       EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_SUM, NULL, exclusive_scan, false,
     false, false},
    {"segscan",      EXPECT_EACH,  EXPECT_NO_FOLD, 2, true,  EXPECT_OF_SUM, NULL, scan, false, false, false},
    {"shiftscan",    EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_SUM, NULL, shifted_scan, false,
     false, false},
    {"maxscan",      EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, NULL, max_scan, false, false,
     false},
    {"allsum",       EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_SUM, NULL, total_for_all, false,
     false, false},
    {"allmax",       EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, NULL, max_for_all, false, false,
     false},
    {"softmax",      EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, NULL, softmax, false,
     false, false},
    {"logsoftmax",   EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, NULL, log_softmax, false,
     false, false},
    {"normalize",    EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, NULL, normalize, false,
     true, false},
    {"layernorm",    EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, NULL, layer_norm, false,
     true, false},
    {"rmsnorm",      EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, NULL, rms_norm, false,
     true, false},
    {"batchnorm",    EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, NULL, layer_norm, false,
     true, true},
    {"colsoftmax",   EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_ROUNDINGS, NULL, softmax, false,
     false, true},
    {"colscan",      EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_OF_SUM, NULL, scan, false, false, true},
    {"histogram",    EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  EXPECT_EXACT, NULL, NULL, true, false, false},
    {"sumby",        EXPECT_EACH,  EXPECT_NO_FOLD, 2, true,  EXPECT_OF_SUM, NULL, NULL, true, false, false},
};
// clang-format on
const int expect_function_count = sizeof expect_functions / sizeof *expect_functions;
/* NOLINTEND(readability-non-const-parameter) */

const ExpectFunction *expect_function_named(const char *name, size_t length) {
    for (int i = 0; i < expect_function_count; i++)
        if (strlen(expect_functions[i].name) == length && !memcmp(expect_functions[i].name, name, length))
            return &expect_functions[i];
    return NULL;
}
