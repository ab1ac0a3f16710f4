/* mbarriers, bulk copies and reductions, st.async and red.async: what each form leaves in memory, and
 * when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <string.h>

/* Word i of `source` is i + 1, of `target` 100; word i of `tile` is 10 + i in lane i. %p2: lane 0. %r9:
 * gate. */
#define MODULE                                                                                               \
    ".shared .align 128 .b8 tile[256];\n.shared .align 128 .b8 other[256];\n.shared .align 8 .b64 "          \
    "gate[2];\n"                                                                                             \
    ".global .align 128 .u32 source[32] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"  \
    "25,26,27,28,29,30,31,32};\n"                                                                            \
    ".global .align 128 .u32 target[32] = {100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100," \
    "100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100};\n"                                    \
    ".global .align 128 .u32 tail[2];\n"
#define BEGIN                                                                                                \
    "mov.u32 %r1, tile; mov.u32 %r2, other; mov.u32 %r9, gate; mov.u64 %q1, source; mov.u64 %q2, target;\n"  \
    "mad.lo.u32 %r3, %t, 4, %r1; add.u32 %r4, %t, 10; st.shared.u32 [%r3], %r4;\n"                           \
    "mad.lo.u32 %r5, %t, 4, %r2; mov.u32 %r6, 7; st.shared.u32 [%r5], %r6; setp.eq.u32 %p2, %t, 0;\n"        \
    "mov.u32 %r20, 0; bar.sync 0;\n"
#define INIT(count) "@%p2 mbarrier.init.shared::cta.b64 [%r9], " count "; bar.sync 0;\n"
#define UNTIL(parity)                                                                                        \
    "SPIN: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], " parity "; @!%p3 bra SPIN;\n"
#define TILE  "ld.shared.u32 %r20, [%r3]; st.global.u32 [%out], %r20;"
#define OTHER "ld.shared.u32 %r20, [%r5]; st.global.u32 [%out], %r20;"
#define TARGET                                                                                               \
    "bar.sync 0; mad.wide.u32 %q4, %t, 4, %q2; ld.global.u32 %r20, [%q4]; st.global.u32 [%out], %r20;"
#define ANSWER "st.global.u32 [%out], %r20;"

typedef uint32_t (*Expected)(uint32_t lane);

static void expect_of(const char *body, uint32_t cluster, Expected expected) {
    Text text = {0};
    text_add(&text, BEGIN);
    text_add(&text, body);
    CoreRun run = core_run_well(
        (CoreKernel){.body = text_string(&text), .module = MODULE, .cluster = {cluster, cluster, cluster}});
    for (uint32_t lane = 0; lane < 32; lane++)
        if (run.out[lane] != expected(lane))
            fail_msg("%s\nlane %u has %u, not %u", body, lane, run.out[lane], expected(lane));
    core_done(&run);
    text_done(&text);
}

static void expect(const char *body, Expected expected) {
    expect_of(body, 0, expected);
}

static void expect_in_cluster(const char *body, Expected expected) {
    expect_of(body, 1, expected);
}

static uint32_t own(uint32_t lane) {
    return 10 + lane;
}
static uint32_t from_source(uint32_t lane) {
    return lane + 1;
}
static uint32_t half_from_source(uint32_t lane) {
    return lane < 16 ? lane + 1 : lane + 10;
}
static uint32_t hundred(uint32_t lane) {
    (void)lane;
    return 100;
}
static uint32_t eleven(uint32_t lane) {
    (void)lane;
    return 11;
}
static uint32_t seven(uint32_t lane) {
    (void)lane;
    return 7;
}
static uint32_t yes(uint32_t lane) {
    (void)lane;
    return 1;
}
static uint32_t no(uint32_t lane) {
    (void)lane;
    return 0;
}

/* ---- mbarriers ----------------------------------------------------------------------------------------- */

#define ASK(wait) wait " selp.u32 %r20, 1, 0, %p3;\n" ANSWER

