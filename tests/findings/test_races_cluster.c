/* Accesses that a cluster's barrier orders, and accesses that it does not order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "tests/emulator/core.h"
#include <string.h>

/* %r4: rank; %r5: the other rank of two; %r2: the thread's word; %r8: the same word of the other block; %r3:
 * a value. */
static const char begin[] =
    "mov.u32 %r4, %cluster_ctarank; xor.b32 %r5, %r4, 1; shl.b32 %r0, %t, 2;\n"
    "mov.u32 %r1, words; add.u32 %r2, %r1, %r0; mad.lo.u32 %r3, %i, 3, 1;\n"
    "mapa.shared::cluster.u32 %r8, %r2, %r5; setp.eq.u32 %p0, %r4, 0; setp.eq.u32 %p1, %t, 0;\n";

static void find(const char *body, Text *found, Text *sentences) {
    Text text = {0};
    text_print(&text, "%s%s", begin, body);
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    CoreRun run = core_run((CoreKernel){.body = text_string(&text),
                                        .module = ".shared .align 4 .b8 words[512];\n",
                                        .grid = 4,
                                        .block = 64,
                                        .cluster = {2, 1, 1},
                                        .options = {.observer = &observer}});
    assert_true(run.done);
    Findings *hazards = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    for (int i = 0; i < hazards->error_count; i++) {
        text_print(found, "%s%s ", i ? "\n" : "", hazards->items[i].kind_text);
        core_add_name(&run, hazards->items[i].access.pc, found);
        text_add(found, " ");
        core_add_name(&run, hazards->items[i].other.pc, found);
        if (sentences) text_print(sentences, "%s\n", hazards->items[i].sentence);
    }
    findings_free(hazards);
    race_detector_free(detector);
    core_done(&run);
    text_done(&text);
}

static void check(const char *body, const char *expected) {
    Text found = {0};
    find(body, &found, NULL);
    if (strcmp(text_string(&found), expected) != 0)
        fail_msg("%s: expected '%s', found '%s'", body, expected, text_string(&found));
    text_done(&found);
}

#define SYNC  "barrier.cluster.arrive; barrier.cluster.wait;\n"
#define STORE "st.shared.u32 [%r2], %r3;\n"
#define LOAD  "ld.shared::cluster.u32 %r10, [%r8];\n"
#define PUSH  "st.shared::cluster.u32 [%r8], %r3;\n"
#define TAKE  "ld.shared.u32 %r10, [%r2];\n"

