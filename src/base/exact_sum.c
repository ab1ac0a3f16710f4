#include "base/exact_sum.h"

#include <math.h>

enum { LIMB_BITS = 32, LOWEST_EXPONENT = -1088, MOST_PENDING = 1 << 20 };

/* Brings every limb except the highest into 0 .. 2^32 - 1. */
static void carry(ExactSum *sum) {
    for (int i = 0; i + 1 < EXACT_SUM_LIMBS; i++) {
        int64_t low = (int64_t)((uint64_t)sum->limbs[i] & 0xffffffffu);
        sum->limbs[i + 1] += (sum->limbs[i] - low) / ((int64_t)1 << LIMB_BITS);
        sum->limbs[i] = low;
    }
    sum->pending = 0;
}

/* Adds magnitude * 2^(position + LOWEST_EXPONENT). */
static void add_bits(ExactSum *sum, uint64_t magnitude, int position, int sign) {
    int limb = position / LIMB_BITS, shift = position % LIMB_BITS;
    const uint64_t halves[2] = {magnitude & 0xffffffffu, magnitude >> 32};
    for (int i = 0; i < 2; i++) {
        uint64_t shifted = halves[i] << shift;
        sum->limbs[limb + i] += sign * (int64_t)(shifted & 0xffffffffu);
        sum->limbs[limb + i + 1] += sign * (int64_t)(shifted >> 32);
    }
}

void exact_sum_add(ExactSum *sum, double value, int64_t times) {
    int exponent, sign = (value < 0) != (times < 0) ? -1 : 1;
    uint64_t count = times < 0 ? 0 - (uint64_t)times : (uint64_t)times;
    if (!isfinite(value)) {
        sum->special = sum->is_special ? sum->special + sign * fabs(value) : sign * fabs(value);
        sum->is_special = true;
        return;
    }
    /* value = mantissa * 2^(exponent - 53). */
    uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(value), &exponent), 53);
    int position = exponent - 53 - LOWEST_EXPONENT;
    if (!mantissa) return;
    if (position < 0) { /* subnormal: its last bits are zero */
        mantissa >>= -position;
        position = 0;
    }
    for (; count; count >>= 31, position += 31) { /* products of at most 32 and 31 bits */
        uint64_t part = count & 0x7fffffffu;
        add_bits(sum, (mantissa & 0xffffffffu) * part, position, sign);
        add_bits(sum, (mantissa >> 32) * part, position + 32, sign);
    }
    if (++sum->pending >= MOST_PENDING) carry(sum);
}

/* Of a sum that is not negative, after carry(): its top 64 bits at most, times 2^*exponent. The last of them
 * is also set if a bit after it is, which rounding to fewer bits must know. */
static uint64_t leading_bits(const ExactSum *sum, int *exponent) {
    int limb = EXACT_SUM_LIMBS - 1, shift = 0;
    while (limb > 1 && !sum->limbs[limb]) limb--;
    uint64_t high = (uint64_t)sum->limbs[limb], low = (uint64_t)sum->limbs[limb - 1], rest = 0;
    while (high >> (shift + 1)) shift++; /* of `high`, the bits after the first */
    uint64_t bits = high << LIMB_BITS | low;
    *exponent = (limb - 1) * LIMB_BITS + LOWEST_EXPONENT;
    if (high && limb > 1) { /* 33 .. 64 bits so far */
        int more = LIMB_BITS - 1 - shift;
        uint64_t next = (uint64_t)sum->limbs[limb - 2];
        bits = bits << more | next >> (LIMB_BITS - more);
        rest = next & (((uint64_t)1 << (LIMB_BITS - more)) - 1);
        *exponent -= more;
    }
    for (int i = 0; i < limb - 2; i++) rest |= (uint64_t)sum->limbs[i];
    return bits | (rest != 0);
}

static double rounded(ExactSum *sum, bool to_float) {
    int exponent;
    if (sum->is_special) return sum->special;
    carry(sum);
    bool negative = sum->limbs[EXACT_SUM_LIMBS - 1] < 0;
    if (negative) {
        for (int i = 0; i < EXACT_SUM_LIMBS; i++) sum->limbs[i] = -sum->limbs[i];
        carry(sum);
    }
    uint64_t bits = leading_bits(sum, &exponent);
    double value = to_float ? (double)(float)bits : (double)bits;
    value = ldexp(value, exponent); /* a sum is no less than the smallest number, so that this is exact */
    if (negative)
        for (int i = 0; i < EXACT_SUM_LIMBS; i++) sum->limbs[i] = -sum->limbs[i];
    return negative ? -value : value;
}

double exact_sum_value(ExactSum *sum) {
    return rounded(sum, false);
}

float exact_sum_float(ExactSum *sum) {
    return (float)rounded(sum, true);
}