static void phases_end_when_all_have_arrived(void **state) {
    (void)state;
    expect(INIT("32") "mbarrier.arrive.shared::cta.b64 %q5, [%r9];\n" UNTIL("0") ASK(""), yes);
    expect(INIT("32") "mbarrier.arrive.shared::cta.b64 %q5, [%r9];\n" ASK(
               "mbarrier.test_wait.shared::cta.b64 %p3, [%r9], %q5;"),
           yes);
    expect(INIT("33") ASK("mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 0;"), no);
    expect(INIT("33") ASK("mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0, 100;"), no);
    expect(INIT("33") ASK("mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 1;"),
           yes); /* the phase before */
    expect(INIT("64") "mbarrier.arrive.release.cta.shared::cta.b64 %q5, [%r9], 2;\n" UNTIL("0") ASK(""), yes);
    expect(INIT("64") "mbarrier.arrive.noComplete.shared.b64 %q5, [%r9], 1;\n"
                      "mbarrier.arrive.shared.b64 _, [%r9];\n" UNTIL("0") ASK(""),
           yes);
    expect(INIT("32") "cvta.shared.u64 %q6, gate; mbarrier.arrive.b64 %q5, [%q6];\n" ASK(
               "mbarrier.try_wait.b64 %p3, [%q6], %q5;"),
           yes);
    expect(INIT("32") "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\n" ASK(
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], 0, 1000;"),
           yes);
}

/* The answer arrives with the phase: no block was canceled. */
static void a_request_for_another_block_fails(void **state) {
    (void)state;
    static const char request[] =
        INIT("1") "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16;\n"
                  "@%p2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
                  "[%r2], [%r9];\n" UNTIL("0") "{ .reg .b128 answer; .reg .b32 x, y, z;\n"
                                               "ld.shared.b128 answer, [%r2];\n";
    static const char *const queries[] = {
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, answer; selp.u32 %r20, 1, 0, %p3; "
        "}\n" ANSWER,
        "setp.eq.u32 %p3, %t, %t; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, answer;\n"
        "mov.u32 x, 5; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {x, y, z, _}, answer;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 y, answer;\n"
        "selp.u32 %r20, 1, 0, %p3; add.u32 %r20, %r20, x; add.u32 %r20, %r20, y; }\n" ANSWER};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        Text text = {0};
        text_print(&text, "%s%s", request, queries[i]);
        expect(text_string(&text), no);
        text_done(&text);
    }
    /* without the bytes of the answer the phase does not end */
    expect(INIT("1") "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16;\n" ASK(
               "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 0;"),
           no);
}

static void phases_follow_each_other(void **state) {
    (void)state;
#define ROUND(name, parity)                                                                                  \
    "mbarrier.arrive.shared::cta.b64 %q5, [%r9];\n" name                                                     \
    ": mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], " parity "; @!%p3 bra " name ";\n"
    expect(INIT("32") ROUND("A", "0") ROUND("B", "1") ROUND("C", "0") ASK(""), yes);
    /* lanes 16-31 drop out after the first phase */
    expect(INIT("32") "setp.ge.u32 %p4, %t, 16; @%p4 mbarrier.arrive_drop.shared::cta.b64 %q5, [%r9];\n"
                      "@!%p4 mbarrier.arrive.shared::cta.b64 %q5, [%r9];\n" UNTIL(
                          "0") "@!%p4 mbarrier.arrive.shared::cta.b64 %q5, [%r9];\n" ASK("NEXT: "
                                                                                         "mbarrier.test_wait."
                                                                                         "parity.shared::cta."
                                                                                         "b64 %p3, [%r9], 1; "
                                                                                         "@!%p3 bra NEXT;"),
           yes);
    expect(INIT("32") "@%p2 mbarrier.inval.shared::cta.b64 [%r9]; bar.sync 0;\n" INIT("32") ROUND("D", "0")
               ASK(""),
           yes);
}

static uint32_t pending(uint32_t lane) {
    return 32 - lane;
}

static void states_hold_what_was_pending(void **state) {
    (void)state;
    expect(INIT("32") "mbarrier.arrive.shared::cta.b64 %q5, [%r9];\nmbarrier.pending_count.b64 %r20, "
                      "%q5;\n" ANSWER,
           pending);
}

static void phases_wait_for_bytes(void **state) {
    (void)state;
    expect(INIT("1") "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 64;\n"
                     "@%p2 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 64;\n" UNTIL("0") ASK(""),
           yes);
    expect(INIT("1") "@%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 64;\n"
                     "@%p2 mbarrier.arrive.shared::cta.b64 %q5, [%r9];\n" ASK(
                         "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 0;"),
           no);
    expect(INIT("1") "@%p2 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r9], 64;\n"
                     "@%p2 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r9], 64;\n"
                     "@%p2 mbarrier.arrive.shared::cta.b64 %q5, [%r9];\n" UNTIL("0") ASK(""),
           yes);
}

