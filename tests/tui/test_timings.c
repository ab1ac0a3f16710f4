/* Timings beside a run: which of several are shown, and how they are drawn in every width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "sample.h"
#include "tui/input.h"
#include "tui/panes/pane.h"
#include "tui/scene/scene_times.h"
#include <math.h>
#include <string.h>

typedef struct Row {
    const char *kernel;
    double alone, scalar; /* microseconds cold, in a graph; 0: not measured in this way */
    double share;
} Row;

static const Row ladder[] = {
    {"strided", 8.9, 12.2, 0.1},
    {"interleaved", 12.9, 16.4, 0.07},
    {"atomic", 1234.5, 1234.5, 0.001},
    {"sequential", 7.5, 11, 0.12},
    {"first_add", 5.2, 8, 0.17},
    {"cub", 0, 4.1, 0.21},
    {"vectorized_shuffle", 3.1, 3.1, 0.28},
    {"shuffle", 6.5, 9.9, 0.13},
};
enum { LADDER = sizeof ladder / sizeof *ladder };

static Timing timing_of(const Row *row, uint64_t n, bool to_scalar, bool cold, bool graph) {
    double time = (to_scalar ? row->scalar : row->alone) * (cold ? 1 : 0.75) + (graph ? 0 : 2);
    return (Timing){.kernel = row->kernel,
                    .machine = "NVIDIA H200",
                    .measured = "2026-11-21T15:00:00Z",
                    .n = n,
                    .dtype = "int",
                    .op = "sum",
                    .threads = 256,
                    .to_scalar = to_scalar,
                    .graph = graph,
                    .cold = cold,
                    .samples = 30,
                    .median = time,
                    .low = time * 0.99,
                    .high = time * 1.1,
                    .gigabytes_per_second = (double)n * 4 / time * 1e-3,
                    .share_of_read = row->share,
                    .share_of_copy = row->share * 1.1,
                    .share_of_peak = row->share * 0.9,
                    .clock = 1980,
                    .temperature = NAN};
}

static void add(Measurements *to, const Row *row, uint64_t n) {
    for (int way = 0; way < 8; way++) {
        bool to_scalar = way & 1;
        if (!(to_scalar ? row->scalar > 0 : row->alone > 0)) continue;
        Timing timing = timing_of(row, n, to_scalar, way & 2, way & 4);
        measured_add_timing(to, &timing);
    }
}

/* Two sizes of the ladder, not in its order, and another type; `cooperative` is never in a graph, and one
 * kernel was refused. */
static Measurements record(void) {
    Measurements list = {0};
    static const Row cooperative = {"cooperative", 7, 7, 0.1};
    for (int i = 0; i < LADDER; i++) {
        Row large = ladder[i];
        large.alone *= 1000;
        large.scalar *= 1000;
        add(&list, &large, 1 << 30);
        add(&list, &ladder[i], 1 << 20);
    }
    for (int cold = 0; cold < 2; cold++)
        for (int to_scalar = 0; to_scalar < 2; to_scalar++) {
            Timing timing = timing_of(&cooperative, 1 << 20, to_scalar, cold, false);
            measured_add_timing(&list, &timing);
        }
    Timing other = timing_of(&ladder[0], 1 << 20, true, true, true);
    other.dtype = "double";
    other.median = 77;
    measured_add_timing(&list, &other);
    Timing refused = timing_of(&ladder[0], 1 << 20, true, true, true);
    refused.kernel = "redux";
    refused.samples = 0;
    refused.note = "it needs a GPU of 8.0";
    measured_add_timing(&list, &refused);
    return list;
}

/* This machine's CPU. */
static Measurements measure_cpu(void) {
    Measurements list = {0};
    static const Row rows[] = {{"cpu, 1 thread", 0, 310, NAN}, {"cpu, 16 threads", 0, 44, NAN}};
    for (int i = 0; i < 2; i++) {
        Timing timing = timing_of(&rows[i], 1 << 20, true, false, false);
        timing.machine = "AMD EPYC";
        timing.share_of_read = timing.share_of_copy = timing.share_of_peak = timing.clock = NAN;
        timing.threads = i ? 16 : 1;
        measured_add_timing(&list, &timing);
    }
    return list;
}

