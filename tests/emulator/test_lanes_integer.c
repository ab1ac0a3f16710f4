/* Integer arithmetic against formulas in 128-bit integers: "Integer Arithmetic Instructions" (PTX ISA 9.7.1)
 * except for the bit instructions (test_lanes_bits.c), and "Extended-Precision Integer Arithmetic
 * Instructions" (9.7.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_formula.h"

FORMULA(add, x[0] + x[1])
FORMULA(sub, x[0] - x[1])
FORMULA(add_sat_s, int_clamp_to(x[0] + x[1], bits, true))
FORMULA(add_sat_u, int_clamp_to(x[0] + x[1], bits, false))
FORMULA(sub_sat_s, int_clamp_to(x[0] - x[1], bits, true))
/* The product of two 64-bit numbers may not fit in a signed 128-bit one, but its bits do. */
__extension__ typedef unsigned __int128 UnsignedInt;
static Int product(const Int *x) {
    return (Int)((UnsignedInt)x[0] * (UnsignedInt)x[1]);
}
static Int high(const Int *x, int bits) {
    return (Int)((UnsignedInt)product(x) >> bits);
}
FORMULA(mul, product(x))
FORMULA(mul_hi, high(x, bits))
FORMULA(mad, (Int)((UnsignedInt)product(x) + (UnsignedInt)x[2]))
FORMULA(mad_hi, high(x, bits) + x[2])
FORMULA(mad_hi_sat, int_clamp_to((product(x) >> 32) + x[2], 32, true))
#define LOW24(i, s) int_extend(x[i], 24, s)
FORMULA(mul24_lo_u, LOW24(0, false) * LOW24(1, false))
FORMULA(mul24_lo_s, LOW24(0, true) * LOW24(1, true))
FORMULA(mul24_hi_u, LOW24(0, false) * LOW24(1, false) >> 16)
FORMULA(mul24_hi_s, LOW24(0, true) * LOW24(1, true) >> 16)
FORMULA(mad24_lo_u, LOW24(0, false) * LOW24(1, false) + x[2])
FORMULA(mad24_lo_s, LOW24(0, true) * LOW24(1, true) + x[2])
FORMULA(mad24_hi_u, (LOW24(0, false) * LOW24(1, false) >> 16) + x[2])
FORMULA(mad24_hi_s, (LOW24(0, true) * LOW24(1, true) >> 16) + x[2])
FORMULA(mad24_hi_sat, int_clamp_to((LOW24(0, true) * LOW24(1, true) >> 16) + x[2], 32, true))
FORMULA(sad, x[2] + (x[0] < x[1] ? x[1] - x[0] : x[0] - x[1]))
/* "Division by zero yields an unspecified, machine-specific value": all ones on an H200, the remainder too.
 */
FORMULA(divide, x[1] == 0 ? -1 : x[0] / x[1])
FORMULA(rest, x[1] == 0 ? -1 : x[0] % x[1])
FORMULA(absolute, x[0] < 0 ? -x[0] : x[0])
FORMULA(negated, -x[0])
FORMULA(least, x[0] < x[1] ? x[0] : x[1])
FORMULA(most, x[0] > x[1] ? x[0] : x[1])
FORMULA(least_relu, int_clamp(least(x, bits), 0, int_ones(64)))
FORMULA(most_relu, int_clamp(most(x, bits), 0, int_ones(64)))

