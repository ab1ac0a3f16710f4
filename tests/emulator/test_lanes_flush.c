/* Flushing by .ftz at the smallest normal number L: results below L after rounding to the type's precision
 * with any exponent ("tiny after rounding"). The manual says "flushes subnormal results"; measurements on an
 * H200 show, for all of these instructions, that a result which the fewer bits of a subnormal would round up
 * to L is flushed, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_table.h"
#include <math.h>
#include <string.h>

typedef enum Rounding { RN, RZ, RM, RP } Rounding;
typedef enum Operation { MUL, DIV, RCP, FMA, CVT } Operation;

typedef struct Form {
    LaneInstruction instruction;
    Operation operation;
    Rounding rounding;
    bool half;
} Form;

enum { COUNT = 1000 };

static uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A normal binary16 number: its bits, exactly. */
static uint64_t half_bits(double x) {
    int power;
    double fraction = frexp(fabs(x), &power); /* 0.5 to 1 */
    return (x < 0 ? 0x8000u : 0) | (uint64_t)(power + 14) << 10 | ((uint64_t)ldexp(fraction, 11) & 0x3ff);
}
static uint64_t bits_of_number(const Form *form, double x) {
    return form->half ? half_bits(x) : bits_of_float((float)x);
}

/* A number of this precision near x: `steps` units from x rounded towards zero. */
static double near(const Form *form, double x, int steps) {
    int power, digits = form->half ? 11 : 24;
    double fraction = frexp(x, &power), whole = trunc(ldexp(fraction, digits));
    return ldexp(whole + steps, power - digits);
}

/* Whether x, not above L, stays below it when rounded to the precision: the halfway point goes up, to even.
 */
static bool is_tiny(const Form *form, double x, double least) {
    double ulp = ldexp(least, form->half ? -11 : -24); /* of numbers below L */
    bool away = (form->rounding == RP && x > 0) || (form->rounding == RM && x < 0);
    if (form->rounding == RN) return fabs(x) < least - ulp / 2;
    return away ? fabs(x) <= least - ulp : fabs(x) < least;
}

static void make_row(const Form *form, LaneRow *row, uint64_t *random) {
    double least = form->half ? 0x1p-14 : 0x1p-126, x;
    do { /* x is the exact result, or as good: doubles have more than twice the bits; sources are normal */
        double sign = lane_random(random) % 2 ? -1 : 1, c = 0;
        int steps = (int)(lane_random(random) % 5) - 2, power = 1 + (int)(lane_random(random) % 9);
        double b = near(form, 1 + (double)(lane_random(random) >> 12) * 0x1p-52, 0) * ldexp(1, -power), a;
        switch (form->operation) {
        case MUL:
            a = sign * near(form, least / b, steps);
            x = a * b;
            break;
        case DIV:
            b *= 0x1p10;
            a = sign * near(form, least * b, steps);
            x = a / b;
            break;
        case RCP:
            a = sign * near(form, 1 / least, steps);
            x = 1 / a;
            break;
        case FMA: /* L less one bit of its unit in the last place, or above */
            a = form->half ? 0x1p-11 : 0x1p-60;
            b = -sign * least * ldexp(1, steps - (form->half ? 9 : 22)) / a;
            c = sign * least;
            x = a * b + c;
            break;
        default:
            a = sign * least * (1 - ldexp((double)(lane_random(random) % 64), -29));
            x = a;
            break;
        }
        memset(row, 0, sizeof *row);
        if (form->operation == CVT)
            memcpy(&row->in[0], &a, sizeof a);
        else
            row->in[0] = bits_of_number(form, a);
        row->in[1] = bits_of_number(form, b);
        row->in[2] = c == 0 ? 0 : bits_of_number(form, c);
    } while (fabs(x) > least);
    uint64_t sign = x > 0 ? 0 : form->half ? 0x8000u : 0x80000000u;
    row->out[0] = sign | (is_tiny(form, x, least) ? 0 : bits_of_number(form, least));
}

static void check(const Form *forms, size_t count) {
    static LaneRow rows[COUNT];
    for (size_t form = 0; form < count; form++) {
        uint64_t random = 21;
        int flushed = 0;
        for (int i = 0; i < COUNT; i++) {
            make_row(&forms[form], &rows[i], &random);
            flushed += (rows[i].out[0] & 0x7fff) == 0 && (rows[i].out[0] >> 23 & 1) == 0;
        }
        assert_true(flushed > 0); /* of both kinds */
        lane_table_check(forms[form].instruction, rows, COUNT);
    }
}
#define CHECK(forms) check(forms, sizeof(forms) / sizeof(forms)[0])

