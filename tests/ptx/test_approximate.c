/* Instructions that PTX bounds but does not define to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/approximate.h"

typedef struct Parsed {
    PtxModule *module;
    const PtxInstruction *instruction;
} Parsed;

static Parsed parse(const char *instruction) {
    Parsed parsed = {0};
    Text text = {0};
    Error error = {0};
    text_print(&text,
               ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
               "\t.reg .f32 a32, b32, d32;\n\t.reg .f64 a64, d64;\n\t.reg .b16 a16, d16;\n"
               "\t.reg .b32 a2, d2;\n\t%s\n\tret;\n}\n",
               instruction);
    parsed.module = ptx_module_parse(text_string(&text), text.length, "test", &error);
    if (!parsed.module || !ptx_module_parse_all(parsed.module, &error)) fail_msg("%s", error.message);
    const PtxFunction *function = parsed.module->functions[0];
    for (int i = 0; i < function->statement_count && !parsed.instruction; i++)
        if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
            parsed.instruction = function->statements[i].instruction;
    assert_non_null(parsed.instruction);
    text_done(&text);
    return parsed;
}

static void which_instructions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool approximate;
    } cases[] = {
        {"ex2.approx.ftz.f32 d32, a32;", true}, {"sin.approx.f32 d32, a32;", true},
        {"div.full.f32 d32, a32, b32;", true},  {"div.approx.f32 d32, a32, b32;", true},
        {"div.rn.f32 d32, a32, b32;", false},   {"rcp.approx.ftz.f64 d64, a64;", true},
        {"sqrt.rn.f32 d32, a32;", false},       {"add.f32 d32, a32, b32;", false},
        {"tanh.approx.f16x2 d2, a2;", true},    {"ex2.approx.ftz.bf16 d16, a16;", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Parsed parsed = parse(cases[i].text);
        if (ptx_is_approximate(parsed.instruction) != cases[i].approximate) fail_msg("%s", cases[i].text);
        ptx_module_free(parsed.module);
    }
}

static void bounds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t argument, nearest, result;
        bool within;
    } cases[] = {
        {"ex2.approx.f32 d32, a32;", 0x3f000000, 0x3fb504f3, 0x3fb504f3, true},
        {"ex2.approx.f32 d32, a32;", 0x3f000000, 0x3fb504f3, 0x3fb504f5, true}, /* 2 units */
        {"ex2.approx.f32 d32, a32;", 0x3f000000, 0x3fb504f3, 0x3fb504f6, false},
        {"rcp.approx.f32 d32, a32;", 0x40400000, 0x3eaaaaab, 0x3eaaaaac, true},
        {"rcp.approx.f32 d32, a32;", 0x40400000, 0x3eaaaaab, 0x3eaaaaad, false},
        {"ex2.approx.f32 d32, a32;", 0x7fc00000, 0x7fffffff, 0x7fc00000, true}, /* NaN is NaN */
        {"ex2.approx.f32 d32, a32;", 0x3f000000, 0x3fb504f3, 0x7fc00000, false},
        {"ex2.approx.ftz.f32 d32, a32;", 0xc2fc0000, 0x00800000, 0, true}, /* on the edge of .ftz */
        {"ex2.approx.f32 d32, a32;", 0xc2fc0000, 0x00800000, 0, false},
        {"ex2.approx.f32 d32, a32;", 0x42ffffff, 0x7f7fff4e, 0x7f800000, false},
        {"lg2.approx.f32 d32, a32;", 0x3f800001, 0x343f59ef, 0x34000000, true}, /* near 1: absolute */
        {"lg2.approx.f32 d32, a32;", 0x41000000, 0x40400000, 0x40400004, false},
        {"sin.approx.f32 d32, a32;", 0x3f800000, 0x3f576aa4, 0x3f576aac, true},  /* 2^-21 */
        {"sin.approx.f32 d32, a32;", 0x3f800000, 0x3f576aa4, 0x3f576ab4, false}, /* 2^-20 */
        {"sin.approx.f32 d32, a32;", 0x42c80000, 0xbf01a12e, 0xbf01a13e, true},  /* a large angle */
        {"tanh.approx.f16x2 d2, a2;", 0x3c003c00, 0x3a183a18, 0x3a193a18, true},
        {"tanh.approx.f16x2 d2, a2;", 0x3c003c00, 0x3a183a18, 0x3a1c3a18, false},
        {"rcp.approx.ftz.f64 d64, a64;", 0x4008000000000000, 0x3fd5555500000000, 0x3fd5555600000000, true},
        {"rcp.approx.ftz.f64 d64, a64;", 0x4008000000000000, 0x3fd5555500000000, 0x3fd5556000000000, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Parsed parsed = parse(cases[i].text);
        if (ptx_is_within_bound(parsed.instruction, cases[i].argument, cases[i].nearest, cases[i].result) !=
            cases[i].within)
            fail_msg("case %d: %s", (int)i, cases[i].text);
        ptx_module_free(parsed.module);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(which_instructions), cmocka_unit_test(bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
