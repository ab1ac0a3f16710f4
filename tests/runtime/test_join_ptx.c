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

static void join(Text *module) {
    join_ptx(module, 0, first);
    join_ptx(module, 1, second);
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
    static const char *const words[] = {".file 1 \"/src/first.cu\"",
                                        ".file 1001 \"/src/second.cu\"",
                                        ".file 1002 \"/src/inlined.cuh\"",
                                        ".loc 1 7 5",
                                        ".loc 1001 3 5, function_name $L__info_part1_0, inlined_at 1002 9 1",
                                        "$L__info_part1_0:"};
    Text text = {0};
    join(&text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (count(&text, words[i]) != 1) fail_msg("'%s' is not in\n%s", words[i], text_string(&text));
    text_done(&text);
}

/* No part defines them: the device has them itself. */
static void functions_of_the_device_stay_declared(void **state) {
    (void)state;
    static const char part[] =
        HEAD ".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 a,\n\t.param .b64 b\n)\n;\n"
             ".extern .func free_them();\n";
    Text text = {0};
    join_ptx(&text, 0, part);
    join_ptx(&text, 1, part);
    assert_int_equal(count(&text, ".extern .func  (.param .b32 func_retval0) vprintf"), 1);
    assert_int_equal(count(&text, ".visible .func free_them"), 1);
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
        join_ptx(&text, 0, part);
        join_ptx(&text, 1, part);
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
        cmocka_unit_test(functions_of_the_device_stay_declared),
        cmocka_unit_test(cut_off_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
