/* Hazards of mbarriers and asynchronous copies in another block of a cluster. They are inserted one by one,
 * each with a correct version, which has no hazard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "tests/emulator/core.h"
#include <string.h>

/* Two blocks of 64 threads send to each other. %r2, %r5: the thread's words of `tile` and `other`; %r1, %r6:
 * where these begin; %r9, %r8: two mbarriers. Of the other block: %r15, %r16, %r19, %r18. %p2: thread 0; %p4:
 * of block 0. */
#define MODULE                                                                                               \
    ".shared .align 128 .b8 tile[256];\n.shared .align 128 .b8 other[256];\n.shared .align 8 .b64 "          \
    "gate[2];\n"
#define BEGIN                                                                                                \
    "mov.u32 %r40, %cluster_ctarank; xor.b32 %r42, %r40, 1; mov.u32 %r1, tile; mov.u32 %r6, other;\n"        \
    "mov.u32 %r9, gate; add.u32 %r8, %r9, 8; setp.eq.u32 %p2, %t, 0; setp.eq.u32 %p4, %r40, 0;\n"            \
    "mad.lo.u32 %r2, %t, 4, %r1; mad.lo.u32 %r5, %t, 4, %r6; mov.u32 %r7, 7;\n"                              \
    "mapa.shared::cluster.u32 %r15, %r5, %r42; mapa.shared::cluster.u32 %r16, %r6, %r42;\n"                  \
    "mapa.shared::cluster.u32 %r19, %r9, %r42; add.u32 %r18, %r19, 8;\n"                                     \
    "st.shared.u32 [%r2], %t; st.shared.u32 [%r5], %r7; fence.proxy.async.shared::cta;\n"
#define SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"
#define TWO(count)                                                                                           \
    "@%p2 mbarrier.init.shared.b64 [%r9], " count "; @%p2 mbarrier.init.shared.b64 [%r8], " count ";\n"
#define INIT(count) TWO(count) SYNC
#define AWAIT(name, gate, parity, how)                                                                       \
    name ": mbarrier.try_wait.parity" how ".shared::cta.b64 %p3, [" gate "], " parity "; @!%p3 bra " name    \
         ";\n"
#define UNTIL       AWAIT("FULL", "%r9", "0", ".acquire.cluster")
#define ARRIVE      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n"
#define BACK        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r18];\n"
#define UNTIL_BACK  AWAIT("EMPTY", "%r8", "0", ".acquire.cluster")
#define PUSH        "st.shared::cluster.u32 [%r15], %t;\n"
#define OTHER       "ld.shared.u32 %r20, [%r5];\n"
#define TX          "mbarrier::complete_tx::bytes"
#define EXPECT(n)   "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], " n ";\n"
#define COPY        "@%p2 cp.async.bulk.shared::cluster.shared::cta." TX " [%r16], [%r1], 256, [%r19];\n"
#define EACH        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 4;\n"
#define STORE_ASYNC "st.async.weak.shared::cluster." TX ".u32 [%r15], %t, [%r19];\n"

static void find(const char *body, Text *found, Text *sentences) {
    Text text = {0};
    text_print(&text, "%s%s", BEGIN, body);
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&text),
                                             .module = MODULE,
                                             .grid = 4,
                                             .block = 64,
                                             .cluster = {2, 1, 1},
                                             .options = {.observer = &observer}});
    Findings *hazards = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_true(hazards->is_complete);
    for (int i = 0; i < hazards->count; i++) {
        if (i >= hazards->error_count && hazards->items[i].kind != FINDING_MISSING_ACQUIRE) continue;
        text_print(found, "%s%s", found->length ? " " : "", hazards->items[i].kind_text);
        if (sentences) text_print(sentences, "%s %s\n", hazards->items[i].sentence, hazards->items[i].advice);
    }
    findings_free(hazards);
    race_detector_free(detector);
    core_done(&run);
    text_done(&text);
}

static bool has_word(const char *list, const char *word) {
    size_t length = strcspn(word, " ");
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && !strncmp(at, word, length)) return true;
    return false;
}

/* `expected`: what must be found, then what may also be found. (Which access of a pair comes second depends
 * on the block that runs first.) */
static void check(const char *body, const char *expected) {
    Text found = {0}, sentences = {0};
    find(body, &found, &sentences);
    bool is_right = !*expected == !found.length;
    is_right &= !*expected || has_word(text_string(&found), expected);
    for (const char *at = text_string(&found); *at; at += strcspn(at, " "), at += *at == ' ')
        is_right &= has_word(expected, at);
    if (!is_right)
        fail_msg("%s\nexpected '%s', found '%s'\n%s", body, expected, text_string(&found),
                 text_string(&sentences));
    text_done(&found);
    text_done(&sentences);
}

