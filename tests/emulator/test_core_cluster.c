/* Clusters of blocks: shared memory of other blocks, the barrier of the cluster, and faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <stdlib.h>

/* ---- special registers --------------------------------------------------------------------------------- */

static uint32_t expected_special(int which, uint32_t x, uint32_t y) { /* grid 6 x 4, clusters of 3 x 2 */
    uint32_t words[] = {x / 3, y / 2, x % 3, y % 2, y % 2 * 3 + x % 3};
    return words[which];
}

static void test_special_registers(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body =
            "mov.u32 %r0, %clusterid.x; mov.u32 %r1, %clusterid.y; mov.u32 %r2, %cluster_ctaid.x;\n"
            "mov.u32 %r3, %cluster_ctaid.y; mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %nclusterid.x;\n"
            "mov.u32 %r6, %nclusterid.y; mov.u32 %r7, %cluster_nctaid.x; mov.u32 %r8, %cluster_nctaid.y;\n"
            "mov.u32 %r9, %cluster_nctarank; mov.pred %p0, %is_explicit_cluster;\n"
            "selp.u32 %r10, 1, 0, %p0; mov.u32 %r11, %cluster_nctaid.z; mov.u32 %r12, %clusterid.z;\n"
            "mov.u32 %r20, %ctaid.y; mov.u32 %r21, %ctaid.x; mad.lo.u32 %r20, %r20, 6, %r21;\n"
            "mad.wide.u32 %q0, %r20, 64, %base;\n"
            "st.global.v4.u32 [%q0], {%r0, %r1, %r2, %r3}; st.global.v4.u32 [%q0+16], {%r4, %r5, %r6, %r7};\n"
            "st.global.v4.u32 [%q0+32], {%r8, %r9, %r10, %r11}; st.global.u32 [%q0+48], %r12;",
        .grid = 6,
        .grid_y = 4,
        .cluster = {3, 2, 1},
        .block = 1,
        .words = 24 * 16});
    for (uint32_t b = 0; b < 24; b++) {
        const uint32_t *words = run.out + (size_t)b * 16, same[] = {2, 2, 3, 2, 6, 1, 1, 0};
        for (int i = 0; i < 5; i++) assert_int_equal(words[i], expected_special(i, b % 6, b / 6));
        for (int i = 0; i < 8; i++) assert_int_equal(words[5 + i], same[i]);
    }
    core_done(&run);
}

/* Without clusters, and with the size that the entry requires. */
static void test_implicit_and_required(void **state) {
    (void)state;
    static const uint32_t alone[] = {0, 0, 1}, required[] = {1, 0, 2};
    static const char body[] =
        "{ .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %q<2>; ld.param.u64 %q0, [out];\n"
        "mov.pred %p0, %is_explicit_cluster; selp.u32 %r0, 1, 0, %p0;\n"
        "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;\n"
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%q0], %r0;\n"
        "@%p1 st.global.u32 [%q0+4], %r1; @%p1 st.global.u32 [%q0+8], %r2; ret; }\n";
    for (int i = 0; i < 2; i++) {
        Text module = {0};
        text_print(&module, ".visible .entry kernel(.param .u64 out) %s\n%s", i ? ".reqnctapercluster 2" : "",
                   body);
        core_expect((CoreKernel){.module = text_string(&module), .grid = 4, .block = 1, .words = 4},
                    i ? required : alone, 3);
        text_done(&module);
    }
}

/* ---- shared memory of other blocks --------------------------------------------------------------------- */

enum { BLOCKS = 8, CLUSTER = 4, THREADS = 40 };

/* Thread t has the 16 bytes at %r2 = words + 16 t: its value, 3 i + 1, twice, and a word and a double word
 * that are 0. %r5 is the rank of the next block of the ring. */
