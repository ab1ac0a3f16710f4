/* Video instructions against the pseudocode of the manual, written out again here: "Scalar Video
 * Instructions" and "SIMD Video Instructions" (PTX ISA 9.7.18). Intermediate results are .s34 and .s33 as the
 * manual says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_formula.h"
#include <stdio.h>
#include <string.h>

enum { COUNT = 128 };

static const char *const types[] = {".u32", ".s32"};
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

static bool compare(Int a, Int b, int comparison) {
    const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    return results[comparison];
}

static void check(const char *text, Int (*result)(const void *form, const uint64_t *x), const void *form) {
    static LaneRow rows[COUNT];
    uint64_t random = 17;
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < 3; j++) rows[i].in[j] = lane_integer(&random, 32);
        if (i % 8 == 0) rows[i].in[1] = rows[i].in[0];
        if (i % 4 == 1) rows[i].in[1] %= 40; /* amounts of shifts */
        rows[i].out[0] = (uint64_t)result(form, rows[i].in) & 0xffffffffu;
    }
    bool third = strstr(text, "c;") != NULL;
    lane_table_check((LaneInstruction){text, third ? "d32 a32 b32 c32" : "d32 a32 b32"}, rows, COUNT);
}

/* ---- scalar ----------------------------------------------------------------------------------------- */

typedef enum Operation { ADD, SUB, ABSDIFF, MIN, MAX, SHL, SHR, SET, OPERATION_COUNT } Operation;
static const char *const names[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"};
typedef enum Second { NONE, PLUS, LEAST, MOST, SECOND_COUNT } Second;
static const char *const seconds[] = {"", ".add", ".min", ".max"};
static const char *const parts[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};

typedef struct Scalar {
    Operation operation;
    Second second;
    bool d_signed, a_signed, b_signed, saturate, wrap;
    int d_part, a_part, b_part; /* in `parts` */
    int comparison;
} Scalar;

static int part_bits(int part) {
    return part == 0 ? 32 : part <= 4 ? 8 : 16;
}
static Int selected(uint64_t word, int part, bool is_signed) {
    return int_part((Int)word, part == 0 ? 0 : part <= 4 ? part - 1 : part - 5, part_bits(part), is_signed);
}

static Int scalar(const void *form, const uint64_t *x) {
    const Scalar *f = form;
    Int a = selected(x[0], f->a_part, f->a_signed), b = selected(x[1], f->b_part, f->b_signed);
    Int amount = f->wrap ? b & 31 : b > 32 ? 32 : b, t = 0;
    switch (f->operation) {
    case ADD:
        t = a + b;
        break;
    case SUB:
        t = a - b;
        break;
    case ABSDIFF:
        t = a < b ? b - a : a - b;
        break;
    case MIN:
        t = a < b ? a : b;
        break;
    case MAX:
        t = a > b ? a : b;
        break;
    case SHL:
        t = a * ((Int)1 << amount);
        break;
    case SHR:
        t = a >> amount;
        break;
    default:
        t = compare(a, b, f->comparison);
        break;
    }
    t = int_extend(t, 34, true);
    int bits = part_bits(f->d_part);
    if (f->saturate) t = int_clamp_to(t, bits, f->d_signed);
    t = int_extend(t, 33, true);
    Int c = int_extend((Int)x[2], 32, f->d_signed);
    if (f->second == PLUS) t += c;
    if (f->second == LEAST) t = t < c ? t : c;
    if (f->second == MOST) t = t > c ? t : c;
    if (f->d_part == 0) return t;
    int place = bits * (f->d_part <= 4 ? f->d_part - 1 : f->d_part - 5);
    Int field = int_ones(bits) << place;
    return (t * ((Int)1 << place) & field) | (c & ~field);
}

static void check_scalar(const Scalar *f) {
    char text[128], order[16] = "";
    bool shift = f->operation == SHL || f->operation == SHR, set = f->operation == SET;
    if (shift) snprintf(order, sizeof order, "%s", f->wrap ? ".wrap" : ".clamp");
    if (set) snprintf(order, sizeof order, ".%s", comparisons[f->comparison]);
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s d%s, a%s, b%s%s;", names[f->operation],
             set ? "" : types[f->d_signed], types[f->a_signed], types[f->b_signed], f->saturate ? ".sat" : "",
             order, seconds[f->second], parts[f->d_part], parts[f->a_part], parts[f->b_part],
             f->d_part || f->second ? ", c" : "");
    check(text, scalar, f);
}

