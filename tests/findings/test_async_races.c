/* Hazards of asynchronous copies and mbarriers, inserted one by one; each with a correct version, which has
 * no hazard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tensor_map.h"
#include "findings/findings.h"
#include "tests/emulator/core.h"
#include <string.h>

/* 64 threads, each with 16 bytes of `source` (%q0) and of `tile` (%r0); %r2 is the place of another thread of
 * the same warp in `tile`, %r3 that of one in the other warp. */
#define MODULE                                                                                               \
    ".shared .align 128 .b8 tile[2048];\n.shared .align 8 .b64 gate[2];\n.global .align 128 .u32 "           \
    "source[512];\n"
#define BEGIN                                                                                                \
    "mov.u32 %r1, tile; mad.lo.u32 %r0, %t, 16, %r1; xor.b32 %r2, %r0, 16; xor.b32 %r3, %r0, 512;\n"         \
    "mov.u32 %r9, gate; mov.u64 %q1, source; mad.wide.u32 %q0, %t, 16, %q1; mov.u32 %r8, 7;\n"               \
    "st.shared.v4.u32 [%r0], {%r8, %r8, %r8, %r8}; st.shared.v4.u32 [%r0+1024], {%r8, %r8, %r8, %r8};\n"     \
    "setp.eq.u32 %p2, %t, 0; bar.sync 0;\n"

/* The map of `source` as one row of 512 words, of which a tensor copy moves 256; `map` lacks its address. */
static void add_module(Text *module) {
    uint8_t bytes[TENSOR_MAP_BYTES];
    TensorMap map = {.size = {512}, .box = {256}, .step = {1}, .rank = 1, .type = TENSOR_U32};
    tensor_map_encode(&map, bytes);
    text_add(module, MODULE ".global .align 64 .b8 map[128] = {");
    for (int i = 0; i < TENSOR_MAP_BYTES; i++) text_print(module, i ? ",%d" : "%d", bytes[i]);
    text_add(module, "};\n");
}

static void check_in_order(const char *body, uint64_t schedule, const char *expected) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    Text text = {0}, module = {0}, found = {0};
    add_module(&module);
    text_add(&text, BEGIN);
    text_add(&text, body);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&text),
                                             .module = text_string(&module),
                                             .block = 64,
                                             .options = {.observer = &observer, .schedule = schedule}});
    Findings *hazards = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_true(hazards->is_complete);
    for (int i = 0; i < hazards->error_count; i++)
        text_print(&found, "%s%s", i ? " " : "", hazards->items[i].kind_text);
    if (strcmp(text_string(&found), expected) != 0)
        fail_msg("%s\nexpected '%s', found '%s'", body, expected, text_string(&found));
    findings_free(hazards);
    race_detector_free(detector);
    core_done(&run);
    text_done(&text);
    text_done(&module);
    text_done(&found);
}

static void check(const char *body, const char *expected) {
    check_in_order(body, 0, expected);
}

#define COPY   "cp.async.cg.shared.global [%r0], [%q0], 16;\n"
#define COMMIT "cp.async.commit_group;\n"
#define WAIT   "cp.async.wait_group 0;\n"
#define OWN    "ld.shared.u32 %r4, [%r0];\n"
#define OTHER  "ld.shared.u32 %r4, [%r2];\n"
#define FAR    "ld.shared.u32 %r4, [%r3];\n"
#define BAR    "bar.sync 0;\n"

static void reads_wait_for_the_copy(void **state) {
    (void)state;
    check(COPY COMMIT WAIT OWN, "");
    check(COPY COMMIT OWN WAIT, "async_read");
    check(COPY COMMIT BAR FAR WAIT, "async_read"); /* a barrier does not wait for copies */
    check(COPY "cp.async.wait_all;\n" OWN, "");
    check(COPY WAIT OWN, "copy_not_committed async_read");
    check(COPY COMMIT "cp.async.wait_group 1;\n" OWN WAIT, "async_read");
    check(COPY COMMIT COMMIT "cp.async.wait_group 1;\n" OWN, "");
}

/* A bulk copy reads what threads have stored only after a proxy fence, by the storing threads or by its
 * own. */
