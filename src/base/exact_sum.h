/* Exact sum: adds doubles without rounding, in one fixed-point number that spans their whole range. */
#ifndef BASE_EXACT_SUM_H
#define BASE_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

enum { EXACT_SUM_LIMBS = 70 };

/* Zero-initialised is the sum 0. */
typedef struct ExactSum {
    int64_t limbs[EXACT_SUM_LIMBS]; /* limb i counts units of 2^(32 i - 1088), with either sign */
    uint32_t pending;               /* additions since the last carry */
    bool is_special;                /* an infinity or a NaN was added */
    double special;                 /* the sum of those */
} ExactSum;

/* Adds `value` `times` times; a negative `times` subtracts it. */
void exact_sum_add(ExactSum *sum, double value, int64_t times);
/* The sum, rounded once, to nearest even. */
double exact_sum_value(ExactSum *sum);
float exact_sum_float(ExactSum *sum); /* of floats: of doubles, a sum below 2^-126 would be rounded twice */

#endif
