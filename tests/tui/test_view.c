/* View: what keys do, that going back undoes going forwards, and that a frame depends on the place alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample.h"
#include "tui/input.h"
#include "tui/frame.h"
#include <stdlib.h>
#include <string.h>

static void press(View *view, const Sample *sample, const char *script) {
    Key key;
    Error error = {0};
    while (*script) {
        assert_true(keys_read(&script, &key, &error));
        input_press(view, &sample->scene, key);
    }
}

/* Text and roles. */
static char *frame_of(const Sample *sample, const View *view, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, false);
    Text text = {0};
    frame_draw(&sample->scene, view, canvas);
    canvas_to_text(canvas, &text);
    canvas_to_roles(canvas, &text);
    canvas_free(canvas);
    return text.data;
}

static char *frame(const Sample *sample, const View *view) {
    return frame_of(sample, view, 120, 40);
}

/* Also on a small screen a student sees that something has happened. */
static void assert_shown(const Sample *sample, const View *before, const View *after, const KeyRow *row) {
    char *a = frame_of(sample, before, 80, 24), *b = frame_of(sample, after, 80, 24);
    if (!strcmp(a, b)) fail_msg("%s %s: nothing changes on the screen", row->forwards, row->backwards);
    free(a);
    free(b);
}

static void every_key_of_the_table_does_something(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    for (int action = 1; action < ACTION_COUNT; action++) {
        for (int side = 0; side < 2; side++) {
            const char *list = side ? key_rows[action].backwards : key_rows[action].forwards;
            while (*list) {
                View view, before;
                Key key;
                assert_true(keys_read(&list, &key, NULL));
                while (*list == ' ') list++;
                view_init(&view);
                press(&view, sample, "30G1w");
                memcpy(&before, &view, sizeof view); /* padding too */
                ViewAnswer answer = input_press(&view, &sample->scene, key);
                assert_int_not_equal(answer, VIEW_IGNORED);
                /* b has nowhere to go in a run of one block, and says so in a message */
                /* differences are drawn by tui/comparison.c, which knows both runs */
                if (answer == VIEW_CHANGED && view.transient.overlay != OVERLAY_DIFFERENCES)
                    assert_shown(sample, &before, &view, &key_rows[action]);
            }
        }
    }
    sample_free(sample);
}

static void no_key_is_in_two_rows(void **state) {
    (void)state;
    for (Key key = 1; key < SPECIAL_KEYS_END; key = key == '~' ? SPECIAL_KEYS + 1 : key + 1) {
        int rows = 0;
        for (int action = 1; action < ACTION_COUNT; action++)
            for (int side = 0; side < 2; side++) {
                const char *list = side ? key_rows[action].backwards : key_rows[action].forwards;
                Key other;
                while (*list && keys_read(&list, &other, NULL)) {
                    rows += other == key;
                    while (*list == ' ') list++;
                }
            }
        assert_in_range(rows, 0, 1);
    }
}

static void going_back_undoes_going_forwards(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    int count = sample->blocks[0].steps->step_count;
    char **frames = calloc((size_t)count, sizeof *frames);
    for (int step = 0; step < count; step++) {
        assert_int_equal(view.place.step, step);
        frames[step] = frame(sample, &view);
        press(&view, sample, ">");
    }
    for (int step = count - 1; step >= 0; step--) {
        char *again = frame(sample, &view);
        assert_string_equal(again, frames[step]);
        free(again);
        free(frames[step]);
        press(&view, sample, "<Less>");
    }
    free(frames);
    sample_free(sample);
}

