/* Dot products of tensor cores (matrix_dot.h). */
#include "emulator/instructions/matrix_dot.h"

#include <math.h>
#include <string.h>

typedef struct Format {
    int exponent_bits, fraction_bits, unused_bits; /* unused: the lowest bits of the register (tf32) */
    bool is_finite;                                /* no infinity, and a NaN only with all bits set */
} Format;

static Format format_of(PtxType type) {
    switch (type) {
    case PTX_E4M3:
        return (Format){4, 3, 0, true};
    case PTX_E5M2:
        return (Format){5, 2, 0, false};
    case PTX_F16:
        return (Format){5, 10, 0, false};
    case PTX_BF16:
        return (Format){8, 7, 0, false};
    case PTX_TF32:
        return (Format){8, 10, 13, false};
    default:
        return (Format){8, 23, 0, false};
    }
}

/* A finite number is significand * 2^(exponent - fraction_bits). A product is not normalized: its significand
 * is below 4. */
typedef struct Term {
    int64_t significand;
    int exponent, fraction_bits;
    bool is_infinite, is_nan;
} Term;

static Term term_of(PtxType type, uint64_t bits) {
    Format format = format_of(type);
    bits >>= format.unused_bits;
    int most = (1 << format.exponent_bits) - 1;
    int64_t fraction = (int64_t)(bits & ((UINT64_C(1) << format.fraction_bits) - 1));
    int exponent = (int)(bits >> format.fraction_bits) & most;
    bool is_negative = bits >> (format.fraction_bits + format.exponent_bits) & 1;
    bool is_special = exponent == most && !format.is_finite;
    Term term = {.fraction_bits = format.fraction_bits, .is_infinite = is_special && !fraction};
    term.is_nan = (is_special && fraction) ||
                  (format.is_finite && exponent == most && fraction == (1 << format.fraction_bits) - 1);
    term.significand = fraction | (exponent ? INT64_C(1) << format.fraction_bits : 0);
    term.exponent = (exponent ? exponent : 1) - (most >> 1);
    if (is_negative) term.significand = -term.significand;
    return term;
}

static Term product_of(Term a, Term b) {
    Term term = {.significand = a.significand * b.significand,
                 .exponent = a.exponent + b.exponent,
                 .fraction_bits = a.fraction_bits + b.fraction_bits};
    term.is_nan =
        a.is_nan || b.is_nan || (a.is_infinite && !b.significand) || (b.is_infinite && !a.significand);
    term.is_infinite = !term.is_nan && (a.is_infinite || b.is_infinite);
    return term;
}

/* The term in units of 2^(top - kept_bits); lower bits are cut off. */
static int64_t aligned(Term term, int kept_bits, int top) {
    int shift = kept_bits - term.fraction_bits + term.exponent - top;
    int64_t magnitude = term.significand < 0 ? -term.significand : term.significand;
    if (!magnitude) return 0; /* it may lie far above `top`, which it does not decide */
    magnitude = shift >= 0 ? magnitude << shift : shift > -63 ? magnitude >> -shift : 0;
    return term.significand < 0 ? -magnitude : magnitude;
}

/* ---- rounding ----------------------------------------------------------------------------------------- */

