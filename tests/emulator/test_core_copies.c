/* cp.async, its groups, and cp.async.mbarrier.arrive: which bytes arrive where and when, the events and
 * counts, and the errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include "metrics/counted.h"
#include <math.h>
#include <string.h>

/* `tile` begins as 0xeeeeeeee; word i of `source` is i + 1. %q0: this lane's 16 bytes of source; %r0: of
 * tile. */
#define SOURCE_WORDS                                                                                         \
    "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,"                \
    "33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,"       \
    "65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,"       \
    "97,98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115,116,117,118,119,120,121,122,"  \
    "123,124,125,126,127,128"
#define MODULE                                                                                               \
    ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 gate;\n"                                      \
    ".global .align 128 .u32 source[128] = {" SOURCE_WORDS "};\n"
#define BEGIN                                                                                                \
    "mov.u32 %r1, 0xeeeeeeee; mov.u32 %r0, tile; mad.lo.u32 %r0, %t, 16, %r0;\n"                             \
    "st.shared.v4.u32 [%r0], {%r1, %r1, %r1, %r1}; mov.u64 %q1, source; mad.wide.u32 %q0, %t, 16, %q1;\n"
#define WAIT "cp.async.commit_group; cp.async.wait_group 0;\n"
#define OUT                                                                                                  \
    "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r0]; mad.wide.u32 %q3, %t, 12, %out;\n"                        \
    "st.global.v4.u32 [%q3], {%r4, %r5, %r6, %r7};"

#define EMPTY 0xeeeeeeeeu

/* Each of 32 lanes has written its words of `tile` into out: word w of lane l is `expected(l, w)`. */
static void expect(const char *body, uint32_t (*expected)(uint32_t lane, uint32_t word)) {
    Text text = {0};
    text_add(&text, BEGIN);
    text_add(&text, body);
    text_add(&text, "\n" OUT);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&text), .module = MODULE, .words = 128});
    for (uint32_t i = 0; i < 128; i++)
        if (run.out[i] != expected(i / 4, i % 4))
            fail_msg("%s: lane %u word %u is %u, not %u", body, i / 4, i % 4, run.out[i],
                     expected(i / 4, i % 4));
    core_done(&run);
    text_done(&text);
}

static uint32_t nothing(uint32_t lane, uint32_t word) {
    (void)lane, (void)word;
    return EMPTY;
}
static uint32_t all(uint32_t lane, uint32_t word) {
    return 4 * lane + word + 1;
}
static uint32_t first_word(uint32_t lane, uint32_t word) {
    return word < 1 ? all(lane, word) : EMPTY;
}
static uint32_t two_words(uint32_t lane, uint32_t word) {
    return word < 2 ? all(lane, word) : EMPTY;
}
static uint32_t second_half(uint32_t lane, uint32_t word) {
    return word >= 2 ? all(lane, word) : EMPTY;
}
static uint32_t zeros(uint32_t lane, uint32_t word) {
    (void)lane, (void)word;
    return 0;
}
static uint32_t first_then_zeros(uint32_t lane, uint32_t word) {
    return word < 1 ? all(lane, word) : 0;
}
static uint32_t by_lane(uint32_t lane,
                        uint32_t word) { /* as many bytes as the number of the lane, at most 16 */
    uint32_t bytes = lane < 16 ? lane : 16, left = bytes > 4 * word ? bytes - 4 * word : 0;
    return left >= 4 ? all(lane, word) : left ? all(lane, word) & ((1u << 8 * left) - 1) : 0;
}
static uint32_t even_lanes(uint32_t lane, uint32_t word) {
    return lane % 2 ? EMPTY : all(lane, word);
}
static uint32_t even_lanes_ignore(uint32_t lane, uint32_t word) {
    return lane % 2 ? all(lane, word) : 0;
}

#define SIZE "min.u32 %r2, %t, 16;\n"
#define ODD  "and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 0;\n"

static void copies_arrive_at_the_wait(void **state) {
    (void)state;
    expect("cp.async.cg.shared.global [%r0], [%q0], 16;" WAIT, all);
    expect("cp.async.ca.shared.global [%r0], [%q0], 16;" WAIT, all);
    expect("cp.async.ca.shared::cta.global [%r0], [%q0], 8;" WAIT, two_words);
    expect("cp.async.ca.shared.global [%r0], [%q0], 4;" WAIT, first_word);
    expect("cp.async.ca.shared.global [%r0+8], [%q0+8], 8;" WAIT, second_half);
    expect("cp.async.cg.shared.global.L2::128B [%r0], [%q0], 16;" WAIT, all);
    expect("cp.async.ca.shared.global.L2::64B [%r0], [%q0], 16; cp.async.wait_all;", all);
    expect("createpolicy.fractional.L2::evict_last.b64 %q5, 0.5;\n"
           "cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r0], [%q0], 16, %q5;" WAIT,
           all);
    expect("cp.async.cg.shared.global [%r0], [%q0], 16; cp.async.wait_all;", all);
    expect(ODD "@%p1 cp.async.cg.shared.global [%r0], [%q0], 16;" WAIT, even_lanes);
}

