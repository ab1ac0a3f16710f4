/* Bit instructions against loops over bits that follow the pseudocode of the manual: "Logic and Shift
 * Instructions" (PTX ISA 9.7.8), popc to dp2a of "Integer Arithmetic Instructions" (9.7.1.14 to 9.7.1.24),
 * prmt (9.7.9.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_formula.h"
#include <stdio.h>

#define BIT(value, i) ((int)((value) >> (i)&1))

/* ---- logic and shifts ---------------------------------------------------------------------------------- */

FORMULA(bit_and, x[0] & x[1])
FORMULA(bit_or, x[0] | x[1])
FORMULA(bit_xor, x[0] ^ x[1])
FORMULA(bit_not, ~x[0])
FORMULA(and_not, x[0] & ~x[1])
FORMULA(is_zero, x[0] == 0)
FORMULA(shift_left, x[1] < bits ? x[0] << x[1] : 0)
FORMULA(shift_right_u, x[1] < bits ? x[0] >> x[1] : 0)
FORMULA(shift_right_s, int_extend(x[0], bits, true) >> (x[1] < bits ? x[1] : bits - 1))
#define JOINED ((x[1] << 32) | x[0])
FORMULA(funnel_l_clamp, (JOINED << (x[2] < 32 ? x[2] : 32)) >> 32)
FORMULA(funnel_l_wrap, (JOINED << (x[2] & 31)) >> 32)
FORMULA(funnel_r_clamp, JOINED >> (x[2] < 32 ? x[2] : 32))
FORMULA(funnel_r_wrap, JOINED >> (x[2] & 31))

#define TWO(W)     "d" W " a" W " b" W
#define THREE32    "d32 a32 b32 c32"
#define SHIFTED(W) "d" W " a" W " b32"
#define LOGIC(NAME, FORM)                                                                                    \
    {{NAME ".b16 d, a, b;", TWO("16")}, UNSIGNED, FORM},                                                     \
        {{NAME ".b32 d, a, b;", TWO("32")}, UNSIGNED, FORM},                                                 \
        {{NAME ".b64 d, a, b;", TWO("64")}, UNSIGNED, FORM}, {                                               \
        {NAME ".pred p, a, b;", "p1 a1 b1"}, UNSIGNED, FORM                                                  \
    }

static void logic(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        LOGIC("and", bit_and),
        LOGIC("or", bit_or),
        LOGIC("xor", bit_xor),
        {{"and.pred p, a, !b;", "p1 a1 b1"}, UNSIGNED, and_not},
        {{"not.b16 d, a;", "d16 a16"}, UNSIGNED, bit_not},
        {{"not.b32 d, a;", "d32 a32"}, UNSIGNED, bit_not},
        {{"not.b64 d, a;", "d64 a64"}, UNSIGNED, bit_not},
        {{"not.pred p, a;", "p1 a1"}, UNSIGNED, bit_not},
        {{"cnot.b16 d, a;", "d16 a16"}, UNSIGNED, is_zero},
        {{"cnot.b32 d, a;", "d32 a32"}, UNSIGNED, is_zero},
        {{"cnot.b64 d, a;", "d64 a64"}, UNSIGNED, is_zero},
    };
    CHECK_FORMULAS(rows);
}

