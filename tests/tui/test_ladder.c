/* The ladder and latency screens: exact screens of the shipped recording, the effect of each key, the runs
 * that open; and the real program on a stub of the CUDA driver, with rows that fill in as they are
 * measured. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "ladder/ladder.h"
#include "pty.h"
#include "stage.h"
#include "tests/cli/program.h"
#include "tui/view/ladder_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static LadderCounts counts; /* of the rungs at 2^20, in int: counted once */

static int count_rungs(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group != CATALOG_LADDER && strcmp(row->id, "triton_sum") != 0) continue;
        RunSpec options = ladder_counts_options(row->id, 1 << 20, "int", "sum");
        Session *session = session_open(&options, NULL);
        ladder_counts_add(&counts, &options, session);
        session_free(session);
    }
    return program_make_folder(state);
}

static int forget_counts(void **state) {
    ladder_counts_done(&counts);
    return program_remove_folder(state);
}

static Stage *open_ladder(const char *kernel, const char *keys) {
    Stage *stage = stage_open_kernel(kernel);
    stage->timings.counts = &counts;
    stage_press(stage, keys);
    return stage;
}

static void check(const char *name, const char *kernel, const char *keys, int columns, int rows, bool ascii) {
    Stage *stage = open_ladder(kernel, keys);
    stage_check(stage, name, columns, rows, ascii);
    stage_free(stage);
}

static void screens_of_the_ladder(void **state) {
    (void)state;
    check("ladder_80x24", "interleaved", "B", 80, 24, false);
    check("ladder_120x40", "interleaved", "B", 120, 40, false);
    check("ladder_200x60", "interleaved", "B", 200, 60, false);
    check("ladder_ascii_120x40", "shuffle", "Bl", 120, 40, true);
    check("ladder_articles_200x60", "interleaved", "Ba", 200, 60, false);
}

static void screens_of_the_latencies(void **state) {
    (void)state;
    check("latency_80x24", "lab_latency", "B", 80, 24, false);
    check("latency_120x40", "lab_latency", "B", 120, 40, false);
    check("latency_200x60", "interleaved", "BB", 200, 60, false);
}

/* Without colour each time still has its bar, and the bars of an ASCII screen differ. */
static void speed_does_not_hang_on_colour(void **state) {
    (void)state;
    for (int ascii = 0; ascii < 2; ascii++) {
        Stage *stage = open_ladder("interleaved", "B");
        Canvas *canvas = canvas_new(120, 40, ascii);
        bool seen[ROLE_COUNT] = {false};
        uint32_t glyph[ROLE_COUNT] = {0};
        comparison_draw(&stage->comparison, canvas);
        for (int i = 0; i < canvas->columns * canvas->rows; i++) {
            Cell cell = canvas->cells[i];
            bool is_bar = (cell.glyph >= 0x2581 && cell.glyph <= 0x2588) ||
                          (ascii && cell.glyph && cell.glyph < 127 && strchr("_.-+#", (int)cell.glyph));
            bool is_speed = cell.role == ROLE_GOOD || cell.role == ROLE_QUICK || cell.role == ROLE_SLOW ||
                            cell.role == ROLE_SLOWEST;
            if (!is_bar || !is_speed || (ascii && cell.glyph == '.' && cell.role != ROLE_SLOW)) continue;
            if (seen[cell.role]) assert_int_equal(glyph[cell.role], cell.glyph);
            seen[cell.role] = true;
            glyph[cell.role] = cell.glyph;
        }
        assert_true(seen[ROLE_GOOD] && seen[ROLE_QUICK] && seen[ROLE_SLOW] && seen[ROLE_SLOWEST]);
        assert_true(glyph[ROLE_GOOD] != glyph[ROLE_QUICK] && glyph[ROLE_SLOW] != glyph[ROLE_SLOWEST]);
        canvas_free(canvas);
        stage_free(stage);
    }
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void keys_select(void **state) {
    (void)state;
    Stage *stage = open_ladder("interleaved", "B");
    const ViewLadder *shown = &stage_view(stage)->display.ladder;
    assert_int_equal(shown->row, 1);
    assert_int_equal(shown->n, 1 << 20);
    stage_press(stage, "j<Right>");
    assert_true(shown->row == 2 && shown->n == 1 << 22);
    stage_press(stage, "<Home>hhhhhhhhhh");
    assert_true(shown->row == 0 && shown->n == 1 << 10);
    stage_press(stage, "Gllllllllllllll");
    assert_true(shown->row > 20 && shown->n == 1 << 30);
    stage_press(stage, "t");
    assert_string_equal(shown->dtype, "float");
    stage_press(stage, "ttT");
    assert_string_equal(shown->dtype, "double");
    stage_press(stage, "y");
    assert_int_equal(stage_view(stage)->display.times, TIMES_WARM);
    assert_false(stage_view(stage)->display.times_alone);
    stage_press(stage, "Y");
    assert_int_equal(stage_view(stage)->display.times, TIMES_WARM);
    assert_true(stage_view(stage)->display.times_alone);
    stage_press(stage, "q");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_NONE);
    stage_free(stage);
}

