/* Dot products of tensor cores (matrix_dot.h). */
#include "emulator/instructions/matrix_dot.h"

#include <math.h>
#include <string.h>

enum { KEPT_BITS = 25 };

typedef struct Format {
    int exponent_bits, fraction_bits, unused_bits; /* unused: the lowest bits of the register (tf32) */
} Format;

static Format format_of(PtxType type) {
    switch (type) {
    case PTX_F16:
        return (Format){5, 10, 0};
    case PTX_BF16:
        return (Format){8, 7, 0};
    case PTX_TF32:
        return (Format){8, 10, 13};
    default:
        return (Format){8, 23, 0};
    }
}

/* A finite number is significand * 2^(exponent - fraction bits of its format). */
typedef struct Term {
    int64_t significand;
    int exponent;
    bool is_infinite, is_nan;
} Term;

static Term term_of(PtxType type, uint64_t bits) {
    Format format = format_of(type);
    bits >>= format.unused_bits;
    int most = (1 << format.exponent_bits) - 1;
    int64_t fraction = (int64_t)(bits & ((UINT64_C(1) << format.fraction_bits) - 1));
    int exponent = (int)(bits >> format.fraction_bits) & most;
    bool is_negative = bits >> (format.fraction_bits + format.exponent_bits) & 1;
    Term term = {.is_infinite = exponent == most && !fraction, .is_nan = exponent == most && fraction};
    term.significand = fraction | (exponent ? INT64_C(1) << format.fraction_bits : 0);
    term.exponent = (exponent ? exponent : 1) - (most >> 1);
    if (!term.significand) term.exponent = -126;
    if (is_negative) term.significand = -term.significand;
    return term;
}

static Term product_of(Term a, Term b) {
    Term term = {.significand = a.significand * b.significand, .exponent = a.exponent + b.exponent};
    term.is_nan =
        a.is_nan || b.is_nan || (a.is_infinite && !b.significand) || (b.is_infinite && !a.significand);
    term.is_infinite = !term.is_nan && (a.is_infinite || b.is_infinite);
    return term;
}

/* The term with `kept` bits after the point of 2^top; lower bits are cut off. */
static int64_t aligned(Term term, int fraction_bits, int top) {
    int shift = KEPT_BITS - fraction_bits + term.exponent - top;
    int64_t magnitude = term.significand < 0 ? -term.significand : term.significand;
    magnitude = shift >= 0 ? magnitude << shift : shift > -63 ? magnitude >> -shift : 0;
    return term.significand < 0 ? -magnitude : magnitude;
}

/* ---- rounding ----------------------------------------------------------------------------------------- */

/* sum * 2^scale as bits of the type: truncated, or to nearest, ties to even. */
static uint64_t rounded(PtxType type, int64_t sum, int scale, bool to_nearest) {
    Format format = format_of(type);
    uint64_t sign = sum < 0 ? UINT64_C(1) << (format.exponent_bits + format.fraction_bits) : 0;
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    if (!magnitude) return 0;
    int most = (1 << format.exponent_bits) - 1, bias = most >> 1;
    int exponent = 63 - __builtin_clzll(magnitude) + scale, least = 1 - bias;
    int last = (exponent > least ? exponent : least) - format.fraction_bits; /* 2^last: the last place */
    int shift = last - scale;
    uint64_t kept = shift <= 0 ? magnitude << -shift : shift < 64 ? magnitude >> shift : 0;
    if (to_nearest && shift > 0 && shift < 64) {
        uint64_t rest = magnitude & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
        kept += rest > half || (rest == half && kept & 1);
    }
    /* The implicit bit adds one to the exponent, as does a carry. */
    uint64_t bits = kept;
    if (exponent >= least) bits += (uint64_t)(exponent - least) << format.fraction_bits;
    uint64_t infinity = (uint64_t)most << format.fraction_bits;
    if (!bits) return 0; /* never -0 */
    return sign | (bits < infinity ? bits : infinity);
}

static uint64_t special(PtxType type, bool is_nan, bool is_negative) {
    Format format = format_of(type);
    int bits = format.exponent_bits + format.fraction_bits;
    if (is_nan) return (UINT64_C(1) << bits) - 1;
    uint64_t most = (UINT64_C(1) << format.exponent_bits) - 1;
    return most << format.fraction_bits | (uint64_t)is_negative << bits;
}

/* ---- sums --------------------------------------------------------------------------------------------- */