static const char before[] =
    "mov.u32 %r4, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; add.u32 %r5, %r4, 1;\n"
    "rem.u32 %r5, %r5, %r6; shl.b32 %r0, %t, 4; mov.u32 %r1, words; add.u32 %r2, %r1, %r0;\n"
    "mad.lo.u32 %r3, %i, 3, 1; mov.u32 %r7, 0;\n"
    "st.shared.v4.u32 [%r2], {%r3, %r3, %r7, %r7};\n"
    "mapa.shared::cluster.u32 %r8, %r2, %r5;\n"
    "cvt.u64.u32 %q0, %r2; cvta.shared.u64 %q0, %q0; mapa.u64 %q1, %q0, %r5;\n"
    "barrier.cluster.arrive; barrier.cluster.wait;\n";
static const char between[] = "\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
static const char after[] = "\nst.global.u32 [%out], %r10;";

static CoreRun run_ring(const char *first, const char *then) {
    Text body = {0};
    text_print(&body, "%s%s%s%s%s", before, first, between, then, after);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&body),
                                             .module = ".shared .align 16 .b8 words[1024];\n",
                                             .grid = BLOCKS,
                                             .block = THREADS,
                                             .cluster = {CLUSTER, 1, 1}});
    text_done(&body);
    return run;
}

/* Every thread has the value of the same thread of the block `distance` positions further in the ring. */
static void check_ring(const char *first, const char *then, uint32_t distance) {
    CoreRun run = run_ring(first, then);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
        uint32_t block = i / THREADS, from = block / CLUSTER * CLUSTER + (block + distance) % CLUSTER;
        uint32_t value = 3 * (from * THREADS + i % THREADS) + 1;
        if (run.out[i] != value)
            fail_msg("%s%s: word %u is %u, expected %u", first, then, i, run.out[i], value);
    }
    core_done(&run);
}

