/* Exact: floating-point arithmetic in integers, where the host's is not exact. It is needed for rounding
 * other than to nearest, narrow formats, fused operations on them, conversions.
 *
 * A number is unpacked into an Exact, operated on without loss (what falls below 128 bits is remembered as
 * *sticky*), and rounded once into a format. It does not depend on the host's rounding mode, on its FMA or on
 * its NaNs. It is slow: tens of nanoseconds per operation. Rules: IEEE 754-2008 and "Floating-Point
 * Instructions" of the PTX ISA. */
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
    uint64_t nan;           /* what is written for NaN */
} FloatFormat;

extern const FloatFormat FORMAT_F16, FORMAT_BF16, FORMAT_F32, FORMAT_F64, FORMAT_TF32, FORMAT_E4M3,
    FORMAT_E5M2, FORMAT_E3M2, FORMAT_E2M3, FORMAT_E2M1;

typedef enum ExactKind { EXACT_ZERO, EXACT_FINITE, EXACT_INFINITE, EXACT_NAN } ExactKind;

typedef struct Exact { /* significand * 2^exponent, and a bit more where sticky */
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
Exact exact_add(Exact x, Exact y,
                PtxModifierKind rounding); /* the sign of a zero sum depends on the rounding */
Exact exact_divide(Exact x, Exact y);
Exact exact_sqrt(Exact x);
/* Rounds to an integer, kept as an Exact; the sign of zero stays. */
Exact exact_to_integer(Exact x, PtxModifierKind rounding);

/* Bits in `format`. `saturate_finite`: overflow gives the largest finite value instead of infinity. */
uint64_t exact_round(Exact x, const FloatFormat *format, PtxModifierKind rounding, bool saturate_finite);
/* What .ftz flushes: below the smallest normal number after rounding to the format's precision, whatever the
 * exponent. (What an H200 does; rounding to a subnormal first, with fewer bits, can give the smallest normal
 * number.) */
bool exact_is_tiny(Exact x, const FloatFormat *format, PtxModifierKind rounding);
/* An Exact that is an integer, clamped to low..high. NaN must have been dealt with. */
SignedWide exact_clamp(Exact x, SignedWide low, SignedWide high);

#endif
