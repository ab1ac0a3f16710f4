/* f32, f64 and half arithmetic, order and signs, as PTX text. Expected values: Exact (which test_lanes_exact
 * compares with the host) rounded once, and the rules of the PTX ISA for .ftz, .sat, .relu and NaN, written
 * out here again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emulator/lanes/lanes_exact.h"
#include "lane_table.h"
#include <math.h>
#include <string.h>

typedef enum Operation { ADD, SUB, MUL, DIV, FMA, RCP, SQRT, ABS, NEG, MIN, MAX } Operation;
enum { FTZ = 1, SAT = 2, RELU = 4, NAN_WINS = 8, XORSIGN = 16, ABSOLUTE = 32 };

typedef struct Row {
    LaneInstruction instruction;
    Operation operation;
    const FloatFormat *format;
    PtxModifierKind rounding;
    int flags;
} Row;

enum { COUNT = 2000 };

static uint64_t sign_of(const FloatFormat *f) {
    return UINT64_C(1) << (f->mantissa + f->exponent);
}
static uint64_t size_of(const FloatFormat *f, uint64_t x) {
    return x & (sign_of(f) - 1);
}
static bool is_nan(const FloatFormat *f, uint64_t x) {
    return size_of(f, x) > f->infinity;
}
static uint64_t flush(const FloatFormat *f, uint64_t x) {
    return size_of(f, x) >> f->mantissa == 0 ? x & sign_of(f) : x;
}
/* .ftz: whether a number rounded to this precision, but with any exponent, is below the smallest normal
 * number. */
static bool is_tiny(const FloatFormat *f, Exact exact, PtxModifierKind rounding) {
    const FloatFormat any = {f->mantissa, 15, 0, UINT64_MAX, 0, 0};
    uint64_t field = size_of(&any, exact_round(exact, &any, rounding, false)) >> f->mantissa;
    return (int)field - 16383 < 2 - (1 << (f->exponent - 1));
}
#define QUIET UINT64_C(0x0008000000000000)
static uint64_t one_of(const FloatFormat *f) {
    return exact_round(exact_of_unsigned(1), f, PTX_MOD_RN, false);
}

/* -0 is below +0; a NaN loses, or wins. */
static bool is_below(const FloatFormat *f, uint64_t a, uint64_t b) {
    bool a_negative = a & sign_of(f), b_negative = b & sign_of(f);
    if (a_negative != b_negative) return a_negative;
    return a_negative ? size_of(f, a) > size_of(f, b) : size_of(f, a) < size_of(f, b);
}
static uint64_t pick(const FloatFormat *f, uint64_t a, uint64_t b, bool most, bool nan_wins) {
    if ((is_nan(f, a) && is_nan(f, b)) || (nan_wins && (is_nan(f, a) || is_nan(f, b)))) {
        return f == &FORMAT_F64 ? b | QUIET : f->nan; /* as on an H200 */
    }
    if (is_nan(f, a)) return b;
    if (is_nan(f, b)) return a;
    return is_below(f, most ? b : a, most ? a : b) ? a : b;
}

