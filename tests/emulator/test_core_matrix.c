/* ldmatrix and stmatrix: which lane gets which word, the cost, and the errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

/* Word i of `tile` is i; %r0 is where this lane's row begins, `order` times 16 bytes. */
#define TILE ".shared .align 128 .b8 tile[4096];\n"
#define FILL                                                                                                 \
    "mov.u32 %r1, tile;\nmov.u32 %r2, %t;\n"                                                                 \
    "FILL: mad.lo.u32 %r3, %r2, 4, %r1; st.shared.u32 [%r3], %r2; add.u32 %r2, %r2, 32;\n"                   \
    "setp.lt.u32 %p0, %r2, 1024; @%p0 bra FILL; bar.sync 0;\n"
#define OUT                                                                                                  \
    "mad.lo.u32 %r9, %t, 12, 0; cvt.u64.u32 %q0, %r9; add.u64 %q0, %q0, %out;\n"                             \
    "st.global.v4.u32 [%q0], {%r4, %r5, %r6, %r7};"

/* The word that `lane` gets from matrix m, whose row r (address in lane r + 8m) begins at word row(r +
 * 8m). */
static uint32_t word_of(uint32_t (*row)(uint32_t lane), uint32_t m, uint32_t lane) {
    return row(8 * m + lane / 4) + lane % 4;
}

static uint32_t in_order(uint32_t lane) {
    return 4 * lane;
}
static uint32_t backwards(uint32_t lane) {
    return 4 * (31 - lane);
}
static uint32_t in_columns(uint32_t lane) {
    return 32 * lane;
}

static void expect_load(const char *rows, uint32_t (*row)(uint32_t lane), int count, uint64_t wavefronts) {
    static const char *const loads[] = {
        [1] = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r0];",
        [2] = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r0];",
        [4] = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r0];"};
    Text body = {0};
    text_add(&body, FILL);
    text_add(&body, rows);
    text_add(&body,
             "add.u32 %r0, %r0, %r1; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;\n");
    text_add(&body, loads[count]);
    text_add(&body, OUT);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&body), .module = TILE, .words = 128});
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t m = 0; m < 4; m++)
            assert_int_equal(run.out[4 * lane + m], m < (uint32_t)count ? word_of(row, m, lane) : 0);
    const TraceCounter *counter = core_counter(&run, "ldmatrix", 0);
    assert_int_equal(counter->executions, 1);
    assert_int_equal(counter->requests, count);
    assert_int_equal(counter->wavefronts, wavefronts);
    assert_int_equal(counter->ideal_wavefronts, count);
    core_done(&run);
    text_done(&body);
}

static void lanes_get_words_of_rows_that_others_address(void **state) {
    (void)state;
    for (int count = 1; count <= 4; count *= 2) {
        expect_load("shl.b32 %r0, %t, 4;", in_order, count, (uint64_t)count);
        expect_load("sub.u32 %r0, 31, %t; shl.b32 %r0, %r0, 4;", backwards, count, (uint64_t)count);
        expect_load("shl.b32 %r0, %t, 7;", in_columns, count,
                    8 * (uint64_t)count); /* eight rows, the same banks */
    }
}

/* An event per matrix, as a load of four bytes by each lane. */
static void each_matrix_is_an_event(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = FILL
        "shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %r1;\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r4, %r5}, [%r0+512];\nst.global.u32 [%out], %r5;",
        .module = TILE});
    int found = 0;
    for (int i = 0; i < core_event_count(&run, 0); i++) {
        TraceEvent event;
        core_event(&run, 0, i, &event);
        if (event.pc != core_pc(&run, "ldmatrix", 0)) continue;
        assert_int_equal(event.kind, TRACE_SHARED_LOAD);
        assert_int_equal(event.width, 4);
        assert_int_equal(event.mask, 0xffffffff);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t word = 128 + 32 * (uint32_t)found + lane;
            assert_int_equal(event.offset[lane], 4 * word);
            assert_int_equal(event.value[0][lane], word);
        }
        found++;
    }
    assert_int_equal(found, 2);
    assert_int_equal(run.out[7], 128 + 32 + 7);
    core_done(&run);
}

static void stores_are_the_other_way_round(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "mov.u32 %r1, tile; sub.u32 %r0, 31, %t; shl.b32 %r0, %r0, 4; add.u32 %r0, %r0, %r1;\n"
                "mov.u32 %r4, %t; add.u32 %r5, %t, 100; add.u32 %r6, %t, 200; add.u32 %r7, %t, 300;\n"
                "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r0], {%r4, %r5, %r6, %r7}; bar.sync 0;\n"
                "mad.lo.u32 %r8, %t, 16, %r1; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r8];\n" OUT,
        .module = TILE,
        .words = 128});
    for (uint32_t m = 0; m < 4; m++)
        for (uint32_t lane = 0; lane < 32; lane++)
            assert_int_equal(run.out[word_of(backwards, m, lane)], 100 * m + lane);
    assert_int_equal(core_counter(&run, "stmatrix", 0)->wavefronts, 4);
    core_done(&run);
}

