/* Video instructions against the pseudocode of the manual. Random forms of every instruction, each on many
 * values: "Scalar Video Instructions" and "SIMD Video Instructions" (PTX ISA 9.7.18.1, 9.7.18.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_formula.h"
#include <stdio.h>
#include <string.h>

enum { FORMS = 24, VALUES = 200 };

typedef struct Form { /* of one instruction; selectors are without the dot, "" by default */
    char op[12];
    int count; /* of parts: 1 is scalar */
    bool d_signed, a_signed, b_signed, sat, wrap, po, minus_a, minus_b, minus_c;
    int shift;                    /* of vmad: 0, 7, 15 */
    const char *second, *compare; /* "": none */
    char d_part[8], a_part[8], b_part[8];
} Form;

static uint64_t dice = 5;

static int pick(int count) {
    return (int)(lane_random(&dice) % (unsigned)count);
}

static const char *const SECONDS[] = {"", "add", "min", "max"};
static const char *const COMPARES[] = {"eq", "ne", "lt", "le", "gt", "ge"};

static void pick_scalar_part(char part[8]) {
    static const char *const parts[] = {"", "", "b0", "b1", "b2", "b3", "h0", "h1"};
    snprintf(part, 8, "%s", parts[pick(8)]);
}

static void pick_simd_part(char part[8], int count) {
    if (pick(3) == 0) return;
    int length = 0;
    part[length++] = count == 2 ? 'h' : 'b';
    for (int i = 0; i < count; i++) part[length++] = (char)('0' + pick(2 * count));
}

static void pick_mask(char part[8], int count) {
    int length = 0, mask = 1 + pick((1 << count) - 1);
    if (pick(3) == 0) return;
    part[length++] = count == 2 ? 'h' : 'b';
    for (int i = count - 1; i >= 0; i--)
        if (mask >> i & 1) part[length++] = (char)('0' + i);
}

static Form pick_form(const char *op, int count) {
    Form form = {.count = count, .second = "", .compare = ""};
    snprintf(form.op, sizeof form.op, "%s", op);
    bool is_set = strncmp(op, "vset", 4) == 0, is_mad = !strcmp(op, "vmad");
    form.a_signed = pick(2);
    form.b_signed = strncmp(op, "vsh", 3) != 0 && pick(2);
    form.d_signed = !is_set && pick(2);
    form.sat = !is_set && pick(2);
    form.wrap = pick(2);
    if (is_set) form.compare = COMPARES[pick(6)];
    if (count > 1) {
        if (!form.sat) form.second = SECONDS[pick(2)];
        pick_simd_part(form.a_part, count);
        pick_simd_part(form.b_part, count);
        pick_mask(form.d_part, count);
        return form;
    }
    pick_scalar_part(form.a_part);
    pick_scalar_part(form.b_part);
    if (is_mad) {
        form.po = pick(3) == 0;
        form.minus_a = !form.po && pick(2);
        form.minus_b = !form.po && pick(2);
        form.minus_c = !form.po && !form.minus_a && !form.minus_b && pick(2);
        form.shift = (int[]){0, 7, 15}[pick(3)];
    } else if (pick(2)) {
        form.second = SECONDS[pick(4)];
    } else {
        pick_scalar_part(form.d_part);
    }
    return form;
}

/* "vadd.s32.u32.s32.sat.min d.b0, a.h1, b, c;" */
static void write_form(const Form *form, char *out, size_t bytes) {
    bool is_set = *form->compare, is_shift = strncmp(form->op, "vsh", 3) == 0;
#define TYPE(is_signed) ((is_signed) ? ".s32" : ".u32")
#define DOT(text)       (*(text) ? "." : ""), (text)
    bool has_c = form->count > 1 || !strcmp(form->op, "vmad") || *form->second || *form->d_part;
    const char *shift = form->shift == 7 ? ".shr7" : form->shift == 15 ? ".shr15" : "";
    snprintf(out, bytes, "%s%s%s%s%s%s%s%s%s%s%s%s d%s%s, %sa%s%s, %sb%s%s%s;", form->op,
             is_set ? "" : TYPE(form->d_signed), TYPE(form->a_signed), TYPE(form->b_signed),
             form->po ? ".po" : "", form->sat ? ".sat" : "", DOT(form->compare),
             is_shift ? (form->wrap ? ".wrap" : ".clamp") : "", DOT(form->second), shift, DOT(form->d_part),
             form->minus_a ? "-" : "", DOT(form->a_part), form->minus_b ? "-" : "", DOT(form->b_part),
             !has_c          ? ""
             : form->minus_c ? ", -c"
                             : ", c");
}