/* By steps nothing is left out, by beats what nobody waits for; both keys of a direction do the same. */
static void beats_leave_out_what_nothing_happens_in(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const Beats *beats = scene_beats(&sample->scene, 0);
    View view, other;
    view_init(&view);
    for (int beat = 0; beat + 1 < beats->count; beat++) {
        assert_int_equal(view.place.step, beats->step[beat]);
        other = view;
        press(&view, sample, beat % 2 ? "l" : "<Right>");
        press(&other, sample, beat % 2 ? "<Right>" : "l");
        assert_int_equal(view.place.step, other.place.step);
    }
    press(&view, sample, "l"); /* there is no further one */
    for (int beat = beats->count - 1; beat > 0; beat--) {
        assert_int_equal(view.place.step, beats->step[beat]);
        press(&view, sample, beat % 2 ? "h" : "<Left>");
    }
    press(&view, sample, "7l");
    assert_int_equal(view.place.step, beats->step[7]);
    press(&view, sample, "3h");
    assert_int_equal(view.place.step, beats->step[4]);
    int step = 0;
    while (beats_is_beat(beats, step)) step++;
    view_go_to_step(&view, &sample->scene, step); /* from between two */
    other = view;
    press(&view, sample, "h");
    assert_int_equal(view.place.step, beats->step[beats->of_step[step]]);
    press(&other, sample, "l");
    assert_int_equal(other.place.step, beats->step[beats->of_step[step] + 1]);
    sample_free(sample);
}

static void wavefronts_go_on_into_the_next_step_and_back(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    int first = sample_step(sample, TRACE_SHARED_LOAD, 2); /* words 4 apart: 4 wavefronts */
    view_go_to_step(&view, &sample->scene, first);
    press(&view, sample, "...");
    assert_int_equal(view.place.step, first);
    assert_int_equal(view.place.wavefront, 3);
    press(&view, sample, ".");
    assert_int_equal(view.place.step, first + 1);
    assert_int_equal(view.place.wavefront, 0);
    press(&view, sample, ",");
    assert_int_equal(view.place.step, first);
    assert_int_equal(view.place.wavefront, 3);
    press(&view, sample, "8,");
    assert_true(view.place.step < first);
    press(&view, sample, "g,");
    assert_int_equal(view.place.step, 0);
    sample_free(sample);
}

static void lines_and_intervals_go_to_their_first_step(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const Steps *steps = sample->blocks[0].steps;
    View view;
    view_init(&view);
    press(&view, sample, "]");
    assert_int_equal(view.place.step, steps->interval_begin[1]);
    press(&view, sample, ">>[");
    assert_int_equal(view.place.step,
                     steps->interval_begin[1]); /* from the middle: to the start of this one */
    press(&view, sample, "[");
    assert_int_equal(view.place.step, 0);
    press(&view, sample, "3]");
    assert_int_equal(view.place.step, steps->interval_begin[3]);
    press(&view, sample, "99]");
    assert_int_equal(view.place.step, steps->interval_begin[steps->interval_step_count - 1]);
    press(&view, sample, "gjjk");
    assert_int_equal(view.place.step, steps->line_begin[1]);
    press(&view, sample, "k<Up><Up>");
    assert_int_equal(view.place.step, 0);
    sample_free(sample);
}

static void jumps_find_conflicts_and_divergence(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const StepIndex *step_index = scene_step_index(&sample->scene, 0);
    View view;
    view_init(&view);
    press(&view, sample, "n");
    int first = view.place.step;
    assert_true(step_index->step[first].conflicts);
    for (int step = 0; step < first; step++) assert_false(step_index->step[step].conflicts);
    press(&view, sample, "nN");
    assert_int_equal(view.place.step, first);
    press(&view, sample, "N");
    assert_int_equal(view.place.step, first);
    assert_string_equal(view.transient.message, "no bank conflict before this step");
    press(&view, sample, "d");
    assert_true(step_index->step[view.place.step].diverges);
    assert_string_equal(view.transient.message, "");
    sample_free(sample);
}

