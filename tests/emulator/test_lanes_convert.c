/* Conversions between all integer and float types, in all roundings. They are tested with .ftz and .sat (PTX
 * ISA 9.7.9.21), against a reference written for this test: a value is an integer times a power of two,
 * rounded by dividing. NaNs are those of an H200. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_formula.h"
#include <stdio.h>
#include <string.h>

enum { COUNT = 160 };

typedef struct Type {
    const char *name;
    int bits, mantissa, exponent; /* exponent 0: an integer */
    bool is_signed;
} Type;
enum { U8, U16, U32, U64, S8, S16, S32, S64, F16, BF16, F32, F64, TYPE_COUNT, INTEGER_COUNT = F16 };
static const Type types[TYPE_COUNT] = {
    {"u8", 8, 0, 0, false},   {"u16", 16, 0, 0, false}, {"u32", 32, 0, 0, false}, {"u64", 64, 0, 0, false},
    {"s8", 8, 0, 0, true},    {"s16", 16, 0, 0, true},  {"s32", 32, 0, 0, true},  {"s64", 64, 0, 0, true},
    {"f16", 16, 10, 5, true}, {"bf16", 16, 7, 8, true}, {"f32", 32, 23, 8, true}, {"f64", 64, 52, 11, true},
};
static int register_bits(const Type *type) {
    return type->bits == 8 ? 16 : type->bits;
}

/* ---- the reference ------------------------------------------------------------------------------------- */

typedef enum Rounding { RN, RZ, RM, RP } Rounding;
static const char *const float_roundings[] = {".rn", ".rz", ".rm", ".rp"};
static const char *const integer_roundings[] = {".rni", ".rzi", ".rmi", ".rpi"};

typedef struct Value { /* (-1)^negative * whole * 2^power */
    enum { FINITE, INFINITE, NOT_A_NUMBER } kind;
    bool negative;
    Int whole;
    int power;
} Value;

static int bias(const Type *type) {
    return (1 << (type->exponent - 1)) - 1;
}
static uint64_t all_ones(const Type *type) { /* the largest exponent field, in place */
    return ((UINT64_C(1) << type->exponent) - 1) << type->mantissa;
}

static Value decode(const Type *type, uint64_t bits) {
    if (type->exponent == 0) {
        Int value = int_extend((Int)bits, type->bits, type->is_signed);
        return (Value){FINITE, value < 0, value < 0 ? -value : value, 0};
    }
    int field = (int)((bits & all_ones(type)) >> type->mantissa);
    Int fraction = (Int)bits & int_ones(type->mantissa);
    bool negative = bits >> (type->bits - 1) & 1, special = (bits & all_ones(type)) == all_ones(type);
    if (special) return (Value){fraction ? NOT_A_NUMBER : INFINITE, negative, 0, 0};
    Int whole = field ? fraction + ((Int)1 << type->mantissa) : fraction;
    return (Value){FINITE, negative, whole, (field ? field : 1) - bias(type) - type->mantissa};
}