static uint64_t expect(const Row *row, const uint64_t *in, int sources) {
    const FloatFormat *f = row->format;
    uint64_t x[3] = {0, 0, 0}, sign, result;
    Exact e[3];
    for (int i = 0; i < 3; i++) {
        if (i < sources) x[i] = row->flags & FTZ ? flush(f, in[i]) : in[i];
        e[i] = exact_of(f, x[i]);
    }
    sign = (x[0] ^ x[1]) & sign_of(f);
    if (row->flags & ABSOLUTE)
        for (int i = 0; i < 3; i++) x[i] = size_of(f, x[i]);
    Exact exact = e[0];
    switch (row->operation) {
    case ADD:
        exact = exact_add(e[0], e[1], row->rounding);
        break;
    case SUB:
        exact = exact_add(e[0], exact_negate(e[1]), row->rounding);
        break;
    case MUL:
        exact = exact_multiply(e[0], e[1]);
        break;
    case DIV:
        exact = exact_divide(e[0], e[1]);
        break;
    case FMA:
        exact = exact_add(exact_multiply(e[0], e[1]), e[2], row->rounding);
        break;
    case RCP:
        exact = exact_divide(exact_of_unsigned(1), e[0]);
        break;
    case SQRT:
        exact = exact_sqrt(e[0]);
        break;
    default:
        break;
    }
    switch (row->operation) {
    case ABS:
        if (is_nan(f, x[0])) return f == &FORMAT_F64 ? x[0] : f->nan;
        return size_of(f, x[0]);
    case NEG:
        if (is_nan(f, x[0])) return f == &FORMAT_F64 ? x[0] | QUIET : f->nan;
        return x[0] ^ sign_of(f);
    case MIN:
    case MAX:
        result = pick(f, x[0], x[1], row->operation == MAX, row->flags & NAN_WINS);
        if (sources == 3) result = pick(f, result, x[2], row->operation == MAX, row->flags & NAN_WINS);
        if ((row->flags & XORSIGN) && !is_nan(f, result)) result = size_of(f, result) | sign;
        return result;
    default:
        break;
    }
    result = exact_round(exact, f, row->rounding, false);
    if (is_nan(f, result) &&
        f == &FORMAT_F64) { /* an operand's payload, made quiet; an H200 looks at b, c, a */
        static const int fast[] = {1, 2, 0}, division[] = {0, 1, 2};
        for (int i = 0; i < 3; i++) {
            int j = row->operation == DIV ? division[i] : fast[i];
            if (j < sources && is_nan(f, x[j])) return x[j] | QUIET;
        }
    }
    bool finite = exact.kind == EXACT_FINITE;
    if ((row->flags & FTZ) && finite && is_tiny(f, exact, row->rounding)) result &= sign_of(f);
    if (row->flags & SAT) {
        if (is_nan(f, result) || (result & sign_of(f))) return 0;
        return result > one_of(f) ? one_of(f) : result;
    }
    if ((row->flags & RELU) && (result & sign_of(f)) && !is_nan(f, result)) return 0;
    return result;
}

static uint64_t value(const FloatFormat *format, uint64_t *random) {
    return format == &FORMAT_BF16  ? lane_bfloat(random)
           : format == &FORMAT_F16 ? lane_float(random, 16)
           : format == &FORMAT_F32 ? lane_float(random, 32)
                                   : lane_float(random, 64);
}

/* The emulator's fma is the host's; valgrind's loses subnormal products, which are excluded there. */
static bool host_fuses_subnormals(void) {
    volatile double tiny = 0x1p-1060, zero = 0.0;
    return signbit(fma(tiny, -tiny, zero)) != 0;
}

/* Packed types hold `parts` values of the format in a register. */
static void check_row(const Row *row, int count, int parts) {
    static LaneRow rows[COUNT];
    int source_bits[LANE_VALUES], bits[LANE_VALUES], destinations,
        width = 1 + row->format->mantissa + row->format->exponent;
    int sources = lane_table_widths(row->instruction, source_bits, bits, &destinations);
    assert_int_equal(bits[0], width * parts);
    uint64_t random = 11;
    bool moderate = row->operation == FMA && row->format == &FORMAT_F64 && !host_fuses_subnormals();
    for (int i = 0; i < count; i++) {
        memset(&rows[i], 0, sizeof rows[i]);
        for (int part = 0; part < parts; part++) {
            uint64_t in[3] = {0, 0, 0};
            for (int j = 0; j < sources; j++) {
                in[j] = value(row->format, &random);
                if (moderate) in[j] = (in[j] & UINT64_C(0x80ffffffffffffff)) | UINT64_C(0x3f00000000000000);
                if (j && lane_random(&random) % 8 == 0)
                    in[j] = in[j - 1] ^ (lane_random(&random) % 2 ? sign_of(row->format) : 0);
                rows[i].in[j] |= in[j] << width * part;
            }
            rows[i].out[0] |= expect(row, in, sources) << width * part;
        }
    }
    lane_table_check(row->instruction, rows, count);
}
#define CHECK(rows, parts)                                                                                   \
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++) check_row(&(rows)[i], COUNT, parts)

#define TWO32   "d32 a32 b32"
#define THREE32 "d32 a32 b32 c32"
#define TWO64   "d64 a64 b64"

