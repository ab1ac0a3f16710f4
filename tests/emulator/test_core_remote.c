/* mbarriers and asynchronous copies in another block of the cluster: the effect of each form there, and
 * faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <stdlib.h>
#include <string.h>

/* Each block of a cluster sends to the next one of the ring. Thread t has a word of `tile`, 3 i + 1, and of
 * `other`, 7. %r2, %r5: its words there; %r1, %r6: where the two begin; %r9: the mbarrier; %q1: the block's
 * part of `out`, which also holds the words of `tile`. In the next block: %r12, %r15, %r11, %r16, %r19;
 * generic addresses of its other word and mbarrier: %q15, %q19. %p2: thread 0. */
#define MODULE                                                                                               \
    ".shared .align 128 .b8 tile[512];\n.shared .align 128 .b8 other[512];\n.shared .align 8 .b64 gate;\n"
#define BEGIN                                                                                                \
    "mov.u32 %r40, %cluster_ctarank; mov.u32 %r41, %cluster_nctarank; add.u32 %r42, %r40, 1;\n"              \
    "rem.u32 %r42, %r42, %r41; mov.u32 %r43, %ntid.x; mov.u32 %r44, %ctaid.x;\n"                             \
    "mov.u32 %r1, tile; mov.u32 %r6, other; mov.u32 %r9, gate; setp.eq.u32 %p2, %t, 0;\n"                    \
    "mad.lo.u32 %r2, %t, 4, %r1; mad.lo.u32 %r5, %t, 4, %r6; mad.lo.u32 %r3, %i, 3, 1; mov.u32 %r7, 7;\n"    \
    "st.shared.u32 [%r2], %r3; st.shared.u32 [%r5], %r7; st.global.u32 [%out], %r3;\n"                       \
    "mul.lo.u32 %r45, %r44, %r43; mad.wide.u32 %q1, %r45, 4, %base;\n"                                       \
    "mapa.shared::cluster.u32 %r11, %r1, %r42; mapa.shared::cluster.u32 %r16, %r6, %r42;\n"                  \
    "mapa.shared::cluster.u32 %r12, %r2, %r42; mapa.shared::cluster.u32 %r15, %r5, %r42;\n"                  \
    "mapa.shared::cluster.u32 %r19, %r9, %r42; cvt.u64.u32 %q5, %r5; cvta.shared.u64 %q5, %q5;\n"            \
    "mapa.u64 %q15, %q5, %r42; cvt.u64.u32 %q9, %r9; cvta.shared.u64 %q9, %q9; mapa.u64 %q19, %q9, %r42;\n"
#define SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"
#define INIT(count)                                                                                          \
    "@%p2 mbarrier.init.shared::cta.b64 [%r9], " count "; fence.mbarrier_init.release.cluster;\n" SYNC
#define UNTIL(parity)                                                                                        \
    "SPIN" parity ": mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], " parity           \
    "; @!%p3 bra SPIN" parity ";\n"
#define EXPECT(bytes) "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], " bytes ";\n"
#define EACH(bytes)   "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], " bytes ";\n"
#define OTHER         "ld.shared.u32 %r20, [%r5]; st.global.u32 [%out], %r20;\n"
#define TX            "mbarrier::complete_tx::bytes"

enum { BLOCKS = 16, THREADS = 64, MOST = 2048 };

typedef struct Settings {
    uint32_t cluster, blocks;
    int threads; /* of this machine */
    uint64_t schedule;
    bool untraced;
} Settings;

static const Settings all_settings[] = {
    {2, BLOCKS, 1, 0, false}, {4, BLOCKS, 1, 0, false}, {4, BLOCKS, 4, 0, true}, {8, BLOCKS, 1, 0, false},
    {4, BLOCKS, 1, 3, false}, {2, BLOCKS, 1, 6, false}, {2, MOST, 4, 0, true},   {1, BLOCKS, 1, 0, false}};

typedef uint32_t (*Expected)(uint32_t sent,
                             uint32_t thread); /* `sent`: what this thread of the block before had */

