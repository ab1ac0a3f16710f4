/* Declarations in the IR: variables, initial values, parameters, functions, directives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/ptx/ptx_test.h"

static PtxModule *parse_globals(const char *text) {
    Text whole = {0};
    text_print(&whole,
               ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 one; .func f() { ret; }\n%s\n",
               text);
    PtxModule *module = parse_module(text_string(&whole));
    text_done(&whole);
    return module;
}

/* The variable declared last. */
static const PtxVariable *last_of(const PtxModule *module) {
    return module->variables[module->variable_count - 1];
}

static void describe(const PtxVariable *variable, Text *out) {
    static const char *const spaces[] = {"generic", "reg",    "const",   "global", "local",
                                         "param",   "shared", "cluster", "tex"};
    text_print(out, "%s %s", variable->name, spaces[variable->space]);
    text_print(out, " %s", ptx_type_text(variable->type));
    if (variable->vector > 1) text_print(out, "x%d", variable->vector);
    text_print(out, " align %d, %llu of %llu bytes", variable->alignment, (unsigned long long)variable->count,
               (unsigned long long)variable->bytes);
    if (variable->is_extern) text_add(out, " extern");
    if (variable->is_visible) text_add(out, " visible");
    if (variable->is_weak) text_add(out, " weak");
    if (variable->is_common) text_add(out, " common");
}

static void variables(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {".global .u32 v;", "v global u32 align 4, 1 of 4 bytes"},
        {".const .align 16 .f64 v;", "v const f64 align 16, 1 of 8 bytes"},
        {".visible .global .align 1 .b8 v[3];", "v global b8 align 1, 3 of 3 bytes visible"},
        {".global .v4 .f32 v;", "v global f32x4 align 16, 1 of 16 bytes"},
        {".global .v2 .u16 v[3];", "v global u16x2 align 4, 3 of 12 bytes"},
        {".global .s16 v[2][3][4];", "v global s16 align 2, 24 of 48 bytes"},
        {".extern .shared .align 16 .b8 v[];", "v shared b8 align 16, 0 of 0 bytes extern"},
        {".shared .b8 v[];", "v shared b8 align 1, 0 of 0 bytes"},
        {".weak .global .b64 v;", "v global b64 align 8, 1 of 8 bytes weak"},
        {".common .global .u32 v[4];", "v global u32 align 4, 4 of 16 bytes common"},
        {".global .attribute(.managed) .u32 v;", "v global u32 align 4, 1 of 4 bytes"},
        {".global .attribute(.unified(19, 95)) .u32 v;", "v global u32 align 4, 1 of 4 bytes"},
        {".global .b128 v;", "v global b128 align 16, 1 of 16 bytes"},
        {".global .f16x2 v[2];", "v global f16x2 align 4, 2 of 8 bytes"},
        {".global .texref v;", "v global b64 align 8, 1 of 8 bytes"},
        {".global .samplerref v = {addr_mode_0 = wrap, filter_mode = linear};",
         "v global b64 align 8, 1 of 8 bytes"},
        {".shared::cta .u8 v;", "v shared u8 align 1, 1 of 1 bytes"},
        {".global .u32 a, b[2], v;", "v global u32 align 4, 1 of 4 bytes"},
        {".global .u8 v<3>;", "v2 global u8 align 1, 1 of 1 bytes"},
        {".global .u8 v[1 << 20];", "v global u8 align 1, 1048576 of 1048576 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtxModule *module = parse_globals(rows[i].text);
        Text out = {0};
        describe(last_of(module), &out);
        assert_string_equal(text_string(&out), rows[i].expected);
        check_prints_back(module);
        text_done(&out);
        ptx_module_free(module);
    }
}

/* Bytes in hexadecimal, as in memory; an address is {symbol+addend} over the bytes that it will fill, with !
 * for a generic one, and >> n for one byte of it. */
static void describe_initial(const PtxVariable *variable, Text *out) {
    const PtxRelocation *next = variable->relocations, *end = next ? next + variable->relocation_count : NULL;
    for (uint64_t i = 0; i < variable->bytes; i++) {
        if (next == end || next->offset != i) {
            text_print(out, "%02x", variable->initial[i]);
            continue;
        }
        text_print(out, "{%s%s", next->symbol, next->generic ? "!" : "");
        if (next->addend) text_print(out, "%+lld", (long long)next->addend);
        text_print(out, next->bytes == 1 ? ">>%d}" : "}", next->shift);
        i += (uint64_t)next->bytes - 1;
        next++;
    }
}