static void test_loads(void **state) {
    (void)state;
    static const char *const rows[] = {
        "ld.shared::cluster.u32 %r10, [%r8];",
        "ld.shared::cluster.b32 %r10, [%r8+4];",
        "ld.shared::cluster.s32 %r10, [%r8];",
        "ld.shared::cluster.v2.u32 {%r11, %r10}, [%r8];",
        "ld.shared::cluster.v4.u32 {%r10, %r11, %r12, %r13}, [%r8];",
        "ld.shared::cluster.u64 %q2, [%r8]; cvt.u32.u64 %r10, %q2;",
        "ld.shared::cluster.v2.u64 {%q2, %q3}, [%r8]; cvt.u32.u64 %r10, %q2;",
        "ld.shared::cluster.u16 %r10, [%r8];",
        "ld.shared::cluster.u8 %r11,[%r8+1]; ld.shared::cluster.u8 %r10,[%r8]; mad.lo.u32 "
        "%r10,%r11,256,%r10;",
        "ld.volatile.shared::cluster.u32 %r10, [%r8];",
        "ld.relaxed.cluster.shared::cluster.u32 %r10, [%r8];",
        "ld.acquire.cluster.shared::cluster.u32 %r10, [%r8];",
        "ld.weak.shared::cluster.u32 %r10, [%r8];",
        "mapa.shared::cluster.u32 %r9, words, %r5; add.u32 %r9, %r9, %r0; ld.shared::cluster.u32 %r10, "
        "[%r9];",
        "mapa.shared::cluster.u32 %r9, words+8, %r5; add.u32 %r9, %r9, %r0; ld.shared::cluster.u32 %r10, "
        "[%r9-8];",
        "mapa.shared::cluster.u64 %q2, words, %r5; mad.wide.u32 %q2, %r0, 1, %q2; ld.shared::cluster.u32 "
        "%r10, [%q2];",
        "cvt.u64.u32 %q2, %r2; mapa.shared::cluster.u64 %q3, %q2, %r5; ld.shared::cluster.u32 %r10, [%q3];",
        "mapa.shared::cluster.u32 %r9, %r8, 0; mapa.shared::cluster.u32 %r9, %r9, %r5; "
        "ld.shared::cluster.u32 %r10, [%r9];",
        "ld.u32 %r10, [%q1];",
        "ld.v2.u32 {%r11, %r10}, [%q1];",
        "ld.relaxed.cluster.u32 %r10, [%q1];",
        "cvta.to.shared::cluster.u64 %q2, %q1; ld.shared::cluster.u32 %r10, [%q2];",
        "cvt.u64.u32 %q2, %r8; cvta.shared::cluster.u64 %q2, %q2; ld.u32 %r10, [%q2];",
        "atom.shared::cluster.add.u32 %r10, [%r8], 0;",
        "atom.relaxed.cluster.shared::cluster.or.b32 %r10, [%r8], 0;",
        "atom.acq_rel.cluster.shared::cluster.max.u32 %r10, [%r8], 0;",
        "atom.shared::cluster.cas.b32 %r10, [%r8], 0, 5;",
        "atom.shared::cluster.exch.b32 %r10, [%r8], %r3;",
        "atom.shared::cluster.and.b64 %q2, [%r8], -1; cvt.u32.u64 %r10, %q2;",
        "atom.add.u32 %r10, [%q1], 0;",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_ring(rows[i], "", 1);
}

static void test_stores(void **state) {
    (void)state;
    static const char received[] = "ld.shared.u32 %r10, [%r2+8];";
    static const char *const rows[] = {
        "st.shared::cluster.u32 [%r8+8], %r3;",
        "st.shared::cluster.b32 [%r8+8], %r3;",
        "st.shared::cluster.v2.u32 [%r8+8], {%r3, %r7};",
        "cvt.u64.u32 %q2, %r3; st.shared::cluster.u64 [%r8+8], %q2;",
        "cvt.u16.u32 %h0, %r3; st.shared::cluster.u16 [%r8+8], %h0;",
        "st.volatile.shared::cluster.u32 [%r8+8], %r3;",
        "st.relaxed.cluster.shared::cluster.u32 [%r8+8], %r3;",
        "st.release.cluster.shared::cluster.u32 [%r8+8], %r3;",
        "st.u32 [%q1+8], %r3;",
        "red.shared::cluster.add.u32 [%r8+8], %r3;",
        "red.relaxed.cluster.shared::cluster.max.u32 [%r8+8], %r3;",
        "red.shared::cluster.or.b32 [%r8+8], %r3;",
        "cvt.u64.u32 %q2, %r3; red.shared::cluster.add.u64 [%r8+8], %q2;",
        "red.add.u32 [%q1+8], %r3;",
        "atom.shared::cluster.exch.b32 %r11, [%r8+8], %r3;",
        "atom.shared::cluster.cas.b32 %r11, [%r8+8], 0, %r3;",
        "atom.add.u32 %r11, [%q1+8], %r3;",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_ring(rows[i], received, CLUSTER - 1);
}

/* The own rank, mapped or not, is the own memory; lanes of one instruction may access several blocks. */
static void test_own_and_mixed(void **state) {
    (void)state;
    check_ring("mapa.shared::cluster.u32 %r9, %r2, %r4; ld.shared::cluster.u32 %r10, [%r9];", "", 0);
    check_ring("mapa.shared::cluster.u32 %r9, %r2, %r4; ld.shared.u32 %r10, [%r9];", "", 0);
    check_ring("ld.shared::cluster.u32 %r10, [%r2];", "", 0);
    check_ring("mapa.u64 %q2, %q0, %r4; ld.u32 %r10, [%q2];", "", 0);
    CoreRun run = run_ring("and.b32 %r9, %t, 3; mapa.shared::cluster.u32 %r9, %r2, %r9;\n"
                           "ld.shared::cluster.u32 %r10, [%r9];",
                           "");
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
        uint32_t from = i / THREADS / CLUSTER * CLUSTER + (i % THREADS & 3);
        assert_int_equal(run.out[i], 3 * (from * THREADS + i % THREADS) + 1);
    }
    uint32_t masks[8]; /* an event for each block that is reached, in two warps */
    assert_int_equal(core_masks(&run, 1, core_pc(&run, "ld.shared::cluster", 0), masks, 8), 8);
    int peers = 0;
    for (int e = 0; e < core_event_count(&run, 1); e++) {
        TraceEvent event;
        core_event(&run, 1, e, &event);
        if (event.kind != TRACE_SHARED_LOAD || event.warp) continue;
        int rank = __builtin_ctz(event.mask);
        assert_int_equal(trace_event_peer(&event), rank == 1 ? -1 : rank);
        peers |= 1 << rank;
    }
    assert_int_equal(peers, 15);
    core_done(&run);
}

static void test_ranks_and_spaces(void **state) {
    (void)state;
    static const char *const rows[] = {
        /* 1 if correct */
        "getctarank.shared::cluster.u32 %r9, %r8; setp.eq.u32 %p0, %r9, %r5;",
        "getctarank.shared::cluster.u32 %r9, %r2; setp.eq.u32 %p0, %r9, %r4;",
        "getctarank.shared::cluster.u32 %r9, words; setp.eq.u32 %p0, %r9, %r4;",
        "getctarank.shared::cluster.u64 %r9, words+4; setp.eq.u32 %p0, %r9, %r4;",
        "cvt.u64.u32 %q2, %r8; getctarank.shared::cluster.u64 %r9, %q2; setp.eq.u32 %p0, %r9, %r5;",
        "getctarank.u64 %r9, %q1; setp.eq.u32 %p0, %r9, %r5;",
        "getctarank.u64 %r9, %q0; setp.eq.u32 %p0, %r9, %r4;",
        "isspacep.shared::cluster %p0, %q1;",
        "isspacep.shared::cluster %p0, %q0;",
        "isspacep.shared %p0, %q0;",
        "isspacep.shared::cta %p1, %q1; not.pred %p0, %p1;",
        "isspacep.shared %p1, %q1; not.pred %p0, %p1;",
        "isspacep.shared::cluster %p1, %base; not.pred %p0, %p1;",
        "isspacep.global %p1, %q1; not.pred %p0, %p1;",
        "mapa.u64 %q2, %q0, %r4; isspacep.shared %p0, %q2;",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CoreRun run = run_ring(rows[i], "selp.u32 %r10, 1, 0, %p0;");
        for (uint32_t w = 0; w < BLOCKS * THREADS; w++)
            if (run.out[w] != 1) fail_msg("%s: thread %u", rows[i], w);
        core_done(&run);
    }
}

/* ---- the barrier --------------------------------------------------------------------------------------- */

/* Threads add their block's number to a word of rank 0, wait, and read it. */
static const char count[] =
    "mov.u32 %r0, 0; mov.u32 %r1, words; @%p1 bra READY; st.shared.u32 [%r1], %r0; READY:\n"
    "barrier.cluster.arrive; barrier.cluster.wait;\n"
    "mapa.shared::cluster.u32 %r2, %r1, 0; red.shared::cluster.add.u32 [%r2], 1;\n"
    "BARRIER\n"
    "ld.shared::cluster.u32 %r3, [%r2]; st.global.u32 [%out], %r3;\n"
    "barrier.cluster.arrive; barrier.cluster.wait;\n";

static void check_count(const char *barrier, uint32_t threads) {
    Text body = {0};
    const char *at = strstr(count, "BARRIER");
    text_add(&body, "setp.ne.u32 %p1, %t, 0;\n");
    text_add_bytes(&body, count, (size_t)(at - count));
    text_add(&body, barrier);
    text_add(&body, at + strlen("BARRIER"));
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&body),
                                             .module = ".shared .u32 words;\n",
                                             .grid = 6,
                                             .block = threads,
                                             .cluster = {3, 1, 1}});
    for (uint32_t i = 0; i < 6 * threads; i++) assert_int_equal(run.out[i], 3 * threads);
    core_done(&run);
    text_done(&body);
}

