/* Text of any script: widths, cells and line breaks: the table of widths against Python's, the contents of
 * one cell, cells of double width on a canvas, and where lines of Chinese may break. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/characters.h"
#include "base/utf8.h"
#include "tui/draw/canvas.h"
#include <stdio.h>
#include <string.h>

static const Rectangle all = {0, 0, 10, 3};

static void assert_shows(const Canvas *canvas, const char *expected) {
    Text text = {0};
    canvas_to_text(canvas, &text);
    assert_string_equal(text_string(&text), expected);
    text_done(&text);
}

/* ---- widths -------------------------------------------------------------------------------------------- */

/* Prints the version, then for each assigned character of the ranges its code and its kind. For our version
 * of Unicode all characters; else the ranges unchanged since 5.0. */
static const char script[] =
    "import unicodedata as u\n"
    "r=[(32,0x250),(0x300,0x370),(0x391,0x3ca),(0x410,0x450),(0x5d0,0x5eb),(0xe01,0xe3b),(0x2010,0x2028),"
    "(0x2500,0x25fd),(0x3000,0x3097),(0x4e00,0x9fa6),(0xac00,0xd7a4),(0xff01,0xff61),(0xff61,0xffbf),"
    "(0x20000,0x2a6d7)]\n"
    "if u.unidata_version=='14.0.0':r=[(0,0x110000)]\n"
    "k={'Mn':'M','Me':'M','Cf':'F','Cc':'C','Cs':'C','Co':'C','Zl':'C','Zp':'C'}\n"
    "for a,b in r:\n"
    " for c in range(a,b):\n"
    "  g=u.category(chr(c))\n"
    "  if g!='Cn':print(c,k.get(g,'W' if u.east_asian_width(chr(c)) in 'WF' else 'N'))\n";

static bool is_vowel_or_final_of_hangul(uint32_t character) {
    return (character >= 0x1160 && character <= 0x11FF) || (character >= 0xD7B0 && character <= 0xD7FF);
}

static void widths_are_those_of_unicode(void **state) {
    (void)state;
    static const char letters[] = {
        [UTF8_NARROW] = 'N', [UTF8_WIDE] = 'W', [UTF8_MARK] = 'M', [UTF8_FORMAT] = 'F', [UTF8_CONTROL] = 'C'};
    char command[2048], kind;
    unsigned character;
    int count = 0;
    snprintf(command, sizeof command, "python3 -c \"%s\" 2>/dev/null", script);
    FILE *python = popen(command, "r");
    assert_non_null(python);
    for (; fscanf(python, "%u %c", &character, &kind) == 2; count++)
        if (letters[utf8_kind(character)] != kind && !is_vowel_or_final_of_hangul(character))
            fail_msg("U+%04X is %c, not %c", character, letters[utf8_kind(character)], kind);
    pclose(python);
    if (!count) skip_because("python3 was not found"); /* no Python here */
    assert_true(count > 75000);
}

