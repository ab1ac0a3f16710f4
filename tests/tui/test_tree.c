/* Tree: levels, paths and marks; on folds made by hand beside the sample run, and on kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "sample_folds.h"
#include "tui/panes/pane.h"
#include <stdlib.h>

typedef struct Shown { /* the sample with a tree */
    Sample *sample;
    SampleFolds folds;
    View view;
} Shown;

static Shown *shown_new(int threads, SampleFault fault) {
    Shown *shown = calloc(1, sizeof *shown);
    shown->sample = sample_new(threads);
    sample_fold(shown->sample, fault, &shown->folds);
    view_init(&shown->view);
    return shown;
}

static void shown_free(Shown *shown) {
    sample_folds_done(&shown->folds);
    sample_free(shown->sample);
    free(shown);
}

static Canvas *draw_tree(Shown *shown, ShownPicture tree, int step, int columns, int rows, bool ascii) {
    StepContext context;
    PaneHead head = {.note_role = ROLE_DIM};
    Canvas *canvas = canvas_new(columns, rows, ascii);
    Rectangle area = {0, 0, columns, rows};
    shown->view.display.picture = tree;
    view_go_to_step(&shown->view, &shown->sample->scene, step);
    if (!step_context_init(&context, &shown->sample->scene, &shown->view)) fail_msg("there is no step");
    pane_tree.head(&context, &head);
    pane_tree.draw(&context, canvas,
                   canvas_box(canvas, area, ROLE_TITLE, head.title, head.note_role, head.note));
    return canvas;
}

static void check(const char *name, int threads, SampleFault fault, ShownPicture tree, int step, int columns,
                  int rows) {
    Shown *shown = shown_new(threads, fault);
    shown->view.display.projector = strstr(name, "projector") != NULL;
    Canvas *canvas = draw_tree(shown, tree, step, columns, rows, strstr(name, "ascii") != NULL);
    golden_check_canvas(name, canvas);
    shown_free(shown);
}

static void levels_have_distances(void **state) {
    (void)state;
    Shown *shown = shown_new(256, NO_FAULT);
    const Tree *tree = scene_tree(&shown->sample->scene, 0);
    assert_non_null(tree);
    assert_int_equal(tree->level_count, 9);
    assert_int_equal(tree->levels[0].kind, TREE_INPUTS);
    for (int level = 1; level < 9; level++) {
        assert_int_equal(tree->levels[level].kind, TREE_FOLD);
        assert_int_equal(tree->levels[level].through, TRACE_SHARED_LOAD);
        assert_int_equal(tree->levels[level].distance, 1 << (level - 1));
        assert_int_equal(tree->levels[level].interval, level);
        for (int thread = 0; thread < 256; thread++) {
            int node = tree_held(tree, level, thread);
            if (thread < 256 >> level) assert_int_equal(shown->folds.folds->nodes[node].weight, 1 << level);
            assert_int_equal(tree_acts(tree, level, node), thread < 256 >> level);
        }
    }
    assert_int_equal(tree->input_count, 256);
    assert_int_equal(tree->lost_count, 0);
    shown_free(shown);
}

static void a_path_goes_back_to_the_inputs(void **state) {
    (void)state;
    Shown *shown = shown_new(256, NO_FAULT);
    Tree *tree = scene_tree(&shown->sample->scene, 0);
    int node = tree_held(tree, 3, 2); /* thread 2 holds words 16 to 23 */
    const TreePath *path = tree_path(tree, node);
    assert_int_equal(path->once, 8);
    assert_int_equal(path->twice, 0);
    for (int i = 0; i < shown->folds.folds->node_count; i++)
        if (shown->folds.folds->nodes[i].kind == FOLD_INPUT)
            assert_int_equal(path->ways[i], tree_thread(tree, i) / 8 == 2);
    shown_free(shown);
}

static void marks_are_where_the_fault_is(void **state) {
    (void)state;
    Shown *shown = shown_new(256, FOLDS_TWICE);
    Tree *tree = scene_tree(&shown->sample->scene, 0);
    const TreePath *path = tree_path(tree, tree_result(tree, 0));
    assert_true(path->twice > 0);
    for (int i = 0; i < shown->folds.folds->node_count;
         i++) /* thread 5 takes part in the first five levels */
        if (path->doubles[i]) assert_int_equal(tree_thread(tree, i), SAMPLE_FAULTY_LANE);
    assert_int_equal(path->doubles_count, 5);
    assert_int_equal(tree->lost_count, path->doubles_count ? 256 - path->once - path->twice : 0);
    shown_free(shown);
    shown = shown_new(256, LOSES_ONE);
    tree = scene_tree(&shown->sample->scene, 0);
    assert_int_equal(tree->lost_count, 1);
    for (int thread = 0; thread < 256; thread++)
        assert_int_equal(tree->loses[thread], thread == SAMPLE_FAULTY_LANE);
    shown_free(shown);
}

