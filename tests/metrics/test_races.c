/* What orders two accesses and what does not: small kernels under the race detector. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/findings.h"
#include "metrics/races/race_detector.h"
#include "tests/emulator/core.h"
#include <string.h>

/* "st.global.u32": the instruction's name. */
static void add_name(const CoreRun *run, int pc, Text *out) {
    Text printed = {0};
    if (pc == PTX_NO_PC)
        text_add(&printed, "-");
    else
        ptx_instruction_print(run->program->code[pc].instruction, &printed);
    const char *from = text_string(&printed);
    if (*from == '@') from = strchr(from, ' ') + 1;
    text_add_bytes(out, from, strcspn(from, " ;"));
    text_done(&printed);
}

/* Runs the kernel and expects these hazards: "kind access other", one a line; "" is none. */
static void check(const char *name, CoreKernel kernel, const char *expected) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    kernel.options.observer = &observer;
    CoreRun run = core_run_well(kernel);
    Findings *hazards = findings_new(detector, run.trace, NULL);
    assert_true(hazards->is_complete);
    Text found = {0};
    for (int i = 0; i < hazards->error_count; i++) {
        text_print(&found, "%s%s ", i ? "\n" : "", hazards->items[i].kind_text);
        add_name(&run, hazards->items[i].access.pc, &found);
        text_add(&found, " ");
        add_name(&run, hazards->items[i].other.pc, &found);
    }
    if (strcmp(text_string(&found), expected) != 0)
        fail_msg("%s: expected '%s', found '%s'", name, expected, text_string(&found));
    text_done(&found);
    findings_free(hazards);
    race_detector_free(detector);
    core_done(&run);
}

/* ---- fences, releases and acquires ------------------------------------------------------------------ */

typedef struct Message { /* one thread writes a word, then a flag; another reads the flag, then the word */
    const char *write, *read;   /* %r1: the flag that was read */
    const char *blocks, *warps; /* what is found between threads of two blocks; of one */
} Message;

#define RACE "global_race ld.global.u32 st.global.u32"
/* A flag of too narrow a scope is a race itself. */
#define NARROW(read, write) "global_race " read " " write "\n" RACE

static const Message messages[] = {
    {"st.release.gpu.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];", "", ""},
    {"st.release.sys.global.u32 [%q0], 1;", "ld.acquire.sys.global.u32 %r1, [%q0];", "", ""},
    {"st.release.cta.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];",
     NARROW("ld.acquire.gpu.global.u32", "st.release.cta.global.u32"), ""},
    {"st.relaxed.gpu.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];", RACE, RACE},
    {"st.release.gpu.global.u32 [%q0], 1;", "ld.relaxed.gpu.global.u32 %r1, [%q0];", RACE, RACE},
    {"st.release.gpu.global.u32 [%q0], 1;", "ld.relaxed.gpu.global.u32 %r1, [%q0]; fence.acq_rel.gpu;", "",
     ""},
    {"fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];", "",
     ""},
    {"fence.sc.gpu; st.relaxed.gpu.global.u32 [%q0], 1;",
     "ld.relaxed.gpu.global.u32 %r1, [%q0]; fence.sc.gpu;", "", ""},
    {"fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];", RACE,
     ""},
    {"fence.acq_rel.gpu; st.relaxed.cta.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];",
     NARROW("ld.acquire.gpu.global.u32", "st.relaxed.cta.global.u32"), ""},
    {"membar.gl; st.volatile.global.u32 [%q0], 1;", "ld.volatile.global.u32 %r1, [%q0]; membar.gl;", "", ""},
    {"membar.sys; st.volatile.global.u32 [%q0], 1;", "ld.volatile.global.u32 %r1, [%q0]; membar.sys;", "",
     ""},
    {"membar.cta; st.volatile.global.u32 [%q0], 1;", "ld.volatile.global.u32 %r1, [%q0]; membar.gl;", RACE,
     ""},
    {"membar.gl; atom.global.exch.b32 %r3, [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0; membar.gl;", "",
     ""},
    {"red.release.gpu.global.add.u32 [%q0], 1;", "atom.acquire.gpu.global.or.b32 %r1, [%q0], 0;", "", ""},
    {"red.release.cta.global.add.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];",
     NARROW("ld.acquire.gpu.global.u32", "red.release.cta.global.add.u32"), ""},
    {"atom.acq_rel.gpu.global.add.u32 %r3, [%q0], 1;", "atom.acq_rel.gpu.global.or.b32 %r1, [%q0], 0;", "",
     ""},
    {"red.global.add.u32 [%q0], 1;", "atom.acquire.gpu.global.or.b32 %r1, [%q0], 0;", RACE, RACE},
    /* an atomic keeps what was released before it */
    {"st.release.gpu.global.u32 [%q0], 1; red.relaxed.gpu.global.add.u32 [%q0], 2;",
     "ld.acquire.gpu.global.u32 %r1, [%q0];", "", ""},
};

