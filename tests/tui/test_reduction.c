/* The reduction as boxes: the live values of every level add up to the block's sum. Tested for every kernel
 * of the ladder; the rounding shown equals an exact computation; beats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/exact_sum.h"
#include "catalog/catalog.h"
#include "plan/plan.h"
#include "session/session.h"
#include "stage.h"
#include "tui/scene/beats.h"
#include "tui/scene/reduction.h"
#include "tui/scene/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Opened {
    Session *session;
    Scene *scene;
} Opened;

static Opened open_block(const char *kernel, PtxType dtype, uint64_t n, uint32_t block) {
    RunSpec options = {.kernel = kernel, .has_trace_blocks = true, .trace_first = block, .trace_last = block};
    Error error = {0};
    Opened opened = {0};
    options.catalog.n = n;
    options.catalog.dtype = dtype;
    options.backend = BACKEND_EMULATOR;
    opened.session = session_open(&options, &error);
    if (!opened.session) fail_msg("%s: %s", kernel, error.message);
    opened.scene = scene_new(opened.session);
    return opened;
}

static Opened open_kernel(const char *kernel, PtxType dtype, uint64_t n) {
    return open_block(kernel, dtype, n, 0);
}

static void close_kernel(Opened *opened) {
    scene_free(opened->scene);
    session_free(opened->session);
}

/* ---- exact sums ---------------------------------------------------------------------------------------- */

static void test_exact_sums_do_not_round(void **state) {
    (void)state;
    ExactSum sum = {0};
    exact_sum_add(&sum, 1e308, 1);
    exact_sum_add(&sum, 1, 3);
    exact_sum_add(&sum, -1e308, 1);
    exact_sum_add(&sum, 0x1p-1074, 4);
    exact_sum_add(&sum, 1, -3);
    assert_true(exact_sum_value(&sum) == 0x1p-1072);
    exact_sum_add(&sum, 0x1p-1072, -2);
    assert_true(exact_sum_value(&sum) == -0x1p-1072);
    exact_sum_add(&sum, -1.5, INT64_C(1) << 40);
    exact_sum_add(&sum, 0x1p-1072, 1);
    assert_true(exact_sum_value(&sum) == -1.5 * 0x1p40);
    exact_sum_add(&sum, INFINITY, 1);
    assert_true(exact_sum_value(&sum) == INFINITY);
    exact_sum_add(&sum, -INFINITY, 1);
    assert_true(isnan(exact_sum_value(&sum)));
}

/* With integers: doubles that are multiples of 2^-20, whose sums fit in 64 bits. */
static void test_exact_sums_are_those_of_integers(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    int64_t expected = 0;
    ExactSum sum = {0};
    for (int i = 0; i < 100000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        int64_t value = (int64_t)(seed >> 24) - (INT64_C(1) << 39), times = (int64_t)(seed & 15) - 8;
        expected += value * times;
        exact_sum_add(&sum, ldexp((double)value, -20), times);
        if (i % 1000 == 0) assert_true(exact_sum_value(&sum) == ldexp((double)expected, -20));
    }
}

/* ---- boxes --------------------------------------------------------------------------------------------- */

/* A bulk copy moves bytes: its values are unknown. */
static bool is_input(const Folds *folds, int node) {
    while (folds->nodes[node].kind == FOLD_MOVE && folds->nodes[node].type == PTX_NO_TYPE)
        node = folds->nodes[node].a;
    return folds->nodes[node].kind == FOLD_INPUT;
}

/* Inputs loaded up to this level. */
static int64_t sum_of_inputs(const Tree *tree, int level) {
    int64_t sum = 0;
    for (int i = 0; i < tree->folds->node_count; i++) {
        const FoldNode *node = &tree->folds->nodes[i];
        if (tree->level_of_node[i] > level || !tree->reaches[i]) continue;
        if (node->kind == FOLD_MOVE && node->type != PTX_NO_TYPE && is_input(tree->folds, node->a))
            sum += ptx_type_bytes((PtxType)node->type) == 8
                       ? (int32_t)(node->bits >> 32) /* mail: a mark below */
                       : (int32_t)node->bits;
    }
    return sum;
}

