/* Functions of PTX: arguments, results, recursion, calls through pointers. Some lanes return before
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

static const char add_three[] =
    ".func (.param .u32 sum) add3(.param .u32 a, .param .u32 b, .param .u32 c)\n{\n"
    ".reg .u32 %x<4>;\n"
    "ld.param.u32 %x0, [a]; ld.param.u32 %x1, [b]; ld.param.u32 %x2, [c];\n"
    "add.u32 %x0, %x0, %x1; add.u32 %x0, %x0, %x2; st.param.u32 [sum], %x0; ret;\n}\n";

/* As nvcc passes them: through .param variables of the caller. */
static void test_arguments_in_memory(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "{ .param .u32 p0; .param .u32 p1; .param .u32 p2; .param .u32 back;\n"
                             "st.param.u32 [p0], %t; st.param.u32 [p1], 100; mul.lo.u32 %r0, %t, 1000;\n"
                             "st.param.u32 [p2], %r0;\n"
                             "call.uni (back), add3, (p0, p1, p2);\n"
                             "ld.param.u32 %r1, [back]; }\n"
                             "st.global.u32 [%out], %r1;",
                     .module = add_three});
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(run.out[i], 1001 * i + 100);
    core_done(&run);
}

static void test_arguments_in_registers(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "call (%r1, %q0), both, (%t, 5, %q1);\n"
                "cvt.u32.u64 %r2, %q0; add.u32 %r1, %r1, %r2; st.global.u32 [%out], %r1;",
        .module = ".func (.reg .u32 x, .reg .u64 y) both(.reg .u32 a, .reg .u32 b, .reg .u64 c)\n"
                  "{ add.u32 x, a, b; mul.wide.u32 y, a, b; ret; }\n"});
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(run.out[i], i + 5 + 5 * i);
    core_done(&run);
}

/* Vector registers are passed whole, in both directions, in nested calls, through a pointer, and to some
 * lanes only. */
static void test_vectors_in_registers(void **state) {
    (void)state;
    static const char module[] =
        ".func (.reg .v4 .u32 d) turn(.reg .v4 .u32 a)\n"
        "{ mov.u32 d.x, a.w; mov.u32 d.y, a.z; mov.u32 d.z, a.y; mov.u32 d.w, a.x; ret; }\n"
        ".func (.reg .v2 .u64 d, .reg .u32 s) both(.reg .u32 n, .reg .v2 .u64 a, .reg .v4 .u32 b)\n"
        "{ .reg .v4 .u32 r; call (r), turn, (b); cvt.u64.u32 d.x, r.x; add.u64 d.x, d.x, a.y; mov.u64 d.y, "
        "a.x;\n"
        "add.u32 s, n, r.w; ret; }\n";
    static const char *const calls[] = {
        "call (w, %r9), both, (%t, v, u);",
        "mov.u64 %q9, both; call (w, %r9), %q9, (%t, v, u), proto;",
        ("setp.lt.u32 %p0, %t, 20; @!%p0 call (w, %r9), both, (%t, v, u);"
         "@%p0 call (w, %r9), both, (%t, v, u);"),
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        Text body = {0};
        text_print(
            &body,
            "proto: .callprototype (.reg .v2 .u64 _, .reg .u32 _) _ (.reg .u32 _, .reg .v2 .u64 _, .reg .v4 "
            ".u32 _);\n"
            ".reg .v2 .u64 v, w; .reg .v4 .u32 u;\n"
            "add.u32 u.x, %%t, 100; add.u32 u.y, %%t, 200; add.u32 u.z, %%t, 300; add.u32 u.w, %%t, 400;\n"
            "mov.u64 v.x, 7; mov.u64 v.y, 0x100000000;\n"
            "%s\n"
            "mov.b64 {%%r0, %%r1}, w.x; cvt.u32.u64 %%r2, w.y;\n"
            "st.global.u32 [%%out], %%r0; st.global.u32 [%%out+128], %%r1; st.global.u32 [%%out+256], %%r2;\n"
            "st.global.u32 [%%out+384], %%r9;",
            calls[i]);
        CoreRun run = core_run_well((CoreKernel){.body = text_string(&body), .module = module, .words = 128});
        for (uint32_t lane = 0; lane < 32; lane++) {
            assert_int_equal(run.out[lane], lane + 400);
            assert_int_equal(run.out[32 + lane], 1);
            assert_int_equal(run.out[64 + lane], 7);
            assert_int_equal(run.out[96 + lane], 2 * lane + 100);
        }
        core_done(&run);
        text_done(&body);
    }
}