typedef struct Setting { /* of a drawing */
    const char *kernel, *keys;
    uint64_t n;
    bool recorded, cpu, live; /* which lists exist */
    int columns, rows;
    bool ascii;
} Setting;

static Canvas *draw_timings(Setting setting) {
    Sample *sample = sample_new(64);
    Measurements recorded = record(), cpu = measure_cpu(), live = record();
    SceneTimings timings = {.failure = "there is no GPU"};
    StepContext context;
    View view;
    Key key;
    PaneHead head = {.note_role = ROLE_DIM, .columns = setting.columns - 4};
    Canvas *canvas = canvas_new(setting.columns, setting.rows, setting.ascii);
    if (setting.recorded) timings.recorded = &recorded;
    if (setting.cpu) timings.live = &cpu;
    if (setting.live) timings.live = &live;
    if (setting.live) strcpy(timings.measuring, "shuffle");
    sample->scene.borrowed.timings = &timings;
    sample->scene.identity.kernel = setting.kernel;
    sample->scene.identity.row = catalog_find("strided", NULL);
    sample->scene.identity.n = setting.n;
    view_init(&view);
    for (const char *keys = setting.keys; keys && *keys;) {
        assert_true(keys_read(&keys, &key, NULL));
        input_press(&view, &sample->scene, keys_decode(key));
    }
    assert_true(step_context_init(&context, &sample->scene, &view));
    pane_timings.head(&context, &head);
    Rectangle area = {0, 0, setting.columns, setting.rows};
    pane_timings.draw(&context, canvas,
                      canvas_box(canvas, area, ROLE_TITLE, head.title, head.note_role, head.note));
    sample_free(sample);
    measured_done(&recorded);
    measured_done(&cpu);
    measured_done(&live);
    return canvas;
}

static void check(const char *name, Setting setting) {
    golden_check_canvas(name, draw_timings(setting));
}

#define SMALL 1 << 20

static void goldens(void **state) {
    (void)state;
    check("timings_nothing", (Setting){"strided", "", SMALL, false, false, false, 46, 5, false});
    check("timings_narrow", (Setting){"strided", "", SMALL, true, true, false, 46, 5, false});
    check("timings_column", (Setting){"sequential", "", SMALL, true, true, false, 60, 17, false});
    check("timings_warm_alone", (Setting){"sequential", "yyY", SMALL, true, true, false, 60, 17, false});
    check("timings_calls", (Setting){"sequential", "yyy", SMALL, true, true, false, 60, 17, false});
    check("timings_80", (Setting){"first_add", "", SMALL, true, true, false, 80, 12, false});
    check("timings_wide", (Setting){"first_add", "", SMALL, true, true, false, 190, 18, false});
    check("timings_ascii", (Setting){"strided", "", SMALL, true, true, false, 100, 14, true});
    check("timings_nearest", (Setting){"strided", "", 300000000, true, false, false, 60, 12, false});
    check("timings_live", (Setting){"strided", "", SMALL, true, false, true, 60, 17, false});
    check("timings_cpu", (Setting){"strided", "", SMALL, false, true, false, 60, 8, false});
}

/* ---- the contents of the rows -------------------------------------------------------------------------- */

static Sample *sample_with(SceneTimings *timings, const Measurements *recorded, const Measurements *live,
                           uint64_t n) {
    Sample *sample = sample_new(64);
    *timings = (SceneTimings){.recorded = recorded, .live = live};
    sample->scene.borrowed.timings = timings;
    sample->scene.identity.kernel = "strided";
    sample->scene.identity.row = catalog_find("strided", NULL);
    sample->scene.identity.n = n;
    return sample;
}

static void rows_are_in_the_ladders_order(void **state) {
    static const char *const expected[] = {
        "atomic",  "interleaved",        "strided", "sequential",  "first_add",
        "shuffle", "vectorized_shuffle", "redux",   "cooperative", "cub"};
    SceneTimings timings;
    Measurements list = record();
    Times times;
    (void)state;
    Sample *sample = sample_with(&timings, &list, NULL, SMALL);
    times_gather(&times, &sample->scene);
    assert_int_equal(times.count, sizeof expected / sizeof *expected);
    for (int i = 0; i < times.count; i++) assert_string_equal(times.rows[i].kernel, expected[i]);
    assert_int_equal(times.kernel_count, times.count - 1);
    sample_free(sample);
    measured_done(&list);
}

