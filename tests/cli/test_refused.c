/* PTX that ptxas refuses is refused when it is opened: file, line, column, the error and the remedy, exit
 * status 2, before anything runs (the kernels of refused.def begin with an endless loop). */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/cli/program.h"
#include <stdlib.h>
#include <string.h>

static const char before[] = ".version 8.0\n.target sm_90a\n.address_size 64\n"
                             ".global .align 8 .b8 table[64];\n.const .align 8 .b8 constant[64];\n"
                             ".func (.param .b32 result) callee(.param .b32 x) { ret; }\n"
                             ".visible .entry k(.param .u64 in) {\n"
                             ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg "
                             ".f32 %f<20>; .reg .f64 %fd<10>;\n"
                             ".shared .align 8 .b8 tile[64];\n"
                             "again: bra again;\n";
enum { BODY_LINE = 11 };

static const struct {
    bool is_file;
    const char *text;
    int line, column;
    const char *message;
} rows[] = {
#define BODY(text, column, message)       {false, text, BODY_LINE, column, message},
#define FILE(text, line, column, message) {true, text, line, column, message},
#include "tests/cli/refused.def"
#undef BODY
#undef FILE
};

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_refused(void **state) {
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s/refused.ptx", program_folder());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text text = {0}, expected = {0};
        if (!rows[i].is_file) text_add(&text, before);
        text_add(&text, rows[i].text);
        if (!rows[i].is_file) text_add(&text, "\nret;\n}\n");
        write_file(path, text_string(&text));
        Outcome outcome = program_shell("@ %s --report", path);
        text_print(&expected, "redviz: %s:%d:%d: %s\n", path, rows[i].line, rows[i].column, rows[i].message);
        if (strncmp(outcome.err, text_string(&expected), expected.length) != 0)
            fail_msg("%s\ngives\n%swhere\n%sis expected", rows[i].text, outcome.err, text_string(&expected));
        if (outcome.status != 2 || *outcome.out) fail_msg("%s: exit status %d", rows[i].text, outcome.status);
        program_outcome_done(&outcome);
        text_done(&text);
        text_done(&expected);
    }
    assert_true(sizeof rows / sizeof *rows >= 60);
}

/* The caret marks the fault, in the line as it was written. */
static void test_caret(void **state) {
    (void)state;
    char path[300];
    Text text = {0};
    snprintf(path, sizeof path, "%s/caret.ptx", program_folder());
    text_print(&text, "%s  @!%%p1 atom.global.add.u32 /* here */ %%r1, [%%rd1+4],\n\t%%rd2;\nret;\n}\n",
               before);
    write_file(path, text_string(&text));
    Outcome outcome = program_shell("@ %s --report", path);
    program_assert_contains(outcome.err,
                            ":12:2: operand 3 of atom.global.add.u32 must be an integer of 32 bits");
    program_assert_contains(outcome.err, "\n   %rd2;\n   ^\n");
    program_outcome_done(&outcome);
    text_done(&text);
}

