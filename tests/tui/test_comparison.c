/* Comparison: two runs side by side. Tests which run follows, which run receives the keys, and that each
 * difference shown is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/differences.h"
#include "tui/comparison.h"
#include "tui/view/view.h"
#include "tui/scene/step_index.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Run {
    Session *session;
    Scene *scene;
} Run;

static Run run_open_grid(const char *kernel, uint64_t n, uint32_t block, uint32_t grid) {
    Error error = {0};
    RunSpec options = {.kernel = kernel, .catalog = {.n = n, .block = block, .grid = grid}, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    return (Run){session, scene_new(session)};
}

static Run run_open(const char *kernel, uint64_t n, uint32_t block) {
    return run_open_grid(kernel, n, block, 0);
}

static void run_done(Run *run) {
    scene_free(run->scene);
    session_free(run->session);
}

static int last_step(const Scene *scene, int view) {
    return scene->traced.blocks[view].steps->step_count - 1;
}

static void press(Comparison *comparison, const char *script) {
    Key key;
    while (*script) {
        assert_true(keys_read(&script, &key, NULL));
        comparison_press(comparison, keys_decode(key));
    }
}

static void open_pair(Comparison *comparison, const Run *left, const Run *right) {
    comparison_init(comparison, left->scene);
    comparison_put(comparison, 1, right->scene);
}

/* ---- following ----------------------------------------------------------------------------------------- */

/* The other run is at the first step with at least the same progress: neither behind a step that has made it,
 * nor further than needed. */
static void check_beside(const Comparison *comparison) {
    const Scene *of = comparison->scene[comparison->active], *in = comparison->scene[!comparison->active];
    const View *lead = &comparison->view[comparison->active], *other = &comparison->view[!comparison->active];
    double wanted = scene_progress(of, lead->place.block)[lead->place.step];
    const double *progress = scene_progress(in, other->place.block);
    if (progress[last_step(in, other->place.block)] < wanted)
        assert_int_equal(other->place.step, last_step(in, other->place.block));
    else
        assert_true(progress[other->place.step] >= wanted - 1e-6);
    for (int step = 0; step < other->place.step; step++)
        if (progress[step] >= wanted) assert_true(fabs(progress[step] - progress[other->place.step]) < 1e-6);
}

static void check_follows(const char *left_kernel, const char *right_kernel, uint32_t right_block) {
    Run left = run_open(left_kernel, 4096, 0), right = run_open(right_kernel, 4096, right_block);
    Comparison comparison;
    open_pair(&comparison, &left, &right);
    int before = 0, moves = 0;
    check_beside(&comparison); /* where the first run opens */
    comparison_go_to_step(&comparison, 0);
    assert_int_equal(comparison.view[1].place.step, 0);
    for (int step = 0; step <= last_step(left.scene, 0); step++) {
        comparison_go_to_step(&comparison, step);
        check_beside(&comparison);
        assert_true(comparison.view[1].place.step >= before); /* forwards follows forwards */
        moves += comparison.view[1].place.step != before;
        before = comparison.view[1].place.step;
    }
    assert_int_equal(comparison.view[1].place.step, last_step(right.scene, 0));
    assert_true(moves > 8);
    for (int step = last_step(left.scene, 0); step >= 0; step--) {
        comparison_go_to_step(&comparison, step);
        assert_true(comparison.view[1].place.step <= before);
        before = comparison.view[1].place.step;
    }
    assert_int_equal(comparison.view[1].place.step, 0);
    run_done(&left);
    run_done(&right);
}

static void the_other_follows_by_progress(void **state) {
    (void)state;
    check_follows("interleaved", "strided", 0);
    check_follows("strided", "shuffle", 0);
    check_follows("shuffle", "interleaved", 0);
    check_follows("sequential", "sequential", 64);
    check_follows("grid_stride", "interleaved", 0);
}

static void progress_counts_elements(void **state) {
    (void)state;
    Run run = run_open("interleaved", 4096, 256);
    const double *progress = scene_progress(run.scene, 0);
    bool seen[9] = {false};
    for (int step = 0; step <= last_step(run.scene, 0); step++) {
        assert_true(step == 0 || progress[step] >= progress[step - 1]);
        for (int k = 0; k < 9; k++) seen[k] |= fabs(progress[step] - (1 << k) / 256.0) < 1e-12;
    }
    for (int k = 0; k < 9; k++) assert_true(seen[k]); /* 1, 2, 4, ... 256 elements of 256 */
    run_done(&run);
}