/* The writer is thread 0, the reader thread 64: of the block, or of the grid. */
static void check_message(const Message *message, bool of_blocks) {
    Text body = {0};
    text_print(&body,
               "mov.u32 %%r0, %%ctaid.x; add.u64 %%q0, %%base, 516;\n"
               "setp.ne.u32 %%p0, %%i, 0; @%%p0 bra NEXT;\n"
               "st.global.u32 [%%base+512], 5;\n%s\nbra END;\n"
               "NEXT: setp.ne.u32 %%p1, %%i, 64; @%%p1 bra END;\n"
               "WAIT: %s setp.eq.u32 %%p2, %%r1, 0; @%%p2 bra WAIT;\n"
               "ld.global.u32 %%r2, [%%base+512]; st.global.u32 [%%out], %%r2;\nEND:",
               message->write, message->read);
    check(text_string(&body),
          (CoreKernel){.body = text_string(&body),
                       .grid = of_blocks ? 2 : 1,
                       .block = of_blocks ? 64 : 128,
                       .words = 130},
          of_blocks ? message->blocks : message->warps);
    text_done(&body);
}

static void test_messages(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        check_message(&messages[i], true);
        check_message(&messages[i], false);
    }
}

/* Block 0 writes, block 1 hands it on, block 2 reads. */
static void test_messages_are_handed_on(void **state) {
    (void)state;
    static const struct {
        const char *between, *expected;
    } cases[] = {
        {"st.release.gpu.global.u32 [%q0], 2;", ""}, /* it has acquired what it releases */
        {"atom.relaxed.gpu.global.add.u32 %r3, [%q0], 1;", ""},
        {"st.release.cta.global.u32 [%q0], 2;",
         NARROW("ld.acquire.gpu.global.u32", "st.release.cta.global.u32")},
        {"st.relaxed.gpu.global.u32 [%q0], 2;", RACE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(
            &body,
            "mov.u32 %%r0, %%ctaid.x; add.u64 %%q0, %%base, 516; setp.ne.u32 %%p0, %%t, 0; @%%p0 bra END;\n"
            "setp.ne.u32 %%p1, %%r0, 0; @%%p1 bra NEXT;\n"
            "st.global.u32 [%%base+512], 5; st.release.gpu.global.u32 [%%q0], 1; bra END;\n"
            "NEXT: WAIT: ld.acquire.gpu.global.u32 %%r1, [%%q0]; setp.lt.u32 %%p2, %%r1, %%r0; @%%p2 bra "
            "WAIT;\n"
            "setp.ne.u32 %%p1, %%r0, 1; @%%p1 bra LAST; %s bra END;\n"
            "LAST: ld.global.u32 %%r2, [%%base+512]; st.global.u32 [%%out], %%r2;\nEND:",
            cases[i].between);
        check(cases[i].between,
              (CoreKernel){.body = text_string(&body), .grid = 3, .block = 32, .words = 130},
              cases[i].expected);
        text_done(&body);
    }
}

/* ---- barriers --------------------------------------------------------------------------------------- */

static const char words[] = ".shared .align 16 .b8 words[1024];\n";

#define SHARED_RACE_LOAD    "shared_race ld.shared.u32 st.shared.u32"
#define SHARED_RACE_STORE   "shared_race st.shared.u32 ld.shared.u32"
#define VOLATILE_RACE_LOAD  "shared_race ld.volatile.shared.u32 st.volatile.shared.u32"
#define VOLATILE_RACE_STORE "shared_race st.volatile.shared.u32 ld.volatile.shared.u32"

static void test_barriers(void **state) {
    (void)state;
    static const struct {
        const char *warps[3]; /* what each does */
        const char *expected;
    } cases[] = {
        {{"st.shared.u32 [%r1], %t; bar.sync 0;", "bar.sync 0; ld.shared.u32 %r2, [%r1+-128];",
          "bar.sync 0;"},
         ""},
        {{"bar.sync 0; st.shared.u32 [%r1], %t;", "bar.sync 0; ld.shared.u32 %r2, [%r1+-128];",
          "bar.sync 0;"},
         SHARED_RACE_LOAD},
        /* who arrives lets others know, and comes to know nothing */
        {{"st.shared.u32 [%r1], %t; bar.arrive 1, 64;", "bar.sync 1, 64; ld.shared.u32 %r2, [%r1+-128];", ""},
         ""},
        {{"bar.arrive 1, 64; st.shared.u32 [%r1], %t;", "bar.sync 1, 64; ld.shared.u32 %r2, [%r1+-128];", ""},
         SHARED_RACE_LOAD},
        {{"LONG bar.arrive 1, 64; st.shared.u32 [%r1], %t;", "ld.shared.u32 %r2, [%r1+-128]; bar.sync 1, 64;",
          ""},
         SHARED_RACE_STORE},
        {{"LONG bar.sync 1, 64; st.shared.u32 [%r1], %t;", "ld.shared.u32 %r2, [%r1+-128]; bar.sync 1, 64;",
          ""},
         ""},
        {{"bar.sync 1, 64; st.shared.u32 [%r1], %t;", "ld.shared.u32 %r2, [%r1+-128]; bar.arrive 1, 64;", ""},
         ""},
        /* who takes no part knows nothing, unless he is let know at another one */
        {{"st.shared.u32 [%r1], %t; bar.sync 1, 64;", "bar.sync 1, 64;",
          "LONG ld.shared.u32 %r2, [%r1+-256];"},
         SHARED_RACE_LOAD},
        {{"st.shared.u32 [%r1], %t; bar.sync 1, 64;", "bar.sync 1, 64; bar.arrive 2, 64;",
          "bar.sync 2, 64; ld.shared.u32 %r2, [%r1+-256];"},
         ""},
        {{"st.shared.u32 [%r1], %t; bar.sync 1, 64;", "bar.arrive 2, 64; bar.sync 1, 64;",
          "bar.sync 2, 64; LONG ld.shared.u32 %r2, [%r1+-256];"},
         SHARED_RACE_LOAD},
        /* what was known before a barrier of the block, all know behind it */
        {{"st.shared.u32 [%r1], %t; bar.arrive 1, 64; bar.sync 0;", "bar.sync 1, 64; bar.sync 0;",
          "bar.sync 0; ld.shared.u32 %r2, [%r1+-256];"},
         ""},
        /* a barrier is used twice: the second time tells of the second store */
        {{"bar.arrive 1, 64; st.shared.u32 [%r1], %t; bar.arrive 2, 64;",
          "bar.sync 1, 64; bar.sync 2, 64; ld.shared.u32 %r2, [%r1+-128];", ""},
         ""},
        {{"bar.sync 1, 64; st.shared.u32 [%r1], %t; bar.sync 1, 64;",
          "bar.sync 1, 64; bar.sync 1, 64; ld.shared.u32 %r2, [%r1+-128];", ""},
         ""},
        /* volatile words of shared memory are flags where their writer, and not another thread, has fenced before */
        {{"st.volatile.shared.u32 [%r1], %t;", "LONG ld.volatile.shared.u32 %r2, [%r1+-128];", ""},
         VOLATILE_RACE_LOAD},
        {{"membar.cta; st.volatile.shared.u32 [%r1], %t;", "LONG ld.volatile.shared.u32 %r2, [%r1+-128];",
          ""},
         ""},
        {{"st.volatile.shared.u32 [%r1], %t;", "membar.cta; LONG ld.volatile.shared.u32 %r2, [%r1+-128];",
          ""},
         VOLATILE_RACE_LOAD},
        {{"ld.volatile.shared.u32 %r2, [%r1];", "LONG st.volatile.shared.u32 [%r1+-128], %t;", ""},
         VOLATILE_RACE_STORE},
        {{"ld.volatile.shared.u32 %r2, [%r1];", "membar.cta; LONG st.volatile.shared.u32 [%r1+-128], %t;",
          ""},
         ""},
        {{"membar.cta; ld.volatile.shared.u32 %r2, [%r1];", "LONG st.volatile.shared.u32 [%r1+-128], %t;",
          ""},
         VOLATILE_RACE_STORE},
        {{"", "@%p5 membar.cta; @%p5 st.volatile.shared.u32 [%r1], %t;",
          "LONG @%p5 ld.volatile.shared.u32 %r2, [%r1+-128];"},
         ""},
        {{"", "@%p6 membar.cta; @%p5 st.volatile.shared.u32 [%r1], %t;",
          "LONG @%p5 ld.volatile.shared.u32 %r2, [%r1+-128];"},
         VOLATILE_RACE_LOAD},
        {{"", "@%p5 ld.volatile.shared.u32 %r2, [%r1];",
          "@%p5 membar.cta; LONG @%p5 st.volatile.shared.u32 [%r1+-128], %t;"},
         ""},
        {{"", "@%p5 ld.volatile.shared.u32 %r2, [%r1];",
          "@%p6 membar.cta; LONG @%p5 st.volatile.shared.u32 [%r1+-128], %t;"},
         VOLATILE_RACE_STORE},
        {{"st.volatile.global.u32 [%out], %t;", "LONG ld.volatile.global.u32 %r2, [%out+-128];", ""}, ""},
        {{"st.volatile.global.u32 [%out], %t; ld.volatile.global.u32 %r2, [%out+4];", "", ""},
         "warp_race ld.volatile.global.u32 st.volatile.global.u32"},
        {{"membar.cta; st.volatile.global.u32 [%out], %t; ld.volatile.global.u32 %r2, [%out+4];", "", ""},
         ""},
        {{"st.shared.u32 [%r1], %t;", "LONG ld.volatile.shared.u32 %r2, [%r1+-128];", ""},
         "shared_race ld.volatile.shared.u32 st.shared.u32"},
        {{"st.volatile.shared.u32 [%r1], %t;", "LONG ld.shared.u32 %r2, [%r1+-128];", ""},
         "shared_race ld.shared.u32 st.volatile.shared.u32"},
    };
    static const char delay[] =
        "mov.u32 %r9, 0;\nD%d: add.u32 %r9, %r9, 1; setp.lt.u32 %p9, %r9, 500; @%p9 bra D%d;\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_add(&body, "shl.b32 %r0, %t, 2; mov.u32 %r1, words; add.u32 %r1, %r1, %r0;\n"
                        "st.shared.u32 [%r1], 0; bar.sync 0; and.b32 %r3, %t, 31;\n"
                        "setp.eq.u32 %p5, %r3, 5; setp.eq.u32 %p6, %r3, 6;\n"
                        "setp.eq.u32 %p1, %w, 1; @%p1 bra W1; setp.eq.u32 %p2, %w, 2; @%p2 bra W2;\n");
        for (int w = 0; w < 3; w++) {
            const char *does = cases[i].warps[w], *at = strstr(does, "LONG");
            text_print(&body, "W%d:\n", w);
            text_add_bytes(&body, does, at ? (size_t)(at - does) : strlen(does));
            for (const char *c = at ? delay : ""; *c; c++) {
                if (*c != '%' || c[1] != 'd')
                    text_add_bytes(&body, c, 1);
                else
                    text_print(&body, "%d", w), c++;
            }
            if (at) text_add(&body, at + 4);
            text_add(&body, "\nbra END;\n");
        }
        text_add(&body, "END:");
        check(text_string(&body), (CoreKernel){.body = text_string(&body), .module = words, .block = 96},
              cases[i].expected);
        text_done(&body);
    }
}

