/* Products and sums that are fused: what ptxas fuses and what it does not, clause by clause (ptx/contract.h).
 * The machine code of ptxas 13.0 has as many fma, add and mul as the expectation of each body. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "ptx/contract.h"
#include "ptx/opcodes.h"
#include "ptx/ptx_check.h"
#include "tests/ptx/ptx_test.h"
#include <glob.h>
#include <stdlib.h>

/* "> f5, f6" stores them, which makes them live. */
static PtxModule *parse_short(const char *body) {
    Text text = {0};
    for (const char *c = body; *c; c++) {
        if (*c == '>') {
            text_add(&text, "st.global.f32 [%rd1], ");
        } else {
            text_add_bytes(&text, c, 1);
        }
    }
    PtxModule *module = parse_body(text_string(&text));
    text_done(&text);
    return module;
}

/* All but stores and the last ret, with blanks instead of line ends. */
static char *code_of(const PtxModule *module, const PtxProgram *program) {
    Text out = {0};
    (void)module;
    for (int pc = program->functions[0].begin; pc < program->functions[0].end; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        if (in->opcode == PTX_st || in->opcode == PTX_ret) continue;
        if (out.length) text_add(&out, " ");
        ptx_instruction_print(in, &out);
    }
    char *code = memory_copy_text(text_string(&out));
    text_done(&out);
    return code;
}

static void check_code(const char *body, const char *expected) {
    Error error = {0};
    PtxModule *module = parse_short(body);
    PtxProgram *program = link_entry(module, "k");
    if (!ptx_program_check(program, &error)) fail_msg("%s: %s", body, error.message);
    char *code = code_of(module, program);
    if (strcmp(code, expected ? expected : "") != 0)
        fail_msg("%s\n  gives %s\n  not   %s", body, code, expected);
    free(code);
    ptx_program_free(program);
    ptx_module_free(module);
}

/* Nothing is fused. */
static void check_kept(const char *body) {
    PtxModule *module = parse_short(body);
    PtxProgram *program = link_entry(module, "k");
    for (int pc = 0; pc < program->code_count; pc++)
        if (program->code[pc].instruction->fused) fail_msg("%s\n  is fused", body);
    ptx_program_free(program);
    ptx_module_free(module);
}

static const char product[] = "mul.f32 %f3, %f1, %f2;";

static void check_with_product(const char *rest, const char *expected) {
    Text body = {0};
    text_print(&body, "%s %s", product, rest);
    if (expected)
        check_code(text_string(&body), expected);
    else
        check_kept(text_string(&body));
    text_done(&body);
}

static void sums_of_one_product(void **state) {
    (void)state;
    check_with_product("add.f32 %f5, %f3, %f4; >%f5;", "fma.rn.f32 %f5, %f1, %f2, %f4;");
    check_with_product("add.f32 %f5, %f4, %f3; >%f5;", "fma.rn.f32 %f5, %f1, %f2, %f4;");
    check_with_product("sub.f32 %f5, %f3, %f4; >%f5;", "fma.rn.f32 %f5, %f1, %f2, -%f4;");
    check_with_product("sub.f32 %f5, %f4, %f3; >%f5;", "fma.rn.f32 %f5, -%f1, %f2, %f4;");
    check_with_product("add.sat.f32 %f5, %f3, %f4; >%f5;", "fma.rn.sat.f32 %f5, %f1, %f2, %f4;");
    check_with_product("add.f32 %f5, %f3, %f4; sub.f32 %f6, %f3, %f5; >%f6;",
                       "fma.rn.f32 %f5, %f1, %f2, %f4; fma.rn.f32 %f6, %f1, %f2, -%f5;");
    check_with_product("sub.f32 %f5, %f3, 0f3F800000; >%f5;", "fma.rn.f32 %f5, %f1, %f2, 0fBF800000;");
    check_code("mul.ftz.f32 %f3, %f1, %f2; add.ftz.f32 %f5, %f3, %f4; >%f5;",
               "fma.rn.ftz.f32 %f5, %f1, %f2, %f4;");
    check_code("mul.f32 %f3, %f1, 0f40000000; sub.f32 %f5, %f4, %f3; >%f5;",
               "fma.rn.f32 %f5, -%f1, 0f40000000, %f4;");
}

