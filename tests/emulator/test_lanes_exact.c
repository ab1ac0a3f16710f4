/* Exact arithmetic against the host's, and against a search of narrow formats: f32 and f64 in all rounding
 * directions under fesetround(), narrow formats among all their values. If directed rounding does not work
 * (valgrind), only rounding to nearest is compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emulator/lanes/lanes.h"
#include "emulator/lanes/lanes_exact.h"
#include "lane_table.h"
#include <fenv.h>
#include <inttypes.h>
#include <math.h>

typedef enum Kind { ADD, SUB, MUL, DIV, FMA, SQRT, NARROW, FROM_INTEGER, KIND_COUNT } Kind;
static const char *const kind_names[] = {"add", "sub",  "mul",        "div",
                                         "fma", "sqrt", "f64 to f32", "integer to"};

static const struct {
    PtxModifierKind rounding;
    int host;
} modes[] = {{PTX_MOD_RN, FE_TONEAREST},
             {PTX_MOD_RZ, FE_TOWARDZERO},
             {PTX_MOD_RM, FE_DOWNWARD},
             {PTX_MOD_RP, FE_UPWARD}};

static int mode_count(void) {
    volatile float one = 1.0f, tiny = 1e-20f;
    fesetround(FE_UPWARD);
    volatile float sum = one + tiny;
    fesetround(FE_TONEAREST);
    return sum > 1.0f ? 4 : 1;
}

/* Under valgrind, fma() loses the sign and last bits of subnormal products, and 64-bit integers are rounded
 * twice on their way to float: the numbers tried then avoid both. */
static bool host_fuses_subnormals(void) {
    volatile double tiny = 0x1p-1060, zero = 0.0;
    return signbit(fma(tiny, -tiny, zero)) != 0;
}
static bool host_rounds_once(void) {
    volatile uint64_t whole = UINT64_C(0xffffff7fffffffff);
    return (float)whole < 0x1p64f;
}

static Exact compute(Kind kind, Exact a, Exact b, Exact c, PtxModifierKind rounding) {
    switch (kind) {
    case ADD:
        return exact_add(a, b, rounding);
    case SUB:
        return exact_add(a, exact_negate(b), rounding);
    case MUL:
        return exact_multiply(a, b);
    case DIV:
        return exact_divide(a, b);
    case FMA:
        return exact_add(exact_multiply(a, b), c, rounding);
    case SQRT:
        return exact_sqrt(a);
    default:
        return a;
    }
}

/* Volatile: nothing is computed at compile time, or moved across fesetround(). */
#define HOST(T, FMA_OF, SQRT_OF)                                                                             \
    volatile T x = a, y = b, z = c, result;                                                                  \
    fesetround(host);                                                                                        \
    switch (kind) {                                                                                          \
    case ADD:                                                                                                \
        result = x + y;                                                                                      \
        break;                                                                                               \
    case SUB:                                                                                                \
        result = x - y;                                                                                      \
        break;                                                                                               \
    case MUL:                                                                                                \
        result = x * y;                                                                                      \
        break;                                                                                               \
    case DIV:                                                                                                \
        result = x / y;                                                                                      \
        break;                                                                                               \
    case FMA:                                                                                                \
        result = FMA_OF(x, y, z);                                                                            \
        break;                                                                                               \
    default:                                                                                                 \
        result = SQRT_OF(x);                                                                                 \
        break;                                                                                               \
    }                                                                                                        \
    fesetround(FE_TONEAREST);                                                                                \
    return result;
static float host_f32(Kind kind, int host, float a, float b, float c) {
    HOST(float, fmaf, sqrtf)
}
static double host_f64(Kind kind, int host, double a, double b, double c) {
    HOST(double, fma, sqrt)
}

static void check(uint64_t got, uint64_t expected, Kind kind, int mode, const uint64_t *in) {
    if (got != expected)
        fail_msg("%s, mode %d, of %" PRIx64 " %" PRIx64 " %" PRIx64 ": %" PRIx64 ", the host gives %" PRIx64,
                 kind_names[kind], mode, in[0], in[1], in[2], got, expected);
}

static void nearby(uint64_t *random, uint64_t *in) { /* cancellations and ties are rare among random values */
    if (lane_random(random) % 4 == 0) in[1] = in[0] ^ (lane_random(random) % 4);
    if (lane_random(random) % 4 == 0) in[2] = in[0];
}