static void initial_values(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {".global .u32 v = 258;", "02010000"},
        {".global .s64 v = -2;", "feffffffffffffff"},
        {".global .u8 v[4] = {1, 0x2, 03};", "01020300"},
        {".global .s8 v[] = {-1, +2, ~3, !0, (.s64) 7.5};", "ff02fc0107"},
        {".global .u16 v[2][2] = {{1}, {2, 3}};", "0100000002000300"},
        {".global .u16 v[][2] = {{1, 2}, {3}};", "0100020003000000"},
        {".global .u8 v[2][3] = {1, 2, {3, 4}};", "010200030400"},
        {".global .f32 v = 1.5;", "0000c03f"},
        {".global .f32 v[2] = {0f7FC00001, -0f3F800000};", "0100c07f000080bf"},
        {".global .f32 v = 0d3FF0000000000000;", "0000803f"},
        {".global .f64 v = 0f3F800000;", "000000000000f03f"},
        {".global .f64 v[2] = {0d7FF0000000000000, .25e2};", "000000000000f07f0000000000003940"},
        {".global .f32 v = 3;", "00004040"},
        {".global .v2 .f32 v[2] = {{1.0, 2.0}, {3.0}};", "0000803f000000400000404000000000"},
        {".global .u32 v = 1 + 2 * 3 - 4 / 2 % 3 << 1 | 8 & 12 ^ 1;", "0b000000"},
        {".global .u32 v = (5 > 3) && 0 ? 7 : 9;", "09000000"},
        {".global .u32 v = (1.5 < 2) + (1.5 > 2) + (2 <= 2.0) + (3.0 >= 4) + (1.0 == 1) + (1.0 != 1);",
         "03000000"},
        {".global .f64 v = (.f64) 3 / 2 + 0.5 * 2 - 1;", "000000000000f83f"},
        {".global .u32 v = (1 < 2) + (2 <= 1) + (2 >= 2) + (3 == 3) + (3 != 3) + (0 || 5) + (2 > -1);",
         "05000000"},
        {".global .u32 v = 0xFFFFFFFFFFFFFFFFU > 1 ? 8 : 9;", "08000000"},
        {".global .u64 v = (.u64) 1e19;", "0000e8890423c78a"},
        {".global .u32 v = (.s64) 1e30;", "00000000"},
        {".global .s32 v = -7 / 2 * 10 + -7 % 3;", "e1ffffff"},
        {".global .b128 v = -1;", "ffffffffffffffffffffffffffffffff"},
        {".const .b16 v[2] = {0x3C00, 0xBC00};", "003c00bc"},
        {".global .u64 v = one;", "{one}"},
        {".global .u64 v[3] = {one+8, 0, generic(one)-4};", "{one+8}0000000000000000{one!-4}"},
        {".global .u64 v[2] = {generic(one+4)+4, f};", "{one!+8}{f}"},
        {".global .u32 v[2] = {one, 7};", "{one}07000000"},
        {".global .u8 v[4] = {0xff(one), 0xFF00(one+2), 7, 0xff000000(generic(f))};",
         "{one>>0}{one+2>>8}07{f!>>24}"},
        {".global .u64 v = later; .func later() { ret; }", "{later}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtxModule *module = parse_globals(rows[i].text);
        Text out = {0};
        describe_initial(last_of(module), &out);
        assert_string_equal(text_string(&out), rows[i].expected);
        check_prints_back(module);
        text_done(&out);
        ptx_module_free(module);
    }
}

/* A declaration with .extern and the definition are one variable, in either order. */
static void declarations_join_definitions(void **state) {
    (void)state;
    PtxModule *module = parse_globals(
        ".extern .global .u32 a; .global .u32 a = 7; .global .u32 b = 8; .extern .global .u32 b;\n"
        ".entry k() { .reg .u32 r; ld.global.u32 r, [a]; ld.global.u32 r, [b]; }");
    assert_int_equal(module->variable_count, 3);
    const PtxVariable *a = instruction_of(module, 0)->operands[1].variable,
                      *b = instruction_of(module, 1)->operands[1].variable;
    assert_ptr_equal(a, module->variables[1]);
    assert_ptr_equal(b, module->variables[2]);
    assert_true(!a->is_extern && a->initial && a->initial[0] == 7);
    assert_true(!b->is_extern && b->initial && b->initial[0] == 8);
    check_prints_back(module);
    ptx_module_free(module);
}

