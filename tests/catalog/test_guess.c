/* What is guessed of a kernel's launch from its PTX. */
#include "catalog/guess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A kernel with these parameters and this body, in a module with `variables`. */
static PtxModule *parse(const char *name, const char *parameters, const char *body, const char *variables,
                        PtxFunction **entry) {
    char text[4096];
    Error error = {0};
    int length =
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_70\n.address_size 64\n%s\n.visible .entry %s(%s)\n{\n"
                 ".reg .pred %%p<4>; .reg .b32 %%r<16>; .reg .f32 %%f<4>; .reg .b64 %%a<16>;\n%s ret;\n}\n",
                 variables, name, parameters, body);
    PtxModule *module = ptx_module_parse(text, (size_t)length, "guess.ptx", &error);
    if (!module) fail_msg("%d: %s", error.line, error.message);
    *entry = ptx_module_find(module, name);
    assert_non_null(*entry);
    if (!ptx_function_parse(module, *entry, &error)) fail_msg("%d: %s", error.line, error.message);
    return module;
}

static void expect(const char *name, const char *parameters, const char *body, const char *args) {
    PtxFunction *entry;
    PtxModule *module = parse(name, parameters, body, "", &entry);
    Text out = {0};
    guess_arguments(entry, 1000, 1000, "random", &out);
    assert_string_equal(text_string(&out), args);
    text_done(&out);
    ptx_module_free(module);
}

#define THREE ".param .u64 a, .param .u64 b, .param .u32 n"
#define LOAD  "ld.param.u64 %a0, [a]; ld.param.u64 %a1, [b];\n"

static void what_is_loaded_is_an_input(void **state) {
    (void)state;
    expect("k", THREE, LOAD "ld.global.f32 %f0, [%a0]; st.global.f64 [%a1], %a2;",
           "in=float[n]:random, out=double[n], n");
    expect("k", THREE, LOAD "ld.global.u32 %r0, [%a1]; st.global.u16 [%a0], %r1;",
           "out=ushort[n], in=int[n]:random, n");
    expect("k", THREE, LOAD "ld.global.s8 %r0, [%a0]; ld.global.f32 %f0, [%a1];",
           "in=char[n]:random, in2=float[n]:random, n");
    expect("k", THREE, LOAD "ld.global.u32 %r0, [%a0]; red.global.add.f32 [%a1], %f0;",
           "in=int[n]:random, out=float[n], n");
    /* The first is read and written: an input; the second likewise: an output. */
    expect("k", THREE, LOAD "atom.global.add.u32 %r0, [%a0], 1; atom.global.add.u64 %a2, [%a1], %a3;",
           "in=int[n]:random, out=ulong[n], n");
}

/* Through conversions, additions, and around a loop. */
static void addresses_are_followed(void **state) {
    (void)state;
    expect("k", THREE,
           LOAD "cvta.to.global.u64 %a2, %a1; mad.wide.s32 %a3, %r0, 4, %a2; mov.u64 %a5, %a3;\n"
                "L: ld.global.v2.f32 {%f0, %f1}, [%a4+8]; add.s64 %a4, %a5, 16; bra L;",
           "n, in=float[n]:random, n"); /* nobody uses a */
    /* What is loaded through a pointer is no pointer of the kernel's: the index of b comes from a. */
    expect("k", THREE,
           LOAD "ld.global.u32 %r0, [%a0]; mul.wide.s32 %a2, %r0, 4; add.s64 %a3, %a1, %a2; st.global.f32 "
                "[%a3], %f0;",
           "in=int[n]:random, out=float[n], n");
}

static void numbers_are_no_pointers(void **state) {
    (void)state;
    static const char parameters[] =
        ".param .u64 a, .param .u64 b, .param .f32 x, .param .u8 flag, .param .u16 h";
    expect("k", parameters, LOAD "ld.global.u8 %r0, [%a0]; setp.lt.u64 %p0, %a2, %a1;",
           "in=uchar[n]:random, n, 1.0, 1, n");
    expect("k", parameters, LOAD, "in=int[n]:random, out=int[n], 1.0, 1, n"); /* nothing is known */
    expect("k", ".param .u64 .ptr .global .align 4 a, .param .u64 b", LOAD, "in=int[n]:random, n");
}

/* C++ knows more than PTX: constness, signs, structures, vectors. */
static void names_say_types(void **state) {
    (void)state;
    expect("_Z1kPKfPji", THREE, LOAD, "in=float[n]:random, out=uint[n], n");
    expect("_Z1kPjPK6float4i", THREE, LOAD, "in=uint[n]:random, in2=float[n*4]:random, n");
    expect("_Z1kI6__halfEvPT_PS0_", ".param .u64 a, .param .u64 b", LOAD, "in=half[n]:random, out=half[n]");
    expect("_Z1kPVilb", ".param .u64 a, .param .u64 b, .param .u8 c", LOAD, "in=int[n]:random, n, 1");
    expect("_Z1kP5Thing", ".param .u64 a", "ld.param.u64 %a0, [a]; ld.global.f64 %a1, [%a0];",
           "in=double[n]:random");
    /* A name with another number of parameters is not believed. */
    expect("_Z1kPKf", THREE, LOAD "st.global.u32 [%a0], %r0; st.global.u32 [%a1], %r0;",
           "out=int[n], out2=int[n], n");
    expect("_Z1kv", "", "", "");
}

