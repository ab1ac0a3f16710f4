/* Functions of CUDA's runtime in kernels: printf, malloc and free, assert. Expected texts are what an H200
 * printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <math.h>

static const char externs[] =
    ".extern .func (.param .b32 back) vprintf(.param .b64 format, .param .b64 arguments);\n"
    ".extern .func (.param .b64 back) malloc(.param .b64 bytes);\n"
    ".extern .func free(.param .b64 address);\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 "
    "e);\n";

/* ---- printf -------------------------------------------------------------------------------------------- */

/* An argument as in the buffer that vprintf reads. */
typedef struct Argument {
    int bytes; /* 4, 8, or 0: a string */
    uint64_t bits;
    const char *string;
} Argument;

static Argument number(int value) {
    return (Argument){4, (uint32_t)value, NULL};
}
static Argument wide(uint64_t value) {
    return (Argument){8, value, NULL};
}
static Argument string(const char *text) {
    return (Argument){0, 0, text};
}

static Argument real(double value) {
    Argument argument = {.bytes = 8};
    memcpy(&argument.bits, &value, sizeof value);
    return argument;
}

static void add_string(Text *module, const char *name, const char *text) {
    text_print(module, ".global .align 1 .b8 %s[%zu] = {", name, strlen(text) + 1);
    for (const char *at = text; *at; at++) text_print(module, "%d, ", (unsigned char)*at);
    text_add(module, "0};\n");
}

/* Prints with one thread; returns printf's result. */
static uint32_t print(const char *format, const Argument *arguments, int count, const char *expected) {
    Text module = {0}, body = {0};
    text_add(&module, externs);
    add_string(&module, "format", format);
    text_add(&body, "{ .local .align 8 .b8 room[256]; .param .b64 p0; .param .b64 p1; .param .b32 back;\n");
    int at = 0;
    for (int i = 0; i < count; i++) {
        int bytes = arguments[i].bytes ? arguments[i].bytes : 8;
        at = (at + bytes - 1) / bytes * bytes;
        if (!arguments[i].bytes) {
            char name[24];
            snprintf(name, sizeof name, "string%d", i);
            add_string(&module, name, arguments[i].string);
            text_print(&body, "mov.u64 %%q0, %s; cvta.global.u64 %%q0, %%q0;\n", name);
        } else {
            text_print(&body, "mov.u64 %%q0, %llu;\n", (unsigned long long)arguments[i].bits);
        }
        if (bytes == 4)
            text_print(&body, "cvt.u32.u64 %%r0, %%q0; st.local.u32 [room+%d], %%r0;\n", at);
        else
            text_print(&body, "st.local.u64 [room+%d], %%q0;\n", at);
        at += bytes;
    }
    text_add(&body, "mov.u64 %q0, format; cvta.global.u64 %q0, %q0; st.param.b64 [p0], %q0;\n"
                    "mov.u64 %q0, room; cvta.local.u64 %q0, %q0; st.param.b64 [p1], %q0;\n"
                    "call.uni (back), vprintf, (p0, p1); ld.param.b32 %r0, [back]; }\n"
                    "st.global.u32 [%out], %r0;");
    CoreRun run =
        core_run_well((CoreKernel){.body = text_string(&body), .module = text_string(&module), .block = 1});
    assert_string_equal(text_string(&run.trace->printed), expected);
    uint32_t back = run.out[0];
    core_done(&run);
    text_done(&module);
    text_done(&body);
    return back;
}

#define PRINT(expected, format, ...)                                                                         \
    do {                                                                                                     \
        const Argument arguments[] = {__VA_ARGS__};                                                          \
        assert_int_equal(print(format, arguments, (int)(sizeof arguments / sizeof *arguments), expected),    \
                         sizeof arguments / sizeof *arguments);                                              \
    } while (0)