static void f32_as_the_host(void **state) {
    (void)state;
    uint64_t random = 2, in[3];
    for (int i = 0; i < 40000; i++) {
        for (int j = 0; j < 3; j++) in[j] = lane_float(&random, 32);
        nearby(&random, in);
        float x[3];
        Exact e[3];
        for (int j = 0; j < 3; j++) x[j] = float_of((uint32_t)in[j]), e[j] = exact_of(&FORMAT_F32, in[j]);
        for (int mode = 0; mode < mode_count(); mode++)
            for (Kind kind = ADD; kind <= SQRT; kind++) {
                uint32_t expected = canonical32(bits_of(host_f32(kind, modes[mode].host, x[0], x[1], x[2])));
                Exact exact = compute(kind, e[0], e[1], e[2], modes[mode].rounding);
                check(exact_round(exact, &FORMAT_F32, modes[mode].rounding, false), expected, kind, mode, in);
            }
    }
}

static void f64_as_the_host(void **state) {
    (void)state;
    uint64_t random = 3, in[3];
    bool fuses = host_fuses_subnormals();
    for (int i = 0; i < 40000; i++) {
        for (int j = 0; j < 3; j++) in[j] = lane_float(&random, 64);
        nearby(&random, in);
        if (!fuses)
            for (int j = 0; j < 3; j++)
                in[j] = (in[j] & UINT64_C(0x80ffffffffffffff)) | UINT64_C(0x3f00000000000000);
        double x[3];
        Exact e[3];
        for (int j = 0; j < 3; j++) x[j] = double_of(in[j]), e[j] = exact_of(&FORMAT_F64, in[j]);
        for (int mode = 0; mode < mode_count(); mode++)
            for (Kind kind = ADD; kind <= SQRT; kind++) {
                uint64_t expected = bits_of_double(host_f64(kind, modes[mode].host, x[0], x[1], x[2]));
                if (is_nan64(expected)) expected = NAN_F64;
                Exact exact = compute(kind, e[0], e[1], e[2], modes[mode].rounding);
                check(exact_round(exact, &FORMAT_F64, modes[mode].rounding, false), expected, kind, mode, in);
            }
    }
}

static void conversions_as_the_host(void **state) {
    (void)state;
    uint64_t random = 4, in[3] = {0, 0, 0};
    bool once = host_rounds_once();
    for (int i = 0; i < 40000; i++) {
        in[0] = lane_integer(&random, 64) & (once ? UINT64_MAX : ~UINT64_C(0x7ff));
        if (in[0] == 0) in[0] = 1; /* clang makes -0 of an unsigned 0 when rounding down */
        volatile uint64_t whole = in[0];
        volatile double real = double_of(
            in[1] = i % 2 ? lane_float(&random, 64)
                          : bits_of_double((double)float_of((uint32_t)lane_float(&random, 32))) + i % 5 - 2);
        for (int mode = 0; mode < mode_count(); mode++) {
            fesetround(modes[mode].host);
            volatile float narrow = (float)real, from_signed = (float)(int64_t)whole,
                           from_unsigned = (float)whole;
            volatile double wide = (double)(int64_t)whole, wide_unsigned = (double)whole;
            fesetround(FE_TONEAREST);
            PtxModifierKind rounding = modes[mode].rounding;
            check(exact_round(exact_of(&FORMAT_F64, in[1]), &FORMAT_F32, rounding, false),
                  canonical32(bits_of(narrow)), NARROW, mode, in);
            Exact s = exact_of_signed((int64_t)whole), u = exact_of_unsigned(whole);
            check(exact_round(s, &FORMAT_F32, rounding, false), bits_of(from_signed), FROM_INTEGER, mode, in);
            check(exact_round(u, &FORMAT_F32, rounding, false), bits_of(from_unsigned), FROM_INTEGER, mode,
                  in);
            check(exact_round(s, &FORMAT_F64, rounding, false), bits_of_double(wide), FROM_INTEGER, mode, in);
            check(exact_round(u, &FORMAT_F64, rounding, false), bits_of_double(wide_unsigned), FROM_INTEGER,
                  mode, in);
        }
    }
}

static void integers_as_the_host(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 40000; i++) {
        uint64_t bits = lane_float(&random, 64);
        double x = double_of(bits);
        if (is_nan64(bits)) continue;
        Exact e = exact_of(&FORMAT_F64, bits);
        double rounded[4] = {nearbyint(x), trunc(x), floor(x), ceil(x)};
        static const PtxModifierKind kinds[] = {PTX_MOD_RNI, PTX_MOD_RZI, PTX_MOD_RMI, PTX_MOD_RPI};
        for (int mode = 0; mode < 4; mode++) {
            Exact whole = exact_to_integer(e, kinds[mode]);
            assert_true(exact_round(whole, &FORMAT_F64, PTX_MOD_RN, false) == bits_of_double(rounded[mode]));
            double limited = rounded[mode] < -1e15 ? -1e15 : rounded[mode] > 1e15 ? 1e15 : rounded[mode];
            assert_true(exact_clamp(whole, -1000000000000000, 1000000000000000) == (int64_t)limited);
        }
    }
}

/* ---- narrow formats: the value's neighbours are found by searching ------------------------------------- */