static void test_barriers(void **state) {
    (void)state;
    static const char *const rows[] = {
        "barrier.cluster.arrive; barrier.cluster.wait;",
        "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;",
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;",
        "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;",
        "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait;",
        "barrier.cluster.arrive; mov.u32 %r9, 0; WORK: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %t;\n"
        "@%p2 bra WORK; barrier.cluster.wait;", /* code in between, of a different length in every thread */
        "and.b32 %r9, %t, 1; setp.eq.u32 %p2, %r9, 0; @%p2 bra EVEN; barrier.cluster.arrive; "
        "barrier.cluster.wait;\n"
        "bra.uni JOINED; EVEN: barrier.cluster.arrive; barrier.cluster.wait; JOINED:", /* lanes apart */
        "barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.arrive; barrier.cluster.wait;",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_count(rows[i], 32);
        check_count(rows[i], 96);
        check_count(rows[i], 50);
    }
}

/* A token passes round the ring, once for each block: phase after phase. */
static void test_phases(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, words; mov.u32 %r2, 0; add.u32 %r3, %r0, 1;\n"
                "rem.u32 %r3, %r3, 5; mapa.shared::cluster.u32 %r4, %r1, %r3; mov.u32 %r5, %r0;\n"
                "AGAIN: setp.eq.u32 %p0, %t, 0; @%p0 st.shared::cluster.u32 [%r4], %r5;\n"
                "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r5, [%r1];\n"
                "barrier.cluster.arrive; barrier.cluster.wait;\n"
                "add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 13; @%p0 bra AGAIN; st.global.u32 [%out], %r5;",
        .module = ".shared .u32 words;\n",
        .grid = 10,
        .block = 64,
        .cluster = {5, 1, 1}});
    for (uint32_t i = 0; i < 640; i++) assert_int_equal(run.out[i], (i / 64 % 5 + 10 * 5 - 13) % 5);
    core_done(&run);
}

