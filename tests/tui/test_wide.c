/* Text of any script from end to end: a terminal shows random canvases exactly, cell by cell; and the
 * screens, images and messages of a file whose name and comments are Chinese. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "pty.h"
#include "random_canvas.h"
#include "tests/cli/program.h"
#include "tui/draw/terminal.h"
#include "tui/draw/terminal_text.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_SHOWN = 60, ROWS_SHOWN = 12, FRAMES = 120 };

static const char *this_program;

/* ---- a terminal ---------------------------------------------------------------------------------------- */

/* libvterm 0.1 draws a mark over an ASCII character of the last column in the next row. */
static void remove_last_marks(Canvas *canvas) {
    for (int row = 0; row < canvas->rows; row++) {
        Cell *last = &canvas->cells[(row + 1) * canvas->columns - 1];
        if (last->glyph <= '~') memset(last->marks, 0, sizeof last->marks);
    }
}

/* The last row, where nothing else is drawn, says which frame is complete. */
static void draw_frame(Random *random, Canvas *canvas, int number) {
    Canvas part = *canvas;
    part.rows--;
    random_draw(random, &part);
    remove_last_marks(&part);
    canvas_print(canvas, (Rectangle){0, ROWS_SHOWN - 1, COLUMNS_SHOWN, 1}, 0, 0, ROLE_TEXT, "frame %d.",
                 number);
}

/* In a process of its own: a frame, a key, the next frame. */
static int draw_frames(unsigned seed) {
    Error error = {0};
    Random random = {seed};
    setlocale(LC_CTYPE, "");
    if (!terminal_open(&error)) return 1;
    Canvas *canvas = canvas_new(COLUMNS_SHOWN, ROWS_SHOWN, false);
    for (int i = 0; i < FRAMES; i++) {
        draw_frame(&random, canvas, i);
        terminal_show(canvas);
        TerminalEvent event = {.kind = TERMINAL_TIMEOUT};
        while (event.kind != TERMINAL_KEY && event.kind != TERMINAL_END) event = terminal_wait(-1);
        if (event.kind == TERMINAL_END) break;
    }
    canvas_free(canvas);
    terminal_close();
    return 0;
}

static void check_screen(const Pty *pty, const Canvas *canvas, unsigned seed, int number) {
    for (int row = 0; row < canvas->rows; row++)
        for (int column = 0; column < canvas->columns; column++) {
            VTermScreenCell shown;
            const Cell *cell = &canvas->cells[row * canvas->columns + column];
            vterm_screen_get_cell(pty->screen, (VTermPos){row, column}, &shown);
            if (!random_shows(&shown, cell))
                fail_msg("seed %u, frame %d, row %d, column %d: U+%04X, not U+%04X (marks %X, %X)", seed,
                         number, row, column, random_shown_glyph(&shown), cell->glyph, cell->marks[0],
                         cell->marks[1]);
        }
}

static void check_seed(unsigned seed) {
    static const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL};
    char number[16], expected[32];
    snprintf(number, sizeof number, "%u", seed);
    const char *const arguments[] = {this_program, "--draw", number, NULL};
    Random random = {seed};
    Canvas *canvas = canvas_new(COLUMNS_SHOWN, ROWS_SHOWN, false);
    Pty *pty = pty_start(arguments, environment, COLUMNS_SHOWN, ROWS_SHOWN);
    for (int i = 0; i < FRAMES; i++) {
        draw_frame(&random, canvas, i);
        snprintf(expected, sizeof expected, "frame %d.", i);
        pty_wait_for_row(pty, ROWS_SHOWN - 1, expected);
        check_screen(pty, canvas, seed, i);
        pty_type(pty, "x");
    }
    pty_free(pty);
    canvas_free(canvas);
}

static void a_terminal_shows_every_cell(void **state) {
    (void)state;
    unsetenv("LINES");
    unsetenv("COLUMNS");
    for (unsigned seed = 1; seed <= 8; seed++) check_seed(seed);
}

/* Which text is readable where. */
static void a_terminal_is_asked_for_its_characters(void **state) {
    (void)state;
    setenv("TERM", "xterm", 1);
    assert_non_null(setlocale(LC_CTYPE, "C"));
    assert_false(terminal_shows_utf8());
    assert_true(terminal_shows_text("plain"));
    assert_false(terminal_shows_text("\u5f52\u7ea6"));
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    assert_true(terminal_shows_utf8());
    assert_true(terminal_shows_text("\u5f52\u7ea6 e\u0301"));
    assert_false(terminal_shows_text("a\u0378")); /* not assigned */
    setenv("TERM", "linux", 1);
    assert_false(terminal_shows_text("\u5f52\u7ea6"));
    assert_true(terminal_shows_text("r\u00e9sultat \u2192"));
}

