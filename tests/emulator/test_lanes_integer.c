/* Integer and bit instructions against formulas in 128-bit integers or loops over bits that follow the PTX
 * ISA's pseudocode literally, on edge cases and random values; division by zero and the like against rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_table.h"
#include <string.h>

__extension__ typedef __int128 Int; /* sources arrive extended as the row says */

typedef struct Row {
    LaneInstruction instruction;
    enum { UNSIGNED, SIGNED } sign;
    Int (*formula)(const Int *x, int bits); /* the first destination's bits; bits: of the first source */
} Row;

static Int ones(int bits) {
    return bits >= 127 ? -1 : ((Int)1 << bits) - 1;
}
static Int extend(Int value, int bits, bool is_signed) {
    value &= ones(bits);
    return is_signed && (value >> (bits - 1) & 1) ? value - ((Int)1 << bits) : value;
}
static Int clamp(Int value, Int low, Int high) {
    return value < low ? low : value > high ? high : value;
}
static Int half(Int word, int i, bool is_signed) {
    return extend(word >> 16 * i, 16, is_signed);
}

enum { COUNT = 1500 };

static void check_row(const Row *row) {
    static LaneRow rows[COUNT];
    int source_bits[LANE_VALUES], bits[LANE_VALUES], destinations;
    int sources = lane_table_widths(row->instruction, source_bits, bits, &destinations);
    uint64_t random = 1;
    for (int i = 0; i < COUNT; i++) {
        Int x[LANE_VALUES];
        for (int j = 0; j < sources; j++) {
            rows[i].in[j] = lane_integer(&random, source_bits[j]);
            if (lane_random(&random) % 16 == 0 && j)
                rows[i].in[j] = rows[i].in[j - 1] & (uint64_t)ones(source_bits[j]);
            x[j] = extend((Int)rows[i].in[j], source_bits[j], row->sign == SIGNED);
        }
        rows[i].out[0] = (uint64_t)(row->formula(x, source_bits[0]) & ones(bits[0]));
    }
    lane_table_check(row->instruction, rows, COUNT);
}

static void check_rows(const Row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) check_row(&rows[i]);
}
#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

/* ---- arithmetic
 * ----------------------------------------------------------------------------------------------------- */

#define FORMULA(NAME, VALUE)                                                                                 \
    static Int NAME(const Int *x, int bits) {                                                                \
        (void)bits;                                                                                          \
        return (VALUE);                                                                                      \
    }
FORMULA(add, x[0] + x[1])
FORMULA(sub, x[0] - x[1])
FORMULA(add_sat_s, clamp(x[0] + x[1], -((Int)1 << (bits - 1)), ones(bits - 1)))
FORMULA(add_sat_u, clamp(x[0] + x[1], 0, ones(bits)))
FORMULA(sub_sat_s, clamp(x[0] - x[1], -((Int)1 << (bits - 1)), ones(bits - 1)))
/* The product of two 64-bit numbers may not fit a signed 128-bit one, but its bits do. */
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
FORMULA(mad_hi_sat, clamp((product(x) >> 32) + x[2], INT32_MIN, INT32_MAX))
#define LOW24(i, s) extend(x[i], 24, s)
FORMULA(mul24_lo_u, LOW24(0, false) * LOW24(1, false))
FORMULA(mul24_lo_s, LOW24(0, true) * LOW24(1, true))
FORMULA(mul24_hi_u, LOW24(0, false) * LOW24(1, false) >> 16)
FORMULA(mul24_hi_s, LOW24(0, true) * LOW24(1, true) >> 16)
FORMULA(mad24_lo_s, LOW24(0, true) * LOW24(1, true) + x[2])
FORMULA(mad24_hi_u, (LOW24(0, false) * LOW24(1, false) >> 16) + x[2])
FORMULA(mad24_hi_sat, clamp((LOW24(0, true) * LOW24(1, true) >> 16) + x[2], INT32_MIN, INT32_MAX))
FORMULA(sad, x[2] + (x[0] < x[1] ? x[1] - x[0] : x[0] - x[1]))
FORMULA(divide, x[1] == 0 ? -1 : x[0] / x[1])
FORMULA(rest, x[1] == 0 ? x[0] : x[0] % x[1])
FORMULA(absolute, x[0] < 0 ? -x[0] : x[0])
FORMULA(negated, -x[0])
FORMULA(least, x[0] < x[1] ? x[0] : x[1])
FORMULA(most, x[0] > x[1] ? x[0] : x[1])
FORMULA(least_relu, x[0] < x[1] ? (x[0] < 0 ? 0 : x[0]) : x[1] < 0 ? 0 : x[1])
FORMULA(most_relu, x[0] > x[1] ? (x[0] < 0 ? 0 : x[0]) : x[1] < 0 ? 0 : x[1])

