/* Canvas: clipping, valid text, ASCII, wrapping, frames; and the looks of roles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/draw/canvas.h"
#include "tui/draw/theme.h"
#include <math.h>
#include <string.h>

static const Rectangle all = {0, 0, 10, 3};

static void assert_shows(const Canvas *canvas, const char *expected) {
    Text text = {0};
    canvas_to_text(canvas, &text);
    assert_string_equal(text_string(&text), expected);
    text_done(&text);
}

static void text_is_clipped_at_every_edge(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    assert_int_equal(canvas_text(canvas, all, 7, 0, ROLE_TEXT, "abcdef"), 3);
    assert_int_equal(canvas_text(canvas, all, -2, 1, ROLE_TEXT, "abcdef"), 4);
    canvas_text(canvas, all, 0, 3, ROLE_TEXT, "below");
    canvas_text(canvas, all, 0, -1, ROLE_TEXT, "above");
    /* The area itself extends beyond the canvas. */
    canvas_text(canvas, (Rectangle){8, 2, 9, 9}, 0, 0, ROLE_TEXT, "right");
    assert_shows(canvas, "       abc\ncdef\n        ri\n");
    canvas_free(canvas);
}

static void drawing_stays_inside_its_area(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    Rectangle area = {2, 1, 4, 1};
    canvas_text(canvas, area, 0, 0, ROLE_TEXT, "abcdefgh");
    canvas_glyph(canvas, area, 4, 0, ROLE_TEXT, 'x');
    canvas_glyph(canvas, area, 0, 1, ROLE_TEXT, 'x');
    canvas_fill(canvas, (Rectangle){5, 1, 99, 99}, ROLE_TEXT);
    assert_shows(canvas, "\n  abc\n\n");
    canvas_free(canvas);
}

static void hostile_text_stays_in_its_columns(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    canvas_text(canvas, all, 0, 0, ROLE_TEXT, "a\033[2Jb");             /* no escape sequence passes */
    canvas_text(canvas, all, 0, 1, ROLE_TEXT, "\xe6\x97\xa5\xcc\x81|"); /* wide, combining */
    canvas_text(canvas, all, 0, 2, ROLE_TEXT, "\xc0\xaf\xff\xe2\x82|"); /* overlong, stray, cut short */
    assert_shows(canvas, "a?[2Jb\n\u65e5\u0301|\n?????|\n");
    canvas_free(canvas);
}

static void tabs_go_to_the_next_fourth_column(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    canvas_text(canvas, all, 0, 0, ROLE_TEXT, "\ta\tb");
    assert_shows(canvas, "    a   b\n\n\n");
    assert_int_equal(canvas_text_columns("\ta\tb"), 9);
    canvas_free(canvas);
}

static void an_ascii_canvas_holds_ascii_only(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, true);
    canvas_box(canvas, all, ROLE_TITLE, NULL, ROLE_DIM, NULL);
    canvas_text(canvas, all, 2, 1, ROLE_TEXT, "\u25a0\u00b7\u2588\u2190\u00e4");
    assert_shows(canvas, "+--------+\n| #.#<?  |\n+--------+\n");
    canvas_free(canvas);
}

static void paragraphs_wrap_at_words(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    assert_int_equal(canvas_paragraph(canvas, all, 0, ROLE_TEXT, "one two three four"), 2);
    assert_shows(canvas, "one two\nthree four\n\n");
    canvas_clear(canvas);
    assert_int_equal(canvas_paragraph(canvas, all, 1, ROLE_TEXT, "one two three four five six"), 2);
    assert_shows(canvas, "\none two\nthree fou\u2026\n");
    canvas_clear(canvas);
    canvas_paragraph(canvas, all, 0, ROLE_TEXT, "abcdefghijklm n");
    assert_shows(canvas, "abcdefghij\nklm n\n\n");
    canvas_free(canvas);
}

static void a_note_outlives_a_long_title(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(40, 3, false);
    Rectangle area = {0, 0, 40, 3};
    Rectangle inside = canvas_box(canvas, area, ROLE_TITLE, "a title that is far too long", ROLE_CONFLICT,
                                  "8-way conflict!");
    assert_shows(canvas, "\u250c\u2500 a title that is\u2026 \u2500 8-way conflict! \u2500\u2510\n"
                         "\u2502                                      \u2502\n"
                         "\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
                         "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
                         "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
                         "\u2500\u2500\u2500\u2500\u2500\u2518\n");
    assert_int_equal(inside.columns, 36);
    assert_int_equal(inside.rows, 1);
    canvas_free(canvas);
}