static void functions(void **state) {
    (void)state;
    PtxModule *module =
        parse_module(".version 8.5\n.target sm_90a, debug\n.address_size 64\n"
                     ".weak .func (.param .align 8 .b8 r[16]) f(.reg .u32 a, .param .b64 b) .noreturn;\n"
                     ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .v2 .f32 q) .maxntid "
                     "64, 2 .reqntid 32\n"
                     ".minnctapersm 2 .pragma \"nounroll\"; { ret; }\n"
                     ".visible .func (.param .align 8 .b8 r[16]) f(.reg .u32 a, .param .b64 b) { ret; }\n"
                     ".extern .func g(.param .b64 a, .param .align 8 .b8 rest[])\n;"
                     ".func bare { ret; }\n"
                     ".func .attribute(.unified(19, 95)) (.param .u32 r) u() { ret; }\n");
    assert_int_equal(module->version_major * 10 + module->version_minor, 85);
    assert_string_equal(module->target, "sm_90a");
    assert_int_equal(module->address_bytes, 8);
    assert_int_equal(module->function_count, 5);
    const PtxFunction *f = ptx_module_find(module, "f"), *k = ptx_module_find(module, "k"),
                      *g = ptx_module_find(module, "g");
    assert_true(f->has_body && f->is_noreturn && f->is_weak && f->is_visible && !f->is_entry);
    assert_int_equal(f->results[0]->bytes, 16);
    assert_int_equal(f->parameters[0]->space, PTX_SPACE_REG);
    assert_int_equal(f->parameters[1]->space, PTX_SPACE_PARAM);
    assert_true(k->is_entry && k->maximum_threads[1] == 2 && k->maximum_threads[2] == 1 &&
                k->required_threads[0] == 32);
    assert_string_equal(k->directives, ".maxntid 64, 2 .reqntid 32 .minnctapersm 2 .pragma \"nounroll\";");
    assert_int_equal(k->parameters[1]->bytes, 8);
    assert_true(g->is_extern && !g->has_body && g->parameters[1]->bytes == 0);
    assert_true(ptx_module_find(module, "bare")->has_body);
    assert_int_equal(ptx_module_find(module, "u")->result_count, 1);
    assert_null(ptx_module_find(module, "p"));
    assert_null(ptx_module_find(module, "nothing"));
    check_prints_back(module);
    ptx_module_free(module);
}

/* Directives of entries that have no effect here are kept unchanged. */
static void performance_directives_are_kept(void **state) {
    (void)state;
    static const char *const rows[] = {".maxnreg 40",
                                       ".maxnctapersm 4",
                                       ".maxntid 1024, 1, 1 .minnctapersm 1",
                                       ".explicitcluster",
                                       ".reqnctapercluster 2, 1, 1",
                                       ".maxclusterrank 8",
                                       ".reqntid 64 .reqnctapercluster 2 .blocksareclusters",
                                       ".abi_preserve 4 .abi_preserve_control 2",
                                       ".some_new_directive 7, 8",
                                       ".noreturn"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text text = {0};
        text_print(&text, ".version 9.0\n.target sm_90\n.entry k() %s { ret; }\n", rows[i]);
        PtxModule *module = parse_module(text_string(&text));
        assert_string_equal(ptx_module_find(module, "k")->directives, rows[i]);
        check_prints_back(module);
        ptx_module_free(module);
        text_done(&text);
    }
}

/* nvcc up to CUDA 4 wrote no semicolon after declarations of functions. */
static void old_declarations_end_without_a_semicolon(void **state) {
    (void)state;
    PtxModule *module = parse_module(".version 2.3\n.target sm_20\n.address_size 64\n"
                                     ".visible .func (.param .u32 r) f (.param .u32 a)\n"
                                     ".visible .func g (.param .u32 a) .noreturn\n"
                                     ".file 1 \"a.cu\"\n"
                                     ".visible .func (.param .u32 r) f (.param .u32 a) { ret; }\n"
                                     ".entry k() { ret; }\n");
    assert_int_equal(module->function_count, 3);
    assert_true(ptx_module_find(module, "f")->has_body);
    assert_true(ptx_module_find(module, "g")->is_noreturn && !ptx_module_find(module, "g")->has_body);
    assert_string_equal(module->files[0].path, "a.cu");
    check_prints_back(module);
    ptx_module_free(module);
}