/* Every operation with every combination of types and second operation or merge; the parts take turns. */
static void scalar_operations(void **state) {
    (void)state;
    int turn = 0;
    for (Operation operation = ADD; operation < OPERATION_COUNT; operation++)
        for (int signs = 0; signs < 8; signs++)
            for (int tail = 0; tail < SECOND_COUNT + 6; tail++) {
                bool shift = operation == SHL || operation == SHR, set = operation == SET;
                if ((shift && signs & 4) || (set && signs & 1))
                    continue; /* b of shifts, d of vset are unsigned */
                Scalar form = {operation, tail < SECOND_COUNT ? (Second)tail : NONE,
                               signs & 1, signs & 2,
                               signs & 4, false,
                               turn % 2,  tail < SECOND_COUNT ? 0 : tail - SECOND_COUNT + 1,
                               turn % 7,  turn / 7 % 7,
                               turn % 6};
                turn++;
                check_scalar(&form);
                form.saturate = true;
                if (!set) check_scalar(&form);
            }
}

typedef struct MultiplyAdd {
    bool a_signed, b_signed, saturate, plus_one, negate_a, negate_b, negate_c;
    int scale, a_part, b_part;
} MultiplyAdd;

static Int multiply_add(const void *form, const uint64_t *x) {
    const MultiplyAdd *f = form;
    Int a = selected(x[0], f->a_part, f->a_signed), b = selected(x[1], f->b_part, f->b_signed);
    bool negate = f->negate_a != f->negate_b;
    bool is_signed = f->a_signed || f->b_signed || negate || f->negate_c;
    Int t = a * b, c = (Int)x[2];
    int carry = 0;
    if (f->plus_one)
        carry = 1;
    else if (negate)
        t = ~t, carry = 1;
    else if (f->negate_c)
        c = ~c, carry = 1;
    t += int_extend(c, 32, is_signed) + carry;
    t >>= f->scale;
    return f->saturate ? int_clamp_to(t, 32, is_signed) : t;
}

static void multiply_adds(void **state) {
    (void)state;
    for (int i = 0; i < 4 * 2 * 3 * 5; i++) {
        static const int scales[] = {0, 7, 15};
        static const char *const scale_texts[] = {"", ".shr7", ".shr15"};
        int kind = i / 24; /* plain, plus one, -a, -b, -c */
        MultiplyAdd form = {i & 1,     i & 2,     i & 4,         kind == 1, kind == 2,
                            kind == 3, kind == 4, scales[i % 3], i / 5 % 7, i % 7};
        char text[128];
        snprintf(text, sizeof text, "vmad%s%s%s%s%s%s d, %sa%s, %sb%s, %sc;",
                 types[form.a_signed || form.b_signed], types[form.a_signed], types[form.b_signed],
                 form.plus_one ? ".po" : "", form.saturate ? ".sat" : "", scale_texts[i % 3],
                 form.negate_a ? "-" : "", parts[form.a_part], form.negate_b ? "-" : "", parts[form.b_part],
                 form.negate_c ? "-" : "");
        check(text, multiply_add, &form);
    }
}

/* ---- SIMD ------------------------------------------------------------------------------------------- */