/* Kernels come from one list or the other; a live list of another size is not compared with this run. */
static void recorded_and_live_are_never_mixed(void **state) {
    SceneTimings timings;
    Measurements recorded = record(), live = {0};
    Times times;
    (void)state;
    Timing one = timing_of(&ladder[0], SMALL, true, true, true);
    one.median = 99;
    measured_add_timing(&live, &one);
    Sample *sample = sample_with(&timings, &recorded, &live, SMALL);
    times_gather(&times, &sample->scene);
    assert_true(times.is_live);
    assert_int_equal(times.kernel_count, 1);
    assert_true(times_of(&times.rows[0], true, TIMES_COLD)->median > 98);
    sample->scene.identity.n = 1 << 19;
    times_gather(&times, &sample->scene);
    assert_false(times.is_live);
    assert_true(times.kernel_count > 1);
    assert_int_equal(times.n, SMALL); /* the nearest */
    sample_free(sample);
    measured_done(&recorded);
    measured_done(&live);
}

static void types_are_never_mixed(void **state) {
    SceneTimings timings;
    Measurements list = record();
    Times times;
    (void)state;
    Sample *sample = sample_with(&timings, &list, NULL, SMALL);
    sample->scene.identity.dtype = "double";
    times_gather(&times, &sample->scene);
    assert_int_equal(times.count, 1);
    assert_true(times_of(&times.rows[0], true, TIMES_COLD)->median > 76);
    sample->scene.identity.dtype = "half";
    times_gather(&times, &sample->scene);
    assert_int_equal(times.count, 0);
    assert_null(times.sample);
    sample_free(sample);
    measured_done(&list);
}

/* A kernel that ends with many numbers only has a time alone: it is shown, marked as timed in another way. */
static void a_kernel_without_a_scalar_is_shown_alone(void **state) {
    SceneTimings timings;
    Measurements list = record();
    Times times;
    char line[128];
    (void)state;
    static const Row rows = {"row_sum", 3.5, NAN, 0.3};
    Timing alone = timing_of(&rows, SMALL, false, true, true);
    measured_add_timing(&list, &alone);
    Sample *sample = sample_with(&timings, &list, NULL, SMALL);
    sample->scene.identity.kernel = "row_sum";
    times_gather(&times, &sample->scene);
    const TimesRow *row = NULL;
    for (int i = 0; i < times.kernel_count; i++)
        if (!strcmp(times.rows[i].kernel, "row_sum")) row = &times.rows[i];
    assert_non_null(row);
    assert_null(times_of(row, true, TIMES_COLD));
    assert_true(times_shown(row, true, TIMES_COLD)->median == 3.5);
    times_print_line(&sample->scene, true, TIMES_COLD, 72, line, sizeof line);
    assert_string_equal(line, "3.5 us (H200, recorded)"); /* not comparable with the ladder's */
    sample_free(sample);
    measured_done(&list);
}

static void a_kernel_that_was_not_timed_has_a_row(void **state) {
    SceneTimings timings;
    Measurements list = record();
    Times times;
    char line[128];
    (void)state;
    Sample *sample = sample_with(&timings, &list, NULL, SMALL);
    times_gather(&times, &sample->scene);
    int count = times.count;
    sample->scene.identity.kernel = "bug_missing_sync";
    times_gather(&times, &sample->scene);
    assert_int_equal(times.count, count + 1);
    assert_string_equal(times.rows[times.kernel_count - 1].kernel, "bug_missing_sync");
    assert_null(times_shown(&times.rows[times.kernel_count - 1], true, TIMES_COLD));
    times_print_line(&sample->scene, true, TIMES_COLD, 72, line, sizeof line);
    assert_string_equal(line, "not measured on a GPU; --bench times kernels of the catalogue");
    sample->scene.identity.kernel = "one_of_my_own";
    sample->scene.identity.row = NULL;
    times_print_line(&sample->scene, true, TIMES_COLD, 72, line, sizeof line);
    assert_string_equal(line, "not measured on a GPU; --bench times kernels of the catalogue");
    sample_free(sample);
    measured_done(&list);
}

