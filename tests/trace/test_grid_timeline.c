/* Grid timelines: figures by hand, residency in columns, folding, files and damaged files. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/grid_file.h"
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MULTIPROCESSORS = 4 };

/* Multiprocessors 0 and 1, of 4: seven blocks, two at once.
 *
 *   0   AAAA.CCCC
 *       BBBBBBEEE
 *   1   DDDDDDFF
 *       ....GG
 */
static const GridBlock seven[] = {{1000, 1400, 0, 0}, {1000, 1600, 0, 0}, {1500, 1900, 0, 0},
                                  {1000, 1600, 1, 0}, {1600, 1900, 0, 0}, {1600, 1800, 1, 0},
                                  {1400, 1600, 1, 0}};
enum { SEVEN = sizeof seven / sizeof *seven };

static GridTimeline *make_timeline(void) {
    GridTimeline *timeline = grid_timeline_new(2);
    Arena *arena = &timeline->arena;
    timeline->of.kernel = "two_stage";
    timeline->of.dtype = "int";
    timeline->of.op = "sum";
    timeline->of.n = 1 << 20;
    timeline->of.machine = "NVIDIA H200";
    timeline->of.driver = "580.159.04, CUDA 13.0";
    timeline->of.measured = "2026-11-22T10:00:00Z";
    timeline->multiprocessors = MULTIPROCESSORS;
    timeline->overhead = 0.0525;
    GridLaunch *first = &timeline->launches[0], *second = &timeline->launches[1];
    *first = (GridLaunch){.entry = "stage<int, Sum>",
                          .grid = {7, 1, 1},
                          .block = {256, 1, 1},
                          .capacity = 2,
                          .plain_capacity = 3,
                          .block_count = SEVEN,
                          .blocks = arena_copy(arena, seven, sizeof seven)};
    static const GridBlock one = {2400, 2700, 3, 0};
    *second = (GridLaunch){.entry = "stage<int, Sum>",
                           .grid = {1, 1, 1},
                           .block = {64, 1, 1},
                           .cooperative = true,
                           .capacity = 8,
                           .plain_capacity = 8,
                           .block_count = 1,
                           .blocks = arena_copy(arena, &one, sizeof one)};
    grid_timeline_finish(timeline);
    return timeline;
}

/* ---- figures ------------------------------------------------------------------------------------------- */

static void figures_by_hand(void **state) {
    (void)state;
    GridTimeline *timeline = make_timeline();
    const GridFigures *first = &timeline->launches[0].figures, *second = &timeline->launches[1].figures;
    assert_int_equal(first->start, 0); /* 1000 before */
    assert_int_equal(first->end, 900);
    assert_int_equal(first->used_multiprocessors, 2);
    assert_int_equal(first->most_resident, 2); /* a block that ends at 1600 makes room for one that starts */
    assert_int_equal(first->tail, 100);        /* multiprocessor 1 ends at 800 */
    assert_true(fabs(first->idle - (1 - (900.0 + 800) / (4 * 900))) < 1e-12);
    assert_true(fabs(first->mean_block - (400 + 600 + 400 + 600 + 300 + 200 + 200) / 7.0) < 1e-9);
    assert_true(first->longest_block == 600);
    assert_true(second->start == 1400 && second->end == 1700 && second->tail == 0);
    assert_true(fabs(second->idle - 0.75) < 1e-12);
    assert_int_equal(timeline->granularity, 100);
    assert_int_equal(grid_timeline_end(timeline), 1700);
    assert_int_equal(grid_gap(timeline, 0), 0);
    assert_int_equal(grid_gap(timeline, 1), 500);
    assert_true(grid_waves(timeline, 0) == 7.0 / (2 * MULTIPROCESSORS));
    timeline->launches[0].capacity = 0;
    assert_true(isnan(grid_waves(timeline, 0)));
    grid_timeline_free(timeline);
}

/* A multiprocessor without blocks for some time is idle for that time. */
static void pauses_are_idle(void **state) {
    (void)state;
    static const GridBlock blocks[] = {{0, 10, 0, 0}, {30, 40, 0, 0}, {0, 0, 1, 0}};
    GridFigures figures = grid_figures(blocks, 3, 2);
    assert_true(fabs(figures.idle - 0.75) < 1e-12);
    assert_int_equal(figures.tail, 40);
    assert_int_equal(figures.used_multiprocessors, 2);
    figures = grid_figures(&blocks[2], 1, 2); /* shorter than a tick of the timer */
    assert_true(isnan(figures.idle));
    figures = grid_figures(NULL, 0, 2);
    assert_true(isnan(figures.idle) && isnan(figures.mean_block) && figures.end == 0);
}