/* ---- lanes of a warp, and places -------------------------------------------------------------------- */

/* `body` begins with %r1: the address of this thread's word in shared memory. */
static void test_places(void **state) {
    (void)state;
    static const struct {
        const char *body, *expected;
        uint32_t block;
    } cases[] = {
        {"st.shared.u32 [%r1], %t; ld.shared.u32 %r2, [%r1];", "", 32},
        {"st.shared.u32 [%r1], %t; ld.shared.u32 %r2, [%r1+4];", "warp_race ld.shared.u32 st.shared.u32", 32},
        {"st.shared.u32 [%r1], %t; bar.warp.sync -1; ld.shared.u32 %r2, [%r1+4];", "", 32},
        {"st.shared.u32 [%r1], %t; bar.warp.sync -1; ld.shared.u32 %r2, [%r1+4];",
         "shared_race ld.shared.u32 st.shared.u32", 64},
        {"setp.lt.u32 %p0, %t, 16; st.shared.u32 [%r1], %t; @%p0 bar.warp.sync 0xffff; @%p0 ld.shared.u32 "
         "%r2, "
         "[%r1];",
         "", 32},
        {"setp.lt.u32 %p0, %t, 15; setp.lt.u32 %p1, %t, 16; st.shared.u32 [%r1], %t;\n"
         "@%p1 bar.warp.sync 0xffff; @%p0 ld.shared.u32 %r2, [%r1+4];",
         "", 32},
        {"setp.lt.u32 %p0, %t, 16; st.shared.u32 [%r1], %t;\n"
         "@%p0 bar.warp.sync 0xffff; @%p0 ld.shared.u32 %r2, [%r1+4];", /* lane 15 reads lane 16's */
         "warp_race ld.shared.u32 st.shared.u32", 32},
        {"ld.shared.u32 %r2, [%r1+4]; st.shared.u32 [%r1], %t;", "warp_race st.shared.u32 ld.shared.u32", 32},
        {"ld.shared.u32 %r2, [%r1+4]; bar.warp.sync -1; st.shared.u32 [%r1], %t;", "", 32},
        {"ld.shared.u32 %r2, [%r1+4]; ld.shared.u32 %r3, [%r1+8];", "", 64},
        {"st.shared.u32 [words], %t;", "store_conflict st.shared.u32 st.shared.u32", 32},
        {"st.shared.u32 [words], 7;", "", 32},
        {"st.shared.u32 [words], 7;", "", 64}, /* the value that is there anyway */
        {"st.shared.u32 [words], %w;", "shared_race st.shared.u32 st.shared.u32", 64},
        {"st.global.u32 [%base], %w;", "global_race st.global.u32 st.global.u32", 64},
        {"red.shared.add.u32 [words], 1;", "", 64},
        {"red.shared.add.u32 [words], 1; ld.shared.u32 %r2, [words];",
         "shared_race ld.shared.u32 red.shared.add.u32\nwarp_race ld.shared.u32 red.shared.add.u32", 64},
        {"red.shared.add.u32 [words], 1; bar.sync 0; ld.shared.u32 %r2, [words];", "", 64},
        /* widths: the upper half of eight bytes; a byte of four; neighbours */
        {"setp.lt.u32 %p0, %t, 32; mov.u64 %q1, 9; @%p0 bra A; ld.shared.u32 %r2, [words+4]; bra B;\n"
         "A: st.shared.u64 [words], %q1; B:",
         "shared_race ld.shared.u32 st.shared.u64", 64},
        {"setp.lt.u32 %p0, %t, 32; mov.u64 %q1, 9; @%p0 bra A; ld.shared.u32 %r2, [words+8]; bra B;\n"
         "A: st.shared.u64 [words], %q1; B:",
         "", 64},
        {"setp.lt.u32 %p0, %t, 32; @%p0 bra A; ld.shared.u8 %r2, [words+3]; bra B;\n"
         "A: st.shared.u32 [words], 77; B:",
         "shared_race ld.shared.u8 st.shared.u32", 64},
        {"setp.lt.u32 %p0, %t, 32; @%p0 bra A; ld.shared.u8 %r2, [words+4]; bra B;\n"
         "A: st.shared.u32 [words], 77; B:",
         "", 64},
        {"setp.lt.u32 %p0, %t, 32; @%p0 bra A; ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [words]; bra B;\n"
         "A: st.shared.u32 [words+12], 77; B:",
         "shared_race ld.shared.v4.u32 st.shared.u32", 64},
        /* volatile orders nothing; a shuffle neither */
        {"st.volatile.shared.u32 [%r1], %t; ld.volatile.shared.u32 %r2, [%r1+4];",
         "warp_race ld.volatile.shared.u32 st.volatile.shared.u32", 32},
        {"st.shared.u32 [%r1], %t; shfl.sync.bfly.b32 %r3, %t, 1, 31, -1; ld.shared.u32 %r2, [%r1+4];",
         "warp_race ld.shared.u32 st.shared.u32", 32},
        {"st.volatile.global.u32 [%base], %w; ld.volatile.global.u32 %r2, [%base];",
         "warp_race ld.volatile.global.u32 st.volatile.global.u32", 32},
        {"and.b32 %r3, %t, 31; setp.eq.u32 %p0, %r3, 0;\n" /* of different warps: a flag, perhaps */
         "@%p0 st.volatile.global.u32 [%base], %w; @%p0 ld.volatile.global.u32 %r2, [%base];",
         "", 64},
        {"st.relaxed.gpu.global.u32 [%base], %w; ld.relaxed.gpu.global.u32 %r2, [%base];", "", 64},
        {"setp.lt.u32 %p0, %t, 4; @!%p0 bra END; shfl.sync.idx.b32 %r3, %t, 9, 31, 15; END:",
         "undefined_shuffle shfl.sync.idx.b32 -", 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body,
                   "shl.b32 %%r0, %%t, 2; mov.u32 %%r1, words; add.u32 %%r1, %%r1, %%r0;\n"
                   "mov.u32 %%r2, %%ntid.x; shl.b32 %%r2, %%r2, 2; add.u32 %%r2, %%r2, %%r1;\n"
                   "st.shared.u32 [%%r1], 0; st.shared.u32 [%%r2], 0; bar.sync 0;\n%s",
                   cases[i].body);
        check(cases[i].body,
              (CoreKernel){.body = text_string(&body), .module = words, .block = cases[i].block},
              cases[i].expected);
        text_done(&body);
    }
}

