/* Sentences about races in a report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings_list.h"
#include "findings/races/race_detector.h"
#include "ptx/opcodes.h"
#include "tests/emulator/core.h"
#include <string.h>

static const char words[] = ".shared .align 16 .b8 words[1024];\n";

typedef struct Watched {
    RaceDetector *detector;
    TraceObserver observer;
    CoreRun run;
    Findings *hazards;
} Watched;

static void watch(Watched *watched, CoreKernel kernel) {
    watched->detector = race_detector_new();
    watched->observer = race_detector_observer(watched->detector);
    kernel.options.observer = &watched->observer;
    watched->run = core_run_well(kernel);
    watched->hazards =
        findings_new(watched->detector, watched->run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
}

static void watched_done(Watched *watched) {
    findings_free(watched->hazards);
    race_detector_free(watched->detector);
    core_done(&watched->run);
}

static void expect_side(const FindingAccess *side, uint64_t block, int warp, int lane, uint32_t lanes,
                        uint64_t offset, uint64_t value) {
    assert_int_equal(side->linear_block, block);
    assert_int_equal(side->warp, warp);
    assert_int_equal(side->lane, lane);
    assert_int_equal(side->lanes, lanes);
    assert_int_equal(side->offset, offset);
    assert_true(side->has_value);
    assert_int_equal(side->value, value);
}

/* Warp 0 stores a pair of words for each thread, warp 1 reads the second words after one barrier of the
 * block. Only block 3, in the middle of the grid, does so. */
static void test_sides_of_a_race(void **state) {
    (void)state;
    Watched watched;
    watch(&watched,
          (CoreKernel){
              .body = "mov.u32 %r9, words; shl.b32 %r0, %t, 3; add.u32 %r1, %r9, %r0;\n"
                      "st.shared.v2.u32 [%r1], {0, 0}; bar.sync 0;\n"
                      "mov.u32 %r2, %ctaid.y; setp.ne.u32 %p0, %r2, 1; mov.u32 %r2, %ctaid.x;\n"
                      "setp.ne.or.u32 %p0, %r2, 1, %p0; @%p0 bra END;\n"
                      "setp.ge.u32 %p1, %t, 32; @%p1 bra READ;\n"
                      "add.u32 %r3, %t, 500; st.shared.v2.u32 [%r1], {%t, %r3}; bra END;\n"
                      "READ: mov.u32 %r4, 0; D: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 99; @%p2 bra D;\n"
                      "setp.lt.u32 %p3, %t, 36; @%p3 ld.shared.u32 %r5, [%r1+-252];\nEND:",
              .module = ".shared .align 16 .b8 front[64]; .shared .align 16 .b8 words[512];\n",
              .grid = 2,
              .grid_y = 2,
              .block = 64});
    assert_int_equal(watched.hazards->error_count, 1);
    const Finding *race = &watched.hazards->items[0];
    assert_string_equal(race->kind_text, "shared_race");
    assert_int_equal(race->space, PTX_SPACE_SHARED);
    assert_int_equal(race->count, 1);
    assert_int_equal(race->blocks, 1);
    expect_side(&race->access, 3, 1, 0, 15, 4, 500);
    expect_side(&race->other, 3, 0, 0, 15, 4, 500);
    assert_false(race->access.is_store);
    assert_true(race->other.is_store);
    assert_false(race->access.is_atomic || race->other.is_atomic);
    assert_int_equal(race->access.block[0], 1);
    assert_int_equal(race->access.block[1], 1);
    assert_int_equal(race->access.interval, 1);
    assert_int_equal(race->other.interval, 1);
    assert_string_equal(race->what, "words[1]");
    watched_done(&watched);
}

