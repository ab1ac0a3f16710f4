/* Moving values while a run plays. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "tui/view/view.h"
#include "tui/panes/pane.h"
#include "tui/scene/beats.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- frames -------------------------------------------------------------------------------------------- */

static void motion_has_frames_and_arrives(void **state) {
    (void)state;
    for (int part = 1; part < 256; part *= 2) {
        double seconds = 1.0 / part;
        int frames = motion_frames(seconds);
        assert_true(frames >= 1 && (frames == 1 || frames / seconds <= 32));
    }
    assert_int_equal(motion_frames(0.25), 8);
    View view;
    view_init(&view);
    assert_true(view_wavefront_seconds(&view) >= 1 && view_wavefront_seconds(&view) <= 1.5);
    assert_true(MOTION_SHARE > 0.5 && MOTION_SHARE < 1);
    assert_true(motion_phase(0, 1, 0, 2) == 0.5 && motion_phase(0, 1, 1, 2) == 1);
    assert_true(motion_phase(1, 4, 0, 2) == 0.375 && motion_phase(3, 4, 1, 2) == 1);
}

/* ---- panes --------------------------------------------------------------------------------------------- */

typedef struct Opened {
    Session *session;
    Scene *scene;
    View view;
} Opened;

static Opened open_kernel(const char *kernel) {
    RunSpec options = {.kernel = kernel, .backend = BACKEND_EMULATOR};
    Error error = {0};
    Opened opened = {0};
    options.catalog.n = 1024;
    opened.session = session_open(&options, &error);
    if (!opened.session) fail_msg("%s: %s", kernel, error.message);
    opened.scene = scene_new(opened.session);
    view_init(&opened.view);
    return opened;
}

static void close_kernel(Opened *opened) {
    scene_free(opened->scene);
    session_free(opened->session);
}

/* The caller frees. */
static char *draw_pane(const Opened *opened, const Pane *pane, const View *view) {
    enum { COLUMNS = 120, ROWS = 20 };
    StepContext context;
    Text text = {0};
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    if (!step_context_init(&context, opened->scene, view)) fail_msg("no step");
    canvas_clear(canvas);
    pane->draw(&context, canvas, (Rectangle){0, 0, COLUMNS, ROWS});
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    char *copy = strdup(text_string(&text));
    text_done(&text);
    return copy;
}

/* A digit between two ends of a bracket. */
static bool has_value_in_bracket(const char *text) {
    const char *bracket = strstr(text, "├"), *end = bracket ? strchr(bracket, '\n') : NULL;
    for (; bracket && bracket < end; bracket++)
        if (isdigit((unsigned char)*bracket)) return true;
    return false;
}

static void check_still(const Opened *opened, const Pane *pane, const char *still) {
    View view = opened->view;
    view.transient.playing = true;
    char *arrived = draw_pane(opened, pane, &view);
    assert_string_equal(arrived, still);
    view.transient.phase = 0.5;
    view.display.still = true;
    char *off = draw_pane(opened, pane, &view);
    assert_string_equal(off, still);
    free(arrived), free(off);
}

/* At every beat: the end of the motion equals the still frame; half-way, some values are between their
 * boxes. */
static void values_travel_along_their_arrows(void **state) {
    (void)state;
    Opened opened = open_kernel("interleaved");
    const Beats *beats = scene_beats(opened.scene, 0);
    int moving = 0, in_brackets = 0;
    for (int beat = 0; beat < beats->count; beat++) {
        view_go_to_step(&opened.view, opened.scene, beats->step[beat]);
        char *still = draw_pane(&opened, &pane_reduction, &opened.view);
        View half = opened.view;
        half.transient.playing = true;
        half.transient.phase = 0.5;
        char *moves = draw_pane(&opened, &pane_reduction, &half);
        check_still(&opened, &pane_reduction, still);
        assert_false(has_value_in_bracket(still));
        moving += strcmp(still, moves) != 0;
        in_brackets += has_value_in_bracket(moves);
        free(still), free(moves);
    }
    assert_true(moving > 8 && in_brackets >= 3);
    close_kernel(&opened);
}

static int arrived_warps(const Opened *opened, double phase) {
    View view = opened->view;
    int arrived = -1;
    view.transient.playing = true;
    view.transient.phase = phase;
    char *text = draw_pane(opened, &pane_barrier, &view);
    sscanf(text, "%d of", &arrived);
    free(text);
    return arrived;
}

static void a_barrier_fills_up(void **state) {
    (void)state;
    Opened opened = open_kernel("interleaved");
    const StepIndex *index = scene_step_index(opened.scene, 0);
    int step = 0;
    while (index->step[step].kind != TRACE_BARRIER) step++;
    view_go_to_step(&opened.view, opened.scene, step);
    int all = arrived_warps(&opened, 1), half = arrived_warps(&opened, 0.5),
        few = arrived_warps(&opened, 0.1);
    assert_true(few >= 0 && few < half && half < all);
    char *still = draw_pane(&opened, &pane_barrier, &opened.view);
    check_still(&opened, &pane_barrier, still);
    free(still);
    close_kernel(&opened);
}

/* Of the beats of a run, those before another level stay longer; no other does. */
static void the_end_of_a_level_rests(void **state) {
    (void)state;
    Opened opened = open_kernel("interleaved");
    Reduction *reduction = scene_reduction(opened.scene, 0);
    double usual = view_wavefront_seconds(&opened.view);
    int longer = 0, beats = 0;
    for (bool more = true; more; beats++) {
        View here = opened.view;
        int level = reduction_level_at(reduction, here.place.step);
        more = view_next_wavefront(&opened.view, opened.scene);
        bool ends = more && reduction_level_at(reduction, opened.view.place.step) != level;
        assert_true(view_place_seconds(&here, opened.scene) == (ends ? 2 * usual : usual));
        longer += ends;
    }
    assert_true(longer >= 8 && longer < beats / 2);
    close_kernel(&opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_has_frames_and_arrives),
        cmocka_unit_test(values_travel_along_their_arrows),
        cmocka_unit_test(a_barrier_fills_up),
        cmocka_unit_test(the_end_of_a_level_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
