/* atom and red: every operation, type and space, and many threads on one word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

/* ---- one thread ---------------------------------------------------------------------------------------- */

typedef struct Row {
    const char *operation; /* "add.u32" */
    int bytes;
    uint64_t old, b, c, new;
    bool cas;
} Row;

#define MIN_S64 UINT64_C(0x8000000000000000)
#define ALL_64  UINT64_C(0xffffffffffffffff)

/* "Parallel Synchronization and Communication Instructions: atom". */
static const Row rows[] = {
    {"add.u32", 4, 5, 7, 0, 12, false},
    {"add.u32", 4, 0xffffffff, 2, 0, 1, false},
    {"add.s32", 4, 0x7fffffff, 1, 0, 0x80000000, false},
    {"add.u64", 8, 0xffffffff, 1, 0, UINT64_C(0x100000000), false},
    {"add.u64", 8, ALL_64, 5, 0, 4, false},
    {"inc.u32", 4, 5, 9, 0, 6, false},
    {"inc.u32", 4, 9, 9, 0, 0, false},
    {"inc.u32", 4, 10, 9, 0, 0, false},
    {"inc.u32", 4, 0xffffffff, 0xffffffff, 0, 0, false},
    {"dec.u32", 4, 5, 9, 0, 4, false},
    {"dec.u32", 4, 0, 9, 0, 9, false},
    {"dec.u32", 4, 10, 9, 0, 9, false},
    {"dec.u32", 4, 9, 9, 0, 8, false},
    {"min.u32", 4, 0xffffffff, 1, 0, 1, false},
    {"min.u32", 4, 3, 0xffffffff, 0, 3, false},
    {"min.s32", 4, 0xffffffff, 1, 0, 0xffffffff, false},
    {"min.s32", 4, 3, 0x80000000, 0, 0x80000000, false},
    {"max.u32", 4, 0xffffffff, 1, 0, 0xffffffff, false},
    {"max.s32", 4, 0xffffffff, 1, 0, 1, false},
    {"min.u64", 8, MIN_S64, 1, 0, 1, false},
    {"min.s64", 8, MIN_S64, 1, 0, MIN_S64, false},
    {"max.u64", 8, MIN_S64, 1, 0, MIN_S64, false},
    {"max.s64", 8, MIN_S64, 1, 0, 1, false},
    {"max.s64", 8, ALL_64, UINT64_C(0x100000000), 0, UINT64_C(0x100000000), false},
    {"and.b32", 4, 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00, false},
    {"or.b32", 4, 0xff00ff00, 0x0ff00ff0, 0, 0xfff0fff0, false},
    {"xor.b32", 4, 0xff00ff00, 0x0ff00ff0, 0, 0xf0f0f0f0, false},
    {"and.b64", 8, UINT64_C(0xff00ff00ff00ff00), UINT64_C(0x0ff00ff00ff00ff0), 0,
     UINT64_C(0x0f000f000f000f00), false},
    {"or.b64", 8, MIN_S64, 1, 0, MIN_S64 + 1, false},
    {"xor.b64", 8, ALL_64, MIN_S64, 0, MIN_S64 - 1, false},
    {"exch.b32", 4, 1, 0xdeadbeef, 0, 0xdeadbeef, false},
    {"exch.b64", 8, 1, UINT64_C(0xdeadbeefcafef00d), 0, UINT64_C(0xdeadbeefcafef00d), false},
    {"cas.b32", 4, 7, 7, 9, 9, true},
    {"cas.b32", 4, 8, 7, 9, 8, true},
    {"cas.b64", 8, MIN_S64, MIN_S64, 9, 9, true},
    {"cas.b64", 8, MIN_S64, 0, 9, MIN_S64, true}, /* the low halves are equal */
    {"cas.b16", 2, 0x1234, 0x1234, 0xffff, 0xffff, true},
    {"cas.b16", 2, 0x1234, 0x1235, 0xffff, 0x1234, true},
    {"add.f32", 4, 0x3f800000, 0x40000000, 0, 0x40400000, false}, /* 1 + 2 */
    {"add.f32", 4, 0x4b800000, 0x3f800000, 0, 0x4b800000, false}, /* 2^24 + 1, to even */
    {"add.f32", 4, 0x7f800000, 0xff800000, 0, 0x7fffffff, false}, /* inf - inf: the canonical NaN */
    {"add.f32", 4, 0x7f800001, 0x3f800000, 0, 0x7fffffff, false},
    {"add.f32", 4, 0x80000000, 0x80000000, 0, 0x80000000, false}, /* -0 - 0 */
    {"add.f64", 8, UINT64_C(0x3ff0000000000000), UINT64_C(0x4000000000000000), 0,
     UINT64_C(0x4008000000000000), false},
    {"add.f64", 8, 1, 2, 0, 3, false}, /* subnormals stay */
    {"add.noftz.f16", 2, 0x3c00, 0x4000, 0, 0x4200, false},
    {"add.noftz.f16", 2, 1, 2, 0, 3, false},
    {"add.noftz.f16", 2, 0x7bff, 0x7bff, 0, 0x7c00, false}, /* 65504 + 65504: infinity */
    {"add.noftz.bf16", 2, 0x3f80, 0x4000, 0, 0x4040, false},
    {"add.noftz.bf16", 2, 0x4380, 0x3f80, 0, 0x4380, false}, /* 256 + 1, to even */
    {"add.noftz.f16x2", 4, 0x3c004000, 0x40003c00, 0, 0x42004200, false},
    {"add.noftz.bf16x2", 4, 0x3f804000, 0x40003f80, 0, 0x40404040, false},
};

