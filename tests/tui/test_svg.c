/* Frames as images: the exact SVG of a small one, and the picture in README.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "tests/cli/program.h"
#include "tui/draw/svg.h"
#include <stdlib.h>
#include <string.h>

static void a_frame_by_hand(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(30, 3, false);
    Rectangle all = {0, 0, 30, 3};
    Text svg = {0};
    canvas_text(canvas, all, 0, 0, ROLE_HEADER, " header ");
    canvas_text(canvas, all, 10, 0, ROLE_CONFLICT, "<4-way> & \u2588");
    canvas_text(canvas, all, 2, 1, ROLE_LIT, "12");
    canvas_text(canvas, all, 4, 1, ROLE_SELECTED, "13");
    canvas_text(canvas, all, 0, 2, ROLE_TEXT, "plain");
    canvas_reverse(canvas, all, 2, 2, 2);
    canvas_to_svg(canvas, THEME_TERMINAL, &svg);
    golden_check("svg", &svg);
    text_done(&svg);
    canvas_free(canvas);
}

/* Rows that frames share occur once, and each pattern of frames has one rule. */
static void frames_that_follow_each_other(void **state) {
    (void)state;
    static const char *const frames[][2] = {
        {"first", "above"}, {"second", "above"}, {"second", "above"}, {"first", ""}};
    SvgMovie *movie = svg_movie_new();
    Text svg = {0};
    for (int i = 0; i < 4; i++) {
        Canvas *canvas = canvas_new(10, 3, false);
        Rectangle all = {0, 0, 10, 3};
        canvas_text(canvas, all, 0, 0, ROLE_HEADER, "always");
        canvas_text(canvas, all, 0, 1, ROLE_TEXT, frames[i][0]);
        canvas_text(canvas, all, 0, 2, ROLE_KEY, frames[i][1]);
        svg_movie_add(movie, canvas, THEME_TERMINAL, 0.5);
        canvas_free(canvas);
    }
    assert_int_equal(svg_movie_frames(movie), 3);
    svg_movie_write(movie, &svg);
    golden_check("svg_movie", &svg);
    text_done(&svg);
    svg_movie_free(movie);
}

/* Each pause is a frame; keys without a pause are not shown. While the run plays, each wavefront is a
 * frame. */
static void pauses_are_frames(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        int seconds; /* total of all frames */
    } films[] = {{"{1s}]{2s}", 3}, {"]]]{1s}llll{500ms}l{500ms}", 2}, {"<Space>{3s}", 3}};
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        char *svg = program_output(
            0, "LC_ALL=C.UTF-8 @ --kernel interleaved --n 1024 --frame=80x24 --svg --keys '%s'",
            films[i].keys);
        char rule[32];
        snprintf(rule, sizeof rule, " %ds step-end infinite", films[i].seconds);
        program_assert_contains(svg, rule);
        program_assert_contains(svg, "prefers-reduced-motion");
        assert_null(strstr(svg, "<script"));
        free(svg);
    }
    char *still =
        program_output(0, "LC_ALL=C.UTF-8 @ --kernel interleaved --n 1024 --frame=80x24 --svg --keys ']l'");
    assert_null(strstr(still, "<style"));
    free(still);
}

/* The picture of README.md goes through two kernels. */
static void the_picture_of_the_readme(void **state) {
    (void)state;
    static const char film[] =
        "--kernel interleaved --frame=100x36 --svg --keys '{2.5s}]llll{1.5s}]llll{1.5s}]llll{2.5s}"
        "Ksequential<Enter>{2.5s}]llll{1.5s}]llll{1.5s}]lllll{2.5s}'";
    char *image = program_output(0, "LC_ALL=C.UTF-8 @ %s", film);
    Text svg = {0};
    text_add(&svg, image);
    assert_true(svg.length < 400000);
    golden_check_file("assets/screenshot.svg", &svg);
    text_done(&svg);
    free(image);
    char *readme = program_output(0, "cat README.md");
    program_assert_contains(readme, "](assets/screenshot.svg)");
    free(readme);
}

/* Tags are closed, and text that looks like a tag is escaped. */
static void every_kind_of_screen_is_well_formed(void **state) {
    (void)state;
    static const char *const keys[] = {"", "?", "K", "rr", "9G", "G", "s"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *svg = program_output(0, "LC_ALL=C.UTF-8 @ --kernel strided --n 1024 --frame --svg --keys '%s'",
                                   keys[i]);
        int texts = 0;
        for (const char *at = svg; (at = strchr(at, '<')); at++) {
            bool known = !strncmp(at, "<text ", 6) || !strncmp(at, "</text>", 7) ||
                         !strncmp(at, "<rect ", 6) || !strncmp(at, "<svg ", 5) || !strncmp(at, "</svg>", 6) ||
                         !strncmp(at, "<g ", 3) || !strncmp(at, "<style>", 7) ||
                         !strncmp(at, "</style>", 8) || !strncmp(at, "</g>", 4);
            if (!known) fail_msg("%.60s", at);
            texts += !strncmp(at, "<text ", 6) - !strncmp(at, "</text>", 7);
            assert_true(texts == 0 || texts == 1);
        }
        assert_int_equal(texts, 0);
        free(svg);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_by_hand),
        cmocka_unit_test(frames_that_follow_each_other),
        cmocka_unit_test(pauses_are_frames),
        cmocka_unit_test(the_picture_of_the_readme),
        cmocka_unit_test(every_kind_of_screen_is_well_formed),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