static CoreKernel kernel_of(const char *body, const Settings *settings) {
    return (CoreKernel){.body = body,
                        .module = MODULE,
                        .grid = settings->blocks,
                        .block = THREADS,
                        .cluster = {settings->cluster, 1, 1},
                        .untraced = settings->untraced,
                        .options = {.threads = settings->threads, .schedule = settings->schedule}};
}

static void expect_with(const char *body, const Settings *settings, Expected expected) {
    CoreRun run = core_run_well(kernel_of(body, settings));
    uint32_t n = settings->cluster;
    for (uint32_t i = 0; i < settings->blocks * THREADS; i++) {
        uint32_t block = i / THREADS, before = block / n * n + (block % n + n - 1) % n;
        uint32_t right = expected(3 * (before * THREADS + i % THREADS) + 1, i % THREADS);
        if (run.out[i] != right)
            fail_msg("cluster %u, %d threads: thread %u has %u, not %u: %s", n, settings->threads, i,
                     run.out[i], right, body + strlen(BEGIN));
    }
    core_done(&run);
}

static void expect(const char *form, Expected expected) {
    Text body = {0};
    text_print(&body, "%s%s%s", BEGIN, form, SYNC);
    for (size_t i = 0; i < sizeof all_settings / sizeof *all_settings; i++)
        expect_with(text_string(&body), &all_settings[i], expected);
    text_done(&body);
}

static uint32_t sent(uint32_t value, uint32_t thread) {
    (void)thread;
    return value;
}
static uint32_t sent_and_seven(uint32_t value, uint32_t thread) {
    (void)thread;
    return value + 7;
}
static uint32_t seven(uint32_t value, uint32_t thread) {
    (void)value, (void)thread;
    return 7;
}
static uint32_t smaller(uint32_t value, uint32_t thread) {
    (void)thread;
    return value < 7 ? value : 7;
}
static uint32_t or_seven(uint32_t value, uint32_t thread) {
    (void)thread;
    return value | 7;
}
static uint32_t one(uint32_t value, uint32_t thread) {
    (void)value;
    (void)thread;
    return 1;
}
static uint32_t even(uint32_t value, uint32_t thread) {
    return thread % 2 ? 7 : value;
}
static uint32_t counted_up(uint32_t value, uint32_t thread) {
    (void)thread;
    return 7 >= value ? 0 : 8;
}
static uint32_t first_half(uint32_t value, uint32_t thread) {
    return thread < THREADS / 2 ? value : 7;
}

/* ---- arrivals ------------------------------------------------------------------------------------------ */

/* A plain store into the next block, then an arrival there, in every form. */
#define PUSH "st.shared::cluster.u32 [%r15], %r3;\n"

static void every_arrival(void **state) {
    (void)state;
    static const char *const forms[] = {
        INIT("64") PUSH "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL("0") OTHER,
        INIT("64") PUSH "mbarrier.arrive.shared::cluster.b64 _, [%r19];\n" UNTIL("0") OTHER,
        INIT("64") PUSH "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r19];\n" UNTIL("0") OTHER,
        INIT("64") PUSH "mbarrier.arrive.release.cluster.b64 _, [%q19];\n" UNTIL("0") OTHER,
        INIT("192") PUSH "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19], 3;\n" UNTIL("0")
            OTHER,
        INIT("64") PUSH "fence.acq_rel.cluster;\n"
                        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL("0") OTHER,
        INIT("64") PUSH "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL("0")
            OTHER,
        INIT("64") PUSH "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r19], 8;\n"
                        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r19], 8;\n" UNTIL("0")
                            OTHER,
        INIT("64") PUSH "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r19], 8;\n"
                        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n"
                        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r19], 8;\n" UNTIL("0")
                            OTHER,
        INIT("64") PUSH "mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%r19], 4;\n"
                        "mbarrier.complete_tx.relaxed.cta.shared::cluster.b64 [%r19], 4;\n" UNTIL("0") OTHER,
        /* One thread for its block; both blocks at one mbarrier. */
        INIT("1") PUSH
        "bar.sync 0; @%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL("0") OTHER,
        INIT("65") PUSH "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n"
                        "@%p2 mbarrier.arrive.shared::cta.b64 %q20, [%r9];\n" UNTIL("0") OTHER,
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) expect(forms[i], sent);
}