static void numbers_say_how_often_or_which(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "10>");
    assert_int_equal(view.place.step, 10);
    press(&view, sample, "7g");
    assert_int_equal(view.place.step, 6);
    press(&view, sample, "3w17x");
    assert_int_equal(view.selection.warp, 3);
    assert_int_equal(view.selection.lane, 17);
    press(&view, sample, "99999999999999>");
    assert_int_equal(view.place.step, sample->blocks[0].steps->step_count - 1);
    press(&view, sample, "99w99x");
    assert_int_equal(view.selection.warp, 7);
    assert_int_equal(view.selection.lane, 31);
    sample_free(sample);
}

static void every_launch_has_blocks_of_its_own(void **state) {
    (void)state;
    Sample *sample = sample_new_two_launches();
    View view;
    view_init(&view);
    press(&view, sample, "}");
    assert_int_equal(view.place.block, 1);
    char *text = frame(sample, &view);
    assert_non_null(strstr(text, "launch 2 of 2"));
    free(text);
    press(&view, sample, "}");
    assert_int_equal(view.place.block, 1);
    press(&view, sample, "{");
    assert_int_equal(view.place.block, 0);
    sample_free(sample);
}

static void playing_shows_every_wavefront_of_every_beat_and_stops_at_the_end(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    const Beats *beats = scene_beats(&sample->scene, 0);
    View view;
    view_init(&view);
    int shown = 1, expected = 0;
    assert_true(beats_is_beat(beats, 0) && beats->count < sample->blocks[0].steps->step_count);
    for (int step = 0; step < sample->blocks[0].steps->step_count; step++) {
        if (!beats_is_beat(beats, step)) continue;
        View at = view;
        StepContext context;
        view_go_to_step(&at, &sample->scene, step);
        assert_true(step_context_init(&context, &sample->scene, &at));
        expected += step_context_wavefronts(&context);
    }
    while (view_next_wavefront(&view, &sample->scene)) shown++;
    assert_int_equal(shown, expected);
    press(&view, sample, "<Space>"); /* at the end, play begins anew */
    assert_int_equal(view.place.step, 0);
    assert_true(view.transient.playing);
    sample_free(sample);
}

static void the_menu_filters_as_you_type(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    View view;
    view_init(&view);
    press(&view, sample, "K");
    assert_string_equal(view_chosen_kernel(&view), "strided"); /* where we are */
    press(&view, sample, "bank_str");
    assert_string_equal(view_chosen_kernel(&view), "lab_bank_stride");
    assert_int_equal(input_press(&view, &sample->scene, SPECIAL_ENTER), VIEW_OPEN);
    assert_int_equal(view.transient.overlay, OVERLAY_NONE);
    press(&view, sample, "Kshuffle");
    assert_string_equal(view_chosen_kernel(&view), "shuffle"); /* not shuffle_last_warp, which comes first */
    press(&view, sample, "_a");
    assert_string_equal(view_chosen_kernel(&view), "shuffle_atomic");
    press(&view, sample, "<Escape>KK0");
    assert_string_equal(view_chosen_kernel(&view), "interleaved"); /* aliases count */
    press(&view, sample, "zzzz");
    assert_null(view_chosen_kernel(&view));
    assert_int_equal(input_press(&view, &sample->scene, SPECIAL_ENTER), VIEW_IGNORED);
    press(&view, sample, "<Backspace><Backspace><Backspace><Backspace><Escape>");
    assert_int_equal(view.transient.overlay, OVERLAY_NONE);
    sample_free(sample);
}

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
    click(&view, sample, 117, 37); /* right of the last step */
    assert_int_equal(view.place.step, 20);
    click(&view, sample, 2, 37);
    assert_int_equal(view.place.step, 0);
    press(&view, sample, "''");
    assert_int_equal(view.place.step, 20);
    assert_int_equal(frame_click(&sample->scene, &view, 20, 10, 2, 5), VIEW_IGNORED);
    sample_free(sample);
}

