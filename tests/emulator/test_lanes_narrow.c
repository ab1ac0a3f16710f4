/* cvt to and from narrow and packed formats: f16x2, bf16x2, tf32, and the alternate formats of 8, 6 and 4
 * bits (PTX ISA 5.2.3 and 9.7.9.21), with .relu and .satfinite; cvt.pack (9.7.9.22). The reference rounds in
 * the host's doubles, which is exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_formula.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 400 };

typedef struct Format {
    const char *name;
    int mantissa, exponent, shift;   /* shift: unused low bits */
    uint64_t largest, infinity, nan; /* magnitudes; infinity 0: there is none */
} Format;
static const Format f16 = {"f16x2", 10, 5, 0, 0x7bff, 0x7c00, 0x7fff},
                    bf16 = {"bf16x2", 7, 8, 0, 0x7f7f, 0x7f80, 0x7fff},
                    tf32 = {"tf32", 10, 8, 13, 0x3fbff, 0x3fc00, 0x3ffff};
static const Format e4m3 = {"e4m3x2", 3, 4, 0, 0x7e, 0, 0x7f}, e5m2 = {"e5m2x2", 2, 5, 0, 0x7b, 0x7c, 0x7f};
/* "NaN results are converted to positive MAX_NORM" */
static const Format e2m3 = {"e2m3x2", 3, 2, 0, 0x1f, 0, 0x1f}, e3m2 = {"e3m2x2", 2, 3, 0, 0x1f, 0, 0x1f},
                    e2m1 = {"e2m1x2", 1, 2, 0, 7, 0, 7};
static const Format *const small[] = {&e4m3, &e5m2, &e2m3, &e3m2, &e2m1};

static int bias(const Format *format) {
    return (1 << (format->exponent - 1)) - 1;
}

static uint64_t encode(const Format *format, double x, bool towards_zero, bool relu, bool finite) {
    uint64_t sign = signbit(x) ? UINT64_C(1) << (format->mantissa + format->exponent) : 0, code;
    if (isnan(x)) return format->nan << format->shift;
    if (relu && sign) return 0;
    int power, least = 1 - bias(format);
    frexp(x, &power); /* x < 2^power */
    if (power - 1 < least || x == 0) power = least + 1;
    double units = ldexp(fabs(x), format->mantissa + 1 - power);
    if (units > 0x1p40) {
        code = UINT64_MAX; /* infinity */
    } else {
        units = towards_zero ? trunc(units) : nearbyint(units);
        code = (uint64_t)units + ((uint64_t)(power - 1 - least) << format->mantissa);
    }
    if (code > format->largest) {
        bool infinite = !finite && format->infinity && !(towards_zero && isfinite(x));
        code = infinite ? format->infinity : format->largest;
    }
    return (sign | code) << format->shift;
}

static double decode(const Format *format, uint64_t bits) {
    uint64_t magnitude = bits & ((UINT64_C(1) << (format->mantissa + format->exponent)) - 1);
    bool negative = bits >> (format->mantissa + format->exponent) & 1;
    int field = (int)(magnitude >> format->mantissa);
    double fraction = (double)(magnitude & ((UINT64_C(1) << format->mantissa) - 1)),
           one = ldexp(1, format->mantissa), x;
    if (magnitude > format->largest)
        x = format->infinity && magnitude == format->infinity ? (double)INFINITY : (double)NAN;
    else
        x = ldexp(field ? fraction + one : fraction, (field ? field : 1) - bias(format) - format->mantissa);
    return negative ? -x : x;
}

static double random_float(uint64_t *random, uint64_t *bits, const Format *near, int i) {
    float x;
    uint32_t word = (uint32_t)lane_float(random, 32);
    if (i % 2) { /* a value of the format, a tie, or next to one */
        double value = decode(near, lane_random(random) % (near->largest + 1));
        double above = decode(near, (encode(near, value, true, false, true) >> near->shift) + 1);
        float chosen = (float)(i % 4 == 1 || !isfinite(above) ? value : (value + above) / 2);
        memcpy(&word, &chosen, sizeof word);
        word += (uint32_t)(lane_random(random) % 3) - 1;
        word ^= (uint32_t)(lane_random(random) << 31);
    }
    memcpy(&x, &word, sizeof x);
    *bits = word;
    return (double)x;
}