static void unlinked_each_moves_by_itself(void **state) {
    (void)state;
    Run left = run_open("interleaved", 4096, 0), right = run_open("strided", 4096, 0);
    Comparison comparison;
    open_pair(&comparison, &left, &right);
    press(&comparison, "g20>");
    int beside = comparison.view[1].place.step;
    assert_true(beside > 0);
    press(&comparison, "U7x10>");
    assert_int_equal(comparison.view[0].selection.lane, 7);
    assert_int_equal(comparison.view[1].selection.lane, 0);
    assert_int_equal(comparison.view[0].place.step, 30);
    assert_int_equal(comparison.view[1].place.step, beside);
    press(&comparison, "o5>"); /* the other run has the keys */
    assert_int_equal(comparison.view[0].place.step, 30);
    assert_int_equal(comparison.view[1].place.step, beside + 5);
    press(&comparison, "U"); /* linked again: the run with the keys leads */
    assert_int_equal(comparison.view[1].place.step, beside + 5);
    check_beside(&comparison);
    run_done(&left);
    run_done(&right);
}

/* Switching the active run moves nothing; playing continues in the other. */
static void the_keys_change_hands(void **state) {
    (void)state;
    Run left = run_open("interleaved", 4096, 0), right = run_open("strided", 4096, 0);
    Comparison comparison;
    open_pair(&comparison, &left, &right);
    press(&comparison, "g27><Space>");
    int beside = comparison.view[1].place.step;
    press(&comparison, "o");
    assert_int_equal(comparison.active, 1);
    assert_int_equal(comparison.view[0].place.step, 27);
    assert_int_equal(comparison.view[1].place.step, beside);
    assert_true(comparison.view[1].transient.playing && !comparison.view[0].transient.playing);
    press(&comparison, "zv3x"); /* both show the same panes */
    assert_int_equal(comparison.view[0].display.zoomed, comparison.view[1].display.zoomed);
    assert_int_equal(comparison.view[0].display.values, VALUE_HEX);
    assert_int_equal(comparison.view[0].selection.lane, 3);
    comparison_leave(&comparison);
    assert_ptr_equal(comparison_scene(&comparison), right.scene);
    assert_int_equal(comparison_view(&comparison)->place.step, beside);
    press(&comparison, "o"); /* alone there is no other: a message */
    assert_true(comparison_view(&comparison)->transient.message[0]);
    run_done(&left);
    run_done(&right);
}

static void launches_go_together(void **state) {
    (void)state;
    Run left = run_open("two_stage", 65536, 0), right = run_open("two_stage", 65536, 128);
    Comparison comparison;
    open_pair(&comparison, &left, &right);
    assert_int_equal(right.scene->traced.block_count, 2);
    press(&comparison, "}3>");
    assert_int_equal(comparison.view[0].place.block, 1);
    assert_int_equal(comparison.view[1].place.block, 1);
    check_beside(&comparison);
    press(&comparison, "{");
    assert_int_equal(comparison.view[1].place.block, 0);
    run_done(&left);
    run_done(&right);
}

/* ---- differences --------------------------------------------------------------------------------------- */

static void so_far_is_the_sum_of_the_steps(void **state) {
    (void)state;
    Run run = run_open_grid("grid_stride", 65536, 0, 4);
    const Steps *steps = run.scene->traced.blocks[0].steps;
    Totals sum = {0}, one, total;
    assert_true(steps->step_count > 2 * 64);
    for (int step = 0; step < steps->step_count; step++) {
        metrics_of_step(steps, step, &one);
        totals_add(&sum, &one);
        running_totals_at(scene_step_index(run.scene, 0), step, &total);
        assert_memory_equal(&total, &sum, sizeof sum);
    }
    run_done(&run);
}

static char *text_of(const Canvas *canvas) {
    Text text = {0};
    canvas_to_text(canvas, &text);
    return text.data;
}

/* The line of `text` that begins with `label`, with blanks squeezed. */
static void find_row(const char *text, const char *label, char *out, size_t bytes) {
    const char *at = strstr(text, label);
    size_t length = 0;
    if (!at) fail_msg("no row '%s' in\n%s", label, text);
    for (; at && *at && *at != '\n' && length + 1 < bytes; at++)
        if (*at != ' ' || (length && out[length - 1] != ' ')) out[length++] = *at;
    out[length] = 0;
}