static void check_levels(const char *kernel, uint64_t n, uint32_t block) {
    Opened opened = open_block(kernel, PTX_NO_TYPE, n, block);
    Reduction *reduction = scene_reduction(opened.scene, 0);
    Tree *tree = scene_tree(opened.scene, 0);
    if (!reduction) fail_msg("%s: no reduction", kernel);
    for (int i = 0; i < tree->level_count; i++) {
        const ReductionLevel *level = reduction_level(reduction, i);
        int64_t sum = 0, expected = sum_of_inputs(tree, i);
        for (int b = 0; b < level->box_count; b++)
            if (level->boxes[b].is_live) sum += (int32_t)level->boxes[b].after;
        for (int k = 0; k < level->kept_count; k++) sum += (int32_t)level->kept[k].bits;
        if ((int32_t)sum != (int32_t)expected)
            fail_msg("%s, level %d of %d: the boxes add up to %d, the inputs to %d", kernel, i,
                     tree->level_count, (int)(int32_t)sum, (int)(int32_t)expected);
    }
    close_kernel(&opened);
}

static void test_boxes_of_every_level_add_up(void **state) {
    (void)state;
    int checked = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group != CATALOG_LADDER || !strstr(row->types, "int"))
            continue; /* boxes are added as ints */
        check_levels(row->id, 5000, 0);
        check_levels(row->id, 4096, 0);
        checked++;
    }
    assert_true(checked >= 20);
    check_levels("fastest", 16384, 3); /* the block that receives the others' sums */
    check_levels("fastest", 1000003, 244);
}

/* The first box that adds in the last level. */
static const ReductionBox *last_adder(Reduction *reduction, const ReductionLevel **level) {
    *level = reduction_level(reduction, reduction_level_count(reduction) - 1);
    for (int i = 0; i < (*level)->box_count; i++)
        if ((*level)->boxes[i].adds) return &(*level)->boxes[i];
    return NULL;
}

/* Four loads of four words each, and a tree over them: one level, whose sum stays in the first word's box. */
static void test_a_tree_in_registers_is_one_level(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
    for (int i = 0; i < 3; i++) {
        Opened opened = open_kernel("fastest", types[i], 1 << 20);
        const ReductionLevel *level;
        const ReductionBox *box = last_adder(scene_reduction(opened.scene, 0), &level);
        assert_non_null(box);
        assert_int_equal(box->index, 0);
        assert_int_equal(box->term_count, 16);
        assert_int_equal(level->adder_count, 1);
        assert_true(level->is_tree);
        assert_string_equal(level->operation, "+");
        assert_int_equal(reduction_fold_count(scene_reduction(opened.scene, 0)), types[i] == PTX_S32 ? 2 : 6);
        close_kernel(&opened);
    }
}

/* A double is shuffled in two halves, and passed to other blocks in two words: the values stay plain sums,
 * with each input once. */
static void test_halves_are_one_value(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        uint64_t n;
        uint32_t block;
        int inputs;
    } rows[] = {
        {"shuffle", 4096, 0, 512}, {"fastest", 1 << 20, 2, 4096}, {"fastest", 1 << 20, 263, 2048 + 263 * 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Opened opened = open_block(rows[i].kernel, PTX_F64, rows[i].n, rows[i].block);
        Tree *tree = scene_tree(opened.scene, 0);
        assert_true(tree->final_count > 0);
        const TreePath *path = tree_path(tree, tree->final[0]);
        assert_true(tree->folds->nodes[tree->final[0]].is_plain);
        assert_int_equal(path->once, rows[i].inputs);
        assert_int_equal(path->twice, 0);
        close_kernel(&opened);
    }
}

/* The largest element stays with thread 0 while the exponentials are added up in shared memory. */
static void test_what_a_thread_keeps_is_known(void **state) {
    (void)state;
    Opened opened = open_kernel("logsumexp", PTX_NO_TYPE, 0);
    Reduction *reduction = scene_reduction(opened.scene, 0);
    const ReductionLevel *level = reduction_level(reduction, reduction_level_count(reduction) - 2);
    float largest;
    assert_int_equal(level->place, PLACE_WORD);
    assert_int_equal(level->kept_count, 1);
    assert_int_equal(level->kept[0].thread, 0);
    memcpy(&largest, &level->kept[0].bits, sizeof largest);
    const Folds *folds = scene_tree(opened.scene, 0)->folds;
    for (int i = 0; i < folds->node_count; i++) {
        float input;
        const FoldNode *at = &folds->nodes[i];
        if (at->kind != FOLD_MOVE || folds->nodes[at->a].kind != FOLD_INPUT) continue;
        memcpy(&input, &at->bits, sizeof input);
        assert_true(input <= largest);
    }
    close_kernel(&opened);
}