static void f32_to_nearest(void **state) {
    (void)state;
    static const Row rows[] = {
        {{"add.f32 d, a, b;", TWO32}, ADD, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"add.rn.f32 d, a, b;", TWO32}, ADD, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"sub.f32 d, a, b;", TWO32}, SUB, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"mul.f32 d, a, b;", TWO32}, MUL, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"div.rn.f32 d, a, b;", TWO32}, DIV, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"div.full.f32 d, a, b;", TWO32}, DIV, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"fma.rn.f32 d, a, b, c;", THREE32}, FMA, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"mad.rn.f32 d, a, b, c;", THREE32}, FMA, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"rcp.rn.f32 d, a;", "d32 a32"}, RCP, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"sqrt.rn.f32 d, a;", "d32 a32"}, SQRT, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"add.ftz.f32 d, a, b;", TWO32}, ADD, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"sub.ftz.f32 d, a, b;", TWO32}, SUB, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"mul.ftz.f32 d, a, b;", TWO32}, MUL, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"div.rn.ftz.f32 d, a, b;", TWO32}, DIV, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"fma.rn.ftz.f32 d, a, b, c;", THREE32}, FMA, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"rcp.rn.ftz.f32 d, a;", "d32 a32"}, RCP, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"sqrt.rn.ftz.f32 d, a;", "d32 a32"}, SQRT, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"add.sat.f32 d, a, b;", TWO32}, ADD, &FORMAT_F32, PTX_MOD_RN, SAT},
        {{"sub.ftz.sat.f32 d, a, b;", TWO32}, SUB, &FORMAT_F32, PTX_MOD_RN, FTZ | SAT},
        {{"mul.sat.f32 d, a, b;", TWO32}, MUL, &FORMAT_F32, PTX_MOD_RN, SAT},
        {{"fma.rn.sat.f32 d, a, b, c;", THREE32}, FMA, &FORMAT_F32, PTX_MOD_RN, SAT},
    };
    CHECK(rows, 1);
    static const Row pairs[] = {
        {{"add.rn.f32x2 d, a, b;", TWO64}, ADD, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"mul.rm.ftz.f32x2 d, a, b;", TWO64}, MUL, &FORMAT_F32, PTX_MOD_RM, FTZ},
        {{"fma.rz.f32x2 d, a, b, c;", "d64 a64 b64 c64"}, FMA, &FORMAT_F32, PTX_MOD_RZ, 0},
    };
    CHECK(pairs, 2);
}

static void f64_to_nearest(void **state) {
    (void)state;
    static const Row rows[] = {
        {{"add.f64 d, a, b;", TWO64}, ADD, &FORMAT_F64, PTX_MOD_RN, 0},
        {{"sub.rn.f64 d, a, b;", TWO64}, SUB, &FORMAT_F64, PTX_MOD_RN, 0},
        {{"mul.f64 d, a, b;", TWO64}, MUL, &FORMAT_F64, PTX_MOD_RN, 0},
        {{"div.rn.f64 d, a, b;", TWO64}, DIV, &FORMAT_F64, PTX_MOD_RN, 0},
        {{"fma.rn.f64 d, a, b, c;", "d64 a64 b64 c64"}, FMA, &FORMAT_F64, PTX_MOD_RN, 0},
        {{"rcp.rn.f64 d, a;", "d64 a64"}, RCP, &FORMAT_F64, PTX_MOD_RN, 0},
        {{"sqrt.rn.f64 d, a;", "d64 a64"}, SQRT, &FORMAT_F64, PTX_MOD_RN, 0},
    };
    CHECK(rows, 1);
}