static void types(void **state) {
    (void)state;
    check_code("mul.f64 %fd3, %fd1, %fd2; add.f64 %fd5, %fd3, %fd4; st.global.f64 [%rd1], %fd5;",
               "fma.rn.f64 %fd5, %fd1, %fd2, %fd4;");
    check_code("mul.f16 %h3, %h1, %h2; add.f16 %h5, %h3, %h4; st.global.b16 [%rd1], %h5;",
               "fma.rn.f16 %h5, %h1, %h2, %h4;");
    check_code("mul.bf16 %h3, %h1, %h2; sub.bf16 %h5, %h3, %h4; st.global.b16 [%rd1], %h5;",
               "fma.rn.bf16 %h5, %h1, %h2, -%h4;");
    check_code("mul.f16x2 %r3, %r1, %r2; add.f16x2 %r5, %r3, %r4; st.global.b32 [%rd1], %r5;",
               "fma.rn.f16x2 %r5, %r1, %r2, %r4;");
    check_kept("mul.lo.u32 %r3, %r1, %r2; add.u32 %r5, %r3, %r4; st.global.b32 [%rd1], %r5;");
    check_code(
        "mul.f16x2 %r3, %r1, %r2; neg.f16x2 %r6, %r3; add.f16x2 %r5, %r6, %r4; st.global.b32 [%rd1], %r5;",
        "fma.rn.f16x2 %r5, -%r1, %r2, %r4;");
    check_kept("mul.bf16x2 %r3, %r1, %r2; neg.bf16x2 %r6, %r3; add.bf16x2 %r5, %r6, %r4; st.global.b32 "
               "[%rd1], %r5;");
}

static void copies_are_looked_through(void **state) {
    (void)state;
    check_with_product("mov.f32 %f6, %f3; add.f32 %f5, %f6, %f4; >%f5;", "fma.rn.f32 %f5, %f1, %f2, %f4;");
    check_with_product("mov.b32 %f6, %f3; add.f32 %f5, %f6, %f4; >%f5;", "fma.rn.f32 %f5, %f1, %f2, %f4;");
    check_with_product("neg.f32 %f6, %f3; add.f32 %f5, %f6, %f4; >%f5;", "fma.rn.f32 %f5, -%f1, %f2, %f4;");
    check_with_product("neg.f32 %f6, %f3; sub.f32 %f5, %f4, %f6; >%f5;", "fma.rn.f32 %f5, %f1, %f2, %f4;");
    check_with_product("mul.f32 %f6, %f3, 0f3F800000; add.f32 %f5, %f6, %f4; >%f5;",
                       "fma.rn.f32 %f5, %f1, %f2, %f4;");
    check_with_product("mul.f32 %f6, %f3, 0fBF800000; add.f32 %f5, %f6, %f4; >%f5;",
                       "fma.rn.f32 %f5, -%f1, %f2, %f4;");
}

static void one_other_use_blocks_all(void **state) {
    (void)state;
    static const char *const others[] = {
        ">%f3;",
        "mul.f32 %f7, %f3, %f4; >%f7;",
        "fma.rn.f32 %f7, %f3, %f4, %f6; >%f7;",
        "fma.rn.f32 %f7, %f4, %f6, %f3; >%f7;",
        "abs.f32 %f7, %f3; >%f7;",
        "setp.gt.f32 %p1, %f3, %f4; selp.f32 %f7, %f4, %f6, %p1; >%f7;",
        "selp.f32 %f7, %f3, %f4, %p1; >%f7;",
        "add.rn.f32 %f7, %f3, %f4; >%f7;",
        "add.rz.f32 %f7, %f3, %f4; >%f7;",
        "add.ftz.f32 %f7, %f3, %f4; >%f7;",
        "add.f32 %f7, %f3, %f3; >%f7;",
        "sub.f32 %f7, %f3, %f3; >%f7;",
        "neg.f32 %f6, %f3; sub.f32 %f7, %f3, %f6; >%f7;",
        "shfl.sync.bfly.b32 %r1, %f3, 1, 31, -1; st.global.u32 [%rd1], %r1;",
        "cvt.rni.s32.f32 %r1, %f3; st.global.u32 [%rd1], %r1;",
        "@%p1 mov.f32 %f3, %f4; >%f3;",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char rest[256];
        snprintf(rest, sizeof rest, "add.f32 %%f5, %%f3, %%f4; >%%f5; %s", others[i]);
        check_with_product(rest, NULL);
    }
    /* What nothing needs is no use. */
    check_with_product("mul.f32 %f7, %f3, %f4; add.f32 %f5, %f3, %f4; >%f5;",
                       "mul.f32 %f7, %f3, %f4; fma.rn.f32 %f5, %f1, %f2, %f4;");
}

