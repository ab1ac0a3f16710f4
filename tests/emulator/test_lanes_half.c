/* Arithmetic of f16 and bf16 rounds once (PTX ISA 9.7.4): against sums and products in 128-bit integers,
 * which are exact, and against the compiler's _Float16 if it has one. Modifiers are in test_lanes_float.c and
 * test_lanes_flush.c; here fma.oob. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_formula.h"
#include <math.h>
#include <string.h>

enum { COUNT = 3000 };

typedef enum Operation { ADD, SUB, MUL, FMA } Operation;

typedef struct Half {
    int mantissa, exponent, lowest; /* sources are integers in units of 2^lowest */
} Half;
static const Half f16 = {10, 5, -24}, bf16 = {7, 8, -31};

static double decode(const Half *half, uint64_t bits) {
    int field = (int)(bits >> half->mantissa & ((1u << half->exponent) - 1)),
        bias = (1 << (half->exponent - 1)) - 1;
    double fraction = (double)(bits & ((1u << half->mantissa) - 1)), sign = bits & 0x8000 ? -1 : 1;
    if (field == (1 << half->exponent) - 1) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    if (field == 0) return sign * ldexp(fraction, 1 - bias - half->mantissa);
    return sign * ldexp(fraction + ldexp(1, half->mantissa), field - bias - half->mantissa);
}

/* units * 2^power to nearest even; units are not 0. */
static uint64_t encode(const Half *half, Int units, int power) {
    uint64_t sign = units < 0 ? 0x8000 : 0;
    int top = power - 1, bias = (1 << (half->exponent - 1)) - 1;
    if (units < 0) units = -units;
    for (Int rest = units; rest; rest >>= 1) top++;
    int last = (top > 1 - bias ? top : 1 - bias) - half->mantissa, cut = last - power;
    Int digits = cut <= 0 ? units << -cut : units >> cut, rest = cut <= 0 ? 0 : units & int_ones(cut);
    Int middle = cut <= 0 ? 1 : (Int)1 << (cut - 1);
    digits += rest > middle || (rest == middle && (digits & 1));
    int field = last + half->mantissa + bias - 1; /* the leading one adds one */
    Int code = digits + ((Int)field << half->mantissa),
        infinity = ((Int)1 << 15) - ((Int)1 << half->mantissa);
    return sign | (uint64_t)(code < infinity ? code : infinity);
}

static uint64_t expect(const Half *half, Operation operation, const uint64_t *in) {
    double x[3];
    Int units[3] = {0, 0, 0};
    bool finite = true;
    for (int i = 0; i < 3; i++) {
        x[i] = decode(half, in[i]);
        if (isfinite(x[i]))
            units[i] = (Int)ldexp(x[i], -half->lowest);
        else if (i < (operation == FMA ? 3 : 2))
            finite = false;
    }
    double result = operation == ADD   ? x[0] + x[1]
                    : operation == SUB ? x[0] - x[1]
                    : operation == MUL ? x[0] * x[1]
                                       : x[0] * x[1] + x[2];
    Int one = (Int)1 << -half->lowest;
    Int exact = operation == ADD   ? (units[0] + units[1]) * one
                : operation == SUB ? (units[0] - units[1]) * one
                : operation == MUL ? units[0] * units[1]
                                   : units[0] * units[1] + units[2] * one;
    if (finite && exact) return encode(half, exact, 2 * half->lowest);
    if (isnan(result)) return 0x7fff;
    return (signbit(result) ? 0x8000 : 0) | (isinf(result) ? (half == &f16 ? 0x7c00 : 0x7f80) : 0);
}

static uint64_t random_half(const Half *half, uint64_t *random) {
    if (half == &f16) return lane_float(random, 16);
    uint64_t bits = lane_random(random),
             field = 103 + (bits >> 32) % 48; /* so that exact sums fit 128 bits */
    if (bits >> 60 == 0) field = 255;
    return bits >> 60 == 1 ? bits & 0x8000 : (bits & 0x807f) | field << 7;
}

static void check(const Half *half, Operation operation, const char *text, const char *registers, int parts) {
    static LaneRow rows[COUNT];
    uint64_t random = 51;
    for (int i = 0; i < COUNT; i++) {
        memset(&rows[i], 0, sizeof rows[i]);
        for (int part = 0; part < parts; part++) {
            uint64_t in[3];
            for (int j = 0; j < 3; j++) in[j] = random_half(half, &random);
            for (int j = 0; j < (operation == FMA ? 3 : 2); j++) rows[i].in[j] |= in[j] << 16 * part;
            rows[i].out[0] |= expect(half, operation, in) << 16 * part;
        }
    }
    lane_table_check((LaneInstruction){text, registers}, rows, COUNT);
}