static int part_bits(const Format *format) {
    return format == &e2m1 ? 4 : format->mantissa + format->exponent > 8 ? 16 : 8;
}

/* e2m1x2 lives in .b8 registers, which lane tables do not have: it travels through cvt.u32.u8. */
static LaneInstruction form_of(char *text, size_t size, const char *opcode, const char *operands,
                               const Format *format, const char *source_registers) {
    static char registers[32];
    bool byte = format == &e2m1;
    snprintf(text, size, byte ? "{ .reg .b8 t; $%s t, %s; $cvt.u32.u8 d, t; }" : "%s d, %s;", opcode,
             operands);
    snprintf(registers, sizeof registers, "d%d %s", byte || format == &f16 || format == &bf16 ? 32 : 16,
             source_registers);
    return (LaneInstruction){text, registers};
}

static void check_pairs(const Format *to, bool towards_zero, bool relu, bool finite) {
    static LaneRow rows[COUNT];
    char text[128], opcode[64];
    uint64_t random = 41;
    snprintf(opcode, sizeof opcode, "cvt.%s%s%s.%s.f32", towards_zero ? "rz" : "rn", relu ? ".relu" : "",
             finite ? ".satfinite" : "", to->name);
    for (int i = 0; i < COUNT; i++) {
        double a = random_float(&random, &rows[i].in[0], to, i),
               b = random_float(&random, &rows[i].in[1], to, i / 2);
        rows[i].out[0] = encode(to, a, towards_zero, relu, finite) << part_bits(to) |
                         encode(to, b, towards_zero, relu, finite);
    }
    lane_table_check(form_of(text, sizeof text, opcode, "a, b", to, "a32 b32"), rows, COUNT);
}

static void pairs_of_floats(void **state) {
    (void)state;
    for (int form = 0; form < 8; form++) {
        check_pairs(&f16, form & 1, form & 2, form & 4);
        check_pairs(&bf16, form & 1, form & 2, form & 4);
    }
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        for (int relu = 0; relu < 2; relu++) check_pairs(small[i], false, relu, true);
}

static void single_halves(void **state) {
    (void)state;
    static LaneRow rows[COUNT];
    for (int form = 0; form < 16; form++) {
        const Format *to = form & 8 ? &bf16 : &f16;
        char text[64];
        uint64_t random = 42;
        snprintf(text, sizeof text, "cvt.%s%s%s.%s.f32 d, a;", form & 1 ? "rz" : "rn",
                 form & 2 ? ".relu" : "", form & 4 ? ".satfinite" : "", form & 8 ? "bf16" : "f16");
        for (int i = 0; i < COUNT; i++)
            rows[i].out[0] =
                encode(to, random_float(&random, &rows[i].in[0], to, i), form & 1, form & 2, form & 4);
        lane_table_check((LaneInstruction){text, "d16 a32"}, rows, COUNT);
    }
}

static void tf32_of_floats(void **state) {
    (void)state;
    static LaneRow rows[COUNT];
    static const struct {
        const char *text;
        bool towards_zero, away, relu, finite;
    } forms[] = {
        {"cvt.rn.tf32.f32 d, a;", false, false, false, false},
        {"cvt.rz.tf32.f32 d, a;", true, false, false, false},
        {"cvt.rn.relu.tf32.f32 d, a;", false, false, true, false},
        {"cvt.rz.relu.tf32.f32 d, a;", true, false, true, false},
        {"cvt.rn.satfinite.tf32.f32 d, a;", false, false, false, true},
        {"cvt.rna.tf32.f32 d, a;", false, true, false, false},
        {"cvt.rna.satfinite.tf32.f32 d, a;", false, true, false, true},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        uint64_t random = 43;
        for (int i = 0; i < COUNT; i++) {
            double x = random_float(&random, &rows[i].in[0], &tf32, i);
            /* ties away from zero: rounding down what is half a unit further from zero, unit by unit exact */
            uint32_t lifted = (uint32_t)rows[i].in[0] + 0x1000;
            if (forms[form].away && isfinite(x)) {
                float y;
                memcpy(&y, &lifted, sizeof y);
                x = isfinite(y) ? (double)y : copysign(0x1p128, x);
            }
            rows[i].out[0] =
                encode(&tf32, x, forms[form].towards_zero || (forms[form].away && fabs(x) < 0x1p128),
                       forms[form].relu, forms[form].finite);
        }
        lane_table_check((LaneInstruction){forms[form].text, "d32 a32"}, rows, COUNT);
    }
}

