/* Loads and stores of all widths, vectors and spaces, also by generic addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

/* ---- widths -------------------------------------------------------------------------------------------- */

/* Narrow loads extend by their type, into registers of any size. */
static void test_extension(void **state) {
    (void)state;
    static const uint32_t in[32] = {0x8281c3ff};
    static const struct {
        const char *load;
        uint64_t expected;
    } cases[] = {
        {"ld.global.u8 %r0, [%base]; cvt.u64.u32 %q0, %r0;", 0xff},
        {"ld.global.s8 %r0, [%base]; cvt.u64.u32 %q0, %r0;", 0xffffffff},
        {"ld.global.b8 %h0, [%base+1]; cvt.u64.u16 %q0, %h0;", 0xc3},
        {"ld.global.s8 %h0, [%base+1]; cvt.u64.u16 %q0, %h0;", 0xffc3},
        {"ld.global.s8 %q0, [%base+2];", UINT64_C(0xffffffffffffff81)},
        {"ld.global.u8 %q0, [%base+3];", 0x82},
        {"ld.global.u16 %r0, [%base+2]; cvt.u64.u32 %q0, %r0;", 0x8281},
        {"ld.global.s16 %r0, [%base+2]; cvt.u64.u32 %q0, %r0;", 0xffff8281},
        {"ld.global.s16 %q0, [%base+2];", UINT64_C(0xffffffffffff8281)},
        {"ld.global.u32 %q0, [%base];", 0x8281c3ff},
        {"ld.global.s32 %q0, [%base];", UINT64_C(0xffffffff8281c3ff)},
        {"ld.global.b64 %q0, [%base];", 0x8281c3ff},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body, "%s\nst.global.u64 [%%base+8], %%q0;", cases[i].load);
        CoreRun run =
            core_run_well((CoreKernel){.body = text_string(&body), .block = 1, .words = 32, .in = in});
        uint64_t got = run.out[2] | (uint64_t)run.out[3] << 32;
        if (got != cases[i].expected)
            fail_msg("%s: 0x%llx, expected 0x%llx", cases[i].load, (unsigned long long)got,
                     (unsigned long long)cases[i].expected);
        core_done(&run);
        text_done(&body);
    }
}

static void test_narrow_stores(void **state) {
    (void)state;
    static const uint32_t in[] = {0x11111111, 0x11111111, 0x11111111};
    static const uint32_t expected[] = {0x1111bb11, 0xaabb1111, 0x1111bb11};
    core_expect(
        (CoreKernel){
            .body = "mov.u32 %r0, 0x9988aabb; mov.u64 %q0, 0x12345678000000bb; mov.u16 %h0, 0xaabb;\n"
                    "st.global.u8 [%base+1], %r0; st.global.u16 [%base+6], %h0; st.global.b8 [%base+9], %q0;",
            .block = 1,
            .words = 3,
            .in = in},
        expected, 3);
}

/* ---- vectors ------------------------------------------------------------------------------------------- */

static const char *const space_names[] = {"global", "shared", "local", ""};

/* Every vector form is stored to every space and loaded back: memory is a copy of the original. */
static void test_vectors_in_every_space(void **state) {
    (void)state;
    static const struct {
        const char *type, *registers;
        int bytes;
    } forms[] = {{"v2.u8", "{%h0, %h1}", 2},
                 {"v4.u8", "{%r0, %r1, %r2, %r3}", 4},
                 {"v2.u16", "{%h0, %h1}", 4},
                 {"v4.b16", "{%h0, %h1, %h2, %h3}", 8},
                 {"v2.u32", "{%r0, %r1}", 8},
                 {"v4.f32", "{%f0, %f1, %f2, %f3}", 16},
                 {"v2.u64", "{%q8, %q9}", 16},
                 {"v2.f64", "{%d0, %d1}", 16},
                 {"u64", "%q8", 8}};
    uint32_t in[256];
    for (uint32_t i = 0; i < 256; i++) in[i] = i < 128 ? (i + 1) * 0x9e3779b1u : 0;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t s = 0; s < sizeof space_names / sizeof *space_names; s++) {
            const char *dot = *space_names[s] ? "." : "", *name = space_names[s];
            Text body = {0};
            /* From thread t's place in `out` through the space to the same place 512 bytes further. */
            text_print(&body,
                       ".local .align 16 .b8 mine[16];\n"
                       "mul.wide.u32 %%q0, %%t, %d; add.s64 %%q1, %%base, %%q0; add.s64 %%q2, %%q1, 512;\n",
                       forms[f].bytes);
            if (s == 1)
                text_add(&body, "mov.u64 %q3, room; add.s64 %q3, %q3, %q0;\n");
            else if (s == 2)
                text_add(&body, "mov.u64 %q3, mine;\n");
            else
                text_add(&body, "mov.u64 %q3, %q2;\n");
            text_print(&body, "ld.global.%s %s, [%%q1]; st%s%s.%s [%%q3], %s;\n", forms[f].type,
                       forms[f].registers, dot, name, forms[f].type, forms[f].registers);
            text_print(&body, "ld%s%s.%s %s, [%%q3]; st.global.%s [%%q2], %s;", dot, name, forms[f].type,
                       forms[f].registers, forms[f].type, forms[f].registers);
            CoreRun run = core_run_well((CoreKernel){.body = text_string(&body),
                                                     .module = ".shared .align 16 .b8 room[512];\n",
                                                     .words = 256,
                                                     .in = in});
            int words = forms[f].bytes * 32 / 4;
            if (memcmp(run.out + 128, in, (size_t)words * 4) != 0)
                fail_msg("%s through '%s'", forms[f].type, name);
            if (words < 128) assert_int_equal(run.out[128 + words], 0);
            core_done(&run);
            text_done(&body);
        }
}