static void directed_roundings(void **state) {
    (void)state;
#define DIRECTED(MODE, KIND)                                                                                 \
    {{"add." MODE ".f32 d, a, b;", TWO32}, ADD, &FORMAT_F32, KIND, 0},                                       \
        {{"sub." MODE ".f32 d, a, b;", TWO32}, SUB, &FORMAT_F32, KIND, 0},                                   \
        {{"mul." MODE ".ftz.f32 d, a, b;", TWO32}, MUL, &FORMAT_F32, KIND, FTZ},                             \
        {{"div." MODE ".f32 d, a, b;", TWO32}, DIV, &FORMAT_F32, KIND, 0},                                   \
        {{"fma." MODE ".f32 d, a, b, c;", THREE32}, FMA, &FORMAT_F32, KIND, 0},                              \
        {{"fma." MODE ".ftz.sat.f32 d, a, b, c;", THREE32}, FMA, &FORMAT_F32, KIND, FTZ | SAT},              \
        {{"rcp." MODE ".f32 d, a;", "d32 a32"}, RCP, &FORMAT_F32, KIND, 0},                                  \
        {{"sqrt." MODE ".ftz.f32 d, a;", "d32 a32"}, SQRT, &FORMAT_F32, KIND, FTZ},                          \
        {{"add." MODE ".f64 d, a, b;", TWO64}, ADD, &FORMAT_F64, KIND, 0},                                   \
        {{"sub." MODE ".f64 d, a, b;", TWO64}, SUB, &FORMAT_F64, KIND, 0},                                   \
        {{"mul." MODE ".f64 d, a, b;", TWO64}, MUL, &FORMAT_F64, KIND, 0},                                   \
        {{"div." MODE ".f64 d, a, b;", TWO64}, DIV, &FORMAT_F64, KIND, 0},                                   \
        {{"fma." MODE ".f64 d, a, b, c;", "d64 a64 b64 c64"}, FMA, &FORMAT_F64, KIND, 0},                    \
        {{"rcp." MODE ".f64 d, a;", "d64 a64"}, RCP, &FORMAT_F64, KIND, 0}, {                                \
        {"sqrt." MODE ".f64 d, a;", "d64 a64"}, SQRT, &FORMAT_F64, KIND, 0                                   \
    }
    static const Row rows[] = {DIRECTED("rz", PTX_MOD_RZ), DIRECTED("rm", PTX_MOD_RM),
                               DIRECTED("rp", PTX_MOD_RP)};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_row(&rows[i], 300, 1);
}

static void order_and_signs(void **state) {
    (void)state;
#define ORDER(NAME, KIND)                                                                                    \
    {{NAME ".f32 d, a, b;", TWO32}, KIND, &FORMAT_F32, PTX_MOD_RN, 0},                                       \
        {{NAME ".ftz.f32 d, a, b;", TWO32}, KIND, &FORMAT_F32, PTX_MOD_RN, FTZ},                             \
        {{NAME ".NaN.f32 d, a, b;", TWO32}, KIND, &FORMAT_F32, PTX_MOD_RN, NAN_WINS},                        \
        {{NAME ".xorsign.abs.f32 d, a, b;", TWO32}, KIND, &FORMAT_F32, PTX_MOD_RN, XORSIGN | ABSOLUTE},      \
        {{NAME ".ftz.NaN.xorsign.abs.f32 d, a, b;", TWO32},                                                  \
         KIND,                                                                                               \
         &FORMAT_F32,                                                                                        \
         PTX_MOD_RN,                                                                                         \
         FTZ | NAN_WINS | XORSIGN | ABSOLUTE},                                                               \
        {{NAME ".f32 d, a, b, c;", THREE32}, KIND, &FORMAT_F32, PTX_MOD_RN, 0},                              \
        {{NAME ".NaN.abs.f32 d, a, b, c;", THREE32}, KIND, &FORMAT_F32, PTX_MOD_RN, NAN_WINS | ABSOLUTE}, {  \
        {NAME ".f64 d, a, b;", TWO64}, KIND, &FORMAT_F64, PTX_MOD_RN, 0                                      \
    }
    static const Row rows[] = {
        ORDER("min", MIN),
        ORDER("max", MAX),
        {{"abs.f32 d, a;", "d32 a32"}, ABS, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"abs.ftz.f32 d, a;", "d32 a32"}, ABS, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"neg.f32 d, a;", "d32 a32"}, NEG, &FORMAT_F32, PTX_MOD_RN, 0},
        {{"neg.ftz.f32 d, a;", "d32 a32"}, NEG, &FORMAT_F32, PTX_MOD_RN, FTZ},
        {{"abs.f64 d, a;", "d64 a64"}, ABS, &FORMAT_F64, PTX_MOD_RN, 0},
        {{"neg.f64 d, a;", "d64 a64"}, NEG, &FORMAT_F64, PTX_MOD_RN, 0},
    };
    CHECK(rows, 1);
}