/* An address plus a constant is one operand, as in ptxas: the sum is stored. */
static void test_addresses_with_offsets_as_values(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "mov.u64 %q0, word; mov.u64 %q1, word + 9; st.global.u64 [%base], word + 1; "
                             "ld.global.u64 %q2, [%base];\n"
                             "sub.u64 %q1, %q1, %q0; sub.u64 %q2, %q2, %q0; mov.b64 {%r0, %r2}, %q1; mov.b64 "
                             "{%r1, %r2}, %q2;\n"
                             "bar.warp.sync -1; st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;",
                     .module = ".global .align 8 .u64 word;\n",
                     .words = 64});
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(run.out[lane], 9);
        assert_int_equal(run.out[32 + lane], 1);
    }
    core_done(&run);
}

/* A register of an inner scope with the name of a parameter is a different register. */
static void test_a_parameter_behind_another_register(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "call (%r1), second, (%t, 5);\nst.global.u32 [%out], %r1;",
                                   .module = ".func (.reg .u32 x) second(.reg .u32 a, .reg .u32 b)\n"
                                             "{ { .reg .u32 b, x; mov.u32 b, 9; add.u32 x, b, 1; add.u32 a, "
                                             "a, x; } add.u32 x, a, b; ret; }\n"});
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(run.out[i], i + 15);
    core_done(&run);
}

/* A struct by value: an array of bytes, aligned, read with vector loads; and one as result. */
static void test_structs(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "{ .param .align 16 .b8 in[32]; .param .align 8 .b8 back[8];\n"
                "st.param.v4.u32 [in], {%t, 1, 2, 3}; st.param.v2.u32 [in+16], {40, 50}; st.param.u64 "
                "[in+24], 7;\n"
                "call.uni (back), fold, (in);\n"
                "ld.param.v2.u32 {%r0, %r1}, [back]; }\n"
                "st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;",
        .module = ".func (.param .align 8 .b8 r[8]) fold(.param .align 16 .b8 s[32])\n{ .reg .u32 %x<6>; "
                  ".reg .u64 %y;\n"
                  "ld.param.v4.u32 {%x0, %x1, %x2, %x3}, [s]; ld.param.v2.u32 {%x4, %x5}, [s+16];\n"
                  "ld.param.u64 %y, [s+24];\n"
                  "add.u32 %x0, %x0, %x1; add.u32 %x0, %x0, %x2; add.u32 %x0, %x0, %x3;\n"
                  "cvt.u32.u64 %x1, %y; add.u32 %x4, %x4, %x5; add.u32 %x4, %x4, %x1;\n"
                  "st.param.u32 [r], %x0; st.param.u32 [r+4], %x4; ret; }\n",
        .words = 64});
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(run.out[i], i + 6);
        assert_int_equal(run.out[32 + i], 97);
    }
    core_done(&run);
}

/* ---- recursion ----------------------------------------------------------------------------------------- */

static const char fibonacci[] =
    ".func (.reg .u32 f) fib(.reg .u32 n)\n{ .reg .pred %p; .reg .u32 %a, %b, %m;\n"
    "setp.lt.u32 %p, n, 2; @%p bra SMALL;\n"
    "sub.u32 %m, n, 1; call (%a), fib, (%m);\n"
    "sub.u32 %m, n, 2; call (%b), fib, (%m);\n"
    "add.u32 f, %a, %b; ret;\n"
    "SMALL: mov.u32 f, n; ret; }\n";

/* Lanes recurse to different depths and reconverge. */
static void test_recursion(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "and.b32 %r0, %t, 7; call (%r1), fib, (%r0); activemask.b32 %r2;\n"
                                           "st.global.u32 [%out], %r1; st.global.u32 [%out+128], %r2;",
                                   .module = fibonacci,
                                   .words = 64});
    static const uint32_t expected[] = {0, 1, 1, 2, 3, 5, 8, 13};
    for (int i = 0; i < 32; i++) {
        assert_int_equal(run.out[i], expected[i % 8]);
        assert_int_equal(run.out[32 + i], 0xffffffff);
    }
    core_done(&run);
}