static void goldens(void **state) {
    (void)state;
    check("tree_lane_start", 256, NO_FAULT, SHOW_LANE_TREE, 0, 120, 13);
    check("tree_lane_middle", 256, NO_FAULT, SHOW_LANE_TREE, 22, 120, 13);
    check("tree_result", 256, NO_FAULT, SHOW_RESULT_TREE, 22, 120, 13);
    check("tree_result_narrow", 256, NO_FAULT, SHOW_RESULT_TREE, 22, 80, 9);
    check("tree_result_wide", 256, NO_FAULT, SHOW_RESULT_TREE, 22, 190, 20);
    check("tree_two_columns", 256, NO_FAULT, SHOW_RESULT_TREE, 22, 100, 13);
    check("tree_path_below", 256, NO_FAULT, SHOW_RESULT_TREE, 22, 100, 22);
    check("tree_keeps_inputs", 256, NO_FAULT, SHOW_LANE_TREE, 26, 80, 7);
    check("tree_projector_82", 256, NO_FAULT, SHOW_LANE_TREE, 22, 82, 13);
    check("tree_projector_120", 256, NO_FAULT, SHOW_LANE_TREE, 22, 120, 23);
    check("tree_ascii", 256, NO_FAULT, SHOW_RESULT_TREE, 22, 80, 14);
    check("tree_partial_warp", 48, NO_FAULT, SHOW_RESULT_TREE, 22, 120, 13);
    check("tree_many_warps", 1024, NO_FAULT, SHOW_RESULT_TREE, 22, 120, 16);
    check("tree_folds_twice", 256, FOLDS_TWICE, SHOW_RESULT_TREE, 22, 120, 13);
    check("tree_loses_one", 256, LOSES_ONE, SHOW_RESULT_TREE, 22, 120, 13);
}

static Role role_at(Canvas *canvas, int column, int row) {
    return (Role)canvas->cells[row * canvas->columns + column].role;
}

/* The path of lane 2 at the third level: lanes 16-23 of the inputs, then fewer at each level. */
static void the_path_is_lit(void **state) {
    (void)state;
    Shown *shown = shown_new(256, NO_FAULT);
    shown->view.selection.lane = 2;
    Tree *tree = scene_tree(&shown->sample->scene, 0);
    Canvas *canvas = draw_tree(shown, SHOW_LANE_TREE, tree->levels[3].last, 120, 13, false);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = 2 + 15 + lane * 3 + 1;
        assert_int_equal(role_at(canvas, column, 2) == ROLE_LIT, lane / 8 == 2);
        assert_int_equal(role_at(canvas, column, 3) == ROLE_LIT, lane / 4 == 2);
        assert_int_equal(role_at(canvas, column, 4) == ROLE_LIT, lane / 2 == 2);
        assert_int_equal(role_at(canvas, column, 5) == ROLE_LIT, lane == 2);
        assert_int_equal(role_at(canvas, column, 6), ROLE_TEXT); /* not yet */
    }
    canvas_free(canvas);
    shown_free(shown);
}

static void every_size_can_be_drawn(void **state) {
    (void)state;
    Shown *shown = shown_new(256, FOLDS_TWICE);
    for (int columns = 20; columns < 210; columns += 7)
        for (int rows = 3; rows < 30; rows += 2)
            for (int tree = SHOW_LANE_TREE; tree < SHOWN_PICTURE_COUNT; tree++)
                canvas_free(draw_tree(shown, (ShownPicture)tree, columns % 60, columns, rows, false));
    shown_free(shown);
}

