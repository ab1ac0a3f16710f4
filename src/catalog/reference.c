/* Compensated sums (Knuth's two-sum): exact enough that only the kernel's own roundings are judged. */
#include "catalog/reference.h"

#include <math.h>
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

double reference_element(const Plan *filled, uint64_t i) {
    return plan_element(filled->buffers[0].type, filled->buffers[0].bytes, i);
}

long double reference_fold(const CatalogRun *run, const Plan *filled, uint64_t begin, uint64_t count,
                           uint64_t step, long double *magnitude) {
    Reference sum = {0};
    double extreme = reference_element(filled, begin);
    bool is_minimum = !strcmp(run->op, "min");
    for (uint64_t k = 0; k < count; k++) {
        double x = reference_element(filled, begin + k * step);
        reference_add(&sum, x);
        if (is_minimum ? x < extreme : x > extreme) extreme = x;
    }
    *magnitude = sum.magnitude;
    return strcmp(run->op, "sum") ? (long double)extreme : reference_sum(&sum);
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

void reference_compare(CatalogResult *result, const PlanBuffer *out, uint64_t index, long double expected,
                       double bound) {
    double got = plan_element(out->type, out->bytes, index);
    if (result->compared && (long double)got == expected)
        result->compared++;
    else
        rows_compare(result, out->type, index, got, expected, bound);
}

void reference_compare_narrowed(CatalogResult *result, const PlanBuffer *out, uint64_t index,
                                long double expected, double bound) {
    double largest = out->type == PTX_F16 ? 65520 : 0x1.ffp127; /* from here on rounding gives infinity */
    bound += ((double)fabsl(expected) + bound) * reference_roundoff(out->type);
    if (out->type == PTX_F16) bound += 0x1p-25; /* half a subnormal */
    if (fabsl(expected) >= largest) expected = copysignl(INFINITY, expected);
    reference_compare(result, out, index, expected, bound);
}
