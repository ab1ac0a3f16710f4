/* Replays of small kernels: registers of every width, weights and producers. Some kernels cannot be
 * replayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tensor_map.h"
#include "core.h"
#include "trace/block.h"
#include <stdlib.h>
#include <string.h>

typedef struct Replayed {
    CoreRun run;
    Launch geometry;
    uint64_t address;
    Replay *replay;
} Replayed;

static void set_geometry(Replayed *replayed, uint32_t block) {
    replayed->address = emulator_buffer_address(replayed->run.emulator, 0);
    replayed->geometry = (Launch){.program = replayed->run.program,
                                  .grid = {1, 1, 1},
                                  .block = {block, 1, 1},
                                  .parameters = (uint8_t *)&replayed->address,
                                  .parameter_bytes = sizeof replayed->address};
}

static void start(Replayed *replayed, CoreKernel kernel) {
    Error error = {0};
    replayed->run = core_run_well(kernel);
    set_geometry(replayed, kernel.block ? kernel.block : 32);
    replayed->replay =
        replay_open(replayed->run.trace, 0, replayed->run.launch->blocks[0], &replayed->geometry, &error);
    if (!replayed->replay) fail_msg("%s", error.message);
}

static void end(Replayed *replayed) {
    replay_free(replayed->replay);
    core_done(&replayed->run);
}

static void go(const Replayed *replayed, int event) {
    Error error = {0};
    if (!replay_seek(replayed->replay, event, &error)) fail_msg("event %d: %s", event, error.message);
}

static ReplayValue value_of(const Replayed *replayed, int warp, const char *name) {
    ReplayValue value;
    if (!replay_register(replayed->replay, warp, name, &value)) fail_msg("there is no %s", name);
    return value;
}

static void test_registers_of_every_width(void **state) {
    (void)state;
    Replayed replayed;
    start(&replayed,
          (CoreKernel){.body = "ld.global.u32 %r1, [%out]; setp.lt.u32 %p1, %t, 7; cvt.u16.u32 %h1, %t;\n"
                               "add.u16 %h1, %h1, 0xff00; mul.wide.u32 %q1, %t, 0x40000000;\n"
                               "st.global.u32 [%out], %r1; add.u32 %r1, %r1, 5; add.u16 %h1, %h1, 1;\n"
                               "setp.ge.u32 %p1, %t, 7; neg.s64 %q1, %q1; st.global.u32 [%out], %r1;\n"
                               "st.global.u64 [%base], %q1; st.global.u16 [%base], %h1;\n"
                               "@%p1 st.global.u32 [%base+8], %r1;",
                       .block = 64});
    for (int pass = 0; pass < 2; pass++) { /* forwards, and back */
        for (int w = 0; w < 2; w++) {
            go(&replayed, pass ? 3 : 2 + w); /* the first stores */
            ReplayValue p = value_of(&replayed, w, "%p1"), h = value_of(&replayed, w, "%h1"),
                        q = value_of(&replayed, w, "%q1"), r = value_of(&replayed, w, "%r1");
            for (uint32_t lane = 0; lane < 32; lane++) {
                uint32_t thread = (uint32_t)w * 32 + lane;
                assert_int_equal(p.bits[lane], thread < 7);
                assert_int_equal(h.bits[lane], 0xff00 + thread);
                assert_int_equal(q.bits[lane], (uint64_t)thread << 30);
                assert_int_equal(r.bits[lane], 0);
                assert_int_equal(r.weight[lane], 1);
                assert_int_equal(r.producer[lane], w);
                assert_int_equal(q.weight[lane], 0);
                assert_int_equal(q.producer[lane], -1);
            }
        }
        int last = core_event_count(&replayed.run, 0) - 1;
        go(&replayed, last);
        assert_int_equal(value_of(&replayed, 1, "%r1").bits[9], 5);
        assert_int_equal(value_of(&replayed, 1, "%q1").bits[9], (uint64_t) - (INT64_C(41) << 30));
    }
    go(&replayed, -1);
    assert_int_equal(value_of(&replayed, 1, "%r1").producer[9], -1);
    end(&replayed);
}

