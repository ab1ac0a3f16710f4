/* Boxes of the reduction as drawn in each width. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "sample_folds.h"
#include "stage.h"
#include "tui/frame.h"
#include "tui/panes/reduction_row.h"
#include <stdlib.h>
#include <string.h>

static const struct { int columns, rows; } sizes[] = {{80, 24}, {120, 40}, {200, 60}};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };

static Stage *open_whole(const char *kernel, uint32_t block) {
    Stage *stage = stage_open(&(RunSpec){.kernel = kernel,
                                         .threads = 1,
                                         .has_trace_blocks = true,
                                         .trace_first = block,
                                         .trace_last = block,
                                         .catalog = {.n = 0, .prefers_digits = true}});
    stage->scene->borrowed.hazards = ask_hazards(stage->session);
    return stage;
}

/* The pane alone, its head in the first row; caller frees. */
static char *draw_pane(const Scene *scene, const View *view, int columns, int rows) {
    StepContext context;
    PaneHead head = {.note_role = ROLE_DIM, .columns = columns - 4, .rows = rows - 2};
    Canvas *canvas = canvas_new(columns, rows, false);
    Text text = {0};
    assert_true(step_context_init(&context, scene, view));
    pane_reduction.head(&context, &head);
    pane_reduction.draw(&context, canvas,
                        canvas_box(canvas, (Rectangle){0, 0, columns, rows}, ROLE_TITLE, head.title,
                                   head.note_role, head.note));
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    return text.data;
}

static void assert_shows(const char *name, const char *text, const char *wanted) {
    if (!strstr(text, wanted)) fail_msg("%s: no \"%s\" in\n%s", name, wanted, text);
}

/* What the kernel's first screen shows, at each size. */
static void assert_opens_with(const char *kernel, const char *wanted) {
    Stage *stage = stage_open_kernel(kernel);
    for (int i = 0; i < SIZE_COUNT; i++) {
        char *text = stage_text(stage, sizes[i].columns, sizes[i].rows);
        assert_shows(kernel, text, wanted);
        free(text);
    }
    stage_free(stage);
}

/* ---- marks --------------------------------------------------------------------------------------------- */

/* A run made by hand, whose loop has no barriers, and a finding about that. */
static void a_race_is_marked_where_it_was_found(void **state) {
    (void)state;
    Sample *sample = sample_new_racing(64);
    SampleFolds folds;
    View view;
    sample_fold(sample, NO_FAULT, &folds);
    int load = sample_step(sample, TRACE_SHARED_LOAD, 0);
    const Steps *steps = sample->blocks[0].steps;
    Finding race = {
        .kind = FINDING_SHARED_RACE, .access = {.pc = steps->steps[load].pc}, .other = {.pc = PTX_NO_PC}};
    Findings findings = {.items = &race, .count = 1, .error_count = 1};
    view_init(&view);
    const ReductionLevel *level = reduction_level(scene_reduction(&sample->scene, 0), 2);
    view_go_to_step(&view, &sample->scene, level->last); /* thread 0 has taken the sum of thread 1 */
    char *text = draw_pane(&sample->scene, &view, 120, 16);
    assert_null(strstr(text, "X"));
    free(text);
    sample->scene.borrowed.hazards = &findings;
    text = draw_pane(&sample->scene, &view, 120, 16);
    assert_shows("the sample", text, "X t0 reads word 2 after t1 writes it, and no barrier orders them");
    free(text);
    assert_true(level->terms[level->boxes[0].first_term].is_silent ||
                level->terms[level->boxes[0].first_term + 1].is_silent);
    sample_folds_done(&folds);
    sample_free(sample);
}

/* The explanation is complete if the pane has seven rows. */
static void a_race_is_explained_at_every_size(void **state) {
    (void)state;
    Stage *stage = open_whole("bug_overlapping_halves", 0);
    for (int i = 0; i < SIZE_COUNT; i++) {
        char *text = stage_text(stage, sizes[i].columns, sizes[i].rows);
        assert_shows("X", text, "2X");
        assert_shows("X", text, "X t0 reads word 64 before t64 writes it, and no barrier orders them");
        free(text);
    }
    stage_free(stage);
}

