/* Bounds of .approx (approximate.h). */
#include "ptx/approximate.h"

#include "ptx/opcodes.h"

#include <math.h>
#include <string.h>

/* An error is at most absolute + relative * |true result| + units * its last place. */
typedef struct Bound {
    PtxOpcode opcode;
    PtxType type;
    double up_to; /* |argument|; the first row with a large enough bound applies */
    double absolute, relative, units;
} Bound;

#define ALL INFINITY
#define PI  3.14159265358979323846

/* Sources: PTX ISA 9.0, "Floating Point Instructions" (9.7.3) and "Half Precision Floating Point
 * Instructions" (9.7.4), which state the bound of each instruction. A row says so if the bound holds only for
 * a part of the range, or is not stated. */
static const Bound bounds[] = {
    {PTX_div, PTX_F32, ALL, 0, 0, 2},        /* .approx: 2 ulp for 2^-126 <= |b| <= 2^126; .full: 2 ulp */
    {PTX_rcp, PTX_F32, ALL, 0, 0, 1},        /* 1 ulp */
    {PTX_sqrt, PTX_F32, ALL, 0, 0x1p-23, 0}, /* 2^-23 relative */
    {PTX_rsqrt, PTX_F32, ALL, 0, 0x1.125fbfp-23, 0},  /* 2^-22.9 relative */
    {PTX_sin, PTX_F32, 2 * PI, 0x1.6a09e7p-21, 0, 0}, /* 2^-20.5 absolute in [-2pi, 2pi] */
    {PTX_sin, PTX_F32, ALL, 0x1.3b2c48p-15, 0,
     0}, /* 2^-14.7 absolute in [-100pi, 100pi]; beyond: best effort */
    {PTX_cos, PTX_F32, 2 * PI, 0x1.6a09e7p-21, 0, 0},
    {PTX_cos, PTX_F32, ALL, 0x1.3b2c48p-15, 0, 0},
    {PTX_lg2, PTX_F32, 0.5, 0, 0x1p-22, 0}, /* 2^-22 relative */
    {PTX_lg2, PTX_F32, 2, 0x1p-22, 0, 0},   /* 2^-22 absolute in (0.5, 2) */
    {PTX_lg2, PTX_F32, ALL, 0, 0x1p-22, 0},
    {PTX_ex2, PTX_F32, ALL, 0, 0, 2},                    /* 2 ulp */
    {PTX_ex2, PTX_F16, ALL, 0x1p-25, 0x1.125fbfp-10, 0}, /* 2^-9.9 relative; subnormal results are rounded */
    /* 2^-7 relative; .ftz: the smallest normal becomes 0. */
    {PTX_ex2, PTX_BF16, ALL, 0x1p-126, 0x1p-7, 0},
    {PTX_tanh, PTX_F32, ALL, 0, 0x1p-11, 0},        /* 2^-11 relative */
    {PTX_tanh, PTX_F16, ALL, 0x1.025136p-11, 0, 0}, /* 2^-10.987 absolute */
    {PTX_tanh, PTX_BF16, ALL, 0, 0x1p-8, 0},        /* 2^-8 relative */
    {PTX_rcp, PTX_F64, ALL, 0, 0x1p-19, 0},         /* none stated; the result has 20 bits of fraction */
    {PTX_rsqrt, PTX_F64, ALL, 0, 0x1p-19, 0},       /* none stated; .ftz has 20 bits of fraction */
};

typedef struct FloatFormatBits {
    int bytes, exponent_bits, fraction_bits;
} FloatFormatBits;

static FloatFormatBits format_of(PtxType type) {
    switch (type) {
    case PTX_F16:
        return (FloatFormatBits){2, 5, 10};
    case PTX_BF16:
        return (FloatFormatBits){2, 8, 7};
    case PTX_F64:
        return (FloatFormatBits){8, 11, 52};
    default:
        return (FloatFormatBits){4, 8, 23};
    }
}