static void widths_by_hand(void **state) {
    (void)state;
    static const struct {
        uint32_t character;
        int columns;
    } rows[] = {{'a', 1},     {0xE9, 1},    {0x301, 0},  {0x4E2D, 2},  {0xFF0C, 2},  {0x2500, 1},
                {0x1161, 0},  {0x1100, 2},  {0xAC00, 2}, {0xFF71, 1},  {0x1F600, 2}, {0x200D, 0},
                {0x20000, 2}, {0x3FFFD, 2}, {0x7F, 0},   {0xE000, 0},  {0x5D0, 1},   {0x300A, 2},
                {0x2014, 1},  {0x201C, 1},  {0xFE0F, 0}, {0xE01EF, 0}, {0x303F, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (utf8_columns(rows[i].character) != rows[i].columns)
            fail_msg("U+%04X has %d columns", rows[i].character, utf8_columns(rows[i].character));
}

static void what_is_encoded_is_read_back(void **state) {
    (void)state;
    for (uint32_t character = 1; character <= 0x10FFFF; character += character < 0x3000 ? 1 : 37) {
        char bytes[UTF8_BYTES + 1];
        const char *at = bytes;
        size_t length = utf8_encode(character, bytes);
        bytes[length] = 0;
        uint32_t expected = character >= 0xD800 && character <= 0xDFFF ? '?' : character;
        assert_int_equal(utf8_next(&at), expected);
        assert_int_equal(at - bytes, expected == '?' && character != '?' ? 1 : length);
        bytes[length - 1] = 0; /* truncated */
        utf8_drop_half(bytes);
        assert_string_equal(bytes, "");
    }
    char whole[] = "a\u4e2d";
    utf8_drop_half(whole);
    assert_string_equal(whole, "a\u4e2d");
    const char *too_large = "\xf4\x90\x80\x80";
    assert_int_equal(utf8_next(&too_large), '?');
}

/* ---- the contents of one cell -------------------------------------------------------------------------- */

static void one_cell(const char *text, int columns, const char *shown) {
    Canvas *canvas = canvas_new(10, 1, false);
    char expected[64];
    snprintf(expected, sizeof expected, "%s\n", shown);
    canvas_text(canvas, all, 0, 0, ROLE_TEXT, text);
    assert_shows(canvas, expected);
    assert_int_equal(canvas_text_columns(text), columns);
    canvas_free(canvas);
}

static void marks_stay_with_their_base(void **state) {
    (void)state;
    one_cell("e\u0301|", 2, "e\u0301|");
    one_cell("\u4e2d\u0301|", 3, "\u4e2d\u0301|");
    one_cell("\u0301|", 2, "?|");                                          /* no base */
    one_cell("\t\u0301|", 6, "    ?|");                                    /* a tab is not a base */
    one_cell("a\u200b|", 3, "a?|");                                        /* an invisible space is shown */
    one_cell("\u202eab|", 4, "?ab|");                                      /* Trojan source */
    one_cell("\ufeffab", 2, "ab");                                         /* byte order mark */
    one_cell("\u0915\u094d\u200d\u0937|", 3, "\u0915\u094d\u200d\u0937|"); /* the joiner shapes the letter */
    one_cell("\u1112\u1161\u11ab|", 3, "\u1112\u1161\u11ab|");
    one_cell("\U0001f469\u200d\U0001f52c|", 5,
             "\U0001f469\U0001f52c|"); /* terminals differ in the width of the whole */
    one_cell("\u2764\ufe0f\u200d\U0001f525|", 4, "\u2764\U0001f525|");
    one_cell("\U0001f44d\U0001f3fd|", 3, "\U0001f44d|");
    one_cell("a\U0001f3fd|", 4, "a\U0001f3fd|");
    one_cell("a\u0300\u0301\u0302\u0303\u0304\u0305b", 2,
             "a\u0300\u0301\u0302\u0303"
             "b");
    one_cell("\ue000\u2028\xed\xa0\x80", 5, "?????"); /* private, line separator, half of a surrogate pair */
}

/* ---- double width -------------------------------------------------------------------------------------- */

static void half_a_character_is_never_shown(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    assert_int_equal(canvas_text(canvas, all, 0, 0, ROLE_TEXT, "\u4e00\u4e8c\u4e09\u56db\u4e94\u516d"), 10);
    assert_int_equal(canvas_text(canvas, all, 1, 1, ROLE_TEXT, "\u4e00\u4e8c\u4e09\u56db\u4e94"), 9);
    assert_int_equal(canvas_text(canvas, all, -1, 2, ROLE_TEXT, "\u4e00\u4e8c"), 3);
    assert_shows(canvas, "\u4e00\u4e8c\u4e09\u56db\u4e94\n \u4e00\u4e8c\u4e09\u56db\n \u4e8c\n");
    canvas_glyph(canvas, all, 2, 0, ROLE_TEXT, 'x');                         /* over a left half */
    canvas_glyph(canvas, all, 5, 0, ROLE_TEXT, 'y');                         /* over a right half */
    canvas_text(canvas, all, 2, 1, ROLE_TEXT, "\u5341");                     /* over two halves */
    canvas_text(canvas, (Rectangle){0, 2, 3, 1}, 2, 0, ROLE_TEXT, "\u5341"); /* at the edge of an area */
    assert_shows(canvas, "\u4e00x  y\u56db\u4e94\n  \u5341 \u4e09\u56db\n\n");
    canvas_free(canvas);
}

static void both_halves_look_alike(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    Text roles = {0};
    canvas_text(canvas, all, 0, 0, ROLE_WARNING, "\u4e00");
    canvas_text(canvas, all, 4, 0, ROLE_TEXT, "\u4e8c");
    canvas_reverse(canvas, all, 1, 0, 1);
    canvas_reverse(canvas, all, 4, 0, 1);
    canvas_to_roles(canvas, &roles);
    assert_string_equal(text_string(&roles), "0:0-1 WARNING reverse\n0:4-5 TEXT reverse\n");
    assert_int_equal(canvas_cell(canvas, all, 1, 0)->glyph, CELL_RIGHT_HALF);
    text_done(&roles);
    canvas_free(canvas);
}

static void an_ascii_canvas_keeps_the_columns(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, true);
    canvas_text(canvas, all, 0, 0, ROLE_TEXT, "\u4e00e\u0301|");
    canvas_text(canvas, all, 1, 1, ROLE_TEXT, "\u4e00\u4e00\u4e00\u4e00\u4e00");
    assert_shows(canvas, "??e|\n ????????\n\n");
    canvas_free(canvas);
}

static void titles_are_cut_between_characters(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(24, 2, false);
    canvas_rule(canvas, (Rectangle){0, 0, 24, 1}, ROLE_TITLE,
                "\u7528\u5171\u4eab\u5185\u5b58\u505a\u5f52\u7ea6\u7684\u5185\u6838", ROLE_DIM, NULL);
    canvas_rule(canvas, (Rectangle){0, 1, 23, 1}, ROLE_TITLE,
                "\u7528\u5171\u4eab\u5185\u5b58\u505a\u5f52\u7ea6\u7684\u5185\u6838", ROLE_DIM, NULL);
    assert_shows(canvas,
                 "\u2500\u2500 \u7528\u5171\u4eab\u5185\u5b58\u505a\u5f52\u7ea6 \u2026 \u2500\u2500\n"
                 "\u2500\u2500 \u7528\u5171\u4eab\u5185\u5b58\u505a\u5f52\u7ea6\u2026 \u2500\u2500\n");
    canvas_free(canvas);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* The lines into which `text` is broken, joined by '/'. */
static void breaks(const char *text, int columns, const char *expected) {
    Text lines = {0};
    for (const char *at = text; *at;) {
        int bytes = line_break(at, columns);
        if (lines.length) text_add(&lines, "/");
        text_add_bytes(&lines, at, (size_t)bytes);
        Text line = {0};
        text_add_bytes(&line, at, (size_t)bytes);
        assert_true(canvas_text_columns(text_string(&line)) <= columns || columns < 2);
        text_done(&line);
        at += bytes;
        while (*at == ' ') at++;
    }
    assert_string_equal(text_string(&lines), expected);
    text_done(&lines);
}

static void lines_of_chinese_end_anywhere_but(void **state) {
    (void)state;
    breaks("归约每一步减半", 6, "归约每/一步减/半");
    breaks("归约每一步减半", 7, "归约每/一步减/半");
    breaks("归约，每步减半。", 4, "归/约，/每步/减/半。"); /* not before a stop */
    breaks("归约（每步）减半", 6, "归约/（每/步）减/半");  /* not after an opening bracket */
    breaks("他说“归约”很快", 6, "他说/“归约”/很快");
    breaks("线程块 block 里的 warp", 11, "线程块/block 里的/warp");
    breaks("用shuffle归约", 9, "用shuffle/归约");
    breaks("归约……快", 5, "归/约……/快"); /* nor between the halves of an ellipsis */
    breaks("32个线程", 4, "32个/线程");
    breaks("，，，，", 4, "，，/，，"); /* nothing else is possible */
    breaks("归约", 1, "归/约");
    breaks("one two three", 7, "one two/three");
    breaks("one, two", 4, "one,/two");
    breaks("e\u0301te\u0301 e\u0301te\u0301", 4, "e\u0301te\u0301/e\u0301te\u0301");
}

static void paragraphs_of_chinese(void **state) {
    (void)state;
    Canvas *canvas = canvas_new(10, 3, false);
    assert_int_equal(canvas_paragraph(canvas, all, 0, ROLE_TEXT, "每一步之后线程数减半，直到一个。"), 3);
    assert_shows(canvas, "每一步之后\n线程数减\n半，直到 …\n");
    canvas_free(canvas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_unicode),
        cmocka_unit_test(widths_by_hand),
        cmocka_unit_test(what_is_encoded_is_read_back),
        cmocka_unit_test(marks_stay_with_their_base),
        cmocka_unit_test(half_a_character_is_never_shown),
        cmocka_unit_test(both_halves_look_alike),
        cmocka_unit_test(an_ascii_canvas_keeps_the_columns),
        cmocka_unit_test(titles_are_cut_between_characters),
        cmocka_unit_test(lines_of_chinese_end_anywhere_but),
        cmocka_unit_test(paragraphs_of_chinese),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
