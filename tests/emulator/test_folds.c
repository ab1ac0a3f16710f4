/* Folds: every correct kernel folds every input of its block exactly once; those that are wrong on purpose do
 * what their titles say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include <stdlib.h>
#include <string.h>

typedef struct Count {
    int once, twice, never; /* inputs: how often they are in the heaviest result */
    uint32_t weight;
    bool is_plain;
} Count;

static Session *open_kernel(const char *kernel, uint64_t n, const char *type, const char *op) {
    RunSpec options = {.kernel = kernel, .threads = 1};
    options.catalog.n = n;
    options.catalog.dtype = !type                     ? PTX_NO_TYPE
                            : !strcmp(type, "float")  ? PTX_F32
                            : !strcmp(type, "double") ? PTX_F64
                            : !strcmp(type, "bfloat") ? PTX_BF16
                                                      : PTX_F16;
    options.catalog.op = op;
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    return session;
}

static int heaviest_result(const Folds *folds) {
    int best = FOLD_NONE;
    for (int i = 0; i < folds->result_count; i++) {
        int node = folds->results[i].node;
        if (node == FOLD_NONE) continue;
        if (best == FOLD_NONE || folds->nodes[node].weight >= folds->nodes[best].weight) best = node;
    }
    return best;
}

/* The number of paths from the result to each node; as nodes are made from older ones, one backward pass
 * suffices. */
static Count count_inputs(const Folds *folds) {
    Count count = {0};
    int result = heaviest_result(folds);
    assert_true(result != FOLD_NONE);
    double *ways = calloc((size_t)folds->node_count, sizeof *ways);
    ways[result] = 1;
    for (int i = folds->node_count - 1; i >= 0; i--) {
        const FoldNode *node = &folds->nodes[i];
        assert_true(node->a < i && node->b < i);
        if (node->a != FOLD_NONE) ways[node->a] += ways[i];
        if (node->b != FOLD_NONE) ways[node->b] += ways[i];
        if (node->kind == FOLD_JOIN)
            assert_int_equal(node->weight, folds->nodes[node->a].weight + folds->nodes[node->b].weight);
        if (node->kind != FOLD_INPUT) continue;
        count.never += ways[i] < 1;
        count.once += ways[i] > 0 && ways[i] < 2;
        count.twice += ways[i] >= 2;
    }
    count.weight = folds->nodes[result].weight;
    count.is_plain = folds->nodes[result].is_plain;
    free(ways);
    return count;
}

static Count count_kernel(const char *kernel, uint64_t n, const char *type, const char *op) {
    Session *session = open_kernel(kernel, n, type, op);
    assert_non_null(session_block(session, 0));
    const Folds *folds = session_folds(session, 0);
    assert_non_null(folds);
    assert_false(folds->is_cut);
    Count count = count_inputs(folds);
    session_free(session);
    return count;
}

static void every_input_is_folded_once(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        int inputs; /* of block 0 */
    } kernels[] = {
        {"atomic", 256},
        {"interleaved", 256},
        {"interleaved_bitmask", 256},
        {"strided", 256},
        {"sequential", 256},
        {"first_add", 512},
        {"unroll_last_warp", 512},
        {"unrolled", 512},
        {"shuffle_last_warp", 512},
        {"shuffle", 512},
        {"shuffle_atomic", 512},
        {"multi_add", 2048},
        {"vectorized_shared", 1024},
        {"vectorized", 1024},
        {"vectorized_shuffle", 1024},
        {"redux", 512},
        {"two_stage", 256},
        {"row_sum", 1024},
        {"mean", 256},
        {"bug_overlapping_halves", 256},
        {"bug_volatile_tail", 256},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Count count = count_kernel(kernels[i].kernel, 4096, NULL, NULL);
        if (count.once != kernels[i].inputs || count.twice || count.never || !count.is_plain)
            fail_msg("%s: %d once, %d twice, %d never", kernels[i].kernel, count.once, count.twice,
                     count.never);
    }
    Count loop = count_kernel("grid_stride", 1 << 20, NULL, NULL);
    assert_int_equal(loop.once, loop.weight);
    assert_int_equal(loop.twice + loop.never, 0);
    assert_true(loop.once > 512); /* several per thread */
}

/* Through products with ones; each of two 16-bit inputs in a word is an input. */
static void products_fold_every_input_once(void **state) {
    (void)state;
    static const struct {
        const char *type;
        int inputs;
    } types[] = {{"half", 2048}, {"bfloat", 2048}, {"double", 256}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        Count count = count_kernel("tensor_core", 4096, types[i].type, NULL);
        assert_int_equal(count.once, types[i].inputs);
        assert_int_equal(count.weight, types[i].inputs);
        assert_int_equal(count.twice, 0);
        assert_true(count.is_plain);
    }
}

/* A minimum of floats is a comparison and a selection; the condition is not an input. */
static void a_choice_folds_what_it_compares(void **state) {
    (void)state;
    static const char *const kernels[] = {"sequential", "shuffle", "vectorized_shuffle"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Count count = count_kernel(kernels[i], 4096, "float", "max");
        assert_int_equal(count.twice + count.never, 0);
        assert_int_equal(count.once, count.weight);
    }
}

