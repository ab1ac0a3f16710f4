/* mov in all forms, copysign, and addresses of state spaces: copies, literals, packs and unpacks of vectors
 * up to 128 bits, vector registers (PTX ISA 9.7.9.3 and 9.7.9.4, 6.4.3); isspacep and cvta (9.7.9.19 and
 * 9.7.9.20). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane_table.h"
#include <string.h>

enum { COUNT = 200 };

static uint64_t cut(uint64_t value, int bits) {
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* `result` maps the sources of a row to its destinations. */
static void check(LaneInstruction instruction, void (*result)(const uint64_t *in, uint64_t *out)) {
    static LaneRow rows[COUNT];
    int source_bits[LANE_VALUES], bits[LANE_VALUES], destinations;
    int sources = lane_table_widths(instruction, source_bits, bits, &destinations);
    uint64_t random = 61;
    for (int i = 0; i < COUNT; i++) {
        memset(&rows[i], 0, sizeof rows[i]);
        for (int j = 0; j < sources; j++) rows[i].in[j] = cut(lane_random(&random), source_bits[j]);
        result(rows[i].in, rows[i].out);
        for (int j = 0; j < destinations; j++) rows[i].out[j] = cut(rows[i].out[j], bits[j]);
    }
    lane_table_check(instruction, rows, COUNT);
}

static void same(const uint64_t *in, uint64_t *out) {
    memcpy(out, in, LANE_VALUES * sizeof *out);
}
static void exchanged(const uint64_t *in, uint64_t *out) {
    out[0] = in[1], out[1] = in[0];
}

static void copies(void **state) {
    (void)state;
    static const LaneInstruction forms[] = {
        {"mov.b16 d, a;", "d16 a16"}, {"mov.u16 d, a;", "d16 a16"}, {"mov.b32 d, a;", "d32 a32"},
        {"mov.f32 d, a;", "d32 a32"}, {"mov.s64 d, a;", "d64 a64"}, {"mov.f64 d, a;", "d64 a64"},
        {"mov.pred p, a;", "p1 a1"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) check(forms[i], same);
}

/* ---- packs and unpacks --------------------------------------------------------------------------------- */

static void joined_16(const uint64_t *in, uint64_t *out) {
    out[0] = in[0] | in[1] << 16;
}
static void joined_32(const uint64_t *in, uint64_t *out) {
    out[0] = in[0] | in[1] << 32;
}
static void joined_four(const uint64_t *in, uint64_t *out) {
    out[0] = in[0] | in[1] << 16 | in[2] << 32 | in[3] << 48;
}
static void parts_16(const uint64_t *in, uint64_t *out) {
    for (int i = 0; i < 4; i++) out[i] = in[0] >> 16 * i & 0xffff;
}
static void parts_32(const uint64_t *in, uint64_t *out) {
    out[0] = in[0], out[1] = in[0] >> 32;
}
static void upper_32(const uint64_t *in, uint64_t *out) {
    out[0] = in[0] >> 32;
}
static void upper_16(const uint64_t *in, uint64_t *out) {
    out[0] = in[0] >> 16;
}
static void bytes_reversed(const uint64_t *in, uint64_t *out) {
    for (int i = 0; i < 4; i++) out[0] |= (in[0] >> 8 * i & 0xff) << (24 - 8 * i);
}
static void bytes_exchanged(const uint64_t *in, uint64_t *out) {
    out[0] = in[0] >> 8 | (in[0] & 0xff) << 8;
}
static void words_exchanged(const uint64_t *in, uint64_t *out) {
    out[0] = in[0] >> 32 | in[0] << 32;
}
static void words_of_two(const uint64_t *in,
                         uint64_t *out) { /* {d, e} = {a's low and b's high word, the others} */
    out[0] = (in[0] & 0xffffffff) | (in[1] >> 32) << 32;
    out[1] = in[0] >> 32 | in[1] << 32;
}
static void first(const uint64_t *in, uint64_t *out) {
    out[0] = in[0];
}
static void second(const uint64_t *in, uint64_t *out) {
    out[0] = in[1];
}

static void packs(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        void (*result)(const uint64_t *in, uint64_t *out);
    } forms[] = {
        {{"mov.b32 d, {a, b};", "d32 a16 b16"}, joined_16},
        {{"mov.b64 d, {a, b};", "d64 a32 b32"}, joined_32},
        {{"mov.b64 d, {a, b, c, x};", "d64 a16 b16 c16 x16"}, joined_four},
        {{"mov.b32 {d, e}, a;", "d16 e16 a32"}, parts_16},
        {{"mov.b64 {d, e}, a;", "d32 e32 a64"}, parts_32},
        {{"mov.b64 {d, e, f, g}, a;", "d16 e16 f16 g16 a64"}, parts_16},
        {{"mov.b64 {_, e}, a;", "e32 a64"}, upper_32},
        {{"mov.b64 {d, _}, a;", "d32 a64"}, first},
        {{"mov.b32 {_, e}, a;", "e16 a32"}, upper_16},
        {{"{ .reg .b8 t<4>; $mov.b32 {t0, t1, t2, t3}, a; $mov.b32 d, {t3, t2, t1, t0}; }", "d32 a32"},
         bytes_reversed},
        {{"{ .reg .b8 t<2>; $mov.b16 {t0, t1}, a; $mov.b16 d, {t1, t0}; }", "d16 a16"}, bytes_exchanged},
        {{"{ .reg .b128 t; $mov.b128 t, {a, b}; $mov.b128 {d, e}, t; }", "d64 e64 a64 b64"}, same},
        {{"{ .reg .b128 t, u; $mov.b128 t, {a, b}; $mov.b128 u, t; $mov.b128 {_, d}, u; }", "d64 a64 b64"},
         second},
        {{"{ .reg .b128 t; .reg .b32 w<8>; $mov.b128 t, {a, b}; $mov.b128 {w0, w1, w2, w3}, t;"
          " $mov.b128 t, {w0, w3, w1, w2}; $mov.b128 {d, e}, t; }",
          "d64 e64 a64 b64"},
         words_of_two},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) check(forms[i].instruction, forms[i].result);
}