/* An address that mapa makes from the own rank is the own block's; a wait accepts it, and an arrival returns
 * a state. */
static void the_own_block_by_its_rank(void **state) {
    (void)state;
    expect("mapa.u64 %q20, %q9, %r40;\n" INIT("64") PUSH
           "barrier.cluster.arrive; barrier.cluster.wait; mbarrier.arrive.b64 %q21, [%q20];\n"
           "SPIN: mbarrier.try_wait.b64 %p3, [%q20], %q21; @!%p3 bra SPIN;\n" OTHER,
           sent);
}

/* Eight phases: a word passes round the ring, and the next block says when it may be overwritten. */
static void phases_in_both_directions(void **state) {
    (void)state;
    static const char body[] = BEGIN
        "mov.u32 %r50, gates; mov.u32 %r51, 0; mapa.shared::cluster.u32 %r52, %r50, %r42;\n"
        "add.u32 %r53, %r40, %r41; sub.u32 %r53, %r53, 1; rem.u32 %r53, %r53, %r41;\n"
        "mapa.shared::cluster.u32 %r54, %r50, %r53; add.u32 %r54, %r54, 8;\n"
        "@%p2 mbarrier.init.shared::cta.b64 [%r50], 64; @%p2 mbarrier.init.shared::cta.b64 [%r50+8], "
        "64;\n" SYNC "AGAIN: and.b32 %r55, %r51, 1; st.shared::cluster.u32 [%r15], %r3;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r52];\n"
        "FULL: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r50], %r55; @!%p3 bra FULL;\n"
        "ld.shared.u32 %r3, [%r5]; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r54];\n"
        "FREE: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r50+8], %r55; @!%p3 bra "
        "FREE;\n"
        "add.u32 %r51, %r51, 1; setp.lt.u32 %p4, %r51, 9; @%p4 bra AGAIN; st.global.u32 [%out], %r3;\n" SYNC;
    for (size_t i = 0; i < sizeof all_settings / sizeof *all_settings; i++) {
        if (8 % all_settings[i].cluster) continue; /* nine steps equal one */
        CoreKernel kernel = kernel_of(body, &all_settings[i]);
        kernel.module = MODULE ".shared .align 8 .b64 gates[2];\n";
        CoreRun run = core_run_well(kernel);
        uint32_t n = all_settings[i].cluster;
        for (uint32_t t = 0; t < all_settings[i].blocks * THREADS; t++) {
            uint32_t block = t / THREADS, before = block / n * n + (block % n + n - 1) % n;
            assert_int_equal(run.out[t], 3 * (before * THREADS + t % THREADS) + 1);
        }
        core_done(&run);
    }
}

/* ---- copies -------------------------------------------------------------------------------------------- */

#define TO_NEXT(size)                                                                                        \
    "@%p2 cp.async.bulk.shared::cluster.shared::cta." TX " [%r16], [%r1], " size ", [%r19];\n"
#define FOLD_NEXT(op)                                                                                        \
    "@%p2 cp.reduce.async.bulk.shared::cluster.shared::cta." TX "." op " [%r16], [%r1], 256, [%r19];\n"