/* Where the frame shows `text`, from row `*row` on. */
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
    press(&view, sample, "13G");
    find(sample, &view, " w1 ", &column, &row);
    click(&view, sample, column + 7 + 9, row);
    assert_int_equal(view.selection.warp, 1);
    assert_int_equal(view.selection.lane, 9);
    assert_int_equal(view.display.focus, FOCUS_LANES);
    row = 0;
    find(sample, &view, "if (tid == 0)", &column, &row);
    click(&view, sample, column, row);
    const Steps *steps = sample->blocks[0].steps;
    assert_int_equal(steps->launch->program->code[steps->steps[view.place.step].pc].line.line, 14);
    assert_int_equal(view.display.focus, FOCUS_SOURCE);
    press(&view, sample, "12G0w");
    row = 0;
    find(sample, &view, "banks  w0", &column, &row);
    find(sample, &view, " 17 ", &column, &row); /* the bank */
    row++;
    find(sample, &view, " 17 ", &column, &row); /* the lane that asks for a word in it */
    click(&view, sample, column + 2, row);
    assert_int_equal(view.selection.lane, 17);
    assert_int_equal(view.display.focus, FOCUS_PICTURE);
    view_go_to_step(&view, &sample->scene, sample_step(sample, TRACE_GLOBAL_LOAD, 0));
    row = 0;
    find(sample, &view, "+64, sector 2", &column, &row); /* 32 words of a line, the lanes that ask for them */
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
                 {&pane_branch, TRACE_BRANCH, 12, 8}};
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

/* A row of the metrics is chosen by a click, and let go by the next one; the heading and what is below are no rows. */
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
        Canvas *marked = canvas_new(area.columns, area.rows, true); /* the row's name is lit */
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

static void the_menu_takes_clicks(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    View view;
    int column = 0, row = 0;
    view_init(&view);
    press(&view, sample, "Kshuffle");
    find(sample, &view, " shuffle_atomic", &column, &row);
    assert_int_equal(frame_click(&sample->scene, &view, 120, 40, column, row), VIEW_CHANGED);
    assert_string_equal(view_chosen_kernel(&view), "shuffle_atomic");
    assert_int_equal(frame_click(&sample->scene, &view, 120, 40, column, row), VIEW_OPEN);
    sample_free(sample);
}

static TraceKind kind_here(const Sample *sample, const View *view) {
    return (TraceKind)scene_step_index(&sample->scene, 0)->step[view->place.step].kind;
}

static void jumps_find_barriers_and_the_lanes_events(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "b");
    assert_int_equal(kind_here(sample, &view), TRACE_BARRIER);
    int first = view.place.step;
    press(&view, sample, "b(");
    assert_int_equal(view.place.step, first);
    press(&view, sample, "g5w31x");
    for (int i = 0; i < 3; i++) {
        int before = view.place.step;
        press(&view, sample, "e");
        for (int step = before + 1; step < view.place.step; step++)
            assert_int_equal(step_index_warp_state(scene_step_index(&sample->scene, 0), step, 5).active >> 31,
                             0);
        assert_int_equal(
            step_index_warp_state(scene_step_index(&sample->scene, 0), view.place.step, 5).active >> 31, 1);
    }
    press(&view, sample, "99e");
    press(&view, sample, "e");
    assert_string_equal(view.transient.message, "no event of w5 lane 31 after this step");
    sample_free(sample);
}

static void a_search_finds_source_and_ptx(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "/SHFL");
    char *prompt = frame(sample, &view);
    assert_non_null(strstr(prompt, "/SHFL_"));
    free(prompt);
    press(&view, sample, "<Enter>");
    assert_int_equal(kind_here(sample, &view), TRACE_SHUFFLE);
    int first = view.place.step;
    press(&view, sample, "n");
    assert_int_equal(kind_here(sample, &view), TRACE_SHUFFLE);
    assert_true(view.place.step > first);
    press(&view, sample, "N");
    assert_int_equal(view.place.step, first);
    press(&view, sample, "<Escape>gn"); /* conflicts again */
    assert_true(scene_step_index(&sample->scene, 0)->step[view.place.step].conflicts);
    press(&view, sample, "/no such text<Enter>");
    assert_string_equal(view.transient.message, "no step with \"no such text\" after this step");
    press(&view, sample, "/ab<Backspace><Backspace><Backspace>>"); /* nothing left to search: a key again */
    assert_int_equal(view.transient.input, INPUT_COMMANDS);
    sample_free(sample);
}