static Int by_halves(const Int *x, bool is_signed, Int (*formula)(const Int *, int)) {
    Int result = 0;
    for (int i = 0; i < 2; i++) {
        Int parts[2] = {half(x[0], i, is_signed), half(x[1], i, is_signed)};
        result |= (formula(parts, 16) & 0xffff) << 16 * i;
    }
    return result;
}
FORMULA(add_2, by_halves(x, false, add))
FORMULA(add_2_sat_s, by_halves(x, true, add_sat_s))
FORMULA(add_2_sat_u, by_halves(x, false, add_sat_u))
FORMULA(min_2_s, by_halves(x, true, least))
FORMULA(min_2_u, by_halves(x, false, least))
FORMULA(max_2_s, by_halves(x, true, most))
FORMULA(max_2_u, by_halves(x, false, most))
FORMULA(min_2_relu, by_halves(x, true, least_relu))
FORMULA(max_2_relu, by_halves(x, true, most_relu))

#define BINARY_WIDTHS(NAME, FORM)                                                                            \
    {{NAME ".u16 d, a, b;", "d16 a16 b16"}, UNSIGNED, FORM},                                                 \
        {{NAME ".s16 d, a, b;", "d16 a16 b16"}, SIGNED, FORM},                                               \
        {{NAME ".u32 d, a, b;", "d32 a32 b32"}, UNSIGNED, FORM},                                             \
        {{NAME ".s32 d, a, b;", "d32 a32 b32"}, SIGNED, FORM},                                               \
        {{NAME ".u64 d, a, b;", "d64 a64 b64"}, UNSIGNED, FORM}, {                                           \
        {NAME ".s64 d, a, b;", "d64 a64 b64"}, SIGNED, FORM                                                  \
    }
