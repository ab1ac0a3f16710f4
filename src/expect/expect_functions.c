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

FUNCTION(variance) {
    HostReal of = 0, average = mean(a, b, first, count, step, &of), result = 0;
    EACH(i) {
        HostReal x = at(a, i) - average;
        result += x * x;
    }
    *magnitude += (result + of * of * (HostReal)count) / (HostReal)count;
    return result / (HostReal)count;
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
    (void)magnitude;
    EACH(i) {
        HostReal x = at(a, i);
        if (x > result) result = x;
    }
    return result;
}

FUNCTION(min) {
    HostReal result = at(a, first);
    UNUSED_B;
    (void)magnitude;
    EACH(i) {
        HostReal x = at(a, i);
        if (x < result) result = x;
    }
    return result;
}

FUNCTION(log_sum_exp) {
    HostReal total = 0, most = max(a, b, first, count, step, magnitude);
    EACH(i) total += expl(at(a, i) - most);
    *magnitude += fabsl(most) + 1;
    return total == 0 ? most : most + logl(total);
}

/* The denominator of softmax. */
FUNCTION(sum_of_exponentials) {
    HostReal total = 0, none = 0, most = max(a, b, first, count, step, &none);
    EACH(i) total += expl(at(a, i) - most);
    *magnitude += total;
    return total;
}

FUNCTION(absolute_max) {
    HostReal result = 0;
    UNUSED_B;
    (void)magnitude;
    EACH(i) result = fmaxl(result, fabsl(at(a, i)));
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

FUNCTION(product) {
    HostReal result = 1;
    UNUSED_B;
    EACH(i) result *= at(a, i);
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

#define FUNCTION_OF_EACH(NAME)                                                                               \
    static void NAME(const PlanBuffer *a, uint64_t first, uint64_t count, HostReal epsilon, HostReal *out)

FUNCTION_OF_EACH(scan) {
    (void)epsilon;
    HostReal sum_so_far = 0;
    for (uint64_t i = 0; i < count; i++) out[i] = sum_so_far += at(a, first + i);
}

FUNCTION_OF_EACH(exclusive_scan) {
    (void)epsilon;
    HostReal sum_so_far = 0;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = sum_so_far;
        sum_so_far += at(a, first + i);
    }
}

/* An exclusive scan in tiles, each of which begins with the element before it, as when a shifted load feeds
 * the scan. */
FUNCTION_OF_EACH(shifted_scan) {
    HostReal sum_so_far = 0;
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) {
        if (first + i) sum_so_far += at(a, first + i - 1);
        out[i] = sum_so_far;
    }
}

/* The total in every element of the row, as a butterfly of shuffles leaves it in all lanes. */
FUNCTION_OF_EACH(total_for_all) {
    HostReal none = 0, total = sum(a, a, first, count, 1, &none);
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) out[i] = total;
}

FUNCTION_OF_EACH(max_for_all) {
    HostReal none = 0, most = max(a, a, first, count, 1, &none);
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) out[i] = most;
}

FUNCTION_OF_EACH(max_scan) {
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = at(a, first + i);
        if (i && out[i - 1] > out[i]) out[i] = out[i - 1];
    }
}

FUNCTION_OF_EACH(softmax) {
    (void)epsilon;
    HostReal total = 0, none = 0, most = max(a, a, first, count, 1, &none);
    for (uint64_t i = 0; i < count; i++) total += out[i] = expl(at(a, first + i) - most);
    for (uint64_t i = 0; i < count; i++) out[i] /= total;
}

FUNCTION_OF_EACH(log_softmax) {
    HostReal none = 0, total = log_sum_exp(a, a, first, count, 1, &none);
    (void)epsilon;
    for (uint64_t i = 0; i < count; i++) out[i] = at(a, first + i) - total;
}

FUNCTION_OF_EACH(normalize) {
    HostReal none = 0, length = norm(a, a, first, count, 1, &none);
    for (uint64_t i = 0; i < count; i++) out[i] = at(a, first + i) / (length > epsilon ? length : epsilon);
}

FUNCTION_OF_EACH(layer_norm) {
    HostReal none = 0, average = mean(a, a, first, count, 1, &none),
             spread = variance(a, a, first, count, 1, &none);
    for (uint64_t i = 0; i < count; i++) out[i] = (at(a, first + i) - average) / sqrtl(spread + epsilon);
}

FUNCTION_OF_EACH(rms_norm) {
    HostReal none = 0, square = sum_of_squares(a, a, first, count, 1, &none) / (HostReal)count;
    for (uint64_t i = 0; i < count; i++) out[i] = at(a, first + i) / sqrtl(square + epsilon);
}