/* sum * 2^scale as bits of the format: truncated, or to nearest, ties to even. */
static uint64_t rounded(Format format, int64_t sum, int scale, bool to_nearest) {
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

/* The sum of these terms as a tensor core makes it. An f32 result has no more bits after the point than the
 * terms. */
static uint64_t aligned_cut_sum(PtxType sum_type, int kept_bits, const Term *terms, int count) {
    int top = INT32_MIN;
    bool is_nan = false, is_infinite[2] = {false, false};
    for (int i = 0; i < count; i++) {
        if (terms[i].significand && terms[i].exponent > top) top = terms[i].exponent;
        is_nan |= terms[i].is_nan;
        if (terms[i].is_infinite) is_infinite[terms[i].significand < 0] = true;
    }
    if (is_nan || is_infinite[0] || is_infinite[1])
        return special(sum_type, is_nan || (is_infinite[0] && is_infinite[1]), is_infinite[1]);
    if (top == INT32_MIN) return 0;
    int64_t sum = 0;
    for (int i = 0; i < count; i++) sum += aligned(terms[i], kept_bits, top);
    Format format = format_of(sum_type);
    int unused =
        kept_bits < format.fraction_bits && sum_type == PTX_F32 ? format.fraction_bits - kept_bits : 0;
    format.fraction_bits -= unused;
    return rounded(format, sum, top - kept_bits, sum_type == PTX_F16) << unused;
}

static uint64_t to_f16(Term term) {
    if (term.is_nan || term.is_infinite) return special(PTX_F16, term.is_nan, term.significand < 0);
    uint64_t sign = term.significand < 0 ? 0x8000u : 0;
    return rounded(format_of(PTX_F16), term.significand, term.exponent - term.fraction_bits, true) | sign;
}

static uint64_t float_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c) {
    PtxType sum_type = product->c.type == PTX_F16 && product->d.type == PTX_F16 ? PTX_F16 : PTX_F32;
    PtxType c_type = product->c.type;
    int step = product->k_step ? product->k_step : product->k;
    for (int i = 0; i < product->k; i += step) {
        Term terms[MATRIX_MOST_K + 1];
        int count = step < product->k - i ? step : product->k - i;
        for (int j = 0; j < count; j++)
            terms[j] = product_of(term_of(product->a.type, a[i + j]), term_of(product->b.type, b[i + j]));
        terms[count] = term_of(c_type, c);
        c = aligned_cut_sum(sum_type, product->kept_bits, terms, count + 1);
        c_type = sum_type;
    }
    return product->d.type == sum_type ? c : to_f16(term_of(PTX_F32, c));
}

/* T + C, rounded to nearest: FADD or HADD. */
static uint64_t rounded_sum(PtxType type, uint64_t t, uint64_t c) {
    Term of_t = term_of(type, t), of_c = term_of(type, c);
    bool is_nan = of_t.is_nan || of_c.is_nan ||
                  (of_t.is_infinite && of_c.is_infinite && (of_t.significand < 0) != (of_c.significand < 0));
    if (is_nan || of_t.is_infinite || of_c.is_infinite)
        return special(type, is_nan, (of_t.is_infinite ? of_t : of_c).significand < 0);
    if (type == PTX_F16) {
        int64_t sum = of_t.significand * (INT64_C(1) << (of_t.exponent + 14)) +
                      of_c.significand * (INT64_C(1) << (of_c.exponent + 14));
        return rounded(format_of(type), sum, -14 - of_t.fraction_bits, true);
    }
    uint32_t bits[2] = {(uint32_t)t, (uint32_t)c};
    float numbers[2];
    memcpy(numbers, bits, sizeof numbers);
    numbers[0] += numbers[1];
    memcpy(bits, numbers, sizeof *bits);
    return bits[0];
}

/* mma.sync of e4m3 and e5m2: ptxas converts them to f16. The first product has the elements with k % 4 of 0
 * and 1, the second the others; C is added last. */
static uint64_t converted_dot(const PtxProduct *product, const uint64_t *a, const uint64_t *b, uint64_t c) {
    PtxProduct half = *product;
    half.a.type = half.b.type = PTX_F16;
    half.k = (product->k + 1) / 2;
    half.converts = false;
    uint64_t sum = 0;
    for (int part = 0; part < 2; part++) {
        uint64_t of_a[MATRIX_MOST_K], of_b[MATRIX_MOST_K];
        for (int i = 0; i < half.k; i++) {
            int k = i / 2 * 4 + i % 2 + 2 * part;
            of_a[i] = k < product->k ? to_f16(term_of(product->a.type, a[k])) : 0;
            of_b[i] = k < product->k ? to_f16(term_of(product->b.type, b[k])) : 0;
        }
        sum = float_dot(&half, of_a, of_b, sum);
    }
    return rounded_sum(product->d.type, sum, c);
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
    if (product->converts) return converted_dot(product, a, b, c);
    return product->d.type == PTX_F64 ? double_dot(product, a, b, c) : float_dot(product, a, b, c);
}

/* ---- the bound ---------------------------------------------------------------------------------------- */

static double number_of(PtxType type, uint64_t bits) {
    Term term = term_of(type, bits);
    if (term.is_nan) return NAN;
    if (term.is_infinite) return term.significand < 0 ? -INFINITY : INFINITY;
    return ldexp((double)term.significand, term.exponent - term.fraction_bits);
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