static void halves(void **state) {
    (void)state;
#define HALF_ROWS(T, R, FORMAT)                                                                              \
    {{"add." T " d, a, b;", "d" R " a" R " b" R}, ADD, FORMAT, PTX_MOD_RN, 0},                               \
        {{"sub.rn." T " d, a, b;", "d" R " a" R " b" R}, SUB, FORMAT, PTX_MOD_RN, 0},                        \
        {{"mul." T " d, a, b;", "d" R " a" R " b" R}, MUL, FORMAT, PTX_MOD_RN, 0},                           \
        {{"fma.rn." T " d, a, b, c;", "d" R " a" R " b" R " c" R}, FMA, FORMAT, PTX_MOD_RN, 0},              \
        {{"fma.rn.relu." T " d, a, b, c;", "d" R " a" R " b" R " c" R}, FMA, FORMAT, PTX_MOD_RN, RELU},      \
        {{"abs." T " d, a;", "d" R " a" R}, ABS, FORMAT, PTX_MOD_RN, 0},                                     \
        {{"neg." T " d, a;", "d" R " a" R}, NEG, FORMAT, PTX_MOD_RN, 0},                                     \
        {{"min." T " d, a, b;", "d" R " a" R " b" R}, MIN, FORMAT, PTX_MOD_RN, 0},                           \
        {{"max." T " d, a, b;", "d" R " a" R " b" R}, MAX, FORMAT, PTX_MOD_RN, 0},                           \
        {{"max.NaN." T " d, a, b;", "d" R " a" R " b" R}, MAX, FORMAT, PTX_MOD_RN, NAN_WINS}, {              \
        {"min.NaN.xorsign.abs." T " d, a, b;", "d" R " a" R " b" R}, MIN, FORMAT, PTX_MOD_RN,                \
            NAN_WINS | XORSIGN | ABSOLUTE                                                                    \
    }
#define F16_ROWS(T, R)                                                                                       \
    {{"add.ftz." T " d, a, b;", "d" R " a" R " b" R}, ADD, &FORMAT_F16, PTX_MOD_RN, FTZ},                    \
        {{"sub.sat." T " d, a, b;", "d" R " a" R " b" R}, SUB, &FORMAT_F16, PTX_MOD_RN, SAT},                \
        {{"mul.ftz.sat." T " d, a, b;", "d" R " a" R " b" R}, MUL, &FORMAT_F16, PTX_MOD_RN, FTZ | SAT},      \
        {{"fma.rn.ftz.relu." T " d, a, b, c;", "d" R " a" R " b" R " c" R},                                  \
         FMA,                                                                                                \
         &FORMAT_F16,                                                                                        \
         PTX_MOD_RN,                                                                                         \
         FTZ | RELU},                                                                                        \
        {{"neg.ftz." T " d, a;", "d" R " a" R}, NEG, &FORMAT_F16, PTX_MOD_RN, FTZ}, {                        \
        {"max.ftz." T " d, a, b;", "d" R " a" R " b" R}, MAX, &FORMAT_F16, PTX_MOD_RN, FTZ                   \
    }
    static const Row single[] = {HALF_ROWS("f16", "16", &FORMAT_F16), F16_ROWS("f16", "16"),
                                 HALF_ROWS("bf16", "16", &FORMAT_BF16)};
    static const Row packed[] = {HALF_ROWS("f16x2", "32", &FORMAT_F16), F16_ROWS("f16x2", "32"),
                                 HALF_ROWS("bf16x2", "32", &FORMAT_BF16)};
    CHECK(single, 1);
    CHECK(packed, 2);
}