static void bulk_copies_need_a_proxy_fence(void **state) {
    (void)state;
#define FILL  "st.shared.v4.u32 [%r0], {%t, %t, %t, %t};\n"
#define PROXY "fence.proxy.async.shared::cta;\n"
#define NAMED "bar.sync 1, 64;\n"
#define SEND                                                                                                 \
    "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%q1], [%r1], 1024;\n"                                 \
    "@%p2 cp.async.bulk.commit_group; @%p2 cp.async.bulk.wait_group 0;\n"
    check(FILL PROXY BAR SEND, "");
    check(FILL BAR SEND, "proxy_order");
    check(FILL BAR PROXY SEND, "");
    check(FILL BAR PROXY BAR SEND, "");
    check(FILL NAMED PROXY SEND, ""); /* any barrier orders the stores before the fence */
    check(FILL NAMED SEND, "proxy_order");
    check(FILL PROXY NAMED SEND, "");
    check(PROXY FILL NAMED SEND, "proxy_order");
    check(PROXY FILL BAR SEND, "proxy_order");
    check(FILL PROXY BAR SEND BAR FILL BAR SEND, "proxy_order");
    check(FILL PROXY BAR SEND BAR FILL PROXY BAR SEND, "");
}

/* The bytes that a mask leaves out are neither read nor written: other threads may store them. */
static void a_masked_copy_races_for_its_bytes_only(void **state) {
    (void)state;
#define MASKED                                                                                               \
    "@%p2 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%q1], [%r1], 16, 0x0ff0;\n"                   \
    "@%p2 cp.async.bulk.commit_group;\nsetp.eq.u32 %p3, %t, 1;\n"
#define DONE "@%p2 cp.async.bulk.wait_group 0;\n"
    check(PROXY BAR MASKED "@%p3 st.global.u32 [%q1+12], %t;\n" DONE, "");
    check(PROXY BAR MASKED "@%p3 st.global.u32 [%q1+8], %t;\n" DONE, "async_write");
    check(PROXY BAR MASKED "@%p3 st.shared.u32 [%r1], %t;\n" DONE, "");
    check(PROXY BAR MASKED "@%p3 st.shared.u32 [%r1+4], %t;\n" DONE, "async_write");
}

/* A tensor copy is no different: its tile is read after its phase, published before a store, and kept until
 * it has been read. */
static void tensor_copies_are_bulk_copies(void **state) {
    (void)state;
#define MAP "mov.u64 %q8, map; @%p2 st.global.u64 [%q8], %q1;\n"
#define FETCH                                                                                                \
    MAP "@%p2 mbarrier.init.shared::cta.b64 [%r9], 1;\n"                                                     \
        "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 1024;\n"                                   \
        "@%p2 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "      \
        "[%q8, {0}], [%r9];\n" BAR
#define PHASE "PHASE: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra PHASE;\n"
#define PUT                                                                                                  \
    "@%p2 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%q8, {0}], [%r1];\n"                   \
    "@%p2 cp.async.bulk.commit_group;\n"
#define TAKEN "@%p2 cp.async.bulk.wait_group.read 0;\n"
    check(FETCH PHASE OWN, "");
    check(FETCH OWN PHASE, "async_read");
    check(FETCH FILL PHASE, "async_write");
    check(MAP FILL PROXY BAR PUT TAKEN, "");
    check(MAP FILL BAR PUT TAKEN, "proxy_order");
    check(MAP FILL PROXY BAR PUT TAKEN BAR FILL, "");
    check(MAP FILL PROXY BAR PUT BAR FILL TAKEN, "async_write");
    check(MAP FILL PROXY BAR PUT, "copy_not_awaited");
}

