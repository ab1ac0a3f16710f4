/* Compensated sums (Knuth's two-sum), so exact that only the kernel's own roundings count. */
#include "expect/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void reference_add(Reference *sum, long double x) {
    long double t = sum->value + x, of_x = t - sum->value;
    if (isfinite(t)) sum->low += (sum->value - (t - of_x)) + (x - of_x);
    sum->value = t;
    sum->magnitude += fabsl(x);
}

long double reference_sum(const Reference *sum) {
    return sum->value + sum->low;
}

double reference_roundoff(PtxType type) {
    return type == PTX_F16 ? 0x1p-11 : type == PTX_BF16 ? 0x1p-8 : type == PTX_F32 ? 0x1p-24 : 0x1p-53;
}

double reference_tree_depth(uint32_t block) {
    double levels = 0;
    for (uint32_t width = 1; width < block; width *= 2) levels++;
    return levels;
}

double reference_looped_depth(uint64_t count, uint32_t block) {
    uint64_t turns = (count + block - 1) / block;
    return (double)turns - 1 + reference_tree_depth(block);
}

double reference_bound(PtxType type, double depth, long double magnitude) {
    if (!ptx_type_is_float(type)) return 0;
    double growth = depth * reference_roundoff(type);
    return growth < 1 ? growth / (1 - growth) * (double)magnitude : INFINITY;
}

/* The value that an integer type keeps of `value`. */
static long double wrap(PtxType type, long double value) {
    int bits = 8 * ptx_type_bytes(type);
    if (ptx_type_is_float(type) || !isfinite(value)) return value;
    long double range = ldexpl(1, bits), rest = fmodl(value, range);
    if (rest < 0) rest += range;
    return ptx_type_is_signed(type) && rest >= range / 2 ? rest - range : rest;
}

static void print_value(PtxType type, long double value, char *text, size_t bytes) {
    if (!ptx_type_is_float(type)) {
        snprintf(text, bytes, "%.0Lf", value);
        return;
    }
    uint8_t element[8];
    Text printed = {0};
    plan_element_set(type, element, 0, (double)value);
    plan_element_print(type, element, 0, &printed);
    snprintf(text, bytes, "%s", text_string(&printed));
    text_done(&printed);
}

static long double distance(long double a, long double b) {
    if (a == b || (isnan(a) && isnan(b))) return 0;
    return isnan(a) || isnan(b) ? INFINITY : fabsl(a - b);
}

/* True if `got` is the element of the type nearest to `expected`. */
static bool is_nearest(PtxType type, long double got, long double expected) {
    uint8_t element[8];
    if (!ptx_type_is_float(type)) return got == expected;
    plan_element_set(type, element, 0, (double)expected);
    return distance(got, plan_element(type, element, 0)) == 0;
}

/* The error in bounds: 0 if right, above 1 if wrong. */
static double severity(double error, double bound) {
    return error == 0 ? 0 : bound > 0 ? error / bound : INFINITY;
}

void reference_judge(ExpectResult *result, PtxType type, uint64_t index, long double got,
                     long double expected, double bound) {
    expected = wrap(type, expected);
    got = wrap(type, got);
    double error = (double)distance(got, expected);
    bool within = error <= bound; /* an infinite error is within no finite bound */
    bool is_first = result->compared++ == 0;
    result->type = type;
    if (is_first) result->correct = true;
    if (!within) result->correct = false;
    if (error != 0 && !is_nearest(type, got, expected)) result->inexact++;
    if (!is_first && severity(error, bound) <= severity(result->absolute_error, result->bound)) return;
    result->result = (double)got;
    result->expected = (double)expected;
    result->absolute_error = error;
    result->relative_error = error == 0 ? 0 : error / fabs((double)expected);
    result->bound = bound;
    result->index = index;
    print_value(type, got, result->result_text, sizeof result->result_text);
    print_value(type, expected, result->expected_text, sizeof result->expected_text);
}

void reference_compare(ExpectResult *result, const PlanBuffer *out, uint64_t index, long double expected,
                       double bound) {
    double got = plan_element(out->type, out->bytes, index);
    if (result->compared && (long double)got == expected)
        result->compared++;
    else
        reference_judge(result, out->type, index, got, expected, bound);
}

void reference_compare_narrowed(ExpectResult *result, const PlanBuffer *out, uint64_t index,
                                long double expected, double bound) {
    double largest = out->type == PTX_F16 ? 65520 : 0x1.ffp127; /* values from here on round to infinity */
    bound += ((double)fabsl(expected) + bound) * reference_roundoff(out->type);
    if (out->type == PTX_F16) bound += 0x1p-25; /* half a subnormal */
    if (fabsl(expected) >= largest) expected = copysignl(INFINITY, expected);
    reference_compare(result, out, index, expected, bound);
}
