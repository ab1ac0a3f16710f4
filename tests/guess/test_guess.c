/* Guesses of a kernel's launch from its PTX. */
#include "guess/guess_arguments.h"
#include "guess/uses.h"

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
    GuessInput input = {.n = 1000, .side = 1000, .fill = "random"};
    guess_arguments(entry, &input, &out);
    assert_string_equal(text_string(&out), args);
    text_done(&out);
    ptx_module_free(module);
}

#define THREE ".param .u64 a, .param .u64 b, .param .u32 n"
#define LOAD  "ld.param.u64 %a0, [a]; ld.param.u64 %a1, [b];\n"

static void what_is_loaded_is_an_input(void **state) {
    (void)state;
    expect("k", THREE, LOAD "ld.global.f32 %f0, [%a0]; st.global.f64 [%a1], %a2;",
           "in=float[n]:random, out=double[1], n");
    expect("k", THREE, LOAD "ld.global.u32 %r0, [%a1]; st.global.u16 [%a0], %r1;",
           "out=ushort[1], in=int[n]:random, n");
    expect("k", THREE, LOAD "ld.global.s8 %r0, [%a0]; ld.global.f32 %f0, [%a1];",
           "in=char[n]:random, in2=float[n]:random, n");
    expect("k", THREE, LOAD "ld.global.u32 %r0, [%a0]; red.global.add.f32 [%a1], %f0;",
           "in=int[n]:random, out=float[1], n");
    /* Floats that atomics add, and floats that are added as whole numbers: sums are exact. */
    expect("k", THREE, LOAD "ld.global.f32 %f0, [%a0]; red.global.add.f32 [%a1], %f0;",
           "in=float[n]:random(-8,8), out=float[1], n");
    expect("k", THREE, LOAD "ld.global.f32 %f0, [%a0]; cvt.rzi.s32.f32 %r1, %f0; st.global.u32 [%a1], %r1;",
           "in=float[n]:random(-8,8), out=int[1], n");
    /* An index of 64 bits, the product of a parameter, moves no pointer. */
    expect("k", THREE ", .param .u64 m",
           LOAD
           "ld.param.u64 %a2, [m]; mul.lo.s64 %a3, %a4, %a2; shl.b64 %a3, %a3, 2; add.s64 %a5, %a0, %a3;\n"
           "ld.global.f32 %f0, [%a5]; st.global.f32 [%a1], %f0;",
           "in=float[n]:random, out=float[1], n, n");
    /* The first is only written, and no other is only read: the second is worked on in place. */
    expect("k", THREE,
           LOAD "mul.wide.u32 %a4, %r1, 4; add.s64 %a1, %a1, %a4; ld.global.u32 %r0, [%a1]; st.global.u32 "
                "[%a1], %r0;\n"
                "st.global.u32 [%a0], %r0;",
           "out=int[1], in=int[n]:random, n");
    /* The first is read and written: an input; the second likewise: an output. */
    expect("k", THREE,
           LOAD "mul.wide.u32 %a4, %r1, 4; add.s64 %a0, %a0, %a4; ld.global.u32 %r0, [%a0]; st.global.u32 "
                "[%a0], %r0;\n"
                "add.s64 %a1, %a1, %a4; ld.global.u32 %r0, [%a1]; st.global.u32 [%a1], %r0;",
           "in=int[n]:random, out=int[n], n");
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
           "in=int[n]:random(0,999), out=float[n], n");
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
           "out=int[1], out2=int[1], n");
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
           "in=float[n]:random, out=float[1], n, 0, out2=int[n]");
    expect("_Z1kPfS_", ".param .u64 a, .param .u64 b", "", "in=float[n]:random, out=float[n]");
}