static void bulk_copies(void **state) {
    (void)state;
    expect(INIT("1") EXPECT("256") TO_NEXT("256") UNTIL("0") OTHER, sent);
    expect(INIT("1") EXPECT("128") TO_NEXT("128") UNTIL("0") OTHER, first_half);
    expect(INIT("1") TO_NEXT("256") EXPECT("256") UNTIL("0") OTHER, sent); /* before its bytes are expected */
    expect_with(BEGIN INIT("1") EXPECT("256") SYNC TO_NEXT("256") OTHER UNTIL("0") SYNC, &all_settings[0],
                seven); /* read before the wait */
    expect(INIT("1") EXPECT("256") TO_NEXT("0") TO_NEXT("256") UNTIL("0") OTHER, sent);
    /* the sender expects the bytes for the receiver */
    expect(INIT("1") "@%p2 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r19], "
                     "256;\n" TO_NEXT("256") UNTIL("0") OTHER,
           sent);
    /* from global memory */
    expect("fence.proxy.async.global;\n" INIT("1")
               EXPECT("256") "@%p2 cp.async.bulk.shared::cluster.global." TX " [%r16], [%q1], 256, [%r19];\n"
                             "bar.sync 0;\n" UNTIL("0") OTHER,
           sent);
    /* Each thread of a warp copies 16 bytes, half of them to the own block. */
    expect(INIT("1") EXPECT("256") "mul.lo.u32 %r30, %t, 16; add.u32 %r31, %r1, %r30; add.u32 %r32, %r16, "
                                   "%r30; setp.lt.u32 %p4, %t, 16;\n"
                                   "@%p4 cp.async.bulk.shared::cluster.shared::cta." TX
                                   " [%r32], [%r31], 16, [%r19];\n" UNTIL("0") OTHER,
           sent);
}

static void bulk_reductions(void **state) {
    (void)state;
    expect(INIT("1") EXPECT("256") FOLD_NEXT("add.u32") UNTIL("0") OTHER, sent_and_seven);
    expect(INIT("1") EXPECT("256") FOLD_NEXT("add.s32") UNTIL("0") OTHER, sent_and_seven);
    expect(INIT("1") EXPECT("256") FOLD_NEXT("min.u32") UNTIL("0") OTHER, smaller);
    expect(INIT("1") EXPECT("256") FOLD_NEXT("or.b32") UNTIL("0") OTHER, or_seven);
    expect(INIT("1") EXPECT("512") FOLD_NEXT("and.b32") FOLD_NEXT("or.b32")
               UNTIL("0") "mov.u32 %r20, 1;\n"
                          "st.global.u32 [%out], %r20;\n",
           one);
}

/* All blocks of a cluster fold into the first one: a sum. */
static void a_sum_of_all_blocks(void **state) {
    (void)state;
    static const char *const forms[] = {
        "@%p2 cp.reduce.async.bulk.shared::cluster.shared::cta." TX ".add.u32 [%r16], [%r1], 256, [%r19];\n",
        "red.async.relaxed.cluster.shared::cluster." TX ".add.u32 [%r15], %r3, [%r19];\n",
    };
    for (size_t i = 0; i < 2; i++) {
        Text body = {0};
        text_add(&body,
                 BEGIN "mapa.shared::cluster.u32 %r15, %r5, 0; mapa.shared::cluster.u32 %r16, %r6, 0;\n"
                       "mapa.shared::cluster.u32 %r19, %r9, 0; mul.lo.u32 %r30, %r41, 256;\n" INIT(
                           "1") "setp.eq.u32 %p5, %r40, 0; and.pred %p6, %p5, %p2;\n"
                                "@%p6 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], %r30;\n");
        text_add(&body, forms[i]);
        text_add(&body, "@!%p5 bra END;\n" UNTIL("0") OTHER "END: " SYNC);
        for (size_t s = 0; s < sizeof all_settings / sizeof *all_settings; s++) {
            CoreRun run = core_run_well(kernel_of(text_string(&body), &all_settings[s]));
            uint32_t n = all_settings[s].cluster;
            for (uint32_t t = 0; t < all_settings[s].blocks * THREADS; t += n * THREADS) {
                uint32_t sum = 7;
                for (uint32_t b = 0; b < n; b++) sum += 3 * (t + b * THREADS + 5) + 1;
                assert_int_equal(run.out[t + 5], sum);
            }
            core_done(&run);
        }
        text_done(&body);
    }
}

/* ---- stores -------------------------------------------------------------------------------------------- */

#define STORE_NEXT(form) "st.async." form "\n" UNTIL("0") OTHER
#define RED              "red.async.relaxed.cluster.shared::cluster." TX "."
#define RED_NEXT(form)   RED form ", [%r19];\n" UNTIL("0") OTHER