/* Files of other kinds, recognized by their first bytes. */
static void test_other_formats(void **state) {
    (void)state;
    static const struct {
        const char *bytes; /* as printf(1) takes them */
        const char *message;
    } files[] = {{"\\177ELF\\2\\1\\1\\63\\7\\0\\0\\0\\0\\0\\0\\0\\2\\0\\276\\0",
                  "this is a cubin (machine code), not PTX"},
                 {"\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\3\\0\\76\\0",
                  "this is a program or library (ELF), not PTX"},
                 {"\\120\\355\\125\\272\\1\\0\\20\\0", "this is a fat binary, not PTX"},
                 {"!<arch>\\nx.o/", "this is a library, not PTX"},
                 {"BC\\300\\336\\65\\24", "this is LLVM bitcode, not PTX"},
                 {"\\37\\213\\10\\0", "this file is compressed"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        Outcome outcome = program_shell("printf '%s' >%s/other.ptx; @ %s/other.ptx --report", files[i].bytes,
                                        program_folder(), program_folder());
        assert_int_equal(outcome.status, 2);
        program_assert_contains(outcome.err, files[i].message);
        if (i < 4) program_assert_contains(outcome.err, "`cuobjdump -ptx FILE`");
        assert_int_equal(program_line_count(outcome.err), 1);
        program_outcome_done(&outcome);
    }
}

/* Valid PTX that is not emulated: all of it is listed before anything runs, even in unreachable code. */
static const char unsupported[] =
    ".version 8.6\n.target sm_100a\n.address_size 64\n.global .texref texture;\n"
    ".func away() {\n.reg .b32 %r<9>; .reg .f32 %f<9>;\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [texture, {%r1}];\n"
    "tex.1d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [texture, {%r2}];\nret;\n}\n"
    ".visible .entry k(.param .u64 out) {\n.reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "setp.gt.u32 %p1, %r1, LIMIT;\n@!%p1 bra on;\ntcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 32;\n"
    "call away;\non: st.global.u32 [%rd1], %r1;\nret;\n}\n";

static Outcome run_unsupported(const char *limit, const char *options) {
    char path[300];
    snprintf(path, sizeof path, "%s/unsupported.ptx", program_folder());
    const char *at = strstr(unsupported, "LIMIT");
    Text text = {0};
    text_add_bytes(&text, unsupported, (size_t)(at - unsupported));
    text_print(&text, "%s%s", limit, at + 5);
    write_file(path, text_string(&text));
    text_done(&text);
    return program_shell("@ %s --entry k --block 32 --grid 1 --args 'out=int[32]:zero' %s", path, options);
}

static void test_unsupported_is_listed(void **state) {
    (void)state;
    Outcome outcome = run_unsupported("5000", "--report");
    assert_int_equal(outcome.status, 3);
    assert_string_equal(outcome.out, "");
    program_assert_contains(outcome.err,
                            "unsupported.ptx:19:1: tcgen05.alloc.cta_group::1.sync.aligned.b32 is not "
                            "emulated, nor are 2 more; --until-unsupported runs the kernel up to the first "
                            "that is reached\n  tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 32;\n"
                            "  ^\n");
    program_assert_contains(outcome.err,
                            "\n  line 19: tcgen05.alloc.cta_group::1.sync.aligned.b32\n"
                            "  line 7, 8: tex.1d.v4.f32.s32: tex of a texture or surface by name "
                            "is not emulated: only of objects\n");
    program_outcome_done(&outcome);
}

/* With --until-unsupported it runs: to its end if they are not reached, else up to them. */
static void test_until_unsupported(void **state) {
    (void)state;
    Outcome outcome = run_unsupported("5000", "--until-unsupported --dump out:3");
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.out, "0\n1\n2\n");
    program_outcome_done(&outcome);
    outcome = run_unsupported("5", "--until-unsupported --report");
    assert_int_equal(outcome.status, 3);
    program_assert_contains(outcome.out,
                            "PTX counts, whole grid, up to the first instruction that is not emulated");
    program_assert_contains(outcome.out, "- line 19, block 0, warp 0");
    assert_null(strstr(outcome.out, "TRAP"));
    program_outcome_done(&outcome);
    outcome = run_unsupported("5", "--until-unsupported --check");
    assert_int_equal(outcome.status, 3);
    program_assert_contains(outcome.out, "Not examined to the end: line 19, block 0, warp 0");
    program_assert_contains(outcome.out, "No hazard; 1 place beyond the ideal.");
    program_outcome_done(&outcome);
    outcome = run_unsupported("5", "--until-unsupported --frame=120x40");
    assert_int_equal(outcome.status, 3);
    program_assert_contains(outcome.out, "ENDS: not emulated");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_caret), cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_unsupported_is_listed), cmocka_unit_test(test_until_unsupported)};
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