/* Atomics order themselves where their scope reaches, and only there. */
static void test_scopes_of_atomics(void **state) {
    (void)state;
    check("gpu", (CoreKernel){.body = "red.relaxed.gpu.global.add.u32 [%base], 1;", .grid = 2}, "");
    check("cta, one block",
          (CoreKernel){.body = "red.relaxed.cta.global.add.u32 [%base], 1;", .grid = 1, .block = 64}, "");
    check("cta, two blocks", (CoreKernel){.body = "red.relaxed.cta.global.add.u32 [%base], 1;", .grid = 2},
          "global_race red.relaxed.cta.global.add.u32 red.relaxed.cta.global.add.u32");
    check("plain store, two blocks",
          (CoreKernel){.body = "st.global.u32 [%base], %i;", .grid = 2, .block = 1},
          "global_race st.global.u32 st.global.u32");
    check("own words",
          (CoreKernel){.body = "st.global.u32 [%out], %i; ld.global.u32 %r0, [%out];", .grid = 3}, "");
}

/* ---- what is said of a race ------------------------------------------------------------------------- */

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
    watched->hazards = findings_new(watched->detector, watched->run.trace, NULL);
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

/* Warp 0 stores a pair of words for each thread, warp 1 reads the second ones, behind one barrier of the block; block
 * 3, in the middle of the grid, is the only one that does. */
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