static void stores(void **state) {
    (void)state;
    expect(INIT("64") EACH("4") STORE_NEXT("weak.shared::cluster." TX ".u32 [%r15], %r3, [%r19];"), sent);
    expect(INIT("64") EACH("4") STORE_NEXT("shared::cluster." TX ".b32 [%r15], %r3, [%r19];"), sent);
    expect(INIT("64") EACH("4") STORE_NEXT("weak." TX ".u32 [%q15], %r3, [%q19];"), sent);
    /* even threads store for two, and four */
    expect(INIT("64") EACH("4") "xor.b32 %r30, %t, 1; and.b32 %r31, %t, 1; setp.eq.u32 %p4, %r31, 0;\n"
                                "add.u32 %r33, %r3, 3;\n"
                                "@%p4 st.async.weak.shared::cluster." TX
                                ".v2.u32 [%r15], {%r3, %r33}, [%r19];\n" UNTIL("0") OTHER,
           sent);
    expect(INIT("64") EACH("4") "and.b32 %r31, %t, 3; setp.eq.u32 %p4, %r31, 0; add.u32 %r33, %r3, 3;\n"
                                "add.u32 %r34, %r3, 6; add.u32 %r35, %r3, 9;\n"
                                "@%p4 st.async.weak.shared::cluster." TX
                                ".v4.b32 [%r15], {%r3, %r33, %r34, %r35}, [%r19];\n" UNTIL("0") OTHER,
           sent);
    expect(INIT("64") EACH("4") "and.b32 %r31, %t, 1; setp.eq.u32 %p4, %r31, 0; add.u32 %r33, %r3, 3;\n"
                                "mov.b64 %q20, {%r3, %r33};\n"
                                "@%p4 st.async.weak.shared::cluster." TX
                                ".u64 [%r15], %q20, [%r19];\n" UNTIL("0") OTHER,
           sent);
    /* all to the first block, all lanes of a warp to several blocks */
    expect(INIT("64") EACH("4") "and.b32 %r31, %t, 1; setp.eq.u32 %p4, %r31, 0;\n"
                                "selp.u32 %r32, %r15, %r5, %p4; selp.u32 %r33, %r19, %r9, %p4;\n"
                                "selp.u32 %r34, %r3, 7, %p4;\n" STORE_NEXT("weak.shared::cluster." TX
                                                                           ".u32 [%r32], %r34, [%r33];"),
           even);
}

