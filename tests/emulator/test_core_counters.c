/* The counters of each instruction, against counts by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

static void expect_counter(const CoreRun *run, const char *text, int index, TraceCounter expected) {
    const TraceCounter *got = core_counter(run, text, index);
    const struct {
        const char *name;
        uint64_t got, expected;
    } fields[] = {{"executions", got->executions, expected.executions},
                  {"lanes", got->lanes, expected.lanes},
                  {"requests", got->requests, expected.requests},
                  {"shared requests", got->shared_requests, expected.shared_requests},
                  {"global requests", got->global_requests, expected.global_requests},
                  {"wavefronts", got->wavefronts, expected.wavefronts},
                  {"ideal wavefronts", got->ideal_wavefronts, expected.ideal_wavefronts},
                  {"sectors", got->sectors, expected.sectors},
                  {"ideal sectors", got->ideal_sectors, expected.ideal_sectors},
                  {"divergent", got->divergent, expected.divergent}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].got != fields[i].expected)
            fail_msg("%s (%d): %s is %llu, expected %llu", text, index, fields[i].name,
                     (unsigned long long)fields[i].got, (unsigned long long)fields[i].expected);
}

/* A tree over 64 threads, in 3 blocks: every number is known. */
static void test_a_reduction(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "shl.b32 %r0, %t, 2; mov.u32 %r1, words; add.u32 %r1, %r1, %r0;\n"
                             "ld.global.u32 %r2, [%out];\n"
                             "st.shared.u32 [%r1], %r2;\n"
                             "bar.sync 0;\n"
                             "mov.u32 %r3, 32;\n"
                             "LOOP: setp.ge.u32 %p0, %t, %r3; @%p0 bra NEXT;\n"
                             "mad.lo.u32 %r4, %r3, 4, %r1; ld.shared.u32 %r5, [%r4];\n"
                             "ld.shared.u32 %r6, [%r1]; add.u32 %r6, %r6, %r5; st.shared.u32 [%r1], %r6;\n"
                             "NEXT: bar.sync 0;\n"
                             "shr.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOOP;\n"
                             "setp.eq.u32 %p2, %t, 0;\n"
                             "@%p2 st.global.u32 [%out], %r6;",
                     .module = ".shared .align 4 .b8 words[256];\n",
                     .grid = 3,
                     .block = 64});
    /* 3 blocks x 2 warps; strides 32, 16, 8, 4, 2, 1: 6 rounds, in which 32, 16, 8, 4, 2, 1 lanes of warp 0
     * work. */
    expect_counter(
        &run, "ld.global", 0,
        (TraceCounter){.executions = 6, .lanes = 192, .requests = 6, .sectors = 24, .ideal_sectors = 24});
    expect_counter(
        &run, "st.shared", 0,
        (TraceCounter){.executions = 6, .lanes = 192, .requests = 6, .wavefronts = 6, .ideal_wavefronts = 6});
    expect_counter(&run, "bar.sync", 0, (TraceCounter){.executions = 6, .lanes = 192, .requests = 6});
    expect_counter(&run, "setp.ge", 0, (TraceCounter){.executions = 36, .lanes = 36 * 32});
    /* Warp 1 always takes the branch; warp 0 diverges except in the first round. */
    expect_counter(&run, "bra", 0,
                   (TraceCounter){.executions = 36, .lanes = 36 * 32, .requests = 36, .divergent = 15});
    expect_counter(
        &run, "ld.shared", 0,
        (TraceCounter){
            .executions = 18, .lanes = 3 * 63, .requests = 18, .wavefronts = 18, .ideal_wavefronts = 18});
    expect_counter(
        &run, "st.shared", 1,
        (TraceCounter){
            .executions = 18, .lanes = 3 * 63, .requests = 18, .wavefronts = 18, .ideal_wavefronts = 18});
    expect_counter(&run, "bar.sync", 1, (TraceCounter){.executions = 36, .lanes = 36 * 32, .requests = 36});
    expect_counter(&run, "bra", 1, (TraceCounter){.executions = 36, .lanes = 36 * 32, .requests = 36});
    expect_counter(
        &run, "st.global", 0,
        (TraceCounter){.executions = 6, .lanes = 3, .requests = 3, .sectors = 3, .ideal_sectors = 3});
    core_done(&run);
}