/* Half `column` of row `row` of the matrix whose element (row, column) is 8 * row + column. */
static uint32_t pair_of_column(uint32_t lane) {
    uint32_t row = 2 * (lane % 4), column = lane / 4;
    return (8 * row + column) | (8 * (row + 1) + column) << 16;
}

/* %r4: the lane's two elements of that matrix. */
#define ELEMENTS "shl.b32 %r4, %t, 1; add.u32 %r5, %r4, 1; shl.b32 %r5, %r5, 16; or.b32 %r4, %r4, %r5;\n"

static void matrices_are_transposed(void **state) {
    (void)state;
    static const char *const bodies[] = {
        ELEMENTS "movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r4; st.global.u32 [%out], %r6;",
        ELEMENTS "mov.u32 %r1, tile; mad.lo.u32 %r0, %t, 4, %r1; st.shared.u32 [%r0], %r4; bar.sync 0;\n"
                 "mad.lo.u32 %r0, %t, 16, %r1; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}, [%r0];\n"
                 "st.global.u32 [%out], %r6;",
        ELEMENTS "mov.u32 %r1, tile; mad.lo.u32 %r0, %t, 16, %r1; mov.u32 %r6, %r4;\n"
                 "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r0], {%r6}; bar.sync 0;\n"
                 "mad.lo.u32 %r0, %t, 4, %r1; ld.shared.u32 %r7, [%r0]; st.global.u32 [%out], %r7;"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        CoreRun run = core_run_well((CoreKernel){.body = bodies[i], .module = TILE});
        for (uint32_t lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], pair_of_column(lane));
        core_done(&run);
    }
}

/* The event of a load has the contents of memory; a stored register keeps its value. */
static void transposed_events_are_those_of_memory(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body =
            FILL "mad.lo.u32 %r0, %t, 16, %r1; mov.u32 %r4, %t;\n"
                 "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}, [%r0];\n"
                 "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r0], {%r4};\nst.global.u32 [%out], %r4;",
        .module = TILE});
    for (int i = 0; i < core_event_count(&run, 0); i++) {
        TraceEvent event;
        core_event(&run, 0, i, &event);
        for (uint32_t lane = 0; event.pc == core_pc(&run, "ldmatrix", 0) && lane < 32; lane++)
            assert_int_equal(event.value[0][lane], event.offset[lane] / 4);
    }
    for (uint32_t lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane);
    core_done(&run);
}

static void what_is_open_or_missing_is_refused(void **state) {
    (void)state;
#define LOAD "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r0];"
    Trap trap = core_run_trap((CoreKernel){.body = "shl.b32 %r0, %t, 3;" LOAD, .module = TILE},
                              TRAP_MISALIGNED, "16 bytes is not aligned to 16");
    assert_int_equal(trap.lanes, 0xaa);
    core_run_trap((CoreKernel){.body = "mul.lo.u32 %r0, %t, 4096;" LOAD, .module = TILE}, TRAP_OUT_OF_BOUNDS,
                  "");
    core_run_trap((CoreKernel){.body = "mov.u32 %r0, 0;" LOAD, .module = TILE, .block = 16},
                  TRAP_NOT_EMULATED, "without all 32 lanes");
    core_run_trap((CoreKernel){.body = "mov.u32 %r0, 0; setp.lt.u32 %p0, %t, 8; @%p0 " LOAD, .module = TILE},
                  TRAP_NOT_EMULATED, "without all 32 lanes");
    core_run_trap((CoreKernel){.body = "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %t;", .block = 16},
                  TRAP_NOT_EMULATED, "without all 32 lanes");
    core_run_trap(
        (CoreKernel){.body = "mov.u32 %r0, 0; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4}, [%r0];",
                     .module = TILE},
        TRAP_NOT_EMULATED, "1 registers for 2 matrices");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_get_words_of_rows_that_others_address),
        cmocka_unit_test(each_matrix_is_an_event),
        cmocka_unit_test(stores_are_the_other_way_round),
        cmocka_unit_test(matrices_are_transposed),
        cmocka_unit_test(transposed_events_are_those_of_memory),
        cmocka_unit_test(what_is_open_or_missing_is_refused),
    };
    return cmocka_run_group_tests_name("matrices", tests, NULL, NULL);
}