/* ---- bulk copies --------------------------------------------------------------------------------------- */

#define EXPECT(bytes) "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], " bytes ";\n"
#define FETCH(to, bytes)                                                                                     \
    "@%p2 cp.async.bulk." to ".global.mbarrier::complete_tx::bytes [%r1], [%q1], " bytes ", [%r9];\n"

static void bulk_copies_complete_on_an_mbarrier(void **state) {
    (void)state;
    expect(INIT("1") EXPECT("128") FETCH("shared::cluster", "128") UNTIL("0") TILE, from_source);
    expect(INIT("1") EXPECT("128") FETCH("shared::cta", "128") UNTIL("0") TILE, from_source);
    expect(INIT("1") EXPECT("64") FETCH("shared::cluster", "64") UNTIL("0") TILE, half_from_source);
    expect(INIT("1") FETCH("shared::cluster", "128") EXPECT("128") UNTIL("0") TILE, from_source);
    expect(INIT("1") EXPECT("128") FETCH("shared::cluster", "128") TILE, own); /* too early */
    expect(INIT("1") EXPECT("128") FETCH("shared::cluster", "128") UNTIL("1") TILE,
           own); /* the wrong phase */
    expect(INIT("1") EXPECT(
               "128") "createpolicy.fractional.L2::evict_first.b64 %q5, 1.0;\n"
                      "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                      "[%r1], [%q1], 128, [%r9], %q5;\n" UNTIL("0") TILE,
           from_source);
    expect_in_cluster(
        INIT("1") EXPECT("128") "@%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                                "[%r2], [%r1], 128, [%r9];\n" UNTIL("0") OTHER,
        own);
    expect("cp.async.bulk.prefetch.L2.global [%q1], 128;\n" TILE, own);
}

#define PUT                                                                                                  \
    "fence.proxy.async.shared::cta; bar.sync 0; @%p2 cp.async.bulk.global.shared::cta.bulk_group [%q2], "    \
    "[%r1], 128;\n"
#define COMMIT "@%p2 cp.async.bulk.commit_group;\n"

static void bulk_copies_to_global_memory_are_in_groups(void **state) {
    (void)state;
    expect(PUT COMMIT "@%p2 cp.async.bulk.wait_group 0;\n" TARGET, own);
    expect(PUT COMMIT TARGET, hundred);
    expect(PUT COMMIT "@%p2 cp.async.bulk.wait_group 1;\n" TARGET, hundred);
    expect(PUT COMMIT "@%p2 cp.async.bulk.wait_group.read 0;\n" TARGET, hundred); /* only read */
    expect(PUT COMMIT COMMIT "@%p2 cp.async.bulk.wait_group 1;\n" TARGET, own);
    expect(PUT "@%p2 cp.async.bulk.wait_group 0;\n" TARGET, hundred); /* not committed */
    /* The source may change after .read. */
    expect(PUT COMMIT
           "@%p2 cp.async.bulk.wait_group.read 0;\nbar.sync 0; st.shared.u32 [%r3], %r6; bar.sync 0;\n"
           "@%p2 cp.async.bulk.wait_group 0;\n" TARGET,
           own);
}

#define MASKED "@%p2 cp.async.bulk.global.shared::cta.bulk_group.cp_mask "
#define DONE   COMMIT "@%p2 cp.async.bulk.wait_group 0;\n"
#define PUBLIC "fence.proxy.async.shared::cta; bar.sync 0; mov.u16 %h1, 0x0ff0;\n"

static uint32_t own_in_the_middle(uint32_t lane) {
    return lane % 4 == 1 || lane % 4 == 2 ? 10 + lane : 100;
}
static uint32_t own_low_bytes(uint32_t lane) {
    return lane % 4 == 0 ? 10 + lane : 100;
}