static void test_sinks_and_vector_registers(void **state) {
    (void)state;
    static const uint32_t in[] = {10, 20, 30, 40, 0, 0, 0, 0};
    static const uint32_t expected[] = {10, 20, 30, 40, 20, 40, 30, 10};
    core_expect((CoreKernel){.body = "{ .reg .v4 .u32 v; ld.global.v4.u32 {_, %r0, _, %r1}, [%base];\n"
                                     "ld.global.v4.u32 v, [%base];\n"
                                     "st.global.v4.u32 [%base+16], {%r0, %r1, v.z, v.x}; }",
                             .block = 1,
                             .words = 8,
                             .in = in},
                expected, 8);
}

static void test_wide_accesses(void **state) {
    (void)state;
    static const uint32_t in[16] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint32_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
    core_expect(
        (CoreKernel){.module =
                         ".version 8.8\n.target sm_100\n.address_size 64\n"
                         ".visible .entry kernel(.param .u64 p)\n{ .reg .b64 %q<3>; .reg .f32 %f<8>;\n"
                         "ld.param.u64 %q0, [p];\n"
                         "ld.global.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%q0];\n"
                         "st.global.v8.f32 [%q0+32], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}; ret; }\n",
                     .block = 1,
                     .words = 16,
                     .in = in},
        expected, 16);
    core_expect((CoreKernel){.body = "{ .reg .b128 x, y; .local .align 16 .b8 l[16]; ld.global.b128 x, "
                                     "[%base]; st.local.b128 [l], x;\n"
                                     "ld.local.b128 y, [l]; st.global.b128 [%base+32], y; ld.global.v2.u64 "
                                     "{%q0, %q1}, [%base+16];\n"
                                     "mov.b128 x, {%q0, %q1}; st.global.b128 [%base+48], x; }",
                             .block = 1,
                             .words = 16,
                             .in = in},
                expected, 16);
}

/* ---- generic addresses --------------------------------------------------------------------------------- */

/* One load whose lanes access global, shared, local and constant memory and the parameters. */
static void test_one_load_in_every_space(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = ".local .u32 mine;\n"
                             "mad.lo.u32 %r0, %t, 10, 3; st.local.u32 [mine], %r0;\n"
                             "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [word], 500; bar.sync 0;\n"
                             "rem.u32 %r1, %t, 5;\n"
                             "mov.u64 %q0, %out;\n"
                             "st.global.u32 [%out], 900;\n"
                             "mov.u64 %q1, word; cvta.shared.u64 %q1, %q1; setp.eq.u32 %p1, %r1, 1;\n"
                             "selp.b64 %q0, %q1, %q0, %p1;\n"
                             "mov.u64 %q1, mine; cvta.local.u64 %q1, %q1; setp.eq.u32 %p1, %r1, 2;\n"
                             "selp.b64 %q0, %q1, %q0, %p1;\n"
                             "mov.u64 %q1, fixed; cvta.const.u64 %q1, %q1; setp.eq.u32 %p1, %r1, 3;\n"
                             "selp.b64 %q0, %q1, %q0, %p1;\n"
                             "mov.u64 %q1, kernel_out; cvta.param.u64 %q1, %q1; setp.eq.u32 %p1, %r1, 4;\n"
                             "selp.b64 %q0, %q1, %q0, %p1;\n"
                             "ld.u32 %r2, [%q0]; cvt.u32.u64 %r3, %base; setp.eq.u32 %p2, %r2, %r3;\n"
                             "@%p2 mov.u32 %r2, 42; st.global.u32 [%out], %r2;",
                     .module = ".shared .u32 word;\n.const .u32 fixed = 77;\n"});
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t expected[] = {900, 500, 10 * i + 3, 77, 42};
        assert_int_equal(run.out[i], expected[i % 5]);
    }
    /* It is one execution, and an event for each kind of memory. */
    const TraceCounter *load = core_counter(&run, "ld.u32", 0);
    assert_int_equal(load->executions, 1);
    assert_int_equal(load->shared_requests, 1);
    assert_int_equal(load->global_requests, 1);
    uint32_t masks[8], seen = 0;
    int events = core_masks(&run, 0, core_pc(&run, "ld.u32", 0), masks, 8);
    for (int i = 0; i < events; i++) {
        assert_int_equal(seen & masks[i], 0);
        seen |= masks[i];
    }
    assert_int_equal(__builtin_popcount(seen), 32 - 6); /* parameters make no events */
    core_done(&run);
}