static Int by_parts(const Int *x, int bits, bool is_signed, Int (*formula)(const Int *, int)) {
    Int result = 0;
    for (int i = 0; i < 32 / bits; i++) {
        Int parts[2] = {int_part(x[0], i, bits, is_signed), int_part(x[1], i, bits, is_signed)};
        result |= (formula(parts, bits) & int_ones(bits)) << bits * i;
    }
    return result;
}
FORMULA(add_2, by_parts(x, 16, false, add))
FORMULA(add_2_sat_s, by_parts(x, 16, true, add_sat_s))
FORMULA(add_2_sat_u, by_parts(x, 16, false, add_sat_u))
FORMULA(min_2_s, by_parts(x, 16, true, least))
FORMULA(min_2_u, by_parts(x, 16, false, least))
FORMULA(max_2_s, by_parts(x, 16, true, most))
FORMULA(max_2_u, by_parts(x, 16, false, most))
FORMULA(min_2_relu, by_parts(x, 16, true, least_relu))
FORMULA(max_2_relu, by_parts(x, 16, true, most_relu))
FORMULA(sub_sat_u, int_clamp_to(x[0] - x[1], bits, false))
FORMULA(add_4, by_parts(x, 8, false, add))
FORMULA(sub_4, by_parts(x, 8, false, sub))
FORMULA(add_4_sat_s, by_parts(x, 8, true, add_sat_s))
FORMULA(add_4_sat_u, by_parts(x, 8, false, add_sat_u))
FORMULA(sub_4_sat_s, by_parts(x, 8, true, sub_sat_s))
FORMULA(sub_4_sat_u, by_parts(x, 8, false, sub_sat_u))
FORMULA(neg_4, by_parts(x, 8, true, negated))
FORMULA(min_4_s, by_parts(x, 8, true, least))
FORMULA(min_4_u, by_parts(x, 8, false, least))
FORMULA(max_4_s, by_parts(x, 8, true, most))
FORMULA(max_4_u, by_parts(x, 8, false, most))
FORMULA(min_4_relu, by_parts(x, 8, true, least_relu))
FORMULA(max_4_relu, by_parts(x, 8, true, most_relu))

#define TWO(W)   "d" W " a" W " b" W
#define THREE(W) "d" W " a" W " b" W " c" W
#define ONE_TYPE(NAME, T, OPERANDS, REGISTERS, SIGN, FORM)                                                   \
    { {NAME "." T " " OPERANDS ";", REGISTERS}, SIGN, FORM }
#define ALL_TYPES(NAME, OPERANDS, REGISTERS, FORM)                                                           \
    ONE_TYPE(NAME, "u16", OPERANDS, REGISTERS("16"), UNSIGNED, FORM),                                        \
        ONE_TYPE(NAME, "s16", OPERANDS, REGISTERS("16"), SIGNED, FORM),                                      \
        ONE_TYPE(NAME, "u32", OPERANDS, REGISTERS("32"), UNSIGNED, FORM),                                    \
        ONE_TYPE(NAME, "s32", OPERANDS, REGISTERS("32"), SIGNED, FORM),                                      \
        ONE_TYPE(NAME, "u64", OPERANDS, REGISTERS("64"), UNSIGNED, FORM),                                    \
        ONE_TYPE(NAME, "s64", OPERANDS, REGISTERS("64"), SIGNED, FORM)
#define BINARY(NAME, FORM)  ALL_TYPES(NAME, "d, a, b", TWO, FORM)
#define TERNARY(NAME, FORM) ALL_TYPES(NAME, "d, a, b, c", THREE, FORM)
#define UNARY(NAME, FORM)                                                                                    \
    ONE_TYPE(NAME, "s16", "d, a", "d16 a16", SIGNED, FORM),                                                  \
        ONE_TYPE(NAME, "s32", "d, a", "d32 a32", SIGNED, FORM),                                              \
        ONE_TYPE(NAME, "s64", "d, a", "d64 a64", SIGNED, FORM)

