/* Keys of the view: back undoes forwards, and a frame depends on the place alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample.h"
#include "tui/view/key_actions.h"
#include "tui/view/menu.h"
#include "tui/input.h"
#include "tui/frame.h"
#include <stdlib.h>
#include <string.h>

/* Even on a small screen, the user sees that something has happened. */
static void assert_shown(const Sample *sample, const View *before, const View *after, const KeyRow *row) {
    char *a = sample_frame(sample, before, 80, 24), *b = sample_frame(sample, after, 80, 24);
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
                sample_press(&view, sample, "30G1w");
                memcpy(&before, &view, sizeof view); /* padding too */
                ViewAnswer answer = input_press(&view, &sample->scene, keys_decode(key));
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
        frames[step] = sample_frame(sample, &view, 120, 40);
        sample_press(&view, sample, ">");
    }
    for (int step = count - 1; step >= 0; step--) {
        char *again = sample_frame(sample, &view, 120, 40);
        assert_string_equal(again, frames[step]);
        free(again);
        free(frames[step]);
        sample_press(&view, sample, "<Less>");
    }
    free(frames);
    sample_free(sample);
}

/* Steps skip nothing; beats skip barriers at which no thread waits. Both keys of a direction do the same. */
static void beats_leave_out_what_nothing_happens_in(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const Beats *beats = scene_beats(&sample->scene, 0);
    View view, other;
    view_init(&view);
    for (int beat = 0; beat + 1 < beats->count; beat++) {
        assert_int_equal(view.place.step, beats->step[beat]);
        other = view;
        sample_press(&view, sample, beat % 2 ? "l" : "<Right>");
        sample_press(&other, sample, beat % 2 ? "<Right>" : "l");
        assert_int_equal(view.place.step, other.place.step);
    }
    sample_press(&view, sample, "l"); /* there is no further one */
    for (int beat = beats->count - 1; beat > 0; beat--) {
        assert_int_equal(view.place.step, beats->step[beat]);
        sample_press(&view, sample, beat % 2 ? "h" : "<Left>");
    }
    sample_press(&view, sample, "7l");
    assert_int_equal(view.place.step, beats->step[7]);
    sample_press(&view, sample, "3h");
    assert_int_equal(view.place.step, beats->step[4]);
    int step = 0;
    while (beats_is_beat(beats, step)) step++;
    view_go_to_step(&view, &sample->scene, step); /* from between two beats */
    other = view;
    sample_press(&view, sample, "h");
    assert_int_equal(view.place.step, beats->step[beats->of_step[step]]);
    sample_press(&other, sample, "l");
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
    sample_press(&view, sample, "...");
    assert_int_equal(view.place.step, first);
    assert_int_equal(view.place.wavefront, 3);
    sample_press(&view, sample, ".");
    assert_int_equal(view.place.step, first + 1);
    assert_int_equal(view.place.wavefront, 0);
    sample_press(&view, sample, ",");
    assert_int_equal(view.place.step, first);
    assert_int_equal(view.place.wavefront, 3);
    sample_press(&view, sample, "8,");
    assert_true(view.place.step < first);
    sample_press(&view, sample, "g,");
    assert_int_equal(view.place.step, 0);
    sample_free(sample);
}

static void lines_and_intervals_go_to_their_first_step(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    const Steps *steps = sample->blocks[0].steps;
    View view;
    view_init(&view);
    sample_press(&view, sample, "]");
    assert_int_equal(view.place.step, steps->interval_begin[1]);
    sample_press(&view, sample, ">>[");
    assert_int_equal(view.place.step,
                     steps->interval_begin[1]); /* from the middle: to the start of this interval */
    sample_press(&view, sample, "[");
    assert_int_equal(view.place.step, 0);
    sample_press(&view, sample, "3]");
    assert_int_equal(view.place.step, steps->interval_begin[3]);
    sample_press(&view, sample, "99]");
    assert_int_equal(view.place.step, steps->interval_begin[steps->interval_step_count - 1]);
    sample_press(&view, sample, "gjjk");
    assert_int_equal(view.place.step, steps->line_begin[1]);
    sample_press(&view, sample, "k<Up><Up>");
    assert_int_equal(view.place.step, 0);
    sample_free(sample);
}

static void numbers_say_how_often_or_which(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    sample_press(&view, sample, "10>");
    assert_int_equal(view.place.step, 10);
    sample_press(&view, sample, "7g");
    assert_int_equal(view.place.step, 6);
    sample_press(&view, sample, "3w17x");
    assert_int_equal(view.selection.warp, 3);
    assert_int_equal(view.selection.lane, 17);
    sample_press(&view, sample, "99999999999999>");
    assert_int_equal(view.place.step, sample->blocks[0].steps->step_count - 1);
    sample_press(&view, sample, "99w99x");
    assert_int_equal(view.selection.warp, 7);
    assert_int_equal(view.selection.lane, 31);
    sample_free(sample);
}

