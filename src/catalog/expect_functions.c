#include "catalog/expect_functions.h"

#include <math.h>

typedef long double HostReal;

static HostReal at(const PlanBuffer *buffer, uint64_t i) {
    return (HostReal)plan_element(buffer->type, buffer->bytes, i);
}

/* NOLINTBEGIN(readability-non-const-parameter): all have one signature, and some need not all of it */
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

/* ---- one result for each element ---------------------------------------------------------------------------- */

static void scan(const PlanBuffer *a, uint64_t first, uint64_t count, HostReal *out) {
    HostReal sum_so_far = 0;
    for (uint64_t i = 0; i < count; i++) out[i] = sum_so_far += at(a, first + i);
}

static void exclusive_scan(const PlanBuffer *a, uint64_t first, uint64_t count, HostReal *out) {
    HostReal sum_so_far = 0;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = sum_so_far;
        sum_so_far += at(a, first + i);
    }
}

static void softmax(const PlanBuffer *a, uint64_t first, uint64_t count, HostReal *out) {
    HostReal total = 0, none = 0, most = max(a, a, first, count, 1, &none);
    for (uint64_t i = 0; i < count; i++) total += out[i] = expl(at(a, first + i) - most);
    for (uint64_t i = 0; i < count; i++) out[i] /= total;
}

static void layer_norm(const PlanBuffer *a, uint64_t first, uint64_t count, HostReal *out) {
    HostReal none = 0, average = mean(a, a, first, count, 1, &none),
             spread = variance(a, a, first, count, 1, &none);
    for (uint64_t i = 0; i < count; i++) out[i] = (at(a, first + i) - average) / sqrtl(spread + 1e-5L);
}

static void rms_norm(const PlanBuffer *a, uint64_t first, uint64_t count, HostReal *out) {
    HostReal none = 0, square = sum_of_squares(a, a, first, count, 1, &none) / (HostReal)count;
    for (uint64_t i = 0; i < count; i++) out[i] = at(a, first + i) / sqrtl(square + 1e-5L);
}

// clang-format off
const ExpectFunction expect_functions[] = {
    /* name      shape         fold            inputs columns rounded guessed */
    {"sum",      EXPECT_TOTAL, EXPECT_SUM,     1, false, false, true,  sum, NULL},
    {"max",      EXPECT_TOTAL, EXPECT_MAX,     1, false, false, true,  max, NULL},
    {"min",      EXPECT_TOTAL, EXPECT_MIN,     1, false, false, true,  min, NULL},
    {"mean",     EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  mean, NULL},
    {"dot",      EXPECT_TOTAL, EXPECT_SUM,     2, false, true,  true,  dot, NULL},
    {"argmax",   EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, false, true,  argmax, NULL},
    {"argmin",   EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, false, true,  argmin, NULL},
    {"sumsq",    EXPECT_TOTAL, EXPECT_SUM,     1, false, true,  true,  sum_of_squares, NULL},
    {"sumabs",   EXPECT_TOTAL, EXPECT_SUM,     1, false, false, true,  sum_of_absolutes, NULL},
    {"maxabs",   EXPECT_TOTAL, EXPECT_MAX,     1, false, false, true,  absolute_max, NULL},
    {"norm",     EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  norm, NULL},
    {"variance", EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  true,  variance, NULL},
    {"nonzero",  EXPECT_TOTAL, EXPECT_SUM,     1, false, false, true,  nonzero, NULL},
    {"product",  EXPECT_TOTAL, EXPECT_NO_FOLD, 1, false, true,  false, product, NULL},
    {"sqdist",   EXPECT_TOTAL, EXPECT_SUM,     2, false, true,  true,  squared_distance, NULL},
    {"mse",      EXPECT_TOTAL, EXPECT_NO_FOLD, 2, false, true,  true,  mean_squared_error, NULL},
    {"absdist",  EXPECT_TOTAL, EXPECT_SUM,     2, false, true,  true,  absolute_distance, NULL},
    {"rowsum",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  sum, NULL},
    {"rowmax",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  max, NULL},
    {"rowmin",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  min, NULL},
    {"rowmean",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  mean, NULL},
    {"rowargmax",EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  argmax, NULL},
    {"rownorm",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  norm, NULL},
    {"colsum",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  sum, NULL},
    {"colmax",   EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  false, true,  max, NULL},
    {"colmean",  EXPECT_ROWS,  EXPECT_NO_FOLD, 1, true,  true,  true,  mean, NULL},
    {"scan",     EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, scan},
    {"exscan",   EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, exclusive_scan},
    {"softmax",  EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, softmax},
    {"layernorm",EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, layer_norm},
    {"rmsnorm",  EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  true,  true,  NULL, rms_norm},
    {"histogram",EXPECT_EACH,  EXPECT_NO_FOLD, 1, true,  false, true,  NULL, NULL},
};
// clang-format on
const int expect_function_count = sizeof expect_functions / sizeof *expect_functions;
/* NOLINTEND(readability-non-const-parameter) */
