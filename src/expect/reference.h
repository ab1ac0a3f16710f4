/* Reference: the right result of a run, computed on the host, and its tolerance. Sums are compensated in long
 * double; each rounding of the kernel may add an error; output elements are compared with the reference. */
#ifndef EXPECT_REFERENCE_H
#define EXPECT_REFERENCE_H

#include "plan/plan.h"

typedef struct ExpectResult { /* after the run */
    /* The reduced value; for several outputs, the element with the largest error. */
    double result, expected;
    char result_text[64], expected_text[64]; /* exact */
    double absolute_error, relative_error;
    double bound; /* absolute error allowed by the depth of the kernel's tree; 0: exact */
    bool correct;
    /* Its error is rounding alone: without rounding the same run gives what is expected. */
    bool is_rounding;
    /* Then where values are off: "line 9 by up to 0.013, line 14 by up to 0.02"; NULL: not known. */
    const char *rounding;
    PtxType type;        /* of the output */
    uint64_t index;      /* of the reported output element */
    const char *verdict; /* instead of "ok" for a correct result: "total right"; NULL: "ok" */
    uint64_t compared;   /* output elements that were compared */
    uint64_t inexact;    /* those that differ from the reference rounded once to their type */
} ExpectResult;

typedef struct Reference {  /* a compensated sum; zero-initialised is empty */
    long double value, low; /* low: the correction to `value` */
    long double magnitude;  /* sum of the absolute values */
} Reference;

void reference_add(Reference *sum, long double x);
long double reference_sum(const Reference *sum);

/* Largest relative error of one rounding to nearest. */
double reference_roundoff(PtxType type);

/* The most additions that may round on an element's way through a tree over `block` threads; and through a
 * loop in which `block` threads share `count` elements (at least one), then that tree. Adding the first
 * element to 0 does not round. */
double reference_tree_depth(uint32_t block);
double reference_looped_depth(uint64_t count, uint32_t block);

/* Error bound of a floating-point sum whose longest chain has `depth` additions, over terms whose magnitudes
 * sum to `magnitude`: depth*u / (1 - depth*u) * magnitude (Higham, Accuracy and Stability of Numerical
 * Algorithms, 4.2), u the unit roundoff of `type`. 0 for integers. */
double reference_bound(PtxType type, double depth, long double magnitude);

/* Compares one output element with its reference. Keeps it in `result` if it is the first, or has a larger
 * error relative to its bound. `result` must be zero before the first call; `correct` is true as long as
 * every element lies within its bound. `type` determines how the exact texts are printed. Integers:
 * `expected` wraps as the type does. NaN equals NaN. */
void reference_judge(ExpectResult *result, PtxType type, uint64_t index, long double got,
                     long double expected, double bound);

/* reference_judge() for element `index` of `out`; skips equal elements after the first, which saves their
 * text. */
void reference_compare(ExpectResult *result, const PlanBuffer *out, uint64_t index, long double expected,
                       double bound);

/* As above, for an fp32 number within `bound` that was rounded to the narrow type of `out` at the end. A
 * number beyond the type's range is expected to be infinite. */
void reference_compare_narrowed(ExpectResult *result, const PlanBuffer *out, uint64_t index,
                                long double expected, double bound);

#endif