/* Inline PTX gives each use of a function a scope of its own, with the same names. */
static void test_registers_of_two_scopes(void **state) {
    (void)state;
    Replayed replayed;
    start(&replayed, (CoreKernel){.body = "{ .reg .u32 x; mov.u32 x, 3; st.global.u32 [%out], x; }\n"
                                          "{ .reg .u32 x; mov.u32 x, 4; st.global.u32 [%out], x; }\n"});
    for (int event = 0; event < 2; event++) {
        go(&replayed, event);
        assert_int_equal(value_of(&replayed, 0, "x").bits[9], 3 + event);
    }
    end(&replayed);
}

/* Weights are added by arithmetic, copied by moves and shuffles; a constant has none. */
static void test_weights_and_producers(void **state) {
    (void)state;
    Replayed replayed;
    start(&replayed,
          (CoreKernel){
              .body = "ld.global.u32 %r0, [%out];\n" /* 0 */
                      "add.u32 %r1, %r0, 4; mov.u32 %r2, words; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3;\n"
                      "st.shared.u32 [%r2], %r1; bar.sync 0;\n" /* 1, 2 */
                      "xor.b32 %r3, %r3, 4; mov.u32 %r4, words; add.u32 %r4, %r4, %r3;\n"
                      "ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, %r1;\n"  /* 3 */
                      "shfl.sync.bfly.b32 %r6, %r5, 2, 31, -1;\n"           /* 4 */
                      "add.u32 %r6, %r6, %r5; st.global.u32 [%out], %r6;\n" /* 5 */
                      "mov.u32 %r7, 3; st.global.u32 [%out+128], %r7;\n"    /* 6 */
                      "red.global.add.u32 [%base+256], %r6;",               /* 7: one word for all lanes */
              .module = ".shared .align 4 .b8 words[128];\n",
              .words = 65});
    static const uint32_t weights[] = {1, 1, 0, 1, 2, 4, 0, 4};
    static const int32_t producers[] = {-1, 0, -1, 1, 3, 4, -1, 4};
    assert_int_equal(core_event_count(&replayed.run, 0), 8);
    for (int event = 0; event < 8; event++) {
        const ReplayEventProvenance *provenance = replay_event_provenance(replayed.replay, event);
        assert_non_null(provenance);
        for (int lane = 0; lane < 32; lane += 7) {
            /* With those before it. */
            uint32_t weight = weights[event] * (event == 7 ? (uint32_t)lane + 1 : 1);
            if (provenance->weight[lane] != weight || provenance->producer[lane] != producers[event])
                fail_msg("event %d, lane %d: weight %u, producer %d", event, lane, provenance->weight[lane],
                         provenance->producer[lane]);
        }
    }
    static const int largest[] = {1, 1, 1, 1, 2, 4, 4, 128};
    for (int event = 0; event < 8; event++)
        assert_true(replay_progress(replayed.replay, event) == largest[event] / 128.0);
    assert_true(replay_progress(replayed.replay, -1) == 0);
    assert_true(replay_progress(replayed.replay, 7) == 1);
    assert_true(replay_progress(replayed.replay, 99) == 1);
    assert_null(replay_event_provenance(replayed.replay, -1));
    assert_null(replay_event_provenance(replayed.replay, 8));
    end(&replayed);
}

/* A product with ones has the inputs of a row of A, and those of C; with a zero, fewer. A word of two halves
 * is two inputs. */