static void test_recursion_without_end(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "call (%r1), down, (%t);",
                               .module = ".func (.reg .u32 f) down(.reg .u32 n)\n{ .reg .u32 %m;\n"
                                         "add.u32 %m, n, 1; call (f), down, (%m); ret; }\n"},
                  TRAP_STACK_OVERFLOW, "calls are nested 2048 deep");
    /* With a large amount of local memory in each frame. */
    core_run_trap(
        (CoreKernel){.body = "call (%r1), down, (%t);",
                     .module =
                         ".func (.reg .u32 f) down(.reg .u32 n)\n{ .reg .u32 %m; .local .b8 room[4000];\n"
                         "st.local.u32 [room], n; add.u32 %m, n, 1; call (f), down, (%m);\n"
                         "ld.local.u32 %m, [room]; add.u32 f, f, %m; ret; }\n"},
        TRAP_STACK_OVERFLOW, "local memory");
}

/* Every call has locals of its own. */
static void test_locals_of_a_frame(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "and.b32 %r0, %t, 3; add.u32 %r0, %r0, 1; call (%r1), sum, (%r0);\n"
                             "st.global.u32 [%out], %r1;",
                     .module = ".func (.reg .u32 f) sum(.reg .u32 n)\n{ .reg .u32 %m, %k; .reg .pred %p;\n"
                               ".local .u32 mine;\n"
                               "st.local.u32 [mine], n; setp.eq.u32 %p, n, 0; mov.u32 f, 0; @%p ret;\n"
                               "sub.u32 %m, n, 1; call (%k), sum, (%m);\n"
                               "ld.local.u32 %m, [mine]; add.u32 f, %k, %m; ret; }\n"});
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t n = i % 4 + 1;
        assert_int_equal(run.out[i], n * (n + 1) / 2);
    }
    core_done(&run);
}

/* ---- through pointers ---------------------------------------------------------------------------------- */

static const char operations[] = ".func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }\n"
                                 ".func (.reg .u32 r) square(.reg .u32 a) { mul.lo.u32 r, a, a; ret; }\n"
                                 ".func (.reg .u32 r) next(.reg .u32 a) { add.u32 r, a, 1; ret; }\n"
                                 ".global .u64 table[3] = {twice, square, next};\n";

static void test_calls_through_a_table(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "PROTO: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
                             "rem.u32 %r0, %t, 3; mul.wide.u32 %q0, %r0, 8; mov.u64 %q1, table;\n"
                             "add.s64 %q1, %q1, %q0; ld.global.u64 %q2, [%q1];\n"
                             "call (%r1), %q2, (%t), PROTO;\n"
                             "activemask.b32 %r2;\n"
                             "st.global.u32 [%out], %r1; st.global.u32 [%out+128], %r2;",
                     .module = operations,
                     .words = 64});
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(run.out[i], i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : i + 1);
        assert_int_equal(run.out[32 + i], 0xffffffff);
    }
    core_done(&run);
}

static void test_call_of_no_function(void **state) {
    (void)state;
    static const char body[] = "PROTO: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
                               "mov.u64 %q2, square; add.s64 %q2, %q2, 1; call (%r1), %q2, (%t), PROTO;";
    core_run_trap((CoreKernel){.body = body, .module = operations}, TRAP_BAD_CALL,
                  "which is not a function of this program");
    core_run_trap((CoreKernel){.body = "PROTO: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
                                       "mov.u64 %q2, 0; call (%r1), %q2, (%t), PROTO;",
                               .module = operations},
                  TRAP_BAD_CALL, "call of 0x0");
    core_run_trap((CoreKernel){.body = "PROTO: .callprototype (.reg .u32 _) _ (.reg .u32 _, .reg .u32 _);\n"
                                       "mov.u64 %q2, square; call (%r1), %q2, (%t, %t), PROTO;",
                               .module = operations},
                  TRAP_BAD_CALL, "call of");
}