/* Between pairs of halves and the small formats: every half, alternately with and without .relu; every pair
 * of small values. */
static void check_small(const Format *format, const Format *wide, bool relu) {
    static LaneRow rows[0x10000];
    char text[128], opcode[64];
    int bits = part_bits(format), used = 1 + format->mantissa + format->exponent, count = 1 << 2 * used;
    snprintf(opcode, sizeof opcode, "cvt.rn.satfinite%s.%s.%s", relu ? ".relu" : "", format->name,
             wide->name);
    for (uint32_t i = 0; i < 0x4000; i++) {
        uint32_t high = 4 * i + 2 * (uint32_t)relu, low = high + 1;
        rows[i] = (LaneRow){{high << 16 | low},
                            {encode(format, decode(wide, high), false, relu, true) << bits |
                             encode(format, decode(wide, low), false, relu, true)}};
    }
    lane_table_check(form_of(text, sizeof text, opcode, "a", format, "a32"), rows, 0x4000);

    snprintf(opcode, sizeof opcode, "cvt.rn%s.%s.%s", relu ? ".relu" : "", wide->name, format->name);
    for (int i = 0; i < count; i++) {
        uint64_t a = (uint64_t)i >> used, b = (uint64_t)i & ((1u << used) - 1);
        rows[i] = (LaneRow){{a << bits | b},
                            {encode(wide, decode(format, a), false, relu, false) << 16 |
                             encode(wide, decode(format, b), false, relu, false)}};
    }
    if (format == &e2m1)
        snprintf(text, sizeof text, "{ .reg .b8 t; $cvt.u8.u32 t, a; $%s d, t; }", opcode);
    else
        snprintf(text, sizeof text, "%s d, a;", opcode);
    lane_table_check((LaneInstruction){text, format == &e2m1 ? "d32 a32" : "d32 a16"}, rows, count);
}

static void small_formats_and_halves(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof small / sizeof small[0]; f++)
        for (int relu = 0; relu < 2; relu++) {
            check_small(small[f], &f16, relu);
            check_small(small[f], &bf16, relu); /* PTX ISA 9.1 and 9.2 */
        }
}

/* ue8m0: only the exponent of a power of two; no zero, no sign. */
static uint64_t power_code(double x, bool up, bool finite) {
    int power;
    if (isnan(x)) return 0xff;
    if (isinf(x)) return finite ? 0xfe : 0xff;
    double fraction = frexp(fabs(x), &power); /* 0.5 is a power of two */
    power += up && fraction > 0.5 ? 0 : -1;
    if (x == 0 || power < -127) return 0;
    return power > 127 ? finite ? 0xfe : 0xff : (uint64_t)(power + 127);
}

static void powers_of_two(void **state) {
    (void)state;
    static LaneRow rows[COUNT];
    for (int form = 0; form < 4; form++) {
        char text[64];
        uint64_t random = 44;
        bool up = form & 1, finite = form & 2;
        for (int i = 0; i < COUNT; i++) {
            double a = random_float(&random, &rows[i].in[0], &bf16, i),
                   b = random_float(&random, &rows[i].in[1], &bf16, i);
            rows[i].out[0] = power_code(a, up, finite) << 8 | power_code(b, up, finite);
        }
        snprintf(text, sizeof text, "cvt.%s%s.ue8m0x2.f32 d, a, b;", up ? "rp" : "rz",
                 finite ? ".satfinite" : "");
        lane_table_check((LaneInstruction){text, "d16 a32 b32"}, rows, COUNT);
        for (int i = 0; i < COUNT; i++) {
            uint64_t a = lane_bfloat(&random), b = lane_bfloat(&random);
            rows[i] = (LaneRow){
                {a << 16 | b},
                {power_code(decode(&bf16, a), up, finite) << 8 | power_code(decode(&bf16, b), up, finite)}};
        }
        snprintf(text, sizeof text, "cvt.%s%s.ue8m0x2.bf16x2 d, a;", up ? "rp" : "rz",
                 finite ? ".satfinite" : "");
        lane_table_check((LaneInstruction){text, "d16 a32"}, rows, COUNT);
    }
    static LaneRow codes[256];
    for (uint32_t code = 0; code < 256; code++) {
        uint64_t bits = code == 0xff ? 0x7fff : encode(&bf16, ldexp(1, (int)code - 127), false, false, false);
        codes[code] = (LaneRow){{code << 8 | (255 - code)}, {bits << 16}};
    }
    for (uint32_t code = 0; code < 256; code++) codes[code].out[0] |= codes[255 - code].out[0] >> 16;
    lane_table_check((LaneInstruction){"cvt.rn.bf16x2.ue8m0x2 d, a;", "d32 a16"}, codes, 256);
}