static void aliases(void **state) {
    (void)state;
    PtxModule *module = parse_module(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func foo(.param .u32 a) { ret; }\n"
        ".visible .func bar(.param .u32 a);\n.alias bar, foo;\n");
    assert_ptr_equal(ptx_module_find(module, "bar")->alias_of, ptx_module_find(module, "foo"));
    assert_null(ptx_module_find(module, "foo")->alias_of);
    check_prints_back(module);
    ptx_module_free(module);
}

/* Debug sections are data for debuggers: they are kept unchanged, including braces in strings. */
static void other_directives(void **state) {
    (void)state;
    const char *section = ".section\t.debug_str\n{\n$L__info_string0: // a comment with }\n.b8 95,90\n.b64 "
                          ".debug_loc+7\n\"}\"\n}";
    Text text = {0};
    text_print(&text,
               ".version 7.5\n.target sm_80\n.target debug\n.address_size 32\n.file\t1 \"a b.cu\", "
               "1234567890, 42\n.file 7 \"dir/c.cuh\"\n.file 8 \"\\345\\275\\222 \\\"\\\\x\\78.cu\"\n"
               ".pragma \"used_bytes_mask 0xfff\";\n;%s\n.section .debug_abbrev {}\n",
               section);
    PtxModule *module = parse_module(text_string(&text));
    assert_int_equal(module->address_bytes, 4);
    assert_string_equal(module->target, "sm_80");
    assert_int_equal(module->file_count, 3);
    assert_int_equal(module->files[1].number, 7);
    assert_string_equal(module->files[1].path, "dir/c.cuh");
    assert_string_equal(module->files[2].path, "\u5f52 \"\\x\\78.cu");
    Text out = {0};
    Error error = {0};
    assert_true(ptx_module_print(module, &out, &error));
    assert_non_null(strstr(text_string(&out), section));
    check_prints_back(module);
    text_done(&out);
    text_done(&text);
    ptx_module_free(module);
}

/* Only requested bodies are parsed: a broken one does not stop the others. */
static void bodies_are_parsed_on_demand(void **state) {
    (void)state;
    const char *text = ".version 7.0\n.target sm_75\n.entry broken() { this is { \"not }\" /* } */ } PTX "
                       "}\n.entry k() { ret; }";
    Error error = {0};
    PtxModule *module = ptx_module_parse(text, strlen(text), "test.ptx", &error);
    assert_non_null(module);
    assert_true(ptx_function_parse(module, ptx_module_find(module, "k"), &error));
    assert_false(ptx_function_parse(module, ptx_module_find(module, "broken"), &error));
    assert_int_equal(error.line, 3);
    ptx_module_free(module);
}

/* PTX embedded in a program ends in zero bytes; text copied from a web page may have any line ends. */
static void text_may_end_in_zeros_and_have_any_line_ends(void **state) {
    (void)state;
    static const char text[] =
        "  // first\r\n.version 7.0\r\n\t.target sm_75\r\n.entry k() {\f ret;\v }\r\n\0\0";
    Error error = {0};
    PtxModule *module = ptx_module_parse(text, sizeof text, "test.ptx", &error);
    assert_non_null(module);
    assert_true(ptx_module_parse_all(module, &error));
    assert_int_equal(instruction_of(module, 0)->line, 4);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(variables),
                                       cmocka_unit_test(initial_values),
                                       cmocka_unit_test(declarations_join_definitions),
                                       cmocka_unit_test(functions),
                                       cmocka_unit_test(performance_directives_are_kept),
                                       cmocka_unit_test(old_declarations_end_without_a_semicolon),
                                       cmocka_unit_test(aliases),
                                       cmocka_unit_test(other_directives),
                                       cmocka_unit_test(bodies_are_parsed_on_demand),
                                       cmocka_unit_test(text_may_end_in_zeros_and_have_any_line_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
