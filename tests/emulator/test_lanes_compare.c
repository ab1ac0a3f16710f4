/* Comparisons and selections against the host's: set, setp, selp, slct ("Comparison and Selection
 * Instructions", PTX ISA 9.7.6), set and setp of halves (9.7.7), testp (9.7.3.1). Every comparison with every
 * type that has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 200 };

typedef enum Kind { BITS, UNSIGNED, SIGNED, FLOAT, HALF, BFLOAT } Kind;
typedef struct Type {
    const char *name;
    Kind kind;
    int bits, parts; /* of the register; elements in it */
} Type;
static const Type types[] = {
    {"b16", BITS, 16, 1},     {"b32", BITS, 32, 1},     {"b64", BITS, 64, 1},      {"u16", UNSIGNED, 16, 1},
    {"u32", UNSIGNED, 32, 1}, {"u64", UNSIGNED, 64, 1}, {"s16", SIGNED, 16, 1},    {"s32", SIGNED, 32, 1},
    {"s64", SIGNED, 64, 1},   {"f32", FLOAT, 32, 1},    {"f64", FLOAT, 64, 1},     {"f16", HALF, 16, 1},
    {"bf16", BFLOAT, 16, 1},  {"f16x2", HALF, 32, 2},   {"bf16x2", BFLOAT, 32, 2},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };
enum { F32_TYPE = 9, F16_TYPE = 11, F16X2_TYPE = 13 };

static const char *const comparisons[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                          "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
enum {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    LO,
    LS,
    HI,
    HS,
    EQU,
    NEU,
    LTU,
    LEU,
    GTU,
    GEU,
    NUM,
    EITHER_NAN,
    COMPARISON_COUNT
};

static bool has_comparison(const Type *type, int comparison) {
    switch (type->kind) {
    case BITS:
        return comparison <= NE;
    case UNSIGNED:
        return comparison <= HS;
    case SIGNED:
        return comparison <= GE;
    default:
        return comparison <= GE || comparison >= EQU;
    }
}

/* A binary format's value by its definition. */
static double decode(uint64_t bits, int mantissa, int exponent, bool flush) {
    int field = (int)(bits >> mantissa & ((1u << exponent) - 1)), bias = (1 << (exponent - 1)) - 1;
    double fraction = (double)(bits & ((UINT64_C(1) << mantissa) - 1)),
           sign = bits >> (mantissa + exponent) & 1 ? -1 : 1;
    if (field == (1 << exponent) - 1) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    if (field == 0) return flush ? 0 : sign * ldexp(fraction, 1 - bias - mantissa);
    return sign * ldexp(fraction + ldexp(1, mantissa), field - bias - mantissa);
}
static double value_of(const Type *type, uint64_t bits, bool flush) {
    if (type->kind == HALF) return decode(bits & 0xffff, 10, 5, flush);
    if (type->kind == BFLOAT) return decode(bits & 0xffff, 7, 8, false);
    return type->bits == 32 ? decode(bits, 23, 8, flush) : decode(bits, 52, 11, false);
}

static bool ordered(int comparison, bool less, bool equal) {
    switch (comparison) {
    case EQ:
    case EQU:
        return equal;
    case NE:
    case NEU:
        return !equal;
    case LT:
    case LO:
    case LTU:
        return less;
    case LE:
    case LS:
    case LEU:
        return less || equal;
    case GT:
    case HI:
    case GTU:
        return !less && !equal;
    default:
        return !less; /* GE, HS, GEU */
    }
}

static bool compare(const Type *type, int comparison, uint64_t a, uint64_t b, bool flush) {
    if (type->kind == SIGNED) {
        int64_t x = (int64_t)(a << (64 - type->bits)), y = (int64_t)(b << (64 - type->bits));
        return ordered(comparison, x < y, x == y);
    }
    if (type->kind < FLOAT) return ordered(comparison, a < b, a == b);
    double x = value_of(type, a, flush), y = value_of(type, b, flush);
    bool unordered = isnan(x) || isnan(y);
    if (comparison == NUM) return !unordered;
    if (comparison == EITHER_NAN) return unordered;
    return unordered ? comparison >= EQU : ordered(comparison, x < y, x == y);
}

static uint64_t random_value(const Type *type, uint64_t *random) {
    uint64_t value = 0;
    for (int part = 0; part < type->parts; part++) {
        int bits = type->bits / type->parts;
        uint64_t one = type->kind == BFLOAT                        ? lane_bfloat(random)
                       : type->kind == FLOAT || type->kind == HALF ? lane_float(random, bits)
                                                                   : lane_integer(random, bits);
        value |= one << part * bits;
    }
    return value;
}

static void fill(const Type *type, LaneRow *rows) {
    uint64_t random = 3;
    for (int i = 0; i < COUNT; i++) {
        uint64_t a = random_value(type, &random), b = random_value(type, &random);
        if (i % 4 == 0) b = a; /* equal, a neighbour, the opposite sign */
        if (i % 8 == 1) b = a ^ 1;
        if (i % 8 == 2) b = a ^ UINT64_C(1) << (type->bits - 1);
        rows[i] = (LaneRow){{a, b, lane_random(&random) & 1}, {0}};
    }
}

static const char *const operators[] = {"", ".and", ".or", ".xor"};
static uint64_t combine(int operator, bool t, bool c) {
    return operator== 0 ? t : operator== 1 ? t && c : operator== 2 ? t || c : t != c;
}

/* t[0] and t[1] of a row, before and after they are combined with the predicate. */
typedef struct Test {
    const Type *type;
    int comparison, operator;
    bool flush, negated; /* !c */
} Test;
static uint64_t outcome(const Test *test, const LaneRow *row, int part, bool complement) {
    int shift = part * (test->type->bits / test->type->parts);
    bool t = compare(test->type, test->comparison, row->in[0] >> shift, row->in[1] >> shift, test->flush);
    return combine(test->operator, t != complement, row->in[2] != test->negated);
}

static void registers_of(const Test *test, const char *destinations, char *out, size_t size) {
    snprintf(out, size, "%s a%d b%d%s", destinations, test->type->bits, test->type->bits,
             test->operator? " r1" : "");
}

/* ---- setp ---------------------------------------------------------------------------------------------- */

static void check_setp(const Test *test, const char *destination) {
    static LaneRow rows[COUNT];
    char text[96], registers[48];
    bool pair = test->type->parts == 2, both = !strcmp(destination, "p|q"),
         second = !strcmp(destination, "_|q");
    snprintf(text, sizeof text, "setp.%s%s%s.%s %s, a, b%s;", comparisons[test->comparison],
             operators[test->operator],
             test->flush ? ".ftz" : "", test->type->name, destination,
             test->operator ? test->negated ? ", !r" : ", r" : "");
    registers_of(test, both ? "p1 q1" : second ? "q1" : "p1", registers, sizeof registers);
    fill(test->type, rows);
    for (int i = 0; i < COUNT; i++) {
        uint64_t p = outcome(test, &rows[i], 0, false), q = outcome(test, &rows[i], pair, !pair);
        rows[i].out[0] = second ? q : p;
        rows[i].out[1] = q;
    }
    lane_table_check((LaneInstruction){text, registers}, rows, COUNT);
}

static void every_setp(void **state) {
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int comparison = 0; comparison < COMPARISON_COUNT; comparison++) {
            if (!has_comparison(&types[type], comparison)) continue;
            Test test = {&types[type], comparison, 0, false, false};
            bool pair = types[type].parts == 2;
            check_setp(&test, pair ? "p|q" : "p");
            test.operator= 1 + comparison % 3; /* and, or, xor in turn */
            check_setp(&test, "p|q");
            test.negated = true;
            check_setp(&test, comparison % 2 ? "p|_" : "_|q");
            test.negated = false, test.operator= 0, test.flush = true;
            if (type == F32_TYPE || type == F16_TYPE || type == F16X2_TYPE)
                check_setp(&test, pair ? "p|q" : "p");
        }
}