/* The sum over all instructions is what the warps executed, regardless of divergence. */
static void test_executions_add_up(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "mov.u32 %r0, 0;\n"
                             "LOOP: add.u32 %r0, %r0, 1; setp.le.u32 %p0, %r0, %t; @%p0 bra LOOP;"});
    uint64_t executions = 0, lanes = 0;
    int before = core_pc(&run, "mov.u32 %r0", 0) + 1;
    for (int pc = 0; pc < run.program->code_count; pc++) {
        executions += run.launch->counters[pc].executions;
        lanes += run.launch->counters[pc].lanes;
    }
    assert_int_equal(executions, before + 3 * 32 + 1);
    assert_int_equal(lanes, 32 * before + 3 * (32 * 33 / 2) + 32);
    core_done(&run);
}

/* ---- shared memory ------------------------------------------------------------------------------------- */

/* Wavefronts of a load whose lane l reads byte offset `stride` * l. */
static uint64_t wavefronts(const char *access, uint32_t stride) {
    Text body = {0};
    text_print(&body, "mul.lo.u32 %%r0, %%t, %u; mov.u32 %%r1, words; add.u32 %%r1, %%r1, %%r0; %s", stride,
               access);
    CoreRun run =
        core_run((CoreKernel){.body = text_string(&body), .module = ".shared .align 16 .b8 words[8448];\n"});
    uint64_t count = core_counter(&run, "ld.shared", 0)->wavefronts;
    core_done(&run);
    text_done(&body);
    return count;
}

