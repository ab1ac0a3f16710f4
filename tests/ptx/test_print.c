/* The printer: its output parses to the same module. parse(print(x)) == x holds for the shipped PTX and for
 * the seeds of the fuzz target; the exact text is tested, too, and operands made by hand, as the instrumenter
 * makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "tests/ptx/ptx_test.h"
#include <glob.h>
#include <stdlib.h>

enum { FILE_LIMIT = 64 << 20 };

static int check_files(const char *pattern) {
    glob_t files;
    int checked = 0;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *text;
        size_t length;
        Error error = {0};
        if (!text_read_file(files.gl_pathv[i], FILE_LIMIT, &text, &length, &error))
            fail_msg("%s", error.message);
        PtxModule *module = ptx_module_parse(text, length, files.gl_pathv[i], &error);
        if (module && ptx_module_parse_all(module, &error)) {
            check_prints_back(module);
            checked++;
        } else {
            error_print(&error, stderr);
        }
        ptx_module_free(module);
        free(text);
    }
    assert_int_equal(checked, files.gl_pathc);
    globfree(&files);
    return checked;
}

static void everything_that_ships_prints_back(void **state) {
    (void)state;
    assert_true(check_files("assets/ptx/*.ptx") >= 48);
}

static void seeds_of_the_fuzzer_print_back(void **state) {
    (void)state;
    assert_true(check_files("tests/fuzz/corpus/*.ptx") >= 9);
}

static void exact_text(void **state) {
    (void)state;
    char *text = printed(
        ".version 7.8 .target sm_80 , debug .address_size 64 .file 1 \"a.cu\" ;\n"
        ".extern .shared .align 16 .b8 dynamic[ ] ;\n"
        ".visible .entry k ( .param .u64 .ptr .global .align 8 p,.param .u32 n ) .maxntid 128,1 , 1 {\n"
        ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .f32 f; .reg .b64 %rd<2> ; .loc 1 3 5\n"
        "ld.param.u64 %rd1,[p]; ld.param.u32 %r1 , [ n + 0 ] ;L: @!%p1 bra L;\n"
        "ld.global.nc.v2.u32 {%r1,_},[%rd1+-8]; setp.lt.s32 %p1|%p2,%r1,-7; add.f32 f,f,0f3F800000;{ ret ; "
        "}\n"
        "mov.u32 %r2, dynamic + 4; mov.b64 %rd1, {%r1,0x10}; mov.u32 %r3, %tid.x; add.s32 %r1, %r1, (1 << 4) "
        "+ 2; }\n");
    assert_string_equal(
        text, ".version 7.8\n"
              ".target sm_80, debug\n"
              ".address_size 64\n"
              ".file 1 \"a.cu\"\n"
              ".extern .shared .align 16 .b8 dynamic[];\n"
              ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .u32 n) .maxntid 128, 1, 1\n"
              "{\n"
              "\t.reg .pred %p<3>;\n"
              "\t.reg .b32 %r<4>;\n"
              "\t.reg .f32 f;\n"
              "\t.reg .b64 %rd<2>;\n"
              "\t.loc\t1 3 5\n"
              "\tld.param.u64 %rd1, [p];\n"
              "\tld.param.u32 %r1, [n];\n"
              "L:\n"
              "\t@!%p1 bra L;\n"
              "\tld.global.nc.v2.u32 {%r1, _}, [%rd1+-8];\n"
              "\tsetp.lt.s32 %p1|%p2, %r1, -7;\n"
              "\tadd.f32 f, f, 0f3F800000;\n"
              "{\n"
              "\tret;\n"
              "}\n"
              "\tmov.u32 %r2, dynamic+4;\n"
              "\tmov.b64 %rd1, {%r1, 0x10};\n"
              "\tmov.u32 %r3, %tid.x;\n"
              "\tadd.s32 %r1, %r1, (1 << 4) + 2;\n"
              "}\n");
    free(text);
}

/* Literals without a spelling are printed from their values, exactly. */
static void values_print_without_a_spelling(void **state) {
    (void)state;
    static const struct {
        PtxOperand operand;
        const char *expected;
    } rows[] = {
        {{.kind = PTX_OPERAND_INTEGER, .component = -1, .integer = -5}, "mov.b32 -5;"},
        {{.kind = PTX_OPERAND_INTEGER, .component = -1, .integer = INT64_MIN},
         "mov.b32 -9223372036854775808;"},
        {{.kind = PTX_OPERAND_FLOAT, .component = -1, .float_bytes = 4, .float_bits = 0x7fc00001},
         "mov.b32 0f7FC00001;"},
        {{.kind = PTX_OPERAND_FLOAT, .component = -1, .number = 0.1}, "mov.b32 0d3FB999999999999A;"},
        {{.kind = PTX_OPERAND_MEMORY, .component = -1, .integer = INT64_MIN},
         "mov.b32 [-9223372036854775808];"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtxOperand operand = rows[i].operand;
        PtxModifier modifier = {PTX_MOD_TYPE, "b32"};
        PtxInstruction instruction = {.opcode = PTX_mov,
                                      .name = "mov",
                                      .modifiers = &modifier,
                                      .modifier_count = 1,
                                      .operands = &operand,
                                      .operand_count = 1};
        Text out = {0};
        ptx_instruction_print(&instruction, &out);
        assert_string_equal(text_string(&out), rows[i].expected);
        text_done(&out);
    }
}

/* Text kept as written has one normal spacing, and two operators are never joined into one. */
static void kept_text_has_one_spacing(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {".global .u32 v=- 7 ;", ".global .u32 v = -7;"},
        {".global .u32 v = 1 - - 7;", ".global .u32 v = 1 - -7;"},
        {".global .u32 v = 4>>1>0;", ".global .u32 v = 4 >> 1 > 0;"},
        {".global .u32 v = (1+2)*3?4:5;", ".global .u32 v = (1 + 2) * 3 ? 4 : 5;"},
        {".global .u32 v [ 2 ] [ 3 ]={ { 1,2 } , { 3 } };", ".global .u32 v[2][3] = {{1, 2}, {3}};"},
        {".global .u8 v[2] = { 0xFF ( w ) , 0xFF00(w + 1) };",
         ".global .u8 v[2] = {0xFF(w), 0xFF00(w + 1)};"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text text = {0}, expected = {0};
        text_print(&text, ".version 7.0\n.target sm_75\n.global .u8 w;\n%s\n", rows[i][0]);
        text_print(&expected, ".version 7.0\n.target sm_75\n.global .u8 w;\n%s\n", rows[i][1]);
        char *out = printed(text_string(&text));
        assert_string_equal(out, text_string(&expected));
        free(out);
        text_done(&text);
        text_done(&expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_ships_prints_back), cmocka_unit_test(seeds_of_the_fuzzer_print_back),
        cmocka_unit_test(exact_text), cmocka_unit_test(values_print_without_a_spelling),
        cmocka_unit_test(kept_text_has_one_spacing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