#define TWO   "d32 a32 b32"
#define THREE "d32 a32 b32 c32"

static void products(void **state) {
    (void)state;
    static const Form forms[] = {
        {{"mul.ftz.f32 d, a, b;", TWO}, MUL, RN, false},
        {{"mul.rz.ftz.f32 d, a, b;", TWO}, MUL, RZ, false},
        {{"mul.rm.ftz.f32 d, a, b;", TWO}, MUL, RM, false},
        {{"mul.rp.ftz.f32 d, a, b;", TWO}, MUL, RP, false},
        {{"mul.ftz.f16 d, a, b;", "d16 a16 b16"}, MUL, RN, true},
    };
    CHECK(forms);
}

static void fused(void **state) {
    (void)state;
    static const Form forms[] = {
        {{"fma.rn.ftz.f32 d, a, b, c;", THREE}, FMA, RN, false},
        {{"fma.rz.ftz.f32 d, a, b, c;", THREE}, FMA, RZ, false},
        {{"fma.rm.ftz.f32 d, a, b, c;", THREE}, FMA, RM, false},
        {{"fma.rp.ftz.f32 d, a, b, c;", THREE}, FMA, RP, false},
        {{"fma.rn.ftz.f16 d, a, b, c;", "d16 a16 b16 c16"}, FMA, RN, true},
    };
    CHECK(forms);
}

static void quotients(void **state) {
    (void)state;
    static const Form forms[] = {
        {{"div.rn.ftz.f32 d, a, b;", TWO}, DIV, RN, false},
        {{"div.rz.ftz.f32 d, a, b;", TWO}, DIV, RZ, false},
        {{"div.rm.ftz.f32 d, a, b;", TWO}, DIV, RM, false},
        {{"div.rp.ftz.f32 d, a, b;", TWO}, DIV, RP, false},
        {{"rcp.rn.ftz.f32 d, a;", "d32 a32"}, RCP, RN, false},
        {{"rcp.rp.ftz.f32 d, a;", "d32 a32"}, RCP, RP, false},
        {{"rcp.rm.ftz.f32 d, a;", "d32 a32"}, RCP, RM, false},
    };
    CHECK(forms);
}

static void conversions(void **state) {
    (void)state;
    static const Form forms[] = {
        {{"cvt.rn.ftz.f32.f64 d, a;", "d32 a64"}, CVT, RN, false},
        {{"cvt.rz.ftz.f32.f64 d, a;", "d32 a64"}, CVT, RZ, false},
        {{"cvt.rm.ftz.f32.f64 d, a;", "d32 a64"}, CVT, RM, false},
        {{"cvt.rp.ftz.f32.f64 d, a;", "d32 a64"}, CVT, RP, false},
    };
    CHECK(forms);
}

/* Rows as measured on an H200. */
static void as_measured(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        {{"mul.ftz.f32 d, a, b;", TWO}, {{0x28cf07d3, 0x171e46b1}, {0}}},
        {{"mul.ftz.f32 d, a, b;", TWO}, {{0x28a43e71, 0x97478216}, {0x80000000}}},
        {{"mul.f32 d, a, b;", TWO}, {{0x28a43e71, 0x97478216}, {0x80800000}}},
        {{"fma.rn.ftz.f32 d, a, b, c;", THREE}, {{0x354087bc, 0x0aaa3258, 0x00000008}, {0}}},
        {{"fma.rm.ftz.f32 d, a, b, c;", THREE}, {{0x1fffffff, 0x9fffffff, 0x00000011}, {0x80000000}}},
        {{"div.rn.ftz.f32 d, a, b;", TWO}, {{0x01ffffff, 0xc1000000}, {0x80000000}}},
        {{"mul.ftz.f16 d, a, b;", "d16 a16 b16"}, {{0x1fff, 0x2000}, {0}}},
        {{"mul.ftz.f16 d, a, b;", "d16 a16 b16"}, {{0x326e, 0x0cfa}, {0x0400}}},
        {{"fma.rn.ftz.f16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x3880, 0x071c, 0x0001}, {0x0400}}},
        {{"mul.ftz.f16x2 d, a, b;", TWO}, {{0x34244f72, 0x8bba0021}, {0x84000000}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        lane_table_check(cases[i].instruction, &cases[i].row, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),    cmocka_unit_test(fused),       cmocka_unit_test(quotients),
        cmocka_unit_test(conversions), cmocka_unit_test(as_measured),
    };
    return cmocka_run_group_tests_name("lanes_flush", tests, NULL, NULL);
}