static void test_bank_conflicts(void **state) {
    (void)state;
    static const struct {
        uint32_t stride;
        uint64_t expected;
    } words[] = {{0, 1},  {4, 1},   {8, 2},    {12, 1},  {16, 4},   {20, 1},
                 {32, 8}, {64, 16}, {128, 32}, {132, 1}, {256, 32}, {264, 2}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(wavefronts("ld.shared.u32 %r2, [%r1];", words[i].stride), words[i].expected);
    assert_int_equal(wavefronts("ld.shared.u8 %r2, [%r1];", 1), 1);
    assert_int_equal(wavefronts("ld.shared.u64 %q2, [%r1];", 8), 2);
    assert_int_equal(wavefronts("ld.shared.u64 %q2, [%r1];", 128), 32);
    assert_int_equal(wavefronts("ld.shared.u64 %q2, [%r1];", 0), 1);
    assert_int_equal(wavefronts("ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];", 16), 4);
    assert_int_equal(wavefronts("ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];", 32), 8);
}

/* The cost of a pattern is cached between executions: other masks, strides and banks are other patterns. */
static void test_patterns_change(void **state) {
    (void)state;
    CoreRun run = core_run((CoreKernel){
        .body =
            "mov.u32 %r0, 1;\n"
            "LOOP: mul.lo.u32 %r1, %t, %r0; shl.b32 %r1, %r1, 2; mov.u32 %r2, words; add.u32 %r1, %r1, %r2;\n"
            "ld.shared.u32 %r3, [%r1];\n"
            "add.u32 %r0, %r0, %r0; setp.le.u32 %p0, %r0, 32; @%p0 bra LOOP;",
        .module = ".shared .align 16 .b8 words[4096];\n"});
    assert_int_equal(core_counter(&run, "ld.shared", 0)->executions, 6);
    assert_int_equal(core_counter(&run, "ld.shared", 0)->wavefronts, 1 + 2 + 4 + 8 + 16 + 32);
    assert_int_equal(core_counter(&run, "ld.shared", 0)->ideal_wavefronts, 6);
    core_done(&run);
}

static void test_an_atomic_on_one_word_is_combined(void **state) {
    (void)state;
    CoreRun run = core_run(
        (CoreKernel){.body = "atom.shared.add.u32 %r0, [words], 1;", .module = ".shared .u32 words;\n"});
    expect_counter(
        &run, "atom.shared", 0,
        (TraceCounter){.executions = 1, .lanes = 32, .requests = 1, .wavefronts = 1, .ideal_wavefronts = 1});
    core_done(&run);
}

/* ---- global memory ------------------------------------------------------------------------------------- */

static void test_sectors(void **state) {
    (void)state;
    static const struct {
        const char *access;
        uint32_t stride, offset;
        uint64_t sectors, ideal;
    } cases[] = {
        {"ld.global.u32 %r0, [%q0];", 4, 0, 4, 4},
        {"ld.global.u32 %r0, [%q0];", 4, 4, 5, 4},
        {"ld.global.u32 %r0, [%q0];", 8, 0, 8, 4},
        {"ld.global.u32 %r0, [%q0];", 32, 0, 32, 4},
        {"ld.global.u32 %r0, [%q0];", 128, 0, 32, 4},
        {"ld.global.u32 %r0, [%q0];", 0, 0, 1, 1},
        {"ld.global.u8 %r0, [%q0];", 1, 0, 1, 1},
        {"ld.global.u64 %q2, [%q0];", 8, 0, 8, 8},
        {"ld.global.u64 %q2, [%q0];", 16, 0, 16, 8},
        {"ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%q0];", 16, 0, 16, 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body,
                   "mul.wide.u32 %%q0, %%t, %u; add.s64 %%q0, %%q0, %u; add.s64 %%q0, %%base, %%q0; %s",
                   cases[i].stride, cases[i].offset, cases[i].access);
        CoreRun run = core_run_well((CoreKernel){.body = text_string(&body), .words = 2048});
        expect_counter(&run, "ld.global", 0,
                       (TraceCounter){.executions = 1,
                                      .lanes = 32,
                                      .requests = 1,
                                      .sectors = cases[i].sectors,
                                      .ideal_sectors = cases[i].ideal});
        core_done(&run);
        text_done(&body);
    }
}

static void test_sectors_of_atomics_and_constants(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "red.global.add.u32 [%out], 1; atom.global.add.u32 %r0, [%base], 1;\n"
                             "ld.const.u32 %r0, [fixed];",
                     .module = ".const .u32 fixed = 1;\n"});
    expect_counter(
        &run, "red", 0,
        (TraceCounter){.executions = 1, .lanes = 32, .requests = 1, .sectors = 4, .ideal_sectors = 4});
    expect_counter(
        &run, "atom", 0,
        (TraceCounter){.executions = 1, .lanes = 32, .requests = 1, .sectors = 1, .ideal_sectors = 1});
    expect_counter(&run, "ld.const", 0, (TraceCounter){.executions = 1, .lanes = 32, .requests = 1});
    core_done(&run);
}

/* Lanes leave a loop one after the other, and reconverge right after it. */
static void test_behind_a_loop(void **state) {
    (void)state;
    for (int untraced = 0; untraced < 2; untraced++) {
        CoreRun run = core_run_well(
            (CoreKernel){.body = "mov.u32 %r0, 0;\n"
                                 "LOOP: add.u32 %r0, %r0, 1; setp.le.u32 %p0, %r0, %t; @%p0 bra LOOP;\n"
                                 "activemask.b32 %r1; st.global.u32 [%out], %r1;",
                         .untraced = untraced});
        expect_counter(&run, "activemask", 0, (TraceCounter){.executions = 1, .lanes = 32, .requests = 1});
        for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], 0xffffffff);
        core_done(&run);
    }
}

/* ---- generic accesses ---------------------------------------------------------------------------------- */

