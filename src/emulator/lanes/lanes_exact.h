/* Exact: floating-point arithmetic in integers, where the host's is not exact. Used for rounding other than
 * to nearest, narrow formats and their fused operations, and conversions.
 *
 * A number is unpacked into an Exact, operated on without loss (*sticky* says that bits below the 128 kept
 * ones are not 0), and rounded once into a format. Results do not depend on the host's rounding mode, FMA or
 * NaNs. An operation takes tens of nanoseconds. Rules: IEEE 754-2008 and "Floating-Point Instructions" of the
 * PTX ISA. */
#ifndef EMULATOR_LANES_LANES_EXACT_H
#define EMULATOR_LANES_LANES_EXACT_H

#include "ptx/ptx.h"

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

typedef struct FloatFormat {
    int mantissa, exponent; /* bits; the value's bits are sign, exponent, mantissa from the top */
    int shift;              /* unused low bits in storage (tf32: 13) */
    uint64_t largest;       /* finite magnitude */
    uint64_t infinity;      /* magnitude; 0: the format has none */
    uint64_t nan;           /* written for a NaN */
} FloatFormat;

extern const FloatFormat FORMAT_F16, FORMAT_BF16, FORMAT_F32, FORMAT_F64, FORMAT_TF32, FORMAT_E4M3,
    FORMAT_E5M2, FORMAT_E3M2, FORMAT_E2M3, FORMAT_E2M1;

typedef enum ExactKind { EXACT_ZERO, EXACT_FINITE, EXACT_INFINITE, EXACT_NAN } ExactKind;

typedef struct Exact { /* significand * 2^exponent, plus a little more if sticky */
    ExactKind kind;
    bool negative, sticky;
    int exponent;
    Wide significand;
} Exact;

/* Rounding: PTX_MOD_RN, _RZ, _RM, _RP, _RNA; the integer forms _RNI, _RZI, _RMI, _RPI mean the same. */
Exact exact_of(const FloatFormat *format, uint64_t bits);
Exact exact_of_unsigned(uint64_t value);
Exact exact_of_signed(int64_t value);
Exact exact_negate(Exact x);
Exact exact_multiply(Exact x, Exact y);
/* the sign of a zero sum depends on the rounding */
Exact exact_add(Exact x, Exact y, PtxModifierKind rounding);
Exact exact_divide(Exact x, Exact y);
Exact exact_sqrt(Exact x);
/* Rounds to an integer, kept as an Exact; keeps the sign of zero. */
Exact exact_to_integer(Exact x, PtxModifierKind rounding);

/* Bits in `format`. `saturate_finite`: overflow gives the largest finite value instead of infinity. */
uint64_t exact_round(Exact x, const FloatFormat *format, PtxModifierKind rounding, bool saturate_finite);
/* True for a number that .ftz flushes: below the smallest normal number after rounding to the format's
 * precision with an unbounded exponent. (An H200 does this; rounding to a subnormal first, with fewer bits,
 * can give the smallest normal number.) */
bool exact_is_tiny(Exact x, const FloatFormat *format, PtxModifierKind rounding);
/* An integral Exact, clamped to low..high. The caller handles NaN. */
SignedWide exact_clamp(Exact x, SignedWide low, SignedWide high);

#endif