static void arrivals_order_blocks(void **state) {
    (void)state;
    check(INIT("64") PUSH ARRIVE UNTIL OTHER SYNC, "");
    check(INIT("64") PUSH OTHER ARRIVE UNTIL SYNC, "shared_race"); /* read before the wait */
    check(INIT("64") ARRIVE PUSH UNTIL OTHER SYNC, "shared_race"); /* stored after the arrival */
    check(INIT("64") PUSH "fence.acq_rel.cluster;\n"
                          "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL OTHER SYNC,
          "");
    check(INIT("64") PUSH "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL OTHER SYNC,
          "shared_race");
    /* one thread arrives for all threads of its block */
    check(INIT("1") PUSH "bar.sync 0; @%p2 " ARRIVE UNTIL OTHER SYNC, "");
    check(INIT("1") PUSH "@%p2 " ARRIVE UNTIL OTHER SYNC, "shared_race");
    /* one thread waits for all */
    check(INIT("64") PUSH ARRIVE "setp.lt.u32 %p5, %t, 32; @!%p5 bra REST;\n" UNTIL
                                 "REST: bar.sync 0;\n" OTHER SYNC,
          "");
    check(INIT("64") PUSH ARRIVE "setp.lt.u32 %p5, %t, 32; @!%p5 bra REST;\n" UNTIL "REST:\n" OTHER SYNC,
          "shared_race");
}

/* An arrival or a wait with block scope orders nothing between blocks in PTX. */
static void block_scope_is_a_note(void **state) {
    (void)state;
    check(INIT("64") PUSH "mbarrier.arrive.shared::cluster.b64 _, [%r19];\n" UNTIL OTHER SYNC,
          "missing_acquire");
    check(INIT("64") PUSH ARRIVE AWAIT("FULL", "%r9", "0", "") OTHER SYNC, "missing_acquire");
    check(INIT("64") PUSH ARRIVE AWAIT("FULL", "%r9", "0", ".acquire.cta") OTHER SYNC, "missing_acquire");
    check(INIT("64") STORE_ASYNC EACH AWAIT("FULL", "%r9", "0", "") OTHER SYNC,
          ""); /* any wait makes copies visible */
    Text found = {0}, sentences = {0};
    find(INIT("64") PUSH "mbarrier.arrive.shared::cluster.b64 _, [%r19];\n" UNTIL OTHER SYNC, &found,
         &sentences);
    if (!strstr(text_string(&sentences), "mbarrier.arrive.release.cluster"))
        fail_msg("%s", text_string(&sentences));
    text_done(&found);
    text_done(&sentences);
}

static void an_mbarrier_is_initialized_first(void **state) {
    (void)state;
    check(TWO("64") "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.relaxed; "
                    "barrier.cluster.wait;\n" PUSH ARRIVE UNTIL OTHER SYNC,
          "");
    check(TWO("64") "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n" ARRIVE UNTIL SYNC,
          "shared_race");
}

static void copies_are_waited_for(void **state) {
    (void)state;
    check(INIT("1") EXPECT("256") COPY UNTIL OTHER SYNC, "");
    check(INIT("1") EXPECT("256") COPY OTHER UNTIL SYNC, "async_read shared_race");
    check(INIT("1") EXPECT("256") SYNC COPY SYNC "st.shared.u32 [%r5], %r7;\n" UNTIL SYNC,
          "async_write shared_race");
    check(INIT("1") EXPECT("256") COPY UNTIL "st.shared.u32 [%r5], %r7;\n" SYNC, "");
    check(INIT("64") EACH STORE_ASYNC UNTIL OTHER SYNC, "");
    check(INIT("64") EACH STORE_ASYNC OTHER UNTIL SYNC, "async_read shared_race");
    check(INIT("64") EACH "red.async.relaxed.cluster.shared::cluster." TX
                          ".add.u32 [%r15], %t, [%r19];\n" UNTIL OTHER SYNC,
          "");
    /* the sender reads what it has sent */
    check(INIT("1") EXPECT("256") COPY "ld.shared::cluster.u32 %r20, [%r15];\n" UNTIL SYNC, "async_read");
    check(INIT("1") EXPECT("256") COPY UNTIL SYNC "ld.shared::cluster.u32 %r20, [%r15];\n" SYNC, "");
    check(INIT("1") EXPECT("256") COPY SYNC, "copy_not_awaited block_lifetime");
    /* both blocks to one address */
    check("mapa.shared::cluster.u32 %r16, %r6, 0; mapa.shared::cluster.u32 %r19, %r9, 0;\n" INIT(
              "1") "and.pred %p5, %p2, %p4; @%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], "
                   "512;\n" COPY "@!%p4 bra END;\n" UNTIL OTHER "END: " SYNC,
          "async_write");
}