/* |v| / 2^power, rounded to an integer. */
static Int divided(Value v, int power, Rounding rounding) {
    int cut = power - v.power;
    if (cut <= 0) return v.whole << -cut;
    bool all = cut > 100; /* more than it has */
    Int quotient = all ? 0 : v.whole >> cut, rest = all ? v.whole : v.whole & int_ones(cut),
        half = (Int)1 << (cut - 1) % 127;
    if (rest == 0 || rounding == RZ) return quotient;
    if (rounding == RM) return quotient + v.negative;
    if (rounding == RP) return quotient + !v.negative;
    if (all) return quotient;
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

static int top_power(Value v) { /* of the leading bit */
    int power = v.power - 1;
    for (Int whole = v.whole; whole; whole >>= 1) power++;
    return power;
}

static uint64_t encode(const Type *type, Value v, Rounding rounding, bool flush) {
    uint64_t sign = (uint64_t)v.negative << (type->bits - 1), infinity = all_ones(type);
    if (v.kind == INFINITE) return sign | infinity;
    if (v.whole == 0) return sign;
    int least = 1 - bias(type), top = top_power(v),
        lowest = (flush || top > least ? top : least) - type->mantissa;
    Int digits = divided(v, lowest, rounding);
    if (digits >> (type->mantissa + 1)) digits >>= 1, lowest++; /* a carry */
    if (digits >> type->mantissa == 0) return flush ? sign : sign | (uint64_t)digits;
    int field = lowest + type->mantissa + bias(type);
    if (field < 1) return sign; /* tiny, to be flushed */
    if (field >= (1 << type->exponent) - 1) {
        bool away = rounding == RN || (rounding == RM && v.negative) || (rounding == RP && !v.negative);
        return sign | (away ? infinity : infinity - 1);
    }
    return sign | (uint64_t)field << type->mantissa | ((uint64_t)digits & (uint64_t)int_ones(type->mantissa));
}

/* ---- forms --------------------------------------------------------------------------------------------- */

typedef struct Form {
    int to, from;
    Rounding rounding;
    bool rounded, integral; /* a rounding is written; it is .rni or similar */
    bool flush, saturate;
} Form;

static uint64_t random_source(int type, uint64_t *random) {
    return type == BF16                 ? lane_bfloat(random)
           : type > BF16 || type == F16 ? lane_float(random, types[type].bits)
                                        : lane_integer(random, types[type].bits);
}

/* f64 keeps the sign and as much of the payload of a NaN as fits, and makes it quiet; bf16 to f32 does so
 * too, but does not make it quiet. */
static uint64_t converted_nan(const Form *form, uint64_t bits) {
    const Type *from = &types[form->from], *to = &types[form->to];
    bool copy = form->from == form->to && form->from >= F32 && !form->rounded && !form->flush;
    bool shift = form->from == BF16 && form->to == F32 && !form->flush;
    if (copy) return bits;
    if (shift) return bits << 16;
    if (form->from != F64 && form->to != F64) return to->bits == 16 ? 0x7fff : 0x7fffffff;
    if (form->from == F32 && form->flush) bits = 0x7fffffff;
    uint64_t payload = bits & (uint64_t)int_ones(from->mantissa), sign = bits >> (from->bits - 1);
    int wider = to->mantissa - from->mantissa;
    payload = wider >= 0 ? payload << wider : payload >> -wider;
    return sign << (to->bits - 1) | all_ones(to) | UINT64_C(1) << (to->mantissa - 1) | payload;
}

static uint64_t expect(const Form *form, uint64_t bits) {
    const Type *from = &types[form->from], *to = &types[form->to];
    bool subnormal = from->exponent && (bits & all_ones(from)) == 0;
    /* ".ftz applies only to single precision"; between f32 and f16 it does nothing (H200) */
    if (form->flush && form->from == F32 && form->to != F16 && subnormal) bits &= UINT64_C(0x80000000);
    Value v = decode(from, bits);
    if (to->exponent == 0) {
        if (v.kind == NOT_A_NUMBER) /* "Integer Notes" */
            return from->bits == 64 || to->bits == 64 ? UINT64_C(1) << (to->bits - 1) : 0;
        Int most = (Int)1 << 100,
            value = v.kind == INFINITE || top_power(v) > 99 ? most : divided(v, 0, form->rounding);
        if (v.negative) value = -value;
        if (from->exponent || form->saturate) value = int_clamp_to(value, to->bits, to->is_signed);
        return (uint64_t)(value & int_ones(to->bits));
    }
    if (v.kind == NOT_A_NUMBER) return form->saturate ? 0 : converted_nan(form, bits);
    Rounding rounding = form->rounding;
    if (form->integral && v.kind == FINITE && v.power < 0) v.whole = divided(v, 0, rounding), v.power = 0;
    if (form->integral) rounding = RN;
    uint64_t result = encode(to, v, rounding, form->flush && form->to == F32);
    if (!form->saturate) return result;
    uint64_t one = (uint64_t)bias(to) << to->mantissa;
    return result >> (to->bits - 1) ? 0 : result > one ? one : result;
}

/* Hard sources for this form: random ones, and numbers next to ties and limits of the destination. */
static uint64_t source_of(const Form *form, int i, uint64_t *random) {
    const Type *from = &types[form->from], *to = &types[form->to];
    uint64_t bits = random_source(form->from, random);
    if (i % 2 || from->exponent == 0 || to->exponent >= from->exponent) return bits;
    Value near = to->exponent ? decode(to, random_source(form->to, random))
                              : decode(&types[S64], lane_integer(random, to->bits));
    if (near.kind != FINITE) return bits;
    near.whole = 2 * near.whole + (i % 4 == 0), near.power--; /* halfway to the next */
    return encode(from, near, RZ, false) + (uint64_t)(lane_random(random) % 3) - 1;
}

static void check(const Form *form, int destination_bits, int source_bits) {
    static LaneRow rows[COUNT];
    const Type *from = &types[form->from], *to = &types[form->to];
    char text[64], registers[16];
    uint64_t random = 31;
    const char *rounding =
        form->rounded ? (form->integral ? integer_roundings : float_roundings)[form->rounding] : "";
    snprintf(text, sizeof text, "cvt%s%s%s.%s.%s d, a;", rounding, form->flush ? ".ftz" : "",
             form->saturate ? ".sat" : "", to->name, from->name);
    snprintf(registers, sizeof registers, "d%d a%d", destination_bits, source_bits);
    for (int i = 0; i < COUNT; i++) {
        uint64_t bits = source_of(form, i, &random) & (uint64_t)int_ones(from->bits);
        uint64_t above = from->bits < source_bits ? lane_random(&random) << from->bits : 0; /* cut off */
        bool extend = to->exponent == 0 && to->is_signed;
        Int wide = int_extend((Int)expect(form, bits), to->bits, extend);
        rows[i] = (LaneRow){{(bits | above) & (uint64_t)int_ones(source_bits)},
                            {(uint64_t)(wide & int_ones(destination_bits))}};
    }
    lane_table_check((LaneInstruction){text, registers}, rows, COUNT);
}
static void check_form(Form form) {
    check(&form, register_bits(&types[form.to]), register_bits(&types[form.from]));
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void integers(void **state) {
    (void)state;
    for (int to = 0; to < INTEGER_COUNT; to++)
        for (int from = 0; from < INTEGER_COUNT; from++)
            for (int saturate = 0; saturate < 2; saturate++)
                check_form((Form){to, from, RZ, false, false, false, saturate});
}

/* Registers may be wider than the types: sources are truncated, results extended by their own type
 * (9.4.1). */
static void wider_registers(void **state) {
    (void)state;
    for (int to = 0; to < INTEGER_COUNT; to++)
        for (int from = 0; from < TYPE_COUNT; from++)
            for (int bits = 32; bits <= 64; bits *= 2) {
                bool integral = from >= F16;
                Form form = {to, from, RZ, integral, integral, false, to % 2};
                if (types[to].bits < bits) check(&form, bits, register_bits(&types[from]));
                if (types[from].bits < bits && from != BF16) check(&form, register_bits(&types[to]), bits);
            }
}

static void integers_to_floats(void **state) {
    (void)state;
    for (int to = F16; to <= F64; to++)
        for (int from = 0; from < INTEGER_COUNT; from++)
            for (Rounding rounding = RN; rounding <= RP; rounding++) {
                check_form((Form){to, from, rounding, true, false, false, false});
                if (to != BF16) check_form((Form){to, from, rounding, true, false, to == F32, true});
            }
}

static void floats_to_integers(void **state) {
    (void)state;
    for (int to = 0; to < INTEGER_COUNT; to++)
        for (int from = F16; from <= F64; from++)
            for (Rounding rounding = RN; rounding <= RP; rounding++) {
                check_form((Form){to, from, rounding, true, true, false, false});
                if (from == F32) check_form((Form){to, from, rounding, true, true, true, true});
            }
}

static void floats_to_integral_floats(void **state) {
    (void)state;
    for (int type = F16; type <= F64; type++)
        for (Rounding rounding = RN; rounding <= RP; rounding++) {
            check_form((Form){type, type, rounding, true, true, false, false});
            if (type != BF16) check_form((Form){type, type, rounding, true, true, type == F32, true});
        }
}

static bool loses(int to, int from) {
    return types[to].mantissa < types[from].mantissa || types[to].exponent < types[from].exponent;
}

static void floats_to_narrower(void **state) {
    (void)state;
    for (int to = F16; to <= F64; to++)
        for (int from = F16; from <= F64; from++)
            for (Rounding rounding = RN; loses(to, from) && rounding <= RP; rounding++) {
                bool single = to == F32 || from == F32;
                check_form((Form){to, from, rounding, true, false, false, false});
                if (single) check_form((Form){to, from, rounding, true, false, true, false});
                if (to != BF16) check_form((Form){to, from, rounding, true, false, single, true});
            }
}

static void floats_to_wider(void **state) {
    (void)state;
    for (int to = F16; to <= F64; to++)
        for (int from = F16; from <= F64; from++) {
            if (loses(to, from)) continue;
            bool single = to == F32 || from == F32;
            check_form((Form){to, from, RN, false, false, false, false});
            if (single) check_form((Form){to, from, RN, false, false, true, false});
            if (to != BF16 && from != BF16) check_form((Form){to, from, RN, false, false, false, true});
        }
    check_form((Form){F32, BF16, RN, true, false, false, false}); /* ptxas accepts a rounding here */
    check_form((Form){F64, BF16, RZ, true, false, false, false});
}

static void refused(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        const char *words;
    } forms[] = {
        {{"cvt.f32.f64 d, a;", "d32 a64"}, "cvt.f32.f64 needs a rounding"},
        {{"cvt.rn.s32.f32 d, a;", "d32 a32"}, "cvt.s32.f32 needs a rounding"},
        {{"cvt.rn.u32.s32 d, a;", "d32 a32"}, "takes no such rounding"},
        {{"cvt.rni.f64.f32 d, a;", "d64 a32"}, "takes no such rounding"},
        {{"cvt.rs.f16x2.f32 d, a, b, c;", "d32 a32 b32 c32"}, "cvt with .rs is not emulated"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        lane_table_refuses(forms[i].instruction, forms[i].words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(wider_registers),
        cmocka_unit_test(integers_to_floats),
        cmocka_unit_test(floats_to_integers),
        cmocka_unit_test(floats_to_integral_floats),
        cmocka_unit_test(floats_to_narrower),
        cmocka_unit_test(floats_to_wider),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("lanes_convert", tests, NULL, NULL);
}