/* Triton's two pointers to scratch memory, which most of its kernels do not look at. */
static void pointers_that_nobody_names_are_null(void **state) {
    (void)state;
    static const char parameters[] =
        ".param .u64 .ptr .global .align 1 a, .param .u64 .ptr .global .align 1 b, "
        ".param .u32 n, .param .u64 .ptr .global .align 1 c, "
        ".param .u64 .ptr .global .align 1 d";
    expect("k", parameters, LOAD "ld.global.f32 %f0, [%a0]; st.global.f32 [%a1], %f0; ld.param.u64 %a2, [d];",
           "in=float[n]:random, out=float[n], n, 0, out2=int[n]");
    expect("_Z1kPfS_", ".param .u64 a, .param .u64 b", "", "in=float[n]:random, out=float[n]");
}

static void arrays_of_numba_are_all_their_parameters(void **state) {
    (void)state;
#define WORD(NAME) ".param .u64 " NAME ", "
#define ARRAY(NAME)                                                                                          \
    WORD(NAME "0") WORD(NAME "1") WORD(NAME "2") WORD(NAME "3") WORD(NAME) WORD(NAME "5") WORD(NAME "6")
    expect("_ZN8__main__3sumB2v1B4cw51E5ArrayIfLi1E1C7mutable7alignedE5ArrayIdLi1E1C7mutable7alignedEi",
           ARRAY("a") ARRAY("b") ".param .u32 n", LOAD "ld.global.f32 %f0, [%a0]; st.global.f64 [%a1], %a2;",
           "0, 0, n, 4, in=float[n]:random, n, 4, 0, 0, n, 8, out=double[n], n, 8, n");
    expect("_ZN8__main__1fE5ArrayIsLi2E1C7mutable7alignedE", ARRAY("a") WORD("a7") ".param .u64 a8",
           "ld.param.u64 %a0, [a]; ld.global.u16 %r0, [%a0];",
           "0, 0, n, 2, in=short[n]:random, 31, 31, 62, 2");
}

static void write_beside(const char *json) {
    FILE *file = fopen("build/guess.json", "w");
    assert_non_null(file);
    fputs(json, file);
    fclose(file);
}

static void triton_says_its_shared_memory_beside_the_file(void **state) {
    (void)state;
    uint32_t bytes = 7;
    write_beside("{\"num_warps\": 4, \"shared\": 4160, \"target\": {\"arch\": 80}}");
    assert_true(guess_shared_beside("build/guess.ptx", &bytes));
    assert_int_equal(bytes, 4160);
    static const char *const others[] = {"{\"shared\": 4160}", "{\"num_warps\": 4, \"shared\": true}",
                                         "{\"num_warps\": 4}", "",
                                         "{\"num_warps\": 4, \"shared\": 99999999999}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_beside(others[i]);
        if (guess_shared_beside("build/guess.ptx", &bytes)) fail_msg("%s", others[i]);
    }
    remove("build/guess.json");
    assert_false(guess_shared_beside("build/guess.ptx", &bytes));
    assert_int_equal(bytes, 4160);
}

static void shapes_are_seen(void **state) {
    (void)state;
    static const struct {
        const char *variables, *body;
        int dimensions;
        bool has_dynamic;
        uint64_t bytes;
    } cases[] = {
        {"", "mov.u32 %r0, %tid.x;", 1, false, 0},
        {"", "mov.u32 %r0, %ctaid.y;", 2, false, 0},
        {"", "mov.u32 %r0, %ntid.z;", 3, false, 0},
        {".extern .shared .align 16 .b8 s[];", "mov.u64 %a0, s;", 1, true, 0},
        {".extern .shared .align 16 .b8 s[];", "", 1, false, 0},
        {".shared .align 4 .b8 t[64];\n.extern .shared .align 16 .b8 s[];", "ld.shared.u32 %r0, [s+4];", 1,
         true, 64},
        {"", ".shared .b32 u[8]; st.shared.u32 [u], %r0;", 1, false, 32},
        {".func f() { ret; }\n.extern .shared .align 16 .b8 s[];", "call f;", 1, true, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxFunction *entry;
        PtxModule *module = parse("k", "", cases[i].body, cases[i].variables, &entry);
        KernelShape shape = guess_shape(module, entry);
        if (shape.dimensions != cases[i].dimensions || shape.has_dynamic_shared != cases[i].has_dynamic ||
            shape.static_shared != cases[i].bytes)
            fail_msg("%s: %d dimensions, dynamic %d, %d bytes", cases[i].body, shape.dimensions,
                     shape.has_dynamic_shared, (int)shape.static_shared);
        ptx_module_free(module);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_loaded_is_an_input),
        cmocka_unit_test(addresses_are_followed),
        cmocka_unit_test(numbers_are_no_pointers),
        cmocka_unit_test(names_say_types),
        cmocka_unit_test(pointers_that_nobody_names_are_null),
        cmocka_unit_test(arrays_of_numba_are_all_their_parameters),
        cmocka_unit_test(triton_says_its_shared_memory_beside_the_file),
        cmocka_unit_test(shapes_are_seen),
    };
    return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