/* Two additions to the same words, which may be in flight together, each with an mbarrier of its own. */
static void the_second_copy_is_waited_for_too(void **state) {
    (void)state;
#define ADD(gate)                                                                                            \
    "@%p2 cp.reduce.async.bulk.shared::cluster.shared::cta." TX ".add.u32 [%r16], [%r1], 256, [" gate "];\n"
#define ADD_TWICE                                                                                            \
    INIT("1")                                                                                                \
    EXPECT("256")                                                                                            \
    "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 256;\n" SYNC ADD("%r19") ADD("%r18")
    check(ADD_TWICE UNTIL UNTIL_BACK OTHER SYNC, "");
    check(ADD_TWICE UNTIL OTHER UNTIL_BACK SYNC, "async_read shared_race");
    check(ADD_TWICE UNTIL "st.shared.u32 [%r5], %r7;\n" UNTIL_BACK SYNC, "async_write shared_race");
}

static void sources_stay_until_they_are_read(void **state) {
    (void)state;
#define OVERWRITE "st.shared.u32 [%r2], %r7;\n"
    check(INIT("1") EXPECT("256") COPY UNTIL SYNC OVERWRITE SYNC, "");
    check(INIT("1") EXPECT("256") "bar.sync 0;\n" COPY OVERWRITE UNTIL SYNC, "async_write");
    /* the other block's copy has arrived, but this block's may still read */
    check(INIT("1") EXPECT("256") COPY UNTIL "bar.sync 0;\n" OVERWRITE SYNC, "shared_race async_write");
    check(INIT("64") "@%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 256; bar.sync 0;\n"
                     "mbarrier.arrive.shared::cta.b64 _, [%r9];\n" COPY UNTIL BACK UNTIL_BACK OVERWRITE SYNC,
          "");
    check(INIT("64") "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 4;\n" COPY UNTIL BACK
                     "@%p4 bra OVER;\n" UNTIL_BACK "OVER:\n" OVERWRITE SYNC,
          "async_write shared_race");
}

/* The receiver reads the data that arrived; only then may the next copy arrive. */
static void buffers_are_free_first(void **state) {
    (void)state;
#define AGAIN(wait)                                                                                          \
    INIT("64")                                                                                               \
    EACH STORE_ASYNC UNTIL OTHER BACK wait EACH STORE_ASYNC AWAIT("SECOND", "%r9", "1", ".acquire.cluster")  \
        OTHER SYNC
    check(AGAIN(UNTIL_BACK), "");
    check(AGAIN(""), "async_write async_read shared_race");
    check(AGAIN(AWAIT("EMPTY", "%r8", "0", "")), "missing_acquire");
}

static void blocks_stay_until_they_are_not_needed(void **state) {
    (void)state;
    check(INIT("64") PUSH ARRIVE UNTIL OTHER, ""); /* a thread that has waited need not stay */
    check(INIT("64") PUSH "mbarrier.arrive.shared::cluster.b64 _, [%r19];\n" AWAIT("FULL", "%r9", "0", "")
              OTHER,
          "missing_acquire");
    check(INIT("64") PUSH "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL,
          "block_lifetime");
    check(INIT("64") EACH STORE_ASYNC UNTIL OTHER, "");
    /* a block exits before its source is known to be read */
    check(INIT("1") EXPECT("256") COPY UNTIL OTHER, "block_lifetime");
    check(INIT("64") EACH COPY UNTIL OTHER BACK UNTIL_BACK, "");
    /* an arrival that no thread waits for */
    check(INIT("128") "@!%p4 " ARRIVE, "block_lifetime");
    check(INIT("128") "@!%p4 " ARRIVE SYNC, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_order_blocks),
        cmocka_unit_test(block_scope_is_a_note),
        cmocka_unit_test(an_mbarrier_is_initialized_first),
        cmocka_unit_test(copies_are_waited_for),
        cmocka_unit_test(the_second_copy_is_waited_for_too),
        cmocka_unit_test(sources_stay_until_they_are_read),
        cmocka_unit_test(buffers_are_free_first),
        cmocka_unit_test(blocks_stay_until_they_are_not_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
