/* A 16-bit float is sign, exponent and mantissa; half has 5 and 10 bits, bfloat16 8 and 7. */
#include "plan/float16.h"

#include <math.h>
#include <string.h>

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

/* 2^exponent, as far as doubles have normal ones. */
static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
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
        result = mantissa * power_of_two(exponent - bias(format) - format.mantissa_bits);
    }
    return bits & 0x8000 ? -result : result;
}

static uint16_t write(Float16Format format, double number) {
    if (isnan(number)) return 0x7fff;
    uint16_t sign = signbit(number) ? 0x8000 : 0;
    double magnitude = fabs(number);
    uint64_t double_bits;
    memcpy(&double_bits, &magnitude, sizeof double_bits);
    /* magnitude = 1.xxx * 2^exponent; that of a subnormal double is smaller still than it says */
    int exponent = (int)(double_bits >> 52) - 1023, smallest = 1 - bias(format);
    if (exponent > bias(format)) return (uint16_t)(sign | infinity_bits(format));
    if (exponent < smallest) exponent = smallest;
    /* In units of the last mantissa bit. A carry out of the mantissa moves into the exponent by itself. The
     * sum with 2^52 has no bits behind the point. */
    double units = magnitude * power_of_two(format.mantissa_bits - exponent);
    double rounded = units + 0x1p52;
    int32_t bits = ((exponent - smallest) << format.mantissa_bits) + (int32_t)(rounded - 0x1p52);
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