static double value_of(const FloatFormat *format,
                       uint64_t magnitude) { /* by the definition of a binary format */
    int bias = (1 << (format->exponent - 1)) - 1, field = (int)(magnitude >> format->mantissa);
    double fraction = (double)(magnitude & ((UINT64_C(1) << format->mantissa) - 1));
    double unit = ldexp(1.0, format->mantissa);
    return field ? ldexp(1.0 + fraction / unit, field - bias) : ldexp(fraction / unit, 1 - bias);
}

static uint64_t search(const FloatFormat *format, double x, PtxModifierKind rounding, bool saturate) {
    uint64_t low = 0, high = format->largest + 1; /* value(low) <= |x|, and high is above or too large */
    double size = fabs(x);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (value_of(format, middle) <= size)
            low = middle;
        else
            high = middle;
    }
    uint64_t sign = signbit(x) ? UINT64_C(1) << (format->mantissa + format->exponent) : 0;
    uint64_t past = saturate || !format->infinity ? format->largest : format->infinity;
    double below = value_of(format, low),
           above = value_of(format, low + 1); /* the next one even past the largest */
    bool exact = below == size, away = rounding == PTX_MOD_RP   ? x > 0
                                       : rounding == PTX_MOD_RM ? x < 0
                                                                : false;
    if (rounding == PTX_MOD_RN)
        away = size - below > above - size || (size - below == above - size && low % 2);
    if (rounding == PTX_MOD_RNA) away = size - below >= above - size;
    uint64_t result = exact || !away ? low : low + 1;
    return sign | (result > format->largest ? past : result);
}

static void narrow_formats_by_search(void **state) {
    (void)state;
    const FloatFormat *formats[] = {&FORMAT_F16, &FORMAT_BF16, &FORMAT_TF32, &FORMAT_E4M3, &FORMAT_E5M2};
    static const PtxModifierKind roundings[] = {PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP, PTX_MOD_RNA};
    uint64_t random = 6;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
        for (int i = 0; i < 6000; i++) {
            const FloatFormat *format = formats[f];
            /* At, and next to, values and ties. */
            uint64_t bits = lane_random(&random) % (format->largest + 1);
            double x = value_of(format, bits);
            if (i % 3 == 1) x = (x + value_of(format, bits + 1)) / 2;
            if (i % 2) x = nextafter(x, i % 5 ? INFINITY : 0.0);
            if (i % 7 == 0) x = double_of(bits_of_double(float_of((uint32_t)lane_float(&random, 32))));
            if (i % 4 == 0) x = -x;
            if (!isfinite(x)) continue;
            for (int mode = 0; mode < 5; mode++)
                for (int saturate = 0; saturate < 2; saturate++) {
                    Exact exact = exact_of(&FORMAT_F64, bits_of_double(x));
                    uint64_t got = exact_round(exact, format, roundings[mode], saturate) >> format->shift;
                    uint64_t expected = search(format, x, roundings[mode], saturate);
                    if (got != expected)
                        fail_msg("format %zu, mode %d, %a: %" PRIx64 ", expected %" PRIx64, f, mode, x, got,
                                 expected);
                }
        }
}

static void all_halves_unpack(void **state) {
    (void)state;
    for (uint32_t half = 0; half < 0x10000; half++) {
        uint32_t wide = widen_f16(half), back = narrow_f16(wide);
        Exact exact = exact_of(&FORMAT_F16, half);
        assert_int_equal(back, (half & 0x7fff) > 0x7c00 ? 0x7fff : half);
        assert_true(canonical32(wide) == exact_round(exact, &FORMAT_F32, PTX_MOD_RN, false));
        if ((half & 0x7fff) < 0x7c00)
            assert_true(fabsf(float_of(wide)) == (float)value_of(&FORMAT_F16, half & 0x7fff));
        Exact bfloat = exact_of(&FORMAT_BF16, half);
        assert_true(canonical32(widen_bf16(half)) == exact_round(bfloat, &FORMAT_F32, PTX_MOD_RN, false));
    }
    uint64_t random = 9;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)lane_float(&random, 32);
        if (i % 2) bits = widen_f16(bits & 0xffff) + (uint32_t)(i % 7) - 3 + (i % 3 ? 0x1000 : 0);
        Exact exact = exact_of(&FORMAT_F32, bits);
        assert_true(narrow_f16(bits) == exact_round(exact, &FORMAT_F16, PTX_MOD_RN, false));
        assert_true(narrow_bf16(bits) == exact_round(exact, &FORMAT_BF16, PTX_MOD_RN, false));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_as_the_host),          cmocka_unit_test(f64_as_the_host),
        cmocka_unit_test(conversions_as_the_host),  cmocka_unit_test(integers_as_the_host),
        cmocka_unit_test(narrow_formats_by_search), cmocka_unit_test(all_halves_unpack),
    };
    return cmocka_run_group_tests_name("lanes_exact", tests, NULL, NULL);
}