/* ---- set ----------------------------------------------------------------------------------------------- */

typedef struct Result {
    const char *name;
    int bits;
    uint64_t yes;
} Result;

static void check_set(const Test *test, const Result *result) {
    static LaneRow rows[COUNT];
    char text[96], registers[48], destination[8];
    bool pair = test->type->parts == 2;
    snprintf(text, sizeof text, "set.%s%s%s.%s.%s d, a, b%s;", comparisons[test->comparison],
             operators[test->operator],
             test->flush ? ".ftz" : "", result->name, test->type->name,
             test->operator ? test->negated ? ", !r" : ", r" : "");
    snprintf(destination, sizeof destination, "d%d", result->bits);
    registers_of(test, destination, registers, sizeof registers);
    fill(test->type, rows);
    for (int i = 0; i < COUNT; i++) {
        rows[i].out[0] = outcome(test, &rows[i], 0, false) * result->yes;
        if (pair) rows[i].out[0] |= outcome(test, &rows[i], 1, false) * result->yes << 16;
    }
    lane_table_check((LaneInstruction){text, registers}, rows, COUNT);
}

static void every_set(void **state) {
    (void)state;
    static const Result wide[] = {{"u32", 32, 0xffffffff}, {"s32", 32, 0xffffffff}, {"f32", 32, 0x3f800000}};
    static const Result narrow[] = {{"f16", 16, 0x3c00}, {"bf16", 16, 0x3f80}};
    static const Result of_half[] = {
        {"u16", 16, 0xffff}, {"s16", 16, 0xffff}, {"u32", 32, 0xffffffff}, {"s32", 32, 0xffffffff}};
    static const Result packed[] = {{"u32", 32, 0xffff}, {"s32", 32, 0xffff}};
    static const Result own[] = {{"f16x2", 32, 0x3c00}, {"bf16x2", 32, 0x3f80}};
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int comparison = 0; comparison < COMPARISON_COUNT; comparison++) {
            if (!has_comparison(&types[type], comparison)) continue;
            bool pair = types[type].parts == 2, half = types[type].kind >= HALF;
            Test test = {&types[type], comparison, comparison % 4, false, comparison % 3 == 0};
            check_set(&test, pair   ? &packed[comparison % 2]
                             : half ? &of_half[comparison % 4]
                                    : &wide[comparison % 3]);
            test.operator=(comparison + 1) % 4;
            if (pair)
                check_set(&test, &own[types[type].kind == BFLOAT]);
            else if (types[type].kind != BFLOAT)
                check_set(&test, &narrow[comparison % 2]);
            test.flush = true;
            if (type == F32_TYPE) check_set(&test, &wide[(comparison + 1) % 3]);
            if (type == F16_TYPE) check_set(&test, &of_half[(comparison + 1) % 4]);
        }
}