/* ---- residency ----------------------------------------------------------------------------------------- */

static void check_residency(const GridTimeline *timeline, const double expected[MULTIPROCESSORS][3],
                            double within) {
    double resident[MULTIPROCESSORS * 3];
    grid_residency(timeline, 0, 0, 900, 3, resident);
    for (int i = 0; i < MULTIPROCESSORS * 3; i++)
        if (fabs(resident[i] - expected[i / 3][i % 3]) > within)
            fail_msg("multiprocessor %d, column %d: %g", i / 3, i % 3, resident[i]);
}

static const double thirds[MULTIPROCESSORS][3] = {{2, 5.0 / 3, 2}, {1, 5.0 / 3, 2.0 / 3}};

static void residency_is_a_mean(void **state) {
    (void)state;
    GridTimeline *timeline = make_timeline();
    check_residency(timeline, thirds, 1e-9);
    double resident[MULTIPROCESSORS];
    grid_residency(timeline, 1, 0, 900, 1, resident);
    for (int i = 0; i < MULTIPROCESSORS; i++) assert_true(resident[i] == 0);
    grid_residency(timeline, 0, 900, 900, 1, resident);
    for (int i = 0; i < MULTIPROCESSORS; i++) assert_true(resident[i] == 0);
    grid_timeline_free(timeline);
}

/* Bins are 10 ns here; figures stay the same. */
static void folding_keeps_figures(void **state) {
    (void)state;
    GridTimeline *timeline = make_timeline();
    grid_timeline_fold(timeline, SEVEN);
    assert_non_null(timeline->launches[0].blocks);
    grid_timeline_fold(timeline, SEVEN - 1);
    assert_null(timeline->launches[0].blocks);
    assert_non_null(timeline->launches[1].blocks);
    assert_int_equal(timeline->launches[0].bin_ns, 10);
    assert_int_equal(timeline->launches[0].bins, 90);
    assert_int_equal(timeline->launches[0].levels[0], 4);       /* two blocks, in halves */
    assert_int_equal(timeline->launches[0].levels[90 + 85], 0); /* multiprocessor 1 is done */
    assert_int_equal(timeline->launches[0].figures.tail, 100);
    check_residency(timeline, thirds, 1e-9);
    grid_timeline_free(timeline);
}

/* ---- files --------------------------------------------------------------------------------------------- */

enum { MOST_TAKEN = 8 }; /* types and sizes of a kernel */

typedef struct Taken {
    GridTimeline *timelines[MOST_TAKEN];
    int count;
} Taken;

static void take(void *context, GridTimeline *timeline) {
    Taken *taken = context;
    assert_true(taken->count < MOST_TAKEN);
    taken->timelines[taken->count++] = timeline;
}

static bool read_text(const char *text, Taken *taken, Error *error) {
    char path[] = "/tmp/redviz_grid_XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    assert_int_equal(write(handle, text, strlen(text)), strlen(text));
    close(handle);
    bool good = grid_file_read(path, take, taken, error);
    unlink(path);
    return good;
}

static void free_taken(Taken *taken) {
    for (int i = 0; i < taken->count; i++) grid_timeline_free(taken->timelines[i]);
    taken->count = 0;
}

/* Written, read and written again, the text is the same; twice in one file, it gives two timelines. */
static void round_trip(uint64_t most) {
    GridTimeline *timeline = make_timeline();
    Text text = {0}, again = {0};
    Taken taken = {0};
    Error error = {0};
    grid_timeline_fold(timeline, most);
    text_add(&text, "# recorded\n");
    grid_file_write(timeline, &text);
    grid_file_write(timeline, &text);
    if (!read_text(text_string(&text), &taken, &error)) fail_msg("line %d: %s", error.line, error.message);
    assert_int_equal(taken.count, 2);
    text_add(&again, "# recorded\n");
    for (int i = 0; i < 2; i++) grid_file_write(taken.timelines[i], &again);
    assert_string_equal(text_string(&again), text_string(&text));
    const GridTimeline *read = taken.timelines[1];
    assert_string_equal(read->of.machine, "NVIDIA H200");
    assert_true(read->of.n == 1 << 20 && read->overhead == 0.0525 && read->launches[1].cooperative);
    assert_int_equal(read->launches[0].figures.tail, 100);
    assert_true(grid_same_launch(&read->launches[0], (uint32_t[]){7, 1, 1}, (uint32_t[]){256, 1, 1}));
    assert_false(grid_same_launch(&read->launches[0], (uint32_t[]){7, 2, 1}, (uint32_t[]){256, 1, 1}));
    check_residency(read, thirds, 1e-9);
    free_taken(&taken);
    grid_timeline_free(timeline);
    text_done(&text);
    text_done(&again);
}