static void test_weights_of_products(void **state) {
    (void)state;
    Replayed replayed;
    start(
        &replayed,
        (CoreKernel){
            .body =
                "ld.global.v2.u32 {%r0, %r1}, [%base]; mov.u32 %r2, 0x3c003c00; mov.u32 %r3, 0x00003c00;\n"
                "mov.b32 %f0, %r2; mov.b32 %f1, %f0; mov.b32 %f2, %f0; mov.b32 %f3, %f0;\n" /* 0 */
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, "
                "{%f0, %f1, %f2, %f3};\n" /* 1 */
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r3}, "
                "{%f0, %f1, %f2, %f3};\n" /* 2 */
                "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f4, %f5, %f6, %f7}, {%r2, %r2}, {%r0}, "
                "{%f0, %f1, %f2, %f3};\n"                                                      /* 3 */
                "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0; st.global.u32 [%out], %r4;\n" /* 4, 5 */
                "st.global.f32 [%out], %f6;",                                                  /* 6 */
            .words = 64});
    static const uint32_t weights[] = {2, 8, 12, 16, 1, 1, 16};
    static const int32_t producers[] = {-1, 0, 1, 2, 0, 4, 3};
    assert_int_equal(core_event_count(&replayed.run, 0), 7);
    for (int event = 0; event < 7; event++) {
        const ReplayEventProvenance *provenance = replay_event_provenance(replayed.replay, event);
        for (int lane = 0; lane < 32; lane += 5)
            if (provenance->weight[lane] != weights[event] || provenance->producer[lane] != producers[event])
                fail_msg("event %d, lane %d: weight %u, producer %d", event, lane, provenance->weight[lane],
                         provenance->producer[lane]);
    }
    go(&replayed, 6);
    ReplayValue d = value_of(&replayed, 0, "%f6");
    for (int lane = 0; lane < 32; lane++) assert_int_equal(d.weight[lane], 16);
    end(&replayed);
}

static void test_questions_without_an_answer(void **state) {
    (void)state;
    Replayed replayed;
    start(&replayed, (CoreKernel){.body = "st.global.u32 [%out], %t; st.global.u32 [%out], 5;", .block = 64});
    ReplayValue value;
    go(&replayed, 1);
    assert_false(replay_register(replayed.replay, -1, "%t", &value));
    assert_false(replay_register(replayed.replay, 2, "%t", &value));
    assert_false(replay_register(replayed.replay, 0, "%unknown", &value));
    assert_true(replay_register(replayed.replay, 1, "%t", &value));
    assert_int_equal(value.bits[3], 35);
    TraceLaunch *launch = replayed.run.trace->launches[0];
    Error error = {0};
    assert_null(replay_open(replayed.run.trace, -1, launch->blocks[0], &replayed.geometry, &error));
    assert_null(replay_open(replayed.run.trace, 1, launch->blocks[0], &replayed.geometry, &error));
    assert_null(replay_open(replayed.run.trace, 0, NULL, &replayed.geometry, &error));
    launch->dropped = 1;
    assert_null(replay_open(replayed.run.trace, 0, launch->blocks[0], &replayed.geometry, &error));
    assert_non_null(strstr(error.message, "dropped"));
    end(&replayed);
}

/* A trace that this kernel cannot have produced: the replay stops there, and says so. */
static void test_traces_that_do_not_fit(void **state) {
    (void)state;
    for (int change = 0; change < 4; change++) {
        Replayed replayed;
        replayed.run =
            core_run_well((CoreKernel){.body = "ld.global.u32 %r0, [%out]; add.u32 %r0, %r0, %t;\n"
                                               "st.global.u32 [%out], %r0; st.global.u32 [%out], %t;",
                                       .block = 64});
        set_geometry(&replayed, 64);
        const TraceBlock *made = replayed.run.launch->blocks[0];
        TraceBlock *changed = trace_block_new(0);
        for (int i = 0; i < trace_block_event_count(made); i++) {
            TraceEvent event;
            trace_block_read(made, i, &event);
            if (i == 2 && change == 0) event.mask &= ~UINT32_C(4);
            if (i == 2 && change == 1) event.pc++;
            if (i == 2 && change == 2) event.warp = 2;
            trace_block_append(changed, &event);
        }
        Error error = {0};
        replayed.replay = replay_open(replayed.run.trace, 0, changed, &replayed.geometry, &error);
        assert_non_null(replayed.replay);
        int last = trace_block_event_count(changed) - 1;
        bool good = replay_seek(replayed.replay, last, &error);
        if (good != (change == 3))
            fail_msg("change %d: %s", change, good ? "it came to the end" : error.message);
        assert_true(replay_seek(replayed.replay, 1, &error)); /* the part before it can be replayed */
        trace_block_free(changed);
        end(&replayed);
    }
}