static void shifts(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        {{"shl.b16 d, a, b;", SHIFTED("16")}, UNSIGNED, shift_left},
        {{"shl.b32 d, a, b;", SHIFTED("32")}, UNSIGNED, shift_left},
        {{"shl.b64 d, a, b;", SHIFTED("64")}, UNSIGNED, shift_left},
        {{"shr.b16 d, a, b;", SHIFTED("16")}, UNSIGNED, shift_right_u},
        {{"shr.u16 d, a, b;", SHIFTED("16")}, UNSIGNED, shift_right_u},
        {{"shr.u32 d, a, b;", SHIFTED("32")}, UNSIGNED, shift_right_u},
        {{"shr.u64 d, a, b;", SHIFTED("64")}, UNSIGNED, shift_right_u},
        {{"shr.s16 d, a, b;", SHIFTED("16")}, UNSIGNED, shift_right_s},
        {{"shr.s32 d, a, b;", SHIFTED("32")}, UNSIGNED, shift_right_s},
        {{"shr.s64 d, a, b;", SHIFTED("64")}, UNSIGNED, shift_right_s},
        {{"shf.l.clamp.b32 d, a, b, c;", THREE32}, UNSIGNED, funnel_l_clamp},
        {{"shf.l.wrap.b32 d, a, b, c;", THREE32}, UNSIGNED, funnel_l_wrap},
        {{"shf.r.clamp.b32 d, a, b, c;", THREE32}, UNSIGNED, funnel_r_clamp},
        {{"shf.r.wrap.b32 d, a, b, c;", THREE32}, UNSIGNED, funnel_r_wrap},
    };
    CHECK_FORMULAS(rows);
}

/* ---- lop3: every table --------------------------------------------------------------------------------- */

static uint32_t table_of_three(const uint64_t *x, int table) {
    uint32_t result = 0;
    for (int i = 0; i < 32; i++)
        result |= (uint32_t)(table >> (BIT(x[0], i) * 4 + BIT(x[1], i) * 2 + BIT(x[2], i)) & 1) << i;
    return result;
}

static void every_lop3(void **state) {
    (void)state;
    static LaneRow rows[64];
    assert_int_equal(table_of_three((const uint64_t[]){0xf0, 0xcc, 0xaa}, 0x1a) & 0xff, 0x1a);
    for (int table = 0; table < 256; table++) {
        char text[64];
        uint64_t random = 7;
        snprintf(text, sizeof text, "lop3.b32 d, a, b, c, %d;", table);
        for (int i = 0; i < 64; i++) {
            for (int j = 0; j < 3; j++) rows[i].in[j] = lane_integer(&random, 32);
            rows[i].out[0] = table_of_three(rows[i].in, table);
        }
        lane_table_check((LaneInstruction){text, THREE32}, rows, 64);
    }
}

static void lop3_with_predicate(void **state) {
    (void)state;
    static LaneRow rows[64];
    static const struct {
        LaneInstruction instruction;
        bool conjunction, sink, negated;
    } forms[] = {
        {{"lop3.or.b32 d|p, a, b, c, 0x35, r;", "d32 p1 a32 b32 c32 r1"}, false, false, false},
        {{"lop3.and.b32 d|p, a, b, c, 0x35, r;", "d32 p1 a32 b32 c32 r1"}, true, false, false},
        {{"lop3.and.b32 d|p, a, b, c, 0x35, !r;", "d32 p1 a32 b32 c32 r1"}, true, false, true},
        {{"lop3.and.b32 _|p, a, b, c, 0x35, r;", "p1 a32 b32 c32 r1"}, true, true, false},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        uint64_t random = 7;
        for (int i = 0; i < 64; i++) {
            for (int j = 0; j < 3; j++) rows[i].in[j] = i % 4 ? lane_integer(&random, 32) : 0xffffffffu;
            rows[i].in[3] = (uint64_t)i >> 2 & 1;
            uint64_t value = table_of_three(rows[i].in, 0x35), q = rows[i].in[3] ^ forms[form].negated;
            uint64_t predicate = forms[form].conjunction ? (value != 0) & q : (value != 0) | q;
            rows[i].out[0] = forms[form].sink ? predicate : value;
            rows[i].out[1] = predicate;
        }
        lane_table_check(forms[form].instruction, rows, 64);
    }
}

/* ---- counting, finding, fields ------------------------------------------------------------------------- */

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
    int base = (int)(x[1] & 31), offset = (int)int_extend(x[2], 32, true), step = offset > 0 ? 1 : -1;
    (void)bits;
    if (x[1] > 31) return -1;
    if (offset == 0) return BIT(x[0], base) ? base : -1;
    int64_t count = (offset < 0 ? -(int64_t)offset : offset) - 1;
    for (int place = base; place >= 0 && place <= 31; place += step)
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
    return length == 0 ? 0 : int_extend(x[0], (int)length, is_signed);
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