/* Bit i of the mask selects byte i of every 16. What is not selected need be no memory at all. */
static void a_mask_selects_bytes_of_a_bulk_copy(void **state) {
    (void)state;
    expect(PUBLIC MASKED "[%q2], [%r1], 128, %h1;\n" DONE TARGET, own_in_the_middle);
    expect(PUBLIC MASKED "[%q2], [%r1], 128, 0xffff;\n" DONE TARGET, own);
    expect(PUBLIC MASKED "[%q2], [%r1], 128, 1;\n" DONE TARGET, own_low_bytes);
    expect(PUBLIC MASKED "[%q2], [%r1], 128, 0;\n" DONE TARGET, hundred);
    expect(PUBLIC MASKED "[tail], [%r1], 16, 0x00ff;\n" DONE "ld.global.u32 %r20, [tail+4];" ANSWER, eleven);
    core_run_trap(
        (CoreKernel){.body = BEGIN PUBLIC MASKED "[tail], [%r1], 16, 0x01ff;\n" DONE, .module = MODULE},
        TRAP_OUT_OF_BOUNDS, "`tail`");
    core_run_trap((CoreKernel){.body = BEGIN PUBLIC MASKED "[%q2], [%r1], 16;\n", .module = MODULE},
                  TRAP_NOT_EMULATED, "malformed");
}

/* A copy that no thread waits for arrives at the end of the block. */
static void what_is_not_awaited_arrives_at_the_end(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .body = BEGIN "bar.sync 0; @%p2 cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 128;",
        .module = MODULE});
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(run.out[i], own(i));
    core_done(&run);
}

/* ---- reductions ---------------------------------------------------------------------------------------- */

/* `target` becomes 100 op 10 + lane, for each element type of 32 bits. */
static void reduce(const char *form, Expected expected) {
    Text text = {0};
    text_add(&text, "fence.proxy.async.shared::cta; bar.sync 0; @%p2 "
                    "cp.reduce.async.bulk.global.shared::cta.bulk_group.");
    text_add(&text, form);
    text_add(&text, " [%q2], [%r1], 128;\n" COMMIT "@%p2 cp.async.bulk.wait_group 0;\n" TARGET);
    expect(text_string(&text), expected);
    text_done(&text);
}
/* `other` becomes 7 op 10 + lane. */
static void reduce_shared(const char *form, Expected expected) {
    Text text = {0};
    text_add(
        &text,
        INIT("1") EXPECT(
            "128") "fence.proxy.async.shared::cta; bar.sync 0;\n"
                   "@%p2 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.");
    text_add(&text, form);
    text_add(&text, " [%r2], [%r1], 128, [%r9];\n" UNTIL("0") OTHER);
    expect_in_cluster(text_string(&text), expected);
    text_done(&text);
}

static uint32_t sum(uint32_t lane) {
    return 110 + lane;
}
static uint32_t sum7(uint32_t lane) {
    return 17 + lane;
}
static uint32_t and100(uint32_t lane) {
    return 100 & (10 + lane);
}
static uint32_t or100(uint32_t lane) {
    return 100 | (10 + lane);
}
static uint32_t xor100(uint32_t lane) {
    return 100 ^ (10 + lane);
}
static uint32_t and7(uint32_t lane) {
    return 7 & (10 + lane);
}
static uint32_t or7(uint32_t lane) {
    return 7 | (10 + lane);
}
static uint32_t xor7(uint32_t lane) {
    return 7 ^ (10 + lane);
}
static uint32_t wrapped(uint32_t lane) {
    (void)lane;
    return 0;
} /* 100 >= 10 + lane */
static uint32_t eight(uint32_t lane) {
    (void)lane;
    return 8;
} /* 7 < 10 + lane */
static uint32_t six(uint32_t lane) {
    (void)lane;
    return 6;
}
static uint32_t pairs(uint32_t lane) {
    return 110 + lane;
} /* no carry */
static uint32_t pair_least(uint32_t lane) {
    return 10 + lane;
}

static void reductions_fold_each_element(void **state) {
    (void)state;
    reduce("add.u32", sum);
    reduce("add.s32", sum);
    reduce("add.u64", pairs);
    reduce("min.u32", own);
    reduce("min.s32", own);
    reduce("max.u32", hundred);
    reduce("max.s32", hundred);
    reduce("min.u64", pair_least);
    reduce("max.s64", hundred);
    reduce("inc.u32", wrapped);
    reduce("dec.u32", own); /* 100 is above the limit */
    reduce("and.b32", and100);
    reduce("or.b32", or100);
    reduce("xor.b32", xor100);
    reduce("and.b64", and100);
    reduce("or.b64", or100);
    reduce("xor.b64", xor100);
    reduce_shared("add.u32", sum7);
    reduce_shared("add.s32", sum7);
    reduce_shared("add.u64", sum7);
    reduce_shared("min.u32", seven);
    reduce_shared("min.s32", seven);
    reduce_shared("max.u32", own);
    reduce_shared("max.s32", own);
    reduce_shared("inc.u32", eight);
    reduce_shared("dec.u32", six);
    reduce_shared("and.b32", and7);
    reduce_shared("or.b32", or7);
    reduce_shared("xor.b32", xor7);
}