/* ---- the manual's pseudocode ------------------------------------------------------------------------- */

static Int part_select_sign_extend(uint32_t word, bool is_signed, const char *part) {
    int i = *part ? part[1] - '0' : 0;
    return int_part(word, i, *part == 'b' ? 8 : *part == 'h' ? 16 : 32, is_signed);
}

static bool compare(const char *how, Int a, Int b) {
    bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    for (int i = 0; i < 6; i++)
        if (!strcmp(how, COMPARES[i])) return results[i];
    fail();
    return false;
}

static Int operation(const Form *form, Int a, Int b) {
    const char *op = form->op + 1;
    if (!strncmp(op, "add", 3)) return a + b;
    if (!strncmp(op, "sub", 3)) return a - b;
    if (!strncmp(op, "absdiff", 7)) return a - b < 0 ? b - a : a - b;
    if (!strncmp(op, "min", 3)) return a < b ? a : b;
    if (!strncmp(op, "max", 3)) return a > b ? a : b;
    if (!strncmp(op, "set", 3)) return compare(form->compare, a, b);
    if (!strncmp(op, "avrg", 4)) return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    if (form->wrap) b &= 0x1f;
    if (b > 32) b = 32;
    return !strcmp(op, "shl") ? int_extend(a * ((Int)1 << b), 34, true) : a >> b;
}

static int bits_of_part(const Form *form) {
    return form->count > 1 ? 32 / form->count : *form->d_part == 'b' ? 8 : *form->d_part == 'h' ? 16 : 32;
}

static uint32_t scalar(const Form *form, const uint32_t *x) {
    Int t = operation(form, part_select_sign_extend(x[0], form->a_signed, form->a_part),
                      part_select_sign_extend(x[1], form->b_signed, form->b_part));
    Int c = int_extend(x[2], 32, form->d_signed);
    t = form->sat ? int_clamp_to(t, bits_of_part(form), form->d_signed) : int_extend(t, 33, true);
    if (!strcmp(form->second, "add")) return (uint32_t)(t + c);
    if (!strcmp(form->second, "min")) return (uint32_t)(t < c ? t : c);
    if (!strcmp(form->second, "max")) return (uint32_t)(t > c ? t : c);
    if (!*form->d_part) return (uint32_t)t;
    int bits = bits_of_part(form), place = (form->d_part[1] - '0') * bits;
    uint32_t ones = (uint32_t)int_ones(bits) << place;
    return ((uint32_t)t << place & ones) | (x[2] & ~ones);
}

static uint32_t simd(const Form *form, const uint32_t *x) {
    int bits = bits_of_part(form), count = form->count;
    uint64_t words = (uint64_t)x[1] << 32 | x[0];
    uint32_t d = *form->second ? x[2] : 0;
    for (int i = 0; i < count; i++) {
        int a = *form->a_part ? form->a_part[count - i] - '0' : i;
        int b = *form->b_part ? form->b_part[count - i] - '0' : count + i;
        Int t = operation(form, int_part((Int)words, a, bits, form->a_signed),
                          int_part((Int)words, b, bits, form->b_signed));
        if (form->sat) t = int_clamp_to(t, bits, form->d_signed);
        bool is_in_mask = !*form->d_part || strchr(form->d_part, '0' + i) != NULL;
        if (*form->second)
            d += is_in_mask ? (uint32_t)t : 0;
        else
            d |= (uint32_t)((is_in_mask ? t : int_part(x[2], i, bits, false)) & int_ones(bits)) << i * bits;
    }
    return d;
}

static uint32_t multiply_add(const Form *form, const uint32_t *x) {
    bool minus = form->minus_a != form->minus_b,
         is_signed = form->a_signed || form->b_signed || minus || form->minus_c;
    Int t = part_select_sign_extend(x[0], form->a_signed, form->a_part) *
            part_select_sign_extend(x[1], form->b_signed, form->b_part);
    Int c = int_extend(form->minus_c ? ~x[2] : x[2], 32, is_signed);
    t = ((minus ? ~t : t) + c + (minus || form->minus_c || form->po)) >> form->shift;
    return (uint32_t)(form->sat ? int_clamp_to(t, 32, is_signed) : t);
}