/* ---- cvt.pack ------------------------------------------------------------------------------------------ */

static Int packed(const Int *x, int bits, bool is_signed, bool third) {
    Int a = int_clamp_to(int_extend(x[0], 32, true), bits, is_signed) & int_ones(bits);
    Int b = int_clamp_to(int_extend(x[1], 32, true), bits, is_signed) & int_ones(bits);
    return (third ? x[2] << 2 * bits : 0) | a << bits | b;
}
#define PACKED(BITS)                                                                                         \
    FORMULA(packed_u##BITS, packed(x, BITS, false, BITS < 16))                                               \
    FORMULA(packed_s##BITS, packed(x, BITS, true, BITS < 16))
PACKED(16)
PACKED(8)
PACKED(4)
PACKED(2)

static void packs(void **state) {
    (void)state;
#define WITH_REST "d32 a32 b32 c32"
    static const LaneFormula rows[] = {
        {{"cvt.pack.sat.u16.s32 d, a, b;", "d32 a32 b32"}, UNSIGNED, packed_u16},
        {{"cvt.pack.sat.s16.s32 d, a, b;", "d32 a32 b32"}, UNSIGNED, packed_s16},
        {{"cvt.pack.sat.u8.s32.b32 d, a, b, c;", WITH_REST}, UNSIGNED, packed_u8},
        {{"cvt.pack.sat.s8.s32.b32 d, a, b, c;", WITH_REST}, UNSIGNED, packed_s8},
        {{"cvt.pack.sat.u4.s32.b32 d, a, b, c;", WITH_REST}, UNSIGNED, packed_u4},
        {{"cvt.pack.sat.s4.s32.b32 d, a, b, c;", WITH_REST}, UNSIGNED, packed_s4},
        {{"cvt.pack.sat.u2.s32.b32 d, a, b, c;", WITH_REST}, UNSIGNED, packed_u2},
        {{"cvt.pack.sat.s2.s32.b32 d, a, b, c;", WITH_REST}, UNSIGNED, packed_s2},
    };
    CHECK_FORMULAS(rows);
}

/* Forms that are not emulated say so: stochastic rounding, and scale factors. */
static void refused(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        const char *words;
    } forms[] = {
        {{"cvt.rs.bf16x2.f32 d, a, b, c;", "d32 a32 b32 c32"}, "cvt with .rs is not emulated"},
        {{"cvt.rs.satfinite.e4m3x4.f32 d, {a, b, a, b}, c;", "d32 a32 b32 c32"},
         "cvt with .rs is not emulated"},
        {{"cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 d, a, b;", "d32 a16 b16"},
         "cvt with .scaled::n2::ue8m0 is not emulated"},
        {{"cvt.rn.satfinite.s2f6x2.f32 d, a, b;", "d16 a32 b32"}, "cvt with .s2f6x2 is not emulated"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        lane_table_refuses(forms[i].instruction, forms[i].words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_floats), cmocka_unit_test(single_halves),
        cmocka_unit_test(tf32_of_floats),  cmocka_unit_test(small_formats_and_halves),
        cmocka_unit_test(powers_of_two),   cmocka_unit_test(packs),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("lanes_narrow", tests, NULL, NULL);
}