// clang-format off
const ExpectFunction expect_functions[] = {
    /* name      shape         fold            inputs columns rounded guessed ... bins, weights, by column, rounding */
    {"sum",      EXPECT_TOTAL, EXPECT_SUM,     1, false, false, true,  sum, NULL, false, false, false, EXPECT_OF_SCALED},
    {"max",      EXPECT_TOTAL, EXPECT_MAX,     1, false, false, true,  max, NULL, false, false, false, EXPECT_OF_SCALED},
    {"min",      EXPECT_TOTAL, EXPECT_MIN,     1, false, false, true,  min, NULL, false, false, false, EXPECT_OF_SCALED},
    {"mean",     EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  mean, NULL, false, false, false, EXPECT_OF_SCALED},
    {"dot",      EXPECT_TOTAL, EXPECT_SUM,     2, false, true,  true,  dot, NULL, false, false, false, EXPECT_OF_SCALED},
    {"argmax",   EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, false, true,  argmax, NULL, false, false, false, EXPECT_OF_SCALED},
    {"argmin",   EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, false, true,  argmin, NULL, false, false, false, EXPECT_OF_SCALED},
    {"sumsq",    EXPECT_TOTAL, EXPECT_SUM,     1, false, true,  true,  sum_of_squares, NULL, false, false, false, EXPECT_OF_SCALED},
    {"sumcube",  EXPECT_TOTAL, EXPECT_SUM,     1, false, true,  true,  sum_of_cubes, NULL, false, false, false, EXPECT_OF_SCALED},
    {"sumabs",   EXPECT_TOTAL, EXPECT_SUM,     1, false, false, true,  sum_of_absolutes, NULL, false, false, false, EXPECT_OF_SCALED},
    {"maxabs",   EXPECT_TOTAL, EXPECT_MAX,     1, false, false, true,  absolute_max, NULL, false, false, false, EXPECT_OF_SCALED},
    {"norm",     EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  norm, NULL, false, false, false, EXPECT_OF_SCALED},
    {"variance", EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  variance, NULL, false, false, false, EXPECT_OF_SCALED},
    {"samplevariance",EXPECT_TOTAL,EXPECT_NO_FOLD,1, false, true,  true,  sample_variance, NULL, false, false, false, EXPECT_OF_SCALED},
    {"logsumexp",EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  log_sum_exp, NULL, false, false, false, EXPECT_OF_SCALED},
    {"sumexp",   EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  sum_of_exponentials, NULL, false, false, false, EXPECT_OF_SCALED},
    {"nonzero",  EXPECT_TOTAL, EXPECT_SUM,     1, false, false, true,  nonzero, NULL, false, false, false, EXPECT_OF_SCALED},
    {"product",  EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  false, product, NULL, false, false, false, EXPECT_OF_SCALED},
    {"sqdist",   EXPECT_TOTAL, EXPECT_SUM,     2, false, true,  true,  squared_distance, NULL, false, false, false, EXPECT_OF_SCALED},
    {"mse",      EXPECT_TOTAL, EXPECT_NO_FOLD, 2, false, true,  true,  mean_squared_error, NULL, false, false, false, EXPECT_OF_SCALED},
    {"absdist",  EXPECT_TOTAL, EXPECT_SUM,     2, false, true,  true,  absolute_distance, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowsum",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  sum, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowmax",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  max, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowmin",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  min, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowmean",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  mean, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowargmax",EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  argmax, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowargmin",EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  argmin, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rownorm",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  norm, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowvariance",EXPECT_ROWS,EXPECT_NO_FOLD, 1, true,  true,  true,  variance, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowlogsumexp",EXPECT_ROWS,EXPECT_NO_FOLD,1, true,  true,  true,  log_sum_exp, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowsumexp",EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  sum_of_exponentials, NULL, false, false, false, EXPECT_OF_SCALED},
    {"rowdot",   EXPECT_ROWS,  EXPECT_NO_FOLD, 2, true,  true,  true,  dot, NULL, false, false, false, EXPECT_OF_SCALED},
    {"colsum",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  sum, NULL, false, false, true, EXPECT_OF_SCALED},
    {"colmax",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  max, NULL, false, false, true, EXPECT_OF_SCALED},
    {"colmin",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  min, NULL, false, false, true, EXPECT_OF_SCALED},
    {"colmean",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  mean, NULL, false, false, true, EXPECT_OF_SCALED},
    {"colnorm",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  norm, NULL, false, false, true, EXPECT_OF_SCALED},
    {"colvariance",EXPECT_ROWS,EXPECT_NO_FOLD, 1, true,  true,  true,  variance, NULL, false, false, true, EXPECT_OF_SCALED},
    {"scan",     EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, scan, false, false, false, EXPECT_OF_SUM_SO_FAR},
    {"exscan",   EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, exclusive_scan, false, false, false, EXPECT_OF_SUM_SO_FAR},
    {"segscan",  EXPECT_EACH,  EXPECT_NO_FOLD, 2, true,  false, true,  NULL, scan, false, false, false, EXPECT_OF_SUM_SO_FAR},
    {"shiftscan",EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, shifted_scan, false, false, false, EXPECT_OF_SUM_SO_FAR},
    {"maxscan",  EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, max_scan, false, false, false, EXPECT_OF_SUM_SO_FAR},
    {"allsum",   EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, total_for_all, false, false, false, EXPECT_OF_ALL},
    {"allmax",   EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, max_for_all, false, false, false, EXPECT_OF_SCALED},
    {"softmax",  EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, softmax, false, false, false, EXPECT_OF_ELEMENT},
    {"logsoftmax",EXPECT_EACH, EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, log_softmax, false, false, false, EXPECT_OF_ELEMENT},
    {"normalize",EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, normalize, false, true, false, EXPECT_OF_SCALED},
    {"layernorm",EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, layer_norm, false, true, false, EXPECT_OF_SCALED},
    {"rmsnorm",  EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, rms_norm, false, true, false, EXPECT_OF_SCALED},
    {"batchnorm",EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, layer_norm, false, true, true, EXPECT_OF_SCALED},
    {"colsoftmax",EXPECT_EACH, EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, softmax, false, false, true, EXPECT_OF_ELEMENT},
    {"colscan",  EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, scan, false, false, true, EXPECT_OF_SUM_SO_FAR},
    {"histogram",EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, NULL, true, false, false, EXPECT_OF_SCALED},
    {"sumby",    EXPECT_EACH,  EXPECT_NO_FOLD, 2, true,  false, true,  NULL, NULL, true, false, false, EXPECT_OF_SCALED},
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
