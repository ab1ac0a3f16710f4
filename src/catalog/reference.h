/* Reference: what a kernel should give, summed on the host with compensation in long double, and
 * what each rounding on the way may cost. Private to the catalogue. */
#ifndef CATALOG_REFERENCE_H
#define CATALOG_REFERENCE_H

#include "catalog/rows.h"

typedef struct Reference {  /* a compensated sum; zero-initialised is empty */
    long double value, low; /* low: what `value` is short of */
    long double magnitude;  /* sum of the absolute values */
} Reference;

void reference_add(Reference *sum, long double x);
long double reference_sum(const Reference *sum);

/* Element i of the plan's first buffer, the input, widened. */
double reference_element(const Plan *filled, uint64_t i);

/* `count` elements of the input (at least one) from `begin`, `step` apart, folded with the run's operation;
 * *magnitude is the sum of their absolute values. */
long double reference_fold(const CatalogRun *run, const Plan *filled, uint64_t begin, uint64_t count,
                           uint64_t step, long double *magnitude);

/* Largest relative error of one rounding to nearest. */
double reference_roundoff(PtxType type);

/* Additions that may round, on the longest way of an element through a tree over `block` threads; and through
 * a loop in which `block` threads meet `count` elements (at least one), then that tree. Adding the first
 * element to 0 does not round. */
double reference_tree_depth(uint32_t block);
double reference_looped_depth(uint64_t count, uint32_t block);

/* rows_compare() of element `index` of `out`; equal elements after the first are passed over, which saves
 * their text. */
void reference_compare(CatalogResult *result, const PlanBuffer *out, uint64_t index, long double expected,
                       double bound);

/* The same of an fp32 number within `bound` that was rounded to the narrow type of `out` in the end. A number
 * that the type cannot hold is expected to be infinite. */
void reference_compare_narrowed(CatalogResult *result, const PlanBuffer *out, uint64_t index,
                                long double expected, double bound);

#endif