/* The count of each memory includes the lanes that access it. */
static void test_generic(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "mov.u64 %q0, words; cvta.shared.u64 %q0, %q0; mul.wide.u32 %q1, %t, 128;\n"
                             "add.s64 %q0, %q0, %q1;\n" /* lanes 0-15: one bank of shared memory */
                             "mul.wide.u32 %q1, %t, 4; add.s64 %q2, %base, %q1;\n"
                             "setp.ge.u32 %p0, %t, 16; selp.b64 %q0, %q2, %q0, %p0;\n"
                             "st.u32 [%q0], %t; st.u32 [%q2], %t;\n"
                             "@!%p0 ld.u32 %r0, [%q0];",
                     .module = ".shared .align 16 .b8 words[2048];\n"});
    expect_counter(&run, "st.u32", 0,
                   (TraceCounter){.executions = 1,
                                  .lanes = 32,
                                  .requests = 1,
                                  .shared_requests = 1,
                                  .global_requests = 1,
                                  .wavefronts = 16,
                                  .ideal_wavefronts = 1,
                                  .sectors = 2,
                                  .ideal_sectors = 2});
    expect_counter(&run, "st.u32", 1,
                   (TraceCounter){.executions = 1,
                                  .lanes = 32,
                                  .requests = 1,
                                  .global_requests = 1,
                                  .sectors = 4,
                                  .ideal_sectors = 4});
    expect_counter(&run, "ld.u32", 0,
                   (TraceCounter){.executions = 1,
                                  .lanes = 16,
                                  .requests = 1,
                                  .shared_requests = 1,
                                  .wavefronts = 16,
                                  .ideal_wavefronts = 1});
    core_done(&run);
}

/* One instruction accesses shared memory, then global memory, with the same lanes and stride: each has its
 * own cost. */
static void test_generic_goes_elsewhere_later(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "mov.u64 %q0, words; cvta.shared.u64 %q0, %q0; mul.wide.u32 %q1, %t, 4;\n"
                "add.s64 %q0, %q0, %q1; mov.u32 %r1, 0; st.u32 [%q0], %t;\n"
                "LOOP: ld.u32 %r0, [%q0];\n"
                "mov.u64 %q0, %out; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 3; @%p0 bra LOOP;",
        .module = ".shared .align 128 .b8 words[128];\n",
        .untraced = true});
    expect_counter(&run, "ld.u32", 0,
                   (TraceCounter){.executions = 3,
                                  .lanes = 96,
                                  .requests = 3,
                                  .shared_requests = 1,
                                  .global_requests = 2,
                                  .wavefronts = 1,
                                  .ideal_wavefronts = 1,
                                  .sectors = 8,
                                  .ideal_sectors = 8});
    core_done(&run);
}

/* ---- instructions that are not executed ---------------------------------------------------------------- */

static void test_guards(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "setp.lt.u32 %p0, %t, 40; setp.gt.u32 %p1, %t, 100;\n"
                             "@%p0 st.global.u32 [%out], %t; @%p1 st.global.u32 [%out], %t;\n"
                             "@%p1 add.u32 %r0, %r0, 1; @%p1 shfl.sync.idx.b32 %r0, %r0, 0, 31, -1;\n"
                             "@%p1 bar.sync 0; @%p1 exit; nanosleep.u32 1; membar.cta;",
                     .block = 64});
    expect_counter(
        &run, "st.global", 0,
        (TraceCounter){.executions = 2, .lanes = 40, .requests = 2, .sectors = 5, .ideal_sectors = 5});
    expect_counter(&run, "st.global", 1, (TraceCounter){.executions = 2});
    expect_counter(&run, "add.u32 %r0, %r0, 1", 0, (TraceCounter){.executions = 2});
    expect_counter(&run, "shfl", 0, (TraceCounter){.executions = 2});
    expect_counter(&run, "bar.sync", 0, (TraceCounter){.executions = 2});
    expect_counter(&run, "exit", 0, (TraceCounter){.executions = 2});
    expect_counter(&run, "membar", 0, (TraceCounter){.executions = 2, .lanes = 64});
    core_done(&run);
}