static void a_metric_is_traced_to_its_steps(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const StepIndex *step_index = scene_step_index(&sample->scene, 0);
    View view;
    view_init(&view);
    press(&view, sample, "M");
    int counted = 0;
    for (int step = 0; step < step_index->steps->step_count; step++)
        counted += step_index->step[step].accesses > 0;
    char expected[80];
    snprintf(expected, sizeof expected, "%d steps counted in shared accesses; n, N: next, previous; Esc: off",
             counted);
    assert_string_equal(view.transient.message, expected);
    for (int i = 0; i < counted; i++) {
        int before = view.place.step;
        press(&view, sample, "n");
        assert_true(step_index->step[view.place.step].accesses > 0 && view.place.step > before);
    }
    press(&view, sample, "n");
    assert_string_equal(view.transient.message, "no marked step after this step");
    press(&view, sample, "MMMMMMMMMMMMMMM"); /* round, and never at what this block has none of */
    press(&view, sample, "M<Escape>");
    assert_int_equal(view.selection.traced, 0);
    sample_free(sample);
}

static void marks_are_places_to_come_back_to(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "8Gma20Gmbg'a");
    assert_int_equal(view.place.step, 7);
    press(&view, sample, "'b");
    assert_int_equal(view.place.step, 19);
    press(&view, sample, "''");
    assert_int_equal(view.place.step, 7);
    press(&view, sample, "''");
    assert_int_equal(view.place.step, 19);
    press(&view, sample, "'z");
    assert_string_equal(view.transient.message, "no step is marked z; mz marks this one");
    press(&view, sample, "m<Escape>>"); /* no letter: nothing happens */
    assert_int_equal(view.place.step, 20);
    sample_free(sample);
}

static void playing_goes_round_what_is_chosen(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    const Steps *steps = sample->blocks[0].steps;
    View view;
    view_init(&view);
    press(&view, sample, "]L");
    int interval = steps->steps[view.place.step].interval_step, rounds = 0;
    for (int i = 0; i < 100; i++) {
        int before = view.place.step;
        assert_true(view_play(&view, &sample->scene));
        assert_int_equal(steps->steps[view.place.step].interval_step, interval);
        rounds += view.place.step < before;
    }
    assert_true(rounds > 2);
    press(&view, sample, "GL");
    assert_true(view_play(&view, &sample->scene));
    assert_int_equal(view.place.step, 0);
    press(&view, sample, "GL");
    assert_false(view_play(&view, &sample->scene));
    sample_free(sample);
}

static void panes_are_enlarged_and_hidden(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "<Tab><Tab>z");
    char *text = frame(sample, &view);
    assert_non_null(strstr(text, "lanes  block 0"));
    assert_null(strstr(text, "source  strided.cu"));
    free(text);
    press(&view, sample, "zH<Tab>H");
    text = frame(sample, &view);
    assert_null(strstr(text, "lanes  block 0"));
    assert_null(strstr(text, "source  strided.cu"));
    assert_non_null(strstr(text, "timeline"));
    free(text);
    press(&view, sample, "A");
    text = frame(sample, &view);
    assert_non_null(strstr(text, "lanes  block 0"));
    free(text);
    sample_free(sample);
}

static void scripts_name_special_keys(void **state) {
    (void)state;
    const char *script = "a<Right><Less><x";
    static const Key keys[] = {'a', SPECIAL_RIGHT, '<', '<', 'x', KEY_NONE_PRESSED};
    Key key;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_true(keys_read(&script, &key, NULL));
        assert_int_equal(key, keys[i]);
    }
    Error error = {0};
    script = "<Rihgt>";
    assert_false(keys_read(&script, &key, &error));
    assert_non_null(strstr(error.message, "<Rihgt>"));
}

