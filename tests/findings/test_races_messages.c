/* What one thread announces to another: fences, releases, acquires, and lines that L1 keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/findings/race_check.h"

/* ---- fences, releases and acquires --------------------------------------------------------------------- */

typedef struct Message { /* one thread writes a word, then a flag; another reads the flag, then the word */
    const char *write, *read;   /* %r1: the flag that was read */
    const char *blocks, *warps; /* the findings between threads of two blocks; of one */
} Message;

#define RACE "global_race ld.global.u32 st.global.u32"
#define NOTE "missing_acquire ld.global.u32 st.global.u32"
/* A flag with too narrow a scope is a race itself. */
#define NARROW(read, write) "global_race " read " " write "\n" RACE

static const Message messages[] = {
    {"st.release.gpu.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];", "", ""},
    {"st.release.sys.global.u32 [%q0], 1;", "ld.acquire.sys.global.u32 %r1, [%q0];", "", ""},
    {"st.release.cta.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];",
     NARROW("ld.acquire.gpu.global.u32", "st.release.cta.global.u32"), ""},
    {"st.relaxed.gpu.global.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];", RACE, RACE},
    {"st.release.gpu.global.u32 [%q0], 1;", "ld.relaxed.gpu.global.u32 %r1, [%q0];", NOTE, NOTE},
    {"membar.gl; st.volatile.global.u32 [%q0], 1;", "ld.volatile.global.u32 %r1, [%q0];", NOTE, NOTE},
    {"membar.gl; red.global.add.u32 [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0;", NOTE, NOTE},
    {"membar.cta; red.global.add.u32 [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0;", RACE, NOTE},
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
    {"membar.gl; atom.global.exch.b32 %r3, [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0; membar.cta;", NOTE,
     ""},
    {"membar.gl; atom.global.exch.b32 %r3, [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0; membar.gl;", "",
     ""},
    {"red.release.gpu.global.add.u32 [%q0], 1;", "atom.acquire.gpu.global.or.b32 %r1, [%q0], 0;", "", ""},
    {"red.release.cta.global.add.u32 [%q0], 1;", "ld.acquire.gpu.global.u32 %r1, [%q0];",
     NARROW("ld.acquire.gpu.global.u32", "red.release.cta.global.add.u32"), ""},
    {"atom.acq_rel.gpu.global.add.u32 %r3, [%q0], 1;", "atom.acq_rel.gpu.global.or.b32 %r1, [%q0], 0;", "",
     ""},
    {"red.global.add.u32 [%q0], 1;", "atom.acquire.gpu.global.or.b32 %r1, [%q0], 0;", RACE, RACE},
    /* An atomic keeps earlier releases. */
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

/* Block 0 writes, block 1 passes it on, block 2 reads. */
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

/* Thread 0 of block 0 writes and sets a flag, block 1 adds to the flag, a second warp of either block reads.
 * The scope of a block is enough if the reader is in the writer's block, whatever others have added. */
static void test_others_add_to_an_announcement(void **state) {
    (void)state;
    static const struct {
        const char *fence;
        int reader; /* its block */
        const char *expected;
    } cases[] = {
        {"membar.cta;", 0, ""}, {"membar.cta;", 1, RACE}, {"membar.gl;", 0, ""}, {"membar.gl;", 1, ""},
        {"", 0, RACE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(
            &body,
            "mov.u32 %%r0, %%ctaid.x; add.u64 %%q0, %%base, 516; setp.ne.u32 %%p1, %%r0, 0;\n"
            "setp.eq.u32 %%p0, %%t, 32; @%%p0 bra SECOND; setp.ne.u32 %%p0, %%t, 0; @%%p0 bra END;\n"
            "@%%p1 bra ADDS; st.global.u32 [%%base+512], 5; %s red.global.add.u32 [%%q0], 1; bra END;\n"
            "ADDS: atom.global.or.b32 %%r1, [%%q0], 0; setp.eq.u32 %%p2, %%r1, 0; @%%p2 bra ADDS;\n"
            "red.global.add.u32 [%%q0], 1; red.global.add.u32 [%%q0+4], 1; bra END;\n"
            "SECOND: setp.ne.u32 %%p0, %%r0, %d; @%%p0 bra END;\n"
            "WAIT: atom.global.or.b32 %%r1, [%%q0+4], 0; setp.eq.u32 %%p2, %%r1, 0; @%%p2 bra WAIT;\n"
            "ld.acquire.gpu.global.u32 %%r1, [%%q0];\n"
            "ld.global.u32 %%r2, [%%base+512]; st.global.u32 [%%out], %%r2;\nEND:",
            cases[i].fence, cases[i].reader);
        check(text_string(&body),
              (CoreKernel){.body = text_string(&body), .grid = 2, .block = 64, .words = 140},
              cases[i].expected);
        text_done(&body);
    }
}

/* A store goes through the L1 cache of its own block: lines that the block has read there are not stale
 * afterwards. */
static void test_own_stores_are_not_old(void **state) {
    (void)state;
    static const char body[] =
        "add.u64 %q0, %base, 516; setp.eq.u32 %p0, %t, 64; @%p0 ld.global.u32 %r2, [%base+512]; bar.sync 0;\n"
        "@%p0 bra WAIT; setp.ne.u32 %p1, %t, 0; @%p1 bra END;\n"
        "st.global.u32 [%base+512], 5; membar.gl; red.global.add.u32 [%q0], 1; bra END;\n"
        "WAIT: atom.global.or.b32 %r1, [%q0], 0; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;\n"
        "ld.global.u32 %r2, [%base+512]; st.global.u32 [%out], %r2;\nEND:";
    check(body, (CoreKernel){.body = body, .block = 96, .words = 140}, NOTE);
}

/* Thread 0 of block 0 writes a word and sets a flag; block 1 reads the flag, and all its threads read the
 * word. */
static void test_what_is_announced(void **state) {
    (void)state;
#define ORDER   "order ld.volatile.global.u32 st.volatile.global.u32"
#define RELAXED "order ld.relaxed.gpu.global.u32 st.relaxed.gpu.global.u32"
    static const struct {
        const char *write, *wait, *read, *expected;
    } cases[] = {
        /* volatile: no finding with the fence, even if the reader has none; a finding without it */
        {"st.volatile.global.u32 [%q1], 5; membar.gl; red.global.add.u32 [%q0], 1;",
         "atom.global.or.b32 %r1, [%q0], 0;", "ld.volatile.global.u32 %r2, [%q1];", ""},
        {"st.volatile.global.u32 [%q1], 5; red.global.add.u32 [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0;",
         "ld.volatile.global.u32 %r2, [%q1];", ORDER},
        {"st.volatile.global.u32 [%q1], 5; red.global.add.u32 [%q0], 1;",
         "atom.global.or.b32 %r1, [%q0], 0; membar.gl;", "ld.volatile.global.u32 %r2, [%q1];", ORDER},
        {"membar.gl; st.volatile.global.u32 [%q1], 5; red.global.add.u32 [%q0], 1; membar.gl;",
         "atom.global.or.b32 %r1, [%q0], 0;", "ld.volatile.global.u32 %r2, [%q1];", ORDER},
        {"st.volatile.global.u32 [%q1], 5; membar.gl; st.volatile.global.u32 [%q0], 1;",
         "ld.volatile.global.u32 %r1, [%q0];", "ld.volatile.global.u32 %r2, [%q1];", ""},
        {"st.volatile.global.u32 [%q1], 5; st.volatile.global.u32 [%q0], 1;",
         "ld.volatile.global.u32 %r1, [%q0];", "ld.volatile.global.u32 %r2, [%q1];", ORDER},
        {"st.volatile.global.u32 [%q1], 5; st.release.gpu.global.u32 [%q0], 1;",
         "ld.acquire.gpu.global.u32 %r1, [%q0];", "ld.volatile.global.u32 %r2, [%q1];", ""},
        /* a polled word needs no fence */
        {"st.volatile.global.u32 [%q0], 1;", "ld.volatile.global.u32 %r1, [%q0];",
         "ld.volatile.global.u32 %r2, [%q0];", ""},
        {"st.volatile.global.u32 [%q1], 1; st.volatile.global.u32 [%q0], 1;",
         "ld.volatile.global.u32 %r1, [%q1];", "", ""},
        {"st.volatile.global.u32 [%q1], 1; st.volatile.global.u32 [%q0], 1;",
         "ld.volatile.global.u32 %r1, [%q0];",
         "L: ld.volatile.global.u32 %r2, [%q1]; setp.ne.u32 %p2, %r2, 1; @%p2 bra L;", ""},
        {"st.volatile.global.u32 [%q1], 1; st.volatile.global.u32 [%q0], 1;",
         "ld.volatile.global.u32 %r1, [%q0];",
         "L: ld.volatile.global.u32 %r2, [%q1]; sub.u32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra END; "
         "bra L;",
         ""},
        {"st.volatile.global.u32 [%q1], 1; st.volatile.global.u32 [%q0], 1;",
         "ld.volatile.global.u32 %r1, [%q1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT; ld.volatile.global.u32 "
         "%r1, [%q0];",
         "@%p3 st.volatile.global.u32 [%q1], 0;", ""}, /* it was already read */
        /* the other threads of the reader's block depend on it, too; a plain store into the word is no
         * better */
        {"st.volatile.global.u32 [%q1], 5; red.global.add.u32 [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0;",
         "@%p3 st.volatile.global.u32 [%q1], 6;", "order st.volatile.global.u32 st.volatile.global.u32"},
        /* relaxed: a load of what was stored relaxed, the same */
        {"st.relaxed.gpu.global.u32 [%q1], 5; red.global.add.u32 [%q0], 1;",
         "atom.global.or.b32 %r1, [%q0], 0;", "ld.relaxed.gpu.global.u32 %r2, [%q1];", RELAXED},
        {"st.relaxed.gpu.global.u32 [%q1], 5; st.relaxed.gpu.global.u32 [%q0], 1;",
         "ld.relaxed.gpu.global.u32 %r1, [%q0];", "ld.relaxed.gpu.global.u32 %r2, [%q1];", RELAXED},
        {"st.relaxed.gpu.global.u32 [%q1], 5; membar.gl; red.global.add.u32 [%q0], 1;",
         "atom.global.or.b32 %r1, [%q0], 0; membar.gl;", "ld.relaxed.gpu.global.u32 %r2, [%q1];", ""},
        {"st.relaxed.gpu.global.u32 [%q1], 5; st.release.gpu.global.u32 [%q0], 1;",
         "ld.acquire.gpu.global.u32 %r1, [%q0];", "ld.relaxed.gpu.global.u32 %r2, [%q1];", ""},
        {"st.relaxed.gpu.global.u32 [%q1], 1; st.relaxed.gpu.global.u32 [%q0], 1;",
         "ld.relaxed.gpu.global.u32 %r1, [%q0];",
         "L: ld.relaxed.gpu.global.u32 %r2, [%q1]; setp.ne.u32 %p2, %r2, 1; @%p2 bra L;", ""},
        /* an atomic on what was stored relaxed takes whatever is there */
        {"st.relaxed.gpu.global.u32 [%q1], 5; red.global.add.u32 [%q0], 1;",
         "atom.global.or.b32 %r1, [%q0], 0;", "red.global.add.u32 [%q1], 1;", ""},
        /* plain: a note with the writer's fence, unless the reader's block has the old value in its cache */
        {"st.global.u32 [%q1], 5; membar.gl; red.global.add.u32 [%q0], 1;",
         "atom.global.or.b32 %r1, [%q0], 0;", "ld.global.u32 %r2, [%q1];", NOTE},
        {"st.global.u32 [%q1], 5; red.global.add.u32 [%q0], 1;", "atom.global.or.b32 %r1, [%q0], 0;",
         "ld.global.u32 %r2, [%q1];", RACE},
        {"st.global.u32 [%q1], 5; membar.gl; red.global.add.u32 [%q0], 1;",
         "atom.global.or.b32 %r1, [%q0], 0; membar.gl;", "ld.global.u32 %r2, [%q1];", ""},
        {"LATE membar.gl; st.global.u32 [%q1], 5; membar.gl; red.global.add.u32 [%q0], 1;",
         "ld.global.u32 %r2, [%q1]; atom.global.or.b32 %r1, [%q0], 0;", "ld.global.u32 %r2, [%q1];",
         "global_race st.global.u32 ld.global.u32\nstale_read ld.global.u32 st.global.u32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        const char *write = cases[i].write;
        bool late = !strncmp(write, "LATE ", 5); /* after the start of the reader's block */
        text_print(
            &body,
            "mov.u32 %%r0, %%ctaid.x; add.u64 %%q0, %%base, 516; add.u64 %%q1, %%base, 512;\n"
            "setp.ne.u32 %%p0, %%r0, 0; setp.ne.u32 %%p1, %%t, 0; setp.eq.u32 %%p3, %%t, 40; @%%p0 bra "
            "NEXT;\n"
            "@%%p1 bra END; %s\n%s bra END;\n"
            "NEXT: @%%p1 bra ALL; %s\n"
            "WAIT: %s setp.eq.u32 %%p2, %%r1, 0; @%%p2 bra WAIT;\n"
            "ALL: bar.sync 0; %s\nEND:",
            late ? "WAIT0: atom.global.or.b32 %r1, [%q0+4], 0; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT0;\n"
                 : "",
            late ? write + 5 : write, late ? "ld.global.u32 %r2, [%q1]; red.global.add.u32 [%q0+4], 1;" : "",
            late ? "atom.global.or.b32 %r1, [%q0], 0;" : cases[i].wait, cases[i].read);
        check(text_string(&body),
              (CoreKernel){.body = text_string(&body), .grid = 2, .block = 64, .words = 140},
              cases[i].expected);
        text_done(&body);
    }
}

/* ---- caches -------------------------------------------------------------------------------------------- */

/* Block 1 loads `before`, waits for block 0's announcement, then loads the word at %q1. */
static void test_lines_in_cache(void **state) {
    (void)state;
#define STALE "stale_read ld.global.u32 st.global.u32"
    static const struct {
        const char *before, *fence, *expected;
    } cases[] = {
        {"ld.global.u32 %r3, [%base+520];", "", STALE}, /* another word of the line */
        {"ld.global.u32 %r3, [%base+636];", "", STALE}, /* its last one */
        {"ld.global.u32 %r3, [%base+520];", "membar.gl;", ""},
        {"ld.global.u32 %r3, [%base+640];", "", NOTE},            /* the next line */
        {"ld.global.u32 %r3, [%base+520]; membar.gl;", "", NOTE}, /* L1 is empty again */
        {"ld.global.u32 %r3, [%base+520]; membar.cta;", "", STALE},
        {"ld.volatile.global.u32 %r3, [%base+520];", "", NOTE}, /* goes past L1 */
        {"ld.relaxed.gpu.global.u32 %r3, [%base+520];", "", NOTE},
        {"", "", NOTE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body,
                   "mov.u32 %%r0, %%ctaid.x; add.u64 %%q0, %%base, 516; add.u64 %%q1, %%base, 512;\n"
                   "setp.ne.u32 %%p1, %%t, 0; @%%p1 bra END; setp.ne.u32 %%p0, %%r0, 0; @%%p0 bra NEXT;\n"
                   "st.global.u32 [%%q1], 5; membar.gl; red.global.add.u32 [%%q0], 1; bra END;\n"
                   "NEXT: %s\n"
                   "WAIT: atom.global.or.b32 %%r1, [%%q0], 0; setp.eq.u32 %%p2, %%r1, 0; @%%p2 bra WAIT;\n"
                   "%s ld.global.u32 %%r2, [%%q1];\nEND:",
                   cases[i].before, cases[i].fence);
        check(text_string(&body),
              (CoreKernel){.body = text_string(&body), .grid = 2, .block = 64, .words = 200},
              cases[i].expected);
        text_done(&body);
    }
}

/* Block 0 loads what stands at `warm`; block 1 then stores and announces it; block 2 waits and loads the
 * word. */
static void test_lines_cached_by_others(void **state) {
    (void)state;
    static const struct {
        const char *warm, *before, *fence, *load, *expected;
    } cases[] = {
        {"ld.global.u32 %r3, [%base+512];", "", "", "ld.global.u32", STALE},
        {"ld.global.u32 %r3, [%base+636];", "", "", "ld.global.u32", STALE},
        {"ld.global.u32 %r3, [%base+512];", "", "membar.gl;", "ld.global.u32", ""},
        {"ld.global.u32 %r3, [%base+640];", "", "", "ld.global.u32", NOTE},    /* the next line */
        {"ld.global.cg.u32 %r3, [%base+512];", "", "", "ld.global.u32", NOTE}, /* goes past L1 */
        {"ld.volatile.global.u32 %r3, [%base+636];", "", "", "ld.global.u32", NOTE},
        {"", "ld.global.u32 %r3, [%base+512];", "", "ld.global.u32", NOTE}, /* the block that stores */
        {"ld.global.u32 %r3, [%base+512];", "", "", "ld.global.cg.u32",
         "missing_acquire ld.global.cg.u32 st.global.u32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body,
                   "mov.u32 %%r0, %%ctaid.x; add.u64 %%q0, %%base, 772; add.u64 %%q1, %%base, 512;\n"
                   "setp.ne.u32 %%p1, %%t, 0; @%%p1 bra END; setp.ne.u32 %%p0, %%r0, 0; @%%p0 bra NEXT;\n"
                   "%s membar.gl; red.global.add.u32 [%%q0], 1; bra END;\n"
                   "NEXT: atom.global.or.b32 %%r1, [%%q0], 0; setp.lt.u32 %%p2, %%r1, %%r0; @%%p2 bra NEXT;\n"
                   "setp.eq.u32 %%p0, %%r0, 2; @%%p0 bra LAST; membar.gl;\n"
                   "%s st.global.u32 [%%q1], 5; membar.gl; red.global.add.u32 [%%q0], 1; bra END;\n"
                   "LAST: %s %s %%r2, [%%q1];\nEND:",
                   cases[i].warm, cases[i].before, cases[i].fence, cases[i].load);
        check(text_string(&body),
              (CoreKernel){.body = text_string(&body), .grid = 3, .block = 64, .words = 200},
              cases[i].expected);
        text_done(&body);
    }
}

/* Block 1 announces; the others load what it stored, one after another: none had the line before. */
static void test_lines_of_one_writer(void **state) {
    (void)state;
    const char *body = "mov.u32 %r0, %ctaid.x; add.u64 %q0, %base, 772; add.u64 %q1, %base, 512;\n"
                       "setp.ne.u32 %p1, %t, 0; @%p1 bra END; setp.ne.u32 %p0, %r0, 0; @%p0 bra NEXT;\n"
                       "st.global.u32 [%q1], 5; membar.gl; red.global.add.u32 [%q0], 1; bra END;\n"
                       "NEXT: atom.global.or.b32 %r1, [%q0], 0; setp.eq.u32 %p2, %r1, 0; @%p2 bra NEXT;\n"
                       "ld.global.u32 %r2, [%q1];\nEND:";
    check(body, (CoreKernel){.body = body, .grid = 5, .block = 64, .words = 200}, NOTE);
}

/* Block 0 adds and announces it; block 1 sees that and reads the sum by a relaxed load. */
static void test_sums_before_a_relaxed_flag(void **state) {
    (void)state;
    static const struct {
        const char *fence, *acquire, *read, *expected;
    } cases[] = {
        {"", "", "ld.relaxed.gpu.global.u32", "order ld.relaxed.gpu.global.u32 red.global.add.u32"},
        {"membar.gl;", "membar.gl;", "ld.relaxed.gpu.global.u32", ""},
        {"membar.gl;", "", "ld.relaxed.gpu.global.u32", ""}, /* a relaxed load goes past L1 */
        {"", "membar.gl;", "ld.relaxed.gpu.global.u32", "order ld.relaxed.gpu.global.u32 red.global.add.u32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body,
                   "mov.u32 %%r0, %%ctaid.x; add.u64 %%q0, %%base, 772; add.u64 %%q1, %%base, 512;\n"
                   "setp.ne.u32 %%p1, %%t, 0; @%%p1 bra END; setp.ne.u32 %%p0, %%r0, 0; @%%p0 bra NEXT;\n"
                   "red.global.add.u32 [%%q1], 5; %s red.global.add.u32 [%%q0], 1; bra END;\n"
                   "NEXT: atom.global.or.b32 %%r1, [%%q0], 0; setp.eq.u32 %%p2, %%r1, 0; @%%p2 bra NEXT;\n"
                   "%s %s %%r2, [%%q1]; st.global.u32 [%%out], %%r2;\nEND:",
                   cases[i].fence, cases[i].acquire, cases[i].read);
        check(text_string(&body),
              (CoreKernel){.body = text_string(&body), .grid = 2, .block = 64, .words = 200},
              cases[i].expected);
        text_done(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_messages_are_handed_on),
        cmocka_unit_test(test_others_add_to_an_announcement),
        cmocka_unit_test(test_own_stores_are_not_old),
        cmocka_unit_test(test_what_is_announced),
        cmocka_unit_test(test_lines_in_cache),
        cmocka_unit_test(test_lines_cached_by_others),
        cmocka_unit_test(test_lines_of_one_writer),
        cmocka_unit_test(test_sums_before_a_relaxed_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