static void arrays_of_numba_are_all_their_parameters(void **state) {
    (void)state;
#define WORD(NAME) ".param .u64 " NAME ", "
#define ARRAY(NAME)                                                                                          \
    WORD(NAME "0") WORD(NAME "1") WORD(NAME "2") WORD(NAME "3") WORD(NAME) WORD(NAME "5") WORD(NAME "6")
    expect("_ZN8__main__3sumB2v1B4cw51E5ArrayIfLi1E1C7mutable7alignedE5ArrayIdLi1E1C7mutable7alignedEi",
           ARRAY("a") ARRAY("b") ".param .u32 n", LOAD "ld.global.f32 %f0, [%a0]; st.global.f64 [%a1], %a2;",
           "0, 0, n, 4, in=float[n]:random, n, 4, 0, 0, n, 8, out=double[1], n, 8, n");
    expect("_ZN8__main__1fE5ArrayIsLi2E1C7mutable7alignedE", ARRAY("a") WORD("a7") ".param .u64 a8",
           "ld.param.u64 %a0, [a]; ld.global.u16 %r0, [%a0];",
           "0, 0, n, 2, in=short[n]:random, 31, 31, 62, 2");
}

/* What only adds up starts from nothing, wherever it stands. */
static void accumulators_start_from_the_identity(void **state) {
    (void)state;
    expect("k", THREE, LOAD "atom.global.add.u32 %r0, [%a0], 1; ld.global.u32 %r1, [%a1];",
           "out=int[1], in=int[n]:random, n");
    expect("k", THREE, LOAD "ld.global.u32 %r1, [%a0]; red.global.max.s32 [%a1+4], %r1;",
           "in=int[n]:random, out=int[2]:-2147483648, n");
    expect("_Z1kPKfPfi", THREE, LOAD "ld.global.u32 %r1, [%a0]; red.global.min.s32 [%a1], %r1;",
           "in=float[n]:random, out=float[1]:inf, n");
    /* One for each block. */
    expect(
        "k", THREE,
        LOAD
        "ld.global.f32 %f0, [%a0]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %a2, %r1, 4; add.s64 %a3, %a1, %a2;\n"
        "st.global.f32 [%a3], %f0;",
        "in=float[n]:random, out=float[grid], n");
}

/* Triton loads all of 32 bits as .b32; what is computed with them says what they are. */
static void bits_are_what_arithmetic_takes_them_for(void **state) {
    (void)state;
    expect("k", THREE,
           LOAD
           "ld.global.b32 %r0, [%a0]; mov.b32 %f0, %r0; add.f32 %f1, %f0, %f0; st.global.b32 [%a1], %f1;",
           "in=float[n]:random(-8,8), out=float[1], n");
    expect("k", THREE, LOAD "ld.global.b32 %r0, [%a0]; add.s32 %r1, %r0, 1; st.global.b32 [%a1], %r1;",
           "in=int[n]:random, out=int[1], n");
    expect(
        "k", THREE,
        LOAD "ld.global.v2.b32 {%r0, %r1}, [%a0]; selp.b32 %r2, %r0, %r1, %p0;\n"
             "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; mov.b32 %f1, %r3; max.f32 %f2, %f1, %f1; st.global.f32 "
             "[%a1], %f2;",
        "in=float[n]:random, out=float[1], n"); /* small whole numbers would hide which one is the largest */
}

/* Through shared memory: what is copied there asynchronously, stored there and loaded again. */
static void bits_go_through_shared_memory(void **state) {
    (void)state;
    expect("k", THREE,
           LOAD
           "cp.async.cg.shared.global [%r9], [%a0], 16; ld.shared.b32 %r0, [%r9]; mov.b32 %f0, %r0;\n"
           "add.f32 %f1, %f0, %f0; mov.b32 %r1, %f1; st.shared.b32 [%r8], %r1; ld.shared.b32 %r2, [%r7];\n"
           "st.global.b32 [%a1], %r2;",
           "in=float[n]:random(-8,8), out=float[1], n");
    expect("k", THREE,
           LOAD
           "ld.global.b32 %r0, [%a0]; mov.b32 %f0, %r0; add.f32 %f1, %f0, %f0; st.shared.f32 [%r8], %f1;\n"
           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r7]; st.global.b32 [%a1], %r2;",
           "in=float[n]:random(-8,8), out=float[1], n");
    /* Integers among them: nobody knows which is loaded. */
    expect("k", THREE,
           LOAD
           "ld.global.b32 %r0, [%a0]; mov.b32 %f0, %r0; add.f32 %f1, %f0, %f0; st.shared.f32 [%r8], %f1;\n"
           "add.s32 %r4, %r5, 1; st.shared.b32 [%r8+4], %r4; ld.shared.b32 %r2, [%r7]; st.global.b32 [%a1], "
           "%r2;",
           "in=float[n]:random(-8,8), out=int[1], n");
}