static void names_are_shown_as_they_were_written(void **state) {
    (void)state;
    char name[48];
    scene_short_name("_ZZ11interleavedIiEvPKT_PS0_jE5sdata", name, sizeof name);
    assert_string_equal(name, "sdata");
    scene_short_name("_Z1x", name, sizeof name);
    assert_string_equal(name, "x");
    scene_short_name("global_1a", name, sizeof name);
    assert_string_equal(name, "global_1a");
    step_context_print_count(1048576, name, sizeof name);
    assert_string_equal(name, "1,048,576");
    step_context_describe_lanes(0x01010101, name, sizeof name);
    assert_string_equal(name, "lanes 0, 8, 16, 24");
    step_context_describe_lanes(0x55555555, name, sizeof name);
    assert_string_equal(name, "lanes 0, 2, ... 30");
    step_context_describe_lanes(0x80000003, name, sizeof name);
    assert_string_equal(name, "lanes 0, 1, 31");
}

/* A vote for which members of its mask are missing is marked; a complete one is not. */
static void a_vote_without_some_of_its_members_is_marked(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    View view;
    StepContext context;
    view_init(&view);
    view_go_to_step(&view, &sample->scene, sample_step(sample, TRACE_VOTE, 0));
    assert_true(step_context_init(&context, &sample->scene, &view));
    PaneHead complete = {.note_role = ROLE_DIM, .columns = 80}, partial = complete;
    pane_vote.head(&context, &complete);
    assert_string_equal(complete.note, "");
    assert_int_equal(complete.note_role, ROLE_DIM);
    context.event.mask = 0xff;
    pane_vote.head(&context, &partial);
    assert_string_equal(partial.note, "member mask ffffffff, active 000000ff!");
    assert_int_equal(partial.note_role, ROLE_WARNING);
    sample_free(sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_table_does_something),
        cmocka_unit_test(no_key_is_in_two_rows),
        cmocka_unit_test(going_back_undoes_going_forwards),
        cmocka_unit_test(beats_leave_out_what_nothing_happens_in),
        cmocka_unit_test(wavefronts_go_on_into_the_next_step_and_back),
        cmocka_unit_test(lines_and_intervals_go_to_their_first_step),
        cmocka_unit_test(jumps_find_conflicts_and_divergence),
        cmocka_unit_test(numbers_say_how_often_or_which),
        cmocka_unit_test(every_launch_has_blocks_of_its_own),
        cmocka_unit_test(playing_shows_every_wavefront_of_every_beat_and_stops_at_the_end),
        cmocka_unit_test(the_menu_filters_as_you_type),
        cmocka_unit_test(a_click_on_the_timeline_seeks),
        cmocka_unit_test(clicks_select_warps_lanes_lines_and_panes),
        cmocka_unit_test(clicks_into_pictures_of_lanes),
        cmocka_unit_test(clicks_into_metrics_choose_a_row),
        cmocka_unit_test(a_click_on_the_lanes_title_goes_to_the_next_block),
        cmocka_unit_test(the_menu_takes_clicks),
        cmocka_unit_test(jumps_find_barriers_and_the_lanes_events),
        cmocka_unit_test(a_search_finds_source_and_ptx),
        cmocka_unit_test(a_metric_is_traced_to_its_steps),
        cmocka_unit_test(marks_are_places_to_come_back_to),
        cmocka_unit_test(playing_goes_round_what_is_chosen),
        cmocka_unit_test(panes_are_enlarged_and_hidden),
        cmocka_unit_test(scripts_name_special_keys),
        cmocka_unit_test(a_vote_without_some_of_its_members_is_marked),
        cmocka_unit_test(names_are_shown_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