/* Two sides of a branch, each with more events than are searched for the next one of a warp. */
static char *long_sides(void) {
    Text body = {0};
    text_add(&body, "setp.lt.u32 %p0, %t, 16; mov.u32 %r0, 1; @%p0 bra LOW;\n");
    for (int i = 0; i < 70; i++) text_add(&body, "st.global.u32 [%out], %r0; add.u32 %r0, %r0, 2;\n");
    text_add(&body, "bra END;\nLOW:\n");
    for (int i = 0; i < 70; i++) text_add(&body, "st.global.u32 [%out], %r0; add.u32 %r0, %r0, 3;\n");
    text_add(&body, "END: st.global.u32 [%out], %r0;");
    char *copy = strdup(text_string(&body));
    text_done(&body);
    return copy;
}

/* The events of lanes `first`, then those of the other lanes; if an event has both, the order stays. */
static TraceBlock *reordered(const TraceBlock *made, uint32_t first) {
    TraceBlock *changed = trace_block_new(0);
    int count = trace_block_event_count(made), parts[3] = {0};
    for (int pass = 0; pass < 4; pass++) { /* together before, one side, the other side, together after */
        bool seen = false;
        for (int i = 0; i < count; i++) {
            TraceEvent event;
            trace_block_read(made, i, &event);
            bool together = event.mask == UINT32_MAX, is_first = event.mask == first;
            seen |= !together;
            int part = together ? (seen ? 3 : 0) : is_first ? 1 : 2;
            if (part != pass) continue;
            if (!together) parts[part]++;
            event.turn = (uint32_t)trace_block_event_count(changed);
            trace_block_append(changed, &event);
        }
    }
    assert_true(parts[1] >= 70 && parts[2] >= 70);
    assert_int_equal(trace_block_event_count(changed), count);
    return changed;
}

/* A GPU executes the sides of a branch in either order: the replay follows the trace. */
static void test_either_side_of_a_branch_first(void **state) {
    (void)state;
    for (int low = 0; low < 2; low++) {
        Replayed replayed;
        char *body = long_sides();
        replayed.run = core_run_well((CoreKernel){.body = body});
        set_geometry(&replayed, 32);
        TraceBlock *changed = reordered(replayed.run.launch->blocks[0], low ? 0xffff : 0xffff0000);
        Error error = {0};
        replayed.replay = replay_open(replayed.run.trace, 0, changed, &replayed.geometry, &error);
        assert_non_null(replayed.replay);
        go(&replayed, trace_block_event_count(changed) - 1);
        ReplayValue value = value_of(&replayed, 0, "%r0");
        for (int lane = 0; lane < 32; lane++) assert_int_equal(value.bits[lane], lane < 16 ? 211 : 141);
        trace_block_free(changed);
        end(&replayed);
        free(body);
    }
}

/* Lanes of one instruction copy into both blocks of a cluster: an event for each. The own block's memory has
 * the data that its own lanes copied there; data from the other block is an input. */