static void vector_registers(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        void (*result)(const uint64_t *in, uint64_t *out);
    } forms[] = {
        {{"{ .reg .v2 .b32 v; $mov.b64 v, a; $mov.b64 d, {v.y, v.x}; }", "d64 a64"}, words_exchanged},
        {{"{ .reg .v2 .b32 v; $mov.b64 {v.y, v.x}, a; $mov.b64 d, v; }", "d64 a64"}, words_exchanged},
        {{"{ .reg .v4 .b16 v; $mov.b64 v, a; $mov.b64 d, v; }", "d64 a64"}, same},
        {{"{ .reg .v2 .b32 v; $mov.b64 v, a; $mov.v2.b32 {d, e}, v; }", "d32 e32 a64"}, parts_32},
        {{"{ .reg .v2 .b32 v; $mov.b64 v, a; $mov.v2.b32 v, {v.y, v.x}; $mov.b64 d, v; }", "d64 a64"},
         words_exchanged},
        {{"{ .reg .v2 .b64 v, w; $mov.v2.b64 v, {b, a}; $mov.v2.b64 w, v; $mov.v2.b64 {d, e}, w; }",
          "d64 e64 a64 b64"},
         exchanged},
        {{"{ .reg .v4 .f32 v; $mov.v4.f32 v, {a, b, a, b}; $mov.v4.f32 {_, d, e, _}, v; }",
          "d32 e32 a32 b32"},
         exchanged},
        {{"mov.v2.b32 {d, e}, {b, a};", "d32 e32 a32 b32"}, exchanged},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) check(forms[i].instruction, forms[i].result);
}

/* %ntid as a vector: the block of a lane table is 128 threads in one dimension. */
static void special_registers(void **state) {
    (void)state;
    LaneRow row = {{0}, {128 * 1000 + 10 + 1}};
    lane_table_check(
        (LaneInstruction){"{ .reg .v4 .u32 v; $mov.v4.u32 v, %ntid; $mad.lo.u32 d, v.x, 1000, v.y; "
                          "$mad.lo.u32 d, v.z, 10, d; }",
                          "d32"},
        &row, 1);
}

static void literals(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        uint64_t result;
    } cases[] = {
        {{"mov.u16 d, -1;", "d16"}, 0xffff},
        {{"mov.b32 d, 0x80000000;", "d32"}, 0x80000000},
        {{"mov.b32 d, 1.0;", "d32"}, 0x3f800000},
        {{"mov.f32 d, 0f7fc00001;", "d32"}, 0x7fc00001},
        {{"mov.f32 d, 0.1;", "d32"}, 0x3dcccccd},
        {{"mov.f32 d, 2;", "d32"}, 0x40000000},
        {{"mov.f64 d, 0.1;", "d64"}, UINT64_C(0x3fb999999999999a)},
        {{"mov.f64 d, 0d0000000000000001;", "d64"}, 1},
        {{"mov.f64 d, -1;", "d64"}, UINT64_C(0xbff0000000000000)},
        {{"mov.s64 d, -2;", "d64"}, UINT64_C(0xfffffffffffffffe)},
        {{"mov.pred p, 1;", "p1"}, 1},
        {{"mov.pred p, 0;", "p1"}, 0},
        {{"mov.u32 d, WARP_SZ;", "d32"}, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        LaneRow row = {{0}, {cases[i].result}};
        lane_table_check(cases[i].instruction, &row, 1);
    }
}