#define TERNARY_WIDTHS(NAME, FORM)                                                                           \
    {{NAME ".u16 d, a, b, c;", "d16 a16 b16 c16"}, UNSIGNED, FORM},                                          \
        {{NAME ".s16 d, a, b, c;", "d16 a16 b16 c16"}, SIGNED, FORM},                                        \
        {{NAME ".u32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, FORM},                                      \
        {{NAME ".s32 d, a, b, c;", "d32 a32 b32 c32"}, SIGNED, FORM},                                        \
        {{NAME ".u64 d, a, b, c;", "d64 a64 b64 c64"}, UNSIGNED, FORM}, {                                    \
        {NAME ".s64 d, a, b, c;", "d64 a64 b64 c64"}, SIGNED, FORM                                           \
    }
#define UNARY_WIDTHS(NAME, FORM)                                                                             \
    {{NAME ".s16 d, a;", "d16 a16"}, SIGNED, FORM}, {{NAME ".s32 d, a;", "d32 a32"}, SIGNED, FORM}, {        \
        {NAME ".s64 d, a;", "d64 a64"}, SIGNED, FORM                                                         \
    }

static void sums_and_products(void **state) {
    (void)state;
    static const Row rows[] = {
        BINARY_WIDTHS("add", add),
        BINARY_WIDTHS("sub", sub),
        BINARY_WIDTHS("mul.lo", mul),
        BINARY_WIDTHS("mul.hi", mul_hi),
        TERNARY_WIDTHS("mad.lo", mad),
        TERNARY_WIDTHS("mad.hi", mad_hi),
        {{"mul.wide.u16 d, a, b;", "d32 a16 b16"}, UNSIGNED, mul},
        {{"mul.wide.s16 d, a, b;", "d32 a16 b16"}, SIGNED, mul},
        {{"mul.wide.u32 d, a, b;", "d64 a32 b32"}, UNSIGNED, mul},
        {{"mul.wide.s32 d, a, b;", "d64 a32 b32"}, SIGNED, mul},
        {{"mad.wide.u16 d, a, b, c;", "d32 a16 b16 c32"}, UNSIGNED, mad},
        {{"mad.wide.s16 d, a, b, c;", "d32 a16 b16 c32"}, SIGNED, mad},
        {{"mad.wide.u32 d, a, b, c;", "d64 a32 b32 c64"}, UNSIGNED, mad},
        {{"mad.wide.s32 d, a, b, c;", "d64 a32 b32 c64"}, SIGNED, mad},
        {{"mul24.lo.u32 d, a, b;", "d32 a32 b32"}, UNSIGNED, mul24_lo_u},
        {{"mul24.lo.s32 d, a, b;", "d32 a32 b32"}, SIGNED, mul24_lo_s},
        {{"mul24.hi.u32 d, a, b;", "d32 a32 b32"}, UNSIGNED, mul24_hi_u},
        {{"mul24.hi.s32 d, a, b;", "d32 a32 b32"}, SIGNED, mul24_hi_s},
        {{"mad24.lo.s32 d, a, b, c;", "d32 a32 b32 c32"}, SIGNED, mad24_lo_s},
        {{"mad24.hi.u32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, mad24_hi_u},
        TERNARY_WIDTHS("sad", sad),
        {{"add.u16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, add_2},
        {{"add.s16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, add_2},
    };
    CHECK(rows);
}

static void saturation(void **state) {
    (void)state;
    static const Row rows[] = {
        {{"add.sat.s32 d, a, b;", "d32 a32 b32"}, SIGNED, add_sat_s},
        {{"add.sat.u32 d, a, b;", "d32 a32 b32"}, UNSIGNED, add_sat_u},
        {{"sub.sat.s32 d, a, b;", "d32 a32 b32"}, SIGNED, sub_sat_s},
        {{"add.sat.s16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, add_2_sat_s},
        {{"add.sat.u16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, add_2_sat_u},
        {{"mad.hi.sat.s32 d, a, b, c;", "d32 a32 b32 c32"}, SIGNED, mad_hi_sat},
        {{"mad24.hi.sat.s32 d, a, b, c;", "d32 a32 b32 c32"}, SIGNED, mad24_hi_sat},
    };
    CHECK(rows);
}

static void quotients(void **state) {
    (void)state;
    static const Row rows[] = {BINARY_WIDTHS("div", divide), BINARY_WIDTHS("rem", rest)};
    CHECK(rows);
}

static void order_and_sign(void **state) {
    (void)state;
    static const Row rows[] = {
        BINARY_WIDTHS("min", least),
        BINARY_WIDTHS("max", most),
        UNARY_WIDTHS("abs", absolute),
        UNARY_WIDTHS("neg", negated),
        {{"min.relu.s32 d, a, b;", "d32 a32 b32"}, SIGNED, least_relu},
        {{"max.relu.s32 d, a, b;", "d32 a32 b32"}, SIGNED, most_relu},
        {{"min.s16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, min_2_s},
        {{"min.u16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, min_2_u},
        {{"max.s16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, max_2_s},
        {{"max.u16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, max_2_u},
        {{"min.relu.s16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, min_2_relu},
        {{"max.relu.s16x2 d, a, b;", "d32 a32 b32"}, UNSIGNED, max_2_relu},
    };
    CHECK(rows);
}

/* ---- carries: whole sequences, since CC.CF is seen by the next of them only
 * --------------------------------------- */

FORMULA(sum_128_high, (x[0] + x[2] + ((x[1] + x[3]) >> bits)))
FORMULA(difference_128_high, x[0] - x[2] - (x[1] < x[3]))
FORMULA(carry_of_product, (extend(product(x), bits, false) + extend(x[2], bits, false)) >> bits)
FORMULA(carry_of_high_product, (extend(high(x, bits), bits, false) + extend(x[2], bits, false)) >> bits)
FORMULA(product_with_carry, product(x) + x[2] + 1)

static void carries(void **state) {
    (void)state;
#define CARRY(T) "{ .reg ." T " t; "
    static const Row rows[] = {
        {{CARRY("b32") "$add.cc.u32 t, b, x; $addc.u32 d, a, c; }", "d32 a32 b32 c32 x32"},
         UNSIGNED,
         sum_128_high},
        {{CARRY("b64") "$add.cc.u64 t, b, x; $addc.u64 d, a, c; }", "d64 a64 b64 c64 x64"},
         UNSIGNED,
         sum_128_high},
        {{CARRY("b32") "$sub.cc.s32 t, b, x; $subc.s32 d, a, c; }", "d32 a32 b32 c32 x32"},
         UNSIGNED,
         difference_128_high},
        {{CARRY("b64") "$sub.cc.u64 t, b, x; $subc.u64 d, a, c; }", "d64 a64 b64 c64 x64"},
         UNSIGNED,
         difference_128_high},
        {{CARRY("b32") "$mad.lo.cc.u32 t, a, b, c; $addc.u32 d, 0, 0; }", "d32 a32 b32 c32"},
         UNSIGNED,
         carry_of_product},
        {{CARRY("b64") "$mad.lo.cc.u64 t, a, b, c; $addc.u64 d, 0, 0; }", "d64 a64 b64 c64"},
         UNSIGNED,
         carry_of_product},
        {{CARRY("b32") "$mad.hi.cc.s32 t, a, b, c; $addc.u32 d, 0, 0; }", "d32 a32 b32 c32"},
         SIGNED,
         carry_of_high_product},
        {{CARRY("b64") "$mad.hi.cc.u64 t, a, b, c; $addc.u64 d, 0, 0; }", "d64 a64 b64 c64"},
         UNSIGNED,
         carry_of_high_product},
        {{CARRY("b32") "$add.cc.u32 t, 1, -1; $madc.lo.u32 d, a, b, c; }", "d32 a32 b32 c32"},
         UNSIGNED,
         product_with_carry},
        {{CARRY("b64") "$add.cc.u64 t, 1, -1; $madc.lo.u64 d, a, b, c; }", "d64 a64 b64 c64"},
         UNSIGNED,
         product_with_carry},
    };
    CHECK(rows);
}

/* ---- bits
 * -----------------------------------------------------------------------------------------------------------
 */

#define BIT(value, i) ((int)((value) >> (i)&1))
FORMULA(bit_and, x[0] & x[1])
FORMULA(bit_or, x[0] | x[1])
FORMULA(bit_xor, x[0] ^ x[1])
FORMULA(bit_not, ~x[0])
FORMULA(is_zero, x[0] == 0)
FORMULA(shift_left, x[1] < bits ? x[0] << x[1] : 0)
FORMULA(shift_right_u, x[1] < bits ? x[0] >> x[1] : 0)
FORMULA(shift_right_s, extend(x[0], bits, true) >> (x[1] < bits ? x[1] : bits - 1))
#define JOINED ((x[1] << 32) | x[0])
FORMULA(funnel_l_clamp, (JOINED << (x[2] < 32 ? x[2] : 32)) >> 32)
FORMULA(funnel_l_wrap, (JOINED << (x[2] & 31)) >> 32)
FORMULA(funnel_r_clamp, JOINED >> (x[2] < 32 ? x[2] : 32))
FORMULA(funnel_r_wrap, JOINED >> (x[2] & 31))

static Int count_ones(const Int *x, int bits) {
    int count = 0;
    for (int i = 0; i < bits; i++) count += BIT(x[0], i);
    return count;
}
static Int leading_zeros(const Int *x, int bits) {
    int count = 0;
    while (count < bits && !BIT(x[0], bits - 1 - count)) count++;
    return count;
}
static Int find_high(const Int *x, int bits) {
    Int a = x[0] < 0 ? ~x[0] : x[0];
    for (int i = bits - 1; i >= 0; i--)
        if (BIT(a, i)) return i;
    return -1;
}
static Int find_distance(const Int *x, int bits) {
    Int place = find_high(x, bits);
    return place < 0 ? place : bits - 1 - place;
}
static Int reversed(const Int *x, int bits) {
    Int result = 0;
    for (int i = 0; i < bits; i++) result |= (Int)BIT(x[0], bits - 1 - i) << i;
    return result;
}
static Int nth_set(const Int *x, int bits) {
    int base = (int)(x[1] & 31), offset = (int)extend(x[2], 32, true);
    (void)bits;
    if (x[1] > 31) return -1;
    if (offset == 0) return BIT(x[0], base) ? base : -1;
    int64_t count = (offset < 0 ? -(int64_t)offset : offset) - 1;
    for (int place = base; place >= 0 && place<32; place += offset> 0 ? 1 : -1)
        if (BIT(x[0], place) && count-- == 0) return place;
    return -1;
}
static Int extracted(const Int *x, int bits, bool is_signed) {
    int place = (int)(x[1] & 255), length = (int)(x[2] & 255), last = place + length - 1;
    if (last > bits - 1) last = bits - 1;
    int sign = is_signed && length ? BIT(x[0], last) : 0;
    Int result = 0;
    for (int i = 0; i < bits; i++)
        result |= (Int)(i < length && place + i < bits ? BIT(x[0], place + i) : sign) << i;
    return result;
}
FORMULA(extracted_u, extracted(x, bits, false))
FORMULA(extracted_s, extracted(x, bits, true))
static Int inserted(const Int *x, int bits) {
    int place = (int)(x[2] & 255), length = (int)(x[3] & 255);
    Int result = x[1];
    for (int i = 0; i < length && place + i < bits; i++)
        result = (result & ~((Int)1 << (place + i))) | (Int)BIT(x[0], i) << (place + i);
    return result;
}
static Int low_part(const Int *x, bool wrap, bool is_signed) {
    Int length = wrap ? x[1] & 31 : x[1] > 32 ? 32 : x[1];
    return length == 0 ? 0 : extend(x[0], (int)length, is_signed);
}
FORMULA(szext_clamp_u, low_part(x, false, false))
FORMULA(szext_clamp_s, low_part(x, false, true))
FORMULA(szext_wrap_u, low_part(x, true, false))
FORMULA(szext_wrap_s, low_part(x, true, true))
static Int mask_of_bits(const Int *x, bool wrap) {
    Int place = wrap ? x[0] & 31 : x[0], length = wrap ? x[1] & 31 : x[1] > 32 ? 32 : x[1], result = 0;
    for (Int i = place; i < place + length && i < 32; i++) result |= (Int)1 << i;
    return result;
}
FORMULA(bmsk_clamp, mask_of_bits(x, false))
FORMULA(bmsk_wrap, mask_of_bits(x, true))
static Int dot4(const Int *x, bool a_signed, bool b_signed) {
    Int sum = x[2];
    for (int i = 0; i < 4; i++)
        sum += extend(x[0] >> 8 * i, 8, a_signed) * extend(x[1] >> 8 * i, 8, b_signed);
    return sum;
}
static Int dot2(const Int *x, bool a_signed, bool b_signed, int from) {
    Int sum = x[2];
    for (int i = 0; i < 2; i++) sum += half(x[0], i, a_signed) * extend(x[1] >> 8 * (from + i), 8, b_signed);
    return sum;
}
FORMULA(dp4a_uu, dot4(x, false, false))
FORMULA(dp4a_us, dot4(x, false, true))
FORMULA(dp4a_ss, dot4(x, true, true))
FORMULA(dp2a_lo_su, dot2(x, true, false, 0))
FORMULA(dp2a_hi_ss, dot2(x, true, true, 2))
static Int permuted(const Int *x, int bits) {
    Int result = 0;
    (void)bits;
    for (int i = 0; i < 4; i++) {
        int selector = (int)(x[2] >> 4 * i & 15);
        Int byte = (selector & 4 ? x[1] : x[0]) >> 8 * (selector & 3) & 255;
        result |= (selector & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return result;
}
static Int table_of_three(const Int *x, int table) {
    Int result = 0;
    for (int i = 0; i < 32; i++)
        result |= (Int)(table >> (BIT(x[0], i) * 4 + BIT(x[1], i) * 2 + BIT(x[2], i)) & 1) << i;
    return result;
}
FORMULA(lop3_1a, ((x[0] & x[1]) | x[2]) ^ x[0])
FORMULA(lop3_40, x[0] & x[1] & ~x[2])
FORMULA(lop3_e8, table_of_three(x, 0xe8))

static void logic(void **state) {
    (void)state;
    static const Row rows[] = {
        {{"and.b16 d, a, b;", "d16 a16 b16"}, UNSIGNED, bit_and},
        {{"and.b32 d, a, b;", "d32 a32 b32"}, UNSIGNED, bit_and},
        {{"and.b64 d, a, b;", "d64 a64 b64"}, UNSIGNED, bit_and},
        {{"and.pred p, a, b;", "p1 a1 b1"}, UNSIGNED, bit_and},
        {{"or.b16 d, a, b;", "d16 a16 b16"}, UNSIGNED, bit_or},
        {{"or.b32 d, a, b;", "d32 a32 b32"}, UNSIGNED, bit_or},
        {{"or.b64 d, a, b;", "d64 a64 b64"}, UNSIGNED, bit_or},
        {{"or.pred p, a, b;", "p1 a1 b1"}, UNSIGNED, bit_or},
        {{"xor.b16 d, a, b;", "d16 a16 b16"}, UNSIGNED, bit_xor},
        {{"xor.b32 d, a, b;", "d32 a32 b32"}, UNSIGNED, bit_xor},
        {{"xor.b64 d, a, b;", "d64 a64 b64"}, UNSIGNED, bit_xor},
        {{"xor.pred p, a, b;", "p1 a1 b1"}, UNSIGNED, bit_xor},
        {{"not.b16 d, a;", "d16 a16"}, UNSIGNED, bit_not},
        {{"not.b32 d, a;", "d32 a32"}, UNSIGNED, bit_not},
        {{"not.b64 d, a;", "d64 a64"}, UNSIGNED, bit_not},
        {{"not.pred p, a;", "p1 a1"}, UNSIGNED, bit_not},
        {{"cnot.b16 d, a;", "d16 a16"}, UNSIGNED, is_zero},
        {{"cnot.b32 d, a;", "d32 a32"}, UNSIGNED, is_zero},
        {{"cnot.b64 d, a;", "d64 a64"}, UNSIGNED, is_zero},
        {{"lop3.b32 d, a, b, c, 0x1A;", "d32 a32 b32 c32"}, UNSIGNED, lop3_1a},
        {{"lop3.b32 d, a, b, c, 0x40;", "d32 a32 b32 c32"}, UNSIGNED, lop3_40},
        {{"lop3.b32 d, a, b, c, 232;", "d32 a32 b32 c32"}, UNSIGNED, lop3_e8},
    };
    CHECK(rows);
    static LaneRow two[64]; /* lop3 with a predicate has two results */
    static const LaneInstruction forms[] = {{"lop3.or.b32 d|p, a, b, c, 0x35, r;", "d32 p1 a32 b32 c32 r1"},
                                            {"lop3.and.b32 d|p, a, b, c, 0x35, r;", "d32 p1 a32 b32 c32 r1"},
                                            {"lop3.and.b32 _|p, a, b, c, 0x35, r;", "p1 a32 b32 c32 r1"}};
    for (int form = 0; form < 3; form++) {
        uint64_t random = 7;
        for (int i = 0; i < 64; i++) {
            Int x[3];
            for (int j = 0; j < 3; j++)
                x[j] = (Int)(two[i].in[j] = i % 4 ? lane_integer(&random, 32) : 0xffffffffu);
            two[i].in[3] = (uint64_t)i >> 2 & 1;
            uint64_t value = (uint64_t)table_of_three(x, 0x35);
            uint64_t predicate = form == 0 ? (value != 0) | two[i].in[3] : (value != 0) & two[i].in[3];
            two[i].out[0] = form == 2 ? predicate : value;
            two[i].out[1] = predicate;
        }
        lane_table_check(forms[form], two, 64);
    }
}

static void shifts(void **state) {
    (void)state;
    static const Row rows[] = {
        {{"shl.b16 d, a, b;", "d16 a16 b32"}, UNSIGNED, shift_left},
        {{"shl.b32 d, a, b;", "d32 a32 b32"}, UNSIGNED, shift_left},
        {{"shl.b64 d, a, b;", "d64 a64 b32"}, UNSIGNED, shift_left},
        {{"shr.b16 d, a, b;", "d16 a16 b32"}, UNSIGNED, shift_right_u},
        {{"shr.u32 d, a, b;", "d32 a32 b32"}, UNSIGNED, shift_right_u},
        {{"shr.u64 d, a, b;", "d64 a64 b32"}, UNSIGNED, shift_right_u},
        {{"shr.s16 d, a, b;", "d16 a16 b32"}, UNSIGNED, shift_right_s},
        {{"shr.s32 d, a, b;", "d32 a32 b32"}, UNSIGNED, shift_right_s},
        {{"shr.s64 d, a, b;", "d64 a64 b32"}, UNSIGNED, shift_right_s},
        {{"shf.l.clamp.b32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, funnel_l_clamp},
        {{"shf.l.wrap.b32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, funnel_l_wrap},
        {{"shf.r.clamp.b32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, funnel_r_clamp},
        {{"shf.r.wrap.b32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, funnel_r_wrap},
    };
    CHECK(rows);
}

static void counting_and_fields(void **state) {
    (void)state;
    static const Row rows[] = {
        {{"popc.b32 d, a;", "d32 a32"}, UNSIGNED, count_ones},
        {{"popc.b64 d, a;", "d32 a64"}, UNSIGNED, count_ones},
        {{"clz.b32 d, a;", "d32 a32"}, UNSIGNED, leading_zeros},
        {{"clz.b64 d, a;", "d32 a64"}, UNSIGNED, leading_zeros},
        {{"bfind.u32 d, a;", "d32 a32"}, UNSIGNED, find_high},
        {{"bfind.s32 d, a;", "d32 a32"}, SIGNED, find_high},
        {{"bfind.u64 d, a;", "d32 a64"}, UNSIGNED, find_high},
        {{"bfind.s64 d, a;", "d32 a64"}, SIGNED, find_high},
        {{"bfind.shiftamt.u32 d, a;", "d32 a32"}, UNSIGNED, find_distance},
        {{"bfind.shiftamt.s64 d, a;", "d32 a64"}, SIGNED, find_distance},
        {{"brev.b32 d, a;", "d32 a32"}, UNSIGNED, reversed},
        {{"brev.b64 d, a;", "d64 a64"}, UNSIGNED, reversed},
        {{"fns.b32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, nth_set},
        {{"bfe.u32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, extracted_u},
        {{"bfe.s32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, extracted_s},
        {{"bfe.u64 d, a, b, c;", "d64 a64 b32 c32"}, UNSIGNED, extracted_u},
        {{"bfe.s64 d, a, b, c;", "d64 a64 b32 c32"}, UNSIGNED, extracted_s},
        {{"bfi.b32 d, a, b, c, x;", "d32 a32 b32 c32 x32"}, UNSIGNED, inserted},
        {{"bfi.b64 d, a, b, c, x;", "d64 a64 b64 c32 x32"}, UNSIGNED, inserted},
        {{"szext.clamp.u32 d, a, b;", "d32 a32 b32"}, UNSIGNED, szext_clamp_u},
        {{"szext.clamp.s32 d, a, b;", "d32 a32 b32"}, UNSIGNED, szext_clamp_s},
        {{"szext.wrap.u32 d, a, b;", "d32 a32 b32"}, UNSIGNED, szext_wrap_u},
        {{"szext.wrap.s32 d, a, b;", "d32 a32 b32"}, UNSIGNED, szext_wrap_s},
        {{"bmsk.clamp.b32 d, a, b;", "d32 a32 b32"}, UNSIGNED, bmsk_clamp},
        {{"bmsk.wrap.b32 d, a, b;", "d32 a32 b32"}, UNSIGNED, bmsk_wrap},
        {{"dp4a.u32.u32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, dp4a_uu},
        {{"dp4a.u32.s32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, dp4a_us},
        {{"dp4a.s32.s32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, dp4a_ss},
        {{"dp2a.lo.s32.u32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, dp2a_lo_su},
        {{"dp2a.hi.s32.s32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, dp2a_hi_ss},
        {{"prmt.b32 d, a, b, c;", "d32 a32 b32 c32"}, UNSIGNED, permuted},
    };
    CHECK(rows);
}

/* Each mode of prmt on the bytes 0 to 7: the table of the PTX ISA, one value of c after the other. */
static void permute_modes(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        uint32_t result[4];
    } modes[] = {
        {{"prmt.b32.f4e d, a, b, c;", "d32 a32 b32 c32"}, {0x03020100, 0x04030201, 0x05040302, 0x06050403}},
        {{"prmt.b32.b4e d, a, b, c;", "d32 a32 b32 c32"}, {0x05060700, 0x06070001, 0x07000102, 0x00010203}},
        {{"prmt.b32.rc8 d, a, b, c;", "d32 a32 b32 c32"}, {0x00000000, 0x01010101, 0x02020202, 0x03030303}},
        {{"prmt.b32.ecl d, a, b, c;", "d32 a32 b32 c32"}, {0x03020100, 0x03020101, 0x03020202, 0x03030303}},
        {{"prmt.b32.ecr d, a, b, c;", "d32 a32 b32 c32"}, {0x00000000, 0x01010100, 0x02020100, 0x03020100}},
        {{"prmt.b32.rc16 d, a, b, c;", "d32 a32 b32 c32"}, {0x01000100, 0x03020302, 0x01000100, 0x03020302}},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        LaneRow rows[8];
        for (uint32_t c = 0; c < 8; c++) /* higher bits of c are ignored */
            rows[c] = (LaneRow){{0x03020100, 0x07060504, c | 0xfff0}, {modes[i].result[c & 3]}};
        lane_table_check(modes[i].instruction, rows, 8);
    }
}

/* The examples of the PTX ISA and machine-specific results. */
static void rows_of_the_manual(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        {{"fns.b32 d, a, b, c;", "d32 a32 b32 c32"}, {{0xaaaaaaaa, 3, 1}, {3}}},
        {{"fns.b32 d, a, b, c;", "d32 a32 b32 c32"}, {{0xaaaaaaaa, 3, 0xffffffff}, {3}}},
        {{"fns.b32 d, a, b, c;", "d32 a32 b32 c32"}, {{0xaaaaaaaa, 2, 1}, {3}}},
        {{"fns.b32 d, a, b, c;", "d32 a32 b32 c32"}, {{0xaaaaaaaa, 2, 0xffffffff}, {1}}},
        {{"szext.wrap.u32 d, 0xffffffff, 0;", "d32"}, {{0}, {0}}},
        {{"bmsk.wrap.b32 d, 1, 2;", "d32"}, {{0}, {6}}},
        {{"div.s32 d, a, b;", "d32 a32 b32"}, {{7, 0}, {0xffffffff}}},
        {{"div.s32 d, a, b;", "d32 a32 b32"}, {{0x80000000, 0xffffffff}, {0x80000000}}},
        {{"rem.s64 d, a, b;", "d64 a64 b64"}, {{UINT64_C(1) << 63, UINT64_MAX}, {0}}},
        {{"rem.s32 d, a, b;", "d32 a32 b32"}, {{(uint32_t)-7, 3}, {(uint32_t)-1}}},
        {{"rem.s32 d, a, b;", "d32 a32 b32"}, {{7, (uint32_t)-3}, {1}}},
        {{"rem.u32 d, a, b;", "d32 a32 b32"}, {{7, 0}, {7}}},
        {{"mul.lo.s32 d, a, -3;", "d32 a32"}, {{5}, {(uint32_t)-15}}},
        {{"add.s64 d, a, -1;", "d64 a64"}, {{0}, {UINT64_MAX}}},
        {{"xor.b16 d, a, 0xffff;", "d16 a16"}, {{0x1234}, {0xedcb}}},
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
        cmocka_unit_test(logic),
        cmocka_unit_test(shifts),
        cmocka_unit_test(counting_and_fields),
        cmocka_unit_test(permute_modes),
        cmocka_unit_test(rows_of_the_manual),
    };
    return cmocka_run_group_tests_name("lanes_integer", tests, NULL, NULL);
}