static void rounded_once(void **state) {
    (void)state;
#define FORMS(T, HALF, W, PARTS)                                                                             \
    check(HALF, ADD, "add." T " d, a, b;", "d" W " a" W " b" W, PARTS);                                      \
    check(HALF, SUB, "sub.rn." T " d, a, b;", "d" W " a" W " b" W, PARTS);                                   \
    check(HALF, MUL, "mul." T " d, a, b;", "d" W " a" W " b" W, PARTS);                                      \
    check(HALF, FMA, "fma.rn." T " d, a, b, c;", "d" W " a" W " b" W " c" W, PARTS)
    FORMS("f16", &f16, "16", 1);
    FORMS("f16x2", &f16, "32", 2);
    FORMS("bf16", &bf16, "16", 1);
    FORMS("bf16x2", &bf16, "32", 2);
}

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
__extension__ typedef _Float16 CompilersHalf;

static uint64_t with_float16(Operation operation, uint64_t a, uint64_t b) {
    CompilersHalf x, y, z;
    uint16_t bits[2] = {(uint16_t)a, (uint16_t)b}, result;
    memcpy(&x, &bits[0], sizeof x);
    memcpy(&y, &bits[1], sizeof y);
    z = operation == ADD ? x + y : operation == SUB ? x - y : x * y;
    memcpy(&result, &z, sizeof result);
    return (result & 0x7fff) > 0x7c00 ? 0x7fff : result;
}

static void as_the_compiler(void **state) {
    (void)state;
    static LaneRow rows[COUNT];
    static const char *const texts[] = {"add.f16 d, a, b;", "sub.f16 d, a, b;", "mul.f16 d, a, b;"};
    for (Operation operation = ADD; operation <= MUL; operation++) {
        uint64_t random = 52;
        for (int i = 0; i < COUNT; i++) {
            uint64_t a = lane_float(&random, 16), b = lane_float(&random, 16);
            rows[i] = (LaneRow){{a, b}, {with_float16(operation, a, b)}};
        }
        lane_table_check((LaneInstruction){texts[operation], "d16 a16 b16"}, rows, COUNT);
    }
}
#else
static void as_the_compiler(void **state) { /* it has no such type: the integers above are the reference */
    (void)state;
    check(&f16, FMA, "fma.rn.f16 d, a, b, c;", "d16 a16 b16 c16", 1);
}
#endif

/* fma.oob: +0 if a or b is the NaN that tensor copies fill in out of bounds, each half separately. */
static void out_of_bounds(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        {{"fma.rn.oob.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0xfff7, 0x3c00, 0x3c00}, {0}}},
        {{"fma.rn.oob.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x3c00, 0x7ff7, 0xbc00}, {0}}},
        {{"fma.rn.oob.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0xfff7, 0x7fff, 0x7c00}, {0}}},
        {{"fma.rn.oob.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x3c00, 0x3c00, 0x7ff7}, {0x7fff}}}, /* not c */
        {{"fma.rn.oob.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x7fff, 0x3c00, 0x3c00}, {0x7fff}}},
        {{"fma.rn.oob.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x4000, 0x4200, 0x3c00}, {0x4700}}},
        {{"fma.rn.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0xfff7, 0x3c00, 0x3c00}, {0x7fff}}},
        {{"fma.rn.oob.relu.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x4000, 0xc200, 0x3c00}, {0}}},
        {{"fma.rn.oob.bf16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x7ff7, 0x4051, 0xffef}, {0}}},
        {{"fma.rn.oob.bf16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x4000, 0x4040, 0x3f80}, {0x40e0}}},
        {{"fma.rn.oob.f16x2 d, a, b, c;", "d32 a32 b32 c32"},
         {{0xc6714000, 0x7ff74200, 0x40c93c00}, {0x4700}}},
        {{"fma.rn.oob.bf16x2 d, a, b, c;", "d32 a32 b32 c32"},
         {{0x40007ff7, 0x40400000, 0x3f803f80}, {0x40e00000}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        lane_table_check(cases[i].instruction, &cases[i].row, 1);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        const char *words;
    } forms[] = {
        {{"add.ftz.bf16 d, a, b;", "d16 a16 b16"}, "add.bf16 has no such modifiers"},
        {{"fma.rz.bf16 d, a, b, c;", "d16 a16 b16 c16"}, "fma with .rz is not emulated"},
        {{"mul.rm.f16 d, a, b;", "d16 a16 b16"}, "mul with .rm is not emulated"},
        {{"max.abs.f16 d, a, b;", "d16 a16 b16"}, "max.f16 has no such modifiers"},
        {{"div.f16 d, a, b;", "d16 a16 b16"}, "div has no form for type .f16"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        lane_table_refuses(forms[i].instruction, forms[i].words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounded_once),
        cmocka_unit_test(as_the_compiler),
        cmocka_unit_test(out_of_bounds),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("lanes_half", tests, NULL, NULL);
}