static void modifiers_keep_them_apart(void **state) {
    (void)state;
    check_kept("mul.rn.f32 %f3, %f1, %f2; add.f32 %f5, %f3, %f4; >%f5;");
    check_kept("mul.rz.f32 %f3, %f1, %f2; add.f32 %f5, %f3, %f4; >%f5;");
    check_kept("mul.sat.f32 %f3, %f1, %f2; add.f32 %f5, %f3, %f4; >%f5;");
    check_kept("mul.ftz.f32 %f3, %f1, %f2; add.f32 %f5, %f3, %f4; >%f5;");
    check_kept("mul.f32 %f3, %f1, %f2; add.rn.f32 %f5, %f3, %f4; >%f5;");
}

static void which_product_of_two(void **state) {
    (void)state;
    static const char two[] = "mul.f32 %f3, %f1, %f2; mul.f32 %f6, %f4, %f5; ";
    static const struct {
        const char *rest, *expected;
    } cases[] = {
        {"add.f32 %f7, %f3, %f6; >%f7;", "mul.f32 %f6, %f4, %f5; fma.rn.f32 %f7, %f1, %f2, %f6;"},
        /* a product that is stored is the addend */
        {"add.f32 %f7, %f3, %f6; >%f7; >%f3;", "mul.f32 %f3, %f1, %f2; fma.rn.f32 %f7, %f4, %f5, %f3;"},
        /* used once goes first */
        {"add.f32 %f7, %f3, %f6; >%f7; add.f32 %f8, %f3, %f0; >%f8;",
         "mul.f32 %f3, %f1, %f2; fma.rn.f32 %f7, %f4, %f5, %f3; add.f32 %f8, %f3, %f0;"},
        /* (p + q) + r */
        {"mul.f32 %f8, %f0, %f1; add.f32 %f7, %f3, %f6; add.f32 %f9, %f7, %f8; >%f9;",
         "mul.f32 %f6, %f4, %f5; fma.rn.f32 %f7, %f1, %f2, %f6; fma.rn.f32 %f9, %f0, %f1, %f7;"},
        /* p + q, q - r, r + p */
        {"mul.f32 %f8, %f0, %f1; add.f32 %f7, %f3, %f6; >%f7; sub.f32 %f7, %f6, %f8; >%f7; add.f32 %f7, %f8, "
         "%f3; >%f7;",
         "mul.f32 %f3, %f1, %f2; mul.f32 %f6, %f4, %f5; fma.rn.f32 %f7, %f1, %f2, %f6; fma.rn.f32 %f7, -%f0, "
         "%f1, %f6; "
         "fma.rn.f32 %f7, %f0, %f1, %f3;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        snprintf(body, sizeof body, "%s%s", two, cases[i].rest);
        check_code(body, cases[i].expected);
    }
}

static void predicates(void **state) {
    (void)state;
    check_kept("@%p1 mul.f32 %f3, %f1, %f2; add.f32 %f5, %f3, %f4; >%f5;");
    check_kept("@%p1 mul.f32 %f3, %f1, %f2; @%p1 add.f32 %f5, %f3, %f4; >%f5;");
    check_with_product("@%p1 add.f32 %f5, %f3, %f4; @!%p1 sub.f32 %f5, %f3, %f4; >%f5;",
                       "@%p1 fma.rn.f32 %f5, %f1, %f2, %f4; @!%p1 fma.rn.f32 %f5, %f1, %f2, -%f4;");
    check_with_product("@%p1 add.f32 %f3, %f3, %f4; >%f3;", NULL);
}

static void what_splits_a_block(void **state) {
    (void)state;
    static const char *const apart[] = {
        "@%p1 bra L; mov.u32 %r1, 1; L:",
        "@%p1 ret;",
        "@%p1 exit;",
        "@%p1 trap;",
        "@%p1 ld.global.u32 %r1, [%rd1];",
        "@%p1 st.shared.u32 [%r1], %r2;",
        "@%p1 atom.global.add.u32 %r1, [%rd1], 1;",
        "@%p1 red.global.add.u32 [%rd1], 1;",
        "@%p1 bar.sync 0;",
        "@%p1 shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;",
        "@%p1 vote.sync.ballot.b32 %r1, %p2, -1;",
        "@%p1 fence.proxy.async;",
        "membar.cta;",
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "fence.sc.cta;",
        "div.rn.f32 %f7, %f8, %f9;",
        "div.rn.f64 %fd1, %fd2, %fd3;",
        "rcp.rn.f32 %f7, %f8;",
        "sqrt.rn.f32 %f7, %f8;",
        "div.u64 %rd3, %rd4, %rd5;",
        "rem.s32 %r1, %r2, %r3;",
        "pmevent 3;",
        "call (%r1), callee, (%r2);",
    };
    static const char *const together[] = {
        "L:",
        "bra L; L:",
        "@%p1 bra L; L:",
        "ld.global.u32 %r1, [%rd1];",
        "st.shared.u32 [%r1], %r2;",
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "red.release.gpu.global.add.u32 [%rd1], 1;",
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;",
        "vote.sync.ballot.b32 %r1, %p1, -1;",
        "fence.proxy.async;",
        "@%p1 mov.u32 %r1, 1;",
        "@%p1 ld.param.u32 %r1, [n];",
        "nanosleep.u32 20;",
        "div.full.f32 %f7, %f8, %f9;",
        "div.approx.f32 %f7, %f8, %f9;",
        "div.u32 %r1, %r2, %r3;",
        "rcp.approx.f32 %f7, %f8;",
        "sqrt.approx.f32 %f7, %f8;",
    };
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        char rest[256];
        snprintf(rest, sizeof rest, "%s add.f32 %%f5, %%f3, %%f4; >%%f5;", apart[i]);
        check_with_product(rest, NULL);
    }
    for (size_t i = 0; i < sizeof together / sizeof *together; i++) {
        char body[256];
        snprintf(body, sizeof body, "%s %s add.f32 %%f5, %%f3, %%f4; >%%f5;", product, together[i]);
        PtxModule *module = parse_short(body);
        PtxProgram *program = link_entry(module, "k");
        int count = 0;
        for (int pc = 0; pc < program->code_count; pc++)
            count += program->code[pc].instruction->fused != NULL;
        if (count != 1) fail_msg("%s\n  is not fused", body);
        ptx_program_free(program);
        ptx_module_free(module);
    }
    check_kept("mul.f32 %f3, %f1, %f2; L: add.f32 %f4, %f4, %f3; @%p1 bra L; >%f4;");
    check_kept("L: mul.f32 %f3, %f1, %f2; @%p1 bra L; add.f32 %f4, %f4, %f3; >%f4;");
    /* The next iteration needs it. */
    check_kept(
        "L: add.f32 %f5, %f3, %f4; >%f5; mul.f32 %f3, %f1, %f2; add.f32 %f6, %f3, %f4; >%f6; @%p1 bra L;");
}