/* ---- selections ---------------------------------------------------------------------------------------- */

static void selections(void **state) {
    (void)state;
    static LaneRow rows[COUNT];
    for (int type = 0; type <= 10; type++)
        for (int negated = 0; negated < 2; negated++) {
            char text[64], registers[48];
            snprintf(text, sizeof text, "selp.%s d, a, b, %sr;", types[type].name, negated ? "!" : "");
            snprintf(registers, sizeof registers, "d%d a%d b%d r1", types[type].bits, types[type].bits,
                     types[type].bits);
            fill(&types[type], rows);
            for (int i = 0; i < COUNT; i++) rows[i].out[0] = rows[i].in[rows[i].in[2] == (uint64_t)negated];
            lane_table_check((LaneInstruction){text, registers}, rows, COUNT);
        }
}

/* slct: a if c >= 0: true for -0, false for a NaN, and .ftz makes negative subnormals 0. */
static void selections_by_sign(void **state) {
    (void)state;
    static LaneRow rows[COUNT];
    for (int type = 0; type <= 10; type++)
        for (int form = 0; form < 3; form++) { /* s32, f32, f32 with .ftz */
            char text[64], registers[48];
            uint64_t random = 5;
            snprintf(text, sizeof text, "slct%s.%s.%s d, a, b, c;", form == 2 ? ".ftz" : "", types[type].name,
                     form ? "f32" : "s32");
            snprintf(registers, sizeof registers, "d%d a%d b%d c32", types[type].bits, types[type].bits,
                     types[type].bits);
            fill(&types[type], rows);
            for (int i = 0; i < COUNT; i++) {
                uint64_t c = rows[i].in[2] = form ? lane_float(&random, 32) : lane_integer(&random, 32);
                bool first = form ? decode(c, 23, 8, form == 2) >= 0 : (int32_t)c >= 0;
                rows[i].out[0] = rows[i].in[first ? 0 : 1];
            }
            lane_table_check((LaneInstruction){text, registers}, rows, COUNT);
        }
}

/* ---- testp --------------------------------------------------------------------------------------------- */

static bool is_of_kind(double x, bool single, int kind) {
    bool subnormal = single ? x != 0 && fabs(x) < 0x1p-126 : fpclassify(x) == FP_SUBNORMAL;
    const bool kinds[] = {isfinite(x) != 0,          isinf(x) != 0, !isnan(x), isnan(x) != 0,
                          isfinite(x) && !subnormal, subnormal};
    return kinds[kind];
}

static void kinds_of_numbers(void **state) {
    (void)state;
    static LaneRow rows[COUNT];
    static const char *const kinds[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    for (int single = 0; single < 2; single++)
        for (int kind = 0; kind < 6; kind++) {
            char text[64];
            uint64_t random = 6;
            snprintf(text, sizeof text, "testp.%s.%s p, a;", kinds[kind], single ? "f32" : "f64");
            for (int i = 0; i < COUNT; i++) {
                uint64_t bits = lane_float(&random, single ? 32 : 64);
                double x = single ? decode(bits, 23, 8, false) : decode(bits, 52, 11, false);
                rows[i] = (LaneRow){{bits}, {is_of_kind(x, single, kind)}};
            }
            lane_table_check((LaneInstruction){text, single ? "p1 a32" : "p1 a64"}, rows, COUNT);
        }
}

static void refused(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        const char *words;
    } forms[] = {
        {{"setp.lt.b32 p, a, b;", "p1 a32 b32"}, "no form for type .b32"},
        {{"setp.num.u32 p, a, b;", "p1 a32 b32"}, "no such comparison for .u32"},
        {{"setp.lo.f32 p, a, b;", "p1 a32 b32"}, "no such comparison for .f32"},
        {{"setp.lt.ftz.f64 p, a, b;", "p1 a64 b64"}, "setp.ftz has no form for .f64"},
        {{"set.lt.f64.f32 d, a, b;", "d64 a32 b32"}, "set.f64.f32 is not emulated"},
        {{"slct.ftz.b32.s32 d, a, b, c;", "d32 a32 b32 c32"}, "the last type of slct"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        lane_table_refuses(forms[i].instruction, forms[i].words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setp),       cmocka_unit_test(every_set),
        cmocka_unit_test(selections),       cmocka_unit_test(selections_by_sign),
        cmocka_unit_test(kinds_of_numbers), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("lanes_compare", tests, NULL, NULL);
}