/* The barrier does not wait for threads and whole blocks that have exited. */
static void test_exited_threads(void **state) {
    (void)state;
    static const char *const rows[] = {
        "setp.gt.u32 %p0, %t, 40; @%p0 exit;", /* a part of a warp, and a warp */
        "mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 1; @%p0 exit;", /* a block */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text body = {0};
        text_print(&body, "%s barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%%out], 7;",
                   rows[i]);
        CoreRun run = core_run_well(
            (CoreKernel){.body = text_string(&body), .grid = 4, .block = 96, .cluster = {2, 1, 1}});
        for (uint32_t t = 0; t < 4 * 96; t++)
            assert_int_equal(run.out[t], (i ? t / 96 % 2 == 1 : t % 96 > 40) ? 0 : 7);
        core_done(&run);
        text_done(&body);
    }
}

/* A thread exits while all others already wait. */
static void test_exit_completes(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = "mov.u32 %r0, %cluster_ctarank; setp.ne.u32 %p0, %r0, 3; @%p0 bra ARRIVE; mov.u32 %r1, 0;\n"
                "LATE: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 2000; @%p1 bra LATE; exit;\n"
                "ARRIVE: barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%out], 1;",
        .grid = 4,
        .block = 32,
        .cluster = {4, 1, 1}});
    for (uint32_t i = 0; i < 128; i++) assert_int_equal(run.out[i], i < 96);
    core_done(&run);
}

