/* Faulty accesses, and the sentences of their traps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include "ptx/opcodes.h"

/* ---- global memory ------------------------------------------------------------------------------------- */

static void test_past_the_end(void **state) {
    (void)state;
    Trap trap =
        core_run_trap((CoreKernel){.body = "st.global.u32 [%out+8], %t;", .grid = 2}, TRAP_OUT_OF_BOUNDS,
                      "just past the end of `out` (256 bytes) (thread 30 of the block and others)");
    assert_int_equal(trap.lanes, 0xc0000000);
    assert_int_equal(trap.block[0], 1);
    assert_int_equal(trap.warp, 0);
    core_run_trap(
        (CoreKernel){.body = "setp.eq.u32 %p0, %t, 37; @%p0 ld.global.u32 %r0, [%base+1000];", .block = 64},
        TRAP_OUT_OF_BOUNDS, "744 bytes past the end of `out` (256 bytes) (thread 37 of the block)");
    core_run_trap((CoreKernel){.body = "ld.global.u64 %q0, [%base+128];", .words = 33}, TRAP_OUT_OF_BOUNDS,
                  "8 bytes at offset 128 of `out` (132 bytes) reach past its end");
}

static void test_before_the_start(void **state) {
    (void)state;
    Trap trap = core_run_trap((CoreKernel){.body = "ld.global.u32 %r0, [%out-20];"}, TRAP_OUT_OF_BOUNDS,
                              "20 bytes before the start of `out` (128 bytes)");
    assert_int_equal(trap.lanes, 0x1f);
}

/* `table` follows `out` in memory: the nearer one is named. */
static void test_nearest_buffer(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "mov.u64 %q0, table; ld.global.u32 %r0, [%q0-12];",
                         .module = ".global .u32 table[10];\n"};
    core_run_trap(kernel, TRAP_OUT_OF_BOUNDS, "12 bytes before the start of `table` (40 bytes)");
    kernel.body = "mov.u64 %q0, table; ld.global.u32 %r0, [%q0+44];";
    core_run_trap(kernel, TRAP_OUT_OF_BOUNDS, "4 bytes past the end of `table` (40 bytes)");
    /* Nearer to `table`, but the address is derived from the parameter that points to `out`. */
    kernel.body = "ld.global.u32 %r0, [table]; ld.global.u32 %r1, [%base+65700];";
    core_run_trap(kernel, TRAP_OUT_OF_BOUNDS, "65572 bytes past the end of `out` (128 bytes)");
}

static void test_null(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "mov.u64 %q0, 0; ld.global.u32 %r0, [%q0];"}, TRAP_OUT_OF_BOUNDS,
                  "address 0x0 is a null pointer (thread");
    core_run_trap((CoreKernel){.body = "mov.u64 %q0, 0; st.u32 [%q0+16], %t;"}, TRAP_OUT_OF_BOUNDS,
                  "address 0x10 is a null pointer with an offset");
}

static void test_wild_pointers(void **state) {
    (void)state;
    static const char *const addresses[] = {"-1",
                                            "0x7fffffffffffffff",
                                            "0x8000000000000000",
                                            "0xfffffffffffffff8",
                                            "0x0000800300000000",
                                            "0x00007f04ffffffff"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        Text body = {0};
        text_print(&body, "mov.u64 %%q0, %s; ld.u8 %%r0, [%%q0];", addresses[i]);
        core_run_trap((CoreKernel){.body = text_string(&body)}, TRAP_OUT_OF_BOUNDS, "");
        text_clear(&body);
        text_print(&body,
                   "mov.u64 %%q0, %s; mul.wide.u32 %%q1, %%t, 0x40000000; add.s64 %%q0, %%q0, %%q1;"
                   "st.global.u8 [%%q0], %%r0;",
                   addresses[i]);
        core_run_trap((CoreKernel){.body = text_string(&body)}, TRAP_OUT_OF_BOUNDS, "");
        text_done(&body);
    }
}

