/* Accesses without an order that are right, and those that only look like them. They are
 * the guess of a compare-and-swap loop and the end of an mbarrier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "findings/races/race_detector.h"
#include "tests/emulator/core.h"

static bool has_errors(CoreKernel kernel) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    kernel.options.observer = &observer;
    CoreRun run = core_run_well(kernel);
    Findings *hazards = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    bool has = hazards->error_count;
    findings_free(hazards);
    race_detector_free(detector);
    core_done(&run);
    return has;
}

/* The first load of a compare-and-swap loop is a guess that the loop checks; other uses of it are not. */
static void test_guesses_of_a_swap(void **state) {
    (void)state;
    static const struct {
        const char *loop;
        bool is_right;
    } cases[] = {
        {"ld.global.u32 %r0, [%base];\nL: add.u32 %r1, %r0, 3; atom.global.cas.b32 %r2, [%base], %r0, %r1;\n"
         "setp.ne.u32 %p0, %r2, %r0; mov.u32 %r0, %r2; @%p0 bra L;",
         true},
        {"ld.global.u32 %r4, [%base]; mov.u32 %r0, %r4;\nL: max.u32 %r1, %r0, %t;\n"
         "atom.global.cas.b32 %r2, [%base], %r0, %r1; setp.eq.u32 %p0, %r0, %r2; mov.u32 %r0, %r2;\n"
         "@!%p0 bra L;",
         true},
        /* tries once */
        {"ld.global.u32 %r0, [%base]; add.u32 %r1, %r0, 3; atom.global.cas.b32 %r2, [%base], %r0, %r1;",
         false},
        /* another word is checked */
        {"ld.global.u32 %r0, [%base];\nL: add.u32 %r1, %r0, 3; atom.global.cas.b32 %r2, [%base+4], %r0, "
         "%r1;\n"
         "setp.ne.u32 %p0, %r2, %r0; mov.u32 %r0, %r2; @%p0 bra L; red.global.add.u32 [%base], 1;",
         false},
        /* the guess is stored */
        {"ld.global.u32 %r0, [%base]; mul.wide.u32 %q1, %t, 4; add.u64 %q1, %q1, %base;\n"
         "st.global.u32 [%q1+256], %r0;\nL: add.u32 %r1, %r0, 3;\n"
         "atom.global.cas.b32 %r2, [%base], %r0, %r1; setp.ne.u32 %p0, %r2, %r0; mov.u32 %r0, %r2; @%p0 bra "
         "L;",
         false},
        /* the guess decides whether to try */
        {"ld.global.u32 %r0, [%base]; setp.gt.u32 %p1, %r0, 40; @%p1 bra END;\nL: add.u32 %r1, %r0, 3;\n"
         "atom.global.cas.b32 %r2, [%base], %r0, %r1; setp.ne.u32 %p0, %r2, %r0; mov.u32 %r0, %r2; @%p0 bra "
         "L;\n"
         "END:",
         false},
        /* one load is checked, and the new value is of another */
        {"L: ld.global.u32 %r0, [%base]; ld.global.u32 %r3, [%base]; add.u32 %r1, %r3, 3;\n"
         "atom.global.cas.b32 %r2, [%base], %r0, %r1; setp.ne.u32 %p0, %r2, %r0; @%p0 bra L;",
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CoreKernel kernel = {.body = cases[i].loop, .grid = 3, .block = 64, .words = 200};
        if (has_errors(kernel) == cases[i].is_right) fail_msg("%s", cases[i].loop);
    }
}

/* The last warp that counts itself out ends the mbarrier that all lanes have arrived at. */
static void test_ends_of_mbarriers(void **state) {
    (void)state;
#define ENDS(count)                                                                                          \
    "setp.eq.u32 %p0, %t, 0; mov.u32 %r0, gate; @%p0 mbarrier.init.shared.b64 [%r0], 64;\n"                  \
    "@%p0 st.shared.u32 [word], 0; bar.sync 0; mbarrier.arrive.shared.b64 %q1, [%r0];\n"                     \
    "vote.sync.ballot.b32 %r1, 1, 0xffffffff; and.b32 %r2, %t, 31; setp.ne.u32 %p1, %r2, 0; @%p1 bra "       \
    "END;\n" count "mbarrier.inval.shared.b64 [%r0];\nEND:"
    static const struct {
        const char *body;
        bool is_right;
    } cases[] = {
        {ENDS("membar.cta; atom.acquire.cta.shared.add.u32 %r3, [word], 32; setp.ne.u32 %p1, %r3, 32; @%p1 "
              "bra END;\n"),
         true},
        {ENDS("atom.acquire.cta.shared.add.u32 %r3, [word], 32; setp.ne.u32 %p1, %r3, 32; @%p1 bra END;\n"),
         false},
        {ENDS("setp.ne.u32 %p1, %t, 32; @%p1 bra END;\n"), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CoreKernel kernel = {.body = cases[i].body,
                             .module = ".shared .align 8 .b64 gate; .shared .u32 word;\n",
                             .block = 64,
                             .words = 200};
        if (has_errors(kernel) == cases[i].is_right) fail_msg("%s", cases[i].body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_guesses_of_a_swap),
                                       cmocka_unit_test(test_ends_of_mbarriers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