/* ---- lanes that return at different times -------------------------------------------------------------- */

static void test_some_lanes_return_early(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "call (%r0), part, (%t); activemask.b32 %r1;\n"
                                           "st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;",
                                   .module = ".func (.reg .u32 r) part(.reg .u32 n)\n{ .reg .pred %p, %s;\n"
                                             "mov.u32 r, 1; setp.lt.u32 %p, n, 10; @%p ret;\n"
                                             "mov.u32 r, 2; setp.lt.u32 %s, n, 20; @%s bra OUT;\n"
                                             "activemask.b32 r; ret;\n"
                                             "OUT: ret; }\n",
                                   .words = 64});
    for (int i = 0; i < 32; i++) {
        assert_int_equal(run.out[i], i < 10 ? 1 : i < 20 ? 2 : 0xfff00000);
        assert_int_equal(run.out[32 + i], 0xffffffff);
    }
    core_done(&run);
}

static void test_exit_inside_a_function(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "call leave, (%t); activemask.b32 %r1; bar.sync 0; st.global.u32 [%out], %r1;",
                     .module = ".func leave(.reg .u32 n)\n{ .reg .pred %p;\n"
                               "setp.lt.u32 %p, n, 12; @%p exit; ret; }\n",
                     .block = 64});
    for (int i = 0; i < 64; i++) assert_int_equal(run.out[i], i < 12 ? 0 : i < 32 ? 0xfffff000 : 0xffffffff);
    core_done(&run);
}

/* The whole warp, or all lanes of a call, end inside functions. */
static void test_everybody_exits_inside_functions(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "call outer, (%t); st.global.u32 [%out], 9;",
                     .module = ".func inner(.reg .u32 n) { .reg .pred %p; setp.lt.u32 %p, n, 16;\n"
                               "@%p bra L; exit; L: exit; }\n"
                               ".func outer(.reg .u32 n) { .reg .pred %p; setp.lt.u32 %p, n, 40;\n"
                               "@%p call inner, (n); ret; }\n",
                     .block = 64});
    for (int i = 0; i < 64; i++) assert_int_equal(run.out[i], i < 40 ? 0 : 9);
    core_done(&run);
}

/* Lane 0 waits inside a function for a store that the others, which have returned, execute after the call. */
static void test_lanes_that_returned_are_let_go(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "call wait, (%t, %base); setp.eq.u32 %p0, %t, 5;\n"
                "@%p0 st.volatile.global.u32 [%base+128], 1; st.global.u32 [%out], 4;",
        .module = ".func wait(.reg .u32 n, .reg .u64 a) { .reg .pred %p; .reg .u32 %x;\n"
                  "setp.ne.u32 %p, n, 0; @%p ret;\n"
                  "SPIN: ld.volatile.global.u32 %x, [a+128]; setp.eq.u32 %p, %x, 0; @%p bra SPIN;\n"
                  "ret; }\n",
        .words = 33});
    for (int i = 0; i < 32; i++) assert_int_equal(run.out[i], 4);
    core_done(&run);
}

/* 128-bit registers as arguments and results; an unused result. */
static void test_wide_arguments(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "{ .reg .b128 x, y; cvt.u64.u32 %q0, %t; mov.b128 x, {%q0, 7};\n"
                             "call (y, _), swap, (x); mov.b128 {%q1, %q2}, y;\n"
                             "mad.lo.u64 %q1, %q1, 100, %q2; st.global.u32 [%out], %q1; }",
                     .module = ".func (.reg .b128 r, .reg .u32 s) swap(.reg .b128 a) { .reg .b64 %x, %y;\n"
                               "mov.b128 {%x, %y}, a; mov.b128 r, {%y, %x}; mov.u32 s, 3; ret; }\n"});
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(run.out[i], 700 + i);
    core_done(&run);
}

/* A function declared noreturn that returns: the code after it belongs to another function, and must not
 * run. */