static void test_misaligned(void **state) {
    (void)state;
    Trap trap = core_run_trap(
        (CoreKernel){.body = "mul.wide.u32 %q0, %t, 2; add.s64 %q0, %base, %q0; ld.global.u32 %r0, [%q0];"},
        TRAP_MISALIGNED, "4-byte access at address 0x");
    assert_int_equal(trap.lanes, 0xaaaaaaaa);
    core_run_trap((CoreKernel){.body = "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%base+8];"}, TRAP_MISALIGNED,
                  "16-byte access");
    core_run_trap((CoreKernel){.body = "mov.u32 %r0, 6; st.shared.u32 [%r0], %t;", .shared_bytes = 64},
                  TRAP_MISALIGNED, "4-byte access at address 0x6");
    core_run_trap((CoreKernel){.body = "atom.global.add.u32 %r0, [%base+2], 1;"}, TRAP_MISALIGNED,
                  "4-byte access");
}

/* ---- shared, local, parameters, constants -------------------------------------------------------------- */

static void test_shared_bounds(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "mov.u32 %r1, a; shl.b32 %r0, %t, 2; mov.u32 %r1, b; add.u32 %r1, %r1, %r0; "
                                 "st.shared.u32 [%r1], %t;",
                         .module = ".shared .align 4 .b8 a[8];\n.shared .align 4 .b8 b[100];\n"};
    Trap trap =
        core_run_trap(kernel, TRAP_OUT_OF_BOUNDS,
                      "4-byte access at shared offset 108: just past the end of `b` (100 bytes) (thread 25");
    assert_int_equal(trap.lanes, 0xfe000000);
    kernel.body = "mov.u32 %r0, a; sub.u32 %r0, %r0, 4; ld.shared.u32 %r1, [%r0];";
    core_run_trap(kernel, TRAP_OUT_OF_BOUNDS, "4 bytes before the start of shared memory");
    kernel.body = "mov.u32 %r0, a; mov.u32 %r0, b; ld.shared.u16 %h0, [%r0+100];";
    core_run_trap(kernel, TRAP_OUT_OF_BOUNDS, "just past the end of `b`");
    core_run_trap((CoreKernel){.body = "mov.u32 %r0, 0; ld.shared.u32 %r1, [%r0];"}, TRAP_OUT_OF_BOUNDS,
                  "the block has 0 bytes of shared memory");
    core_run_trap(
        (CoreKernel){.body = "mov.u32 %r0, 96; ld.shared.v2.u32 {%r1, %r2}, [%r0];", .shared_bytes = 100},
        TRAP_OUT_OF_BOUNDS, "it reaches past the end of shared memory");
}

static void test_shared_through_a_generic_address(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "mov.u64 %q0, a; cvta.shared.u64 %q0, %q0; ld.u32 %r0, [%q0+8];",
                               .module = ".shared .align 4 .b8 a[8];\n"},
                  TRAP_OUT_OF_BOUNDS, "just past the end of `a` (8 bytes)");
}

static void test_local_bounds(void **state) {
    (void)state;
    static const char locals[] = "{ .local .align 16 .b8 room[64]; ";
    Text body = {0};
    text_print(&body, "%smov.u64 %%q0, room; st.local.u32 [%%q0+64], %%t; }", locals);
    core_run_trap((CoreKernel){.body = text_string(&body)}, TRAP_OUT_OF_BOUNDS,
                  "4-byte access at local offset 64: the thread has 64 bytes there");
    text_done(&body);
}