static void only_the_runs_block_size_is_shown(void **state) {
    char line[160];
    SceneTimings timings;
    Measurements list = {0};
    CatalogRun run = {.block = 64};
    Times times;
    (void)state;
    static const uint32_t threads[] = {256, 64, 1024};
    for (int i = 0; i < 3; i++) {
        Timing timing = timing_of(&ladder[0], SMALL, true, true, true);
        timing.threads = threads[i];
        measured_add_timing(&list, &timing);
    }
    Sample *sample = sample_with(&timings, &list, NULL, SMALL);
    sample->scene.identity.run = &run;
    times_gather(&times, &sample->scene);
    assert_int_equal(times_of(&times.rows[0], true, TIMES_COLD)->threads, 64);
    run.block = 512;
    times_gather(&times, &sample->scene);
    assert_null(times_of(&times.rows[0], true, TIMES_COLD));
    times_print_line(&sample->scene, true, TIMES_COLD, 72, line, sizeof line);
    assert_string_equal(line, "not measured with block 512; --bench times kernels of the catalogue");
    sample_free(sample);
    measured_done(&list);
}

/* ---- bars ---------------------------------------------------------------------------------------------- */

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

static void the_longest_bar_is_the_fastest(void **state) {
    (void)state;
    Canvas *canvas = draw_timings((Setting){"strided", "", SMALL, true, false, false, 120, 17, false});
    int longest = bar_length(canvas, "vectorized_shuffle", 0x25A0);
    assert_true(longest > 15);
    assert_int_equal(bar_length(canvas, "strided", 0x2588), (int)(longest * 3.1 / 12.2 + 0.5));
    assert_int_equal(bar_length(canvas, "sequential", 0x25A0), (int)(longest * 3.1 / 11 + 0.5));
    assert_int_equal(bar_length(canvas, "atomic", 0x25A0), 1); /* too short for its share, but drawn */
    canvas_free(canvas);
}

/* A lab, and a kernel of the user's, do other work than the ladder. */
static void unlike_kernels_are_not_compared(void **state) {
    SceneTimings timings;
    Measurements list = record();
    Times times;
    (void)state;
    Timing own = timing_of(&ladder[0], SMALL, false, true, true);
    own.kernel = "lab_bank_stride";
    measured_add_timing(&list, &own);
    Sample *sample = sample_with(&timings, &list, NULL, SMALL);
    sample->scene.identity.kernel = "lab_bank_stride";
    sample->scene.identity.row = catalog_find("lab_bank_stride", NULL);
    times_gather(&times, &sample->scene);
    assert_int_equal(times.count, 1);
    assert_string_equal(times.rows[0].kernel, "lab_bank_stride");
    sample->scene.identity.row = NULL; /* a file with a kernel of this name */
    times_gather(&times, &sample->scene);
    assert_int_equal(times.count, 0);
    sample_free(sample);
    measured_done(&list);
}

static void without_a_table_there_are_no_numbers(void **state) {
    (void)state;
    Canvas *canvas = draw_timings((Setting){"strided", "", SMALL, false, false, false, 60, 8, false});
    for (int i = 0; i < canvas->columns * canvas->rows; i++)
        assert_false(canvas->cells[i].glyph >= '0' && canvas->cells[i].glyph <= '9');
    canvas_free(canvas);
}

static void every_size_can_be_drawn(void **state) {
    (void)state;
    for (int columns = 6; columns < 200; columns += 9)
        for (int rows = 3; rows < 20; rows += 2) {
            canvas_free(draw_timings(
                (Setting){"no_such_kernel", "yy", SMALL, true, true, false, columns, rows, false}));
            canvas_free(
                draw_timings((Setting){"atomic", "YY", SMALL, true, false, true, columns, rows, false}));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens),
        cmocka_unit_test(rows_are_in_the_ladders_order),
        cmocka_unit_test(recorded_and_live_are_never_mixed),
        cmocka_unit_test(types_are_never_mixed),
        cmocka_unit_test(a_kernel_without_a_scalar_is_shown_alone),
        cmocka_unit_test(a_kernel_that_was_not_timed_has_a_row),
        cmocka_unit_test(only_the_runs_block_size_is_shown),
        cmocka_unit_test(the_longest_bar_is_the_fastest),
        cmocka_unit_test(unlike_kernels_are_not_compared),
        cmocka_unit_test(without_a_table_there_are_no_numbers),
        cmocka_unit_test(every_size_can_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