/* Calls: the function's instructions count for every caller. */
static void test_functions(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "call (%r0), twice, (%t); setp.lt.u32 %p0, %t, 4; @%p0 call (%r0), twice, (%r0);",
        .module = ".func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }\n"});
    expect_counter(&run, "add.u32 r, a, a", 0, (TraceCounter){.executions = 2, .lanes = 36});
    expect_counter(&run, "call", 0, (TraceCounter){.executions = 1, .lanes = 32});
    expect_counter(&run, "call", 1, (TraceCounter){.executions = 1, .lanes = 4});
    core_done(&run);
}

/* Untraced blocks are counted, too. */
static void test_tracing_changes_nothing(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "mov.u32 %r0, 0;\n"
                                 "LOOP: atom.global.add.u32 %r1, [%base], 1; add.u32 %r0, %r0, 1; "
                                 "setp.le.u32 %p0, %r0, %t; @%p0 bra LOOP;\n"
                                 "bar.sync 0; st.global.u32 [%out+4], %r1;",
                         .grid = 4,
                         .block = 96,
                         .words = 4 * 96 + 1};
    CoreRun traced = core_run_well(kernel);
    kernel.untraced = true;
    CoreRun untraced = core_run_well(kernel);
    assert_int_equal(untraced.launch->block_count, 0);
    for (int pc = 0; pc < traced.program->code_count; pc++)
        assert_memory_equal(&traced.launch->counters[pc], &untraced.launch->counters[pc],
                            sizeof(TraceCounter));
    core_check(&untraced, traced.out, traced.words);
    core_done(&traced);
    core_done(&untraced);
}

/* A histogram of 2 blocks of 2 warps: lane t of a warp adds to bin t % 8, then to bin t % 8 * 32, which are 8
 * words of one bank. So a bank of the first has 4 lanes, that of the second 32. */
static void test_histograms(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "and.b32 %r0, %t, 7; shl.b32 %r1, %r0, 2; mov.u32 %r2, bins; add.u32 %r1, %r1, %r2;\n"
                "mad.lo.u32 %r3, %r0, 128, %r2; shl.b32 %r4, %t, 2; add.u32 %r4, %r4, %r2;\n"
                "mov.u32 %r5, 0; st.shared.u32 [%r4], %r5; st.shared.u32 [%r4+256], %r5;\n"
                "st.shared.u32 [%r4+512], %r5; st.shared.u32 [%r4+768], %r5; bar.sync 0;\n"
                "red.shared.add.u32 [%r1], %t;\n"
                "red.shared.add.u32 [%r3], %t;\n"
                "red.shared.add.u32 [%r1], 1;\n"
                "red.shared.add.u32 [%r3], 1;\n"
                "red.shared.add.u32 [%r4], %t;\n"
                "red.shared.add.u32 [bins], %t;\n"
                "red.shared.add.f32 [%r1], 0f3F800000;\n"
                "atom.shared.add.u32 %r6, [%r1], 1; st.global.u32 [%out], %r6;\n",
        .module = ".shared .align 4 .b8 bins[1024];\n",
        .grid = 2,
        .block = 64});
    static const uint64_t wavefronts[] = {4, 32, 1, 8, 1, 1, 8}, ideal[] = {1, 1, 1, 1, 1, 1, 2};
    for (int i = 0; i < 7; i++)
        expect_counter(&run, "red.shared", i,
                       (TraceCounter){.executions = 4,
                                      .lanes = 128,
                                      .requests = 4,
                                      .wavefronts = 4 * wavefronts[i],
                                      .ideal_wavefronts = 4 * ideal[i]});
    expect_counter(
        &run, "atom.shared", 0,
        (TraceCounter){
            .executions = 4, .lanes = 128, .requests = 4, .wavefronts = 16, .ideal_wavefronts = 4});
    core_done(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reduction),
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_executions_add_up),
        cmocka_unit_test(test_bank_conflicts),
        cmocka_unit_test(test_patterns_change),
        cmocka_unit_test(test_an_atomic_on_one_word_is_combined),
        cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_sectors_of_atomics_and_constants),
        cmocka_unit_test(test_behind_a_loop),
        cmocka_unit_test(test_generic),
        cmocka_unit_test(test_generic_goes_elsewhere_later),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_tracing_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