static void of_a_long_note_the_last_part_stays(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(40, 3, false);
    canvas_rule(canvas, (Rectangle){0, 0, 40, 1}, ROLE_TITLE, "banks", ROLE_CONFLICT,
                "wavefront 10 of 16, ideal 1   4-way conflict!");
    canvas_rule(canvas, (Rectangle){0, 1, 40, 1}, ROLE_TITLE, "banks", ROLE_CONFLICT,
                "wavefronts that are far too long for this");
    canvas_rule(canvas, (Rectangle){0, 2, 20, 1}, ROLE_TITLE, "banks", ROLE_DIM, NULL);
    assert_shows(canvas,
                 "\u2500\u2500 banks \u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
                 "\u2500 4-way conflict! \u2500\u2500\n"
                 "\u2500\u2500 banks \u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
                 "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
                 "\u2500\u2500\u2500\u2500\n"
                 "\u2500\u2500 banks \u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\n");
    canvas_free(canvas);
}

/* A role with a meaning must not look like plain text, with or without colours, nor like its opposite. */
static void meaning_has_a_look_of_its_own(void **state) {
    (void)state;
    static const int terminals[] = {0, 8, 16, 256};
    static const Role loud[] = {ROLE_CONFLICT, ROLE_WARNING, ROLE_LIT,
                                ROLE_ACTIVE,   ROLE_CURRENT, ROLE_SELECTED};
    for (size_t t = 0; t < sizeof terminals / sizeof *terminals; t++) {
        for (Theme theme = 0; theme < THEME_COUNT; theme++) {
            Look plain = theme_look(theme, ROLE_TEXT, terminals[t]);
            for (size_t i = 0; i < sizeof loud / sizeof *loud; i++) {
                Look look = theme_look(theme, loud[i], terminals[t]);
                assert_true(look.bold != plain.bold || look.underline != plain.underline ||
                            look.reverse != plain.reverse);
                if (!terminals[t] || theme == THEME_MONO) {
                    assert_int_equal(look.colour, -1);
                    assert_int_equal(look.background, -1);
                }
                assert_true(look.colour < terminals[t] && look.background < terminals[t]);
            }
            Look lit = theme_look(theme, ROLE_LIT, terminals[t]);
            assert_true(lit.reverse && !theme_look(theme, ROLE_CONFLICT, terminals[t]).reverse);
        }
    }
    assert_int_not_equal(theme_look(THEME_TERMINAL, ROLE_ACTIVE, 256).colour,
                         theme_look(THEME_TERMINAL, ROLE_CONFLICT, 256).colour);
    assert_int_not_equal(theme_look(THEME_TERMINAL, ROLE_ACTIVE, 8).colour,
                         theme_look(THEME_TERMINAL, ROLE_CONFLICT, 8).colour);
}

/* The 256 colours of xterm, as their relative luminance (WCAG 2.1). */
static double luminance(int colour) {
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    int part[3];
    double sum = 0;
    assert_in_range(colour, 16, 255); /* the user chooses the look of the first 16 */
    for (int i = 0; i < 3; i++) {
        int level = (colour - 16) / (i == 0 ? 36 : i == 1 ? 6 : 1) % 6;
        part[i] = colour >= 232 ? 8 + 10 * (colour - 232) : level ? 55 + 40 * level : 0;
        double value = part[i] / 255.0;
        sum += weight[i] * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static void themes_can_be_read(void **state) {
    (void)state;
    static const Theme themes[] = {THEME_DARK, THEME_LIGHT, THEME_CONTRAST};
    static const double least[] = {4.5, 4.5, 7};
    for (size_t t = 0; t < sizeof themes / sizeof *themes; t++) {
        for (Role role = 0; role < ROLE_COUNT; role++) {
            Look look = theme_look(themes[t], role, 256);
            bool quiet = role == ROLE_BORDER || role == ROLE_IDLE || role == ROLE_EXITED;
            double a = luminance(look.colour), b = luminance(look.background);
            double ratio = a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05);
            if (ratio < (quiet ? 3 : least[t]))
                fail_msg("%s, role %d: contrast %.1f", theme_name(themes[t]), (int)role, ratio);
        }
    }
}

static void themes_have_names(void **state) {
    (void)state;
    Theme theme;
    assert_true(theme_find("contrast", &theme));
    assert_int_equal(theme, THEME_CONTRAST);
    assert_false(theme_find("sepia", &theme));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_clipped_at_every_edge),
        cmocka_unit_test(drawing_stays_inside_its_area),
        cmocka_unit_test(hostile_text_stays_in_its_columns),
        cmocka_unit_test(tabs_go_to_the_next_fourth_column),
        cmocka_unit_test(an_ascii_canvas_holds_ascii_only),
        cmocka_unit_test(paragraphs_wrap_at_words),
        cmocka_unit_test(a_note_outlives_a_long_title),
        cmocka_unit_test(of_a_long_note_the_last_part_stays),
        cmocka_unit_test(meaning_has_a_look_of_its_own),
        cmocka_unit_test(themes_can_be_read),
        cmocka_unit_test(themes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