/* Textbook numbers: 16 blocks of 256; the sum over the distances in the kernels' loops. */
static void differences_are_those_of_the_counters(void **state) {
    (void)state;
    Run left = run_open("interleaved", 4096, 0), right = run_open("strided", 4096, 0);
    Differences differences;
    Totals counted[2];
    View start = {0};
    char row[128], wanted[128];
    metrics_of_run(left.scene->traced.trace, &counted[0]);
    metrics_of_run(right.scene->traced.trace, &counted[1]);
    Canvas *canvas = canvas_new(100, 60, true);
    differences_init(&differences, left.scene, &start, right.scene, &start, true);
    differences_draw_all(&differences, canvas, (Rectangle){0, 0, 100, 60}, 0);
    char *text = text_of(canvas);
    find_row(text, "divergent branches", row, sizeof row);
    snprintf(wanted, sizeof wanted, "divergent branches %d > %d -%d", (int)counted[0].divergent_branches,
             (int)counted[1].divergent_branches,
             (int)(counted[0].divergent_branches - counted[1].divergent_branches));
    assert_memory_equal(row, wanted, strlen(wanted));
    find_row(text, "excess shared wavefronts", row, sizeof row);
    assert_memory_equal(row, "excess shared wavefronts 0 < 1,680 +1,680", 41);
    find_row(text, "global load requests", row, sizeof row);
    assert_memory_equal(row, "global load requests 128 = 128", 30);
    assert_null(strstr(text, "counting"));
    free(text);
    canvas_fill(canvas, (Rectangle){0, 0, 100, 60}, ROLE_TEXT);
    differences.counting = true;
    differences_draw_all(&differences, canvas, (Rectangle){0, 0, 100, 60}, 0);
    text = text_of(canvas);
    find_row(text, "whole run", row, sizeof row);
    assert_memory_equal(row, "whole run counting ...", 22);
    free(text);
    for (int columns = 99; columns < 101; columns++) { /* the box has its name if there is room */
        canvas_fill(canvas, (Rectangle){0, 0, 100, 60}, ROLE_TEXT);
        differences_draw(&differences, canvas, (Rectangle){0, 0, columns, 20}, true);
        text = text_of(canvas);
        assert_int_equal(strstr(text, "differences") != NULL, columns == 100);
        free(text);
    }
    canvas_free(canvas);
    run_done(&left);
    run_done(&right);
}

/* ---- the screen ---------------------------------------------------------------------------------------- */

static bool overlap(Rectangle a, Rectangle b) {
    return a.rows > 0 && b.rows > 0 && a.columns > 0 && b.columns > 0 && a.row < b.row + b.rows &&
           b.row < a.row + a.rows && a.column < b.column + b.columns && b.column < a.column + a.columns;
}

static void check_inside(Rectangle inner, Rectangle outer) {
    assert_true(inner.column >= outer.column && inner.column + inner.columns <= outer.column + outer.columns);
    assert_true(inner.row >= outer.row && inner.row + inner.rows <= outer.row + outer.rows);
}

/* Both halves have the same panes at the same places. */
static void check_layout(int columns, int rows, const View *view) {
    ComparisonLayout layout;
    bool shown = layout_make_comparison(columns, rows, view, false, &layout);
    assert_int_equal(shown, columns >= COMPARISON_SMALLEST_COLUMNS && rows >= COMPARISON_SMALLEST_ROWS);
    if (!shown) return;
    Layout *a = &layout.half[0], *b = &layout.half[1];
    Rectangle screen = {0, 0, columns, rows};
    int right = b->area.column - a->area.column, down = b->area.row - a->area.row;
    assert_int_equal(right > 0, columns >= 120);
    assert_int_equal(down > 0, columns < 120);
    assert_false(overlap(a->area, b->area) || overlap(a->area, layout.differences) ||
                 overlap(b->area, layout.differences) || overlap(layout.differences, layout.footer));
    check_inside(a->area, screen);
    check_inside(b->area, screen);
    check_inside(layout.differences, screen);
    assert_int_equal(layout.footer.row, rows - 1);
    for (int i = 0; i < SLOT_COUNT; i++) {
        Rectangle left = a->slots[i], other = b->slots[i];
        assert_int_equal(left.rows, other.rows);
        assert_int_equal(left.columns, other.columns);
        if (left.rows <= 0) continue;
        assert_int_equal(other.column - left.column, right);
        assert_int_equal(other.row - left.row, down);
        check_inside(left, a->area);
        for (int j = 0; j < i; j++) assert_false(overlap(left, a->slots[j]));
    }
    if (!view->display.hidden) assert_int_equal(a->side_count, view->display.focus == FOCUS_SIDE);
    if (a->side_count) assert_true(a->sides[0].rows >= 2);
    if (!view->display.zoomed && !view->display.hidden && !a->side_count)
        assert_true(a->slots[SLOT_SOURCE].rows >= 2);
}