/* Each sum of kahan is used several times: its operands are listed once, for any number of elements. */
static void test_operands_are_listed_once(void **state) {
    (void)state;
    Opened opened = open_kernel("kahan", PTX_NO_TYPE, 1 << 16);
    const ReductionLevel *level;
    Reduction *reduction = scene_reduction(opened.scene, 0);
    for (int i = 0; (level = reduction_level(reduction, i)) != NULL; i++)
        for (int b = 0; b < level->box_count; b++)
            if (level->boxes[b].adds) assert_in_range(level->boxes[b].term_count, 1, i ? 9 : 256 * 4);
    close_kernel(&opened);
}

static void test_a_block_may_be_too_large(void **state) {
    (void)state;
    char why[96];
    Opened opened = open_kernel("kahan", PTX_NO_TYPE, 1 << 20);
    assert_null(scene_reduction(opened.scene, 0));
    assert_true(scene_print_too_large(opened.scene, 0, why, sizeof why));
    assert_string_equal(why, "block 0 folds more than 4194304 values");
    close_kernel(&opened);
    opened = open_kernel("kahan", PTX_NO_TYPE, 4096);
    assert_false(scene_print_too_large(opened.scene, 0, why, sizeof why));
    close_kernel(&opened);
}

/* Four words a thread: each box takes the word four times the source's distance away, even if sums are
 * equal. */
static void test_vectors_are_added_word_by_word(void **state) {
    (void)state;
    Opened opened = open_kernel("vectorized_shared", PTX_NO_TYPE, 4096);
    const ReductionLevel *level = reduction_level(scene_reduction(opened.scene, 0), 1);
    assert_int_equal(level->distance, 512);
    for (int i = 0; i < 512; i++) {
        const ReductionBox *box = &level->boxes[i];
        assert_true(box->adds && box->term_count == 2);
        int64_t a = level->terms[box->first_term].index, b = level->terms[box->first_term + 1].index;
        assert_int_equal(a < b ? a : b, i);
        assert_int_equal(a < b ? b : a, i + 512);
    }
    close_kernel(&opened);
}

/* Words are live as long as a later load uses them, including those after the first of a vector. */
static void test_words_of_vectors_are_live(void **state) {
    (void)state;
    Opened opened = {.session = stage_session_of_ptx(
                         ".param .u64 in, .param .u64 out",
                         ".shared .align 16 .b8 words[32];\n.reg .b32 %r<16>;\n.reg .b64 %q<4>;\n"
                         ".reg .pred %p<2>;\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %q1, %r0, 4;\n"
                         "ld.param.u64 %q0, [in];\nadd.u64 %q0, %q0, %q1;\nld.global.u32 %r1, [%q0];\n"
                         "mov.u32 %r2, words;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r3, %r2;\n"
                         "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nsetp.gt.u32 %p0, %r0, 1;\n@%p0 bra A;\n"
                         "ld.shared.u32 %r4, [%r3+16];\nadd.s32 %r1, %r1, %r4;\nst.shared.u32 [%r3], %r1;\n"
                         "A: bar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra B;\n"
                         "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];\n"
                         "ld.shared.v2.u32 {%r8, %r9}, [%r2+24];\n"
                         "add.s32 %r4, %r4, %r5;\nadd.s32 %r6, %r6, %r7;\nadd.s32 %r8, %r8, %r9;\n"
                         "add.s32 %r4, %r4, %r6;\nadd.s32 %r4, %r4, %r8;\n"
                         "ld.param.u64 %q0, [out];\nst.global.u32 [%q0], %r4;\nB: ret;",
                         "in=int[8]:iota, out=int[1]", 8)};
    opened.scene = scene_new(opened.session);
    Reduction *reduction = scene_reduction(opened.scene, 0);
    assert_non_null(reduction);
    const ReductionLevel *level = reduction_level(reduction, 1);
    assert_int_equal(level->box_count, 8);
    for (int i = 0; i < level->box_count; i++)
        if (level->boxes[i].is_live != (i != 4 && i != 5)) fail_msg("word %d", i);
    close_kernel(&opened);
}