static void every_launch_has_blocks_of_its_own(void **state) {
    (void)state;
    Sample *sample = sample_new_two_launches();
    View view;
    view_init(&view);
    sample_press(&view, sample, "}");
    assert_int_equal(view.place.block, 1);
    char *text = sample_frame(sample, &view, 120, 40);
    assert_non_null(strstr(text, "launch 2 of 2"));
    free(text);
    sample_press(&view, sample, "}");
    assert_int_equal(view.place.block, 1);
    sample_press(&view, sample, "{");
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
    sample_press(&view, sample, "<Space>"); /* at the end, play starts over */
    assert_int_equal(view.place.step, 0);
    assert_true(view.transient.playing);
    sample_free(sample);
}

static void speeds_are_fractions_and_multiples(void **state) {
    (void)state;
    static const struct {
        int speed;
        const char *text;
    } cases[] = {{-2, "1/4x"}, {-1, "1/2x"}, {0, "1x"}, {1, "2x"}, {3, "8x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[VIEW_SPEED_BYTES];
        view_print_speed(cases[i].speed, text);
        assert_string_equal(text, cases[i].text);
    }
}

static const char *chosen(const View *view) {
    MenuRow row;
    return menu_choice(view, &row) ? row.name : NULL;
}

static void the_menu_filters_as_you_type(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    View view;
    view_init(&view);
    sample_press(&view, sample, "K");
    assert_string_equal(chosen(&view), "strided"); /* the current kernel */
    sample_press(&view, sample, "bank_str");
    assert_string_equal(chosen(&view), "lab_bank_stride");
    assert_int_equal(input_press(&view, &sample->scene, keys_decode(SPECIAL_ENTER)), VIEW_OPEN);
    assert_int_equal(view.transient.overlay, OVERLAY_NONE);
    sample_press(&view, sample, "Kshuffle");
    assert_string_equal(chosen(&view), "shuffle"); /* not shuffle_last_warp, which comes first */
    sample_press(&view, sample, "_a");
    assert_string_equal(chosen(&view), "shuffle_atomic");
    sample_press(&view, sample, "<Escape>KK0");
    assert_string_equal(chosen(&view), "interleaved"); /* aliases count */
    assert_int_equal(input_press(&view, &sample->scene, keys_decode(1)),
                     VIEW_IGNORED); /* not a character of a name */
    assert_string_equal(view.transient.filter, "K0");
    sample_press(&view, sample, "zzzz");
    assert_null(chosen(&view));
    assert_int_equal(input_press(&view, &sample->scene, keys_decode(SPECIAL_ENTER)), VIEW_IGNORED);
    sample_press(&view, sample, "<Backspace><Backspace><Backspace><Backspace><Escape>");
    assert_int_equal(view.transient.overlay, OVERLAY_NONE);
    sample_free(sample);
}

static void playing_goes_round_what_is_chosen(void **state) {
    (void)state;
    Sample *sample = sample_new(64);
    const Steps *steps = sample->blocks[0].steps;
    View view;
    view_init(&view);
    sample_press(&view, sample, "]L");
    int interval = steps->steps[view.place.step].interval_step, rounds = 0;
    for (int i = 0; i < 100; i++) {
        int before = view.place.step;
        assert_true(view_play(&view, &sample->scene));
        assert_int_equal(steps->steps[view.place.step].interval_step, interval);
        rounds += view.place.step < before;
    }
    assert_true(rounds > 2);
    sample_press(&view, sample, "GL");
    assert_true(view_play(&view, &sample->scene));
    assert_int_equal(view.place.step, 0);
    sample_press(&view, sample, "GL");
    assert_false(view_play(&view, &sample->scene));
    sample_free(sample);
}

static void panes_are_enlarged_and_hidden(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    sample_press(&view, sample, "<Tab><Tab>z");
    char *text = sample_frame(sample, &view, 120, 40);
    assert_non_null(strstr(text, "lanes  block 0"));
    assert_null(strstr(text, "source  strided.cu"));
    free(text);
    sample_press(&view, sample, "zH<Tab>H");
    text = sample_frame(sample, &view, 120, 40);
    assert_null(strstr(text, "lanes  block 0"));
    assert_null(strstr(text, "source  strided.cu"));
    assert_non_null(strstr(text, "timeline"));
    free(text);
    sample_press(&view, sample, "A");
    text = sample_frame(sample, &view, 120, 40);
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

/* A vote with missing members of its mask is marked; a complete one is not. */
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
        cmocka_unit_test(speeds_are_fractions_and_multiples),
        cmocka_unit_test(every_key_of_the_table_does_something),
        cmocka_unit_test(no_key_is_in_two_rows),
        cmocka_unit_test(going_back_undoes_going_forwards),
        cmocka_unit_test(beats_leave_out_what_nothing_happens_in),
        cmocka_unit_test(wavefronts_go_on_into_the_next_step_and_back),
        cmocka_unit_test(lines_and_intervals_go_to_their_first_step),
        cmocka_unit_test(numbers_say_how_often_or_which),
        cmocka_unit_test(every_launch_has_blocks_of_its_own),
        cmocka_unit_test(playing_shows_every_wavefront_of_every_beat_and_stops_at_the_end),
        cmocka_unit_test(the_menu_filters_as_you_type),
        cmocka_unit_test(playing_goes_round_what_is_chosen),
        cmocka_unit_test(panes_are_enlarged_and_hidden),
        cmocka_unit_test(scripts_name_special_keys),
        cmocka_unit_test(a_vote_without_some_of_its_members_is_marked),
        cmocka_unit_test(names_are_shown_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