/* Two lines of a kernel, the sentence about them and what to do. %p1 to %p3: thread 0, 1, 32; %p4, %p5: thread 0 of
 * block 1, of block 0. */
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
         "line 5: warp 0 lane 0 stores words[2] (0x102); line 6: warp 1 lane 0 loads it (0x102). There is no "
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
        {"", "@%p1 shfl.sync.idx.b32 %r2, %r1, 5, 31, 1;",
         "line 6: lanes 0x00000001 of warp 0 read from a lane that does not execute this shuffle: the value "
         "is undefined.",
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

/* Unrolled: several pairs of instructions in the same two lines are one race; in other lines it is another one. */
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

/* Where a wrong result may come from: elements that two blocks load, else the last store, else nothing is known. */
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
        Findings *findings = findings_new(detector, run.trace, &(FindingResult){true, "17", "18"});
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

/* Counted is each execution, and each block in which there is one. */
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
    assert_non_null(race);
    assert_string_equal(race->kind_text, "warp_race");
    assert_int_equal(race->count, 15); /* 5 rounds of 3 blocks */
    assert_int_equal(race->blocks, 3);
    watched_done(&watched);
}

/* Two lanes of one store: what each was about to put there. */
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

/* More pairs of instructions than are kept: what was found is there, and the list says that it is not all. */
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
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_messages_are_handed_on),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_scopes_of_atomics),
        cmocka_unit_test(test_sides_of_a_race),
        cmocka_unit_test(test_variables_are_named),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_pairs_of_the_same_lines),
        cmocka_unit_test(test_wrong_results),
        cmocka_unit_test(test_races_are_counted),
        cmocka_unit_test(test_values_of_a_conflict),
        cmocka_unit_test(test_too_many_races),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