/* -4 + 0 also equals the smaller of the two; -2 + 2 does not. */
static void test_every_adder_counts_for_the_operation(void **state) {
    (void)state;
    Opened opened = {.session = stage_session_of_ptx(
                         ".param .u64 in, .param .u64 out",
                         ".shared .align 16 .b8 words[32];\n.reg .b32 %r<16>;\n.reg .b64 %q<4>;\n"
                         ".reg .pred %p<2>;\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %q1, %r0, 4;\n"
                         "ld.param.u64 %q0, [in];\nadd.u64 %q0, %q0, %q1;\nld.global.u32 %r1, [%q0];\n"
                         "mov.u32 %r2, words;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r3, %r2;\n"
                         "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nsetp.gt.u32 %p0, %r0, 1;\n@%p0 bra A;\n"
                         "ld.shared.u32 %r4, [%r3+8];\nadd.s32 %r1, %r1, %r4;\nst.shared.u32 [%r3], %r1;\n"
                         "ld.param.u64 %q0, [out];\nadd.u64 %q0, %q0, %q1;\nst.global.u32 [%q0], %r1;\n"
                         "A: ret;",
                         "in=int[4]:iota(-4,2), out=int[2]", 4)};
    opened.scene = scene_new(opened.session);
    const ReductionLevel *level;
    const ReductionBox *box = last_adder(scene_reduction(opened.scene, 0), &level);
    assert_non_null(box);
    assert_int_equal(level->adder_count, 2);
    assert_non_null(level->operation);
    assert_string_equal(level->operation, "+");
    close_kernel(&opened);
}

/* ---- rounding ------------------------------------------------------------------------------------------ */

static void test_half_stops_at_2048(void **state) {
    (void)state;
    Opened opened = open_kernel("half_naive", PTX_NO_TYPE, 0);
    Reduction *reduction = scene_reduction(opened.scene, 0);
    const ReductionLevel *chain = reduction_chain(reduction, 0, 0);
    assert_non_null(chain);
    double rounding, error;
    assert_int_equal(chain->box_count, 4096);
    assert_true(reduction_rounding(reduction, chain->boxes[2047].node, &rounding) && rounding == 0);
    assert_true(reduction_error(reduction, chain->boxes[2047].node, &error) && error == 0);
    assert_true(reduction_rounding(reduction, chain->boxes[2048].node, &rounding) && rounding == -1);
    assert_true(reduction_error(reduction, chain->boxes[4095].node, &error) && error == -2048);
    for (int i = 1; i < chain->box_count; i++)
        assert_int_equal(reduction_is_stuck(reduction, chain->boxes[i].node), i >= 2048);
    close_kernel(&opened);
}

/* out[0] = in[0] OPERATION in[1], of floats made of the inputs; `sum` is the node of the result. */
static Opened fold_two(const char *operation, const char *type, const char *fill, int *sum) {
    char body[1024], args[64];
    bool is_whole = strcmp(type, "float") != 0;
    snprintf(body, sizeof body,
             ".shared .align 4 .b8 words[8];\n.reg .b32 %%r<4>;\n.reg .f32 %%f<4>;\n.reg .b64 %%q<4>;\n"
             ".reg .pred %%p;\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%q1, %%r0, %d;\n"
             "ld.param.u64 %%q0, [in];\nadd.u64 %%q0, %%q0, %%q1;\n%s\nmov.u32 %%r2, words;\n"
             "shl.b32 %%r3, %%r0, 2;\nadd.u32 %%r3, %%r3, %%r2;\nst.shared.f32 [%%r3], %%f0;\nbar.sync 0;\n"
             "setp.ne.u32 %%p, %%r0, 0;\n@%%p bra END;\nld.shared.f32 %%f1, [%%r2];\n"
             "ld.shared.f32 %%f2, [%%r2+4];\n%s.f32 %%f1, %%f1, %%f2;\nld.param.u64 %%q0, [out];\n"
             "st.global.f32 [%%q0], %%f1;\nEND: ret;",
             is_whole ? 8 : 4,
             is_whole ? "ld.global.s64 %q2, [%q0];\ncvt.rn.f32.s64 %f0, %q2;" : "ld.global.f32 %f0, [%q0];",
             operation);
    snprintf(args, sizeof args, "in=%s[2]:%s, out=float[1]", type, fill);
    Opened opened = {.session = stage_session_of_ptx(".param .u64 in, .param .u64 out", body, args, 2)};
    opened.scene = scene_new(opened.session);
    const Tree *tree = scene_tree(opened.scene, 0);
    assert_non_null(tree);
    *sum = tree->folds->node_count - 1;
    while (*sum >= 0 && tree->folds->nodes[*sum].kind != FOLD_JOIN) --*sum;
    assert_true(*sum >= 0);
    return opened;
}

