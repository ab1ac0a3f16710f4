/* Joined PTX: parts of a program become one module that parses and links. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/join_ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/ptx_check.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static const char first[] =
    HEAD ".extern .func  (.param .b32 func_retval0) twice\n(\n\t.param .b32 twice_param_0\n)\n;\n"
         ".extern .global .align 4 .u32 calls;\n"
         ".extern .shared .align 16 .b8 cache[];\n"
         ".visible .entry apply(\n\t.param .u64 out\n)\n{\n"
         "\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<2>;\n"
         "\t.loc\t1 7 5\n"
         "\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, 21;\n"
         "\t.param .b32 a;\n\t.param .b32 b;\n\tst.param.b32 [a], %r1;\n"
         "\tcall.uni (b), twice, (a);\n\tld.param.b32 %r2, [b];\n"
         "\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n"
         "\t.file\t1 \"/src/first.cu\"\n";
static const char second[] = HEAD
    ".visible .global .align 4 .u32 calls;\n"
    ".extern .shared .align 16 .b8 cache[];\n"
    ".visible .func  (.param .b32 func_retval0) twice(\n\t.param .b32 x\n)\n{\n"
    "\t.reg .b32 %r<3>;\n"
    "\t.loc\t1 3 5, function_name $L__info_string0, inlined_at 2 9 1\n"
    "\tld.param.u32 %r1, [x];\n\tadd.s32 %r2, %r1, %r1;\n\tst.param.b32 [func_retval0], %r2;\n\tret;\n}\n"
    "\t.file\t1 \"/src/second.cu\"\n\t.file\t2 \"/src/inlined.cuh\"\n"
    ".section\t.debug_str\n{\n$L__info_string0:\n.b8 102\n.b8 0\n}\n";

static void join_both(Text *module, const char *one, const char *other) {
    Error error = {0};
    if (!join_ptx(module, 0, one, &error) || !join_ptx(module, 1, other, &error))
        fail_msg("%s", error.message);
    join_ptx_finish(module);
}

static void join(Text *module) {
    join_both(module, first, second);
}

static void expect_refused(const char *one, const char *other, const char *words) {
    Text text = {0};
    Error error = {0};
    assert_true(join_ptx(&text, 0, one, &error));
    assert_false(join_ptx(&text, 1, other, &error));
    assert_string_equal(error.message, words);
    assert_string_equal(text_string(&text), one);
    text_done(&text);
}

static int count(const Text *text, const char *word) {
    int found = 0;
    for (const char *at = text_string(text); (at = strstr(at, word)); at += strlen(word)) found++;
    return found;
}

static void two_parts_are_one_module(void **state) {
    (void)state;
    Text text = {0};
    Error error = {0};
    join(&text);
    PtxModule *module = ptx_module_parse(text_string(&text), text.length, "joined", &error);
    if (!module) fail_msg("%s\n%s", error.message, text_string(&text));
    PtxProgram *program = ptx_program_link(module, ptx_module_find(module, "apply"), &error);
    if (!program || !ptx_program_check(program, &error))
        fail_msg("%s\n%s", error.message, text_string(&text));
    ptx_program_free(program);
    ptx_module_free(module);
    text_done(&text);
}

static void declarations_of_other_parts_are_not_external(void **state) {
    (void)state;
    Text text = {0};
    join(&text);
    assert_int_equal(count(&text, ".version"), 1);
    assert_int_equal(count(&text, ".target"), 1);
    assert_int_equal(count(&text, ".address_size"), 1);
    assert_int_equal(count(&text, ".extern .func"), 0);
    assert_int_equal(count(&text, ".extern .global"), 0);
    assert_int_equal(count(&text, "calls"), 1);
    /* Declared before its calls, and defined. */
    assert_int_equal(count(&text, ".visible .func  (.param .b32 func_retval0) twice"), 2);
    text_done(&text);
}

static void dynamic_shared_memory_is_kept_once(void **state) {
    (void)state;
    Text text = {0};
    join(&text);
    assert_int_equal(count(&text, ".extern .shared .align 16 .b8 cache[];"), 1);
    text_done(&text);
}

