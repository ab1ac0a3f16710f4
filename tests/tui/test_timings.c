/* Timings: bars of a table made by hand, in every width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "sample.h"
#include "tui/pane.h"
#include <string.h>

static const SceneTiming ladder[] = {
    {"atomic", 1234.5, 3.4, 0.001},  {"interleaved", 12.9, 325, 0.07},
    {"strided", 8.9, 471, 0.1},      {"sequential", 7.5, 559, 0.12},
    {"first_add", 5.2, 807, 0.17},   {"vectorized_shuffle", 3.1, 1353, 0.28},
    {"half_naive", 150.04, 1400, 0},
};
static const SceneTimings table = {"RECORDED BY HAND", "n = 2^20, int sum", ladder,
                                   sizeof ladder / sizeof *ladder};
static const SceneTimings ladder_without_atomic = {"RECORDED BY HAND", "n = 2^20, int sum", ladder + 1, 5};

static Canvas *draw_timings(const SceneTimings *timings, const char *kernel, int columns, int rows,
                            bool ascii) {
    Sample *sample = sample_new(64);
    Moment now;
    View view;
    PaneHead head = {.note_role = ROLE_DIM};
    Canvas *canvas = canvas_new(columns, rows, ascii);
    sample->scene.timings = timings;
    sample->scene.kernel = kernel;
    view_init(&view, &sample->scene);
    assert_true(moment_init(&now, &sample->scene, &view));
    pane_timings.head(&now, &head);
    Rectangle area = {0, 0, columns, rows};
    pane_timings.draw(&now, canvas,
                      canvas_box(canvas, area, ROLE_TITLE, head.title, head.note_role, head.note));
    sample_free(sample);
    return canvas;
}

static void check(const char *name, const SceneTimings *timings, const char *kernel, int columns, int rows) {
    Canvas *canvas = draw_timings(timings, kernel, columns, rows, strstr(name, "ascii") != NULL);
    Text text = {0};
    canvas_to_text(canvas, &text);
    golden_check(name, &text);
    text_done(&text);
    canvas_free(canvas);
}

static void goldens(void **state) {
    (void)state;
    check("timings_nothing", NULL, "strided", 46, 5);
    check("timings_narrow", &table, "strided", 46, 5);
    check("timings_column", &ladder_without_atomic, "sequential", 60, 20);
    check("timings_wide", &ladder_without_atomic, "first_add", 120, 12);
    check("timings_ascii", &table, "half_naive", 100, 12);
}

/* The current kernel's bar and those of others, in cells. */
static int bar_length(const Canvas *canvas, const char *kernel, uint32_t glyph) {
    for (int row = 0; row < canvas->rows; row++) {
        const Cell *cells = &canvas->cells[row * canvas->columns];
        size_t i = 0;
        while (kernel[i] && cells[3 + i].glyph == (uint32_t)kernel[i]) i++;
        if (kernel[i] || cells[3 + i].glyph != ' ') continue;
        int count = 0;
        for (int column = 0; column < canvas->columns; column++) count += cells[column].glyph == glyph;
        return count;
    }
    fail_msg("no row of %s", kernel);
    return 0;
}

static void bars_are_as_long_as_the_times(void **state) {
    (void)state;
    Canvas *canvas = draw_timings(&ladder_without_atomic, "strided", 120, 12, false);
    int longest = bar_length(canvas, "interleaved", 0x25A0);
    assert_true(longest > 30);
    assert_int_equal(bar_length(canvas, "strided", 0x2588), (int)(longest * 8.9 / 12.9 + 0.5));
    assert_int_equal(bar_length(canvas, "sequential", 0x25A0), (int)(longest * 7.5 / 12.9 + 0.5));
    canvas_free(canvas);
    canvas = draw_timings(&table, "strided", 120, 12, false);
    assert_int_equal(bar_length(canvas, "strided", 0x2588), 1); /* too short for its share, but there */
    canvas_free(canvas);
}

static void without_a_table_there_are_no_numbers(void **state) {
    (void)state;
    Canvas *canvas = draw_timings(NULL, "strided", 60, 8, false);
    for (int i = 0; i < canvas->columns * canvas->rows; i++)
        assert_false(canvas->cells[i].glyph >= '0' && canvas->cells[i].glyph <= '9');
    canvas_free(canvas);
}

static void every_size_can_be_drawn(void **state) {
    (void)state;
    for (int columns = 6; columns < 200; columns += 9)
        for (int rows = 3; rows < 20; rows += 2)
            canvas_free(draw_timings(&table, "no_such_kernel", columns, rows, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens),
        cmocka_unit_test(bars_are_as_long_as_the_times),
        cmocka_unit_test(without_a_table_there_are_no_numbers),
        cmocka_unit_test(every_size_can_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