static void files_keep_blocks_and_bins(void **state) {
    (void)state;
    round_trip(SEVEN);
    round_trip(1);
}

/* The blocks in a file are checked. */
static void figures_of_blocks_are_computed(void **state) {
    (void)state;
    GridTimeline *timeline = make_timeline();
    Text text = {0};
    Taken taken = {0};
    Error error = {0};
    timeline->launches[0].figures.tail = 77;
    timeline->launches[0].figures.idle = 0.5;
    grid_file_write(timeline, &text);
    assert_true(read_text(text_string(&text), &taken, &error));
    assert_int_equal(taken.timelines[0]->launches[0].figures.tail, 100);
    free_taken(&taken);
    grid_timeline_free(timeline);
    text_done(&text);
}

#define GRID   "grid\tk\t64\tint\tsum\tM\t-\t2026\t4\t32\t-\t1\n"
#define LAUNCH "launch\te\t2\t1\t1\t32\t1\t1\t-\t8\t8\t2\t0\t90\t2\t1\t0\t0.5\t45\t90\n"

static void damaged_files(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        {"grid\tk\n", 1, "'grid' has 12 columns, not 2"},
        {"grid\tk\t-1\tint\tsum\tM\t-\t2026\t4\t32\t-\t1\n", 1, "column 3 is '-1'"},
        {"grid\tk\t64\tint\tsum\tM\t-\t2026\t0\t32\t-\t1\n", 1,
         "column 9 is '0', not a whole number from 1 to 1024"},
        {"grid\tk\t64\tint\tsum\tM\t-\t2026\t99999999999\t32\t-\t1\n", 1, "column 9"},
        {"grid\tk\t64\tint\tsum\tM\t-\t2026\t4\t32\tnan\t1\n", 1, "column 11 is 'nan'"},
        {"grid\tk\t64\tint\tsum\tM\t-\t2026\t4\t32\t-\t65\n", 1, "column 12"},
        {LAUNCH, 1, "there is no grid above"},
        {GRID "launch\te\n", 2, "'launch' has 20 columns, not 2"},
        {GRID LAUNCH LAUNCH, 3, "there is no grid above"},
        {GRID "launch\te\t3\t1\t1\t32\t1\t1\t-\t8\t8\t2\t0\t90\t2\t1\t0\t0.5\t45\t90\n", 2,
         "do not give 2 blocks"},
        {GRID "launch\te\t2\t1\t1\t32\t1\t1\t-\t8\t8\t2\t99\t90\t2\t1\t0\t0.5\t45\t90\n", 2, "column 14"},
        {GRID "launch\te\t2\t1\t1\t32\t1\t1\t-\t8\t8\t2\t0\t90\t5\t1\t0\t0.5\t45\t90\n", 2, "column 15"},
        {GRID "launch\te\t2\t1\t1\t32\t1\t1\t-\t8\t8\t2\t0\t90\t2\t1\t91\t0.5\t45\t90\n", 2, "column 17"},
        {GRID "launch\te\t2\t1\t1\t32\t1\t1\t-\t8\t8\t2\t0\t90\t2\t1\t0\t1.5\t45\t90\n", 2, "column 18"},
        {GRID LAUNCH, 2, "has no blocks"},
        {GRID, 1, "has 0 of its 1 launches"},
        {GRID LAUNCH "b\t0,0,1\n", 3, "no blocks above"},
        {GRID LAUNCH "blocks\t0\n", 3, "column 2 is '0'"},
        {GRID LAUNCH "blocks\t32\nb\t0,0,1\n", 4, "has 1 of its 2 blocks"},
        {GRID LAUNCH "blocks\t32\nb\t0,0,1 1,0,1 2,0,1\n", 4, "only 2 blocks"},
        {GRID LAUNCH "blocks\t32\nb\t4,0,1\n", 4, "'4,0,1' is not"},
        {GRID LAUNCH "blocks\t32\nb\t0,-1,1\n", 4, "'0,-1,1' is not"},
        {GRID LAUNCH "blocks\t32\nb\t0,0,-1\n", 4, "'0,0,-1' is not"},
        {GRID LAUNCH "blocks\t32\nb\t0,0\n", 4, "'0,0' is not"},
        {GRID LAUNCH "blocks\t32\nb\t0,9223372036854775807,1\n", 4, "is not"},
        {GRID LAUNCH "blocks\t32\nb\t0,0,18446744073709551615\n", 4, "is not"},
        {GRID LAUNCH "blocks\t32\nbins\t10\t4\n", 4, "no launch above"},
        {GRID LAUNCH "bins\t10\t0\n", 3, "column 3"},
        {GRID LAUNCH "bins\t10\t4\nm\t0\t012\n", 4, "a multiprocessor has 4 bins"},
        {GRID LAUNCH "bins\t10\t4\nm\t4\t0123\n", 4, "column 2 is '4'"},
        {GRID LAUNCH "bins\t10\t4\nm\t0\t01?3\n", 4, "'?' is no level"},
        {GRID LAUNCH "m\t0\t0123\n", 3, "no bins above"},
        {GRID LAUNCH "blocks\t32\nb\t0,0,1\t1,0,1\n", 4, "'b' has 2 columns, not 3"},
        {GRID LAUNCH "bins\t10\n", 3, "'bins' has 3 columns, not 2"},
        {"hello\n", 1, "'hello' is not a kind of line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Taken taken = {0};
        Error error = {0};
        bool good = read_text(cases[i].text, &taken, &error);
        if (good || error.line != cases[i].line || !strstr(error.message, cases[i].says))
            fail_msg("case %zu: line %d: %s", i, error.line, good ? "is not refused" : error.message);
        free_taken(&taken);
    }
}