static void test_correct(void **state) {
    (void)state;
    static const char *const rows[] = {
        STORE SYNC LOAD SYNC,
        STORE "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n" LOAD SYNC,
        STORE "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" LOAD SYNC,
        STORE "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n" LOAD SYNC,
        /* pushed: the other block must have started */
        SYNC PUSH SYNC TAKE,
        STORE SYNC "red.shared::cluster.add.u32 [%r8], 1;\n" SYNC TAKE,
        /* all threads of both blocks add to one word */
        "@%p1 st.shared.u32 [%r1], 0;\n" SYNC "mapa.shared::cluster.u32 %r9, %r1, 0;\n"
        "red.shared::cluster.add.u32 [%r9], 1;\n" SYNC "ld.shared::cluster.u32 %r10, [%r9];\n" SYNC,
        /* between arrival and wait, only accesses invisible to others */
        STORE "barrier.cluster.arrive;\n st.shared.u32 [%r2+256], 1; barrier.cluster.wait;\n" LOAD SYNC,
        /* phase after phase, in both directions */
        STORE SYNC LOAD SYNC "st.shared.u32 [%r2], %r10;\n" SYNC LOAD SYNC,
        /* a block's own barrier, then the cluster's, passes on what other threads of the block did */
        STORE "bar.sync 0;\n" SYNC LOAD SYNC,
        STORE SYNC LOAD "bar.sync 0;\n" SYNC,
        /* a flag in the other block's memory, released and acquired */
        "@%p1 st.shared.u32 [%r1+256], 0;\n" SYNC STORE
        "bar.sync 0; mapa.shared::cluster.u32 %r9, %r1, %r5;\n"
        "@%p1 st.release.cluster.shared::cluster.u32 [%r9+256], 1;\n"
        "WAIT: ld.acquire.cluster.shared.u32 %r11, [%r1+256]; setp.eq.u32 %p2, %r11, 0; @%p2 bra WAIT;\n" LOAD
            SYNC,
        /* block 1 exits, since no block accesses its memory any more */
        STORE SYNC "@%p0 st.shared::cluster.u32 [%r8], 2;\n" SYNC "@%p0 exit;\n" TAKE,
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check(rows[i], "");
}

static void test_hazards(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        /* no barrier; only the block's */
        {SYNC STORE LOAD SYNC, "shared_race st.shared.u32 ld.shared::cluster.u32\n"
                               "shared_race ld.shared::cluster.u32 st.shared.u32"},
        {SYNC STORE "bar.sync 0;\n" LOAD SYNC, "shared_race st.shared.u32 ld.shared::cluster.u32\n"
                                               "shared_race ld.shared::cluster.u32 st.shared.u32"},
        /* loaded between arrival and wait; stored there */
        {SYNC STORE "barrier.cluster.arrive;\n" LOAD "barrier.cluster.wait;\n" SYNC,
         "shared_race st.shared.u32 ld.shared::cluster.u32\nshared_race ld.shared::cluster.u32 "
         "st.shared.u32"},
        {"barrier.cluster.arrive;\n" STORE "barrier.cluster.wait;\n" LOAD SYNC,
         "shared_race ld.shared::cluster.u32 st.shared.u32"},
        /* relaxed, without a fence */
        {STORE "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n" LOAD SYNC,
         "shared_race ld.shared::cluster.u32 st.shared.u32"},
        /* overwritten while the other block still loads */
        {STORE SYNC LOAD "st.shared.u32 [%r2], 0;\n" SYNC,
         "shared_race st.shared.u32 ld.shared::cluster.u32\n"
         "shared_race ld.shared::cluster.u32 st.shared.u32"},
        /* both push to one word of rank 0 */
        {SYNC "mapa.shared::cluster.u32 %r9, %r2, 0; st.shared::cluster.u32 [%r9], %r3;\n" SYNC,
         "shared_race st.shared::cluster.u32 st.shared::cluster.u32"},
        /* an atomic, and a plain load */
        {STORE SYNC "red.shared::cluster.add.u32 [%r8], 1;\n" TAKE SYNC,
         "shared_race red.shared::cluster.add.u32 ld.shared.u32\n"
         "shared_race ld.shared.u32 red.shared::cluster.add.u32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text found = {0};
        find(rows[i][0], &found, NULL);
        /* which of the two orders of a pair is found first depends on the block that runs first */
        bool is_expected = false;
        for (const char *at = rows[i][1]; at && !is_expected;
             at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
            Text one = {0};
            text_add_bytes(&one, at, strcspn(at, "\n"));
            is_expected = strstr(text_string(&found), text_string(&one)) != NULL;
            text_done(&one);
        }
        if (!is_expected) fail_msg("%s: found '%s'", rows[i][0], text_string(&found));
        text_done(&found);
    }
}

/* A block's memory before it is known to have started, and after it may have exited. */
static void test_lifetime(void **state) {
    (void)state;
    Text found = {0}, sentences = {0};
    check(PUSH SYNC TAKE, "block_lifetime st.shared::cluster.u32 -");
    /* a run that a fault ends does not show which blocks would have waited */
    check(STORE SYNC LOAD "@%p0 trap;\n" SYNC, "trap trap -");
    /* the block that runs last loads from one that has not exited yet, but could have */
    find(STORE SYNC "@%p0 exit;\n" LOAD, &found, &sentences);
    assert_string_equal(text_string(&found), "block_lifetime ld.shared::cluster.u32 -");
    assert_non_null(strstr(text_string(&sentences),
                           "block 1 warp 0 lane 0 loads words[0] of block 0, and nothing keeps "
                           "block 0 from exiting before."));
    text_done(&found);
    text_done(&sentences);
}

static void test_sentence(void **state) {
    (void)state;
    Text found = {0}, sentences = {0};
    find(STORE "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n@%p0 " LOAD SYNC, &found, &sentences);
    assert_non_null(strstr(text_string(&sentences), "stores words[0] of block 1 (193)"));
    assert_non_null(strstr(text_string(&sentences),
                           "block 0 warp 0 lane 0 loads it (193). There is no barrier of the "
                           "cluster between them, and its blocks run in any order"));
    text_done(&found);
    text_done(&sentences);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correct),
        cmocka_unit_test(test_hazards),
        cmocka_unit_test(test_lifetime),
        cmocka_unit_test(test_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