typedef struct Space {
    const char *name;
    const char *address; /* leaves the word's address in %q0, and its value in %q1 before */
    const char *result;  /* leaves the word's value in %q1 */
    const char *infix;
} Space;

static const Space spaces[] = {
    {"global", "mov.u64 %q0, %base;\n", "ld.global.u64 %q1, [%base];\n", ".global"},
    {"generic global", "mov.u64 %q0, %base;\n", "ld.global.u64 %q1, [%base];\n", ""},
    {"shared", "mov.u64 %q0, word; ld.global.u64 %q1, [%base]; st.shared.u64 [word], %q1;\n",
     "ld.shared.u64 %q1, [word]; st.global.u64 [%base], %q1;\n", ".shared"},
    {"generic shared",
     "ld.global.u64 %q1, [%base]; st.shared.u64 [word], %q1; mov.u64 %q0, word; cvta.shared.u64 %q0, %q0;\n",
     "ld.shared.u64 %q1, [word]; st.global.u64 [%base], %q1;\n", ""},
    {"volatile scope", "mov.u64 %q0, %base;\n", "ld.global.u64 %q1, [%base];\n", ".acq_rel.sys.global"},
};

static const char *width(int bytes) {
    return bytes == 2 ? "16" : bytes == 4 ? "32" : "64";
}
static char letter(int bytes) {
    return bytes == 2 ? 'h' : bytes == 4 ? 'r' : 'q';
}

static void move_operand(const Row *row, int number, uint64_t value, Text *body) {
    text_print(body, "mov.b64 %%q9, 0x%llx; ", (unsigned long long)value);
    if (row->bytes == 8)
        text_print(body, "mov.b64 %%q%d, %%q9;\n", number);
    else
        text_print(body, "cvt.u%s.u64 %%%c%d, %%q9;\n", width(row->bytes), letter(row->bytes), number);
}

/* Words 0 and 1: the value in memory. Words 2 and 3: what atom returned. */
static void check_row(const Row *row, const Space *space, bool has_result) {
    Text body = {0};
    const uint32_t in[4] = {(uint32_t)row->old, (uint32_t)(row->old >> 32), 0, 0};
    char c = letter(row->bytes);
    text_add(&body, space->address);
    move_operand(row, 5, row->b, &body);
    move_operand(row, 6, row->c, &body);
    if (has_result)
        text_print(&body, "atom%s.%s %%%c4, [%%q0], %%%c5", space->infix, row->operation, c, c);
    else
        text_print(&body, "red%s.%s [%%q0], %%%c5", space->infix, row->operation, c);
    if (row->cas) text_print(&body, ", %%%c6", c);
    text_print(&body, ";\n%s", space->result);
    if (has_result) text_print(&body, "st.global.b%s [%%base+8], %%%c4;", width(row->bytes), c);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&body),
                                             .module = ".shared .align 8 .u64 word;\n",
                                             .block = 1,
                                             .words = 4,
                                             .in = in});
    uint64_t new = run.out[0] | (uint64_t)run.out[1] << 32, old = run.out[2] | (uint64_t)run.out[3] << 32;
    if (new != row->new || (has_result && old != row->old))
        fail_msg("%s %s of 0x%llx and 0x%llx: 0x%llx, returned 0x%llx; expected 0x%llx", space->name,
                 row->operation, (unsigned long long)row->old, (unsigned long long)row->b,
                 (unsigned long long)new, (unsigned long long)old, (unsigned long long)row->new);
    core_done(&run);
    text_done(&body);
}

