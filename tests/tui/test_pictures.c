/* Pictures: one level of the reduction as boxes, as exact text: for each rung of the ladder, sums of rows and
 * columns, Triton's output, kernels outside the catalogue and faulty kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "golden.h"
#include "stage.h"
#include "tui/frame.h"
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 120, ROWS = 16 };

typedef struct Picture {
    const char *kernel; /* of the catalogue, or NULL */
    const char *file;   /* tests/kernels/FILE.ptx */
    const char *entry, *args;
    uint64_t n;
    uint32_t threads;
    uint64_t schedule;
    uint32_t block; /* traced */
    bool hazards;   /* search for hazards, so that races are marked */
} Picture;

static const Picture others[] = {
    {.kernel = "row_sum"},
    {.kernel = "column_sum"},
    {.kernel = "column_sum_permuted", .n = 65536}, /* its second launch folds */
    {.kernel = "triton_sum"},
    {.kernel = "triton_row_sum"},
    {.file = "rows",
     .entry = "dot_float",
     .args = "a=float[n]:random, b=float[n]:random, out=float[1]:zero, n",
     .n = 1000,
     .threads = 128},
    {.file = "rows",
     .entry = "layer_norm",
     .args = "in=float[300]:random, out=float[300]:zero, n",
     .n = 100,
     .threads = 64},
    {.file = "scans",
     .entry = "scan_up_and_down",
     .args = "in=int[n]:random, out=int[n]:zero, n",
     .n = 256,
     .threads = 256},
    {.kernel = "bug_overlapping_halves"},
    {.kernel = "bug_uninitialized_shared", .n = 1000},
    {.kernel = "bug_all_lanes_add"},
    {.kernel = "bug_volatile_tail", .schedule = 1}, /* loses an update */
    {.kernel = "bug_missing_sync"},
    {.kernel = "bug_double_count"},
    {.kernel = "bug_half_shared"},
    {.kernel = "bug_uninitialized_shared", .n = 1000, .block = 3},
    {.kernel = "bug_overlapping_halves", .n = 1024, .hazards = true},
    {.kernel = "bug_volatile_tail", .n = 1024, .hazards = true},
    {.kernel = "bug_missing_sync", .n = 1024, .hazards = true},
};
enum { OTHER_COUNT = sizeof others / sizeof *others };

static Stage *open_picture(const Picture *picture) {
    char path[256];
    const char *root = getenv("REDVIZ_SHARE");
    snprintf(path, sizeof path, "%s/tests/kernels/%s.ptx", root ? root : ".",
             picture->file ? picture->file : "");
    return stage_open(&(RunSpec){.kernel = picture->kernel,
                                 .file = picture->file ? path : NULL,
                                 .entry = picture->entry,
                                 .args = picture->args,
                                 .catalog = {.n = picture->n, .prefers_digits = true},
                                 .grid = {picture->file != NULL},
                                 .block = {picture->threads},
                                 .schedule = picture->schedule,
                                 .has_trace_blocks = picture->block > 0,
                                 .trace_first = picture->block,
                                 .trace_last = picture->block,
                                 .first_look = !picture->n,
                                 .threads = 1});
}

/* The first block that folds anything; fails the test if there is none. */
static Reduction *find_reduction(Stage *stage, const char *name) {
    View *view = stage_view(stage);
    for (int block = 0; block < stage->scene->traced.block_count; block++) {
        view_go_to_block(view, stage->scene, block);
        if (frame_needs(stage->scene, view).folds) return scene_reduction(stage->scene, block);
    }
    fail_msg("%s: nothing is folded", name);
    return NULL;
}

/* The last step of this level, counted among the folding levels from 1. */
static int step_of_level(Reduction *reduction, int number) {
    int index = 0;
    while (reduction_number_at(reduction, reduction_level(reduction, index)->last) < number) index++;
    return reduction_level(reduction, index)->last;
}

static void add_picture(Text *out, Stage *stage, const char *name, int step) {
    StepContext context;
    PaneHead head = {.note_role = ROLE_DIM, .columns = COLUMNS - 4, .rows = ROWS - 2};
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    view_go_to_step(stage_view(stage), stage->scene, step);
    assert_true(step_context_init(&context, stage->scene, stage_view(stage)));
    pane_reduction.head(&context, &head);
    pane_reduction.draw(&context, canvas,
                        canvas_box(canvas, (Rectangle){0, 0, COLUMNS, ROWS}, ROLE_TITLE, head.title,
                                   head.note_role, head.note));
    text_print(out, "%s, step %d\n", name, step + 1);
    canvas_to_text(canvas, out);
    text_print(out, "\n");
    canvas_free(canvas);
}

/* The level in the middle; if each thread folds by itself, the middle of the run. For a faulty kernel also
 * the place where it opens, and the last level, where every earlier error is visible. */
static void add_pictures(Text *out, const Picture *picture) {
    const char *name = picture->kernel ? picture->kernel : picture->entry;
    Stage *stage = open_picture(picture);
    View *view = stage_view(stage);
    const CatalogRow *row = session_row(stage->session);
    bool is_broken = row && row->group == CATALOG_BUG;
    if (picture->hazards) stage->scene->borrowed.hazards = ask_hazards(stage->session);
    if (is_broken) add_picture(out, stage, name, view->place.step);
    Reduction *reduction = find_reduction(stage, name);
    int folds = reduction_fold_count(reduction);
    if (folds || !is_broken)
        add_picture(out, stage, name,
                    folds ? step_of_level(reduction, (folds + 1) / 2)
                          : view_steps(view, stage->scene)->step_count / 2);
    if (is_broken && folds) add_picture(out, stage, name, step_of_level(reduction, folds));
    stage_free(stage);
}

static void goldens(void **state) {
    (void)state;
    Text text = {0};
    int rungs = 0;
    for (int i = 0; i < catalog_count(); i++) {
        if (catalog_row(i)->group != CATALOG_LADDER) continue;
        add_pictures(&text, &(Picture){.kernel = catalog_row(i)->id});
        rungs++;
    }
    assert_true(rungs >= 20);
    for (int i = 0; i < OTHER_COUNT; i++) add_pictures(&text, &others[i]);
    golden_check("pictures", &text);
    text_done(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