static void test_return_from_where_there_is_none(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .module = ".func stop() .noreturn { ret; }\n.func other(.reg .u64 a) { st.global.u32 [a], 9; ret; }\n"
                  ".func ends() { call stop; }\n"
                  ".visible .entry kernel(.param .u64 p) { .reg .u64 %q; ld.param.u64 %q, [p];\n"
                  "call ends; st.global.u32 [%q], 3; call other, (%q); st.global.u32 [%q], 4; call stop; }\n",
        .block = 1});
    assert_int_equal(run.out[0], 4);
    core_done(&run);
}

/* A guarded call: the lanes that do not call wait after it. */
static void test_guarded_call(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "mov.u32 %r0, 7; setp.lt.u32 %p0, %t, 6; @%p0 call (%r0), square, (%t);\n"
                             "activemask.b32 %r1;\n"
                             "st.global.u32 [%out], %r0; st.global.u32 [%out+128], %r1;",
                     .module = operations,
                     .words = 64});
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(run.out[i], i < 6 ? i * i : 7);
        assert_int_equal(run.out[32 + i], 0xffffffff);
    }
    assert_int_equal(core_counter(&run, "call", 0)->executions, 1);
    assert_int_equal(core_counter(&run, "call", 0)->lanes, 6);
    core_done(&run);
}

/* A barrier inside a function that both sides of a branch call: the same instruction, but in different
 * calls. */
static void test_barrier_in_a_function(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){.body = "call meet; st.global.u32 [%out], 1;",
                                             .module = ".func meet() { bar.sync 0; ret; }\n",
                                             .block = 96});
    assert_int_equal(core_counter(&run, "bar.sync", 0)->executions, 3);
    core_done(&run);
    core_run_trap(
        (CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @%p0 bra A; call meet; bra B;\nA: call meet;\nB: ret;",
                     .module = ".func meet() { bar.sync 0; ret; }\n"},
        TRAP_DIVERGENT_BARRIER, "bar.sync");
}

/* ---- the stack ----------------------------------------------------------------------------------------- */

static void test_alloca(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "stacksave.u64 %q3;\n"
                             "add.u32 %r0, %t, 1; mul.wide.u32 %q0, %r0, 4;\n"
                             "alloca.u64 %q1, %q0, 16; alloca.u64 %q2, 64, 64;\n"
                             "mov.u32 %r1, 0; mov.u64 %q4, %q1;\n"
                             "FILL: st.local.u32 [%q4], %r1; add.s64 %q4, %q4, 4; add.u32 %r1, %r1, 1;\n"
                             "setp.lt.u32 %p0, %r1, %r0; @%p0 bra FILL;\n"
                             "st.local.u32 [%q2], 1000; ld.local.u32 %r2, [%q4-4]; ld.local.u32 %r3, [%q2];\n"
                             "add.u32 %r2, %r2, %r3; and.b64 %q5, %q2, 63; cvt.u32.u64 %r4, %q5;\n"
                             "add.u32 %r2, %r2, %r4; stackrestore.u64 %q3;\n"
                             "st.global.u32 [%out], %r2;"});
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(run.out[i], 1000 + i);
    core_done(&run);
    core_run_trap((CoreKernel){.body = "mov.u64 %q0, 10000000; alloca.u64 %q1, %q0, 16;"},
                  TRAP_STACK_OVERFLOW, "local memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments_in_memory),
        cmocka_unit_test(test_arguments_in_registers),
        cmocka_unit_test(test_vectors_in_registers),
        cmocka_unit_test(test_addresses_with_offsets_as_values),
        cmocka_unit_test(test_a_parameter_behind_another_register),
        cmocka_unit_test(test_structs),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_recursion_without_end),
        cmocka_unit_test(test_locals_of_a_frame),
        cmocka_unit_test(test_calls_through_a_table),
        cmocka_unit_test(test_call_of_no_function),
        cmocka_unit_test(test_some_lanes_return_early),
        cmocka_unit_test(test_exit_inside_a_function),
        cmocka_unit_test(test_everybody_exits_inside_functions),
        cmocka_unit_test(test_lanes_that_returned_are_let_go),
        cmocka_unit_test(test_wide_arguments),
        cmocka_unit_test(test_return_from_where_there_is_none),
        cmocka_unit_test(test_guarded_call),
        cmocka_unit_test(test_barrier_in_a_function),
        cmocka_unit_test(test_alloca),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