/* Block 3 has 232 elements: threads 104 to 127 add words that nothing wrote. */
static void an_unwritten_word_is_marked(void **state) {
    (void)state;
    Stage *stage = open_whole("bug_uninitialized_shared", 3);
    const View *view = stage_view(stage);
    const ReductionLevel *level = reduction_level(scene_reduction(stage->scene, 0), 1);
    assert_int_equal(level->adder_count, 128);
    for (int i = 0; i < 128; i++) assert_int_equal(level->boxes[i].unwritten, i < 104 ? -1 : i + 128);
    assert_int_equal(view->selection.warp * WARP_LANES + view->selection.lane, 104);
    for (int i = 0; i < SIZE_COUNT; i++) {
        char *text = stage_text(stage, sizes[i].columns, sizes[i].rows);
        assert_shows("U", text, "U t104 reads word 232, which no thread has written: its value is undefined");
        free(text);
    }
    stage_free(stage);
}

/* At the end of the level `back` levels before the last. */
static void assert_level_shows(const char *kernel, int back, int columns, const char *wanted) {
    Stage *stage = open_whole(kernel, 0);
    View view = *stage_view(stage);
    Reduction *reduction = scene_reduction(stage->scene, 0);
    const ReductionLevel *level = reduction_level(reduction, reduction_level_count(reduction) - 1 - back);
    view_go_to_step(&view, stage->scene, level->last);
    char *text = draw_pane(stage->scene, &view, columns, 12);
    assert_shows(kernel, text, wanted);
    free(text);
    stage_free(stage);
}

static void a_sum_of_many_words_says_so(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++)
        assert_level_shows("fastest", 0, sizes[i].columns, "t0 adds 16 words, as a tree");
}

/* The largest element, while the exponentials are added up: in words, and as threads. */
static void what_threads_keep_is_shown(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        assert_level_shows("logsumexp", 2, sizes[i].columns, "t0 also holds 9 in a register");
        assert_level_shows("softmax_row", 14, sizes[i].columns, "also holds ");
    }
}

/* Every step, with moving values, in a frame of any size. */
static void broken_kernels_can_be_played(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        uint32_t block;
    } rows[] = {{"bug_uninitialized_shared", 3},
                {"bug_half_shared", 0},
                {"bug_unguarded_load", 3},
                {"bug_missing_sync", 0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        Stage *stage = open_whole(rows[k].kernel, rows[k].block);
        View view = *stage_view(stage);
        int count = view_steps(&view, stage->scene)->step_count, drawn = 0;
        view.transient.playing = true;
        view.transient.phase = 0.5;
        for (int step = 0; step < count; step++)
            for (int columns = 8; columns < 200; columns += 95) {
                view_go_to_step(&view, stage->scene, step);
                char *text = draw_pane(stage->scene, &view, columns, 3 + step % 12);
                drawn += text[0] != 0;
                free(text);
            }
        assert_int_equal(drawn, count * 3);
        stage_free(stage);
    }
}

/* ---- openings ------------------------------------------------------------------------------------------ */

static void half_opens_where_its_sum_stops(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("half_naive");
    const ReductionLevel *chain = reduction_chain(scene_reduction(stage->scene, 0), 0, 0);
    assert_int_equal(stage_view(stage)->place.step, chain->boxes[2048].step);
    stage_free(stage);
    assert_opens_with("half_naive", "2048=");
    assert_opens_with("half_naive", "= t0 adds 1, but the sum stays 2048: rounding to f16 takes all of it");
}

static void all_lanes_open_where_sums_meet_again(void **state) {
    (void)state;
    assert_opens_with("bug_all_lanes_add", "level 6 of 6: atomics to one word");
    assert_opens_with("bug_all_lanes_add", "! an input is in this sum more than once");
}

static void a_trap_opens_with_its_warp(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("bug_half_shared");
    const View *view = stage_view(stage);
    assert_int_equal(view->selection.warp, 4);
    assert_int_equal(view->place.step + 1, view_steps(view, stage->scene)->step_count);
    for (int i = 0; i < 2; i++) { /* the third size also has room for the banks of the other warps */
        char *text = stage_text(stage, sizes[i].columns, sizes[i].rows);
        assert_shows("T", text, "127   128T");
        assert_null(strstr(text, "  no conflict ─"));
        free(text);
    }
    stage_free(stage);
    assert_opens_with("bug_half_shared",
                      "T t128 stores to sums[128], sums has 128 elements: out_of_bounds (32 lanes)");
}