static void bugs_show(void **state) {
    (void)state;
    Count stale = count_kernel("bug_missing_sync", 1024, NULL, NULL);
    assert_int_equal(stale.once, 28); /* 4 sums of the words 0, 32, 16, 8, 4, 2, 1 */
    assert_int_equal(stale.never, 256 - 28);
    Count all = count_kernel("bug_all_lanes_add", 1024, NULL, NULL);
    assert_int_equal(all.once, 8); /* input 0 of each warp */
    assert_int_equal(all.twice, 256 - 8);
    assert_int_equal(all.weight, 256 * 32);
}

/* Each node names the thread that holds it, and its event: for an input the load, for a move the arrival of
 * the value, for a result the store. */
static void nodes_say_where_they_come_from(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "shuffle", "vectorized_shared"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        Session *session = open_kernel(kernels[k], 2048, NULL, NULL);
        const TraceBlock *block = session_block(session, 0)->block;
        const Folds *folds = session_folds(session, 0);
        int inputs = 0, moves = 0;
        for (int i = 0; i < folds->node_count; i++) {
            const FoldNode *node = &folds->nodes[i];
            TraceEvent event;
            trace_block_read(block, node->event, &event);
            if (node->kind == FOLD_JOIN) {
                int a = folds->nodes[node->a].event, b = folds->nodes[node->b].event;
                assert_int_equal(node->event, a > b ? a : b);
                continue;
            }
            assert_int_equal(event.warp, node->warp);
            assert_true(event.mask >> node->lane & 1);
            if (node->kind == FOLD_INPUT) {
                inputs++;
                uint64_t word = node->bits - event.offset[node->lane];
                assert_int_equal(event.kind, TRACE_GLOBAL_LOAD);
                assert_int_equal(node->buffer, event.buffer[node->lane]);
                assert_true(word < (uint64_t)event.width && word % (uint64_t)event.element_bytes == 0);
                assert_int_equal(node->weight, 1);
                assert_true(node->is_plain);
            } else {
                moves++;
                bool is_there = false;
                for (int e = 0; e < event.element_count; e++)
                    is_there |= (uint32_t)event.value[e][node->lane] == (uint32_t)node->bits;
                assert_true(is_there);
                assert_int_equal(node->weight, folds->nodes[node->a].weight);
            }
        }
        assert_true(inputs >= 256 && moves > 0);
        assert_int_equal(folds->result_count, 1);
        const FoldResult *result = &folds->results[0];
        TraceEvent event;
        trace_block_read(block, result->event, &event);
        assert_int_equal(event.warp, result->warp);
        assert_true(event.mask >> result->lane & 1);
        assert_int_equal(event.kind, TRACE_GLOBAL_STORE);
        session_free(session);
    }
}

static float real(const FoldNode *node) {
    uint32_t bits = (uint32_t)node->bits;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A join has the type and the value of its instruction. */
static void joins_have_types_and_values(void **state) {
    (void)state;
    Session *session = open_kernel("sequential", 2048, "float", NULL);
    const Folds *folds = session_folds(session, 0);
    int sums = 0;
    for (int i = 0; i < folds->node_count; i++) {
        const FoldNode *node = &folds->nodes[i];
        if (node->kind != FOLD_JOIN) continue;
        assert_int_equal(node->type, PTX_F32);
        const FoldNode *a = &folds->nodes[node->a], *b = &folds->nodes[node->b];
        if (a->kind == FOLD_INPUT || b->kind == FOLD_INPUT) continue; /* whose bits are an address */
        assert_true(real(node) == real(a) + real(b));
        sums++;
    }
    assert_int_equal(sums, 255);
    session_free(session);
}

/* A vote without a type, in a launch whose trace has no buffer. */
static void a_launch_without_buffers(void **state) {
    (void)state;
    Error error = {0};
    RunSpec options = {
        .file = "elect.ptx",
        .text =
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
            ".reg .b32 %r<3>;\n.reg .pred p;\n.shared .b32 s;\nmov.u32 %r1, s;\n"
            "elect.sync %r2|p, 0xffffffff;\nst.shared.u32 [%r1], %r2;\nld.shared.u32 %r2, [%r1];\nret;\n}\n",
        .block = {32, 1, 1},
        .grid = {1, 1, 1},
        .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    const Folds *folds = session_folds(session, 0);
    assert_non_null(folds);
    assert_int_equal(folds->result_count, 0);
    session_free(session);
}

static void other_arithmetic_is_told(void **state) {
    (void)state;
    assert_false(count_kernel("softmax_row", 4096, NULL, NULL).is_plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_is_folded_once),      cmocka_unit_test(products_fold_every_input_once),
        cmocka_unit_test(a_choice_folds_what_it_compares), cmocka_unit_test(bugs_show),
        cmocka_unit_test(nodes_say_where_they_come_from),  cmocka_unit_test(joins_have_types_and_values),
        cmocka_unit_test(a_launch_without_buffers),        cmocka_unit_test(other_arithmetic_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