typedef enum SimdOperation { ADD_N, SUB_N, AVRG_N, ABSDIFF_N, MIN_N, MAX_N, SET_N, SIMD_COUNT } SimdOperation;
static const char *const simd_names[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"};

typedef struct Simd {
    SimdOperation operation;
    int lanes;
    bool d_signed, a_signed, b_signed, saturate, accumulate;
    int comparison;
    int a_select[4], b_select[4]; /* of position i; parts are counted through a, then b */
    bool mask[4];
} Simd;

static Int simd(const void *form, const uint64_t *x) {
    const Simd *f = form;
    int bits = 32 / f->lanes;
    Int both = (Int)x[1] << 32 | (Int)x[0], sum = (Int)x[2], merged = 0;
    for (int i = 0; i < f->lanes; i++) {
        Int a = int_part(both, f->a_select[i], bits, f->a_signed);
        Int b = int_part(both, f->b_select[i], bits, f->b_signed), t = 0;
        switch (f->operation) {
        case ADD_N:
            t = a + b;
            break;
        case SUB_N:
            t = a - b;
            break;
        case AVRG_N:
            t = a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
            break;
        case ABSDIFF_N:
            t = a < b ? b - a : a - b;
            break;
        case MIN_N:
            t = a < b ? a : b;
            break;
        case MAX_N:
            t = a > b ? a : b;
            break;
        default:
            t = compare(a, b, f->comparison);
            break;
        }
        if (f->saturate) t = int_clamp_to(t, bits, f->d_signed);
        sum += f->mask[i] ? t : 0;
        merged |= int_extend(f->mask[i] ? t : int_part((Int)x[2], i, bits, false), bits, false) << bits * i;
    }
    return f->accumulate ? sum : merged;
}

static void check_simd(Simd *f, int turn) {
    char text[128], mask[8] = "", a[8] = "", b[8] = "", order[8] = "";
    char letter = f->lanes == 2 ? 'h' : 'b';
    bool chosen = turn % 3 != 0; /* with selectors, else their defaults */
    int used = 0;
    for (int i = 0; i < f->lanes; i++) {
        f->a_select[i] = chosen ? (turn + 3 * i) % (2 * f->lanes) : i;
        f->b_select[i] = chosen ? (turn / 2 + 5 * i + 1) % (2 * f->lanes) : f->lanes + i;
        f->mask[i] = !chosen || (turn >> i & 1) || i == turn % f->lanes;
    }
    for (int i = f->lanes - 1; chosen && i >= 0; i--) {
        a[f->lanes - 1 - i] = (char)('0' + f->a_select[i]);
        b[f->lanes - 1 - i] = (char)('0' + f->b_select[i]);
        if (f->mask[i]) mask[used++] = (char)('0' + i);
    }
    if (f->operation == SET_N) snprintf(order, sizeof order, ".%s", comparisons[f->comparison]);
    const char *d_type = f->operation == SET_N ? "" : types[f->d_signed];
    const char *tail = f->saturate ? ".sat" : f->accumulate ? ".add" : "";
    if (chosen)
        snprintf(text, sizeof text, "%s%d%s%s%s%s%s d.%c%s, a.%c%s, b.%c%s, c;", simd_names[f->operation],
                 f->lanes, d_type, types[f->a_signed], types[f->b_signed], order, tail, letter, mask, letter,
                 a, letter, b);
    else
        snprintf(text, sizeof text, "%s%d%s%s%s%s%s d, a, b, c;", simd_names[f->operation], f->lanes, d_type,
                 types[f->a_signed], types[f->b_signed], order, tail);
    check(text, simd, f);
}

static void simd_operations(void **state) {
    (void)state;
    int turn = 0;
    for (int lanes = 2; lanes <= 4; lanes += 2)
        for (SimdOperation operation = ADD_N; operation < SIMD_COUNT; operation++)
            for (int signs = 0; signs < 8; signs++)
                for (int tail = 0; tail < 3; tail++) {
                    if (operation == SET_N && (tail == 1 || signs & 1)) continue;
                    Simd form = {.operation = operation,
                                 .lanes = lanes,
                                 .d_signed = signs & 1,
                                 .a_signed = signs & 2,
                                 .b_signed = signs & 4,
                                 .saturate = tail == 1,
                                 .accumulate = tail == 2,
                                 .comparison = turn % 6};
                    check_simd(&form, turn++);
                    check_simd(&form, turn++);
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_operations),
        cmocka_unit_test(multiply_adds),
        cmocka_unit_test(simd_operations),
    };
    return cmocka_run_group_tests_name("lanes_video", tests, NULL, NULL);
}