static void test_writes_to_constants(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "mov.u64 %q0, fixed; cvta.const.u64 %q0, %q0; st.u32 [%q0], %t;",
                         .module = ".const .u32 fixed[4] = {1, 2, 3, 4};\n"};
    core_run_trap(kernel, TRAP_READ_ONLY, "write to `fixed`, which is constant memory");
    kernel.body = "mov.u64 %q0, fixed; atom.global.add.u32 %r0, [%q0], 1;";
    core_run_trap(kernel, TRAP_READ_ONLY, "write to `fixed`");
    kernel.body = "mov.u64 %q0, kernel_out; cvta.param.u64 %q0, %q0; st.u32 [%q0], %t;";
    core_run_trap(kernel, TRAP_READ_ONLY, "write to the kernel's parameters");
}

static void test_parameter_bounds(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "ld.param.u32 %r0, [kernel_out+8];"}, TRAP_NOT_EMULATED,
                  "8 bytes of parameters");
    core_run_trap((CoreKernel){.body = "mov.u64 %q0, kernel_out; ld.param.u32 %r0, [%q0+8];"},
                  TRAP_OUT_OF_BOUNDS, "offset 8, outside the parameters");
}

/* ---- poison -------------------------------------------------------------------------------------------- */

/* Reading memory that was never written is reported, but the run continues. */
static void test_uninitialized(void **state) {
    (void)state;
    CoreRun run =
        core_run((CoreKernel){.body = "shl.b32 %r0, %t, 2; mov.u32 %r1, a; add.u32 %r1, %r1, %r0;\n"
                                      "setp.ne.u32 %p0, %t, 3; @%p0 st.shared.u32 [%r1], %t;\n"
                                      "bar.sync 0; ld.shared.u32 %r2, [%r1]; st.global.u32 [%out], %r2;",
                              .module = ".shared .align 4 .b8 a[128];\n"});
    assert_true(run.done);
    assert_int_equal(run.trace->trap_count, 1);
    assert_int_equal(run.trace->traps[0].kind, TRAP_UNINITIALIZED);
    assert_int_equal(run.trace->traps[0].lanes, 8);
    assert_string_equal(run.trace->traps[0].detail,
                        "shared memory at offset 12 is read but was never written (thread 3 of the block)");
    for (uint32_t lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane == 3 ? 0xa5a5a5a5 : lane);
    core_done(&run);
}

/* Lanes from 24 on read a tail that nothing has written: a fault, at the load, where the value is used. */
static void test_unwritten_shared_values_are_followed(void **state) {
    (void)state;
    static const struct {
        const char *use; /* of %r2; %p0: the lane's word is written; %q0: its place in `out` */
        bool is_fault;
    } cases[] = {
        {"@%p0 st.global.u32 [%q0], %r2;", false},
        {"st.global.u32 [%q0], %r2;", true},
        {"add.u32 %r3, %r2, 1; selp.u32 %r3, %r3, 0, %p0; st.global.u32 [%q0], %r3;", false},
        {"add.u32 %r3, %r2, 1; selp.u32 %r3, 0, %r3, %p0; st.global.u32 [%q0], %r3;", true},
        {"shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; @%p0 st.global.u32 [%q0], %r3;", false},
        {"shfl.sync.bfly.b32 %r3, %r2, 8, 31, -1; @%p0 st.global.u32 [%q0], %r3;", true},
        {"setp.eq.u32 %p1, %r2, 7; @%p1 bra OVER; OVER:", true},
        {"@%p0 st.shared.u32 [%r1+128], %r2;", false},
        {"st.shared.u32 [%r1+128], %r2;", false},
        {"st.shared.u32 [%r1+128], %r2; ld.shared.u32 %r3, [%r1+128]; add.u32 %r3, %r3, %r2;\n"
         "st.global.u32 [%q0], %r3;",
         true},
        {"st.shared.u32 [%r1+128], %r2; atom.shared.add.u32 %r3, [%r1+128], 1;", true},
        {"st.shared.u32 [%r1+128], %r2; ld.shared.u32 %r3, [%r1+128]; @%p0 st.global.u32 [%q0], %r3;", false},
        {"st.shared.u32 [%r1+128], %r2; st.shared.u32 [%r1+128], 1; ld.shared.u32 %r3, [%r1+128];\n"
         "st.global.u32 [%q0], %r3;",
         false},
        {"st.shared.u16 [%r1+128], %r2; st.shared.u16 [%r1+130], 1; ld.shared.u16 %r3, [%r1+130];\n"
         "st.global.u16 [%q0], %r3;",
         false},
        {"st.global.u32 [%q0], %r2; st.global.u32 [%q0], %r2;", true}, /* one fault */
        {"ld.shared.u16 %r2, [%r1]; @%p0 st.global.u32 [%q0], %r2;", false},
        {"atom.shared.add.u32 %r2, [%r1], 1;", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body,
                   "shl.b32 %%r0, %%t, 2; mov.u32 %%r1, a; add.u32 %%r1, %%r1, %%r0;\n"
                   "mul.wide.u32 %%q0, %%t, 4; add.s64 %%q0, %%q0, %%base;\n"
                   "setp.lt.u32 %%p0, %%t, 24; @%%p0 st.shared.u32 [%%r1], %%t;\n"
                   "bar.sync 0; ld.shared.u32 %%r2, [%%r1];\n%s\n",
                   cases[i].use);
        CoreRun run =
            core_run((CoreKernel){.body = text_string(&body), .module = ".shared .align 4 .b8 a[256];\n"});
        assert_true(run.done);
        if (run.trace->trap_count != cases[i].is_fault) fail_msg("%s", cases[i].use);
        if (cases[i].is_fault) {
            const Trap *trap = &run.trace->traps[0];
            assert_int_equal(trap->kind, TRAP_UNINITIALIZED);
            assert_int_equal(trap->lanes, 0xff000000);
            assert_string_equal(
                trap->detail,
                "shared memory at offset 96 is read but was never written (thread 24 of the block)");
        }
        core_done(&run);
        text_done(&body);
    }
}