/* 1.5 + lane added to 0.25, as each float type; the sums are exact. */
static void reductions_of_floats(void **state) {
    (void)state;
#define FLOATS(convert, store, load, type, back)                                                             \
    "cvt.rn.f32.u32 %f0, %t; add.f32 %f0, %f0, 0f3fc00000; mov.f32 %f1, 0f3e800000;\n" convert store         \
    "fence.proxy.async; bar.sync 0; @%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add." type       \
    " [%q2], [%r1], %r22;\n" COMMIT "@%p2 cp.async.bulk.wait_group 0; bar.sync 0;\n" load back               \
    "sub.f32 %f2, %f2, %f0; mul.f32 %f2, %f2, 0f40800000; cvt.rzi.u32.f32 %r20, %f2;\n" ANSWER
    expect(FLOATS("",
                  "st.shared.f32 [%r3], %f0; mad.wide.u32 %q4, %t, 4, %q2; st.global.f32 [%q4], %f1; mov.u32 "
                  "%r22, 128;\n",
                  "ld.global.f32 %f2, [%q4];\n", "f32", ""),
           yes);
    expect(FLOATS("cvt.f64.f32 %d0, %f0; cvt.f64.f32 %d1, %f1;\n",
                  "mad.lo.u32 %r3, %t, 8, %r1; setp.lt.u32 %p5, %t, 16; @%p5 st.shared.f64 [%r3], %d0;\n"
                  "mad.wide.u32 %q4, %t, 8, %q2; @%p5 st.global.f64 [%q4], %d1; mov.u32 %r22, 128;\n",
                  "mov.f64 %d2, %d0; add.f64 %d2, %d2, %d1; @%p5 ld.global.f64 %d2, [%q4];\n", "f64",
                  "cvt.rn.f32.f64 %f2, %d2;\n"),
           yes);
    expect(FLOATS("cvt.rn.f16.f32 %h0, %f0; cvt.rn.f16.f32 %h1, %f1;\n",
                  "mad.lo.u32 %r3, %t, 2, %r1; st.shared.b16 [%r3], %h0; mad.wide.u32 %q4, %t, 2, %q2;\n"
                  "st.global.b16 [%q4], %h1; mov.u32 %r22, 64;\n",
                  "ld.global.b16 %h2, [%q4];\n", "noftz.f16", "cvt.f32.f16 %f2, %h2;\n"),
           yes);
}

static uint32_t subnormal(uint32_t lane) {
    return 17 + lane;
}
static uint32_t half_subnormal(uint32_t lane) {
    return (7 + lane) << 16 | (3 + lane);
}

/* Their bits are added as integers. */
static void reductions_keep_subnormals(void **state) {
    (void)state;
#define ADD(before, form)                                                                                    \
    before "mad.wide.u32 %q4, %t, 4, %q2; st.global.u32 [%q4], %r6; fence.proxy.async; bar.sync 0;\n"        \
           "@%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add." form                               \
           " [%q2], [%r1], 128;\n" COMMIT "@%p2 cp.async.bulk.wait_group 0;\n" TARGET
    expect(ADD("", "f32"), subnormal);
    expect(ADD("shl.b32 %r7, %t, 16; add.u32 %r7, %r7, %t; st.shared.u32 [%r3], %r7; mov.u32 %r6, 0x70003;\n",
               "noftz.f16"),
           half_subnormal);
}

/* ---- st.async, red.async ------------------------------------------------------------------------------- */

static uint32_t stored(uint32_t lane) {
    return 10 + lane;
}
static uint32_t first_of_four(uint32_t lane) {
    return lane % 4 ? 11 : 10;
}

