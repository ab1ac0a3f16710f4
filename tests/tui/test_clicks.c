/* Clicks of the mouse in each pane and in the menu. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample.h"
#include "tui/view/menu.h"
#include "tui/input.h"
#include "tui/frame.h"
#include <stdlib.h>
#include <string.h>

static void click(View *view, const Sample *sample, int column, int row) {
    frame_click(&sample->scene, view, 120, 40, column, row);
}

static void a_click_on_the_timeline_seeks(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    click(&view, sample, 22, 37);
    assert_int_equal(view.place.step, 20);
    click(&view, sample, 117, 37); /* to the right of the last step */
    assert_int_equal(view.place.step, 20);
    click(&view, sample, 2, 37);
    assert_int_equal(view.place.step, 0);
    sample_press(&view, sample, "''");
    assert_int_equal(view.place.step, 20);
    assert_int_equal(frame_click(&sample->scene, &view, 20, 10, 2, 5), VIEW_IGNORED);
    sample_free(sample);
}

/* The place where the frame shows `text`, from row `*row` on. */
static void find(const Sample *sample, const View *view, const char *text, int *column, int *row) {
    Canvas *canvas = canvas_new(120, 40, true);
    frame_draw(&sample->scene, view, canvas);
    size_t length = strlen(text);
    bool found = false;
    for (int at = *row * 120; at + (int)length <= 120 * 40 && !found; at++) {
        size_t i = 0;
        while (i < length && canvas->cells[at + (int)i].glyph == (uint32_t)(unsigned char)text[i]) i++;
        found = i == length;
        if (found) *row = at / 120, *column = at % 120;
    }
    canvas_free(canvas);
    if (!found) fail_msg("the frame does not hold \"%s\"", text);
}

static void clicks_select_warps_lanes_lines_and_panes(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    int column = 0, row = 0;
    view_init(&view);
    sample_press(&view, sample, "13G");
    view.place.wavefront = 1; /* of the other warp */
    find(sample, &view, " w1 ", &column, &row);
    click(&view, sample, column + 7 + 9, row);
    assert_int_equal(view.selection.warp, 1);
    assert_int_equal(view.selection.lane, 9);
    assert_int_equal(view.place.wavefront, 0);
    assert_int_equal(view.display.focus, FOCUS_LANES);
    row = 0;
    find(sample, &view, "if (tid == 0)", &column, &row);
    click(&view, sample, column, row);
    const Steps *steps = sample->blocks[0].steps;
    assert_int_equal(steps->launch->program->code[steps->steps[view.place.step].pc].line.line, 14);
    assert_int_equal(view.display.focus, FOCUS_SOURCE);
    sample_press(&view, sample, "12G0w");
    row = 0;
    find(sample, &view, "banks  w0", &column, &row);
    find(sample, &view, " 17 ", &column, &row); /* the bank */
    row++;
    find(sample, &view, " 17 ", &column, &row); /* the lane that accesses a word in it */
    click(&view, sample, column + 2, row);
    assert_int_equal(view.selection.lane, 17);
    assert_int_equal(view.display.focus, FOCUS_PICTURE);
    view_go_to_step(&view, &sample->scene, sample_step(sample, TRACE_GLOBAL_LOAD, 0));
    row = 0;
    find(sample, &view, "+64, sector 2", &column, &row); /* 32 words of a line, the lanes that access them */
    click(&view, sample, column + 1, row + 1);
    assert_int_equal(view.selection.lane, 16);
    click(&view, sample, column - 1, row + 1);
    assert_int_equal(view.selection.lane, 15);
    click(&view, sample, column - 1, row);
    assert_int_equal(view.selection.lane, 15);
    sample_free(sample);
}

/* Every column of a pane that shows a warp's lanes side by side; a lane is `width` columns wide. */
static void click_lanes(const Pane *pane, const StepContext *context, Rectangle area, int label, int width) {
    for (int column = 0; column < area.columns; column++) {
        View view = *context->view;
        int lane = column < label ? -1 : (column - label) / width;
        view.selection.lane = 5;
        assert_int_equal(pane->click(context, area, column, 1, &view), VIEW_CHANGED);
        assert_int_equal(view.selection.lane, lane >= 0 && lane < WARP_LANES ? lane : 5);
    }
}