/* cvta and cvta.to are inverse; 32-bit shared addresses work too. */
static void test_conversions_of_addresses(void **state) {
    (void)state;
    static const uint32_t expected[] = {5, 6, 7, 5};
    core_expect(
        (CoreKernel){
            .body = "mov.u32 %r0, word; cvt.u64.u32 %q0, %r0; cvta.shared.u64 %q0, %q0; st.u32 [%q0+4], 5;\n"
                    "cvta.to.shared.u64 %q1, %q0; cvt.u32.u64 %r1, %q1; ld.shared.u32 %r2, [%r1+4];\n"
                    "st.global.u32 [%base], %r2;\n"
                    "cvta.to.global.u64 %q2, %base; st.global.u32 [%q2+4], 6; cvta.global.u64 %q2, %q2;\n"
                    "st.u32 [%q2+8], 7; cvta.shared.u64 %q3, word+4; ld.u32 %r3, [%q3]; st.global.u32 "
                    "[%base+12], %r3;",
            .module = ".shared .align 4 .b8 word[8];\n",
            .block = 1,
            .words = 4},
        expected, 4);
}

/* A variable of shared memory named by a generic access; a number as address; addresses in 32 bits. */
static void test_short_ways_to_name_an_address(void **state) {
    (void)state;
    static const uint32_t expected[] = {5, 5, 9, 9};
    core_expect(
        (CoreKernel){.body = "st.u32 [word], 5; ld.u32 %r0, [word]; ld.shared.u32 %r1, [0];\n"
                             "mov.u32 %r2, word; cvta.shared.u32 %r3, %r2; cvta.to.shared.u32 %r3, %r3;\n"
                             "st.shared.u32 [%r3+4], 9; ld.shared.u32 %r2, [%r2+4]; ld.shared.u32 %r3, [4];\n"
                             "st.global.v4.u32 [%base], {%r0, %r1, %r2, %r3};",
                     .module = ".shared .align 4 .b8 word[8];\n",
                     .block = 1,
                     .words = 4},
        expected, 4);
}

/* Without clusters in the launch, each block is a cluster: its own shared memory is the cluster's. */
static void test_clusters_of_one_block(void **state) {
    (void)state;
    static const uint32_t expected[] = {7, 0, 7, 0};
    core_expect(
        (CoreKernel){
            .body = "st.shared.u32 [word], 7; barrier.cluster.arrive; barrier.cluster.wait;\n"
                    "mov.u32 %r0, word; mapa.shared::cluster.u32 %r1, %r0, 0; ld.shared::cluster.u32 %r2, "
                    "[%r1];\n"
                    "getctarank.shared::cluster.u32 %r3, %r1;\n"
                    "mov.u64 %q0, word; cvta.shared.u64 %q0, %q0; mapa.u64 %q1, %q0, 0; ld.u32 %r4, [%q1];\n"
                    "getctarank.u64 %r5, %q1; st.global.v4.u32 [%base], {%r2, %r3, %r4, %r5};",
            .module = ".shared .u32 word;\n",
            .block = 1,
            .words = 4},
        expected, 4);
}

/* ---- parameters of the kernel -------------------------------------------------------------------------- */

static void test_parameters(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .module =
            ".visible .entry kernel(.param .u64 p)\n{ .reg .b64 %q<4>; .reg .b32 %r<8>; .reg .b16 %h<4>;\n"
            "ld.param.u64 %q0, [p]; ld.param.v2.u32 {%r0, %r1}, [p]; ld.param.u8 %r2, [p+4]; ld.param.s16 "
            "%r3, [p+2];\n"
            "ld.param.v4.u16 {%h0, %h1, %h2, %h3}, [p]; ld.param.s8 %q1, [p+3]; cvt.u32.u64 %r4, %q1;\n"
            "cvt.u32.u16 %r5, %h1; st.global.v2.u32 [%q0], {%r0, %r1}; st.global.v4.u32 [%q0+16], {%r2, %r3, "
            "%r4, %r5}; ret; }\n",
        .block = 1,
        .words = 8});
    uint64_t address = emulator_buffer_address(run.emulator, 0);
    assert_int_equal(run.out[0], (uint32_t)address);
    assert_int_equal(run.out[1], address >> 32);
    assert_int_equal(run.out[4], address >> 32 & 0xff);
    assert_int_equal(run.out[5], (uint32_t)(int16_t)(address >> 16));
    assert_int_equal(run.out[6], (uint32_t)(int8_t)(address >> 24));
    assert_int_equal(run.out[7], address >> 16 & 0xffff);
    core_done(&run);
}