static void stores_and_folds_complete_on_an_mbarrier(void **state) {
    (void)state;
#define EACH(bytes) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], " bytes ";\n"
    expect_in_cluster(
        INIT("32") EACH("4") "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r4, "
                             "[%r9];\n" UNTIL("0") OTHER,
        stored);
    expect_in_cluster(
        INIT("32") EACH("4") "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r4, [%r9];\n"
                             "ld.shared.u32 %r20, [%r5]; st.global.u32 [%out], %r20;",
        seven); /* too early */
    expect_in_cluster(
        INIT("8") "and.b32 %r21, %t, 3; setp.eq.u32 %p4, %r21, 0; mov.u32 %r23, 10; mov.u32 %r24, "
                  "11;\n@%p4 " EACH(
                      "16") "@%p4 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 "
                            "[%r5], {%r23, %r24, %r24, %r24}, [%r9];\n" UNTIL("0") OTHER,
        first_of_four);
    expect_in_cluster(
        INIT("32") EACH("4") "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
                             "[%r5], %r4, [%r9];\n" UNTIL("0") OTHER,
        sum7);
    expect_in_cluster(
        INIT("32") EACH("4") "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 "
                             "[%r5], %r4, [%r9];\n" UNTIL("0") OTHER,
        seven);
    expect_in_cluster(
        INIT("32") EACH("4") "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 "
                             "[%r5], %r4, [%r9];\n" UNTIL("0") OTHER,
        own);
    expect_in_cluster(
        INIT("32") EACH("4") "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 "
                             "[%r5], %r4, [%r9];\n" UNTIL("0") OTHER,
        eight);
    expect_in_cluster(
        INIT("32") EACH("4") "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 "
                             "[%r5], %r4, [%r9];\n" UNTIL("0") OTHER,
        xor7);
    expect_in_cluster(
        INIT("32") EACH("4") "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32 "
                             "[%r5], %r4, [%r9];\n" UNTIL("0") OTHER,
        and7);
}

static uint32_t nine_to_six(uint32_t lane) {
    return lane < 4 ? 9 - lane : 10 + lane;
}
static uint32_t first_four(uint32_t lane) {
    return lane < 4 ? lane + 1 : 10 + lane;
}

/* As on an H200, which reports them as illegal instructions. */
static void what_needs_a_cluster_traps_without(void **state) {
    (void)state;
    static const struct {
        const char *name, *rest;
    } forms[] = {
        {"cp.async.bulk.shared::cluster.shared::cta",
         ".mbarrier::complete_tx::bytes [%r2], [%r1], 16, [%r9];"},
        {"cp.reduce.async.bulk.shared::cluster.shared::cta",
         ".mbarrier::complete_tx::bytes.add.u32 [%r2], [%r1], 16, [%r9];"},
        {"st.async", ".weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r4, [%r9];"},
        {"red.async",
         ".relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], %r4, [%r9];"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        Text body = {0}, said = {0};
        text_print(&body, "%s@%%p2 %s%s", BEGIN INIT("1"), forms[i].name, forms[i].rest);
        text_print(&said, "%s needs a launch in clusters: --cluster 1, or .reqnctapercluster", forms[i].name);
        CoreKernel kernel = {.body = text_string(&body), .module = MODULE};
        Trap trap = core_run_trap(kernel, TRAP_TRAP_INSTRUCTION, text_string(&said));
        assert_int_equal(trap.lanes, 1);
        memcpy(kernel.cluster, (uint32_t[]){1, 1, 1}, sizeof kernel.cluster);
        CoreRun run = core_run_well(kernel);
        core_done(&run);
        text_done(&said);
        text_done(&body);
    }
    /* Not if no lane executes it. */
    expect("setp.gt.u32 %p4, %t, 99; @%p4 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
           "[%r5], %r4, [%r9];\n" OTHER,
           seven);
}

/* mapa gives an address that names a block of the cluster, possibly the executing one. */
static void the_own_block_by_its_rank(void **state) {
    (void)state;
#define MAPPED                                                                                               \
    INIT("1")                                                                                                \
    "barrier.cluster.arrive; barrier.cluster.wait;\n"                                                        \
    "mapa.shared::cluster.u32 %r10, %r1, 0; mapa.shared::cluster.u32 %r11, %r9, 0;\n"
    expect_in_cluster(
        MAPPED "@%p2 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r11], 16; @%p2 "
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r10], {9, 8, 7, 6}, "
               "[%r11];\n" UNTIL("0") TILE,
        nine_to_six);
    expect_in_cluster(MAPPED
                      "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16; @%p2 "
                      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%q1], 16, "
                      "[%r11];\n" UNTIL("0") TILE,
                      first_four);
}