/* A correct tree is good; one that folds an input twice or loses one is a warning. */
static void the_verdict_has_a_colour(void **state) {
    (void)state;
    static const struct {
        SampleFault fault;
        Role role;
    } cases[] = {{NO_FAULT, ROLE_GOOD}, {FOLDS_TWICE, ROLE_WARNING}, {LOSES_ONE, ROLE_WARNING}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Shown *shown = shown_new(256, cases[i].fault);
        StepContext context;
        PaneHead head = {.note_role = ROLE_DIM};
        shown->view.display.picture = SHOW_RESULT_TREE;
        view_go_to_step(&shown->view, &shown->sample->scene, 22);
        assert_true(step_context_init(&context, &shown->sample->scene, &shown->view));
        pane_tree.head(&context, &head);
        assert_int_equal(head.note_role, cases[i].role);
        shown_free(shown);
    }
}

/* Lanes, warps' marks and levels accept clicks; the space beside them does not. */
static void clicks_select(void **state) {
    (void)state;
    Shown *shown = shown_new(256, NO_FAULT);
    Scene *scene = &shown->sample->scene;
    Rectangle area = {0, 0, 120, 13};
    StepContext context;
    shown->view.display.picture = SHOW_RESULT_TREE;
    view_go_to_step(&shown->view, scene, 22);
    View view = shown->view;
    assert_true(step_context_init(&context, scene, &shown->view));
    pane_tree.click(&context, area, 15 + 3 * 7 + 1, 4, &view);
    assert_int_equal(view.selection.lane, 7);
    pane_tree.click(&context, area, 15 + 3 * WARP_LANES + 1 + 5, 4, &view);
    assert_int_equal(view.selection.warp, 5);
    assert_int_equal(view.place.step, 22);
    pane_tree.click(&context, area, 2, 3, &view);
    assert_int_equal(view.place.step, scene_tree(scene, 0)->levels[2].first);
    assert_int_equal(view.place.back.number, 22 + 1);
    int step = view.place.step;
    pane_tree.click(&context, area, 2, 12, &view); /* below the levels */
    pane_tree.click(&context, area, 119, 3, &view);
    assert_int_equal(view.place.step, step);
    assert_int_equal(view.selection.lane, 7);
    shown_free(shown);
}

static void without_folds_it_says_so(void **state) {
    (void)state;
    Shown *shown = shown_new(64, NO_FAULT);
    shown->folds.folds->is_cut = true;
    Canvas *canvas = draw_tree(shown, SHOW_RESULT_TREE, 3, 80, 6, false);
    Text text = {0};
    canvas_to_text(canvas, &text);
    assert_non_null(strstr(text_string(&text), "too many for the tree"));
    text_done(&text);
    canvas_free(canvas);
    shown_free(shown);
}

