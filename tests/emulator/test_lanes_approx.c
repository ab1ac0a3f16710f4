/* The .approx instructions against the manual's special values and error bounds (PTX ISA 9.7.3 and 9.7.4).
 * The errors are measured against the host's functions. If the manual gives no bound, the reference is an
 * H200. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emulator/lanes/lanes.h"
#include "lane_table.h"
#include <math.h>

#define F32(x) bits_of(x)
#define F64(x) bits_of_double(x)
enum { INF = 0x7f800000 };
#define MINUS     0x80000000u /* -0 */
#define MINUS_INF (MINUS | INF)
#define INF64     UINT64_C(0x7ff0000000000000)
#define GROSS_NAN UINT64_C(0x7fffffff00000000) /* "a canonical NaN with encoding" */

static void special_values(void **state) {
    (void)state;
#define OF(TEXT, W)                                                                                          \
    { TEXT " d, a;", "d" W " a" W }
#define DIVIDE                                                                                               \
    { "div.approx.f32 d, a, b;", "d32 a32 b32" }
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        /* 2^126 < |b| < 2^128: zero, or NaN where a is infinite */
        {DIVIDE, {{0x3f800000, 0x7f000000}, {0}}},
        {DIVIDE, {{0xbf800000, 0x7f000000}, {MINUS}}},
        {DIVIDE, {{INF, 0x7f000000}, {NAN_F32}}},
        {DIVIDE, {{0x3f800000, 0x7e800000}, {0x00800000}}},
        {DIVIDE, {{0x3f800000, 0}, {INF}}},
        {DIVIDE, {{0, 0}, {NAN_F32}}},
        {{"div.full.f32 d, a, b;", "d32 a32 b32"}, {{0x7f000000, 0x7f000000}, {0x3f800000}}},
        {OF("rcp.approx.f32", "32"), {{MINUS_INF}, {MINUS}}},
        {OF("rcp.approx.f32", "32"), {{MINUS}, {MINUS_INF}}},
        {OF("rcp.approx.f32", "32"), {{0}, {INF}}},
        {OF("rcp.approx.f32", "32"), {{0x7fc12345}, {NAN_F32}}},
        {OF("rcp.approx.ftz.f32", "32"), {{1}, {INF}}},
        {OF("rcp.approx.ftz.f32", "32"), {{0x7f000000}, {0}}}, /* 2^-127 */
        {OF("rcp.approx.f32", "32"), {{0x7f000000}, {0x00400000}}},
        {OF("rcp.approx.ftz.f64", "64"), {{UINT64_C(0x4008000012345678)}, {UINT64_C(0x3fd5555500000000)}}},
        {OF("rcp.approx.ftz.f64", "64"), {{1}, {INF64}}},
        {OF("rcp.approx.ftz.f64", "64"), {{UINT64_C(0x8000000000000001)}, {UINT64_C(0xfff0000000000000)}}},
        {OF("rcp.approx.ftz.f64", "64"), {{UINT64_C(0xfff8000000000001)}, {GROSS_NAN}}},
        {OF("rsqrt.approx.ftz.f64", "64"), {{UINT64_C(0x4010000000000000)}, {UINT64_C(0x3fe0000000000000)}}},
        {OF("rsqrt.approx.ftz.f64", "64"), {{UINT64_C(0xfff0000000000000)}, {GROSS_NAN}}},
        {OF("rsqrt.approx.ftz.f64", "64"), {{UINT64_C(0x8000000000000001)}, {UINT64_C(0xfff0000000000000)}}},
        {OF("rsqrt.approx.ftz.f64", "64"), {{INF64}, {0}}},
        {OF("rsqrt.approx.f64", "64"), {{UINT64_C(0x4010000000000000)}, {UINT64_C(0x3fe0000000000000)}}},
        {OF("rsqrt.approx.f32", "32"), {{MINUS_INF}, {NAN_F32}}},
        {OF("rsqrt.approx.f32", "32"), {{0xbf800000}, {NAN_F32}}},
        {OF("rsqrt.approx.f32", "32"), {{MINUS}, {MINUS_INF}}},
        {OF("rsqrt.approx.f32", "32"), {{INF}, {0}}},
        {OF("rsqrt.approx.f32", "32"), {{0x40800000}, {0x3f000000}}},
        {OF("sqrt.approx.f32", "32"), {{0xbf800000}, {NAN_F32}}},
        {OF("sqrt.approx.f32", "32"), {{MINUS}, {MINUS}}},
        {OF("sqrt.approx.f32", "32"), {{INF}, {INF}}},
        {OF("sqrt.approx.ftz.f32", "32"), {{0x80000001}, {MINUS}}},
        {OF("sin.approx.f32", "32"), {{INF}, {NAN_F32}}},
        {OF("sin.approx.f32", "32"), {{MINUS_INF}, {NAN_F32}}},
        {OF("sin.approx.f32", "32"), {{MINUS}, {MINUS}}},
        {OF("sin.approx.f32", "32"), {{0x7fa00000}, {NAN_F32}}},
        {OF("sin.approx.ftz.f32", "32"), {{0x80000001}, {MINUS}}},
        {OF("cos.approx.f32", "32"), {{MINUS}, {0x3f800000}}},
        {OF("cos.approx.f32", "32"), {{MINUS_INF}, {NAN_F32}}},
        {OF("lg2.approx.f32", "32"), {{0}, {MINUS_INF}}},
        {OF("lg2.approx.f32", "32"), {{MINUS}, {MINUS_INF}}},
        {OF("lg2.approx.f32", "32"), {{0xbf800000}, {NAN_F32}}},
        {OF("lg2.approx.f32", "32"), {{MINUS_INF}, {NAN_F32}}},
        {OF("lg2.approx.f32", "32"), {{INF}, {INF}}},
        {OF("lg2.approx.f32", "32"), {{0x41000000}, {0x40400000}}},
        {OF("lg2.approx.f32", "32"), {{1}, {0xc3150000}}}, /* 2^-149 */
        {OF("lg2.approx.ftz.f32", "32"), {{1}, {MINUS_INF}}},
        {OF("ex2.approx.f32", "32"), {{MINUS_INF}, {0}}},
        {OF("ex2.approx.f32", "32"), {{INF}, {INF}}},
        {OF("ex2.approx.f32", "32"), {{MINUS}, {0x3f800000}}},
        {OF("ex2.approx.f32", "32"), {{0x40400000}, {0x41000000}}},
        {OF("ex2.approx.f32", "32"), {{0xc2fe0000}, {0x00400000}}}, /* 2^-127 */
        {OF("ex2.approx.ftz.f32", "32"), {{0xc2fe0000}, {0}}},
        {OF("tanh.approx.f32", "32"), {{MINUS_INF}, {0xbf800000}}},
        {OF("tanh.approx.f32", "32"), {{INF}, {0x3f800000}}},
        {OF("tanh.approx.f32", "32"), {{0x80000001}, {0x80000001}}}, /* subnormals pass */
        {OF("ex2.approx.f16", "16"), {{0x4200}, {0x4800}}},
        {OF("ex2.approx.f16", "16"), {{0x7c01}, {NAN_F16}}},
        {OF("ex2.approx.f16x2", "32"), {{0xfc004200}, {0x00004800}}},
        {OF("ex2.approx.ftz.bf16", "16"), {{0x8001}, {0x3f80}}},
        {OF("ex2.approx.ftz.bf16", "16"), {{0xff80}, {0}}},
        {OF("ex2.approx.ftz.bf16x2", "32"), {{0x40407f80}, {0x41007f80}}},
        {OF("tanh.approx.f16", "16"), {{0x7c00}, {0x3c00}}},
        {OF("tanh.approx.f16x2", "32"), {{0xfc008000}, {0xbc008000}}},
        {OF("tanh.approx.bf16x2", "32"), {{0xff808000}, {0xbf808000}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        lane_table_check(cases[i].instruction, &cases[i].row, 1);
}

/* ---- errors -------------------------------------------------------------------------------------------- */

static double reciprocal(double x) {
    return 1 / x;
}
static double reciprocal_root(double x) {
    return 1 / sqrt(x);
}

static void require(LaneInstruction instruction, double x, double y, double expected, double bound) {
    if (fabs(y - expected) > bound) fail_msg("%s of %a: %a, expected %a", instruction.text, x, y, expected);
}

/* One unit in the last place of a float of this size. */
static double unit(double x) {
    int power;
    frexp(x, &power);
    return ldexp(1.0, (power < -125 ? -125 : power) - 24);
}

static void errors_of_f32(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static LaneRow rows[COUNT];
    const double circle = 6.283185307179586;
    const struct {
        LaneInstruction instruction;
        double (*function)(double);
        double low, high;
        bool by_exponent; /* spread over the exponents */
        double absolute, relative, units;
    } forms[] = {
        {OF("rcp.approx.f32", "32"), reciprocal, 0x1p-126, 0x1p126, true, 0, 0, 1},
        {OF("rcp.approx.f32", "32"), reciprocal, 0x1p126, 0x1p127, true, 0, 0, 1},
        {OF("sqrt.approx.f32", "32"), sqrt, 0x1p-149, 0x1p127, true, 0, 0x1p-23, 0},
        {OF("rsqrt.approx.f32", "32"), reciprocal_root, 0x1p-149, 0x1p127, true, 0, 0x1.1p-23, 0},
        {OF("sin.approx.f32", "32"), sin, -circle, circle, false, 0x1.6ap-21, 0, 0}, /* 2^-20.5 */
        {OF("cos.approx.f32", "32"), cos, -circle, circle, false, 0x1.6ap-21, 0, 0},
        {OF("sin.approx.f32", "32"), sin, -50 * circle, 50 * circle, false, 0x1.3ap-15, 0, 0}, /* 2^-14.7 */
        {OF("cos.approx.f32", "32"), cos, -50 * circle, 50 * circle, false, 0x1.3ap-15, 0, 0},
        {OF("lg2.approx.f32", "32"), log2, 0.5, 2, false, 0x1p-22, 0, 0},
        {OF("lg2.approx.f32", "32"), log2, 2, 0x1p127, true, 0, 0x1p-22, 0},
        {OF("lg2.approx.f32", "32"), log2, 0x1p-149, 0.5, true, 0, 0x1p-22, 0},
        {OF("ex2.approx.f32", "32"), exp2, -149, 128, false, 0, 0, 2},
        {OF("tanh.approx.f32", "32"), tanh, -9, 9, false, 0, 0x1p-11, 0},
        {OF("tanh.approx.f32", "32"), tanh, 0x1p-149, 1, true, 0, 0x1p-11, 0},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        uint64_t random = 13;
        double low = forms[form].low, high = forms[form].high;
        for (int i = 0; i < COUNT; i++) {
            double place = (double)(lane_random(&random) >> 11) * 0x1p-53;
            double x = forms[form].by_exponent ? exp2(log2(low) + (log2(high) - log2(low)) * place)
                                               : low + (high - low) * place;
            rows[i] = (LaneRow){{F32((float)x)}, {0}};
        }
        lane_table_run(forms[form].instruction, rows, COUNT, false);
        for (int i = 0; i < COUNT; i++) {
            double x = (double)float_of((uint32_t)rows[i].in[0]),
                   y = (double)float_of((uint32_t)rows[i].out[0]);
            double expected = forms[form].function(x);
            double bound = forms[form].absolute + forms[form].relative * fabs(expected) +
                           forms[form].units * unit(expected);
            require(forms[form].instruction, x, y, expected, bound);
        }
    }
}

static void errors_of_division(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static LaneRow rows[COUNT];
    static const LaneInstruction forms[] = {DIVIDE, {"div.full.f32 d, a, b;", "d32 a32 b32"}};
    for (size_t form = 0; form < 2; form++) {
        uint64_t random = 14;
        for (int i = 0; i < COUNT; i++) {
            uint64_t a = lane_float(&random, 32), b = lane_float(&random, 32);
            float quotient = float_of((uint32_t)a) / float_of((uint32_t)b),
                  size = fabsf(float_of((uint32_t)b));
            if (!isfinite(quotient) || size < 0x1p-126f || size > 0x1p126f) a = b = F32(1.0f);
            rows[i] = (LaneRow){{a, b}, {0}};
        }
        lane_table_run(forms[form], rows, COUNT, false);
        for (int i = 0; i < COUNT; i++) {
            double a = (double)float_of((uint32_t)rows[i].in[0]),
                   b = (double)float_of((uint32_t)rows[i].in[1]);
            double y = (double)float_of((uint32_t)rows[i].out[0]);
            require(forms[form], a, y, a / b, 2 * unit(a / b));
        }
    }
}

static void errors_of_f64(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    static LaneRow rows[COUNT];
    static const struct {
        LaneInstruction instruction;
        double (*function)(double);
        double relative; /* no bound is stated: 20 bits of mantissa, and full precision */
    } forms[] = {
        {OF("rcp.approx.ftz.f64", "64"), reciprocal, 0x1p-19},
        {OF("rsqrt.approx.ftz.f64", "64"), reciprocal_root, 0x1p-19},
        {OF("rsqrt.approx.f64", "64"), reciprocal_root, 0x1p-51},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        uint64_t random = 15;
        for (int i = 0; i < COUNT; i++)
            rows[i] = (LaneRow){{(lane_random(&random) >> 12) | (uint64_t)(i + 500) << 52}, {0}};
        lane_table_run(forms[form].instruction, rows, COUNT, false);
        for (int i = 0; i < COUNT; i++) {
            double x = double_of(rows[i].in[0]), y = double_of(rows[i].out[0]),
                   expected = forms[form].function(x);
            require(forms[form].instruction, x, y, expected, forms[form].relative * expected);
        }
    }
}

/* Every value of 16 bits. */
static void errors_of_halves(void **state) {
    (void)state;
    static LaneRow rows[0x10000];
    static const struct {
        LaneInstruction instruction;
        double (*function)(double);
        bool bfloat, flush;
        double absolute, relative;
    } forms[] = {
        {OF("tanh.approx.f16", "16"), tanh, false, false, 0x1.03p-11, 0}, /* 2^-10.987 */
        {OF("tanh.approx.bf16", "16"), tanh, true, false, 0x1p-8, 0},
        {OF("ex2.approx.f16", "16"), exp2, false, false, 0x1p-25, 0x1.12p-10}, /* 2^-9.9 */
        {OF("ex2.approx.ftz.bf16", "16"), exp2, true, true, 0x1p-126, 0x1p-7},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        bool bfloat = forms[form].bfloat;
        for (uint32_t x = 0; x < 0x10000; x++) rows[x] = (LaneRow){{x}, {0}};
        lane_table_run(forms[form].instruction, rows, 0x10000, false);
        for (uint32_t i = 0; i < 0x10000; i++) {
            uint32_t out = (uint32_t)rows[i].out[0];
            double x = (double)float_of(bfloat ? widen_bf16(i) : widen_f16(i));
            double y = (double)float_of(bfloat ? widen_bf16(out) : widen_f16(out)),
                   expected = forms[form].function(x);
            if (isnan(x)) {
                assert_int_equal(out, NAN_F16);
            } else if (isinf(y)) { /* rounded up from above the largest number */
                assert_true(expected > (bfloat ? 0x1.ffp127 : 65519.0));
            } else {
                require(forms[form].instruction, x, y, expected,
                        forms[form].absolute + forms[form].relative * expected);
            }
        }
    }
}

/* Beyond 100 pi "only best effort is provided": the results of an H200 for these angles, within 2^-21. */
static void large_angles(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        uint32_t angle, result;
    } cases[] = {
        {OF("sin.approx.f32", "32"), 0xca9b4300, 0xbf6c835e},
        {OF("sin.approx.f32", "32"), 0x49a9fc00, 0x3f54db30},
        {OF("sin.approx.f32", "32"), 0xc8a226c1, 0xbf396841},
        {OF("sin.approx.f32", "32"), 0xc587f3c5, 0xbf17de10},
        {OF("sin.approx.f32", "32"), 0x4b627cf7, 0xbf800000},
        {OF("sin.approx.f32", "32"), 0xc4323b9a, 0xbe55c32a},
        {OF("cos.approx.f32", "32"), 0xc93a821e, 0xbf7d3aac},
        {OF("cos.approx.f32", "32"), 0xcb916fb3, 0xbf800000},
        {OF("cos.approx.f32", "32"), 0xc46e3c00, 0xbf02b99a},
        {OF("cos.approx.f32", "32"), 0xc8c60000, 0x3f7853f6},
        {OF("cos.approx.f32", "32"), 0xe81e66f9, 0x3f800000},
        {OF("cos.approx.f32", "32"), 0xc906fd34, 0x3ec3ef11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        LaneRow row = {{cases[i].angle}, {0}};
        lane_table_run(cases[i].instruction, &row, 1, false);
        require(cases[i].instruction, (double)float_of(cases[i].angle),
                (double)float_of((uint32_t)row.out[0]), (double)float_of(cases[i].result), 0x1p-21);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values),     cmocka_unit_test(errors_of_f32),
        cmocka_unit_test(errors_of_division), cmocka_unit_test(errors_of_f64),
        cmocka_unit_test(errors_of_halves),   cmocka_unit_test(large_angles),
    };
    return cmocka_run_group_tests_name("lanes_approx", tests, NULL, NULL);
}