/* ---- local memory -------------------------------------------------------------------------------------- */

/* Threads index their own arrays differently. */
static void test_local_arrays(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = ".local .align 4 .b8 mine[400];\n"
                "mov.u32 %r0, 0; mov.u64 %q0, mine; mov.u64 %q1, %q0;\n"
                "FILL: mad.lo.u32 %r1, %i, 1000, %r0; st.local.u32 [%q1], %r1;\n"
                "add.s64 %q1, %q1, 4; add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 100; @%p0 bra FILL;\n"
                "mul.lo.u32 %r2, %t, 37; rem.u32 %r2, %r2, 100; mul.wide.u32 %q2, %r2, 4;\n"
                "add.s64 %q2, %q0, %q2; ld.local.u32 %r3, [%q2]; st.global.u32 [%out], %r3;",
        .grid = 2,
        .block = 64});
    for (uint32_t i = 0; i < 128; i++) assert_int_equal(run.out[i], 1000 * i + i % 64 * 37 % 100);
    core_done(&run);
}

/* ---- variables of the module --------------------------------------------------------------------------- */

static void test_module_variables(void **state) {
    (void)state;
    static const uint32_t expected[] = {11, 22, 33, 44, 22};
    core_expect(
        (CoreKernel){.body =
                         "ld.const.u32 %r0, [one]; st.global.u32 [%base], %r0;\n"
                         "mov.u64 %q0, list; ld.global.u32 %r0, [%q0+4]; st.global.u32 [%base+4], %r0;\n"
                         "ld.global.u64 %q1, [pointer]; ld.u32 %r0, [%q1]; st.global.u32 [%base+8], %r0;\n"
                         "ld.global.u8 %r0, [bytes+3]; st.global.u32 [%base+12], %r0;\n"
                         "ld.global.u64 %q1, [middle]; ld.u32 %r0, [%q1]; st.global.u32 [%base+16], %r0;",
                     .module = ".const .u32 one = 11;\n.global .u32 list[3] = {21, 22, 33};\n"
                               ".global .u64 pointer = generic(list)+8;\n.global .u64 middle = list+4;\n"
                               ".global .b8 bytes[4] = {41, 42, 43, 44};\n",
                     .block = 1,
                     .words = 5},
        expected, 5);
}

/* Static shared variables are separate, the dynamic ones come after them. */
static void test_shared_layout(void **state) {
    (void)state;
    static const uint32_t expected[] = {0, 8, 16, 48, 1, 2, 3, 4};
    core_expect(
        (CoreKernel){
            .body = "mov.u32 %r0, a; mov.u32 %r1, b; mov.u32 %r2, c; mov.u32 %r3, dynamic;\n"
                    "st.global.v4.u32 [%base], {%r0, %r1, %r2, %r3};\n"
                    "st.shared.u32 [a], 1; st.shared.u32 [b], 2; st.shared.u32 [c+28], 3; st.shared.u32 "
                    "[dynamic], 4;\n"
                    "ld.shared.u32 %r0, [a]; ld.shared.u32 %r1, [b]; ld.shared.u32 %r2, [c+28];\n"
                    "ld.shared.u32 %r3, [dynamic]; st.global.v4.u32 [%base+16], {%r0, %r1, %r2, %r3};",
            .module = ".shared .align 4 .b8 a[5];\n.shared .align 8 .b8 b[8];\n.shared .align 16 .b8 c[32];\n"
                      ".extern .shared .align 16 .b8 dynamic[];\n",
            .shared_bytes = 4,
            .block = 1,
            .words = 8},
        expected, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extension),
        cmocka_unit_test(test_narrow_stores),
        cmocka_unit_test(test_vectors_in_every_space),
        cmocka_unit_test(test_sinks_and_vector_registers),
        cmocka_unit_test(test_wide_accesses),
        cmocka_unit_test(test_one_load_in_every_space),
        cmocka_unit_test(test_conversions_of_addresses),
        cmocka_unit_test(test_short_ways_to_name_an_address),
        cmocka_unit_test(test_clusters_of_one_block),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_local_arrays),
        cmocka_unit_test(test_module_variables),
        cmocka_unit_test(test_shared_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