static void test_every_operation_in_every_space(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            check_row(&rows[i], &spaces[s], true);
            if (!rows[i].cas && strncmp(rows[i].operation, "exch", 4) != 0)
                check_row(&rows[i], &spaces[s], false);
        }
}

/* add.f32 flushes subnormals in global memory and keeps them in shared memory (PTX ISA; an H200 agrees). */
static void test_subnormals(void **state) {
    (void)state;
    Row row = {"add.f32", 4, 1, 2, 0, 0, false};
    check_row(&row, &spaces[0], true);
    check_row(&row, &spaces[1], true);
    row.new = 3;
    check_row(&row, &spaces[2], true);
    check_row(&row, &spaces[3], true);
    row = (Row){"add.f32", 4, 0x80000001, 0x80000000, 0, 0x80000000, false};
    check_row(&row, &spaces[0], true);
}

static void test_vectors(void **state) {
    (void)state;
    static const uint32_t in[] = {0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0, 0, 0, 0};
    static const uint32_t expected[] = {0x40000000, 0x40400000, 0x40800000, 0x40a00000,
                                        0x3f800000, 0x40000000, 0x40400000, 0x40800000};
    core_expect(
        (CoreKernel){.body = "mov.f32 %f4, 0f3f800000;\n"
                             "atom.global.v4.f32.add {%f0, %f1, %f2, %f3}, [%base], {%f4, %f4, %f4, %f4};\n"
                             "st.global.v4.f32 [%base+16], {%f0, %f1, %f2, %f3};",
                     .block = 1,
                     .words = 8,
                     .in = in},
        expected, 8);
    static const uint32_t halves[] = {0x3c003c00, 0x40003c00}, sums[] = {0x40004000, 0x42004000};
    core_expect(
        (CoreKernel){.body = "mov.b32 %r0, 0x3c003c00; red.global.v2.f16x2.add.noftz [%base], {%r0, %r0};",
                     .block = 1,
                     .words = 2,
                     .in = halves},
        sums, 2);
    static const uint32_t low[] = {0x3c003c00, 0x40003c00}, least[] = {0x3c003800, 0x40003800};
    core_expect((CoreKernel){.body = "mov.b16 %h0, 0x3800; mov.b16 %h1, 0x4400;\n"
                                     "red.global.v4.f16.min.noftz [%base], {%h0, %h1, %h0, %h1};",
                             .block = 1,
                             .words = 2,
                             .in = low},
                least, 2);
}

static void test_wide(void **state) {
    (void)state;
    static const uint32_t in[] = {1, 2, 3, 4, 0, 0, 0, 0};
    static const uint32_t expected[] = {7, 0, 8, 0, 1, 2, 3, 4};
    static const uint32_t kept[] = {1, 2, 3, 4, 1, 2, 3, 4};
    CoreKernel kernel = {
        .body = "{ .reg .b128 a, b; mov.b128 a, {7, 8}; atom.sys.global.exch.b128 b, [%base], a;\n"
                "mov.b128 {%q0, %q1}, b; st.global.v2.u64 [%base+16], {%q0, %q1}; }",
        .block = 1,
        .words = 8,
        .in = in};
    core_expect(kernel, expected, 8);
    kernel.body =
        "{ .reg .b128 a, b, c; mov.u64 %q0, 0x200000001; mov.u64 %q1, 0x400000003; mov.b128 a, {%q0, %q1};\n"
        "mov.b128 c, {7, 8}; atom.global.cas.b128 b, [%base], a, c;\n"
        "mov.b128 {%q0, %q1}, b; st.global.v2.u64 [%base+16], {%q0, %q1}; }";
    core_expect(kernel, expected, 8);
    kernel.body = "{ .reg .b128 a, b, c; mov.u64 %q0, 0x200000001; mov.u64 %q1, 0; mov.b128 a, {%q0, %q1};\n"
                  "mov.b128 c, {7, 8}; atom.relaxed.sys.global.cas.b128 b, [%base], a, c;\n"
                  "mov.b128 {%q0, %q1}, b; st.global.v2.u64 [%base+16], {%q0, %q1}; }";
    core_expect(kernel, kept, 8);
}

/* ---- many threads -------------------------------------------------------------------------------------- */