static void test_copies_into_other_blocks(void **state) {
    (void)state;
    Replayed replayed;
    Error error = {0};
    replayed.run = core_run_well((CoreKernel){
        .module =
            ".shared .align 128 .b8 tile[512];\n.shared .align 128 .b8 other[512];\n.shared .align 8 .b64 "
            "gate;\n",
        .body = "mov.u32 %r1, tile; mov.u32 %r2, other; mov.u32 %r9, gate; mov.u32 %r4, %cluster_ctarank;\n"
                "xor.b32 %r5, %r4, 1; mad.lo.u32 %r0, %t, 16, %r1; mad.lo.u32 %r6, %t, 16, %r2;\n"
                "ld.global.u32 %r7, [%out]; st.shared.v4.u32 [%r0], {%r7, %r7, %r7, %r7};\n"
                "setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared::cta.b64 [%r9], 33;\n"
                "barrier.cluster.arrive; barrier.cluster.wait;\n"
                "mapa.shared::cluster.u32 %r16, %r6, %r5; mapa.shared::cluster.u32 %r19, %r9, %r5;\n"
                "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 512;\n"
                "setp.lt.u32 %p1, %t, 16; selp.b32 %r10, %r6, %r16, %p1; selp.b32 %r11, %r9, %r19, %p1;\n"
                "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r0], 16, "
                "[%r11];\n"
                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r19];\n"
                "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W;\n"
                "ld.shared.u32 %r20, [%r6]; st.global.u32 [%out], %r20;\n"
                "barrier.cluster.arrive; barrier.cluster.wait;",
        .in = (uint32_t[64]){[16] = 16, [32] = 32, [40] = 40},
        .grid = 2,
        .cluster = {2, 1, 1}});
    set_geometry(&replayed, 32);
    replayed.geometry.grid[0] = replayed.geometry.cluster[0] = 2;
    const TraceBlock *block = replayed.run.launch->blocks[1];
    replayed.replay = replay_open(replayed.run.trace, 0, block, &replayed.geometry, &error);
    if (!replayed.replay) fail_msg("%s", error.message);
    go(&replayed, trace_block_event_count(block) - 1);
    ReplayValue value = value_of(&replayed, 0, "%r20");
    assert_int_equal(value.bits[8], 40);
    assert_int_equal(value.bits[16], 16);
    assert_int_equal(value.weight[8], 1);
    assert_int_equal(value.weight[16], 1);
    end(&replayed);
}

/* A swizzled tensor copy: each element keeps its own weight and comes from its own place, forwards and back.
 * What lies outside of the tensor is no input. */
static void test_tensor_copies(void **state) {
    (void)state;
    Replayed replayed;
    uint8_t bytes[TENSOR_MAP_BYTES];
    TensorMap map = {.size = {16, 3},
                     .stride = {64},
                     .box = {8, 4},
                     .step = {1, 1},
                     .rank = 2,
                     .type = TENSOR_F32,
                     .swizzle = 1};
    Text module = {0};
    tensor_map_encode(&map, bytes);
    text_add(&module, ".shared .align 1024 .b8 tile[256];\n.shared .align 8 .b64 gate;\n"
                      ".global .align 64 .b8 map[128] = {");
    for (int i = 0; i < TENSOR_MAP_BYTES; i++) text_print(&module, i ? ",%d" : "%d", bytes[i]);
    text_add(&module, "};\n");
    start(&replayed,
          (CoreKernel){.module = text_string(&module),
                       .body =
                           "mov.u64 %q1, map; mov.u64 %q2, %base; st.global.u64 [%q1], %q2;\n"
                           "mov.u32 %r1, tile; mov.u32 %r9, gate; setp.eq.u32 %p0, %t, 0;\n"
                           "@%p0 mbarrier.init.shared::cta.b64 [%r9], 1; bar.sync 0;\n"
                           "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 128;\n"
                           "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                           "bytes [%r1+128], [%q1, {8, 0}], [%r9];\n"
                           "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W;\n"
                           "mad.lo.u32 %r2, %t, 4, %r1; ld.shared.u32 %r20, [%r2+128];\n"
                           "redux.sync.add.u32 %r21, %r20, -1; st.global.u32 [%out], %r21;",
                       .words = 48,
                       .in = (uint32_t[48]){[8] = 1, [15] = 20, [40] = 300, [47] = 4000, [16] = 50000}});
    int last = core_event_count(&replayed.run, 0) - 1;
    for (int pass = 0; pass < 2; pass++) { /* forwards, and back */
        go(&replayed, last);
        ReplayValue value = value_of(&replayed, 0, "%r20"), sum = value_of(&replayed, 0, "%r21");
        /* Bit 7 of the address is set, so that the two chunks of a row change places. */
        static const struct {
            int lane;
            uint32_t bits, weight;
        } expected[] = {{4, 1, 1}, {3, 20, 1}, {20, 300, 1}, {19, 4000, 1}, {24, 0, 0}, {31, 0, 0}};
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            assert_int_equal(value.bits[expected[i].lane], expected[i].bits);
            assert_int_equal(value.weight[expected[i].lane], expected[i].weight);
        }
        assert_int_equal(sum.bits[0], 4321);
        assert_int_equal(sum.weight[0], 24);
        go(&replayed, 0);
    }
    end(&replayed);
    text_done(&module);
}