static void test_integers(void **state) {
    (void)state;
    PRINT("   42|42   |00042|+42| 42\n", "%5d|%-5d|%05d|%+d|% d\n", number(42), number(42), number(42),
          number(42), number(42));
    PRINT("beef BEEF 0xbeef 10 4294967295\n", "%x %X %#x %o %u\n", number(0xbeef), number(0xbeef),
          number(0xbeef), number(8), number(-1));
    PRINT("-5000000000 5000000000 123456789abcdef 77\n", "%lld %llu %llx %ld\n", wide((uint64_t)-5000000000),
          wide(5000000000), wide(0x123456789abcdef), wide(77));
    PRINT("4464 44\n", "%hd %hhd\n", number(70000), number(300));
    PRINT("5 005 |\n", "%i %.3d %.0d|\n", number(5), number(5), number(0));
    PRINT("     1\n", "%*d\n", number(6), number(1));
    PRINT("1     |\n", "%*d|\n", number(-6), number(1));
}

static void test_floats(void **state) {
    (void)state;
    PRINT("1.500000 1.500000e+10 1e-07 1E+20 0x1p+0\n", "%f %e %g %G %a\n", real(1.5), real(1.5e10),
          real(1e-7), real(1e20), real(1.0));
    PRINT("   3.142|2.72e+00  |+2|2.\n", "%8.3f|%-10.2e|%+.0f|%#.0f\n", real(3.14159), real(2.71828),
          real(2.5), real(2.5));
    PRINT("inf -inf\n", "%f %f\n", real(INFINITY), real(-INFINITY));
}

static void test_texts_and_pointers(void **state) {
    (void)state;
    PRINT("one|       two|three |fo\n", "%s|%10s|%-6s|%.2s\n", string("one"), string("two"), string("three"),
          string("four"));
    PRINT("xyA|  z\n", "%c%c%c|%3c\n", number('x'), number('y'), number(65), number('z'));
    PRINT("%|0x1234\n", "%%|%p\n", wide(0x1234));
    PRINT("(nil) (null)\n", "%p %s\n", wide(0), wide(0));
    PRINT("1 2.000000 mix 3 c\n", "%d %f %s %lld %c\n", number(1), real(2), string("mix"), wide(3),
          number('c'));
    assert_int_equal(print("plain\n", NULL, 0, "plain\n"), 0);
    assert_int_equal(print("", NULL, 0, ""), 0);
}

/* Unknown conversions are printed unchanged. */
static void test_unknown_conversions(void **state) {
    (void)state;
    print("%5%|%q|%z\n", NULL, 0, "%5%|%q|%z\n");
    print("%zu %td %jd\n", NULL, 0, "%zu %td %jd\n");
    print("%Lf %n\n", NULL, 0, "%Lf %n\n");
    print("%1$d\n", NULL, 0, "%1$d\n");
    print("%.*f\n", NULL, 0, "%.*f\n");
    print("ends with %", NULL, 0, "ends with %");
}

static void test_enormous_widths(void **state) {
    (void)state;
    const Argument arguments[] = {number(INT32_MIN), number(7)};
    Text expected = {0};
    text_add(&expected, "7");
    for (int i = 1; i < 1024; i++) text_add(&expected, " ");
    print("%*d", arguments, 2, text_string(&expected));
    text_done(&expected);
}