static void reductions(void **state) {
    (void)state;
    expect(INIT("64") EACH("4") RED_NEXT("add.u32 [%r15], %r3"), sent_and_seven);
    expect(INIT("64") EACH("4") RED_NEXT("add.s32 [%r15], %r3"), sent_and_seven);
    expect(INIT("64") EACH("4") RED_NEXT("min.u32 [%r15], %r3"), smaller);
    expect(INIT("64") EACH("4") RED_NEXT("or.b32 [%r15], %r3"), or_seven);
    expect(INIT("64") EACH("4") RED_NEXT("inc.u32 [%r15], %r3"), counted_up);
    expect(INIT("64") EACH("4") "red.async.relaxed.cluster." TX ".add.u32 [%q15], %r3, [%q19];\n" UNTIL("0")
               OTHER,
           sent_and_seven);
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static void faults(void **state) {
    (void)state;
    static const struct {
        const char *body;
        TrapKind kind;
        const char *detail;
    } wrong[] = {
        {INIT("65") "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL("0"),
         TRAP_DEADLOCK,
         "no warp of the cluster can make progress: block 0 of the cluster, warp 0 waits at "
         "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 (`gate`+0, phase 0: 1 of 65 arrivals are "
         "missing); block 1 of the cluster"},
        {INIT("32") "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n" UNTIL("0"),
         TRAP_DEADLOCK,
         "phase 0: 32 of 32 arrivals are missing"}, /* two phases are over before any thread waits */
        {INIT("1") EXPECT("272") TO_NEXT("256") UNTIL("0"), TRAP_DEADLOCK, "phase 0: 16 bytes are missing"},
        {INIT("1") EXPECT("256") TO_NEXT("256") UNTIL("0") SYNC UNTIL("1"), TRAP_DEADLOCK, "phase 1"},
        {INIT("1") "@%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19], 2;\n", TRAP_MBARRIER,
         "more arrivals than the mbarrier expects: 1 are pending in this phase; compare mbarrier.init's "
         "count with the arriving threads (an mbarrier of block "},
        {INIT("1") "mbarrier.test_wait.parity.b64 %p3, [%q19], 0;\n", TRAP_MBARRIER,
         "a thread can only wait for an mbarrier of its own block (an mbarrier of block "},
        {INIT("1") "mbarrier.init.b64 [%q19], 1;\n", TRAP_MBARRIER, "an mbarrier of the thread's own block"},
        {INIT("1") "mbarrier.inval.b64 [%q19];\n", TRAP_MBARRIER, "an mbarrier of the thread's own block"},
        {INIT("1") "cp.async.mbarrier.arrive.noinc.b64 [%q19];\n", TRAP_MBARRIER,
         "an mbarrier of the thread's own block"},
        {INIT("64") "mbarrier.arrive.release.cluster.b64 %q20, [%q19];\n", TRAP_MBARRIER,
         "its destination must be `_`"},
        {INIT("65") "mbarrier.arrive.noComplete.b64 _, [%q19], 1;\n", TRAP_MBARRIER, ".noComplete"},
        {INIT("1") "@%p2 cp.async.bulk.shared::cluster.shared::cta." TX " [%r16], [%r1], 16, [%r9];\n",
         TRAP_MBARRIER, "of the cluster, its mbarrier in block "},
        {INIT("1") "@%p2 cp.async.bulk.shared::cluster.global." TX " [%r6], [%q1], 16, [%r19];\n",
         TRAP_MBARRIER, "of the cluster, its mbarrier in block "},
        {INIT("1") "@%p2 st.async.weak.shared::cluster." TX ".u32 [%r15], %r3, [%r9];\n", TRAP_MBARRIER,
         "of the cluster, its mbarrier in block "},
        {INIT("1") "@%p2 cp.async.bulk.shared::cluster.shared::cta." TX " [%r16+512], [%r1], 64, [%r19];\n",
         TRAP_OUT_OF_BOUNDS, "of the cluster, which has 1032 bytes"},
        {INIT("1") "@%p2 cp.async.bulk.shared::cluster.shared::cta." TX " [%r16+8], [%r1], 64, [%r19];\n",
         TRAP_MISALIGNED, "multiples of 16"},
        {INIT("1") "@%p2 cp.async.bulk.shared::cta.global." TX " [%r16], [%q1], 64, [%r19];\n",
         TRAP_OUT_OF_BOUNDS, "use .shared::cluster"},
        {INIT("1") "mapa.shared::cluster.u32 %r30, %r9, 9; mbarrier.arrive.shared::cluster.b64 _, [%r30];\n",
         TRAP_OUT_OF_BOUNDS, "of the cluster, which has only"},
        {INIT("1") "mapa.shared::cluster.u32 %r30, %r6, 9; mapa.shared::cluster.u32 %r31, %r9, 9;\n"
                   "@%p2 cp.async.bulk.shared::cluster.shared::cta." TX " [%r30], [%r1], 64, [%r31];\n",
         TRAP_OUT_OF_BOUNDS, "of the cluster, which has only"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Text text = {0};
        text_print(&text, "%s%s%s", BEGIN, wrong[i].body, SYNC);
        core_run_trap(kernel_of(text_string(&text), &all_settings[0]), wrong[i].kind, wrong[i].detail);
        text_done(&text);
    }
}

/* Block 1 has exited when block 0 accesses it. */
static void exited_blocks(void **state) {
    (void)state;
    static const char *const forms[] = {
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n",
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r19], 16;\n",
        "st.async.weak.shared::cluster." TX ".u32 [%r15], %r3, [%r19];\n",
        "red.async.relaxed.cluster.shared::cluster." TX ".add.u32 [%r15], %r3, [%r19];\n",
        TO_NEXT("64"),
        FOLD_NEXT("add.u32"),
        "@%p2 cp.async.bulk.shared::cluster.global." TX " [%r16], [%q1], 64, [%r19];\n",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        Text text = {0};
        text_add(&text,
                 BEGIN INIT("1") "setp.eq.u32 %p5, %r40, 1; @%p5 exit; mov.u32 %r30, 0;\n"
                                 "LATE: add.u32 %r30, %r30, 1; setp.lt.u32 %p6, %r30, 40000; @%p6 bra LATE;\n"
                                 "bar.sync 0;\n");
        text_add(&text, forms[i]);
        core_run_trap(kernel_of(text_string(&text), &all_settings[0]), TRAP_BLOCK_EXITED,
                      "shared memory of block 1 of the cluster, which has exited");
        text_done(&text);
    }
}

/* ---- traces -------------------------------------------------------------------------------------------- */

/* The events name the block whose memory is accessed, one event per block. */
static void events(void **state) {
    (void)state;
    CoreRun run = core_run_well(kernel_of(
        BEGIN INIT("64")
            EACH("4") "and.b32 %r31, %t, 1; setp.eq.u32 %p4, %r31, 0; selp.u32 %r32, %r15, %r5, %p4;\n"
                      "selp.u32 %r33, %r19, %r9, %p4; st.async.weak.shared::cluster." TX
                      ".u32 [%r32], %r3, [%r33];\n" UNTIL(
                          "0") "@%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 64;\n" SYNC
                               "@%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19], 64;\n"
                               "mul.lo.u32 %r34, %t, 16; setp.lt.u32 %p5, %t, 4; add.u32 %r35, %r1, %r34; "
                               "selp.u32 %r36, %r16, %r6, %p4;\n"
                               "add.u32 %r36, %r36, %r34;\n"
                               "@%p5 cp.async.bulk.shared::cluster.shared::cta." TX
                               " [%r36], [%r35], 16, [%r33];\n" UNTIL("1") SYNC,
        &all_settings[1]));
    static const struct {
        TraceKind kind;
        uint32_t mask;
        int peer;
    } expected[] = {
        {TRACE_SHARED_STORE, 0x55555555, 3},
        {TRACE_SHARED_STORE, 0xaaaaaaaa, -1},
        {TRACE_MBARRIER, 1, 3},
        {TRACE_SHARED_BULK_READ, 0xf, -1},
        {TRACE_SHARED_BULK_WRITE, 0x5, 3},
        {TRACE_SHARED_BULK_WRITE, 0xa, -1},
    };
    int pcs[] = {core_pc(&run, "st.async", 0),
                 core_pc(&run, "st.async", 0),
                 core_pc(&run, "mbarrier.arrive.release.cluster", 0),
                 core_pc(&run, "cp.async.bulk", 0),
                 core_pc(&run, "cp.async.bulk", 0),
                 core_pc(&run, "cp.async.bulk", 0)};
    size_t found = 0;
    for (int e = 0; e < core_event_count(&run, 2); e++) {
        TraceEvent event;
        core_event(&run, 2, e, &event);
        if (event.warp || found == sizeof expected / sizeof *expected || event.pc != pcs[found]) continue;
        assert_int_equal(event.kind, expected[found].kind);
        assert_int_equal(event.mask, expected[found].mask);
        assert_int_equal(trace_event_peer(&event), expected[found].peer);
        found++;
    }
    assert_int_equal(found, sizeof expected / sizeof *expected);
    core_done(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_arrival),
        cmocka_unit_test(the_own_block_by_its_rank),
        cmocka_unit_test(phases_in_both_directions),
        cmocka_unit_test(bulk_copies),
        cmocka_unit_test(bulk_reductions),
        cmocka_unit_test(a_sum_of_all_blocks),
        cmocka_unit_test(stores),
        cmocka_unit_test(reductions),
        cmocka_unit_test(faults),
        cmocka_unit_test(exited_blocks),
        cmocka_unit_test(events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