/* A kernel that requires clusters of one block is launched with them. */
static void required_clusters_of_one_are_clusters(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .module = ".shared .align 8 .b64 gate;\n.shared .align 4 .u32 word;\n"
                  ".visible .entry kernel(.param .u64 out) .reqnctapercluster 1, 1, 1\n{\n"
                  ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %q<2>;\n"
                  "ld.param.u64 %q1, [out]; mov.u32 %r1, word; mov.u32 %r9, gate;\n"
                  "mbarrier.init.shared::cta.b64 [%r9], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, "
                  "[%r9], 4;\n"
                  "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], 9, [%r9];\n" UNTIL(
                      "0") "ld.shared.u32 %r2, [%r1]; st.global.u32 [%q1], %r2; ret;\n}\n",
        .block = 1});
    assert_int_equal(run.out[0], 9);
    core_done(&run);
}

static void wrong_bulk_forms_trap(void **state) {
    (void)state;
    static const struct {
        const char *body;
        TrapKind kind;
        const char *detail;
    } wrong[] = {
        {FETCH("shared::cluster", "120"), TRAP_MISALIGNED, "120 bytes"},
        {"@%p2 cp.async.bulk.global.shared::cta.bulk_group [%q2], [%r1+4], 16;\n", TRAP_MISALIGNED,
         "multiples of 16"},
        {FETCH("shared::cluster", "256"), TRAP_OUT_OF_BOUNDS, "`source`"},
        {"@%p2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2+8], "
         "[%r9];\n",
         TRAP_OUT_OF_BOUNDS, "multiple of 16"},
        {"@%p2 cp.async.bulk.global.shared::cta.bulk_group [%q2], [%r1+4096], 16;\n", TRAP_OUT_OF_BOUNDS,
         "shared"},
        {"cp.async.bulk.global.shared::cta.bulk_group [%q2], [%r1];\n", TRAP_NOT_EMULATED, "malformed"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%q2], [%r1], 16;\n", TRAP_NOT_EMULATED,
         "no such form for .f32"},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%q1], "
         "16, [%r9], %h1;\n",
         TRAP_NOT_EMULATED, "not emulated: cp.async.bulk"},
        {"multimem.red.relaxed.gpu.global.add.u32 [%q1], %r1;\n", TRAP_NOT_EMULATED,
         "not emulated: multimem.red"},
        {"mov.u64 %q5, source; mbarrier.arrive.b64 %q6, [%q5];\n", TRAP_MBARRIER,
         "must lie in shared memory"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Text text = {0};
        text_add(&text, BEGIN INIT("1"));
        text_add(&text, wrong[i].body);
        core_run_trap((CoreKernel){.body = text_string(&text), .module = MODULE}, wrong[i].kind,
                      wrong[i].detail);
        text_done(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(phases_end_when_all_have_arrived),
                                       cmocka_unit_test(a_request_for_another_block_fails),
                                       cmocka_unit_test(phases_follow_each_other),
                                       cmocka_unit_test(states_hold_what_was_pending),
                                       cmocka_unit_test(phases_wait_for_bytes),
                                       cmocka_unit_test(bulk_copies_complete_on_an_mbarrier),
                                       cmocka_unit_test(a_mask_selects_bytes_of_a_bulk_copy),
                                       cmocka_unit_test(bulk_copies_to_global_memory_are_in_groups),
                                       cmocka_unit_test(what_is_not_awaited_arrives_at_the_end),
                                       cmocka_unit_test(reductions_fold_each_element),
                                       cmocka_unit_test(reductions_of_floats),
                                       cmocka_unit_test(reductions_keep_subnormals),
                                       cmocka_unit_test(what_needs_a_cluster_traps_without),
                                       cmocka_unit_test(the_own_block_by_its_rank),
                                       cmocka_unit_test(required_clusters_of_one_are_clusters),
                                       cmocka_unit_test(stores_and_folds_complete_on_an_mbarrier),
                                       cmocka_unit_test(wrong_bulk_forms_trap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
