/* Ordered and unordered accesses in small kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/findings/race_check.h"

static void test_read_only_loads(void **state) {
    (void)state;
#define READ_ONLY "read_only_load ld.global.nc.u32 st.global.u32"
    static const struct {
        const char *body, *expected;
    } cases[] = {
        {"mad.wide.u32 %q0, %t, 4, %base; st.global.u32 [%q0], 5; bar.sync 0; ld.global.nc.u32 %r2, "
         "[%base+8];",
         READ_ONLY},
        {"mad.wide.u32 %q0, %t, 4, %base; st.global.u32 [%q0], 5; bar.sync 0; ld.global.u32 %r2, [%base+8];",
         ""},
        {"mad.wide.u32 %q0, %t, 4, %base; st.global.u32 [%q0], 5; ld.global.nc.u32 %r2, [%q0];", READ_ONLY},
        {"mad.wide.u32 %q0, %t, 4, %base; ld.global.nc.u32 %r2, [%q0]; st.global.u32 [%q0], 5;", ""},
        {"mad.wide.u32 %q0, %t, 4, %base; st.global.u32 [%q0], 5; bar.sync 0; ld.global.nc.u32 %r2, "
         "[%base+512];",
         ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].body, (CoreKernel){.body = cases[i].body, .block = 64, .words = 140},
              cases[i].expected);
}

/* Lanes load their words of shared memory; shuffles; lane %r9 and those of `who` store word 0. */
static void test_values_that_come_from_loads(void **state) {
    (void)state;
#define LOADS                                                                                                \
    "mov.u32 %r8, word; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r8; st.shared.u32 [%r1], %t;\n"               \
    "bar.warp.sync -1; ld.shared.u32 %r2, [%r1];\n"
#define XOR(n)  "shfl.sync.bfly.b32 %r3, %r2, " n ", 31, -1; add.u32 %r2, %r2, %r3;\n"
#define DOWN(n) "shfl.sync.down.b32 %r3, %r2, " n ", 31, -1; add.u32 %r2, %r2, %r3;\n"
#define STORE   "st.shared.u32 [%r8], %r2;"
#define LANE(n) "setp.ne.u32 %p0, %t, " n "; @%p0 bra END; st.shared.u32 [%r8+4], %r2;\nEND:"
    static const struct {
        const char *body, *expected;
    } cases[] = {
        {LOADS XOR("16") XOR("8") XOR("4") XOR("2") XOR("1") STORE, "data_order st.shared.u32 ld.shared.u32"},
        {LOADS "redux.sync.add.u32 %r2, %r2, -1;\n" STORE, "data_order st.shared.u32 ld.shared.u32"},
        {LOADS XOR("16") XOR("8") STORE,
         "warp_race st.shared.u32 ld.shared.u32\nstore_conflict st.shared.u32 st.shared.u32"},
        {LOADS STORE, "warp_race st.shared.u32 ld.shared.u32\nstore_conflict st.shared.u32 st.shared.u32"},
        {LOADS DOWN("16") DOWN("8") DOWN("4") DOWN("2") DOWN("1") LANE("0"),
         "data_order st.shared.u32 ld.shared.u32"},
        {LOADS DOWN("16") DOWN("8") DOWN("4") DOWN("2") DOWN("1") LANE("2"),
         "warp_race st.shared.u32 ld.shared.u32"},
        {LOADS XOR("16") XOR("8") XOR("4") XOR("2") XOR("1") "mov.u32 %r4, 1; st.shared.u32 [%r8], %r4;",
         "warp_race st.shared.u32 ld.shared.u32"}, /* the value is another one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(
            cases[i].body,
            (CoreKernel){.body = cases[i].body, .module = ".shared .u32 word[32];", .block = 32, .words = 40},
            cases[i].expected);
}

/* ---- barriers ------------------------------------------------------------------------------------------ */

/* A part of a warp passes a barrier of the block while the rest has exited, before it or meanwhile. */
static void test_barriers_of_part_of_a_warp(void **state) {
    (void)state;
    static const struct {
        const char *body, *expected;
    } cases[] = {
        {"setp.ge.u32 %p0, %t, 40; @%p0 bra END; bar.sync 0; END:", "partial_barrier bar.sync -"},
        {"setp.ge.u32 %p0, %t, 40; @%p0 exit; bar.sync 0;", "partial_barrier bar.sync -"},
        {"setp.ge.u32 %p0, %t, 40; @%p0 exit; barrier.red.popc.u32 %r0, 0, %p0;",
         "partial_barrier barrier.red.popc.u32 -"},
        {"setp.ge.u32 %p0, %t, 40; @%p0 bra END; barrier.sync 0; END:", "partial_barrier barrier.sync -"},
        {"setp.ge.u32 %p0, %t, 32; @%p0 exit; bar.sync 0;", ""}, /* a whole warp */
        {"setp.ge.u32 %p0, %t, 40; @%p0 bra END; bar.warp.sync -1; END:", ""},
        {"setp.ge.u32 %p0, %t, 40; @%p0 bra OVER; bar.warp.sync -1; OVER: st.global.u32 [%out], 1;",
         "passed_by bar.warp.sync -"},
        {"bar.sync 0; setp.ge.u32 %p0, %t, 40; @%p0 exit;", ""},
        {"setp.ge.u32 %p0, %t, 40; @%p0 bra ELSE; barrier.sync 0; bra END; ELSE: barrier.sync 0; END:", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].body, (CoreKernel){.body = cases[i].body, .block = 64}, cases[i].expected);
}

static const char words[] = ".shared .align 16 .b8 words[1024];\n";

#define SHARED_RACE_LOAD    "shared_race ld.shared.u32 st.shared.u32"
#define SHARED_RACE_STORE   "shared_race st.shared.u32 ld.shared.u32"
#define VOLATILE_RACE_LOAD  "shared_race ld.volatile.shared.u32 st.volatile.shared.u32"
#define VOLATILE_RACE_STORE "shared_race st.volatile.shared.u32 ld.volatile.shared.u32"

static void test_barriers(void **state) {
    (void)state;
    static const struct {
        const char *warps[3]; /* the code of each warp */
        const char *expected;
    } cases[] = {
        {{"st.shared.u32 [%r1], %t; bar.sync 0;", "bar.sync 0; ld.shared.u32 %r2, [%r1+-128];",
          "bar.sync 0;"},
         ""},
        {{"bar.sync 0; st.shared.u32 [%r1], %t;", "bar.sync 0; ld.shared.u32 %r2, [%r1+-128];",
          "bar.sync 0;"},
         SHARED_RACE_LOAD},
        /* bar.arrive releases, but does not acquire */
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
        /* a warp that does not take part acquires nothing, unless another barrier informs it */
        {{"st.shared.u32 [%r1], %t; bar.sync 1, 64;", "bar.sync 1, 64;",
          "LONG ld.shared.u32 %r2, [%r1+-256];"},
         SHARED_RACE_LOAD},
        {{"st.shared.u32 [%r1], %t; bar.sync 1, 64;", "bar.sync 1, 64; bar.arrive 2, 64;",
          "bar.sync 2, 64; ld.shared.u32 %r2, [%r1+-256];"},
         ""},
        {{"st.shared.u32 [%r1], %t; bar.sync 1, 64;", "bar.arrive 2, 64; bar.sync 1, 64;",
          "bar.sync 2, 64; LONG ld.shared.u32 %r2, [%r1+-256];"},
         SHARED_RACE_LOAD},
        /* after a barrier of the block, all threads know what any knew before it */
        {{"st.shared.u32 [%r1], %t; bar.arrive 1, 64; bar.sync 0;", "bar.sync 1, 64; bar.sync 0;",
          "bar.sync 0; ld.shared.u32 %r2, [%r1+-256];"},
         ""},
        /* a barrier is used twice: the second time orders the second store */
        {{"bar.arrive 1, 64; st.shared.u32 [%r1], %t; bar.arrive 2, 64;",
          "bar.sync 1, 64; bar.sync 2, 64; ld.shared.u32 %r2, [%r1+-128];", ""},
         ""},
        {{"bar.sync 1, 64; st.shared.u32 [%r1], %t; bar.sync 1, 64;",
          "bar.sync 1, 64; bar.sync 1, 64; ld.shared.u32 %r2, [%r1+-128];", ""},
         ""},
        /* volatile words of shared memory are flags if their writer, not another thread, has fenced before */
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

/* ---- lanes of a warp, and addresses -------------------------------------------------------------------- */

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
        {"st.shared.u32 [words], 7;", "", 64}, /* the value that is already there */
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
        /* volatile orders nothing; nor does a shuffle */
        {"st.volatile.shared.u32 [%r1], %t; ld.volatile.shared.u32 %r2, [%r1+4];",
         "warp_race ld.volatile.shared.u32 st.volatile.shared.u32", 32},
        {"st.shared.u32 [%r1], %t; shfl.sync.bfly.b32 %r3, %t, 1, 31, -1; ld.shared.u32 %r2, [%r1+4];",
         "warp_race ld.shared.u32 st.shared.u32", 32},
        {"st.volatile.global.u32 [%base], %w; ld.volatile.global.u32 %r2, [%base];",
         "warp_race ld.volatile.global.u32 st.volatile.global.u32", 32},
        {"and.b32 %r3, %t, 31; setp.eq.u32 %p0, %r3, 0;\n" /* of different warps: possibly a flag */
         "@%p0 st.volatile.global.u32 [%base], %w; @%p0 ld.volatile.global.u32 %r2, [%base];",
         "", 64},
        {"st.relaxed.gpu.global.u32 [%base], %w; ld.relaxed.gpu.global.u32 %r2, [%base];", "", 64},
        {"setp.lt.u32 %p0, %t, 4; @!%p0 bra END; shfl.sync.idx.b32 %r3, %t, 9, 31, 15;\n"
         "st.shared.u32 [%r1], %r3; END:",
         "undefined_shuffle st.shared.u32 shfl.sync.idx.b32", 32},
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

/* Atomics are ordered among each other within their scope, and only there. */
/* Matrix accesses are checked like all others: warp 0 writes what warp 1 reads. */
static void test_matrices(void **state) {
    (void)state;
    static const struct {
        const char *write, *read, *expected;
    } cases[] = {
        {"stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r1], {%t};",
         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
         "shared_race ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
         "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16"},
        {"st.shared.f64 [%r4], %d0;", "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r2}, [%r1];",
         "shared_race ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 st.shared.f64"},
        {"wmma.store.d.sync.aligned.row.m8n8k4.shared.f64 [words], {%d0, %d1};", "ld.shared.u32 %r2, [%r1];",
         "shared_race ld.shared.u32 wmma.store.d.sync.aligned.row.m8n8k4.shared.f64"},
        {"st.shared.f64 [%r4], %d0;", "wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 {%d2}, [words];",
         "shared_race wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 st.shared.f64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_synced = 0; is_synced < 2; is_synced++) {
            Text body = {0};
            text_print(&body,
                       "mov.u32 %%r5, words; and.b32 %%r3, %%t, 7; mad.lo.u32 %%r1, %%r3, 16, %%r5;\n"
                       "and.b32 %%r4, %%t, 31; mad.lo.u32 %%r4, %%r4, 8, %%r5; setp.ge.u32 %%p0, %%t, 32;\n"
                       "mov.f64 %%d0, 0d0000000000000000; mov.f64 %%d1, %%d0; @%%p0 bra MEET;\n%s\nMEET: %s\n"
                       "@!%%p0 bra OVER;\n%s\nOVER:",
                       cases[i].write, is_synced ? "bar.sync 0;" : "", cases[i].read);
            CoreKernel kernel = {
                .body = text_string(&body), .module = ".shared .align 16 .b8 words[512];\n", .block = 64};
            check(cases[i].read, kernel, is_synced ? "" : cases[i].expected);
            text_done(&body);
        }
}

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_only_loads),
        cmocka_unit_test(test_values_that_come_from_loads),
        cmocka_unit_test(test_barriers_of_part_of_a_warp),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_scopes_of_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