/* Lanes print in lane order, blocks in block order; an unreadable format prints nothing and gives -1. */
static void test_order_of_printing(void **state) {
    (void)state;
    Text module = {0}, expected = {0};
    text_add(&module, externs);
    add_string(&module, "format", "%d ");
    CoreKernel kernel = {
        .body = "{ .local .align 8 .b8 room[8]; .param .b64 p0; .param .b64 p1; .param .b32 back;\n"
                "st.local.u32 [room], %i;\n"
                "mov.u64 %q0, format; cvta.global.u64 %q0, %q0; st.param.b64 [p0], %q0;\n"
                "mov.u64 %q0, room; cvta.local.u64 %q0, %q0; st.param.b64 [p1], %q0;\n"
                "call.uni (back), vprintf, (p0, p1); }",
        .module = text_string(&module),
        .grid = 600,
        .block = 32};
    for (int i = 0; i < 600 * 32; i++) text_print(&expected, "%d ", i);
    for (kernel.options.threads = 1; kernel.options.threads <= 4; kernel.options.threads++) {
        CoreRun run = core_run_well(kernel);
        assert_string_equal(text_string(&run.trace->printed), text_string(&expected));
        core_done(&run);
    }
    text_done(&module);
    text_done(&expected);
    CoreRun run =
        core_run_well((CoreKernel){.body = "{ .param .b64 p0; .param .b64 p1; .param .b32 back;\n"
                                           "st.param.b64 [p0], 0; st.param.b64 [p1], 0;\n"
                                           "call.uni (back), vprintf, (p0, p1); ld.param.b32 %r0, [back]; }\n"
                                           "st.global.u32 [%out], %r0;",
                                   .module = externs});
    assert_int_equal(run.out[0], (uint32_t)-1);
    assert_string_equal(text_string(&run.trace->printed), "");
    core_done(&run);
}

/* A kernel that never stops printing: the first megabyte is kept, the same with any number of threads, and
 * calls still return the number of arguments. */
static void test_endless_printing(void **state) {
    (void)state;
    Text module = {0}, first = {0};
    text_add(&module, externs);
    add_string(&module, "format", "%d 100%% %-*s and much more, again and again and again\n");
    CoreKernel kernel = {
        .body = "{ .local .align 8 .b8 room[24]; .param .b64 p0; .param .b64 p1; .param .b32 back;\n"
                "st.local.u32 [room], %i; st.local.u32 [room+4], 9; st.local.u64 [room+8], 0;\n"
                "mov.u32 %r1, 0;\nAGAIN:\n"
                "mov.u64 %q0, format; cvta.global.u64 %q0, %q0; st.param.b64 [p0], %q0;\n"
                "mov.u64 %q0, room; cvta.local.u64 %q0, %q0; st.param.b64 [p1], %q0;\n"
                "call.uni (back), vprintf, (p0, p1); ld.param.b32 %r0, [back];\n"
                "add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 200; @%p0 bra AGAIN; }\n"
                "st.global.u32 [%out], %r0;",
        .module = text_string(&module),
        .grid = 64,
        .block = 32};
    for (kernel.options.threads = 1; kernel.options.threads <= 4; kernel.options.threads++) {
        CoreRun run = core_run_well(kernel);
        assert_int_equal(run.trace->printed.length, TRACE_PRINTED_BYTES + 1);
        assert_int_equal(run.out[0], 3);
        if (!first.length) text_add(&first, text_string(&run.trace->printed));
        assert_string_equal(text_string(&run.trace->printed), text_string(&first));
        core_done(&run);
    }
    text_done(&module);
    text_done(&first);
}

/* ---- malloc, free -------------------------------------------------------------------------------------- */

#define MALLOC(bytes, to)                                                                                    \
    "{ .param .b64 p0; .param .b64 back; st.param.b64 [p0], " bytes "; call.uni (back), malloc, (p0);\n"     \
    "ld.param.b64 " to ", [back]; }\n"
#define FREE(address) "{ .param .b64 p0; st.param.b64 [p0], " address "; call.uni free, (p0); }\n"

/* Each thread has memory of its own, aligned to 16, which a thread of another block may free. */
static void test_heap(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "add.u32 %r0, %t, 1; mul.wide.u32 %q1, %r0, 4;\n" MALLOC(
            "%q1", "%q0") "and.b64 %q2, %q0, 15; cvt.u32.u64 %r5, %q2;\n"
                          "mov.u32 %r1, 0; mov.u64 %q3, %q0;\n"
                          "FILL: st.u32 [%q3], %i; add.s64 %q3, %q3, 4; add.u32 %r1, %r1, 1; setp.lt.u32 "
                          "%p0, %r1, %r0;\n"
                          "@%p0 bra FILL;\n"
                          "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u64 %q3, %q0;\n"
                          "SUM: ld.u32 %r3, [%q3]; add.u32 %r2, %r2, %r3; add.s64 %q3, %q3, 4; add.u32 %r1, "
                          "%r1, 1;\n"
                          "setp.lt.u32 %p0, %r1, %r0; @%p0 bra SUM;\n" FREE("%q0")
                              FREE("0") "mad.lo.u32 %r2, %r5, 1000000, %r2; st.global.u32 [%out], %r2;",
        .module = externs,
        .grid = 3,
        .block = 64});
    for (uint32_t i = 0; i < 192; i++) assert_int_equal(run.out[i], i * (i % 64 + 1));
    core_done(&run);
}