/* A block polls a word that another block of the cluster writes, in either direction. */
static void test_spinning(void **state) {
    (void)state;
    for (uint32_t waits = 0; waits < 2; waits++) {
        Text body = {0};
        text_print(
            &body,
            "mov.u32 %%r0, %%cluster_ctarank; mov.u32 %%r1, words; mov.u32 %%r2, 0;\n"
            "@%%p0 bra SKIP; st.shared.u32 [%%r1], %%r2; SKIP:\n"
            "barrier.cluster.arrive; barrier.cluster.wait;\n"
            "setp.eq.u32 %%p0, %%r0, %u; @%%p0 bra WAIT;\n"
            "mapa.shared::cluster.u32 %%r3, %%r1, %u; st.release.cluster.shared::cluster.u32 [%%r3], 9;\n"
            "bra.uni DONE; WAIT: ld.acquire.cluster.shared::cluster.u32 %%r4, [%%r1];\n"
            "setp.ne.u32 %%p1, %%r4, 9; @%%p1 bra WAIT; DONE: barrier.cluster.arrive; barrier.cluster.wait;\n"
            "st.global.u32 [%%out], 5;",
            waits, waits);
        CoreRun run = core_run_well((CoreKernel){.body = text_string(&body),
                                                 .module = ".shared .u32 words;\n",
                                                 .grid = 2,
                                                 .block = 32,
                                                 .cluster = {2, 1, 1}});
        for (uint32_t i = 0; i < 64; i++) assert_int_equal(run.out[i], 5);
        core_done(&run);
        text_done(&body);
    }
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static CoreKernel pair(const char *body) {
    return (CoreKernel){.body = body,
                        .module = ".shared .align 8 .b8 words[256];\n",
                        .grid = 4,
                        .block = 64,
                        .cluster = {2, 1, 1}};
}

static void test_deadlocks(void **state) {
    (void)state;
    Trap trap = core_run_trap(pair("mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 1; @%p0 bra OTHER;\n"
                                   "barrier.cluster.arrive; barrier.cluster.wait; bra.uni DONE;\n"
                                   "OTHER: setp.lt.u32 %p1, %t, 32; @%p1 barrier.cluster.arrive;\n"
                                   "@%p1 barrier.cluster.wait; @!%p1 bar.sync 1, 64; DONE:"),
                              TRAP_DEADLOCK,
                              "no warp of the cluster can make progress: block 0 of the cluster, warp 0");
    assert_int_equal(trap.block[0], 0);
    core_run_trap(pair("mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 1; @%p0 bra OTHER;\n"
                       "barrier.cluster.arrive; barrier.cluster.wait; bra.uni DONE;\n"
                       "OTHER: setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 2, 64; DONE:"),
                  TRAP_DEADLOCK, "no warp of the block can make progress");
    core_run_trap(pair("mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p0, %r0, 1; @%p0 bra OTHER;\n"
                       "barrier.cluster.arrive; barrier.cluster.wait; bra.uni DONE;\n"
                       "OTHER: st.shared.u32 [words], 0; AGAIN: ld.relaxed.cta.shared.u32 %r1, [words]; "
                       "setp.ne.u32 %p1, %r1, 3; @%p1 bra AGAIN; DONE:"),
                  TRAP_DEADLOCK, "no block can make progress");
}

static void test_misused_barriers(void **state) {
    (void)state;
    core_run_trap(pair("barrier.cluster.wait;"), TRAP_TRAP_INSTRUCTION, "without having arrived");
    core_run_trap(pair("barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;"),
                  TRAP_TRAP_INSTRUCTION, "have already arrived at the barrier of the cluster");
    core_run_trap(pair("barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.wait;"),
                  TRAP_TRAP_INSTRUCTION, "without having arrived");
    core_run_trap(pair("setp.lt.u32 %p0, %t, 8; @%p0 barrier.cluster.arrive.aligned; barrier.cluster.wait;"),
                  TRAP_DIVERGENT_BARRIER, "barrier.cluster.arrive.aligned");
}

static void test_wrong_addresses(void **state) {
    (void)state;
    core_run_trap(pair("mapa.shared::cluster.u32 %r0, words, 2; ld.shared::cluster.u32 %r1, [%r0];"),
                  TRAP_OUT_OF_BOUNDS, "shared memory of block 2 of the cluster, which has only 2 blocks");
    core_run_trap(pair("mapa.shared::cluster.u32 %r0, words, -1; ld.shared::cluster.u32 %r1, [%r0];"),
                  TRAP_OUT_OF_BOUNDS, "which has only 2 blocks");
    core_run_trap(pair("mapa.shared::cluster.u32 %r0, words, 1; ld.shared.u32 %r1, [%r0];"),
                  TRAP_OUT_OF_BOUNDS, ".shared reaches only the block's own");
    core_run_trap(pair("mapa.shared::cluster.u32 %r0, words, 1; st.shared::cluster.u32 [%r0+256], %t;"),
                  TRAP_OUT_OF_BOUNDS,
                  "at shared offset 256 of block 1 of the cluster: just past the end of `words`");
    core_run_trap(pair("mapa.shared::cluster.u32 %r0, words, 1; ld.shared::cluster.u32 %r1, [%r0+2];"),
                  TRAP_MISALIGNED, "multiple of 4");
    core_run_trap(pair("mov.u64 %q0, words; mapa.u64 %q1, %q0, 1; ld.u32 %r1, [%q1];"), TRAP_OUT_OF_BOUNDS,
                  "");
    core_run_trap(pair("mov.u32 %r0, words; ld.shared::cluster.u32 %r1, [%r0-4];"), TRAP_OUT_OF_BOUNDS,
                  "4 bytes before the start of shared memory");
}

/* Block 1 exits, block 0 still reads its memory. */
static void test_exited_block(void **state) {
    (void)state;
    Trap trap =
        core_run_trap(pair("st.shared.u32 [words], 4; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 "
                           "%r0, %cluster_ctarank;\n"
                           "setp.eq.u32 %p0, %r0, 1; @%p0 exit; mapa.shared::cluster.u32 %r1, words, 1;\n"
                           "ld.shared::cluster.u32 %r2, [%r1]; st.global.u32 [%out], %r2;"),
                      TRAP_BLOCK_EXITED, "shared memory of block 1 of the cluster, which has exited");
    assert_int_equal(trap.block[0], 0);
}

/* ---- one result ---------------------------------------------------------------------------------------- */

static const char sum[] =
    "setp.ne.u32 %p1, %t, 0; mov.u32 %r1, words; mov.u32 %r0, 0; @%p1 bra READY; st.shared.u32 [%r1], %r0; "
    "READY:\n"
    "bar.sync 0; red.shared.add.u32 [%r1], %i; barrier.cluster.arrive; barrier.cluster.wait;\n"
    "mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
    "ADD: mapa.shared::cluster.u32 %r5, %r1, %r4; ld.shared::cluster.u32 %r6, [%r5]; add.u32 %r3, %r3, %r6;\n"
    "add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 4; @%p2 bra ADD;\n"
    "add.u32 %r3, %r3, %r2; st.global.u32 [%out], %r3; barrier.cluster.arrive; barrier.cluster.wait;";

static void print_run(int threads, uint64_t schedule, Text *out) {
    CoreRun run = core_run_well((CoreKernel){.body = sum,
                                             .module = ".shared .u32 words;\n",
                                             .grid = 256,
                                             .block = 128,
                                             .cluster = {4, 1, 1},
                                             .options = {.threads = threads, .schedule = schedule}});
    if (schedule)
        for (uint64_t i = 0; i < run.words; i++) text_print(out, "%u ", run.out[i]);
    else
        core_print(&run, out);
    core_done(&run);
}

static void test_any_number_of_threads(void **state) {
    (void)state;
    Text alone = {0};
    print_run(1, 0, &alone);
    static const int threads[] = {2, 3, 7, 16};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        Text same = {0};
        print_run(threads[i], 0, &same);
        assert_true(!strcmp(text_string(&alone), text_string(&same)));
        text_done(&same);
    }
    text_done(&alone);
}

static void test_other_orders(void **state) {
    (void)state;
    Text first = {0};
    print_run(1, 1, &first);
    for (uint64_t schedule = 2; schedule < 8; schedule++) {
        Text same = {0};
        print_run(1, schedule, &same);
        assert_true(!strcmp(text_string(&first), text_string(&same)));
        text_done(&same);
    }
    text_done(&first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_registers),
        cmocka_unit_test(test_implicit_and_required),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_own_and_mixed),
        cmocka_unit_test(test_ranks_and_spaces),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_exited_threads),
        cmocka_unit_test(test_exit_completes),
        cmocka_unit_test(test_spinning),
        cmocka_unit_test(test_deadlocks),
        cmocka_unit_test(test_misused_barriers),
        cmocka_unit_test(test_wrong_addresses),
        cmocka_unit_test(test_exited_block),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_other_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