static void what_the_host_says_is_taken(void **state) {
    (void)state;
    PtxFunction *entry;
    PtxModule *module = parse("_Z1kPKiPiif", THREE ", .param .f32 x", LOAD, "", &entry);
    GuessHint hints[USES_PARAMETERS] = {{.count = 1000},
                                        {.count = 4},
                                        {.has_value = true, .integer = 7},
                                        {.has_value = true, .is_float = true, .number = 0.5}};
    GuessInput input = {.n = 1000, .side = 1000, .grid = 4, .fill = "random", .hints = hints};
    Text out = {0};
    guess_arguments(entry, &input, &out);
    assert_string_equal(text_string(&out), "in=int[n]:random, out=int[grid], 7, 0.5");
    text_clear(&out);
    hints[1] = (GuessHint){.is_same = true, .same_as = 0};
    guess_arguments(entry, &input, &out);
    assert_string_equal(text_string(&out), "in=int[n]:random, in, 7, 0.5");
    text_done(&out);
    ptx_module_free(module);
}

/* Cooperative groups compute the rank of a thread of three dimensions, also in one. */
static void a_rank_is_one_dimension(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int dimensions;
        bool counts_blocks;
    } cases[] = {
        {"mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ntid.x; mov.u32 %r4, "
         "%ntid.y;\n"
         "mad.lo.s32 %r5, %r2, %r4, %r1; mad.lo.s32 %r6, %r5, %r3, %r0; setp.lt.u32 %p0, %r6, 32;",
         1, false},
        {"mov.u32 %r1, %tid.y; mov.u32 %r3, %ntid.y; mad.lo.s32 %r6, %r1, %r3, %r3; setp.lt.u32 %p0, %r6, "
         "32;",
         2, false},
        {"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z; add.s32 %r3, %r0, %r1; "
         "neg.s32 %r4, %r2;\n"
         "setp.ne.s32 %p0, %r3, %r4;",
         1, true},
        {"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; setp.lt.s32 %p0, %r1, %r0;", 2, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxFunction *entry;
        PtxModule *module = parse("k", "", cases[i].body, "", &entry);
        KernelShape shape = guess_shape(module, entry);
        if (shape.dimensions != cases[i].dimensions || shape.counts_blocks != cases[i].counts_blocks)
            fail_msg("%s: %d dimensions, blocks %d", cases[i].body, shape.dimensions, shape.counts_blocks);
        ptx_module_free(module);
    }
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
        {"", "mov.u32 %r0, %ctaid.y; setp.lt.u32 %p0, %r0, 8;", 2, false, 0},
        {"", "mov.u32 %r0, %tid.z; mul.wide.u32 %a0, %r0, 4; st.global.u32 [%a0], %r1;", 3, false, 0},
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

/* Row pointers ascend, one more than there are rows; a number behind a pointer says how many elements there
 * are. */
static void sizes_in_memory_are_seen(void **state) {
    (void)state;
    static const char row[] = LOAD "mul.wide.u32 %a2, %r9, 4; add.s64 %a3, %a0, %a2; ld.global.u32 %r0, "
                                   "[%a3]; ld.global.u32 %r1, [%a3+4];\n"
                                   "setp.ge.s32 %p0, %r0, %r1; mul.wide.s32 %a4, %r0, 4; add.s64 %a5, %a1, "
                                   "%a4; ld.global.f32 %f0, [%a5];";
    expect("k", THREE, row, "in=int[1001]:iota(0,1), in2=float[n]:random, n");
    static const char row_of_unsigned[] = LOAD
        "mov.u32 %r9, %tid.x; mul.wide.u32 %a2, %r9, 4; add.s64 %a3, %a0, %a2; ld.global.u32 %r0, [%a3];\n"
        "add.s32 %r8, %r9, 1; mul.wide.u32 %a6, %r8, 4; add.s64 %a7, %a0, %a6; ld.global.u32 %r1, [%a7];\n"
        "setp.ge.u32 %p0, %r0, %r1; mul.wide.u32 %a4, %r0, 4; add.s64 %a5, %a1, "
        "%a4; ld.global.f32 %f0, [%a5];";
    expect("k", THREE, row_of_unsigned, "in=int[1001]:iota(0,1), in2=float[n]:random, n");
    static const char without_end[] = LOAD "mul.wide.u32 %a2, %r9, 4; add.s64 %a3, %a0, %a2; ld.global.u32 "
                                           "%r0, [%a3]; ld.global.u32 %r1, [%a3+8];\n"
                                           "setp.ge.s32 %p0, %r0, %r1; mul.wide.s32 %a4, %r0, 4; add.s64 "
                                           "%a5, %a1, %a4; ld.global.f32 %f0, [%a5];";
    expect("k", THREE, without_end, "in=int[n]:random(0,999), in2=float[n]:random, n");
    expect("k", THREE,
           LOAD "ld.global.u32 %r0, [%a0]; setp.ge.s32 %p0, %r1, %r0; mul.wide.u32 %a2, %r9, 4; add.s64 %a3, "
                "%a1, %a2;\n"
                "ld.global.f32 %f0, [%a3];",
           "in=int[1]:n, in2=float[n]:random, n");
}

/* What the source calls its parameters: buffers get the names, and some say what a number is. */
static void names_say_what_parameters_are(void **state) {
    (void)state;
    static const struct {
        const char *names[3], *args;
    } cases[] = {
        {{"x", "y", "size"}, "x=int[n]:random, y=int[n], n"},
        {{"x", "histogram", "num_bins"}, "x=int[n]:random, histogram=int[n], 256"},
        {{"result", "x", "size"}, "result=int[n], x=int[n]:random, n"},
        {{"d_out", "x", "size"}, "d_out=int[n], x=int[n]:random, n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxFunction *entry;
        bool is_result_first = i > 1;
        const char *body = is_result_first ? LOAD "mul.wide.u32 %a2, %r9, 4; add.s64 %a3, %a1, %a2; "
                                                  "ld.global.u32 %r0, [%a3]; add.s64 %a4, %a0, %a2;\n"
                                                  "ld.global.u32 %r1, [%a4]; st.global.u32 [%a4], %r1;"
                                           : LOAD "mul.wide.u32 %a2, %r9, 4; add.s64 %a3, %a0, %a2; "
                                                  "ld.global.u32 %r0, [%a3]; add.s64 %a4, %a1, %a2;\n"
                                                  "st.global.u32 [%a4], %r0;";
        PtxModule *module = parse("k", THREE, body, "", &entry);
        GuessInput input = {.n = 1000, .side = 1000, .fill = "random", .names = cases[i].names};
        Text out = {0};
        guess_arguments(entry, &input, &out);
        assert_string_equal(text_string(&out), cases[i].args);
        text_done(&out);
        ptx_module_free(module);
    }
}

/* The elements of a block follow from its addresses: 512 of 256 threads, or twice as many as there are
 * threads. */
static void the_reach_of_a_block_is_seen(void **state) {
    (void)state;
    static const struct {
        const char *body;
        uint64_t of_128, of_256;
    } cases[] = {
        {"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; shl.b32 %r2, %r0, 9; add.s32 %r3, %r2, %r1;\n"
         "mul.wide.s32 %a2, %r3, 4; add.s64 %a3, %a0, %a2; ld.global.f32 %f0, [%a3];",
         512, 512},
        {"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; shl.b32 %r4, %r2, 1; mad.lo.s32 "
         "%r3, %r0, %r4, "
         "%r1;\n"
         "mul.wide.s32 %a2, %r3, 4; add.s64 %a3, %a0, %a2; ld.global.f32 %f0, [%a3];",
         256, 512},
        {"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r5, %nctaid.x; "
         "mad.lo.s32 %r3, %r0, "
         "%r2, %r1;\n"
         "mad.lo.s32 %r3, %r5, %r2, %r3; mul.wide.s32 %a2, %r3, 4; add.s64 %a3, %a0, %a2; ld.global.f32 %f0, "
         "[%a3];",
         128, 256},
        {"ld.global.f32 %f0, [%a0];", 128, 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxFunction *entry;
        char body[1024];
        snprintf(body, sizeof body, "%s%s", LOAD, cases[i].body);
        PtxModule *module = parse("k", THREE, body, "", &entry);
        if (uses_block_reach(entry, 128) != cases[i].of_128 ||
            uses_block_reach(entry, 256) != cases[i].of_256)
            fail_msg("%s: %d, %d", body, (int)uses_block_reach(entry, 128),
                     (int)uses_block_reach(entry, 256));
        ptx_module_free(module);
    }
}

/* Blocks that count in two dimensions may have threads that count in one. */
static void threads_and_blocks_count_apart(void **state) {
    (void)state;
    PtxFunction *entry;
    PtxModule *module = parse("k", "", "mov.u32 %r0, %ctaid.y; setp.lt.u32 %p0, %r0, 8;", "", &entry);
    KernelShape shape = guess_shape(module, entry);
    assert_int_equal(shape.dimensions, 2);
    assert_int_equal(shape.block_dimensions, 1);
    ptx_module_free(module);
    module = parse("k", "", "mov.u32 %r0, %tid.y; setp.lt.u32 %p0, %r0, 8;", "", &entry);
    assert_int_equal(guess_shape(module, entry).block_dimensions, 2);
    ptx_module_free(module);
}

static void comparisons_of_elements_are_seen(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool compares;
    } cases[] = {
        {LOAD "ld.global.u32 %r0, [%a0]; ld.global.u32 %r1, [%a1]; setp.lt.s32 %p0, %r0, %r1;", true},
        {LOAD "ld.global.u32 %r0, [%a0]; setp.lt.s32 %p0, %r2, 7; add.s32 %r1, %r0, %r0;", false},
        {LOAD "ld.global.f32 %f0, [%a0]; shfl.sync.down.b32 %f1, %f0, 1, 31, -1; max.f32 %f2, %f0, %f1;",
         true},
        {LOAD "ld.global.f32 %f0, [%a0]; add.f32 %f2, %f0, %f1; red.global.add.f32 [%a1], %f2;", false},
        {LOAD "ld.global.u32 %r0, [%a0]; red.global.max.s32 [%a1], %r0;", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxFunction *entry;
        PtxModule *module = parse("k", THREE, cases[i].body, "", &entry);
        if (uses_compares(entry) != cases[i].compares) fail_msg("%s", cases[i].body);
        ptx_module_free(module);
    }
}

static void times_are_no_results(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool gets_times;
    } cases[] = {
        {LOAD "mov.u32 %r0, %clock; st.global.u32 [%a1], %r0;", true},
        {LOAD "mov.u32 %r0, %clock; sub.s32 %r2, %r1, %r0; st.global.u32 [%a1], %r2;", true},
        {LOAD "mov.u32 %r0, %clock; st.global.u32 [%a1], %r0; st.global.u32 [%a1+4], %r1;", false},
        {LOAD "mov.u32 %r0, %clock; st.global.u32 [%a1], %r1; st.global.u32 [%a1+4], %r0;", false},
        {LOAD "mov.u32 %r0, %clock; st.global.u32 [%a0], %r0; st.global.u32 [%a1], %r1;", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxFunction *entry;
        PtxModule *module = parse("k", THREE, cases[i].body, "", &entry);
        Use uses[USES_PARAMETERS];
        uses_find(entry, uses);
        if (uses[1].gets_times != cases[i].gets_times) fail_msg("%s", cases[i].body);
        ptx_module_free(module);
    }
}

/* One buffer for both: what is read through the second is not of zeros. A number that does not fit its
 * parameter is none. */
static void hints_are_followed_as_far_as_they_fit(void **state) {
    (void)state;
    PtxFunction *entry;
    PtxModule *module = parse("k", ".param .u64 a, .param .u64 b, .param .u8 n",
                              LOAD "mul.wide.u32 %a4, %r1, 4; add.s64 %a0, %a0, %a4; add.s64 %a1, %a1, %a4;\n"
                                   "ld.global.u32 %r0, [%a1]; st.global.u32 [%a0], %r0;",
                              "", &entry);
    GuessHint hints[USES_PARAMETERS] = {
        {.count = 1000}, {.is_same = true}, {.has_value = true, .integer = 1024, .number = 1024}};
    GuessInput input = {.n = 1000, .side = 1000, .fill = "random", .hints = hints};
    Text out = {0};
    guess_arguments(entry, &input, &out);
    assert_string_equal(text_string(&out), "in=int[n]:random, in, 1");
    text_done(&out);
    ptx_module_free(module);
}

/* Members are what they are used as, at their places; what is not loaded is 0. */
static void structures_are_their_members(void **state) {
    (void)state;
    expect("k", ".param .align 8 .b8 s[40], .param .u64 b",
           "ld.param.u64 %a0, [s]; ld.param.u32 %r0, [s+8]; ld.param.u64 %a1, [s+16]; ld.param.f32 %f1, "
           "[s+24];\n"
           "ld.param.u64 %a2, [b]; ld.global.f32 %f0, [%a0]; st.global.u32 [%a1], %r0; st.global.f64 [%a2], "
           "%a3;",
           "{in=float[n]:random, n, out=int[1], (float)1.0, 0, 0, 0}, out2=double[1]");
    /* Two members by one load, and one of 2 bytes. */
    expect("k", ".param .align 8 .b8 s[24]",
           "ld.param.v2.u32 {%r0, %r1}, [s]; ld.param.u16 %r2, [s+8]; ld.param.u64 %a0, [s+16];\n"
           "ld.global.f32 %f0, [%a0];",
           "{n, n, (short)n, in=float[n]:random}");
    /* An index decides which member is loaded: nothing is known of them. */
    expect("k", ".param .align 8 .b8 s[16]", "mov.b64 %a0, s; ld.param.u64 %a1, [%a0+8];", "n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hints_are_followed_as_far_as_they_fit),
        cmocka_unit_test(what_is_loaded_is_an_input),
        cmocka_unit_test(addresses_are_followed),
        cmocka_unit_test(numbers_are_no_pointers),
        cmocka_unit_test(names_say_types),
        cmocka_unit_test(pointers_that_nobody_names_are_null),
        cmocka_unit_test(arrays_of_numba_are_all_their_parameters),
        cmocka_unit_test(accumulators_start_from_the_identity),
        cmocka_unit_test(bits_are_what_arithmetic_takes_them_for),
        cmocka_unit_test(bits_go_through_shared_memory),
        cmocka_unit_test(what_the_host_says_is_taken),
        cmocka_unit_test(a_rank_is_one_dimension),
        cmocka_unit_test(triton_says_its_shared_memory_beside_the_file),
        cmocka_unit_test(shapes_are_seen),
        cmocka_unit_test(sizes_in_memory_are_seen),
        cmocka_unit_test(names_say_what_parameters_are),
        cmocka_unit_test(the_reach_of_a_block_is_seen),
        cmocka_unit_test(threads_and_blocks_count_apart),
        cmocka_unit_test(comparisons_of_elements_are_seen),
        cmocka_unit_test(times_are_no_results),
        cmocka_unit_test(structures_are_their_members),
    };
    return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