/* A sum of floats converted from integers: its distance from the inputs' sum is unknown. */
static void test_errors_of_whole_numbers_are_not_known(void **state) {
    (void)state;
    static const char *const types[] = {"float", "long"};
    for (int i = 0; i < 2; i++) {
        int sum;
        double error = 7;
        Opened opened = fold_two("add", types[i], "iota", &sum);
        assert_true(reduction_rounding(scene_reduction(opened.scene, 0), sum, &error) && error == 0);
        assert_int_equal(reduction_error(scene_reduction(opened.scene, 0), sum, &error), !i);
        close_kernel(&opened);
    }
}

/* A maximum drops the smaller value; however small that is, it was not rounded away. */
static void test_an_extreme_does_not_round(void **state) {
    (void)state;
    int result;
    double rounding;
    Opened opened = fold_two("max", "float", "iota(1,1000)", &result);
    assert_false(reduction_rounding(scene_reduction(opened.scene, 0), result, &rounding));
    assert_false(reduction_is_stuck(scene_reduction(opened.scene, 0), result));
    close_kernel(&opened);
}

/* Inputs of one node, found by following its operands, added in long double: exact for floats of similar
 * size. */
static long double add_below(const Folds *folds, int node) {
    const FoldNode *at = &folds->nodes[node];
    float value;
    uint32_t bits = (uint32_t)at->bits;
    memcpy(&value, &bits, sizeof value);
    if (at->kind == FOLD_JOIN) return add_below(folds, at->a) + add_below(folds, at->b);
    return folds->nodes[at->a].kind == FOLD_INPUT ? (long double)value : add_below(folds, at->a);
}

static void test_errors_of_floats_are_exact(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "sequential", "shuffle", "grid_stride"};
    int compared = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        Opened opened = open_kernel(kernels[k], PTX_F32, 4096);
        Reduction *reduction = scene_reduction(opened.scene, 0);
        const Folds *folds = scene_tree(opened.scene, 0)->folds;
        for (int node = 0; node < folds->node_count; node += 7) {
            double error;
            float value;
            uint32_t bits = (uint32_t)folds->nodes[node].bits;
            if (!reduction_error(reduction, node, &error)) continue;
            memcpy(&value, &bits, sizeof value);
            assert_true((double)((long double)value - add_below(folds, node)) == error);
            compared++;
        }
        close_kernel(&opened);
    }
    assert_true(compared > 100);
}

/* ---- races --------------------------------------------------------------------------------------------- */

static int count_racing_terms(Reduction *reduction, int *first_level) {
    int count = 0;
    const ReductionLevel *level;
    *first_level = -1;
    for (int i = 0; (level = reduction_level(reduction, i)) != NULL; i++)
        for (int t = 0; t < level->term_count; t++) {
            if (level->terms[t].writer < 0) continue;
            assert_int_not_equal(level->terms[t].writer, level->terms[t].thread);
            if (*first_level < 0) *first_level = level->number;
            count++;
        }
    return count;
}

/* Only words that another thread writes without a barrier in between; the correct kernels of the ladder have
 * none. */
static void test_racing_words_have_another_writer(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        int level; /* the first with a fault */
    } wrong[] = {{"bug_overlapping_halves", 2}, {"bug_missing_sync", 4}, {"bug_volatile_tail", 4}};
    int first;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Opened opened = open_kernel(wrong[i].kernel, PTX_NO_TYPE, 0);
        assert_true(count_racing_terms(scene_reduction(opened.scene, 0), &first) >= 15);
        assert_int_equal(first, wrong[i].level);
        close_kernel(&opened);
    }
    for (int i = 0; i < catalog_count(); i++) {
        if (catalog_row(i)->group != CATALOG_LADDER) continue;
        Opened opened = open_kernel(catalog_row(i)->id, PTX_NO_TYPE, 4096);
        int count = count_racing_terms(scene_reduction(opened.scene, 0), &first);
        if (count) fail_msg("%s: %d words race", catalog_row(i)->id, count);
        close_kernel(&opened);
    }
}