static void what_is_not_read_is_zero(void **state) {
    (void)state;
    expect("cp.async.cg.shared.global [%r0], [%q0], 16, 0;" WAIT, zeros);
    expect("cp.async.cg.shared.global [%r0], [%q0], 16, 16;" WAIT, all);
    expect("cp.async.ca.shared.global [%r0], [%q0], 16, 4;" WAIT, first_then_zeros);
    expect(SIZE "cp.async.cg.shared.global [%r0], [%q0], 16, %r2;" WAIT, by_lane);
    expect(ODD "cp.async.cg.shared.global [%r0], [%q0], 16, %p1;" WAIT, even_lanes_ignore);
    /* Nothing is read there: the address may be invalid. */
    expect("mov.u64 %q0, 0; cp.async.cg.shared.global [%r0], [%q0], 16, 0;" WAIT, zeros);
}

static void groups_are_of_a_thread_and_in_order(void **state) {
    (void)state;
#define FIRST  "cp.async.ca.shared.global [%r0], [%q0], 8; cp.async.commit_group;\n"
#define SECOND "cp.async.ca.shared.global [%r0+8], [%q0+8], 8; cp.async.commit_group;\n"
    expect(FIRST SECOND, nothing);
    expect(FIRST SECOND "cp.async.wait_group 2;", nothing);
    expect(FIRST SECOND "cp.async.wait_group 1;", two_words);
    expect(FIRST SECOND "cp.async.wait_group 0;", all);
    expect(FIRST SECOND "cp.async.commit_group; cp.async.wait_group 1;", all); /* an empty group counts */
    expect("cp.async.cg.shared.global [%r0], [%q0], 16; cp.async.wait_group 0;", nothing);
    expect(FIRST "cp.async.ca.shared.global [%r0+8], [%q0+8], 8; cp.async.wait_group 0;", two_words);
    expect(ODD
           "cp.async.cg.shared.global [%r0], [%q0], 16; @%p1 cp.async.commit_group; cp.async.wait_group 0;",
           even_lanes);
    expect(ODD
           "cp.async.cg.shared.global [%r0], [%q0], 16; cp.async.commit_group; @%p1 cp.async.wait_group 0;",
           even_lanes);
}

static void an_mbarrier_may_wait_for_copies(void **state) {
    (void)state;
#define GATE(count)                                                                                          \
    "mov.u32 %r9, gate; setp.eq.u32 %p2, %t, 0; @%p2 mbarrier.init.shared.b64 [%r9], " count "; bar.sync "   \
    "0;\n"
#define SPIN "SPIN: mbarrier.test_wait.parity.shared.b64 %p3, [%r9], 0; @!%p3 bra SPIN;\n"
    expect(GATE("32") "cp.async.cg.shared.global [%r0], [%q0], 16; cp.async.mbarrier.arrive.noinc.shared.b64 "
                      "[%r9];\n" SPIN,
           all);
    expect(GATE("32") "cp.async.cg.shared.global [%r0], [%q0], 16; cp.async.mbarrier.arrive.shared::cta.b64 "
                      "[%r9];\n"
                      "mbarrier.arrive.shared.b64 %q7, [%r9];" SPIN,
           all);
    expect(GATE("32") "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];\n" SPIN,
           nothing); /* no copies to follow */
    expect(GATE("64") "cp.async.ca.shared.global [%r0], [%q0], 8; cp.async.mbarrier.arrive.noinc.shared.b64 "
                      "[%r9];\n"
                      "cp.async.ca.shared.global [%r0+8], [%q0+8], 8; cvta.shared.u64 %q8, gate;\n"
                      "cp.async.mbarrier.arrive.noinc.b64 [%q8];" SPIN,
           all);
}