static void factors_keep_their_values(void **state) {
    (void)state;
    check_with_product(
        "mov.f32 %f1, %f6; add.f32 %f5, %f3, %f4; >%f5; >%f1;",
        "mov.b32 %redviz_factor0, %f1; mov.f32 %f1, %f6; fma.rn.f32 %f5, %redviz_factor0, %f2, %f4;");
    check_code("mul.f32 %f1, %f1, %f2; add.f32 %f5, %f1, %f4; >%f5;", "fma.rn.f32 %f5, %f1, %f2, %f4;");
    check_with_product("mov.f32 %f3, %f6; add.f32 %f5, %f3, %f4; >%f5;",
                       "mul.f32 %f3, %f1, %f2; mov.f32 %f3, %f6; add.f32 %f5, %f3, %f4;");
}

static void branches_find_their_targets(void **state) {
    (void)state;
    PtxModule *module =
        parse_short("bra M; L: mul.f32 %f3, %f1, %f2; add.f32 %f5, %f3, %f4; >%f5; M: @%p1 bra L; >%f5;");
    PtxProgram *program = link_entry(module, "k");
    assert_int_equal(program->code[0].target, 3);
    assert_int_equal(program->code[3].target, 1);
    assert_int_equal(program->code[1].instruction->opcode, PTX_fma);
    ptx_program_free(program);
    ptx_module_free(module);
}