static void sums_and_products(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        BINARY("add", add),
        BINARY("sub", sub),
        BINARY("mul.lo", mul),
        BINARY("mul.hi", mul_hi),
        TERNARY("mad.lo", mad),
        TERNARY("mad.hi", mad_hi),
        {{"mul.wide.u16 d, a, b;", "d32 a16 b16"}, UNSIGNED, mul},
        {{"mul.wide.s16 d, a, b;", "d32 a16 b16"}, SIGNED, mul},
        {{"mul.wide.u32 d, a, b;", "d64 a32 b32"}, UNSIGNED, mul},
        {{"mul.wide.s32 d, a, b;", "d64 a32 b32"}, SIGNED, mul},
        {{"mad.wide.u16 d, a, b, c;", "d32 a16 b16 c32"}, UNSIGNED, mad},
        {{"mad.wide.s16 d, a, b, c;", "d32 a16 b16 c32"}, SIGNED, mad},
        {{"mad.wide.u32 d, a, b, c;", "d64 a32 b32 c64"}, UNSIGNED, mad},
        {{"mad.wide.s32 d, a, b, c;", "d64 a32 b32 c64"}, SIGNED, mad},
        {{"mul24.lo.u32 d, a, b;", TWO("32")}, UNSIGNED, mul24_lo_u},
        {{"mul24.lo.s32 d, a, b;", TWO("32")}, SIGNED, mul24_lo_s},
        {{"mul24.hi.u32 d, a, b;", TWO("32")}, UNSIGNED, mul24_hi_u},
        {{"mul24.hi.s32 d, a, b;", TWO("32")}, SIGNED, mul24_hi_s},
        {{"mad24.lo.u32 d, a, b, c;", THREE("32")}, UNSIGNED, mad24_lo_u},
        {{"mad24.lo.s32 d, a, b, c;", THREE("32")}, SIGNED, mad24_lo_s},
        {{"mad24.hi.u32 d, a, b, c;", THREE("32")}, UNSIGNED, mad24_hi_u},
        {{"mad24.hi.s32 d, a, b, c;", THREE("32")}, SIGNED, mad24_hi_s},
        TERNARY("sad", sad),
        {{"add.u16x2 d, a, b;", TWO("32")}, UNSIGNED, add_2},
        {{"add.s16x2 d, a, b;", TWO("32")}, UNSIGNED, add_2},
    };
    CHECK_FORMULAS(rows);
}

static void saturation(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        {{"add.sat.s32 d, a, b;", TWO("32")}, SIGNED, add_sat_s},
        {{"add.sat.u32 d, a, b;", TWO("32")}, UNSIGNED, add_sat_u},
        {{"sub.sat.s32 d, a, b;", TWO("32")}, SIGNED, sub_sat_s},
        {{"add.sat.s16x2 d, a, b;", TWO("32")}, UNSIGNED, add_2_sat_s},
        {{"add.sat.u16x2 d, a, b;", TWO("32")}, UNSIGNED, add_2_sat_u},
        {{"mad.hi.sat.s32 d, a, b, c;", THREE("32")}, SIGNED, mad_hi_sat},
        {{"mad24.hi.sat.s32 d, a, b, c;", THREE("32")}, SIGNED, mad24_hi_sat},
    };
    CHECK_FORMULAS(rows);
}

static void quotients(void **state) {
    (void)state;
    static const LaneFormula rows[] = {BINARY("div", divide), BINARY("rem", rest)};
    CHECK_FORMULAS(rows);
}

static void order_and_sign(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        BINARY("min", least),
        BINARY("max", most),
        UNARY("abs", absolute),
        UNARY("neg", negated),
        {{"min.relu.s32 d, a, b;", TWO("32")}, SIGNED, least_relu},
        {{"max.relu.s32 d, a, b;", TWO("32")}, SIGNED, most_relu},
        {{"min.s16x2 d, a, b;", TWO("32")}, UNSIGNED, min_2_s},
        {{"min.u16x2 d, a, b;", TWO("32")}, UNSIGNED, min_2_u},
        {{"max.s16x2 d, a, b;", TWO("32")}, UNSIGNED, max_2_s},
        {{"max.u16x2 d, a, b;", TWO("32")}, UNSIGNED, max_2_u},
        {{"min.relu.s16x2 d, a, b;", TWO("32")}, UNSIGNED, min_2_relu},
        {{"max.relu.s16x2 d, a, b;", TWO("32")}, UNSIGNED, max_2_relu},
    };
    CHECK_FORMULAS(rows);
}