/* Each thread of the grid gets a different number. */
static void test_tickets(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body =
            "atom.global.add.u32 %r0, [%base+4096], 1; mul.wide.u32 %q0, %r0, 4; add.s64 %q0, %base, %q0;\n"
            "atom.global.add.u32 %r1, [%q0], 1;",
        .grid = 8,
        .block = 128,
        .words = 1025};
    CoreRun run = core_run_well(kernel);
    for (int i = 0; i < 1024; i++) assert_int_equal(run.out[i], 1);
    assert_int_equal(run.out[1024], 1024);
    core_done(&run);
}

/* The lanes of a warp take effect in lane order, so that runs are reproducible. */
static void test_lane_order(void **state) {
    (void)state;
    uint32_t expected[33];
    for (uint32_t i = 0; i < 32; i++) expected[i] = i ? i - 1 : 0;
    expected[32] = 31;
    core_expect((CoreKernel){.body = "atom.global.exch.b32 %r0, [%base+128], %t; st.global.u32 [%out], %r0;",
                             .words = 33},
                expected, 33);
}

static void test_guarded_lanes(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [word], 0;\n"
                                           "and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 1; mov.u32 %r1, 77;\n"
                                           "@%p0 atom.shared.add.u32 %r1, [word], 2;\n"
                                           "ld.shared.u32 %r2, [word]; st.global.u32 [%out], %r1;\n"
                                           "st.global.u32 [%out+128], %r2;",
                                   .module = ".shared .u32 word;\n",
                                   .words = 64});
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(run.out[i], i % 2 ? i - 1 : 77);
        assert_int_equal(run.out[32 + i], 32);
    }
    assert_int_equal(core_counter(&run, "atom.shared", 0)->lanes, 16);
    core_done(&run);
}

/* A histogram in shared memory, by all warps of the block, then added to the grid's. */
static void test_histogram(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "setp.lt.u32 %p0, %t, 7; shl.b32 %r0, %t, 2; mov.u32 %r1, bins; add.u32 %r1, %r1, %r0;\n"
                "@%p0 st.shared.u32 [%r1], 0;\n"
                "bar.sync 0;\n"
                "rem.u32 %r2, %i, 7; shl.b32 %r2, %r2, 2; mov.u32 %r3, bins; add.u32 %r3, %r3, %r2;\n"
                "red.shared.add.u32 [%r3], 1;\n"
                "bar.sync 0;\n"
                "@!%p0 bra END;\n"
                "ld.shared.u32 %r4, [%r1]; mul.wide.u32 %q0, %t, 4; add.s64 %q0, %base, %q0;\n"
                "red.global.add.u32 [%q0], %r4;\n"
                "END: ret;",
        .module = ".shared .align 4 .b8 bins[28];\n",
        .grid = 10,
        .block = 100,
        .words = 7});
    for (int bin = 0; bin < 7; bin++) assert_int_equal(run.out[bin], 1000 / 7 + (bin < 1000 % 7));
    core_done(&run);
}

/* The classic float maximum by compare and swap, with all lanes on one word. */
static void test_loop_of_cas(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "cvt.rn.f32.u32 %f0, %i; xor.b32 %r5, %t, 5; cvt.rn.f32.u32 %f0, %r5;\n"
                "ld.global.u32 %r0, [%base];\n"
                "AGAIN: mov.b32 %f1, %r0; max.f32 %f2, %f0, %f1; mov.b32 %r1, %f2; mov.u32 %r2, %r0;\n"
                "atom.global.cas.b32 %r0, [%base], %r2, %r1;\n"
                "setp.ne.u32 %p0, %r0, %r2; @%p0 bra AGAIN;",
        .grid = 4,
        .block = 64};
    for (kernel.options.schedule = 0; kernel.options.schedule < 4; kernel.options.schedule++) {
        CoreRun run = core_run_well(kernel);
        assert_int_equal(run.out[0], 0x427c0000); /* 63 */
        core_done(&run);
    }
}

/* ---- forms that do not exist --------------------------------------------------------------------------- */

static void test_forms_that_do_not_exist(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "atom.global.add.b16 %h0, [%base], %h1;", "atom.global.inc.u64 %q0, [%base], %q1;",
        "atom.global.and.f32 %f0, [%base], %f1;", "atom.global.cas.b32 %r0, [%base], %r1;",
        "atom.local.add.u32 %r0, [%base], %r1;",  "atom.global.add.u32 %q0, [%base], %r1;"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        core_run_trap((CoreKernel){.body = bodies[i]}, TRAP_NOT_EMULATED, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation_in_every_space),
        cmocka_unit_test(test_subnormals),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_tickets),
        cmocka_unit_test(test_lane_order),
        cmocka_unit_test(test_guarded_lanes),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_loop_of_cas),
        cmocka_unit_test(test_forms_that_do_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
