/* Rare instructions and operands, one each: the result of thread 5 of 32. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

static const char module[] = ".shared .align 16 .b8 words[256];\n.const .align 4 .b32 table[3] = {7, 8, 9};\n"
                             ".global .align 4 .b32 cell = 40;\n.global .align 8 .b64 wide = 40;\n";

static const struct {
    const char *body; /* gives %r0 its value */
    uint32_t expected;
} corners[] = {
    /* Shifts by a constant: an amount beyond the width shifts everything out. */
    {"mov.u32 %r1, 0x80000401; shl.b32 %r0, %r1, 0;", 0x80000401},
    {"mov.u32 %r1, 0x80000401; shl.b32 %r0, %r1, 3;", 0x2008},
    {"mov.u32 %r1, 0x80000401; shl.b32 %r0, %r1, 31;", 0x80000000},
    {"mov.u32 %r1, 0x80000401; shl.b32 %r0, %r1, 32;", 0},
    {"mov.u32 %r1, 0x80000401; shr.u32 %r0, %r1, 10;", 0x200001},
    {"mov.u32 %r1, 0x80000401; shr.u32 %r0, %r1, 32;", 0},
    {"mov.u32 %r1, 0x80000401; shr.u32 %r0, %r1, 300;", 0},
    {"mov.u32 %r1, 0x80000401; shr.s32 %r0, %r1, 10;", 0xffe00001},
    {"mov.u32 %r1, 0x80000401; shr.s32 %r0, %r1, 32;", 0xffffffff},
    {"mov.u32 %r1, 0x40000401; shr.s32 %r0, %r1, 99;", 0},
    {"mov.u64 %q0, 0x8000000000000401; shl.b64 %q1, %q0, 60; shr.u64 %q1, %q1, 40; cvt.u32.u64 %r0, %q1;",
     0x100000},
    {"mov.u64 %q0, 0x8000000000000401; shl.b64 %q1, %q0, 64; cvt.u32.u64 %r0, %q1;", 0},
    {"mov.u64 %q0, 0x8000000000000401; shr.u64 %q1, %q0, 64; cvt.u32.u64 %r0, %q1;", 0},
    {"mov.u64 %q0, 0x8000000000000401; shr.s64 %q1, %q0, 40; cvt.u32.u64 %r0, %q1;", 0xff800000},
    {"mov.u64 %q0, 0x8000000000000401; shr.s64 %q1, %q0, 70; cvt.u32.u64 %r0, %q1;", 0xffffffff},
    {"mov.u16 %h0, 0x8401; shl.b16 %h1, %h0, 4; cvt.u32.u16 %r0, %h1;", 0x4010},
    {"mov.u16 %h0, 0x8401; shr.s16 %h1, %h0, 16; cvt.u32.u16 %r0, %h1;", 0xffff},
    /* saturation */
    {"mov.u32 %r1, 5; sub.sat.s32 %r0, 0x80000000, %r1;", 0x80000000},
    {"mov.u32 %r1, 5; add.sat.s32 %r0, 0x7ffffffe, %r1;", 0x7fffffff},
    /* operands */
    {"mov.u32 %r0, WARP_SZ;", 32},
    {"add.u32 %r0, %t, WARP_SZ;", 37},
    {"mov.u32 %r0, %dynamic_smem_size;", 64},
    {"mov.u32 %r1, words; st.shared.u32 [%r1], %t; mov.u32 %r0, %total_smem_size;", 384},
    {"mov.u32 %r0, %laneid;", 5},
    {"mov.u32 %r0, %lanemask_lt;", 31},
    {"mov.u32 %r0, %lanemask_ge;", 0xffffffe0},
    {"mov.u32 %r0, %nwarpid;", 64},
    {"mov.u32 %r0, %envreg7;", 0},
    /* constants, parameters and shared memory through generic addresses */
    {"ld.const.u32 %r0, [table+8];", 9},
    {"cvta.const.u64 %q0, table; ld.u32 %r0, [%q0+4];", 8},
    {"mov.u32 %r1, words; st.shared.u32 [%r1+16], 77; cvta.shared.u64 %q0, words; ld.u32 %r0, [%q0+16];", 77},
    {"cvta.shared.u64 %q0, words; st.u16 [%q0+2], %q0; st.u32 [%q0+4], 5; ld.shared.u32 %r0, [words+4];", 5},
    {"mov.u64 %q0, 0x1234567890abcdef; mov.u32 %r1, words; st.shared.u32 [%r1], 0; st.shared.u16 [%r1+2], "
     "%q0;\n"
     "ld.shared.u32 %r0, [%r1];",
     0xcdef0000},
    {"mov.u64 %q0, 0x1234567890abcdef; mov.u32 %r1, words; st.shared.u32 [%r1], 0; st.shared.u8 [%r1+1], "
     "%q0;\n"
     "ld.shared.u32 %r0, [%r1];",
     0xef00},
    {"ldu.global.u32 %r0, [cell];", 40},
    {"ld.global.nc.u32 %r0, [cell];", 40},
    /* atomics of floats; NaN gives way to a number */
    {"st.global.f32 [cell], 0f40400000; bar.warp.sync -1; atom.global.min.f32 %f0, [cell], 0f3FC00000;\n"
     "bar.warp.sync -1; ld.global.u32 %r0, [cell];",
     0x3fc00000},
    {"st.global.f32 [cell], 0f40400000; bar.warp.sync -1; red.global.max.f32 [cell], 0f7FC00000;\n"
     "bar.warp.sync -1; ld.global.u32 %r0, [cell];",
     0x40400000},
    {"st.global.f32 [cell], 0fBF800000; bar.warp.sync -1; red.global.max.f32 [cell], 0fC0000000;\n"
     "bar.warp.sync -1; ld.global.u32 %r0, [cell];",
     0xbf800000},
    {"st.global.f64 [wide], 0d4008000000000000; bar.warp.sync -1; red.global.min.f64 [wide], "
     "0dC008000000000000;\n"
     "bar.warp.sync -1; ld.global.u32 %r0, [wide+4];",
     0xc0080000},
    /* Hints for caches, power and profilers, which have no effect here. */
    {"mov.u32 %r0, 6; prefetch.global.L2 [cell]; prefetchu.L1 [%base]; applypriority.global.L2::evict_normal "
     "[%base], 128;\ndiscard.global.L2 [%base], 128; pmevent 3; griddepcontrol.wait;",
     6},
    {"mov.u64 %q0, 5; createpolicy.fractional.L2::evict_last.b64 %q0, 1.0;\n"
     "ld.global.L2::cache_hint.u32 %r0, [cell], %q0;",
     40},
    {"mov.u32 %r0, 4; nanosleep.u32 100; membar.sys;", 4},
    /* Floats, and flushed results. */
    {"mov.f32 %f0, 0f00000001; mov.f32 %f1, 0f3F800000; div.approx.ftz.f32 %f2, %f0, %f1; mov.b32 %r0, %f2;",
     0},
    {"mov.f32 %f0, 0f40800000; rsqrt.approx.ftz.f32 %f1, %f0; mov.b32 %r0, %f1;", 0x3f000000},
    {"mov.f32 %f0, 0f80000001; cos.approx.ftz.f32 %f1, %f0; mov.b32 %r0, %f1;", 0x3f800000},
    {"mov.f32 %f0, 0f00000000; tanh.approx.f32 %f1, %f0; mov.b32 %r0, %f1;", 0},
    {"mov.f32 %f0, 0f80000001; rsqrt.approx.ftz.f32 %f1, %f0; mov.b32 %r0, %f1;", 0xff800000},
    /* whole warps */
    {"redux.sync.add.u32 %r0, %t, -1;", 496},
    {"setp.lt.u32 %p0, %t, 9; vote.sync.ballot.b32 %r0, %p0, -1;", 0x1ff},
};

