/* Hostile kernels, and kernels that never end: each is answered with one line or a trap. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";

static FILE *create(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", program_folder(), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(head, file);
    return file;
}

static void write_kernel(const char *outside, const char *body) {
    FILE *file = create("hostile.ptx");
    fprintf(file,
            "%s\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p; .reg .b32 %%r<8>; .reg .b64 %%a<8>;\n"
            "%s\nret;\n}\n",
            outside, body);
    fclose(file);
}

static void expect_run(const char *options, int status, const char *words) {
    Outcome outcome = program_shell("@ %s/hostile.ptx %s --report", program_folder(), options);
    size_t bytes = strlen(outcome.out) + strlen(outcome.err) + 1;
    char *all = malloc(bytes);
    snprintf(all, bytes, "%s%s", outcome.out, outcome.err);
    if (outcome.status != status || !strstr(all, words))
        fail_msg("status %d, not %d, or no '%s' in: %s", outcome.status, status, words, all);
    free(all);
    program_outcome_done(&outcome);
}

/* With arguments of its own: a fault with guessed ones is no failure. */
#define GIVEN "--args 'p=int[1]' "

static void expect(const char *outside, const char *body, int status, const char *words) {
    write_kernel(outside, body);
    expect_run(GIVEN, status, words);
}

#define ENDLESS "TRAP instruction budget"

static void endless_loops(void **state) {
    (void)state;
    expect("", "L: bra L;", 1, ENDLESS);
    expect("", "ld.param.u64 %a0, [p]; L: add.u32 %r0, %r0, 1; st.global.u32 [%a0], %r0; bra L;", 1, ENDLESS);
    expect("", "ld.param.u64 %a0, [p]; L: ld.volatile.global.u32 %r0, [%a0]; bra L;", 1, "TRAP deadlock");
    expect("",
           "mov.u32 %r0, 0; L: bar.sync 0; add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 1000000000; @%p bra L;",
           1, ENDLESS);
    expect(".extern .func (.param .b64 r) malloc(.param .b64 n);",
           "L: { .param .b64 n; .param .b64 r; st.param.b64 [n], 1000; call (r), malloc, (n); } bra L;", 1,
           ENDLESS);
    write_kernel("", "L: bra L;");
    expect_run(GIVEN "--max-instructions 1000", 1, "more than 1000 warp instructions;");
}

static void endless_printing(void **state) {
    (void)state;
    write_kernel(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 text[41] = {32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,"
        "32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,32,10,0};",
        "L: { .param .b64 f; .param .b64 a; .param .b32 r; mov.u64 %a0, text; cvta.global.u64 %a0, %a0;\n"
        "st.param.b64 [f], %a0; st.param.b64 [a], 0; call (r), vprintf, (f, a); } bra L;");
    expect_run(GIVEN "--max-instructions 100000", 1, "printed more than 1,048,576 bytes");
}

static void deep_calls(void **state) {
    (void)state;
    expect(".func down()\n{\ncall down;\nret;\n}", "call down;", 1, "TRAP stack overflow");
    /* 2^40 calls, none of them deep */
    FILE *file = create("hostile.ptx");
    fputs(".func f40() { ret; }\n", file);
    for (int i = 39; i >= 0; i--)
        fprintf(file, ".func f%d() { call f%d; call f%d; ret; }\n", i, i + 1, i + 1);
    fputs(".visible .entry k() { call f0; ret; }\n", file);
    fclose(file);
    expect_run("", 1, ENDLESS);
}

static void huge_arrays(void **state) {
    (void)state;
    expect(".global .align 8 .b8 big[1099511627776];", "", 2, "hostile.ptx:4: big needs 1099.5 GB");
    expect("", ".shared .align 8 .b8 x[1073741824]; mov.u64 %a0, x;", 2,
           "'x' has 1073741824 bytes; shared variables of a block have at most 49152");
    expect("", ".local .align 8 .b8 x[1073741824]; mov.u64 %a0, x; st.local.u64 [%a0], %a0;", 1,
           "TRAP too large");
    write_kernel("", "");
    expect_run("--args 'p=int[1000000000000]'", 2, "the buffers need 4000.0 GB");
    write_kernel("", "mov.u32 %r0, %ctaid.x;");
    expect_run("--n 1000000000000", 2, "blocks are too many");
}

static void giant_grids(void **state) {
    (void)state;
    write_kernel("", "");
    expect_run("--grid 2147483647", 2, "would take very long to emulate");
    expect_run("--grid 65535,65535,65535", 2, "would take very long to emulate");
    expect_run(GIVEN "--grid 2147483647 --max-instructions 1000", 1, ENDLESS);
}

static void large_texts(void **state) {
    (void)state;
    FILE *file = create("hostile.ptx");
    for (int i = 0; i < 20000; i++) fprintf(file, ".global .u32 v%d;\n", i);
    fputs(".visible .entry k() { ret; }\n", file);
    fclose(file);
    expect_run("--n 1", 0, "warp instructions");
    file = create("hostile.ptx");
    fputs(".visible .entry k() { .reg .pred %p;\n", file);
    for (int i = 0; i < 50000; i++) fprintf(file, "L%d: @%%p bra L%d;\n", i, i * 7919 % 50000);
    fputs("ret; }\n", file);
    fclose(file);
    expect_run("--n 1", 0, "conditional branches");
    file = create("hostile.ptx");
    fputs(".visible .entry k()", file);
    for (int i = 0; i < 200000; i++) fputc(i < 100000 ? '{' : '}', file);
    fclose(file);
    expect_run("", 2, "scopes are nested too deeply");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_loops), cmocka_unit_test(endless_printing), cmocka_unit_test(deep_calls),
        cmocka_unit_test(huge_arrays),   cmocka_unit_test(giant_grids),      cmocka_unit_test(large_texts),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