/* ---- the tests --------------------------------------------------------------------------------------- */

static void check_form(const Form *form) {
    static LaneRow rows[VALUES];
    char text[160];
    write_form(form, text, sizeof text);
    memset(rows, 0, sizeof rows);
    bool has_c = strstr(text, ", c") || strstr(text, "-c"), is_mad = !strcmp(form->op, "vmad");
    for (int i = 0; i < VALUES; i++) {
        uint32_t x[3] = {0};
        for (int j = 0; j < 2 + has_c; j++) {
            x[j] = (uint32_t)lane_integer(&dice, 32);
            if (pick(8) == 0) x[j] = (uint32_t)lane_integer(&dice, 16) * 0x10001u;
            rows[i].in[j] = x[j];
        }
        rows[i].out[0] = is_mad ? multiply_add(form, x) : form->count > 1 ? simd(form, x) : scalar(form, x);
    }
    LaneInstruction instruction = {text, has_c ? "d32 a32 b32 c32" : "d32 a32 b32"};
    lane_table_check(instruction, rows, VALUES);
}

static void check_all(const char *const *ops, int op_count, const char *suffix, int count) {
    for (int i = 0; i < op_count; i++)
        for (int k = 0; k < FORMS; k++) {
            char op[12];
            snprintf(op, sizeof op, "%s%s", ops[i], suffix);
            Form form = pick_form(op, count);
            check_form(&form);
        }
}

static void scalar_instructions(void **state) {
    (void)state;
    static const char *const ops[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax",
                                      "vset", "vshl", "vshr",     "vmad"};
    check_all(ops, sizeof ops / sizeof *ops, "", 1);
}

static void simd_instructions(void **state) {
    (void)state;
    static const char *const ops[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"};
    check_all(ops, sizeof ops / sizeof *ops, "2", 2);
    check_all(ops, sizeof ops / sizeof *ops, "4", 4);
}

/* Values by hand, so that a mistake in both formulas is seen. */
static void known_values(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        uint64_t in[3], out;
    } rows[] = {
        {{"vadd.s32.u32.s32.sat d, a.b0, b.h1;", "d32 a32 b32"}, {0x1ff, 0xfffe1234}, 0xfd},
        {{"vsub.u32.u32.u32.sat d.b1, a, b, c;", "d32 a32 b32 c32"}, {5, 7, 0x11223344}, 0x11220044},
        {{"vshr.u32.u32.u32.clamp.add d, a, b, c;", "d32 a32 b32 c32"}, {0x80, 4, 100}, 108},
        {{"vset.s32.u32.lt.max d, a, b, c;", "d32 a32 b32 c32"}, {0xffffffff, 0, 0}, 1},
        {{"vmad.u32.u32.u32.po.shr15 d, a.h0, b.h1, c;", "d32 a32 b32 c32"}, {0x8000, 0x00030000, 0x7fff}, 4},
        {{"vadd4.s32.s32.s32.sat d.b31, a, b, c;", "d32 a32 b32 c32"},
         {0x7f80017f, 0x01ff0101, 0x55555555},
         0x7f550255},
        {{"vavrg2.s32.s32.s32 d, a, b, c;", "d32 a32 b32 c32"}, {0xfffd0003, 0x00000004, 0}, 0xfffe0004},
        {{"vabsdiff4.u32.u32.u32.add d, a, b, c;", "d32 a32 b32 c32"}, {0xff000105, 0x00ff0300, 10}, 527},
        {{"vset2.u32.u32.ge.add d, a.h33, b.h01, c;", "d32 a32 b32 c32"}, {0x00050001, 0x00030000, 7}, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        LaneRow row = {.out = {rows[i].out}};
        memcpy(row.in, rows[i].in, sizeof rows[i].in);
        lane_table_check(rows[i].instruction, &row, 1);
    }
}

static void refused(void **state) {
    (void)state;
    lane_table_refuses((LaneInstruction){"vmad.s32.s32.s32 d, -a, b, -c;", "d32 a32 b32 c32"},
                       "vmad negates either a product or what is added");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_instructions),
        cmocka_unit_test(simd_instructions),
        cmocka_unit_test(known_values),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("lanes_video", tests, NULL, NULL);
}