static void clicks_into_pictures_of_lanes(void **state) {
    (void)state;
    static const struct {
        const Pane *pane;
        TraceKind kind;
        int label, note; /* columns beside the lanes */
    } cases[] = {{&pane_vote, TRACE_VOTE, 8, 0},
                 {&pane_vote, TRACE_REDUX, 8, 0},
                 {&pane_shuffle, TRACE_SHUFFLE, 8, 0},
                 {&pane_branch, TRACE_BRANCH, 16, 43}};
    Sample *sample = sample_new(64);
    View view;
    StepContext context;
    view_init(&view);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        view_go_to_step(&view, &sample->scene, sample_step(sample, cases[i].kind, 0));
        assert_true(step_context_init(&context, &sample->scene, &view));
        for (int width = 1; width <= 6; width++)
            click_lanes(cases[i].pane, &context,
                        (Rectangle){3, 4, cases[i].label + WARP_LANES * width + cases[i].note, 10},
                        cases[i].label, width);
    }
    sample_free(sample);
}

/* A click selects a row of the metrics, and the next one deselects it; the heading and the text below are not
 * rows. */
static void clicks_into_metrics_choose_a_row(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    View view;
    StepContext context;
    Rectangle area = {0, 0, 70, 60};
    int chosen[60], count = 0;
    view_init(&view);
    assert_true(step_context_init(&context, &sample->scene, &view));
    Canvas *canvas = canvas_new(area.columns, area.rows, true);
    pane_metrics.draw(&context, canvas, area);
    assert_int_equal(pane_metrics.click(&context, area, 5, 0, &view), VIEW_IGNORED);
    for (int row = 1; row < area.rows; row++) {
        bool drawn = canvas->cells[row * area.columns].glyph != ' ' ||
                     canvas->cells[row * area.columns + 2].glyph != ' ';
        view.selection.traced = 0;
        ViewAnswer answer = pane_metrics.click(&context, area, 5, row, &view);
        assert_int_equal(answer, drawn ? VIEW_CHANGED : VIEW_IGNORED);
        assert_int_equal(view.selection.traced != 0, drawn);
        if (!drawn) break;
        for (int i = 0; i < count; i++) assert_int_not_equal(chosen[i], view.selection.traced);
        chosen[count++] = view.selection.traced;
        Canvas *marked = canvas_new(area.columns, area.rows, true); /* the row's name is highlighted */
        pane_metrics.draw(&context, marked, area);
        for (int other = 1; other < area.rows; other++)
            assert_int_equal(marked->cells[other * area.columns].role == ROLE_SELECTED, other == row);
        canvas_free(marked);
        pane_metrics.click(&context, area, 5, row, &view);
        assert_int_equal(view.selection.traced, 0);
    }
    assert_true(count > 8);
    canvas_free(canvas);
    sample_free(sample);
}

static void a_click_on_the_lanes_title_goes_to_the_next_block(void **state) {
    (void)state;
    Sample *sample = sample_new_two_launches();
    View view;
    view_init(&view);
    for (int i = 1; i <= 3; i++) {
        int column = 0, row = 0;
        find(sample, &view, "lanes  block", &column, &row);
        click(&view, sample, column, row);
        assert_int_equal(view.place.block, i % 2);
    }
    sample_free(sample);
}

static const char *chosen(const View *view) {
    MenuRow row;
    return menu_choice(view, &row) ? row.name : NULL;
}

static void the_menu_takes_clicks(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    View view;
    int column = 0, row = 0;
    view_init(&view);
    sample_press(&view, sample, "Kshuffle");
    find(sample, &view, " shuffle_atomic", &column, &row);
    assert_int_equal(frame_click(&sample->scene, &view, 120, 40, column, row), VIEW_CHANGED);
    assert_string_equal(chosen(&view), "shuffle_atomic");
    assert_int_equal(frame_click(&sample->scene, &view, 120, 40, column, row), VIEW_OPEN);
    sample_free(sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_click_on_the_timeline_seeks),
        cmocka_unit_test(clicks_select_warps_lanes_lines_and_panes),
        cmocka_unit_test(clicks_into_pictures_of_lanes),
        cmocka_unit_test(clicks_into_metrics_choose_a_row),
        cmocka_unit_test(a_click_on_the_lanes_title_goes_to_the_next_block),
        cmocka_unit_test(the_menu_takes_clicks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