static void the_help_returns_to_the_ladder(void **state) {
    (void)state;
    Stage *stage = open_ladder("interleaved", "B?");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_HELP);
    char *first = stage_text(stage, 120, 40);
    bool found = false;
    for (int page = 0; page < 6 && !found; page++) {
        char *text = stage_text(stage, 120, 40);
        found = strstr(text, "signs: ladder") != NULL;
        free(text);
        stage_press(stage, "<PgDn>");
    }
    assert_true(found);
    stage_press(stage, "<Escape>");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_LADDER);
    stage_press(stage, "?");
    char *again = stage_text(stage, 120, 40); /* from its first line */
    assert_string_equal(again, first);
    free(first);
    free(again);
    stage_press(stage, "<Escape><Escape>?<Escape>");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_NONE);
    stage_free(stage);
}

static void what_is_no_kernel_is_not_opened(void **state) {
    (void)state;
    Stage *stage = open_ladder("interleaved", "BG<Enter>");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_LADDER);
    assert_non_null(strstr(stage_view(stage)->transient.message, "no kernel of the catalogue"));
    stage_press(stage, "gc");
    assert_non_null(strstr(stage_view(stage)->transient.message, "row above"));
    stage_free(stage);
}

static void clicks_select_and_open(void **state) {
    (void)state;
    Stage *stage = open_ladder("interleaved", "B");
    const ViewLadder *shown = &stage_view(stage)->display.ladder;
    assert_int_equal(comparison_click(&stage->comparison, 120, 40, 10, 6), VIEW_CHANGED);
    assert_int_equal(shown->row, 3); /* below the frame and the heading */
    assert_int_equal(comparison_click(&stage->comparison, 120, 40, 30, 2), VIEW_CHANGED);
    assert_int_equal(shown->n, 1 << 10);
    assert_int_equal(comparison_click(&stage->comparison, 120, 40, 10, 6), VIEW_RUNG);
    assert_string_equal(stage_view(stage)->transient.rung.kernel, "strided");
    stage_free(stage);
}

/* Enter opens the rung at the selected size, c the one above and it side by side. */
static void rungs_open_at_the_selected_size(void **state) {
    (void)state;
    char *text =
        program_output(0, "LC_ALL=C.UTF-8 @ --kernel interleaved --frame=120x40 --keys 'Bjhht<Enter>'");
    program_assert_contains(text, " redviz  interleaved_bitmask");
    program_assert_contains(text, "float sum  n 16,384");
    free(text);
    text = program_output(0, "LC_ALL=C.UTF-8 @ --kernel shuffle --n 2^14 --frame=200x60 --keys 'Bc'");
    program_assert_contains(text, ">redviz  shuffle_last_warp");
    program_assert_contains(text, "shuffle_last_warp : shuffle ");
    free(text);
    text = program_output(0, "LC_ALL=C.UTF-8 @ --kernel shuffle --n 2^14 --frame=120x40 --keys 'Bm'");
    program_assert_contains(text, "ladder  int sum  H"); /* of the next machine, or the same */
    free(text);
}