/* A tile of which 24 words are written is copied as a whole; a use of the others is a fault of the first
 * load. */
static void test_unwritten_shared_memory_is_copied(void **state) {
    (void)state;
    CoreRun run =
        core_run((CoreKernel){.body = "shl.b32 %r0, %t, 2; mov.u32 %r1, a; add.u32 %r1, %r1, %r0;\n"
                                      "mul.wide.u32 %q0, %t, 4; add.s64 %q0, %q0, %base;\n"
                                      "setp.lt.u32 %p0, %t, 24; @%p0 st.shared.u32 [%r1], %t;\n"
                                      "bar.sync 0; ld.shared.u32 %r2, [%r1]; st.shared.u32 [%r1+128], %r2;\n"
                                      "bar.sync 0; ld.shared.u32 %r3, [%r1+128]; st.global.u32 [%q0], %r3;",
                              .module = ".shared .align 4 .b8 a[256];\n"});
    assert_int_equal(run.trace->trap_count, 1);
    assert_int_equal(run.trace->traps[0].kind, TRAP_UNINITIALIZED);
    assert_int_equal(run.trace->traps[0].lanes, 0xff000000);
    assert_int_equal(run.trace->traps[0].pc, core_pc(&run, "ld.shared", 0));
    assert_string_equal(run.trace->traps[0].detail,
                        "shared memory at offset 96 is read but was never written (thread 24 of the block)");
    core_done(&run);
}

/* Every block begins with unwritten shared memory. */
static void test_shared_memory_does_not_survive_its_block(void **state) {
    (void)state;
    CoreRun run = core_run((CoreKernel){.body = "mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 0;\n"
                                                "@%p0 st.shared.u32 [a], %t; @!%p0 ld.shared.u32 %r1, [a];\n"
                                                "st.global.u32 [%out], %r1;",
                                        .module = ".shared .u32 a;\n",
                                        .grid = 2});
    assert_int_equal(run.trace->trap_count, 1);
    assert_int_equal(run.trace->traps[0].kind, TRAP_UNINITIALIZED);
    assert_int_equal(run.trace->traps[0].block[0], 1);
    assert_int_equal(run.out[32], 0xa5a5a5a5);
    core_done(&run);
}

