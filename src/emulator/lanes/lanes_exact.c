/* Floating-point arithmetic in integers. */
#include "emulator/lanes/lanes_exact.h"

/* One NaN per format, as the hardware writes it: all bits set except the sign; f64: see CUDA's
 * math_constants.h. */
const FloatFormat FORMAT_F16 = {10, 5, 0, 0x7bff, 0x7c00, 0x7fff};
const FloatFormat FORMAT_BF16 = {7, 8, 0, 0x7f7f, 0x7f80, 0x7fff};
const FloatFormat FORMAT_F32 = {23, 8, 0, 0x7f7fffff, 0x7f800000, 0x7fffffff};
const FloatFormat FORMAT_F64 = {52, 11, 0, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff8000000000000};
const FloatFormat FORMAT_TF32 = {10, 8, 13, 0x3fbff, 0x3fc00, 0x3ffff};
const FloatFormat FORMAT_E4M3 = {3, 4, 0, 0x7e, 0, 0x7f};
const FloatFormat FORMAT_E5M2 = {2, 5, 0, 0x7b, 0x7c, 0x7f};
/* Formats without infinity and NaN; a NaN becomes the largest number. */
const FloatFormat FORMAT_E3M2 = {2, 3, 0, 0x1f, 0, 0x1f};
const FloatFormat FORMAT_E2M3 = {3, 2, 0, 0x1f, 0, 0x1f};
const FloatFormat FORMAT_E2M1 = {1, 2, 0, 0x07, 0, 0x07};

/* Significands are kept left-justified with two bits of headroom. */
enum { TOP = 125 };