static void a_store_beyond_a_row_is_a_note(void **state) {
    (void)state;
    static const char *const sizes[] = {"254", "256"};
    for (int i = 0; i < 2; i++) {
        Text body = {0}, module = {0};
        add_module(&module);
        text_add(&body, BEGIN MAP "tensormap.replace.tile.global_dim.global.b1024.b32 [%q8], 0, ");
        text_add(&body, sizes[i]);
        text_add(&body, ";\n" FILL PROXY BAR PUT TAKEN);
        RaceDetector *detector = race_detector_new();
        TraceObserver observer = race_detector_observer(detector);
        CoreRun run = core_run((CoreKernel){.body = text_string(&body),
                                            .module = text_string(&module),
                                            .block = 64,
                                            .options = {.observer = &observer}});
        Findings *list = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
        int notes = 0;
        for (int k = 0; k < list->count; k++) notes += list->items[k].kind == FINDING_OVERWRITTEN_PADDING;
        assert_true(run.done && list->is_complete);
        assert_int_equal(list->error_count, 0);
        assert_int_equal(notes, i == 0);
        findings_free(list);
        race_detector_free(detector);
        core_done(&run);
        text_done(&body), text_done(&module);
    }
}

/* A copy to global memory whose source has been read needs no further wait: the end of the grid completes
 * it. */
static void a_bulk_store_may_end_with_the_kernel(void **state) {
    (void)state;
#define LEAVE(wait)                                                                                          \
    FILL PROXY BAR "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%q1], [%r1], 1024;\n"                  \
                   "@%p2 cp.async.bulk.commit_group;\n" wait
    check(LEAVE("@%p2 cp.async.bulk.wait_group.read 0;\n"), "");
    check(LEAVE(""), "copy_not_awaited");
    check(LEAVE("@%p2 cp.async.bulk.wait_group.read 1;\n"), "copy_not_awaited");
    check(LEAVE("@%p2 cp.async.bulk.wait_group.read 0;\n") "ld.global.u32 %r4, [%q1];\n", "async_read");
}

static void other_threads_wait_at_a_barrier_too(void **state) {
    (void)state;
    check(COPY COMMIT WAIT BAR FAR, "");
    check(COPY COMMIT WAIT FAR, "shared_race");
    check(COPY COMMIT BAR WAIT FAR, "shared_race");
    check(COPY COMMIT WAIT "bar.warp.sync -1;\n" OTHER, "");
    check(COPY COMMIT WAIT OTHER, "warp_race");
}

static void writes_wait_for_the_copy(void **state) {
    (void)state;
    check(COPY COMMIT WAIT "st.shared.u32 [%r0], %t;\n", "");
    check(COPY COMMIT "st.shared.u32 [%r0], %t;\n" WAIT, "async_write");
    check(COPY COMMIT WAIT "st.global.u32 [%q0], %t;\n", "");
    check(COPY COMMIT "st.global.u32 [%q0], %t;\n" WAIT, "async_write");
    check(COPY COMMIT COPY COMMIT WAIT, "async_write");
    check(COPY COMMIT WAIT COPY COMMIT WAIT, "");
    check(COPY COMMIT WAIT BAR FAR COPY COMMIT WAIT, "shared_race"); /* others still read the buffer */
    check(COPY COMMIT WAIT BAR FAR BAR COPY COMMIT WAIT, "");
}

static void every_copy_is_committed_and_awaited(void **state) {
    (void)state;
    check(COPY, "copy_not_committed");
    check(COPY COMMIT, "copy_not_awaited");
    check(COPY COMMIT WAIT, "");
    check("@%p2 " COPY COMMIT WAIT, "");
}

/* ---- mbarriers ----------------------------------------------------------------------------------------- */

#define INIT(count)   "@%p2 mbarrier.init.shared.b64 [%r9], " count ";\n"
#define FOLLOW        "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];\n"
#define UNTIL(parity) "SPIN: mbarrier.try_wait.parity.shared.b64 %p3, [%r9], " parity "; @!%p3 bra SPIN;\n"
#define STORE         "st.shared.u32 [%r0], %t;\n"