/* Four bytes in a word, of PTX ISA 9.2. */
static void bytes(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        {{"add.u8x4 d, a, b;", TWO("32")}, UNSIGNED, add_4},
        {{"add.s8x4 d, a, b;", TWO("32")}, UNSIGNED, add_4},
        {{"add.sat.u8x4 d, a, b;", TWO("32")}, UNSIGNED, add_4_sat_u},
        {{"add.sat.s8x4 d, a, b;", TWO("32")}, UNSIGNED, add_4_sat_s},
        {{"sub.u8x4 d, a, b;", TWO("32")}, UNSIGNED, sub_4},
        {{"sub.s8x4 d, a, b;", TWO("32")}, UNSIGNED, sub_4},
        {{"sub.sat.u8x4 d, a, b;", TWO("32")}, UNSIGNED, sub_4_sat_u},
        {{"sub.sat.s8x4 d, a, b;", TWO("32")}, UNSIGNED, sub_4_sat_s},
        {{"neg.s8x4 d, a;", "d32 a32"}, UNSIGNED, neg_4},
        {{"min.u8x4 d, a, b;", TWO("32")}, UNSIGNED, min_4_u},
        {{"min.s8x4 d, a, b;", TWO("32")}, UNSIGNED, min_4_s},
        {{"max.u8x4 d, a, b;", TWO("32")}, UNSIGNED, max_4_u},
        {{"max.s8x4 d, a, b;", TWO("32")}, UNSIGNED, max_4_s},
        {{"min.relu.s8x4 d, a, b;", TWO("32")}, UNSIGNED, min_4_relu},
        {{"max.relu.s8x4 d, a, b;", TWO("32")}, UNSIGNED, max_4_relu},
    };
    CHECK_FORMULAS(rows);
}

/* ---- carries: whole sequences, since CC.CF is seen by the next of them only ---------------------------- */

#define LOW(i) int_extend(x[i], bits, false)
FORMULA(sum_128_high, x[0] + x[2] + ((x[1] + x[3]) >> bits))
FORMULA(difference_128_high, x[0] - x[2] - (x[1] < x[3]))
FORMULA(carry_of_product, (int_extend(product(x), bits, false) + LOW(2)) >> bits)
FORMULA(carry_of_high_product, (int_extend(high(x, bits), bits, false) + LOW(2)) >> bits)
FORMULA(product_with_carry, product(x) + x[2] + 1)
FORMULA(high_product_with_carry, high(x, bits) + x[2] + 1)
FORMULA(carry_of_carry, (x[0] + x[1] + ((x[2] + x[3]) >> bits)) >> bits)
FORMULA(borrow_of_borrow, x[0] - x[1] - (x[2] < x[3]) < 0 ? -1 : 0)
FORMULA(carry_after_product, (int_extend(product(x), bits, false) + LOW(2) + 1) >> bits)