/* A second folder of recordings: --machine and m choose between them. */
static void machines_are_chosen_by_what_is_recorded(void **state) {
    (void)state;
    const char *folder = program_folder();
    free(program_output(
        0,
        "mkdir -p %s/share/assets/h100; ln -sfn \"$PWD/kernels\" %s/share/kernels; ln -sfn "
        "\"$PWD/assets/ptx\" %s/share/assets/ptx; "
        "ln -sfn \"$PWD/assets/h200\" %s/share/assets/h200; "
        "sed 's/NVIDIA H200/NVIDIA H100/' assets/h200/timings.tsv >%s/share/assets/h100/timings.tsv",
        folder, folder, folder, folder, folder));
    char *text = program_output(0, "REDVIZ_SHARE=%s/share @ --ladder --n 1024 --machine h100", folder);
    program_assert_contains(text, "NVIDIA H100, recorded");
    free(text);
    text = program_output(0, "REDVIZ_SHARE=%s/share @ --ladder --n 1024", folder);
    program_assert_contains(text, "NVIDIA H200, recorded");
    free(text);
    static const char *const keys[] = {"B", "Bm", "Bmm"}, *const shown[] = {"H200", "H100", "H200"};
    for (int i = 0; i < 3; i++) {
        char wanted[48];
        text =
            program_output(0, "REDVIZ_SHARE=%s/share @ --kernel shuffle --n 1024 --frame=120x40 --keys '%s'",
                           folder, keys[i]);
        snprintf(wanted, sizeof wanted, "ladder  int sum  %s, recorded", shown[i]);
        program_assert_contains(text, wanted);
        free(text);
    }
}

/* ---- the document of measurements ---------------------------------------------------------------------- */

/* The first table of --ladder stands in assets/h200/README.md. */
static void the_document_has_the_table(void **state) {
    (void)state;
    char *readme = program_output(0, "cat assets/h200/README.md"), *text = program_output(0, "@ --ladder");
    char *begin = strstr(readme, "microseconds to one number"), *table = strstr(text, "\n\n");
    assert_true(begin && table);
    while (begin > readme && strncmp(begin, "```\n", 4) != 0) begin--;
    char *end = strstr(begin + 4, "```\n");
    assert_non_null(end);
    Text expected = {0};
    text_add_bytes(&expected, readme, (size_t)(begin + 4 - readme));
    text_add_bytes(&expected, text, (size_t)(table + 1 - text));
    text_add(&expected, end);
    golden_check_file("assets/h200/README.md", &expected);
    text_done(&expected);
    free(readme);
    free(text);
}

/* ---- live timings -------------------------------------------------------------------------------------- */

static void rows_fill_in_as_they_are_measured(void **state) {
    (void)state;
    int status;
    Pty *pty = pty_start_measuring("STUB_SLOW=20", 120, 40); /* measures for minutes */
    pty_wait_for(pty, "strided");
    pty_type(pty, "B");
    pty_wait_for(pty, "ladder  int sum");
    pty_wait_for(pty, "Stub 1, live");
    pty_wait_for(pty, ", now "); /* cells: "live: 7 of 160, now atomic" */
    pty_type(pty, "j");          /* keys work meanwhile */
    pty_wait_for(pty, ">K2 sequential");
    pty_type(pty, "m");
    pty_wait_for(pty, "H200, recorded 20");
    pty_type(pty, "qq");
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(pty_modes_are_back(pty));
    pty_free(pty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_of_the_ladder),
        cmocka_unit_test(screens_of_the_latencies),
        cmocka_unit_test(speed_does_not_hang_on_colour),
        cmocka_unit_test(keys_select),
        cmocka_unit_test(the_help_returns_to_the_ladder),
        cmocka_unit_test(what_is_no_kernel_is_not_opened),
        cmocka_unit_test(clicks_select_and_open),
        cmocka_unit_test(rungs_open_at_the_selected_size),
        cmocka_unit_test(machines_are_chosen_by_what_is_recorded),
        cmocka_unit_test(the_document_has_the_table),
        cmocka_unit_test(rows_fill_in_as_they_are_measured),
    };
    return cmocka_run_group_tests(tests, count_rungs, forget_counts);
}