static void halves_are_alike_and_apart(void **state) {
    (void)state;
    for (int columns = 50; columns <= 230; columns++)
        for (int rows = 10; rows <= 70; rows++)
            for (int variant = 0; variant < 3 * FOCUS_COUNT; variant++) {
                View view = {.display = {.focus = (Focus)(variant % FOCUS_COUNT),
                                         .zoomed = variant / FOCUS_COUNT == 1}};
                if (variant / FOCUS_COUNT == 2) view.display.hidden = 1u << view.display.focus & ~1u;
                check_layout(columns, rows, &view);
            }
}

static void every_size_can_be_drawn(void **state) {
    (void)state;
    Run left = run_open("interleaved", 4096, 0), right = run_open("lab_partial_warp", 0, 0);
    static const char *const scripts[] = {"", "z", "zz", "i", "p", "c", "?", "tz", "P", "HH"};
    Comparison comparison;
    for (int columns = 1; columns <= 220; columns += columns < 170 ? 7 : 19) {
        for (int rows = 1; rows <= 70; rows += 3) {
            Canvas *canvas = canvas_new(columns, rows, false);
            open_pair(&comparison, &left, &right);
            comparison_go_to_step(&comparison, (columns * 7 + rows) % (last_step(left.scene, 0) + 1));
            press(&comparison, scripts[(columns + rows) % 10]);
            comparison_draw(&comparison, canvas);
            bool empty = true;
            for (int i = 0; i < columns * rows; i++) empty &= canvas->cells[i].glyph == ' ';
            assert_false(empty);
            canvas_free(canvas);
        }
    }
    run_done(&left);
    run_done(&right);
}

/* A click on a timeline makes that run active and seeks in it. */
/* From 120 columns on the same level of both runs stands in one row. */
static void levels_stand_beside_each_other(void **state) {
    (void)state;
    Run left = run_open("interleaved", 4096, 0), right = run_open("sequential", 4096, 0);
    Comparison comparison;
    Text text = {0};
    comparison_init(&comparison, left.scene);
    comparison_put(&comparison, 1, right.scene);
    press(&comparison, "]]");
    Canvas *canvas = canvas_new(120, 40, false);
    comparison_draw(&comparison, canvas);
    canvas_to_text(canvas, &text);
    const char *first = strstr(text_string(&text), "level 3 of 8: + the word 4 away"), *end, *second;
    if (!first) fail_msg("%s", text_string(&text));
    end = strchr(first, '\n');
    second = strstr(first, "level 3 of 8: + the word 32 away");
    if (!second || second > end) fail_msg("%s", text_string(&text));
    canvas_free(canvas);
    text_done(&text);
    run_done(&left);
    run_done(&right);
}

static void a_click_chooses_the_run_and_the_step(void **state) {
    (void)state;
    Run left = run_open("interleaved", 4096, 0), right = run_open("strided", 4096, 0);
    Comparison comparison;
    ComparisonLayout layout;
    open_pair(&comparison, &left, &right);
    assert_true(layout_make_comparison(200, 60, &comparison.view[0], false, &layout));
    Rectangle timeline = layout.half[1].slots[SLOT_TIMELINE];
    assert_int_equal(comparison_click(&comparison, 200, 60, timeline.column + 12, timeline.row + 1),
                     VIEW_CHANGED);
    assert_int_equal(comparison.active, 1);
    assert_int_equal(comparison.view[1].place.step, 10);
    check_beside(&comparison);
    assert_int_equal(comparison_click(&comparison, 200, 60, timeline.column - 20, timeline.row - 1),
                     VIEW_CHANGED);
    assert_int_equal(comparison.active, 0);
    assert_int_equal(comparison_click(&comparison, 200, 60, 5, 59), VIEW_IGNORED);
    run_done(&left);
    run_done(&right);
}

