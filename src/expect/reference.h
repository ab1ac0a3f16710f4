/* Reference: the right result of a run, computed on the host, and its tolerance. Sums are compensated in long
 * double; each rounding of the kernel may add an error; output elements are compared with the reference. */
#ifndef EXPECT_REFERENCE_H
#define EXPECT_REFERENCE_H

#include "plan/plan.h"

typedef struct ExpectResult { /* after the run */
    double result,
        expected; /* the reduced value; kernels with many outputs: the element that is furthest off */
    char result_text[64], expected_text[64]; /* exact */
    double absolute_error, relative_error;
    double bound; /* absolute error allowed by the depth of the kernel's tree; 0: exact */
    bool correct;
    uint64_t index;      /* of the output element that is reported */
    const char *verdict; /* what to say of a correct result that is not exact; NULL: nothing */
    uint64_t compared;   /* output elements that were compared */
    uint64_t inexact;    /* those that are not the reference rounded once to their type */
    /* Of a function that was found: how many outputs have one, and how many bytes of its name --expect takes. */
    int outputs;
    size_t function_length;
} ExpectResult;

typedef struct Reference {  /* a compensated sum; zero-initialised is empty */
    long double value, low; /* low: what `value` is short of */
    long double magnitude;  /* sum of the absolute values */
} Reference;

void reference_add(Reference *sum, long double x);
long double reference_sum(const Reference *sum);

/* Largest relative error of one rounding to nearest. */
double reference_roundoff(PtxType type);

/* Additions that may round, on the longest way of an element through a tree over `block` threads; and through
 * a loop in which `block` threads meet `count` elements (at least one), then that tree. Adding the first
 * element to 0 does not round. */
double reference_tree_depth(uint32_t block);
double reference_looped_depth(uint64_t count, uint32_t block);

/* Error bound of a floating-point sum whose longest chain is `depth` additions, over terms whose magnitudes
 * add up to `magnitude`: depth*u / (1 - depth*u) * magnitude (Higham, Accuracy and Stability of Numerical
 * Algorithms, 4.2), u the unit roundoff of `type`. 0 for integers. */
double reference_bound(PtxType type, double depth, long double magnitude);

/* Compares one output element with its reference and keeps it in `result` when it is the first, or further
 * off than what is there (relative to its bound). Before the first call `result` is zeroed; afterwards
 * `correct` says whether every element compared so far lies within its bound. Exact texts: `type` decides how
 * both are printed. Integers: `expected` wraps as the type does. NaN equals NaN. */
void reference_judge(ExpectResult *result, PtxType type, uint64_t index, long double got,
                     long double expected, double bound);

/* reference_judge() of element `index` of `out`; equal elements after the first are passed over, which saves
 * their text. */
void reference_compare(ExpectResult *result, const PlanBuffer *out, uint64_t index, long double expected,
                       double bound);

/* The same of an fp32 number within `bound` that was rounded to the narrow type of `out` in the end. A number
 * that the type cannot hold is expected to be infinite. */
void reference_compare_narrowed(ExpectResult *result, const PlanBuffer *out, uint64_t index,
                                long double expected, double bound);

#endif