static void files_and_labels_are_distinct(void **state) {
    (void)state;
    static const char *const words[] = {".file\t1 \"/src/first.cu\"",
                                        ".file 1001 \"/src/second.cu\"",
                                        ".file 1002 \"/src/inlined.cuh\"",
                                        ".loc\t1 7 5",
                                        ".loc 1001 3 5, function_name $L__info_part1_0, inlined_at 1002 9 1",
                                        "$L__info_part1_0:"};
    Text text = {0};
    join(&text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (count(&text, words[i]) != 1) fail_msg("'%s' is not in\n%s", words[i], text_string(&text));
    text_done(&text);
}

/* No part defines them: the device has them itself, or nobody. */
static void what_no_part_defines_stays_external(void **state) {
    (void)state;
    static const char part[] =
        HEAD ".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 a,\n\t.param .b64 b\n)\n;\n"
             ".extern .func free_them();\n";
    Text text = {0};
    join_both(&text, part, part);
    assert_int_equal(count(&text, ".extern .func  (.param .b32 func_retval0) vprintf"), 1);
    assert_int_equal(count(&text, ".extern .func free_them"), 1);
    text_done(&text);
}

static void private_names_are_made_distinct(void **state) {
    (void)state;
    static const char one[] =
        HEAD ".global .u32 value = 1; // value\n.func helper() { call.uni helper; ret; }\n"
             ".extern .func shown();\n";
    static const char other[] =
        HEAD ".global .u32 value = 2;\n.func helper();\n.func helper() { call.uni helper; "
             "st.global.u32 [value+4], 1; ret; }\n.visible .func shown() { ret; }\n";
    static const char third[] = HEAD ".visible .func helper() { call.uni helper; ret; }\n";
    Text text = {0};
    Error error = {0};
    join_both(&text, one, other);
    assert_true(join_ptx(&text, 2, third, &error));
    static const char *const words[] = {
        ".global .u32 value = 1; // value",
        ".func helper$before2() { call.uni helper$before2; ret; }",
        ".global .u32 value$part1 = 2;",
        ".func helper$part1() { call.uni helper$part1; st.global.u32 [value$part1+4]",
        ".visible .func helper() { call.uni helper; ret; }",
        ".visible .func shown();"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (count(&text, words[i]) != 1) fail_msg("'%s' is not in\n%s", words[i], text_string(&text));
    text_done(&text);
}

static void one_of_several_weak_definitions_stays(void **state) {
    (void)state;
    static const char one[] = HEAD ".weak .func f() { bar.sync 1; ret; }\n.weak .global .u32 x = 1;\n"
                                   ".common .global .align 4 .b8 y[7];\n";
    static const char other[] = HEAD ".weak .func f() { bar.sync 2; ret; }\n.visible .global .u32 x = {2};\n"
                                     ".common .global .v2 .u32 y;\n";
    Text text = {0};
    join_both(&text, one, other);
    assert_int_equal(count(&text, "bar.sync 1"), 1);
    assert_int_equal(count(&text, "bar.sync 2"), 0);
    assert_int_equal(count(&text, ".weak .global .u32 x"), 0);
    assert_int_equal(count(&text, ".visible .global .u32 x = {2};"), 1);
    assert_int_equal(count(&text, ".common .global .v2 .u32 y;"), 1);
    assert_int_equal(count(&text, ".common"), 1);
    text_done(&text);
}

static void the_newest_version_and_target_stay(void **state) {
    (void)state;
    Text text = {0};
    join_both(&text, HEAD, ".version 8.3\n.target sm_90a\n.address_size 64\n");
    assert_int_equal(count(&text, ".version 8.3"), 1);
    assert_int_equal(count(&text, ".target sm_90a"), 1);
    assert_int_equal(count(&text, ".version"), 1);
    assert_int_equal(count(&text, ".address_size"), 1);
    text_done(&text);
}

#define CALLER ".visible .func g() { call f, (a); ret; }\n"

/* ptxas drops a declaration that its part does not use, so nvlink compares no types. */
static void an_unused_declaration_may_differ(void **state) {
    (void)state;
    static const char declared[] = HEAD ".extern .func (.param .b64 r) f (.param .b32 y); /* f */\n",
                      defined[] = HEAD ".visible .func f (.param .b32 x) { ret; }\n" CALLER;
    Text text = {0};
    join_both(&text, declared, defined);
    assert_int_equal(count(&text, ".extern"), 0);
    assert_int_equal(count(&text, ".visible .func f (.param .b32 x)"), 1);
    text_done(&text);
    join_both(&text, defined, declared);
    assert_int_equal(count(&text, ".extern"), 0);
    assert_int_equal(count(&text, ".visible .func f (.param .b32 x)"), 1);
    text_done(&text);
}

static void what_does_not_go_together_is_refused(void **state) {
    (void)state;
    static const char defined[] = HEAD ".visible .func (.param .b32 r) f (.param .align 4 .b32 x) { ret; }\n";
    expect_refused(HEAD ".extern .func (.param .b64 r) f (.param .b32 y);\n" CALLER, defined,
                   "'f' is declared differently in two parts: its types differ");
    expect_refused(HEAD ".extern .func f (.param .b32 y, .param .b32 z);\n" CALLER, defined,
                   "'f' is declared differently in two parts: its types differ");
    expect_refused(defined, HEAD ".extern .func f (.param .b32 y);\n" CALLER,
                   "'f' is declared differently in two parts: its types differ");
    expect_refused(HEAD ".extern .global .u32 f;\n", defined,
                   "'f' is declared differently in two parts: its types differ");
    expect_refused(HEAD ".extern .const .u32 x;\n", HEAD ".visible .global .u32 x;\n",
                   "'x' is declared differently in two parts: its types differ");
    expect_refused(defined, defined, "'f' is defined in two parts; one may be .weak");
    Text text = {0};
    join_both(&text,
              HEAD ".extern .func (.param .u32 r) f (.param .s32 y);\n.extern .global .align 8 .b8 a[];\n"
                   ".extern .global .attribute(.managed) .align 4 .f32 m;\n",
              HEAD ".visible .func (.param .b32 r) f (.param .b32 x) { ret; }\n.visible .global .b8 a[16];\n"
                   ".visible .global .align 4 .f32 m;\n");
    text_done(&text);
}

/* Any text, also one that ends within a declaration or a number. */
static void cut_off_anywhere(void **state) {
    (void)state;
    for (size_t length = 0; length < sizeof second; length++) {
        char *part = malloc(length + 1);
        memcpy(part, second, length);
        part[length] = 0;
        Text text = {0};
        join_ptx(&text, 0, part, NULL);
        join_ptx(&text, 1, part, NULL);
        join_ptx_finish(&text);
        text_done(&text);
        free(part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_parts_are_one_module),
        cmocka_unit_test(declarations_of_other_parts_are_not_external),
        cmocka_unit_test(dynamic_shared_memory_is_kept_once),
        cmocka_unit_test(files_and_labels_are_distinct),
        cmocka_unit_test(what_no_part_defines_stays_external),
        cmocka_unit_test(private_names_are_made_distinct),
        cmocka_unit_test(one_of_several_weak_definitions_stays),
        cmocka_unit_test(the_newest_version_and_target_stay),
        cmocka_unit_test(an_unused_declaration_may_differ),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(cut_off_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