/* A structure of a char and an int is copied with its padding, bytes 1 to 3; then a part of the copy is
 * stored. A use of unwritten bytes is a fault, at the load that read them. */
static void test_padding_is_copied(void **state) {
    (void)state;
    static const struct {
        const char *use; /* of the copy at pair+8, and of its whole in %q0 */
        bool is_fault;
    } cases[] = {
        {"ld.local.u8 %r1, [pair+8];", false},
        {"ld.local.u8 %r1, [pair+9];", true},
        {"ld.local.u32 %r1, [pair+12];", false},
        {"ld.local.u32 %r1, [pair+8];", true},
        {"ld.local.u32 %r1, [pair+8]; and.b32 %r1, %r1, 255;", false},
        {"ld.local.u32 %r1, [pair+8]; and.b32 %r1, %r1, 511;", true},
        {"mov.b64 {%r2, %r1}, %q0;", false},
        {"mov.b64 {%r1, %r2}, %q0;", true},
        {"mov.b64 {%r1, %r2}, %q0; mov.b64 %q1, {%r2, %r1}; cvt.u32.u64 %r1, %q1;", false},
        {"mov.b64 {%r1, %r2}, %q0; mov.b64 %q1, {%r1, %r2}; cvt.u32.u64 %r1, %q1;", true},
        {"shr.u64 %q1, %q0, 32; cvt.u32.u64 %r1, %q1;", false},
        {"shr.u64 %q1, %q0, 24; cvt.u32.u64 %r1, %q1;", true},
        {"cvt.u32.u64 %r2, %q0; st.local.u8 [pair], %r2; ld.local.u8 %r1, [pair];", false},
        {"st.local.u32 [pair+8], 0; ld.local.u32 %r1, [pair+8];", false},
        {"st.local.u8 [pair+9], 0; ld.local.u16 %r1, [pair+8];", false},
        {"st.local.u8 [pair+10], 0; ld.local.u16 %r1, [pair+8];", true},
        {"ld.local.u8 %r2, [pair+9]; setp.eq.u32 %p0, %r2, 7; mov.u32 %r1, 0; @%p0 bra OVER; OVER:", true},
        {"ld.local.u8 %r2, [pair+9]; add.u32 %r2, %r2, 1; mov.u32 %r1, 0;", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body,
                   ".local .align 8 .b8 pair[16]; st.local.u8 [pair], 1; st.local.u32 [pair+4], %%t;\n"
                   "ld.local.u64 %%q0, [pair]; st.local.u64 [pair+8], %%q0; mov.u32 %%r1, 0;\n%s\n"
                   "st.global.u32 [%%out], %%r1;",
                   cases[i].use);
        CoreRun run = core_run((CoreKernel){.body = text_string(&body)});
        assert_true(run.done);
        if (run.trace->trap_count != cases[i].is_fault) fail_msg("%s", cases[i].use);
        if (cases[i].is_fault) {
            const Trap *trap = &run.trace->traps[0];
            assert_int_equal(trap->kind, TRAP_UNINITIALIZED);
            assert_int_equal(trap->lanes, 0xffffffff);
            assert_int_equal(run.program->code[trap->pc].instruction->opcode, PTX_ld);
            assert_non_null(
                strstr(trap->detail, "local memory is read but was never written, and its value"));
        }
        core_done(&run);
        text_done(&body);
    }
}

/* ---- the place of the trap ----------------------------------------------------------------------------- */

