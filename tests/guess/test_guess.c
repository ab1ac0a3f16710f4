/* What the parameters of a kernel are taken for: by its C++ name, its source, the literals of a launch, its
 * PTX. */
#include "guess/guess_parameters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PtxModule *parse(const char *name, const char *parameters, const char *body, PtxFunction **entry) {
    char text[4096];
    Error error = {0};
    int length =
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s(%s)\n{\n"
                 ".reg .b32 %%r<4>; .reg .f32 %%f<4>; .reg .b64 %%a<4>; .reg .f64 %%d<4>;\n%s ret;\n}\n",
                 name, parameters, body);
    PtxModule *module = ptx_module_parse(text, (size_t)length, "guess.ptx", &error);
    if (!module) fail_msg("%d: %s", error.line, error.message);
    *entry = ptx_module_find(module, name);
    assert_non_null(*entry);
    if (!ptx_function_parse(module, *entry, &error)) fail_msg("%d: %s", error.line, error.message);
    return module;
}

/* `source`: a file whose kernel k it is, and whose first launch counts; NULL: none. */
static void expect_of(const char *source, const char *name, const char *parameters, const char *body,
                      const char *args) {
    PtxFunction *entry;
    PtxModule *module = parse(name, parameters, body, &entry);
    GuessParameter described[GUESS_PARAMETERS];
    GuessSource of = {.code = source ? host_code_read(source) : NULL, .kernel = "k"};
    Text out = {0};
    Arena arena = {0};
    if (source && host_code_launch_count(of.code)) of.launch = host_code_launch(of.code, 0);
    guess_parameters(entry, &of, 1000, &arena, described);
    guess_print_parameters(described, entry->parameter_count, 1000, "random", &out);
    assert_string_equal(text_string(&out), args);
    text_done(&out);
    arena_done(&arena);
    host_code_free(of.code);
    ptx_module_free(module);
}

static void expect(const char *name, const char *parameters, const char *body, const char *args) {
    expect_of(NULL, name, parameters, body, args);
}

#define THREE ".param .u64 a, .param .u64 b, .param .u32 n"
#define LOAD  "ld.param.u64 %a0, [a]; ld.param.u64 %a1, [b];\n"

/* C++ knows more than PTX: constness, signs, structures, vectors. */
static void names_say_types(void **state) {
    (void)state;
    expect("_Z1kPKfPji", THREE, LOAD, "in=float[n]:random, out=uint[n], n");
    expect("_Z1kPjPK6float4i", THREE, LOAD, "out=uint[n], in=float[n*4]:random, n");
    expect("_Z1kI6__halfEvPT_PS0_", ".param .u64 a, .param .u64 b", LOAD, "in=half[n]:random, out=half[n]");
    expect("_Z1kPKfS0_Pf", ".param .u64 a, .param .u64 b, .param .u64 c", LOAD,
           "in=float[n]:random, in2=float[n]:random, out=float[n]");
    expect("_Z1kPVilb", ".param .u64 a, .param .u64 b, .param .u8 c", LOAD, "in=int[n]:random, n, 1");
    expect("_Z1kPfii", ".param .u64 a, .param .u32 b, .param .u32 c", "", "in=float[n]:random, 1, n");
    /* A name with another number of parameters is not believed. */
    expect("_Z1kPKf", THREE, LOAD "st.global.u32 [%a0], %r0;", "in=int[n]:random, out=int[n], n");
    expect("_Z1kv", "", "", "");
}

static void ptx_says_types(void **state) {
    (void)state;
    expect("k", THREE, LOAD "ld.global.f32 %f0, [%a0]; st.global.f64 [%a1], %d0;",
           "in=float[n]:random, out=double[n], n");
    expect("k", THREE,
           LOAD "ld.shared.f64 %d0, [%a0]; ld.global.u32 %r0, [%a0]; red.global.add.f32 [%a1], %f0;",
           "in=int[n]:random, out=float[n], n");
    expect("k", THREE, LOAD "ld.global.b32 %r0, [%a0]; add.f32 %f0, %f1, %f2; st.global.b32 [%a1], %r0;",
           "in=float[n]:random, out=float[n], n"); /* bits, where floats are added */
    expect("k", ".param .u64 .ptr .global .align 4 a, .param .u64 b", LOAD, "in=int[n]:random, n");
    expect("k", ".param .u64 a, .param .f32 x, .param .u8 c", "", "in=int[n]:random, 1.0, 1");
}

static void arrays_of_numba_are_all_their_parameters(void **state) {
    (void)state;
#define WORD(NAME) ".param .u64 " NAME ", "
#define ARRAY(NAME)                                                                                          \
    WORD(NAME "0") WORD(NAME "1") WORD(NAME "2") WORD(NAME "3") WORD(NAME) WORD(NAME "5") WORD(NAME "6")
    expect("_ZN8__main__3sumB2v1B4cw51E5ArrayIfLi1E1C7mutable7alignedE5ArrayIdLi1E1C7mutable7alignedEi",
           ARRAY("a") ARRAY("b") ".param .u32 n", "",
           "0, 0, n, 4, in=float[n]:random, n, 4, 0, 0, n, 8, out=double[n], n, 8, n");
}

/* Names are those of the source; the whole number that is named so is n. */
static void the_source_names_parameters(void **state) {
    (void)state;
    static const char four[] = ".param .u64 a, .param .u64 b, .param .u32 c, .param .u32 d";
    expect_of("__global__ void k(const float *x, float *y, int len, int cols) { }", "_Z1kPKfPfii", four, "",
              "x=float[n]:random, y=float[n], n, 1");
    expect_of(
        "extern \"C\" __global__ void k(float *out, const double *__restrict__ x, unsigned rows, int N) { }",
        "k", four, "", "out=float[n], x=double[n]:random, 1, n");
    expect_of("__global__ void k(const float *n, float *block, int a, int b) { }", "_Z1kPKfPfii", four, "",
              "in=float[n]:random, out=float[n], 1, n"); /* words that --args has itself */
}

static void literals_of_the_launch_are_taken(void **state) {
    (void)state;
    static const char parameters[] = ".param .u64 a, .param .u64 b, .param .u32 c, .param .f32 d";
#define KERNEL "__global__ void k(const float *x, float *y, int cols, float scale) { }\n"
    expect_of(KERNEL "void f() { k<<<1, 32>>>(p, q, 4096, 0.5f); }", "_Z1kPKfPfif", parameters, "",
              "x=float[n]:random, y=float[n], 4096, 0.5");
    expect_of("#define N 4096\n" KERNEL "float p[N];\nvoid f() { float q[8]; k<<<1, 32>>>(p, q, N, eps); }",
              "_Z1kPKfPfif", parameters, "", "x=float[4096]:random, y=float[8], 4096, 1.0");
    expect_of(KERNEL "void f() { k<<<1, 32>>>(p, p, m, 2); }", "_Z1kPKfPfif", parameters, "",
              "x=float[n]:random, x, n, 2.0");
    expect_of(KERNEL "void f() { k<<<1, 32>>>(p, nullptr, -1, 2); }", "_Z1kPKfPfif", parameters, "",
              "x=float[n]:random, null, -1, 2.0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_types),
        cmocka_unit_test(ptx_says_types),
        cmocka_unit_test(arrays_of_numba_are_all_their_parameters),
        cmocka_unit_test(the_source_names_parameters),
        cmocka_unit_test(literals_of_the_launch_are_taken),
    };
    return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