static void of_a_block_with_too_many_events_it_says_how_many(void **state) {
    (void)state;
    RunSpec options = {.kernel = "grid_stride", .catalog = {.n = 1 << 21, .grid = 1}};
    Error error = {0};
    Session *session = session_open(&options, &error);
    assert_non_null(session);
    Sample sample = {0};
    Shown shown = {.sample = &sample};
    Scene *scene = scene_new(session);
    shown.sample->scene = *scene;
    Canvas *canvas = draw_tree(&shown, SHOW_RESULT_TREE, 3, 80, 6, false);
    Text text = {0}, expected = {0};
    text_print(&expected, "Block 0 has %d events;", trace_block_event_count(scene->traced.blocks[0].block));
    canvas_to_text(canvas, &text);
    assert_non_null(strstr(text_string(&text), text_string(&expected)));
    text_done(&text);
    text_done(&expected);
    canvas_free(canvas);
    scene_free(scene);
    session_free(session);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

typedef struct Run {
    Session *session;
    Scene *scene;
    Tree *tree;
    const TreePath *path;
} Run;

static Run run_kernel(const char *kernel) {
    RunSpec options = {.kernel = kernel, .threads = 1};
    Error error = {0};
    Run run = {.session = session_open(&options, &error)};
    if (!run.session) fail_msg("%s: %s", kernel, error.message);
    run.scene = scene_new(run.session);
    run.tree = scene_tree(run.scene, 0);
    if (!run.tree) fail_msg("%s has no tree", kernel);
    run.path = tree_path(run.tree, tree_result(run.tree, 0));
    return run;
}

static void run_done(Run *run) {
    scene_free(run->scene);
    session_free(run->session);
}

static void right_kernels_have_no_marks(void **state) {
    (void)state;
    static const char *const kernels[] = {
        "atomic",
        "interleaved",
        "interleaved_bitmask",
        "strided",
        "sequential",
        "first_add",
        "unrolled",
        "unroll_last_warp",
        "shuffle",
        "shuffle_last_warp",
        "shuffle_atomic",
        "multi_add",
        "grid_stride",
        "vectorized",
        "vectorized_shared",
        "vectorized_shuffle",
        "redux",
        "two_stage",
        "cooperative",
        "last_block",
        "lab_partial_warp",
        "mean",
        "row_sum",
        "bug_volatile_tail",
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Run run = run_kernel(kernels[i]);
        if (run.path->twice || run.path->doubles_count || run.tree->lost_count || !run.path->once)
            fail_msg("%s: %d twice, %d marks, %d lost", kernels[i], run.path->twice, run.path->doubles_count,
                     run.tree->lost_count);
        run_done(&run);
    }
}

/* Lanes without a partner add their own value; every atomic but the first adds to the value in memory. */
static void all_lanes_add_is_marked_in_its_lanes(void **state) {
    (void)state;
    Run run = run_kernel("bug_all_lanes_add");
    assert_int_equal(run.tree->level_count, 7);
    for (int level = 1; level < 7; level++) {
        for (int thread = 0; thread < run.tree->thread_count; thread++) {
            int node = tree_held(run.tree, level, thread), lane = thread % WARP_LANES;
            bool expected = level < 6 ? lane >= 32 - (32 >> level) : lane > 0;
            if (run.path->doubles[node] != expected) fail_msg("level %d, thread %d", level, thread);
        }
    }
    run_done(&run);
}

/* The last warp's lanes add values from before any lane added: only lanes 0, 1, 2, 4, 8, 16 reach the
 * result. */
static void missing_sync_loses_inputs(void **state) {
    (void)state;
    Run run = run_kernel("bug_missing_sync");
    assert_int_equal(run.path->twice, 0);
    for (int thread = 0; thread < run.tree->thread_count; thread++) {
        int word = thread % 64;
        assert_int_equal(run.tree->loses[thread], (word & (word - 1)) != 0);
    }
    run_done(&run);
}

/* Block 0 shares its second half with block 1, whichever blocks are traced; in a correct grid no block
 * shares. */
static void double_count_is_found_across_blocks(void **state) {
    (void)state;
    Run run = run_kernel("bug_double_count");
    assert_int_equal(run.tree->shared_count, 256);
    for (int i = 0; i < run.tree->folds->node_count; i++) {
        const FoldNode *node = &run.tree->folds->nodes[i];
        if (node->kind == FOLD_INPUT) assert_int_equal(run.tree->shared[i], node->bits >= 256 * 4);
    }
    for (int thread = 0; thread < run.tree->thread_count; thread++) assert_true(run.tree->shares[thread]);
    run_done(&run);
    static const char *const kernels[] = {"bug_all_lanes_add", "bug_missing_sync", "bug_volatile_tail"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        run = run_kernel(kernels[i]);
        assert_int_equal(run.tree->shared_count, 0);
        run_done(&run);
    }
}

static void distances_of_kernels(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        int level, distance;
    } levels[] = {{"interleaved", 1, 1},  {"interleaved", 8, 128}, {"strided", 3, 4},
                  {"sequential", 1, 128}, {"shuffle", 1, 16},      {"shuffle", 5, 1},
                  {"shuffle", 6, 0},      {"shuffle", 7, 4},       {"vectorized_shared", 2, 256}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        Run run = run_kernel(levels[i].kernel);
        assert_true(levels[i].level < run.tree->level_count);
        assert_int_equal(run.tree->levels[levels[i].level].distance, levels[i].distance);
        run_done(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_distances),
        cmocka_unit_test(a_path_goes_back_to_the_inputs),
        cmocka_unit_test(marks_are_where_the_fault_is),
        cmocka_unit_test(goldens),
        cmocka_unit_test(the_path_is_lit),
        cmocka_unit_test(every_size_can_be_drawn),
        cmocka_unit_test(the_verdict_has_a_colour),
        cmocka_unit_test(clicks_select),
        cmocka_unit_test(without_folds_it_says_so),
        cmocka_unit_test(of_a_block_with_too_many_events_it_says_how_many),
        cmocka_unit_test(right_kernels_have_no_marks),
        cmocka_unit_test(all_lanes_add_is_marked_in_its_lanes),
        cmocka_unit_test(missing_sync_loses_inputs),
        cmocka_unit_test(double_count_is_found_across_blocks),
        cmocka_unit_test(distances_of_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