static int highest_bit(Wide x) {
    uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

static Exact justified(Exact x) {
    int move = TOP - highest_bit(x.significand);
    if (move < 0) {
        x.sticky |= (x.significand & (((Wide)1 << -move) - 1)) != 0;
        x.significand >>= -move;
    } else {
        x.significand <<= move;
    }
    x.exponent -= move;
    return x;
}

static Exact special(ExactKind kind, bool negative) {
    return (Exact){.kind = kind, .negative = negative};
}

static Exact finite(bool negative, Wide significand, int exponent, bool sticky) {
    if (significand == 0) return special(EXACT_ZERO, negative);
    return justified((Exact){EXACT_FINITE, negative, sticky, exponent, significand});
}

static int bias(const FloatFormat *format) {
    return (1 << (format->exponent - 1)) - 1;
}

Exact exact_of(const FloatFormat *format, uint64_t bits) {
    bits >>= format->shift;
    uint64_t magnitude = bits & ((UINT64_C(1) << (format->mantissa + format->exponent)) - 1);
    uint64_t fraction = bits & ((UINT64_C(1) << format->mantissa) - 1);
    int field = (int)(magnitude >> format->mantissa);
    bool negative = (bits >> (format->mantissa + format->exponent)) & 1;
    if (magnitude > format->largest)
        return special(magnitude == format->infinity ? EXACT_INFINITE : EXACT_NAN, negative);
    if (field) fraction |= UINT64_C(1) << format->mantissa;
    return finite(negative, fraction, (field ? field : 1) - bias(format) - format->mantissa, false);
}

Exact exact_of_unsigned(uint64_t value) {
    return finite(false, value, 0, false);
}

Exact exact_of_signed(int64_t value) {
    return finite(value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0, false);
}

Exact exact_negate(Exact x) {
    x.negative = !x.negative;
    return x;
}

Exact exact_multiply(Exact x, Exact y) {
    bool negative = x.negative != y.negative;
    if (x.kind == EXACT_NAN || y.kind == EXACT_NAN) return special(EXACT_NAN, false);
    if (x.kind == EXACT_INFINITE || y.kind == EXACT_INFINITE)
        return special(x.kind == EXACT_ZERO || y.kind == EXACT_ZERO ? EXACT_NAN : EXACT_INFINITE, negative);
    if (x.kind == EXACT_ZERO || y.kind == EXACT_ZERO) return special(EXACT_ZERO, negative);
    /* Factors come from formats of at most 64 bits, so the upper 64 bits hold all of each. */
    return finite(negative, (x.significand >> 62) * (y.significand >> 62), x.exponent + y.exponent + 124,
                  false);
}

Exact exact_add(Exact x, Exact y, PtxModifierKind rounding) {
    if (x.kind == EXACT_NAN || y.kind == EXACT_NAN) return special(EXACT_NAN, false);
    if (x.kind == EXACT_INFINITE)
        return y.kind == EXACT_INFINITE && x.negative != y.negative ? special(EXACT_NAN, false) : x;
    if (y.kind == EXACT_INFINITE) return y;
    bool down = rounding == PTX_MOD_RM || rounding == PTX_MOD_RMI;
    if (x.kind == EXACT_ZERO && y.kind == EXACT_ZERO)
        return special(EXACT_ZERO, x.negative == y.negative ? x.negative : down);
    if (x.kind == EXACT_ZERO) return y;
    if (y.kind == EXACT_ZERO) return x;
    if (x.exponent < y.exponent || (x.exponent == y.exponent && x.significand < y.significand)) {
        Exact swap = x;
        x = y, y = swap;
    }
    int apart = x.exponent - y.exponent;
    Wide other = apart > 127 ? 0 : y.significand >> apart;
    bool lost = apart > 127 || (apart > 0 && (y.significand & (((Wide)1 << apart) - 1)) != 0);
    if (x.negative == y.negative) return finite(x.negative, x.significand + other, x.exponent, lost);
    /* The lost part makes the difference a little smaller: borrow one and leave a remainder. */
    Wide difference = x.significand - other - (lost ? 1 : 0);
    if (difference == 0 && !lost) return special(EXACT_ZERO, down);
    return finite(x.negative, difference, x.exponent, lost);
}

Exact exact_divide(Exact x, Exact y) {
    bool negative = x.negative != y.negative;
    if (x.kind == EXACT_NAN || y.kind == EXACT_NAN || (x.kind == y.kind && x.kind != EXACT_FINITE))
        return special(EXACT_NAN, false);
    if (x.kind == EXACT_INFINITE || y.kind == EXACT_ZERO) return special(EXACT_INFINITE, negative);
    if (x.kind == EXACT_ZERO || y.kind == EXACT_INFINITE) return special(EXACT_ZERO, negative);
    Wide divisor = y.significand >> 62, quotient = x.significand / divisor;
    return finite(negative, quotient, x.exponent - y.exponent - 62, x.significand % divisor != 0);
}

Exact exact_sqrt(Exact x) {
    if (x.kind == EXACT_NAN || (x.negative && x.kind != EXACT_ZERO)) return special(EXACT_NAN, false);
    if (x.kind != EXACT_FINITE) return x;
    Wide left = x.significand, root = 0;
    int exponent = x.exponent;
    if (exponent & 1) left <<= 1, exponent--;
    for (Wide bit = (Wide)1 << 126; bit; bit >>= 2) {
        if (left >= root + bit) {
            left -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return finite(false, root, exponent / 2, left != 0);
}

/* True if a magnitude without its low bits `rest` (and sticky) is rounded up; half is one half of the last
 * kept bit. */
static bool rounds_up(PtxModifierKind rounding, bool negative, bool odd, Wide rest, Wide half, bool sticky) {
    bool inexact = rest != 0 || sticky;
    switch (rounding) {
    case PTX_MOD_RZ:
    case PTX_MOD_RZI:
        return false;
    case PTX_MOD_RM:
    case PTX_MOD_RMI:
        return negative && inexact;
    case PTX_MOD_RP:
    case PTX_MOD_RPI:
        return !negative && inexact;
    case PTX_MOD_RNA:
        return rest >= half;
    default:
        return rest > half || (rest == half && (sticky || odd));
    }
}

/* The significand in units of 2^quantum, rounded. */
static Wide quantize(Exact x, int quantum, PtxModifierKind rounding) {
    int cut = quantum - x.exponent;
    if (cut <= 0) return x.significand << -cut;
    Wide kept = cut > 127 ? 0 : x.significand >> cut;
    /* Beyond 127 bits, the whole value is less than a quarter: any rest below half says so. */
    Wide rest = cut > 127 ? 1 : x.significand & (((Wide)1 << cut) - 1),
         half = (Wide)1 << (cut > 127 ? 126 : cut - 1);
    return kept + rounds_up(rounding, x.negative, kept & 1, rest, half, x.sticky);
}

Exact exact_to_integer(Exact x, PtxModifierKind rounding) {
    if (x.kind != EXACT_FINITE || x.exponent >= 0) return x;
    return finite(x.negative, quantize(x, 0, rounding), 0, false);
}

static bool overflows_to_infinity(PtxModifierKind rounding, bool negative) {
    switch (rounding) {
    case PTX_MOD_RZ:
        return false;
    case PTX_MOD_RM:
        return negative;
    case PTX_MOD_RP:
        return !negative;
    default:
        return true;
    }
}

uint64_t exact_round(Exact x, const FloatFormat *format, PtxModifierKind rounding, bool saturate_finite) {
    uint64_t sign = x.negative ? UINT64_C(1) << (format->mantissa + format->exponent) : 0, magnitude = 0;
    bool to_largest = saturate_finite || format->infinity == 0;
    switch (x.kind) {
    case EXACT_NAN:
        return format->nan << format->shift;
    case EXACT_ZERO:
        break;
    case EXACT_INFINITE:
        magnitude = to_largest ? format->largest : format->infinity;
        break;
    case EXACT_FINITE: {
        int power = x.exponent + TOP, least = 1 - bias(format); /* of the smallest normal number */
        int quantum = (power < least ? least : power) - format->mantissa;
        if (power > bias(format) + 1) {
            magnitude = UINT64_MAX;
        } else {
            /* The leading one of a normal significand adds one to the exponent field; so does a carry. */
            magnitude = (uint64_t)quantize(x, quantum, rounding);
            if (power > least) magnitude += (uint64_t)(power - least) << format->mantissa;
        }
        if (magnitude > format->largest)
            magnitude = to_largest || !overflows_to_infinity(rounding, x.negative) ? format->largest
                                                                                   : format->infinity;
        break;
    }
    }
    return (sign | magnitude) << format->shift;
}

bool exact_is_tiny(Exact x, const FloatFormat *format, PtxModifierKind rounding) {
    if (x.kind != EXACT_FINITE) return false;
    int power = x.exponent + TOP, least = 1 - bias(format);
    if (power != least - 1) return power < least;
    return quantize(x, power - format->mantissa, rounding) >> (format->mantissa + 1) == 0; /* no carry */
}

SignedWide exact_clamp(Exact x, SignedWide low, SignedWide high) {
    if (x.kind == EXACT_ZERO) return 0;
    SignedWide bound = x.negative ? low : high;
    if (x.kind == EXACT_INFINITE || x.exponent + TOP > 100) return bound;
    SignedWide value =
        (SignedWide)(x.exponent < 0 ? x.significand >> -x.exponent : x.significand << x.exponent);
    if (x.negative) value = -value;
    return value < low ? low : value > high ? high : value;
}