static void a_phase_orders_what_arrived(void **state) {
    (void)state;
    check(INIT("64") BAR COPY FOLLOW UNTIL("0") FAR, "");
    /* Waits for the phase before. */
    check(INIT("64") BAR COPY FOLLOW UNTIL("1") FAR, "copy_not_awaited async_read");
    check(INIT("64") BAR STORE "mbarrier.arrive.shared.b64 %q5, [%r9];\n" UNTIL("0") FAR, "");
    check(INIT("64") BAR STORE UNTIL("1") FAR "mbarrier.arrive.shared.b64 %q5, [%r9];\n", "shared_race");
    check(INIT("64") BAR STORE "mbarrier.arrive.relaxed.cta.shared.b64 %q5, [%r9];\n" UNTIL("0") FAR,
          "shared_race");
    check(INIT("64") BAR STORE "mbarrier.arrive.shared.b64 %q5, [%r9];\n"
                               "mbarrier.test_wait.shared.b64 %p3, [%r9], %q5;\n" FAR,
          "");
    check(INIT("63") BAR "@!%p2 mbarrier.arrive.shared.b64 %q5, [%r9];\n" UNTIL("0"), "");
    check(INIT("63") "@!%p2 mbarrier.arrive.shared.b64 %q5, [%r9];\n" UNTIL("0"),
          "warp_race"); /* initialization is not ordered */
}

static void wrong_counts_are_found(void **state) {
    (void)state;
    static const struct {
        const char *body;
        TrapKind kind;
        const char *detail;
    } wrong[] = {
        {INIT("65") BAR "mbarrier.arrive.shared.b64 %q5, [%r9];\n" UNTIL("0"), TRAP_DEADLOCK,
         "(`gate`+0, phase 0: 1 of 65 arrivals are missing)"},
        {INIT("64") BAR "mbarrier.arrive.shared.b64 %q5, [%r9];\n" UNTIL(
             "0") "mov.u32 %r4, 1;\nAGAIN: "
                  "mbarrier.test_wait.parity.shared.b64 %p3, [%r9], 1; @!%p3 bra AGAIN;\n",
         TRAP_DEADLOCK, "phase 1: 64 of 64 arrivals are missing"},
        {INIT("1") BAR "@%p2 mbarrier.arrive.expect_tx.shared.b64 %q5, [%r9], 16;\n" UNTIL("0"),
         TRAP_DEADLOCK, "phase 0: 16 bytes are missing"},
        {INIT("1") BAR "@%p2 mbarrier.arrive.expect_tx.shared.b64 %q5, [%r9], 16;\n"
                       "@%p2 mbarrier.arrive.shared.b64 %q5, [%r9];\n",
         TRAP_MBARRIER, "more arrivals than the mbarrier expects"},
        {INIT("0"), TRAP_MBARRIER, "mbarrier.init with a count of 0"},
        {INIT("2") BAR "@%p2 mbarrier.arrive.noComplete.shared.b64 %q5, [%r9], 2;\n", TRAP_MBARRIER,
         "completes the phase"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Text text = {0};
        text_add(&text, BEGIN);
        text_add(&text, wrong[i].body);
        core_run_trap((CoreKernel){.body = text_string(&text), .module = MODULE, .block = 64}, wrong[i].kind,
                      wrong[i].detail);
        text_done(&text);
    }
}

/* A wait may give up before the phase is complete: in other orders the first one of a warp does. */
static void a_wait_is_repeated(void **state) {
    (void)state;
    const char *once = FETCH "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0;\n" OWN,
               *tested = FETCH "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 0;\n@%p3 " OWN;
    check(once, "");
    for (uint64_t schedule = 1; schedule <= 5; schedule++) {
        check_in_order(once, schedule, "copy_not_awaited async_read");
        check_in_order(FETCH PHASE OWN, schedule, "");
        check_in_order(tested, schedule, "copy_not_awaited");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_wait_for_the_copy),
                                       cmocka_unit_test(bulk_copies_need_a_proxy_fence),
                                       cmocka_unit_test(a_masked_copy_races_for_its_bytes_only),
                                       cmocka_unit_test(tensor_copies_are_bulk_copies),
                                       cmocka_unit_test(a_store_beyond_a_row_is_a_note),
                                       cmocka_unit_test(a_bulk_store_may_end_with_the_kernel),
                                       cmocka_unit_test(other_threads_wait_at_a_barrier_too),
                                       cmocka_unit_test(writes_wait_for_the_copy),
                                       cmocka_unit_test(every_copy_is_committed_and_awaited),
                                       cmocka_unit_test(a_phase_orders_what_arrived),
                                       cmocka_unit_test(wrong_counts_are_found),
                                       cmocka_unit_test(a_wait_is_repeated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