/* The instruction that traps has no effect, and nothing after it runs. */
static void test_nothing_happens_after_a_trap(void **state) {
    (void)state;
    CoreRun run = core_run((CoreKernel){
        .body = "st.global.u32 [%out], 1; st.global.u32 [%out+4], 2; st.global.u32 [%out], 3;", .block = 64});
    assert_int_equal(run.trace->trap_count, 1);
    assert_int_equal(run.trace->traps[0].warp, 1);
    for (int i = 0; i < 32; i++) assert_in_range(run.out[1 + i], 1, 2);
    for (int i = 34; i < 64; i++) assert_int_equal(run.out[i], 1);
    assert_int_equal(run.launch->counters[core_pc(&run, "st.global", 2)].executions, 0);
    core_done(&run);
}

static void test_trap_instruction(void **state) {
    (void)state;
    Trap trap = core_run_trap((CoreKernel){.body = "setp.gt.u32 %p0, %t, 29; @%p0 trap;"},
                              TRAP_TRAP_INSTRUCTION, "trap");
    assert_int_equal(trap.lanes, 0xc0000000);
}

static void test_not_emulated_only_when_executed(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "setp.gt.u32 %p0, %t, 1000; @!%p0 bra OVER;\n"
                                 "tcgen05.fence::before_thread_sync;\n"
                                 "OVER: st.global.u32 [%out], 1;"};
    CoreRun run = core_run_well(kernel);
    assert_int_equal(run.out[5], 1);
    core_done(&run);
    kernel.body = "tcgen05.fence::before_thread_sync;";
    core_run_trap(kernel, TRAP_NOT_EMULATED, "tcgen05.fence::before_thread_sync");
}

static void test_forms_that_do_not_exist(void **state) {
    (void)state;
    static const char *const bodies[] = {"{ .reg .b128 x; st.global.u32 [%base], x; }",
                                         "{ .reg .b128 x; ld.global.u32 x, [%base]; }",
                                         "st.global.b128 [%base], %q0;",
                                         "ld.global.b128 %q0, [%base];",
                                         "ld.global.u32 %h0, [%base];",
                                         "ld.global.v4.u64 {%q0, %q1, %q2, %q3}, [%h0];",
                                         "ld.global.pred %p0, [%base];",
                                         "st.global.u32 [%base], %p0;",
                                         "ld.global.v2.u32 {%r0, %r1, %r2}, [%base];",
                                         "shfl.sync.idx.b32 %q0, %r0, 0, 31, -1;",
                                         "bar.sync %q0;",
                                         "cvta.shared.u64 %r0, %q0;"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        core_run_trap((CoreKernel){.body = bodies[i]}, TRAP_NOT_EMULATED, "");
}

/* A misspelt suffix must not give another instruction. */
static void test_suffixes_that_nobody_knows(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = "ld.glbal.u32 %r0, [%base];"}, TRAP_NOT_EMULATED, "ld.glbal.u32");
    core_run_trap((CoreKernel){.body = "bar.snyc 0;"}, TRAP_NOT_EMULATED, "bar.snyc");
    core_run_trap((CoreKernel){.body = "add.unheard.u32 %r0, %t, 1;"}, TRAP_NOT_EMULATED, ".unheard");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_past_the_end),
        cmocka_unit_test(test_before_the_start),
        cmocka_unit_test(test_nearest_buffer),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_wild_pointers),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_shared_bounds),
        cmocka_unit_test(test_shared_through_a_generic_address),
        cmocka_unit_test(test_local_bounds),
        cmocka_unit_test(test_writes_to_constants),
        cmocka_unit_test(test_parameter_bounds),
        cmocka_unit_test(test_uninitialized),
        cmocka_unit_test(test_unwritten_shared_values_are_followed),
        cmocka_unit_test(test_padding_is_copied),
        cmocka_unit_test(test_unwritten_shared_memory_is_copied),
        cmocka_unit_test(test_shared_memory_does_not_survive_its_block),
        cmocka_unit_test(test_nothing_happens_after_a_trap),
        cmocka_unit_test(test_trap_instruction),
        cmocka_unit_test(test_not_emulated_only_when_executed),
        cmocka_unit_test(test_forms_that_do_not_exist),
        cmocka_unit_test(test_suffixes_that_nobody_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