/* The first and the last word of each of three variables. */
static void test_variables_are_named(void **state) {
    (void)state;
    static const struct {
        const char *variable, *what;
        int offset;
    } cases[] = {{"front", "front[0]", 0},   {"front", "front[7]", 28}, {"words", "words[0]", 0},
                 {"words", "words[15]", 60}, {"rear", "rear[0]", 0},    {"rear", "rear[3]", 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Watched watched;
        Text body = {0};
        text_print(&body,
                   "mov.u32 %%r1, front; mov.u32 %%r1, rear; mov.u32 %%r1, words; mov.u32 %%r1, %s;\n"
                   "setp.eq.u32 %%p0, %%t, 0; @%%p0 st.shared.u32 [%%r1+%d], 7;\n"
                   "setp.eq.u32 %%p1, %%t, 1; @%%p1 ld.shared.u32 %%r2, [%%r1+%d];",
                   cases[i].variable, cases[i].offset, cases[i].offset);
        watch(&watched,
              (CoreKernel){.body = text_string(&body),
                           .module = ".shared .align 4 .b8 front[32]; .shared .align 4 .b8 words[64]; "
                                     ".shared .align 4 .b8 rear[16];\n"});
        const Finding *race = watched.hazards->items;
        for (int side = 0; side < 2; side++) {
            const FindingAccess *access = side ? &race->access : &race->other;
            assert_int_equal(access->offset, cases[i].offset);
            assert_string_equal(watched.run.launch->symbols[access->buffer].name, cases[i].variable);
        }
        assert_string_equal(race->what, cases[i].what);
        watched_done(&watched);
        text_done(&body);
    }
}

/* Two lines of a kernel, the sentence about them and the advice. %p1 to %p3: thread 0, 1, 32; %p4, %p5:
 * thread 0 of block 1, of block 0. */
static void test_sentences(void **state) {
    (void)state;
    static const struct {
        const char *first, *second, *sentence, *advice;
    } cases[] = {
        {"@%p1 st.shared.u32 [words], 7;", "@%p2 ld.shared.u32 %r2, [words];",
         "line 5: warp 0 lane 0 stores words[0] (7); line 6: warp 0 lane 1 loads it (7). There is no "
         "__syncwarp() between them, and since Volta the lanes of a warp need not run in lockstep (shuffles "
         "and votes do not order memory): the value loaded is undefined.",
         "put __syncwarp() between the two accesses, and between a load and the store that follows it"},
        {"@%p1 st.volatile.shared.u32 [words], 7;", "@%p2 ld.volatile.shared.u32 %r2, [words];",
         "line 5: warp 0 lane 0 stores words[0] (7); line 6: warp 0 lane 1 loads it (7). Volatile does not "
         "order different lanes, and there is no __syncwarp() between them: the value loaded is undefined.",
         "put __syncwarp() between the two accesses, and between a load and the store that follows it"},
        {"@%p1 st.shared.u32 [words+8], 7;", "@%p3 st.shared.u32 [words+8], 8;",
         "line 5: warp 0 lane 0 stores words[2] (7); line 6: warp 1 lane 0 stores it (8). There is no "
         "barrier between them, and warps run in any order: either value may remain.",
         "put __syncthreads() between the two accesses, where every thread of the block reaches it"},
        {"@%p1 st.shared.f32 [words+8], 0f40200000;", "@%p3 ld.shared.f32 %f2, [words+8];",
         "line 5: warp 0 lane 0 stores words[2] (2.5); line 6: warp 1 lane 0 loads it (2.5). There is no "
         "barrier between them, and warps run in any order: the value loaded is undefined.",
         "put __syncthreads() between the two accesses, where every thread of the block reaches it"},
        {"@%p1 st.shared.f64 [words+16], 0d400A000000000000;", "@%p3 ld.shared.f64 %d2, [words+16];",
         "line 5: warp 0 lane 0 stores words[2] (3.25); line 6: warp 1 lane 0 loads it (3.25). There is no "
         "barrier between them, and warps run in any order: the value loaded is undefined.",
         "put __syncthreads() between the two accesses, where every thread of the block reaches it"},
        {"@%p1 st.shared.u64 [words+16], 258;", "@%p3 ld.shared.u64 %q2, [words+16];",
         "line 5: warp 0 lane 0 stores words[2] (258); line 6: warp 1 lane 0 loads it (258). There is no "
         "barrier between them, and warps run in any order: the value loaded is undefined.",
         "put __syncthreads() between the two accesses, where every thread of the block reaches it"},
        {"@%p1 st.shared.s32 [words+8], -7;", "@%p3 ld.shared.s32 %r2, [words+8];",
         "line 5: warp 0 lane 0 stores words[2] (-7); line 6: warp 1 lane 0 loads it (-7). There is no "
         "barrier between them, and warps run in any order: the value loaded is undefined.",
         "put __syncthreads() between the two accesses, where every thread of the block reaches it"},
        {"@%p1 atom.shared.add.u32 %r3, [words], 7;", "@%p3 ld.shared.u32 %r2, [words];",
         "line 5: warp 0 lane 0 updates (atomically) words[0]; line 6: warp 1 lane 0 loads it (7). There is "
         "no barrier between them, and warps run in any order; an atomic access does not order one that is "
         "not atomic: the value loaded is undefined.",
         "make both accesses atomic, or put a barrier between them"},
        {"@%p5 st.global.u32 [%base], 9;", "@%p4 ld.global.u32 %r2, [%base];",
         "line 5: block 0 warp 0 lane 0 stores out[0] (9); line 6: block 1 warp 0 lane 0 loads it (9). "
         "Blocks run in any order, and no fence with an atomic or a flag orders these two: the value loaded "
         "is undefined.",
         "let blocks write different elements; use an atomic; publish with __threadfence() and an atomic "
         "flag, and fence again after reading it; or use a second launch"},
        {"@%p5 st.global.u32 [%base], 9;", "@%p4 atom.global.add.u32 %r2, [%base], 1;",
         "line 5: block 0 warp 0 lane 0 stores out[0] (9); line 6: block 1 warp 0 lane 0 updates "
         "(atomically) it. Blocks run in any order, and no fence with an atomic or a flag orders these two; "
         "an atomic access does not order one that is not atomic: either value may remain.",
         "let blocks write different elements; use an atomic; publish with __threadfence() and an atomic "
         "flag, and fence again after reading it; or use a second launch"},
        {"@%p1 red.relaxed.cta.global.add.u32 [%base+4], 1;", "",
         "line 5: block 0 warp 0 lane 0 updates (atomically) out[1], and block 1 warp 0 lane 0 updates "
         "(atomically) it. Block scope (.cta) does not order accesses of different blocks: either value may "
         "remain.",
         "use atomics of device scope (atomicAdd, not atomicAdd_block)"},
        {"setp.lt.u32 %p6, %t, 2; add.u32 %r2, %t, 40;", "@%p6 st.shared.u32 [words+4], %r2;",
         "line 6: lanes 0 (40) and 1 (41) of warp 0 store different values to words[1] in one instruction: "
         "either value may remain.",
         "let one lane store, or give each lane its own element; to combine the values, use an atomic or a "
         "reduction"},
        {"setp.lt.u32 %p6, %t, 2; cvt.rn.f32.u32 %f1, %t;", "@%p6 st.shared.f32 [words+4], %f1;",
         "line 6: lanes 0 (0) and 1 (1) of warp 0 store different values to words[1] in one instruction: "
         "either value may remain.",
         "let one lane store, or give each lane its own element; to combine the values, use an atomic or a "
         "reduction"},
        {"@%p1 shfl.sync.idx.b32 %r2, %r1, 5, 31, 1;", "@%p5 st.global.u32 [%out], %r2;",
         "line 6: in lane 0 of warp 0, a value that the shuffle in line 5 leaves undefined is stored: the "
         "shuffle reads a lane that does not take part.",
         "let every lane that is read from execute the shuffle: shuffle before the branch, and give lanes "
         "without an element the identity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Watched watched;
        Text body = {0};
        text_print(&body,
                   "setp.eq.u32 %%p1, %%t, 0; setp.eq.u32 %%p2, %%t, 1; setp.eq.u32 %%p3, %%t, 32;\n"
                   "mov.u32 %%r9, %%ctaid.x; setp.eq.and.u32 %%p4, %%r9, 1, %%p1; setp.eq.and.u32 %%p5, "
                   "%%r9, 0, %%p1;\n"
                   "mov.u32 %%r1, words; add.u32 %%r1, %%r1, %%t; st.shared.u8 [%%r1], 0; bar.sync 0;\n"
                   ".loc 1 5 0\n%s\n.loc 1 6 0\n%s",
                   cases[i].first, cases[i].second);
        watch(&watched, (CoreKernel){.body = text_string(&body),
                                     .module = ".file 1 \"races.cu\"\n.shared .align 8 .b8 words[64];\n",
                                     .grid = 2,
                                     .block = 64});
        assert_int_equal(watched.hazards->error_count, 1);
        const Finding *race = watched.hazards->items;
        assert_string_equal(race->sentence, cases[i].sentence);
        assert_string_equal(race->advice, cases[i].advice);
        watched_done(&watched);
        text_done(&body);
    }
}

/* Unrolled: several pairs of instructions in the same two lines are one race; in other lines they are
 * another. */
static void test_pairs_of_the_same_lines(void **state) {
    (void)state;
    Watched watched;
    watch(&watched,
          (CoreKernel){.body =
                           "setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p3, %t, 32; mov.u32 %r9, %ctaid.x;\n"
                           "setp.ne.and.u32 %p4, %r9, 1, %p3;\n"
                           ".loc 1 5 0\n@%p1 st.shared.u32 [words], 7; @%p1 st.shared.u32 [words+4], 8;\n"
                           "@%p1 st.shared.u32 [words+8], 8; bar.warp.sync -1;\n"
                           ".loc 1 6 0\n@%p4 ld.shared.u32 %r2, [words]; @%p3 ld.shared.u32 %r3, [words+4];\n"
                           ".loc 1 7 0\n@%p4 ld.shared.u32 %r4, [words+8];",
                       .module = ".file 1 \"races.cu\"\n.shared .align 8 .b8 words[64];\n",
                       .grid = 4,
                       .block = 64});
    assert_int_equal(watched.hazards->error_count, 2);
    static const int lines[] = {6, 7}, counts[] = {7, 3}, blocks[] = {4, 3};
    for (int i = 0; i < 2; i++) {
        const Finding *race = &watched.hazards->items[i];
        assert_int_equal(race->other.line, 5);
        assert_int_equal(race->access.line, lines[i]);
        assert_int_equal(race->count, counts[i]);
        assert_int_equal(race->blocks, blocks[i]);
    }
    watched_done(&watched);
}

/* In the same two lines, but on two variables: two races. */
static void test_two_variables_in_the_same_lines(void **state) {
    (void)state;
    Watched watched;
    watch(&watched,
          (CoreKernel){.body = "setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p3, %t, 32;\n"
                               ".loc 1 5 0\n@%p1 st.shared.u32 [a+4], 7; @%p1 st.shared.u32 [b+8], 8;\n"
                               ".loc 1 6 0\n@%p3 ld.shared.u32 %r2, [a+4]; @%p3 ld.shared.u32 %r3, [b+8];",
                       .module =
                           ".file 1 \"races.cu\"\n.shared .align 8 .b8 a[64];\n.shared .align 8 .b8 b[64];\n",
                       .block = 64});
    assert_int_equal(watched.hazards->error_count, 2);
    assert_string_equal(watched.hazards->items[0].what, "a[1]");
    assert_string_equal(watched.hazards->items[1].what, "b[2]");
    watched_done(&watched);
}

/* The possible cause of a wrong result: elements that two blocks load, else the last store, else none. */
static void test_wrong_results(void **state) {
    (void)state;
    static const struct {
        const char *body, *sentence, *advice;
        int access, other; /* lines */
    } cases[] = {
        {".loc 1 5 0\nld.global.u32 %r2, [%out];\n.loc 1 6 0\nst.global.u32 [%out+512], %r2;",
         "; the last store is in line 6",
         "check which thread stores the result, and which value: V shows registers, r how the result was "
         "reduced",
         6, 0},
        {".loc 1 5 0\n@%p5 ld.global.u32 %r2, [%base+8];\n.loc 1 6 0\n@%p4 ld.global.u32 %r2, [%base+8];",
         "; line 5 loads out[2] in block 0, and line 6 loads it again in block 1: elements may count twice",
         "match the index to the grid: each element belongs to one thread", 6, 5},
        {".loc 1 8 0\nshl.b32 %r3, %t, 2; cvt.u64.u32 %q1, %r3; add.u64 %q2, %base, %q1; setp.lt.u32 %p6, "
         "%t, 2;\n.loc 1 5 0\n@%p6 ld.global.u32 %r2, [%q2];",
         "; line 5 loads out[0] in block 0, and line 5 loads it again in block 1 (and 1 more such load of a "
         "lane): elements "
         "may count twice",
         "match the index to the grid: each element belongs to one thread", 5, 5},
        {".loc 1 8 0\nshl.b32 %r3, %t, 2; cvt.u64.u32 %q1, %r3; add.u64 %q2, %base, %q1; setp.lt.u32 %p6, "
         "%t, 2;\n.loc 1 5 0\nld.global.u32 %r2, [%q2];\n.loc 1 7 0\nst.global.u32 [%out+512], %r2;",
         "; line 5 loads out[0] in block 0, and line 5 loads it again in block 1 (and 63 more such loads of "
         "a lane): "
         "elements may count twice",
         "match the index to the grid: each element belongs to one thread", 5, 5},
        {".loc 1 5 0\nadd.u32 %r2, %t, 1;", "", NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RaceDetector *detector = race_detector_new();
        TraceObserver observer = race_detector_observer(detector);
        Text body = {0};
        text_print(&body,
                   "setp.eq.u32 %%p1, %%t, 0; mov.u32 %%r9, %%ctaid.x; setp.eq.and.u32 %%p4, %%r9, 1, %%p1;\n"
                   "setp.eq.and.u32 %%p5, %%r9, 0, %%p1;\n%s",
                   cases[i].body);
        CoreKernel kernel = {.body = text_string(&body),
                             .module = ".file 1 \"races.cu\"\n",
                             .grid = 2,
                             .block = 64,
                             .words = 256};
        kernel.options.observer = &observer;
        CoreRun run = core_run_well(kernel);
        Findings *findings = findings_new(detector, run.trace, &(FindingResult){true, "17", "18", NULL},
                                          &(FindingKnown){.leak_pc = PTX_NO_PC});
        assert_int_equal(findings->error_count, 1);
        const Finding *wrong = findings->items;
        assert_string_equal(wrong->kind_text, "wrong_result");
        assert_int_equal(wrong->count, 1);
        assert_int_equal(wrong->blocks, 1);
        Text sentence = {0};
        text_print(&sentence, "the result is 17, expected 18%s.", cases[i].sentence);
        assert_string_equal(wrong->sentence, text_string(&sentence));
        text_done(&sentence);
        if (cases[i].advice)
            assert_string_equal(wrong->advice, cases[i].advice);
        else
            assert_null(wrong->advice);
        assert_int_equal(wrong->access.line, cases[i].access);
        assert_int_equal(wrong->other.line, cases[i].other);
        findings_free(findings);
        race_detector_free(detector);
        core_done(&run);
        text_done(&body);
    }
}

/* Two launches load an element twice, in the same way: the first of them is named. */
static void test_a_wrong_result_of_an_earlier_launch(void **state) {
    (void)state;
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    CoreRun run = core_run_well((CoreKernel){
        .body = "ld.global.u32 %r2, [%base+8];", .grid = 2, .words = 64, .options = {.observer = &observer}});
    uint64_t address = emulator_buffer_address(run.emulator, 0);
    Launch launch = {.program = run.program,
                     .grid = {2, 1, 1},
                     .block = {32, 1, 1},
                     .parameters = (uint8_t *)&address,
                     .parameter_bytes = sizeof address};
    Error error = {0};
    if (!emulator_run(run.emulator, &launch, run.trace, &error)) fail_msg("%s", error.message);
    assert_int_equal(run.trace->launch_count, 2);
    Findings *findings = findings_new(detector, run.trace, &(FindingResult){true, "17", "18", NULL},
                                      &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_int_equal(findings->error_count, 1);
    assert_int_equal(findings->items[0].launch, 0);
    assert_string_equal(findings->items[0].what, "out[2]");
    findings_free(findings);
    race_detector_free(detector);
    core_done(&run);
}

/* The count includes each execution, and each block with one. */
static void test_races_are_counted(void **state) {
    (void)state;
    Watched watched;
    watch(&watched,
          (CoreKernel){.body = "mov.u32 %r1, words; shl.b32 %r0, %t, 2; add.u32 %r1, %r1, %r0;\n"
                               "st.shared.u32 [%r1], 0; st.shared.u32 [%r1+4], 0; bar.sync 0;\n"
                               "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p0, %r2, 2; @%p0 bra END;\n"
                               "mov.u32 %r3, 0;\nL: add.u32 %r4, %r3, %t; st.shared.u32 [%r1], %r4;\n"
                               "ld.shared.u32 %r5, [%r1+4]; bar.sync 0;\n"
                               "add.u32 %r3, %r3, 7; setp.lt.u32 %p1, %r3, 35; @%p1 bra L;\nEND:",
                       .module = words,
                       .grid = 4});
    const Finding *race = NULL;
    for (int i = 0; i < watched.hazards->error_count; i++)
        if (!watched.hazards->items[i].access.is_store) race = &watched.hazards->items[i];
    if (!race) fail_msg("no race of a load");
    assert_string_equal(race->kind_text, "warp_race");
    assert_int_equal(race->count, 15); /* 5 rounds of 3 blocks */
    assert_int_equal(race->blocks, 3);
    watched_done(&watched);
}

/* Two lanes of one store: the value that each was about to store. */
static void test_values_of_a_conflict(void **state) {
    (void)state;
    Watched watched;
    watch(&watched,
          (CoreKernel){.body = "setp.lt.u32 %p0, %t, 3; setp.gt.u32 %p1, %t, 0; add.u32 %r0, %t, 40;\n"
                               "@%p0 st.global.u32 [%base+8], %r0;",
                       .words = 32});
    assert_int_equal(watched.hazards->error_count, 1);
    const Finding *race = &watched.hazards->items[0];
    assert_string_equal(race->kind_text, "store_conflict");
    assert_int_equal(race->space, PTX_SPACE_GLOBAL);
    assert_string_equal(race->what, "out[2]");
    expect_side(&race->access, 0, 0, 1, 6, 8, 41);
    expect_side(&race->other, 0, 0, 0, 1, 8, 40);
    watched_done(&watched);
}

/* A word has the type of its buffer, or of the run's buffers of its size if it is in no buffer. */
static void test_values_have_signs(void **state) {
    (void)state;
    static const struct {
        PtxType instruction;
        PtxSpace space;
        PtxType buffer, type;
        const char *value;
    } cases[] = {
        {PTX_U32, PTX_SPACE_GLOBAL, PTX_S32, PTX_S32, "\"value\":-2,"},
        {PTX_B32, PTX_SPACE_GLOBAL, PTX_U32, PTX_U32, "\"value\":4294967294,"},
        {PTX_S32, PTX_SPACE_GLOBAL, PTX_U32, PTX_S32, "\"value\":-2,"},
        {PTX_U32, PTX_SPACE_SHARED, PTX_S32, PTX_S32, "\"value\":-2,"},
        {PTX_B32, PTX_SPACE_SHARED, PTX_U32, PTX_U32, "\"value\":4294967294,"},
        {PTX_U32, PTX_SPACE_SHARED, PTX_F32, PTX_S32, "\"value\":-2,"},
        {PTX_B32, PTX_SPACE_SHARED, PTX_F32, PTX_F32, "\"value\":null,"}, /* not a number */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxInstruction in = {.opcode = PTX_st, .type_count = 1};
        in.types[0] = cases[i].instruction;
        PtxCode code = {.instruction = &in};
        PtxProgram program = {.code = &code, .code_count = 1};
        TraceLaunch launch = {.program = &program};
        TraceBuffer buffer = {.name = "out", .bytes = 64, .type = cases[i].buffer};
        Trace trace = {.buffers = &buffer, .buffer_count = 1};
        Finding finding = {.kind_text = "x",
                           .sentence = "x.",
                           .cause = -1,
                           .access = {.buffer = 0, .has_value = true, .value = 0xfffffffe},
                           .other = {.pc = PTX_NO_PC}};
        finding_put_type(&trace, &launch, cases[i].space, &finding.access);
        assert_int_equal(finding.access.type, cases[i].type);
        Text out = {0};
        Json json = {.out = &out};
        json_open_object(&json, NULL);
        findings_put_json(&(Findings){.items = &finding, .count = 1}, &json);
        json_close_object(&json);
        if (!strstr(text_string(&out), cases[i].value)) fail_msg("case %zu: %s", i, text_string(&out));
        text_done(&out);
    }
}

/* More pairs of instructions than are kept: those found are listed, and the list says that it is
 * incomplete. */
static void test_too_many_races(void **state) {
    (void)state;
    Watched watched;
    Text body = {0};
    for (int i = 0; i < 70; i++) text_print(&body, "st.global.u32 [%%base+%d], %%t;\n", 4 * i);
    watch(&watched, (CoreKernel){.body = text_string(&body), .words = 80});
    assert_int_equal(watched.hazards->error_count, 64);
    assert_false(watched.hazards->is_complete);
    watched_done(&watched);
    text_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sides_of_a_race),
        cmocka_unit_test(test_variables_are_named),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_pairs_of_the_same_lines),
        cmocka_unit_test(test_two_variables_in_the_same_lines),
        cmocka_unit_test(test_wrong_results),
        cmocka_unit_test(test_a_wrong_result_of_an_earlier_launch),
        cmocka_unit_test(test_races_are_counted),
        cmocka_unit_test(test_values_of_a_conflict),
        cmocka_unit_test(test_values_have_signs),
        cmocka_unit_test(test_too_many_races),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