/* ---- a user's file ------------------------------------------------------------------------------------- */

/* tests/kernels/chinese.* under a Chinese name, which nvcc writes into the PTX. */
static void copy_kernel(void) {
    char *out = program_output(0,
                               "cp tests/kernels/chinese.cu %s/\u5f52\u7ea6.cu && sed "
                               "'s/chinese\\.cu/\\\\345\\\\275\\\\222\\\\347\\\\272\\\\246.cu/' "
                               "tests/kernels/chinese.ptx >%s/\u5f52\u7ea6.ptx",
                               program_folder(), program_folder());
    free(out);
}

static void screens_of_a_chinese_file(void **state) {
    (void)state;
    static const struct {
        const char *name, *locale, *options;
    } screens[] = {{"wide_80x24", "C.UTF-8", "--frame=80x24"},
                   {"wide_120x40", "C.UTF-8", "--frame=120x40"},
                   {"wide_source_80x24", "C.UTF-8", "--frame=80x24 --keys '<Tab>z'"},
                   {"wide_search_80x24", "C.UTF-8", "--frame=80x24 --keys 'g/\u5341\u524d<Backspace>'"},
                   {"wide_ascii_80x24", "C", "--frame=80x24 --keys '<Tab>z'"},
                   {"wide_svg", "C.UTF-8", "--frame=80x24 --svg --keys '<Tab>z'"}};
    copy_kernel();
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        char *shown = program_output(0, "LC_ALL=%s @ %s/\u5f52\u7ea6.ptx --n 4096 %s", screens[i].locale,
                                     program_folder(), screens[i].options);
        Text text = {0};
        text_add(&text, shown);
        golden_check(screens[i].name, &text);
        text_done(&text);
        free(shown);
    }
}

/* No row of a screen is wider than the screen, at any width that would cut a character in two. */
static void rows_are_as_wide_as_the_screen(void **state) {
    (void)state;
    copy_kernel();
    for (int columns = 60; columns < 76; columns++) {
        char *shown =
            program_output(0, "LC_ALL=C.UTF-8 @ %s/\u5f52\u7ea6.ptx --n 4096 --frame=%dx30 --keys z",
                           program_folder(), columns);
        for (char *line = strtok(shown, "\n"); line; line = strtok(NULL, "\n"))
            if (canvas_text_columns(line) > columns) fail_msg("at %d columns: %s", columns, line);
        free(shown);
    }
}

/* The columns of the report's table are aligned. */
static void the_report_of_a_chinese_file(void **state) {
    (void)state;
    copy_kernel();
    char *shown =
        program_output(0, "LC_ALL=C.UTF-8 @ %s/\u5f52\u7ea6.ptx --n 4096 --report", program_folder());
    const char *end = strstr(shown, "PTX counts, whole grid"), *begin = strstr(shown, "guessed");
    assert_true(begin && end);
    Text table = {0};
    text_add_bytes(&table, begin, (size_t)(end - begin));
    golden_check("wide_report", &table);
    text_done(&table);
    free(shown);
}

static void a_caret_stands_below_its_character(void **state) {
    (void)state;
    Outcome outcome = program_shell(
        "printf '.version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k() {\\n"
        "/* \u5f52\u7ea6 */ add.s32 %%%%r1, %%%%r2, 1;\\n}\\n' >%s/\u9519\u8bef.ptx; @ %s/\u9519\u8bef.ptx "
        "--report",
        program_folder(), program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "\u9519\u8bef.ptx:5:");
    program_assert_contains(outcome.err, "\n  /* \u5f52\u7ea6 */ add.s32 %r1, %r2, 1;\n"
                                         "                     ^\n");
    program_outcome_done(&outcome);
}

int main(int argc, char **argv) {
    this_program = argv[0];
    if (argc > 2 && !strcmp(argv[1], "--draw")) return draw_frames((unsigned)strtoul(argv[2], NULL, 10));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_shows_every_cell),
        cmocka_unit_test(a_terminal_is_asked_for_its_characters),
        cmocka_unit_test(screens_of_a_chinese_file),
        cmocka_unit_test(rows_are_as_wide_as_the_screen),
        cmocka_unit_test(the_report_of_a_chinese_file),
        cmocka_unit_test(a_caret_stands_below_its_character),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