static bool is_as_expected(const char *body, uint32_t expected) {
    Text whole = {0};
    text_print(&whole, "%s\nst.global.u32 [%%out], %%r0;", body);
    CoreRun run = core_run((CoreKernel){.body = text_string(&whole), .module = module, .shared_bytes = 64});
    const Trap *trap = run.trace->trap_count ? run.trace->traps : NULL;
    bool good = run.done && !trap && run.out[5] == expected;
    if (!good)
        print_error("%s: %s 0x%x, expected 0x%x\n", body,
                    trap       ? trap->detail
                    : run.done ? ""
                               : run.error.message,
                    run.out[5], expected);
    core_done(&run);
    text_done(&whole);
    return good;
}

static void test_corners(void **state) {
    (void)state;
    bool good = true;
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++)
        good &= is_as_expected(corners[i].body, corners[i].expected);
    assert_true(good);
}

/* More constants than fit in a small table. */
static void test_many_constants(void **state) {
    (void)state;
    Text body = {0};
    uint32_t sum = 0;
    text_add(&body, "mov.u32 %r0, 0; mov.u64 %q0, 0;\n");
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t number = i * 2654435761u;
        text_print(&body, "add.u32 %%r0, %%r0, %u; add.u64 %%q0, %%q0, %u;\n", number, number ^ 5);
        sum += number + (number ^ 5);
    }
    text_add(&body, "cvt.u32.u64 %r1, %q0; add.u32 %r0, %r0, %r1; st.global.u32 [%out], %r0;");
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&body)});
    for (int i = 0; i < 32; i++) assert_int_equal(run.out[i], sum);
    core_done(&run);
    text_done(&body);
}

/* More module variables than fit in a small table, each with its own value. */
static void test_many_variables(void **state) {
    (void)state;
    Text variables = {0}, body = {0};
    for (int i = 0; i < 100; i++) {
        text_print(&variables, ".global .align 4 .b32 v%d = %d;\n", i, i * i);
        text_print(&body, "ld.global.u32 %%r1, [v%d]; st.global.u32 [%%base+%d], %%r1;\n", i, 4 * i);
    }
    CoreRun run = core_run_well((CoreKernel){
        .body = text_string(&body), .module = text_string(&variables), .block = 1, .words = 100});
    for (int i = 0; i < 100; i++) assert_int_equal(run.out[i], i * i);
    core_done(&run);
    text_done(&variables);
    text_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corners), cmocka_unit_test(test_many_constants),
                                       cmocka_unit_test(test_many_variables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