static void sign_of_another(const uint64_t *in, uint64_t *out) {
    out[0] = (in[0] & 0x80000000) | (in[1] & 0x7fffffff);
}
static void sign_of_another_f64(const uint64_t *in, uint64_t *out) {
    uint64_t sign = UINT64_C(1) << 63;
    out[0] = (in[0] & sign) | (in[1] & ~sign);
}

static void signs(void **state) {
    (void)state;
    check((LaneInstruction){"copysign.f32 d, a, b;", "d32 a32 b32"}, sign_of_another);
    check((LaneInstruction){"copysign.f64 d, a, b;", "d64 a64 b64"}, sign_of_another_f64);
}

/* Each address is in its own space and in no other; to generic and back gives the same address. */
static void spaces(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        uint64_t result;
    } cases[] = {
#define SPACE(DECLARE, SPACE, TESTED)                                                                        \
    {"{ " DECLARE " .reg .b64 t; .reg .pred q; $mov.u64 t, s; $cvta" SPACE ".u64 t, t; $isspacep" TESTED     \
     " q, t;"                                                                                                \
     " $selp.u32 d, 1, 0, q; }",                                                                             \
     "d32"}
        {SPACE(".shared .b32 s[4];", ".shared", ".shared"), 1},
        {SPACE(".shared .b32 s[4];", ".shared", ".global"), 0},
        {SPACE(".shared .b32 s[4];", ".shared", ".local"), 0},
        {SPACE(".local .b32 s[4];", ".local", ".local"), 1},
        {SPACE(".local .b32 s[4];", ".local", ".shared"), 0},
        {SPACE(".local .b32 s[4];", ".local", ".global"), 0},
        {{"{ .reg .b64 t; .reg .pred q; $mov.u64 t, %row; $isspacep.global q, t; $selp.u32 d, 1, 0, q; }",
          "d32"},
         1},
        {{"{ .reg .b64 t; .reg .pred q; $mov.u64 t, %row; $isspacep.shared q, t; $selp.u32 d, 1, 0, q; }",
          "d32"},
         0},
        {{"{ .reg .b64 t; .reg .pred q; $mov.u64 t, rows; $cvta.param.u64 t, t; $isspacep.param q, t;"
          " $selp.u32 d, 1, 0, q; }",
          "d32"},
         1},
        {{"{ .reg .b64 t; .reg .pred q; $mov.u64 t, rows; $cvta.param.u64 t, t; $isspacep.global q, t;"
          " $selp.u32 d, 1, 0, q; }",
          "d32"},
         1}, /* "the .param window is contained within the .global window" */
        {{"{ .shared .b32 s[4]; .reg .b64 t, u; .reg .pred q; $mov.u64 t, s; $add.u64 t, t, 8;"
          " $cvta.shared.u64 u, t; $cvta.to.shared.u64 u, u; $setp.eq.u64 q, t, u; $selp.u32 d, 1, 0, q; }",
          "d32"},
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        LaneRow row = {{0}, {cases[i].result}};
        lane_table_check(cases[i].instruction, &row, 1);
    }
}

static void refused(void **state) {
    (void)state;
    static const struct {
        LaneInstruction instruction;
        const char *words;
    } forms[] = {
        {{"mov.b64 d, {a, b};", "d64 a16 b16"}, "wrong size"},
        {{"mov.b64 {d, e}, a;", "d16 e16 a64"}, "element 1 of mov has the wrong size"},
        {{"mov.v2.b32 {d, e}, a;", "d32 e32 a64"}, "mov.v2 takes vectors of 2 elements"},
        {{"mov.v4.b32 {d, e}, {a, b};", "d32 e32 a32 b32"}, "mov.v4 takes vectors of 4 elements"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        lane_table_refuses(forms[i].instruction, forms[i].words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),           cmocka_unit_test(packs),
        cmocka_unit_test(vector_registers), cmocka_unit_test(special_registers),
        cmocka_unit_test(literals),         cmocka_unit_test(signs),
        cmocka_unit_test(spaces),           cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("lanes_move", tests, NULL, NULL);
}
