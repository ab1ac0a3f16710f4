/* The grid on the machine: a timeline by hand, and kernels as recorded on an H200 or, without such a
 * recording, by the emulator in the driver's place (tests/data/grid). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "golden.h"
#include "stage.h"
#include "trace/grid_file.h"
#include "tui/frame.h"
#include <stdlib.h>
#include <unistd.h>

static SessionGrid shown; /* what the scene returns */

static const SessionGrid *answer(Session *session) {
    (void)session;
    return &shown;
}

static void forget(void) {
    grid_timeline_free(shown.timeline);
    shown = (SessionGrid){0};
}

static Stage *open_stage(const char *kernel, const char *keys) {
    Stage *stage = stage_open_kernel(kernel);
    stage->scene->questions.grid = answer;
    stage_press(stage, keys);
    return stage;
}

/* ---- by hand ------------------------------------------------------------------------------------------- */

/* Two launches on 12 multiprocessors that hold 2 blocks each: 40 blocks of slightly over 1 us, each
 * multiprocessor slower than the one before; then 3 blocks. */
static void make_two_launches(void) {
    enum { MULTIPROCESSORS = 12, FIRST = 40, SECOND = 3 };
    GridTimeline *timeline = shown.timeline = grid_timeline_new(2);
    uint64_t free_at[MULTIPROCESSORS][2] = {{0}};
    timeline->of.kernel = "two_stage";
    timeline->of.machine = "NVIDIA Example";
    timeline->of.measured = "2026-11-22T10:00:00Z";
    timeline->of.dtype = "int";
    timeline->of.n = 10240;
    timeline->multiprocessors = MULTIPROCESSORS;
    timeline->overhead = 0.034;
    static const uint64_t counts[2] = {FIRST, SECOND};
    for (int i = 0; i < 2; i++) {
        GridLaunch *launch = &timeline->launches[i];
        *launch = (GridLaunch){.entry = "stage",
                               .grid = {(uint32_t)counts[i], 1, 1},
                               .block = {256, 1, 1},
                               .capacity = 2,
                               .plain_capacity = i ? 3 : 2,
                               .block_count = counts[i]};
        launch->blocks = arena_new(&timeline->arena, (size_t)counts[i] * sizeof *launch->blocks);
    }
    for (int b = 0; b < FIRST; b++) { /* to the first place that becomes free */
        int best = 0;
        for (int k = 1; k < 2 * MULTIPROCESSORS; k++)
            if (free_at[k % MULTIPROCESSORS][k / MULTIPROCESSORS] <
                free_at[best % MULTIPROCESSORS][best / MULTIPROCESSORS])
                best = k;
        uint64_t *at = &free_at[best % MULTIPROCESSORS][best / MULTIPROCESSORS];
        uint64_t end = *at + 1024 + 32 * (uint64_t)(best % MULTIPROCESSORS);
        timeline->launches[0].blocks[b] = (GridBlock){*at, end, (uint32_t)(best % MULTIPROCESSORS), 0};
        *at = end;
    }
    for (uint32_t b = 0; b < SECOND; b++)
        timeline->launches[1].blocks[b] = (GridBlock){3520, 4480 + 32 * b, b, 0};
    grid_timeline_finish(timeline);
}

static void two_launches_in_every_size(void **state) {
    (void)state;
    Stage *stage = open_stage("two_stage", "#");
    make_two_launches();
    stage_check(stage, "grid_hand_80x24", 80, 24, false);
    stage_check(stage, "grid_hand_120x40", 120, 40, false);
    stage_check(stage, "grid_hand_200x60", 200, 60, false);
    stage_check(stage, "grid_hand_ascii", 80, 24, true);
    stage_press(stage, "z");
    stage_check(stage, "grid_hand_whole", 100, 40, false);
    grid_timeline_fold(shown.timeline, 1); /* looks the same, without the block */
    stage_check(stage, "grid_hand_folded", 100, 40, false);
    stage_press(stage, "?");
    stage_check(stage, "grid_help", 120, 60, false);
    stage_free(stage);
    forget();
}

/* Every size is drawn, and # restores the picture, behind the warps in time. */
static void any_size_and_back(void **state) {
    (void)state;
    Stage *stage = open_stage("two_stage", "");
    char *before = stage_text(stage, 120, 40);
    make_two_launches();
    stage_press(stage, "#");
    for (int columns = 1; columns < 130; columns += 3)
        for (int rows = 1; rows < 50; rows += 2) canvas_free(stage_draw(stage, columns, rows));
    stage_press(stage, "##");
    char *after = stage_text(stage, 120, 40);
    assert_string_equal(after, before);
    stage_press(stage, "#r"); /* the next picture of the cycle */
    assert_true(stage_view(stage)->display.picture < SHOWN_PICTURE_COUNT);
    free(before);
    free(after);
    stage_free(stage);
    forget();
}

/* The block of the view is marked if the timeline's launches are those of the run: 4 blocks here, and 40
 * there. */
static void another_geometry_has_no_block(void **state) {
    (void)state;
    Stage *stage = open_stage("two_stage", "#z");
    make_two_launches();
    char *text = stage_text(stage, 120, 40);
    assert_null(strstr(text, "block 0: multiprocessor"));
    free(text);
    const TraceLaunch *launch = session_trace(stage->session)->launches[0];
    memcpy(shown.timeline->launches[0].grid, launch->grid, sizeof launch->grid);
    text = stage_text(stage, 120, 40);
    assert_non_null(strstr(text, "block 0: multiprocessor 0, 0 ns to 1.02 us"));
    free(text);
    stage_free(stage);
    forget();
}

static void what_is_said_without_one(void **state) {
    (void)state;
    Stage *stage = open_stage("two_stage", "#");
    char *text = stage_text(stage, 120, 40);
    assert_non_null(strstr(text, "Not known: nothing is recorded for this kernel."));
    free(text);
    shown.why = "no GPU";
    text = stage_text(stage, 120, 40);
    assert_non_null(strstr(text, "Not known: no GPU."));
    free(text);
    stage_free(stage);
    forget();
}

/* ---- the catalogue ------------------------------------------------------------------------------------- */

static void keep(void *context, GridTimeline *timeline) {
    Session *session = context;
    bool is_better = !shown.timeline || timeline->of.n == session_n(session);
    grid_timeline_free(is_better ? shown.timeline : timeline);
    if (is_better) shown.timeline = timeline;
}

static void load(const char *kernel, Session *session) {
    char path[256];
    Error error = {0};
    snprintf(path, sizeof path, "assets/h200/grid/%s.tsv", kernel);
    if (access(path, R_OK) != 0) snprintf(path, sizeof path, "tests/data/grid/emulated_%s.tsv", kernel);
    if (!grid_file_read(path, keep, (void *)(uintptr_t)session, &error))
        fail_msg("%s, line %d: %s", path, error.line, error.message);
    assert_non_null(shown.timeline);
    assert_string_equal(shown.timeline->of.kernel, kernel);
}

static void kernels_of_the_catalogue(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "multi_add",  "grid_stride",
                                          "two_stage",   "last_block", "cooperative"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char name[64];
        Stage *stage = open_stage(kernels[i], "#z");
        load(kernels[i], stage->session);
        snprintf(name, sizeof name, "grid_%s", kernels[i]);
        stage_check(stage, name, 120, 40, false);
        stage_free(stage);
        forget();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_launches_in_every_size),    cmocka_unit_test(any_size_and_back),
        cmocka_unit_test(another_geometry_has_no_block), cmocka_unit_test(what_is_said_without_one),
        cmocka_unit_test(kernels_of_the_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