/* A correct kernel shows no fault. */
static void right_kernels_have_no_marks(void **state) {
    (void)state;
    static const char *const marks[] = {"\n│  X ", "\n│  U ", "\n│  = ", "\n│  T ", "\n│  ! ", "\n│  ? "};
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group == CATALOG_BUG || !strcmp(row->id, "half_naive")) continue;
        Stage *stage = stage_open_kernel(row->id);
        Reduction *reduction = scene_reduction(stage->scene, 0);
        if (reduction && !reduction_is_worth_showing(reduction)) reduction = NULL;
        const ReductionLevel *level = reduction ? reduction_level(reduction, 1) : NULL;
        for (int b = 0; level && b < level->box_count; b++) assert_int_equal(level->boxes[b].unwritten, -1);
        char *text = reduction ? draw_pane(stage->scene, stage_view(stage), 120, 16) : strdup("");
        for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
            if (strstr(text, marks[m])) fail_msg("%s:\n%s", row->id, text);
        free(text);
        stage_free(stage);
    }
}

/* ---- who adds ------------------------------------------------------------------------------------------ */

/* The shape shows why the first rung is slow: as many threads add as in the third, in twice as many warps. */
static void it_says_how_the_adding_threads_are_spread(void **state) {
    (void)state;
    assert_opens_with("interleaved",
                      "128 of 256 threads add, 16 of 32 lanes in all 8 warps; 4 warps would do");
    assert_opens_with("sequential", "128 of 256 threads add");
    assert_opens_with("sequential", "t128 → t0    ╰────");
    assert_opens_with("shuffle", "256 of 256 threads add");
}

/* Where the values come from, over the whole block: the far half, neighbours, lanes; also with other threads
 * than words, and where little room is left. */
static void a_strip_shows_who_adds_and_whose_values(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        int level, columns, rows;
        const char *cells, *arcs;
    } cases[] = {
        {"sequential", 1, 120, 10,
         "████████ ████████ ████████ ████████ ▒▒▒▒▒▒▒▒ ▒▒▒▒▒▒▒▒ ▒▒▒▒▒▒▒▒ ▒▒▒▒▒▒▒▒  a cell: 4",
         " t128 → t0    ╰────────╰────────╰────────╰────────╯────────╯────────╯────────╯         █ adds"},
        {"sequential", 2, 80, 9, "████ ████ ▒▒▒▒ ▒▒▒▒ ···· ···· ···· ····  64 of 256 threads add",
         " t64 → t0     ╰────╰────╯────╯ "},
        {"sequential", 6, 200, 12, " ██▒▒············ ", " t4 → t0      ╰─╯ "},
        {"interleaved", 1, 120, 10, "▄▄▄▄▄▄▄▄ ▄▄▄▄▄▄▄▄", " t1 → t0      ┴┴┴┴┴┴┴┴ ┴┴┴┴┴┴┴┴"},
        {"interleaved", 4, 120, 10, "▂·▒·▂·▒· ▂·▒·▂·▒·", " t8 → t0      ╰─╯ ╰─╯  ╰─╯ ╰─╯ "},
        {"strided", 2, 120, 10, "████████ ████████ ▒▒▒▒▒▒▒▒ ▒▒▒▒▒▒▒▒ ········", " t1 → t0      ┴"},
        {"shuffle", 1, 120, 10, "████□□□□ ████□□□□", " lane 16 → 0  ╰───╯    ╰───╯    "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Stage *stage = stage_open_kernel(cases[i].kernel);
        View view = *stage_view(stage);
        int first = reduction_level_kind(scene_reduction(stage->scene, 0), 0) == TREE_FOLD;
        view_go_to_step(&view, stage->scene,
                        reduction_level(scene_reduction(stage->scene, 0), cases[i].level - first)->last);
        char *text = draw_pane(stage->scene, &view, cases[i].columns, cases[i].rows);
        assert_shows(cases[i].kernel, text, cases[i].cells);
        assert_shows(cases[i].kernel, text, cases[i].arcs);
        free(text);
        stage_free(stage);
    }
    Stage *stage = stage_open_kernel("first_add"); /* each thread adds two inputs of its own */
    View view = *stage_view(stage);
    view_go_to_step(&view, stage->scene, reduction_level(scene_reduction(stage->scene, 0), 0)->last);
    char *text = draw_pane(stage->scene, &view, 120, 10);
    assert_null(strstr(text, "is read"));
    free(text);
    stage_free(stage);
}

/* ---- brackets ------------------------------------------------------------------------------------------ */