static void both_sides_are_counted_and_recorded(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = BEGIN "cp.async.cg.shared.global [%r0], [%q0], 16;" WAIT OUT,
                                   .module = MODULE,
                                   .words = 128});
    const TraceCounter *counter = core_counter(&run, "cp.async.cg", 0);
    assert_int_equal(counter->executions, 1);
    assert_int_equal(counter->lanes, 32);
    assert_int_equal(counter->global_requests, 1);
    assert_int_equal(counter->shared_requests, 1);
    assert_int_equal(counter->sectors, 16);
    assert_int_equal(counter->wavefronts, 4);
    TraceEvent event;
    TraceKind kinds[8] = {TRACE_NOT_RECORDED};
    int count = 0, pc = core_pc(&run, "cp.async.cg", 0);
    for (int i = 0; i < trace_block_event_count(run.launch->blocks[0]); i++) {
        trace_block_read(run.launch->blocks[0], i, &event);
        if (event.pc < pc || event.pc > pc + 2) continue;
        kinds[count++] = event.kind;
        if (event.pc != pc) continue;
        assert_int_equal(event.width, 16);
        assert_int_equal(event.element_count, 4);
        for (int lane = 0; lane < 32; lane++) {
            assert_int_equal(event.offset[lane], 16 * lane);
            assert_int_equal(event.value[3][lane], 4 * lane + 4);
        }
    }
    assert_int_equal(count, 4);
    assert_int_equal(kinds[0], TRACE_GLOBAL_LOAD);
    assert_int_equal(kinds[1], TRACE_SHARED_STORE);
    assert_int_equal(kinds[2], TRACE_ASYNC_GROUP);
    assert_int_equal(kinds[3], TRACE_ASYNC_GROUP);
    core_done(&run);
}

static double predicted_of(const CoreRun *run, const char *metric) {
    double predicted[COUNTED_ROWS], waiting[COUNTED_ROWS];
    counted_predict(run->launch, NULL, predicted, waiting);
    assert_non_null(counted_find(metric));
    return predicted[counted_find(metric) - counted_rows];
}

/* As the profiler counts on an H200: reads are global loads, if anything is read; writes are not shared
 * stores. */
static void what_the_profiler_counts(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = BEGIN
        "cp.async.cg.shared.global [%r0], [%q0], 16; cp.async.cg.shared.global [%r0+512], [%q0], 16, "
        "0;" WAIT OUT,
        .module = MODULE,
        .words = 128});
    assert_true(predicted_of(&run, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 1);
    assert_true(predicted_of(&run, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 16);
    assert_true(predicted_of(&run, "smsp__sass_inst_executed_op_shared_st.sum") == 1); /* st.shared */
    assert_true(isnan(predicted_of(&run, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")));
    assert_true(isnan(predicted_of(&run, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum")));
    core_done(&run);
}

static void wrong_forms_and_addresses_trap(void **state) {
    (void)state;
    static const struct {
        const char *body;
        TrapKind kind;
        const char *detail;
    } wrong[] = {
        {"cp.async.cg.shared.global [%r0], [%q0], 8;", TRAP_NOT_EMULATED,
         "cp.async.cg copies 16 bytes, not 8"},
        {"cp.async.ca.shared.global [%r0], [%q0], 12;", TRAP_NOT_EMULATED, "4, 8 or 16 bytes, not 12"},
        {"cp.async.ca.shared.global [%r0], [%q0];", TRAP_NOT_EMULATED, "malformed"},
        {"cp.async.wait_group %r1;", TRAP_NOT_EMULATED, "constant"},
        {"cp.async.commit_group 1;", TRAP_NOT_EMULATED, "malformed"},
        {"mov.u32 %r2, 17; cp.async.cg.shared.global [%r0], [%q0], 16, %r2;", TRAP_TRAP_INSTRUCTION,
         "src-size may not be larger than cp-size"},
        {"cp.async.cg.shared.global [%r0], [%q0+4], 16;", TRAP_MISALIGNED, "16-byte access"},
        {"cp.async.cg.shared.global [%r0+4], [%q0], 16;", TRAP_MISALIGNED, "16-byte access"},
        {"cp.async.cg.shared.global [%r0], [%q0+16], 16;", TRAP_OUT_OF_BOUNDS, "past the end of `source`"},
        {"cp.async.cg.shared.global [%r0+1024], [%q0], 16;", TRAP_OUT_OF_BOUNDS, "shared"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Text text = {0};
        text_add(&text, BEGIN);
        text_add(&text, wrong[i].body);
        core_run_trap((CoreKernel){.body = text_string(&text), .module = MODULE, .words = 128}, wrong[i].kind,
                      wrong[i].detail);
        text_done(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_arrive_at_the_wait),
                                       cmocka_unit_test(what_is_not_read_is_zero),
                                       cmocka_unit_test(groups_are_of_a_thread_and_in_order),
                                       cmocka_unit_test(an_mbarrier_may_wait_for_copies),
                                       cmocka_unit_test(both_sides_are_counted_and_recorded),
                                       cmocka_unit_test(what_the_profiler_counts),
                                       cmocka_unit_test(wrong_forms_and_addresses_trap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