/* Two places share one sum, and a shuffle brings values from the other place. */
static void test_lanes_that_meet_from_two_places(void **state) {
    (void)state;
    Replayed replayed;
    start(&replayed, (CoreKernel){.body = "ld.global.u32 %r1, [%out]; setp.lt.u32 %p0, %t, 8; @%p0 bra LOW;\n"
                                          "add.u32 %r2, %r1, %r1; shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;\n"
                                          "redux.sync.add.u32 %r4, %r1, -1; bra MEET;\n"
                                          "LOW: shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1;\n"
                                          "redux.sync.add.u32 %r5, %r1, -1; mov.u32 %r4, %r5;\n"
                                          "MEET: st.global.u32 [%out], %r4;",
                                  .in = (uint32_t[32]){[3] = 5, [20] = 7}});
    int last = core_event_count(&replayed.run, 0) - 1;
    for (int pass = 0; pass < 2; pass++) { /* forwards, and back */
        go(&replayed, last);
        ReplayValue shuffled = value_of(&replayed, 0, "%r3"), sum = value_of(&replayed, 0, "%r4");
        for (int lane = 0; lane < 32; lane++) {
            assert_int_equal(shuffled.weight[lane], (lane ^ 16) < 8 ? 1 : 2);
            assert_int_equal(sum.bits[lane], 12);
            assert_int_equal(sum.weight[lane], 32);
        }
        go(&replayed, 0);
    }
    Error error = {0};
    Folds *folds =
        replay_folds(replayed.run.trace, 0, replayed.run.launch->blocks[0], &replayed.geometry, &error);
    if (!folds) fail_msg("%s", error.message);
    int joins = 0;
    for (int i = 0; i < folds->node_count; i++) joins += folds->nodes[i].kind == FOLD_JOIN;
    assert_int_equal(joins, 31); /* r2 doubles a value; no input is counted twice */
    assert_int_equal(folds->result_count, 32);
    for (int i = 0; i < 32; i++) {
        const FoldNode *node = &folds->nodes[folds->results[i].node];
        assert_int_equal(node->weight, 32);
        assert_int_equal(node->bits, 12);
    }
    folds_free(folds);
    end(&replayed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_of_every_width),
        cmocka_unit_test(test_registers_of_two_scopes),
        cmocka_unit_test(test_weights_and_producers),
        cmocka_unit_test(test_weights_of_products),
        cmocka_unit_test(test_questions_without_an_answer),
        cmocka_unit_test(test_traces_that_do_not_fit),
        cmocka_unit_test(test_either_side_of_a_branch_first),
        cmocka_unit_test(test_copies_into_other_blocks),
        cmocka_unit_test(test_tensor_copies),
        cmocka_unit_test(test_lanes_that_meet_from_two_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