/* A bracket is drawn if both of its boxes are in the window, at any width. */
static void ways_are_drawn_at_every_width(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("interleaved");
    Reduction *reduction = scene_reduction(stage->scene, 0);
    for (int columns = 70; columns <= 200; columns += 3) {
        for (int i = 1; i <= 3; i++) { /* 1, 2, 4 words away */
            View view = *stage_view(stage);
            view_go_to_step(&view, stage->scene, reduction_level(reduction, i)->last);
            char *text = draw_pane(stage->scene, &view, columns, 10);
            if (!strstr(text, "├")) fail_msg("%d columns, level %d:\n%s", columns, i, text);
            free(text);
        }
    }
    stage_free(stage);
}

/* The first of seven operands have rows; a line describes the others. */
static void operands_without_a_row_are_named(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("unrolled");
    Reduction *reduction = scene_reduction(stage->scene, 0);
    View view = *stage_view(stage);
    int named = 0;
    for (int i = 0; i < reduction_level_count(reduction); i++) {
        view_go_to_step(&view, stage->scene, reduction_level(reduction, i)->last);
        for (int rows = 5; rows < 12; rows++) {
            char *text = draw_pane(stage->scene, &view, 80, rows), *more = strstr(text, " more in ");
            if (more && !strstr(more, "] = ") && !strstr(more, "...")) fail_msg("%s", text);
            named += more != NULL;
            free(text);
        }
    }
    assert_true(named > 0);
    stage_free(stage);
}

/* Each run of a comparison has rows for the operands of its level. */
static void both_runs_of_a_comparison_have_their_operands(void **state) {
    (void)state;
    Stage *left = stage_open_kernel("interleaved"), *right = stage_open_kernel("sequential");
    comparison_put(&left->comparison, 1, right->scene);
    left->comparison.view[1].display = left->comparison.view[0].display;
    char *text = stage_text(left, 120, 40);
    assert_shows("compared", text, "  from shared      1           3           5 ");
    assert_shows("compared", text, "  from shared    128   129   130");
    assert_null(strstr(text, " more in "));
    free(text);
    stage_free(left);
    stage_free(right);
}

/* ---- labels -------------------------------------------------------------------------------------------- */

/* The column before the first box stays blank in every row of boxes; levels of maxima have no row of
 * rounding. */
static void labels_do_not_touch_numbers(void **state) {
    (void)state;
    static const char *const kernels[] = {"softmax_row", "triton_max", "logsumexp", "moments"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        Stage *stage = stage_open_kernel(kernels[k]);
        Reduction *reduction = scene_reduction(stage->scene, 0);
        for (int i = 0; i < reduction_level_count(reduction); i++) {
            View view = *stage_view(stage);
            const ReductionLevel *level = reduction_level(reduction, i);
            view_go_to_step(&view, stage->scene, level->last);
            char *text = draw_pane(stage->scene, &view, 110, 16);
            for (char *line = strstr(text, "\n│"); line; line = strstr(line + 1, "\n│")) {
                const char *label = line + 1 + strlen("│") + 1; /* and a blank */
                bool is_boxes = !strncmp(label, " max ", 5) || !strncmp(label, " + ", 3);
                if (strstr(label, " more in ") && strstr(label, " more in ") < strchr(label, '\n')) continue;
                if (is_boxes && label[LABEL_COLUMNS - 1] != ' ') fail_msg("%s:\n%s", kernels[k], text);
            }
            if (!strcmp(level->operation, "max") && strstr(text, "rounding"))
                fail_msg("%s:\n%s", kernels[k], text);
            free(text);
        }
        stage_free(stage);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_is_marked_where_it_was_found),
        cmocka_unit_test(a_race_is_explained_at_every_size),
        cmocka_unit_test(an_unwritten_word_is_marked),
        cmocka_unit_test(broken_kernels_can_be_played),
        cmocka_unit_test(half_opens_where_its_sum_stops),
        cmocka_unit_test(all_lanes_open_where_sums_meet_again),
        cmocka_unit_test(a_trap_opens_with_its_warp),
        cmocka_unit_test(right_kernels_have_no_marks),
        cmocka_unit_test(it_says_how_the_adding_threads_are_spread),
        cmocka_unit_test(a_strip_shows_who_adds_and_whose_values),
        cmocka_unit_test(ways_are_drawn_at_every_width),
        cmocka_unit_test(operands_without_a_row_are_named),
        cmocka_unit_test(a_sum_of_many_words_says_so),
        cmocka_unit_test(what_threads_keep_is_shown),
        cmocka_unit_test(both_runs_of_a_comparison_have_their_operands),
        cmocka_unit_test(labels_do_not_touch_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
