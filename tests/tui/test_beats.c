/* Beats: each changes source, lanes or picture, not only the position on the timeline; a short kernel has few
 * beats. Prints the numbers of beats and instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage.h"
#include "tui/frame.h"
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 120, ROWS = 40, MOST_OF_INTERLEAVED = 48 };

/* Source, lanes and picture, as text. Caller frees. */
static char *middle_of(const Stage *stage) {
    const View *view = &stage->comparison.view[0];
    Layout layout;
    assert_true(layout_make(COLUMNS, ROWS, view, frame_needs(stage->scene, view), &layout));
    Canvas *canvas = stage_draw(stage, COLUMNS, ROWS);
    Text text = {0};
    canvas_fill(canvas, layout.header, ROLE_TEXT);
    canvas_fill(canvas, layout.slots[SLOT_TIMELINE], ROLE_TEXT);
    canvas_fill(canvas, layout.slots[SLOT_EXPLANATION], ROLE_TEXT);
    canvas_fill(canvas, layout.footer, ROLE_TEXT);
    for (int i = 0; i < layout.side_count; i++) canvas_fill(canvas, layout.sides[i], ROLE_TEXT);
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    return text.data;
}

static int count_instructions(const Stage *stage) {
    return trace_block_event_count(stage->scene->traced.blocks[0].block);
}

static void check_every_beat(const char *kernel, const char *keys) {
    Stage *stage = stage_open_kernel(kernel);
    View *view = stage_view(stage);
    const Beats *beats = scene_beats(stage->scene, 0);
    stage_press(stage, keys);
    char *before = middle_of(stage);
    int moves = 0, same = 0;
    for (int step = -1; step != view->place.step;) {
        step = view->place.step;
        stage_press(stage, "l");
        if (view->place.step == step) break;
        char *after = middle_of(stage);
        if (!strcmp(before, after)) {
            print_error("%s: the beat at step %d looks as the one at step %d\n", kernel, view->place.step + 1,
                        step + 1);
            same++;
        }
        free(before);
        before = after;
        moves++;
    }
    free(before);
    assert_int_equal(view->place.step, beats->step[beats->count - 1]);
    assert_true(moves > 5);
    print_message("# summary: %s%s%s: %d events of warps, %d steps, %d beats, %d from where it opens\n",
                  kernel, *keys ? " after " : "", keys, count_instructions(stage),
                  view_steps(view, stage->scene)->step_count, beats->count, moves);
    stage_free(stage);
    if (same) fail_msg("%s: %d of %d beats change nothing", kernel, same, moves);
}

static void every_beat_changes_what_is_seen(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "sequential", "shuffle", "strided"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        check_every_beat(kernels[i], "");
        check_every_beat(kernels[i], "g");
    }
}

/* With 256 threads, from the opening to the end. */
static void interleaved_has_at_most_48_beats(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("interleaved");
    View *view = stage_view(stage);
    int beats = 0;
    assert_int_equal(scene_launch(stage->scene, 0)->block[0], 256);
    for (int step = -1; step != view->place.step; beats++) {
        step = view->place.step;
        stage_press(stage, "l");
    }
    assert_in_range(beats - 1, 20, MOST_OF_INTERLEAVED);
    stage_free(stage);
}

/* Over all kernels: a warp executes an event with other lanes than the one before. */
static void every_change_of_the_active_lanes_is_a_beat(void **state) {
    (void)state;
    int changes = 0;
    for (int i = 0; i < catalog_count(); i++) {
        Stage *stage = stage_open_kernel(catalog_row(i)->id);
        for (int b = 0; b < stage->scene->traced.block_count; b++) {
            const Steps *steps = stage->scene->traced.blocks[b].steps;
            const Beats *beats = scene_beats(stage->scene, b);
            uint32_t mask[32] = {0};
            for (int e = 0; e < trace_block_event_count(steps->block); e++) {
                TraceEvent event;
                trace_block_read_header(steps->block, e, &event);
                bool changes_lanes = mask[event.warp] && mask[event.warp] != event.mask;
                mask[event.warp] = event.mask;
                changes += changes_lanes;
                if (changes_lanes && !beats_is_beat(beats, steps->step_of_event[e]))
                    fail_msg("%s: step %d is no beat", catalog_row(i)->id, steps->step_of_event[e] + 1);
            }
        }
        stage_free(stage);
    }
    assert_true(changes > 200);
}

/* The lines that play visits from the split on: each arm, then the join. */
static void both_arms_of_a_branch_are_visited(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("lab_divergent_branch");
    Text lines = {0};
    stage_press(stage, "gd");
    for (int i = 0; i < 5; i++, stage_press(stage, "l")) {
        const Step *step = &view_steps(stage_view(stage), stage->scene)->steps[stage_view(stage)->place.step];
        text_print(&lines, " %d", scene_code(stage->scene, 0, step->pc)->line.line);
    }
    assert_string_equal(text_string(&lines), " 15 21 17 24 25");
    text_done(&lines);
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_beat_changes_what_is_seen),
        cmocka_unit_test(every_change_of_the_active_lanes_is_a_beat),
        cmocka_unit_test(both_arms_of_a_branch_are_visited),
        cmocka_unit_test(interleaved_has_at_most_48_beats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