/* `count` products and c, in the type of the sum. */
static uint64_t sum_at_once(const PtxProduct *product, PtxType sum_type, const uint64_t *a, const uint64_t *b,
                            int count, PtxType c_type, uint64_t c) {
    Term terms[MATRIX_MOST_K + 1];
    int fraction[MATRIX_MOST_K + 1], top = INT32_MIN;
    bool is_nan = false, is_infinite[2] = {false, false};
    for (int i = 0; i <= count; i++) {
        terms[i] = i == count ? term_of(c_type, c)
                              : product_of(term_of(product->a.type, a[i]), term_of(product->b.type, b[i]));
        fraction[i] =
            i == count ? format_of(c_type).fraction_bits : format_of(product->a.type).fraction_bits * 2;
        if (terms[i].exponent > top) top = terms[i].exponent;
        is_nan |= terms[i].is_nan;
        if (terms[i].is_infinite) is_infinite[terms[i].significand < 0] = true;
    }
    if (is_nan || is_infinite[0] || is_infinite[1])
        return special(sum_type, is_nan || (is_infinite[0] && is_infinite[1]), is_infinite[1]);
    int64_t sum = 0;
    for (int i = 0; i <= count; i++) sum += aligned(terms[i], fraction[i], top);
    return rounded(sum_type, sum, top - KEPT_BITS, sum_type == PTX_F16);
}

static uint64_t float_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c) {
    PtxType sum_type = product->c.type == PTX_F16 && product->d.type == PTX_F16 ? PTX_F16 : PTX_F32;
    PtxType c_type = product->c.type;
    int step = product->k_step ? product->k_step : product->k;
    for (int i = 0; i < product->k; i += step) {
        c = sum_at_once(product, sum_type, a + i, b + i, step < product->k - i ? step : product->k - i,
                        c_type, c);
        c_type = sum_type;
    }
    if (product->d.type == sum_type) return c;
    Term whole = term_of(PTX_F32, c); /* D of f16, C of f32 */
    if (whole.is_nan || whole.is_infinite) return special(PTX_F16, whole.is_nan, whole.significand < 0);
    return rounded(PTX_F16, whole.significand, whole.exponent - 23, true) | (c >> 31 ? 0x8000u : 0);
}

static double double_of(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint64_t double_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c) {
    double sum = double_of(c);
    uint64_t bits;
    for (int i = 0; i < product->k; i++) sum = fma(double_of(a[i]), double_of(b[i]), sum);
    memcpy(&bits, &sum, sizeof bits);
    return isnan(sum) ? UINT64_C(0x7ff8000000000000) : bits;
}

static int64_t integer_of(PtxType type, uint64_t bits) {
    return type == PTX_S8 ? (int8_t)bits : type == PTX_U8 ? (int64_t)(bits & 0xff) : (int32_t)bits;
}

static uint64_t integer_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c) {
    int64_t sum = integer_of(PTX_S32, c);
    for (int i = 0; i < product->k; i++)
        sum += integer_of(product->a.type, a[i]) * integer_of(product->b.type, b[i]);
    if (product->saturates && sum > INT32_MAX) sum = INT32_MAX;
    if (product->saturates && sum < INT32_MIN) sum = INT32_MIN;
    return (uint32_t)sum;
}

uint64_t matrix_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c) {
    if (product->d.type == PTX_S32) return integer_dot(product, a, b, c);
    return product->d.type == PTX_F64 ? double_dot(product, a, b, c) : float_dot(product, a, b, c);
}

/* ---- the bound ---------------------------------------------------------------------------------------- */

static double number_of(PtxType type, uint64_t bits) {
    Term term = term_of(type, bits);
    if (term.is_nan) return NAN;
    if (term.is_infinite) return term.significand < 0 ? -INFINITY : INFINITY;
    return ldexp((double)term.significand, term.exponent - format_of(type).fraction_bits);
}

static bool is_double_within(uint64_t own, uint64_t result) {
    return own == result || (isnan(double_of(own)) && isnan(double_of(result)));
}

bool matrix_dot_is_within(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c,
                          uint64_t own, uint64_t result) {
    PtxType type = product->d.type;
    if (type == PTX_S32) return own == result;
    if (type == PTX_F64) return is_double_within(own, result);
    double exact = number_of(product->c.type, c), absolute = fabs(exact), found = number_of(type, result);
    for (int i = 0; i < product->k; i++) {
        double one = number_of(product->a.type, a[i]) * number_of(product->b.type, b[i]);
        exact += one;
        absolute += fabs(one);
    }
    if (own == result || (isnan(exact) && isnan(found))) return true;
    if (isnan(exact) || isnan(found)) return false;
    if (isinf(exact)) return exact == found;
    Format format = format_of(type);
    int least = 2 - (1 << (format.exponent_bits - 1)), exponent;
    frexp(exact, &exponent);
    double unit = ldexp(1, (exponent - 1 > least ? exponent - 1 : least) - format.fraction_bits);
    double bound = (product->k + 2) * 0x1p-23 * absolute + 2 * unit;
    if (product->c.type == PTX_F16 && type == PTX_F16) bound += 0x1p-10 * absolute;
    if (isinf(found)) /* past the largest number */
        return fabs(exact) + bound >=
                   ldexp(2 - ldexp(1, -format.fraction_bits), (1 << (format.exponent_bits - 1)) - 1) &&
               signbit(exact) == signbit(found);
    return fabs(found - exact) <= bound;
}