static double number_of(FloatFormatBits format, uint64_t bits) {
    uint64_t fraction = bits & ((UINT64_C(1) << format.fraction_bits) - 1);
    int most = (1 << format.exponent_bits) - 1;
    int exponent = (int)(bits >> format.fraction_bits) & most, bias = most >> 1;
    double sign = bits >> (8 * format.bytes - 1) & 1 ? -1 : 1;
    if (exponent == most) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent) fraction |= UINT64_C(1) << format.fraction_bits;
    return sign * ldexp((double)fraction, (exponent ? exponent : 1) - bias - format.fraction_bits);
}

/* The unit in the last place of a number of this size. */
static double unit_of(FloatFormatBits format, double number) {
    int exponent, least = 2 - (1 << (format.exponent_bits - 1));
    frexp(number, &exponent);
    exponent--;
    return ldexp(1.0, (exponent > least ? exponent : least) - format.fraction_bits);
}

static const Bound *find_bound(const PtxInstruction *in, PtxType type, double argument) {
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].opcode == in->opcode && bounds[i].type == type && !(fabs(argument) > bounds[i].up_to))
            return &bounds[i];
    return NULL;
}

static PtxType element_type(PtxType type) {
    return type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : type;
}

bool ptx_is_approximate(const PtxInstruction *in) {
    if (!ptx_instruction_has(in, PTX_MOD_APPROX) && !ptx_instruction_has(in, PTX_MOD_FULL)) return false;
    return in->type_count && find_bound(in, element_type(in->types[0]), 0) != NULL;
}

/* .ftz flushes a subnormal to 0; rounding may cross the smallest normal number in either direction. */
static bool is_flushed(const PtxInstruction *in, FloatFormatBits format, double number) {
    return ptx_instruction_has(in, PTX_MOD_FTZ) &&
           fabs(number) <= ldexp(1.0, 2 - (1 << (format.exponent_bits - 1)));
}

static bool is_element_within(const PtxInstruction *in, PtxType type, uint64_t argument, uint64_t nearest,
                              uint64_t result) {
    FloatFormatBits format = format_of(type);
    const Bound *bound = find_bound(in, type, number_of(format, argument));
    double expected = number_of(format, nearest), found = number_of(format, result);
    if (nearest == result || (isnan(expected) && isnan(found))) return true;
    if (!bound || isnan(expected) || isnan(found)) return false;
    if (is_flushed(in, format, expected) && is_flushed(in, format, found)) return true;
    if (isinf(expected) || isinf(found)) { /* one of them rounds past the largest number */
        double largest = ldexp(2.0 - unit_of(format, 1.0), (1 << (format.exponent_bits - 1)) - 1);
        return copysign(1.0, expected) == copysign(1.0, found) &&
               fmin(fabs(expected), fabs(found)) >= largest;
    }
    double unit = unit_of(format, expected); /* half of one: `nearest` is rounded */
    return fabs(found - expected) <=
           bound->absolute + bound->relative * fabs(expected) + (bound->units + 0.5) * unit;
}

bool ptx_is_within_bound(const PtxInstruction *in, uint64_t argument, uint64_t nearest, uint64_t result) {
    PtxType whole = in->types[0], type = element_type(whole);
    int bits = 8 * format_of(type).bytes, count = type == whole ? 1 : 2;
    uint64_t mask = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    for (int i = 0; i < count; i++)
        if (!is_element_within(in, type, argument >> i * bits & mask, nearest >> i * bits & mask,
                               result >> i * bits & mask))
            return false;
    return true;
}

bool ptx_reads_machine(const PtxInstruction *in) {
    static const char *const names[] = {"%clock",          "%clock_hi",       "%clock64", "%globaltimer",
                                        "%globaltimer_lo", "%globaltimer_hi", "%smid",    "%nsmid",
                                        "%warpid",         "%nwarpid"};
    if (in->opcode != PTX_mov || in->operand_count != 2 || in->operands[1].kind != PTX_OPERAND_SPECIAL)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(in->operands[1].name, names[i])) return true;
    return false;
}