/* The text that is instrumented: an assembler fuses neg and fma to the same instruction. */
static void text_that_assemblers_accept(void **state) {
    (void)state;
    Error error = {0};
    Text out = {0};
    PtxModule *module = parse_short("mul.f32 %f3, %f1, %f2; @%p1 sub.f32 %f5, %f4, %f3; >%f5;");
    PtxProgram *program = link_entry(module, "k");
    assert_true(ptx_module_print(module, &out, &error));
    assert_non_null(strstr(text_string(&out),
                           "\t.reg .b32 %redviz_minus1;\n\tneg.f32 %redviz_minus1, %f1;\n\t"
                           "@%p1 fma.rn.f32 %f5, %redviz_minus1, %f2, %f4;\n"));
    PtxModule *again = parse_module(text_string(&out));
    ptx_program_free(program);
    ptx_module_free(again);
    ptx_module_free(module);
    text_done(&out);
}

static void switched_off(void **state) {
    (void)state;
    static const char text[] =
        ".version 8.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
        ".reg .f32 %%f<5>; .reg .b64 %%q; ld.param.u64 %%q, [out];\n"
        "mul.f32 %%f3, %%f1, %%f2; add.f32 %%f4, %%f3, %%f1; st.global.f32 [%%q], %%f4; ret; }\n";
    for (int i = 0; i < 3; i++) {
        char module_text[512];
        snprintf(module_text, sizeof module_text, text, i == 1 ? "sm_80, debug" : "sm_80");
        PtxModule *module = parse_module(module_text);
        module->keeps_products = i == 2;
        PtxProgram *program = link_entry(module, "k");
        assert_int_equal(program->code_count, i ? 5 : 4);
        ptx_program_free(program);
        ptx_module_free(module);
    }
}

/* nvcc has already fused what is used once. */
static void kernels_of_the_catalogue_have_none(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("assets/ptx/*.ptx", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *text;
        size_t length;
        Error error = {0};
        assert_true(text_read_file(files.gl_pathv[i], 64 << 20, &text, &length, &error));
        PtxModule *module = parse_module(text);
        for (int f = 0; f < module->function_count; f++) {
            PtxFunction *function = module->functions[f];
            int count = function->statement_count;
            ptx_contract(module, function);
            if (function->statement_count != count)
                fail_msg("%s: %s is fused", files.gl_pathv[i], function->name);
            for (int k = 0; k < count; k++)
                if (function->statements[k].instruction && function->statements[k].instruction->fused)
                    fail_msg("%s: %s is fused", files.gl_pathv[i], function->name);
        }
        ptx_module_free(module);
        free(text);
    }
    globfree(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_one_product),
                                       cmocka_unit_test(types),
                                       cmocka_unit_test(copies_are_looked_through),
                                       cmocka_unit_test(one_other_use_blocks_all),
                                       cmocka_unit_test(modifiers_keep_them_apart),
                                       cmocka_unit_test(which_product_of_two),
                                       cmocka_unit_test(predicates),
                                       cmocka_unit_test(what_splits_a_block),
                                       cmocka_unit_test(factors_keep_their_values),
                                       cmocka_unit_test(branches_find_their_targets),
                                       cmocka_unit_test(text_that_assemblers_accept),
                                       cmocka_unit_test(switched_off),
                                       cmocka_unit_test(kernels_of_the_catalogue_have_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