static void test_full_heap(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = MALLOC("0", "%q0") MALLOC("1099511627776", "%q1") MALLOC(
            "-1",
            "%q2") "mov.u32 %r0, 0;\n"
                   "MORE: " MALLOC(
                       "1048576",
                       "%q3") "add.u32 %r0, %r0, 1; setp.ne.s64 %p0, %q3, 0; @%p0 bra MORE;\n"
                              "setp.ne.s64 %p0, %q0, 0; selp.u32 %r1, 100, 0, %p0; add.u32 %r0, %r0, %r1;\n"
                              "setp.ne.s64 %p0, %q1, 0; selp.u32 %r1, 1000, 0, %p0; add.u32 %r0, %r0, %r1;\n"
                              "setp.ne.s64 %p0, %q2, 0; selp.u32 %r1, 10000, 0, %p0; add.u32 %r0, %r0, %r1;\n"
                              "st.global.u32 [%out], %r0;",
        .module = externs,
        .block = 1});
    assert_int_equal(run.out[0], 100 + 8); /* 7 MB, then nothing more of the 8 MB, as in CUDA */
    core_done(&run);
}

static void test_free_of_what_was_not_given(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = MALLOC("16", "%q0") "add.s64 %q0, %q0, 8;\n" FREE("%q0"),
                               .module = externs,
                               .block = 1},
                  TRAP_OUT_OF_BOUNDS, "which malloc did not return");
    core_run_trap(
        (CoreKernel){.body = MALLOC("16", "%q0") FREE("%q0") FREE("%q0"), .module = externs, .block = 1},
        TRAP_DOUBLE_FREE, "which has already been freed");
}

/* ---- assert -------------------------------------------------------------------------------------------- */

static void test_assert(void **state) {
    (void)state;
    Text module = {0};
    text_add(&module, externs);
    add_string(&module, "condition", "x < 3");
    add_string(&module, "file", "kernel.cu");
    add_string(&module, "function", "void kernel(int *)");
    Trap trap = core_run_trap(
        (CoreKernel){.body =
                         "setp.lt.u32 %p0, %t, 3; @%p0 bra FINE;\n"
                         "{ .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n"
                         "mov.u64 %q0, condition; st.param.b64 [p0], %q0;\n"
                         "mov.u64 %q0, file; st.param.b64 [p1], %q0; st.param.b32 [p2], 17;\n"
                         "mov.u64 %q0, function; st.param.b64 [p3], %q0; st.param.b64 [p4], 1;\n"
                         "call.uni __assertfail, (p0, p1, p2, p3, p4); }\n"
                         "FINE: st.global.u32 [%out], 1;",
                     .module = text_string(&module),
                     .block = 8},
        TRAP_ASSERTION, "kernel.cu:17: void kernel(int *): assertion `x < 3` failed (thread 3 of the block)");
    assert_int_equal(trap.lanes, 0xf8);
    text_done(&module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_texts_and_pointers),
        cmocka_unit_test(test_unknown_conversions),
        cmocka_unit_test(test_enormous_widths),
        cmocka_unit_test(test_order_of_printing),
        cmocka_unit_test(test_endless_printing),
        cmocka_unit_test(test_heap),
        cmocka_unit_test(test_full_heap),
        cmocka_unit_test(test_free_of_what_was_not_given),
        cmocka_unit_test(test_assert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
