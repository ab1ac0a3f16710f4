/* Indices with a 32-bit overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "tests/emulator/core.h"
#include <string.h>

enum { BLOCKS = 300, LATE = 250 };

/* %r0 is 0 in blocks before the one that is LATE, and 2 from there on; %q0 = base + %r2 * 4 + the thread's
 * offset. */
static const char begin[] =
    "mov.u32 %r1, %ctaid.x; setp.ge.u32 %p0, %r1, 250; selp.u32 %r0, 2, 0, %p0; mov.u32 %r2, 0;\n";
#define ADDRESS "mul.wide.u32 %q0, %r2, 4; add.u64 %q0, %q0, %out;\n"
#define LOAD    ADDRESS "ld.global.u32 %r5, [%q0];\n"

typedef struct Case {
    const char *body;
    const char *product; /* the product that the note names; NULL: none */
    uint64_t blocks;
} Case;

static void check_one(const Case *c, int threads, bool without_tapes) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    Text body = {0}, found = {0};
    text_print(&body, "%s%s", begin, c->body);
    CoreRun run = core_run_well(
        (CoreKernel){.body = text_string(&body),
                     .module = ".shared .align 16 .b8 words[1024];\n",
                     .grid = BLOCKS,
                     .block = 64,
                     .untraced = true,
                     .options = {.observer = &observer, .threads = threads, .without_tapes = without_tapes}});
    Findings *findings = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_int_equal(findings->error_count, 0);
    for (int i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        if (finding->kind != FINDING_WRAPPED_INDEX) continue;
        assert_int_equal(finding_kind_severity(finding->kind), SEVERITY_NOTE);
        core_add_instruction(&run, finding->other.pc, &found);
        if (finding->blocks != c->blocks)
            fail_msg("%s: in %d blocks, expected %d", c->body, (int)finding->blocks, (int)c->blocks);
    }
    if (strcmp(text_string(&found), c->product ? c->product : "") != 0)
        fail_msg("%s: expected '%s', found '%s'", c->body, c->product ? c->product : "", text_string(&found));
    text_done(&found);
    text_done(&body);
    findings_free(findings);
    race_detector_free(detector);
    core_done(&run);
}

static void check_all(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check_one(&cases[i], 1, true);
        check_one(&cases[i], 1, false);
        check_one(&cases[i], 2, false);
    }
}
#define CHECK(cases) check_all(cases, sizeof(cases) / sizeof *(cases))

static void wrapped_indices_are_noted(void **state) {
    (void)state;
    static const Case cases[] = {
        {"mul.lo.u32 %r2, %r0, 0x80000000;\n" LOAD, "mul.lo.u32 %r2, %r0, 0x80000000", BLOCKS - LATE},
        {"mul.lo.s32 %r2, %r0, 0x80000000;\n" LOAD, "mul.lo.s32 %r2, %r0, 0x80000000", BLOCKS - LATE},
        {"mov.u32 %r4, 5; mad.lo.s32 %r2, %r0, 0x7fffffff, %r4; sub.u32 %r2, %r2, 3;\n" LOAD,
         "mad.lo.s32 %r2, %r0, 0x7fffffff, %r4", BLOCKS - LATE},
        {"shl.b32 %r2, %r0, 31;\n" LOAD, "shl.b32 %r2, %r0, 31", BLOCKS - LATE},
        /* in every block, by some lanes, in shared memory, by a store, through a 64-bit sum */
        {"shl.b32 %r3, %t, 2; mul.lo.u32 %r2, %r3, 0x40000001; mov.u32 %r6, words; add.u32 %r6, %r6, %r2;\n"
         "st.shared.u32 [%r6], 1;",
         "mul.lo.u32 %r2, %r3, 0x40000001", BLOCKS},
        {"mul.lo.u32 %r2, %r0, 0x80000000; cvt.u64.u32 %q1, %r2; add.u64 %q1, %q1, %out; st.global.u32 "
         "[%q1], 1;",
         "mul.lo.u32 %r2, %r0, 0x80000000", BLOCKS - LATE},
        {"setp.eq.u32 %p1, %t, 3; @%p1 mul.lo.u32 %r2, %r0, 0x80000000;\n" LOAD,
         "@%p1 mul.lo.u32 %r2, %r0, 0x80000000", BLOCKS - LATE},
    };
    CHECK(cases);
}

static void what_is_no_index_is_silent(void **state) {
    (void)state;
    static const Case cases[] = {
        /* it fits, with or without a sign */
        {"mul.lo.u32 %r2, %r0, 0x7fffffff; add.u32 %r2, %r2, 2; setp.eq.u32 %p1, %r0, 0; selp.u32 %r2, 0, "
         "%r2, %p1;\n" LOAD,
         NULL, 0},
        {"neg.s32 %r3, %r0; mul.lo.s32 %r2, %r3, 4; mad.lo.s32 %r2, %r0, 4, %r2;\n" LOAD, NULL, 0},
        /* a hash, a remainder, a mask, a shift to the right */
        {"mul.lo.u32 %r2, %r1, 0x9e3779b1; and.b32 %r2, %r2, 0;\n" LOAD, NULL, 0},
        {"mul.lo.u32 %r2, %r1, 0x9e3779b1; rem.u32 %r2, %r2, 1;\n" LOAD, NULL, 0},
        {"mul.lo.u32 %r2, %r1, 0x9e3779b1; shr.u32 %r2, %r2, 31; and.b32 %r2, %r2, 0;\n" LOAD, NULL, 0},
        /* stored, compared; the lanes that wrap do not access */
        {"mul.lo.u32 %r2, %r0, 0x80000000; st.global.u32 [%out], %r2;", NULL, 0},
        {"mul.lo.u32 %r2, %r0, 0x80000000; setp.eq.u32 %p1, %r2, 7; @%p1 st.global.u32 [%out], 1;", NULL, 0},
        {"mul.lo.u32 %r2, %r0, 0x80000000; setp.ne.u32 %p1, %r0, 0; @%p1 bra END;\n" LOAD "END:", NULL, 0},
        /* 64 bits hold it; the value that overwrites it is correct */
        {"mul.wide.u32 %q1, %r0, 0x80000000; and.b64 %q1, %q1, 0; add.u64 %q0, %q1, %out; ld.global.u32 "
         "%r5, [%q0];",
         NULL, 0},
        {"mul.lo.u32 %r2, %r0, 0x80000000; mov.u32 %r2, 0;\n" LOAD, NULL, 0},
    };
    CHECK(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapped_indices_are_noted),
        cmocka_unit_test(what_is_no_index_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