/* Any changed byte of a valid file gives another timeline or an error, never a crash. */
static void every_byte_may_be_wrong(void **state) {
    (void)state;
    GridTimeline *timeline = make_timeline();
    Text text = {0};
    grid_timeline_fold(timeline, 1);
    grid_file_write(timeline, &text);
    grid_timeline_free(timeline);
    for (size_t i = 0; i < text.length; i += 3) {
        static const char others[] = "\t\n9-,z";
        Taken taken = {0};
        Error error = {0};
        char before = text.data[i];
        text.data[i] = others[i / 3 % (sizeof others - 1)];
        bool good = read_text(text.data, &taken, &error);
        assert_true(good || *error.message);
        double resident[GRID_MOST_MULTIPROCESSORS];
        for (int k = 0; k < taken.count; k++)
            grid_residency(taken.timelines[k], 0, 0, grid_timeline_end(taken.timelines[k]), 1, resident);
        free_taken(&taken);
        text.data[i] = before;
    }
    text_done(&text);
}

/* Recorded files, named after their kernel; and those that tests draw without a recording. */
static void shipped_files_can_be_read(void **state) {
    (void)state;
    static const char *const patterns[] = {"assets/*/grid/*.tsv", "tests/data/grid/emulated_*.tsv"};
    glob_t files = {0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
    assert_true(files.gl_pathc >= 6);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        Taken taken = {0};
        Error error = {0};
        char name[128];
        if (!grid_file_read(files.gl_pathv[i], take, &taken, &error))
            fail_msg("%s, line %d: %s", files.gl_pathv[i], error.line, error.message);
        assert_true(taken.count > 0);
        for (int k = 0; k < taken.count; k++) {
            snprintf(name, sizeof name, "%s.tsv", taken.timelines[k]->of.kernel);
            if (!strstr(files.gl_pathv[i], name)) fail_msg("%s has %s", files.gl_pathv[i], name);
        }
        free_taken(&taken);
    }
    globfree(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(pauses_are_idle),
        cmocka_unit_test(residency_is_a_mean),
        cmocka_unit_test(folding_keeps_figures),
        cmocka_unit_test(files_keep_blocks_and_bins),
        cmocka_unit_test(figures_of_blocks_are_computed),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(every_byte_may_be_wrong),
        cmocka_unit_test(shipped_files_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