/* Sums that two roundings would get wrong: a product next to a tie and a tiny c. */
static void halves_round_once(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        /* (1 + 2^-7) * (1 + 2^-1): 1.5 + 2^-7 + 2^-8, a tie of bf16 between 1.5 + 2^-7 and 1.5 + 2^-6; c tips
           it */
        {{"fma.rn.bf16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x3f81, 0x3fc0, 0x0001}, {0x3fc2}}},
        {{"fma.rn.bf16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x3f81, 0x3fc0, 0x8001}, {0x3fc1}}},
        {{"fma.rn.bf16 d, a, b, c;", "d16 a16 b16 c16"}, {{0x3f81, 0x3fc0, 0x0000}, {0x3fc2}}},
        /* subnormal product: 2^-133 * 1.5 is a tie of the last bits */
        {{"mul.bf16 d, a, b;", "d16 a16 b16"}, {{0x0001, 0x3fc0}, {0x0002}}},
        {{"mul.bf16 d, a, b;", "d16 a16 b16"}, {{0x0003, 0x3f00}, {0x0002}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        lane_table_check(cases[i].instruction, &cases[i].row, 1);
}

static void mixed_precision(void **state) {
    (void)state;
    static LaneRow rows[400];
    static const struct {
        LaneInstruction instruction;
        const FloatFormat *format;
        PtxModifierKind rounding;
        bool three, negate, saturate;
    } forms[] = {
        {{"add.f32.f16 d, a, b;", "d32 a16 b32"}, &FORMAT_F16, PTX_MOD_RN, false, false, false},
        {{"add.rz.sat.f32.bf16 d, a, b;", "d32 a16 b32"}, &FORMAT_BF16, PTX_MOD_RZ, false, false, true},
        {{"sub.rp.f32.bf16 d, a, b;", "d32 a16 b32"}, &FORMAT_BF16, PTX_MOD_RP, false, true, false},
        {{"fma.rm.f32.f16 d, a, b, c;", "d32 a16 b16 c32"}, &FORMAT_F16, PTX_MOD_RM, true, false, false},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        uint64_t random = 12;
        const FloatFormat *narrow = forms[form].format;
        for (int i = 0; i < 400; i++) {
            uint64_t *in = rows[i].in, last = forms[form].three ? 2 : 1;
            for (uint64_t j = 0; j < last; j++) in[j] = value(narrow, &random);
            in[last] = lane_float(&random, 32);
            Exact x = exact_of(narrow, in[0]), y = exact_of(&FORMAT_F32, in[last]);
            if (forms[form].three) x = exact_multiply(x, exact_of(narrow, in[1]));
            if (forms[form].negate) y = exact_negate(y);
            uint64_t result =
                exact_round(exact_add(x, y, forms[form].rounding), &FORMAT_F32, forms[form].rounding, false);
            if (forms[form].saturate)
                result = is_nan(&FORMAT_F32, result) || result >> 31 ? 0
                         : result > 0x3f800000                       ? 0x3f800000
                                                                     : result;
            rows[i].out[0] = result;
        }
        lane_table_check(forms[form].instruction, rows, 400);
    }
}

/* Results stated in the PTX ISA's tables and notes. */
static void rows_of_the_manual(void **state) {
    (void)state;
    enum { INF = 0x7f800000, NANF = 0x7fffffff, NEG = (int)0x80000000 };
#define N(x) ((uint32_t)(x))
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        {{"add.f32 d, a, b;", TWO32}, {{INF, N(0xff800000)}, {NANF}}},
        {{"mul.f32 d, a, b;", TWO32}, {{INF, 0}, {NANF}}},
        {{"add.f32 d, a, 1.5;", "d32 a32"}, {{0x3f800000}, {0x40200000}}},
        {{"add.f32 d, a, 0f80000000;", "d32 a32"}, {{N(NEG)}, {N(NEG)}}},
        {{"add.f64 d, a, b;", TWO64},
         {{UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000)}, {UINT64_C(0xfff8000000000000)}}},
        {{"add.f64 d, a, b;", TWO64}, {{UINT64_C(0x7ff0000000001234), 0}, {UINT64_C(0x7ff8000000001234)}}},
        {{"min.f32 d, a, b;", TWO32}, {{0, N(NEG)}, {N(NEG)}}},
        {{"max.f32 d, a, b;", TWO32}, {{N(NEG), 0}, {0}}},
        {{"min.f32 d, a, b;", TWO32}, {{0x7fc00001, 0x3f800000}, {0x3f800000}}},
        {{"max.NaN.f32 d, a, b;", TWO32}, {{0x7fc00001, 0x3f800000}, {NANF}}},
        {{"div.full.f32 d, a, b;", TWO32}, {{0x7f000000, 0x7f000000}, {0x3f800000}}},
        {{"copysign.f32 d, a, b;", TWO32}, {{N(NEG), 0x3f800000}, {0xbf800000}}},
        {{"copysign.f64 d, a, b;", TWO64},
         {{0, UINT64_C(0xbff0000000000000)}, {UINT64_C(0x3ff0000000000000)}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        lane_table_check(cases[i].instruction, &cases[i].row, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_to_nearest),
        cmocka_unit_test(f64_to_nearest),
        cmocka_unit_test(directed_roundings),
        cmocka_unit_test(order_and_signs),
        cmocka_unit_test(halves),
        cmocka_unit_test(halves_round_once),
        cmocka_unit_test(mixed_precision),
        cmocka_unit_test(rows_of_the_manual),
    };
    return cmocka_run_group_tests_name("lanes_float", tests, NULL, NULL);
}