static void counting_and_fields(void **state) {
    (void)state;
    static const LaneFormula rows[] = {
        {{"popc.b32 d, a;", "d32 a32"}, UNSIGNED, count_ones},
        {{"popc.b64 d, a;", "d32 a64"}, UNSIGNED, count_ones},
        {{"clz.b32 d, a;", "d32 a32"}, UNSIGNED, leading_zeros},
        {{"clz.b64 d, a;", "d32 a64"}, UNSIGNED, leading_zeros},
        {{"bfind.u32 d, a;", "d32 a32"}, UNSIGNED, find_high},
        {{"bfind.s32 d, a;", "d32 a32"}, SIGNED, find_high},
        {{"bfind.u64 d, a;", "d32 a64"}, UNSIGNED, find_high},
        {{"bfind.s64 d, a;", "d32 a64"}, SIGNED, find_high},
        {{"bfind.shiftamt.u32 d, a;", "d32 a32"}, UNSIGNED, find_distance},
        {{"bfind.shiftamt.s32 d, a;", "d32 a32"}, SIGNED, find_distance},
        {{"bfind.shiftamt.u64 d, a;", "d32 a64"}, UNSIGNED, find_distance},
        {{"bfind.shiftamt.s64 d, a;", "d32 a64"}, SIGNED, find_distance},
        {{"brev.b32 d, a;", "d32 a32"}, UNSIGNED, reversed},
        {{"brev.b64 d, a;", "d64 a64"}, UNSIGNED, reversed},
        {{"fns.b32 d, a, b, c;", THREE32}, UNSIGNED, nth_set},
        {{"bfe.u32 d, a, b, c;", THREE32}, UNSIGNED, extracted_u},
        {{"bfe.s32 d, a, b, c;", THREE32}, UNSIGNED, extracted_s},
        {{"bfe.u64 d, a, b, c;", "d64 a64 b32 c32"}, UNSIGNED, extracted_u},
        {{"bfe.s64 d, a, b, c;", "d64 a64 b32 c32"}, UNSIGNED, extracted_s},
        {{"bfi.b32 d, a, b, c, x;", "d32 a32 b32 c32 x32"}, UNSIGNED, inserted},
        {{"bfi.b64 d, a, b, c, x;", "d64 a64 b64 c32 x32"}, UNSIGNED, inserted},
        {{"szext.clamp.u32 d, a, b;", TWO("32")}, UNSIGNED, szext_clamp_u},
        {{"szext.clamp.s32 d, a, b;", TWO("32")}, UNSIGNED, szext_clamp_s},
        {{"szext.wrap.u32 d, a, b;", TWO("32")}, UNSIGNED, szext_wrap_u},
        {{"szext.wrap.s32 d, a, b;", TWO("32")}, UNSIGNED, szext_wrap_s},
        {{"bmsk.clamp.b32 d, a, b;", TWO("32")}, UNSIGNED, bmsk_clamp},
        {{"bmsk.wrap.b32 d, a, b;", TWO("32")}, UNSIGNED, bmsk_wrap},
    };
    CHECK_FORMULAS(rows);
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static Int dot4(const Int *x, bool a_signed, bool b_signed) {
    Int sum = x[2];
    for (int i = 0; i < 4; i++) sum += int_part(x[0], i, 8, a_signed) * int_part(x[1], i, 8, b_signed);
    return sum;
}
static Int dot2(const Int *x, bool a_signed, bool b_signed, int from) {
    Int sum = x[2];
    for (int i = 0; i < 2; i++)
        sum += int_part(x[0], i, 16, a_signed) * int_part(x[1], from + i, 8, b_signed);
    return sum;
}
#define DOTS(SIGNS, A, B)                                                                                    \
    FORMULA(dp4a_##SIGNS, dot4(x, A, B))                                                                     \
    FORMULA(dp2a_lo_##SIGNS, dot2(x, A, B, 0))                                                               \
    FORMULA(dp2a_hi_##SIGNS, dot2(x, A, B, 2))
DOTS(uu, false, false)
DOTS(us, false, true)
DOTS(su, true, false)
DOTS(ss, true, true)

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

static void dot_products_and_permutes(void **state) {
    (void)state;
#define DOT_ROWS(TYPES, SIGNS)                                                                               \
    {{"dp4a." TYPES " d, a, b, c;", THREE32}, UNSIGNED, dp4a_##SIGNS},                                       \
        {{"dp2a.lo." TYPES " d, a, b, c;", THREE32}, UNSIGNED, dp2a_lo_##SIGNS}, {                           \
        {"dp2a.hi." TYPES " d, a, b, c;", THREE32}, UNSIGNED, dp2a_hi_##SIGNS                                \
    }
    static const LaneFormula rows[] = {
        DOT_ROWS("u32.u32", uu),
        DOT_ROWS("u32.s32", us),
        DOT_ROWS("s32.u32", su),
        DOT_ROWS("s32.s32", ss),
        {{"prmt.b32 d, a, b, c;", THREE32}, UNSIGNED, permuted},
    };
    CHECK_FORMULAS(rows);
}

/* Each mode of prmt on the bytes 0 to 7: the table of the manual, one value of c after the other. */
static void permute_modes(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        uint32_t result[4];
    } modes[] = {
        {{"prmt.b32.f4e d, a, b, c;", THREE32}, {0x03020100, 0x04030201, 0x05040302, 0x06050403}},
        {{"prmt.b32.b4e d, a, b, c;", THREE32}, {0x05060700, 0x06070001, 0x07000102, 0x00010203}},
        {{"prmt.b32.rc8 d, a, b, c;", THREE32}, {0x00000000, 0x01010101, 0x02020202, 0x03030303}},
        {{"prmt.b32.ecl d, a, b, c;", THREE32}, {0x03020100, 0x03020101, 0x03020202, 0x03030303}},
        {{"prmt.b32.ecr d, a, b, c;", THREE32}, {0x00000000, 0x01010100, 0x02020100, 0x03020100}},
        {{"prmt.b32.rc16 d, a, b, c;", THREE32}, {0x01000100, 0x03020302, 0x01000100, 0x03020302}},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        LaneRow rows[8];
        for (uint32_t c = 0; c < 8; c++) /* higher bits of c are ignored */
            rows[c] = (LaneRow){{0x03020100, 0x07060504, c | 0xfff0}, {modes[i].result[c & 3]}};
        lane_table_check(modes[i].instruction, rows, 8);
    }
}

static void examples_of_the_manual(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        LaneRow row;
    } cases[] = {
        {{"fns.b32 d, a, b, c;", THREE32}, {{0xaaaaaaaa, 3, 1}, {3}}},
        {{"fns.b32 d, a, b, c;", THREE32}, {{0xaaaaaaaa, 3, 0xffffffff}, {3}}},
        {{"fns.b32 d, a, b, c;", THREE32}, {{0xaaaaaaaa, 2, 1}, {3}}},
        {{"fns.b32 d, a, b, c;", THREE32}, {{0xaaaaaaaa, 2, 0xffffffff}, {1}}},
        {{"szext.wrap.u32 d, 0xffffffff, 0;", "d32"}, {{0}, {0}}},
        {{"bmsk.wrap.b32 d, 1, 2;", "d32"}, {{0}, {6}}},
        {{"xor.b16 d, a, 0xffff;", "d16 a16"}, {{0x1234}, {0xedcb}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        lane_table_check(cases[i].instruction, &cases[i].row, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logic),
        cmocka_unit_test(shifts),
        cmocka_unit_test(every_lop3),
        cmocka_unit_test(lop3_with_predicate),
        cmocka_unit_test(counting_and_fields),
        cmocka_unit_test(dot_products_and_permutes),
        cmocka_unit_test(permute_modes),
        cmocka_unit_test(examples_of_the_manual),
    };
    return cmocka_run_group_tests_name("lanes_bits", tests, NULL, NULL);
}