/* Thread 0 reads word 64 in the second level before thread 64 adds to it. */
static void test_a_race_names_its_threads(void **state) {
    (void)state;
    Opened opened = open_kernel("bug_overlapping_halves", PTX_NO_TYPE, 0);
    Reduction *reduction = scene_reduction(opened.scene, 0);
    int index = 0, found = 0;
    while (reduction_level(reduction, index)->number < 2) index++;
    const ReductionLevel *level = reduction_level(reduction, index);
    const ReductionBox *box = reduction_find(level, 0);
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &level->terms[box->first_term + t];
        if (term->index != 64) continue;
        assert_int_equal(term->writer, 64);
        assert_true(term->is_early);
        found++;
    }
    assert_int_equal(found, 1);
    close_kernel(&opened);
}

/* The last warp adds 7 words per lane: the contents of the other words are lost. */
static void test_lost_inputs_are_known(void **state) {
    (void)state;
    Opened opened = open_kernel("bug_missing_sync", PTX_NO_TYPE, 0);
    const Tree *tree = scene_tree(opened.scene, 0);
    assert_int_equal(tree->input_count, 256);
    assert_int_equal(tree->lost_count, 256 - 7 * 4);
    for (int i = 0; i < tree->folds->node_count; i++)
        if (tree->reaches[i]) assert_false(tree->holds_lost[i]);
    close_kernel(&opened);
    opened = open_kernel("shuffle", PTX_NO_TYPE, 4096); /* unused sums lose nothing */
    tree = scene_tree(opened.scene, 0);
    for (int i = 0; i < tree->folds->node_count; i++) assert_false(tree->holds_lost[i]);
    close_kernel(&opened);
}

/* ---- beats --------------------------------------------------------------------------------------------- */

static void test_interleaved_has_at_most_48_beats(void **state) {
    (void)state;
    Opened opened = open_kernel("interleaved", PTX_NO_TYPE, 4096);
    Beats *beats = beats_new(scene_step_index(opened.scene, 0));
    assert_in_range(beats->count, 30, 48);
    beats_free(beats);
    close_kernel(&opened);
}

static void test_beats_go_forwards_and_backwards(void **state) {
    (void)state;
    Opened opened = open_kernel("sequential", PTX_NO_TYPE, 4096);
    const StepIndex *index = scene_step_index(opened.scene, 0);
    Beats *beats = beats_new(index);
    for (int i = 0; i < beats->count; i++) {
        assert_true(beats_is_beat(beats, beats->step[i]));
        assert_int_equal(beats_move(beats, beats->step[i], 1), beats->step[i + 1 < beats->count ? i + 1 : i]);
        assert_int_equal(beats_move(beats, beats->step[i], -1), beats->step[i ? i - 1 : 0]);
    }
    for (int step = beats->step[0]; step < index->steps->step_count; step++) {
        int before = beats->step[beats->of_step[step]];
        assert_true(before <= step);
        if (before < step) assert_int_equal(beats_move(beats, step, -1), before);
        if (before < step) assert_false(beats_is_beat(beats, step));
    }
    assert_int_equal(beats_move(beats, 0, 1), beats->step[0]);
    assert_int_equal(beats_move(beats, 0, -1), beats->step[0]);
    beats_free(beats);
    close_kernel(&opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_sums_do_not_round),
        cmocka_unit_test(test_exact_sums_are_those_of_integers),
        cmocka_unit_test(test_boxes_of_every_level_add_up),
        cmocka_unit_test(test_a_tree_in_registers_is_one_level),
        cmocka_unit_test(test_halves_are_one_value),
        cmocka_unit_test(test_what_a_thread_keeps_is_known),
        cmocka_unit_test(test_operands_are_listed_once),
        cmocka_unit_test(test_a_block_may_be_too_large),
        cmocka_unit_test(test_vectors_are_added_word_by_word),
        cmocka_unit_test(test_half_stops_at_2048),
        cmocka_unit_test(test_errors_of_floats_are_exact),
        cmocka_unit_test(test_racing_words_have_another_writer),
        cmocka_unit_test(test_a_race_names_its_threads),
        cmocka_unit_test(test_lost_inputs_are_known),
        cmocka_unit_test(test_words_of_vectors_are_live),
        cmocka_unit_test(test_every_adder_counts_for_the_operation),
        cmocka_unit_test(test_errors_of_whole_numbers_are_not_known),
        cmocka_unit_test(test_an_extreme_does_not_round),
        cmocka_unit_test(test_interleaved_has_at_most_48_beats),
        cmocka_unit_test(test_beats_go_forwards_and_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