static void carries(void **state) {
    (void)state;
#define FIRST(T) "{ .reg .b" T " t; "
    static const LaneFormula rows[] = {
#define WIDTH(W, FOUR)                                                                                       \
    {{FIRST(W) "$add.cc.u" W " t, b, x; $addc.u" W " d, a, c; }", FOUR}, UNSIGNED, sum_128_high},            \
        {{FIRST(W) "$sub.cc.s" W " t, b, x; $subc.s" W " d, a, c; }", FOUR}, UNSIGNED, difference_128_high}, \
        {{FIRST(W) "$add.cc.s" W " t, c, x; $addc.cc.s" W " t, a, b; $addc.u" W " d, 0, 0; }", FOUR},        \
         UNSIGNED,                                                                                           \
         carry_of_carry},                                                                                    \
        {{FIRST(W) "$sub.cc.u" W " t, c, x; $subc.cc.u" W " t, a, b; $subc.u" W " d, 0, 0; }", FOUR},        \
         UNSIGNED,                                                                                           \
         borrow_of_borrow},                                                                                  \
        {{FIRST(W) "$mad.lo.cc.u" W " t, a, b, c; $addc.u" W " d, 0, 0; }", THREE(W)},                       \
         UNSIGNED,                                                                                           \
         carry_of_product},                                                                                  \
        {{FIRST(W) "$mad.hi.cc.s" W " t, a, b, c; $addc.u" W " d, 0, 0; }", THREE(W)},                       \
         SIGNED,                                                                                             \
         carry_of_high_product},                                                                             \
        {{FIRST(W) "$mad.hi.cc.u" W " t, a, b, c; $addc.u" W " d, 0, 0; }", THREE(W)},                       \
         UNSIGNED,                                                                                           \
         carry_of_high_product},                                                                             \
        {{FIRST(W) "$add.cc.u" W " t, 1, -1; $madc.lo.u" W " d, a, b, c; }", THREE(W)},                      \
         UNSIGNED,                                                                                           \
         product_with_carry},                                                                                \
        {{FIRST(W) "$add.cc.u" W " t, 1, -1; $madc.hi.s" W " d, a, b, c; }", THREE(W)},                      \
         SIGNED,                                                                                             \
         high_product_with_carry},                                                                           \
        {{FIRST(W) "$add.cc.u" W " t, 1, -1; $madc.lo.cc.u" W " t, a, b, c; $addc.u" W " d, 0, 0; }",        \
          THREE(W)},                                                                                         \
         UNSIGNED,                                                                                           \
         carry_after_product}
        WIDTH("32", "d32 a32 b32 c32 x32"),
        WIDTH("64", "d64 a64 b64 c64 x64"),
    };
    CHECK_FORMULAS(rows);
}

/* There is one flag: after a subtraction it is set if nothing was borrowed (measured on an H200; the manual
 * calls it a borrow, and does not define sequences that mix both). */
FORMULA(addition_after_subtraction, x[2] + x[3] + (x[0] >= x[1]))
FORMULA(subtraction_after_addition, x[2] - x[3] - ((x[0] + x[1]) >> bits == 0))

static void mixed_carries(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        {{FIRST("32") "$sub.cc.u32 t, a, b; $addc.u32 d, c, x; }", "d32 a32 b32 c32 x32"},
         UNSIGNED,
         addition_after_subtraction},
        {{FIRST("64") "$add.cc.u64 t, a, b; $subc.u64 d, c, x; }", "d64 a64 b64 c64 x64"},
         UNSIGNED,
         subtraction_after_addition},
    };
    CHECK_FORMULAS(rows);
}

/* Results that wrap where the host would trap, signs of remainders, and literals. */
static void single_rows(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        {{"div.s32 d, a, b;", TWO("32")}, {{7, 0}, {0xffffffff}}},
        {{"div.s32 d, a, b;", TWO("32")}, {{0x80000000, 0xffffffff}, {0x80000000}}},
        {{"rem.s64 d, a, b;", TWO("64")}, {{UINT64_C(1) << 63, UINT64_MAX}, {0}}},
        {{"rem.s32 d, a, b;", TWO("32")}, {{(uint32_t)-7, 3}, {(uint32_t)-1}}},
        {{"rem.s32 d, a, b;", TWO("32")}, {{7, (uint32_t)-3}, {1}}},
        {{"rem.u32 d, a, b;", TWO("32")}, {{7, 0}, {0xffffffff}}},
        {{"mul.lo.s32 d, a, -3;", "d32 a32"}, {{5}, {(uint32_t)-15}}},
        {{"add.s64 d, a, -1;", "d64 a64"}, {{0}, {UINT64_MAX}}},
        {{"abs.s32 d, a;", "d32 a32"}, {{0x80000000}, {0x80000000}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        lane_table_check(cases[i].instruction, &cases[i].row, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products),
        cmocka_unit_test(saturation),
        cmocka_unit_test(quotients),
        cmocka_unit_test(order_and_sign),
        cmocka_unit_test(carries),
        cmocka_unit_test(mixed_carries),
        cmocka_unit_test(bytes),
        cmocka_unit_test(single_rows),
    };
    return cmocka_run_group_tests_name("lanes_integer", tests, NULL, NULL);
}