/* ---- the same place in another run --------------------------------------------------------------------- */

/* From every step of one run to another with other settings and back: the same visit of the same line, if the
 * other has it. */
static void a_place_is_kept(void **state) {
    (void)state;
    Run small = run_open("strided", 4096, 64), large = run_open("strided", 8192, 256);
    for (int step = 0; step <= last_step(small.scene, 0); step++) {
        View view;
        view_init(&view);
        view_go_to_step(&view, small.scene, step);
        view.selection.lane = 5;
        keep_place(&view, small.scene, large.scene);
        const PtxProgram *program = scene_launch(small.scene, 0)->program,
                         *other = scene_launch(large.scene, 0)->program;
        int line = metrics_line_of(program, small.scene->traced.blocks[0].steps->steps[step].pc).line;
        assert_int_equal(
            metrics_line_of(other, large.scene->traced.blocks[0].steps->steps[view.place.step].pc).line,
            line);
        assert_int_equal(view.selection.lane, 5);
    }
    View view;
    view_init(&view);
    view_go_to_step(&view, large.scene,
                    last_step(large.scene, 0) - 14); /* s = 64: the small block never reaches it */
    double before = scene_progress(large.scene, 0)[view.place.step];
    keep_place(&view, large.scene, small.scene);
    const double *after = scene_progress(small.scene, 0);
    assert_true(view.place.step > 0 && after[view.place.step] >= before);
    assert_true(after[view.place.step - 1] < before); /* the first step with that progress */
    run_done(&small);
    run_done(&large);
}

/* In the same run, every step, wavefront, mark and return place is found exactly. */
static void a_place_in_the_same_run_stays(void **state) {
    (void)state;
    Run run = run_open("strided", 4096, 64), again = run_open("strided", 4096, 64);
    int last = last_step(run.scene, 0);
    for (int step = 0; step <= last; step++) {
        View view;
        view_init(&view);
        view_go_to_step(&view, run.scene, last - step);
        view_jump_to_step(&view, run.scene, step);
        view.place.wavefront = view_wavefronts(&view, run.scene) - 1;
        view.selection.marks[3] = (ViewPosition){0, (step * 7) % (last + 1) + 1};
        View before = view;
        keep_place(&view, run.scene, again.scene);
        assert_memory_equal(&view.place, &before.place, sizeof view.place);
        assert_memory_equal(view.selection.marks, before.selection.marks, sizeof before.selection.marks);
    }
    run_done(&run);
    run_done(&again);
}

/* Each of the two runs can be dragged on its own timeline. */
static void both_timelines_are_found(void **state) {
    (void)state;
    Run left = run_open("interleaved", 4096, 0), right = run_open("strided", 4096, 0);
    Comparison comparison;
    Rectangle found[2] = {{0}};
    int count = 0;
    comparison_init(&comparison, left.scene);
    comparison_put(&comparison, 1, right.scene);
    for (int column = 30; column < 120; column += 60) {
        Rectangle timeline = {0};
        for (int row = 0; row < 40 && !timeline.rows; row++)
            timeline = comparison_timeline_at(&comparison, 120, 40, column, row);
        bool is_new = timeline.rows && (!count || timeline.column != found[count - 1].column);
        if (is_new && count < 2) found[count] = timeline;
        count += is_new;
    }
    assert_int_equal(count, 2);
    assert_false(overlap(found[0], found[1]));
    run_done(&left);
    run_done(&right);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_follows_by_progress),
        cmocka_unit_test(progress_counts_elements),
        cmocka_unit_test(unlinked_each_moves_by_itself),
        cmocka_unit_test(the_keys_change_hands),
        cmocka_unit_test(launches_go_together),
        cmocka_unit_test(so_far_is_the_sum_of_the_steps),
        cmocka_unit_test(differences_are_those_of_the_counters),
        cmocka_unit_test(both_timelines_are_found),
        cmocka_unit_test(halves_are_alike_and_apart),
        cmocka_unit_test(every_size_can_be_drawn),
        cmocka_unit_test(levels_stand_beside_each_other),
        cmocka_unit_test(a_click_chooses_the_run_and_the_step),
        cmocka_unit_test(a_place_is_kept),
        cmocka_unit_test(a_place_in_the_same_run_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
