/* A 16-bit float is sign, exponent and mantissa; half has 5 and 10 bits, bfloat16 8 and 7. */
#include "plan/float16.h"

#include <math.h>

typedef struct Float16Format {
    int exponent_bits, mantissa_bits;
} Float16Format;

static const Float16Format HALF = {5, 10}, BFLOAT = {8, 7};

static int bias(Float16Format format) {
    return (1 << (format.exponent_bits - 1)) - 1;
}
static int32_t infinity_bits(Float16Format format) {
    return ((1 << format.exponent_bits) - 1) << format.mantissa_bits;
}

static double read(Float16Format format, uint16_t bits) {
    int32_t magnitude = bits & 0x7fff, mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
    int exponent = magnitude >> format.mantissa_bits;
    double result;
    if (magnitude > infinity_bits(format)) return NAN;
    if (magnitude == infinity_bits(format)) {
        result = INFINITY;
    } else {
        if (exponent)
            mantissa += 1 << format.mantissa_bits;
        else
            exponent = 1; /* subnormal */
        result = ldexp(mantissa, exponent - bias(format) - format.mantissa_bits);
    }
    return bits & 0x8000 ? -result : result;
}

static uint16_t write(Float16Format format, double number) {
    if (isnan(number)) return 0x7fff;
    uint16_t sign = signbit(number) ? 0x8000 : 0;
    double magnitude = fabs(number);
    if (magnitude == 0) return sign;
    int exponent = 0, smallest = 1 - bias(format);
    if (isinf(magnitude)) return (uint16_t)(sign | infinity_bits(format));
    frexp(magnitude, &exponent);
    exponent -= 1; /* magnitude = 1.xxx * 2^exponent */
    if (exponent > bias(format)) return (uint16_t)(sign | infinity_bits(format));
    if (exponent < smallest) exponent = smallest;
    /* In units of the last mantissa bit. A carry out of the mantissa moves into the exponent by itself. */
    double units = nearbyint(ldexp(magnitude, format.mantissa_bits - exponent));
    int32_t bits = ((exponent - smallest) << format.mantissa_bits) + (int32_t)units;
    return (uint16_t)(sign | bits);
}

double float16_half_read(uint16_t bits) {
    return read(HALF, bits);
}
double float16_bfloat_read(uint16_t bits) {
    return read(BFLOAT, bits);
}
uint16_t float16_half_write(double number) {
    return write(HALF, number);
}
uint16_t float16_bfloat_write(double number) {
    return write(BFLOAT, number);
}
