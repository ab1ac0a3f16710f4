/* Jumps to conflicts, branches, barriers, search matches, a metric's steps, and marks. */
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

static void jumps_find_conflicts_and_divergence(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const StepIndex *step_index = scene_step_index(&sample->scene, 0);
    View view;
    view_init(&view);
    sample_press(&view, sample, "n");
    int first = view.place.step;
    assert_true(step_index->step[first].conflicts);
    for (int step = 0; step < first; step++) assert_false(step_index->step[step].conflicts);
    sample_press(&view, sample, "nN");
    assert_int_equal(view.place.step, first);
    sample_press(&view, sample, "N");
    assert_int_equal(view.place.step, first);
    assert_string_equal(view.transient.message, "no bank conflict before this step");
    sample_press(&view, sample, "d");
    assert_true(step_index->step[view.place.step].diverges);
    assert_string_equal(view.transient.message, "");
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
    sample_press(&view, sample, "b");
    assert_int_equal(kind_here(sample, &view), TRACE_BARRIER);
    int first = view.place.step;
    sample_press(&view, sample, "b(");
    assert_int_equal(view.place.step, first);
    sample_press(&view, sample, "g5w31x");
    for (int i = 0; i < 3; i++) {
        int before = view.place.step;
        sample_press(&view, sample, ";");
        for (int step = before + 1; step < view.place.step; step++)
            assert_int_equal(step_index_warp_state(scene_step_index(&sample->scene, 0), step, 5).active >> 31,
                             0);
        WarpState here = step_index_warp_state(scene_step_index(&sample->scene, 0), view.place.step, 5);
        assert_int_equal(here.active >> 31, 1);
        assert_true(here.event >= 0);
    }
    sample_press(&view, sample, "99;");
    sample_press(&view, sample, ";");
    assert_string_equal(view.transient.message, "no event of w5 lane 31 after this step");
    sample_free(sample);
}

static void a_search_finds_source_and_ptx(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    sample_press(&view, sample, "/SHFL");
    char *prompt = sample_frame(sample, &view, 120, 40);
    assert_non_null(strstr(prompt, "/SHFL_"));
    free(prompt);
    sample_press(&view, sample, "<Enter>");
    assert_int_equal(kind_here(sample, &view), TRACE_SHUFFLE);
    int first = view.place.step;
    sample_press(&view, sample, "n");
    assert_int_equal(kind_here(sample, &view), TRACE_SHUFFLE);
    assert_true(view.place.step > first);
    sample_press(&view, sample, "N");
    assert_int_equal(view.place.step, first);
    sample_press(&view, sample, "<Escape>gn"); /* conflicts again */
    assert_true(scene_step_index(&sample->scene, 0)->step[view.place.step].conflicts);
    sample_press(&view, sample, "/no such text<Enter>");
    assert_string_equal(view.transient.message, "no step with \"no such text\" after this step");
    sample_press(&view, sample,
                 "/ab<Backspace><Backspace><Backspace>>"); /* nothing left to search: a key again */
    assert_int_equal(view.transient.input, INPUT_COMMANDS);
    sample_free(sample);
}

static void a_metric_is_traced_to_its_steps(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const StepIndex *step_index = scene_step_index(&sample->scene, 0);
    View view;
    view_init(&view);
    sample_press(&view, sample, "M");
    int counted = 0;
    for (int step = 0; step < step_index->steps->step_count; step++)
        counted += step_index->step[step].accesses > 0;
    char expected[80];
    snprintf(expected, sizeof expected, "%d steps counted in shared accesses; n, N: next, previous; Esc: off",
             counted);
    assert_string_equal(view.transient.message, expected);
    for (int i = 0; i < counted; i++) {
        int before = view.place.step;
        sample_press(&view, sample, "n");
        assert_true(step_index->step[view.place.step].accesses > 0 && view.place.step > before);
    }
    sample_press(&view, sample, "n");
    assert_string_equal(view.transient.message, "no marked step after this step");
    /* cyclic, and never to a metric that is zero in this block. */
    sample_press(&view, sample, "MMMMMMMMMMMMMMM");
    sample_press(&view, sample, "M<Escape>");
    assert_int_equal(view.selection.traced, 0);
    sample_free(sample);
}

static void marks_are_places_to_come_back_to(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    sample_press(&view, sample, "8Gma20Gmbg'a");
    assert_int_equal(view.place.step, 7);
    sample_press(&view, sample, "'b");
    assert_int_equal(view.place.step, 19);
    sample_press(&view, sample, "''");
    assert_int_equal(view.place.step, 7);
    sample_press(&view, sample, "''");
    assert_int_equal(view.place.step, 19);
    sample_press(&view, sample, "'z");
    assert_string_equal(view.transient.message, "no step is marked z; mz marks this one");
    sample_press(&view, sample, "m<Escape>>"); /* not a letter: nothing happens */
    assert_int_equal(view.place.step, 20);
    sample_free(sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_find_conflicts_and_divergence),
        cmocka_unit_test(jumps_find_barriers_and_the_lanes_events),
        cmocka_unit_test(a_search_finds_source_and_ptx),
        cmocka_unit_test(a_metric_is_traced_to_its_steps),
        cmocka_unit_test(marks_are_places_to_come_back_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
