/* Machine code and stalls on the screen, from tests/data/sass/synthetic.tsv: text of ptxas, counts and
 * samples by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "sass/recorded.h"
#include "stage.h"
#include "tui/frame.h"

#include <stdlib.h>

static struct { /* for both runs of a comparison */
    Session *session;
    SassKernel kernel;
    SassComparison compared;
    bool is_live;
} shown[2];
static const char *missing; /* why there is no machine code */

static SceneSass answer(Session *session, int launch) {
    for (int i = 0; i < 2; i++)
        if (launch == 0 && shown[i].kernel.count && shown[i].session == session)
            return (SceneSass){&shown[i].kernel, &shown[i].compared, NULL, shown[i].is_live};
    return (SceneSass){.why = missing};
}

static bool keep_interleaved(void *context, SassKernel *kernel) {
    SassKernel *wanted = context;
    if (strcmp(kernel->kernel, "interleaved") != 0) {
        sass_kernel_done(kernel);
        return true;
    }
    *wanted = *kernel;
    return false;
}

static Stage *open_stage(int index, const char *keys) {
    Error error = {0};
    Stage *stage = stage_open_kernel("interleaved");
    SassKernel *kernel = &shown[index].kernel;
    if (!sass_read_file("tests/data/sass/synthetic.tsv", keep_interleaved, kernel, &error))
        fail_msg("line %d: %s", error.line, error.message);
    sass_compare(session_trace(stage->session)->launches[0]->program, kernel, &shown[index].compared);
    shown[index].session = stage->session;
    stage->scene->questions.sass = answer;
    measured_done(&stage->recorded); /* frames must not change when new timings are recorded */
    stage->recorded = (Measurements){0};
    stage_press(stage, keys);
    return stage;
}

static void close_stage(int index, Stage *stage) {
    sass_comparison_done(&shown[index].compared);
    sass_kernel_done(&shown[index].kernel);
    shown[index].session = NULL;
    shown[index].is_live = false;
    stage_free(stage);
}

static void expect(const Stage *stage, int columns, int rows, const char *wanted) {
    char *text = stage_text(stage, columns, rows);
    if (!strstr(text, wanted)) fail_msg("no \"%s\" in\n%s", wanted, text);
    free(text);
}

static void expect_no(const Stage *stage, int columns, int rows, const char *unwanted) {
    char *text = stage_text(stage, columns, rows);
    if (strstr(text, unwanted)) fail_msg("\"%s\" in\n%s", unwanted, text);
    free(text);
}

/* ---- the listing --------------------------------------------------------------------------------------- */

static void the_machine_code_in_every_size(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "sss");
    stage_check(stage, "sass_80x24", 80, 24, false);
    stage_check(stage, "sass_120x40", 120, 40, false);
    stage_check(stage, "sass_200x60", 200, 60, false);
    stage_check(stage, "sass_ascii", 80, 24, true);
    stage_press(stage, "4k<Tab>z");
    stage_check(stage, "sass_enlarged", 120, 50, false);
    for (int columns = 1; columns < 130; columns += 3)
        for (int rows = 1; rows < 50; rows += 2) canvas_free(stage_draw(stage, columns, rows));
    stage_press(stage, "?");
    stage_check(stage, "sass_help", 120, 60, false);
    close_stage(0, stage);
}

/* s is cyclic: after the machine code comes the first form again. */
static void s_goes_around(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "");
    char *before = stage_text(stage, 120, 40);
    stage_press(stage, "sss");
    expect(stage, 120, 40, "sass");
    stage_press(stage, "s<Escape>");
    char *after = stage_text(stage, 120, 40);
    assert_string_equal(after, before);
    free(before);
    free(after);
    close_stage(0, stage);
}

/* The step's line is visible at every step, even without machine code of its own. */
static void the_line_of_the_step_is_in_sight(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "sss<Tab>zg");
    const Steps *steps = view_steps(stage_view(stage), stage->scene);
    for (int i = 0; i < steps->step_count; i++, stage_press(stage, ">")) {
        char *text = stage_text(stage, 120, 30);
        if (!strstr(text, "│ > ")) fail_msg("step %d:\n%s", i + 1, text);
        free(text);
    }
    close_stage(0, stage);
}

/* Recorded numbers show their date; live ones say so. A block size other than this run's is named. */
static void where_the_numbers_come_from(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "sss<Tab>z");
    expect(stage, 160, 40, "recorded on synthetic, 2000-01-01; counts: n = 2^10, samples: n = 2^12 ");
    shown[0].is_live = true;
    expect(stage, 160, 40, "live on synthetic; counts: n = 2^10");
    shown[0].kernel.counted.block = 128;
    expect(stage, 160, 40, "samples: n = 2^12, block 128");
    shown[0].kernel.sampled.n = 0;
    expect(stage, 160, 40, "counts: n = 2^10, not sampled");
    expect_no(stage, 160, 40, "samples  ");
    shown[0].kernel.counted.n = 0;
    expect(stage, 160, 40, "neither counted nor sampled");
    expect_no(stage, 160, 40, "lanes   off");
    shown[0].is_live = false;
    shown[0].kernel.assembler = "ptxas 1.2.3";
    shown[0].kernel.architecture = "sm_90";
    expect(stage, 160, 40, "by ptxas 1.2.3 for sm_90; counts need a GPU");
    shown[0].kernel.has_resources = true;
    shown[0].kernel.resources = (SassResources){.registers = 21, .shared_bytes = 2048};
    expect(stage, 160, 40, "sm_90; 21 registers, 2,048 bytes shared, no spills; counts need a GPU");
    shown[0].kernel.resources.spill_load_bytes = 8;
    expect(stage, 160, 40, "bytes shared, spills: 8 bytes; counts need a GPU");
    expect_no(stage, 160, 40, "lanes   off");
    close_stage(0, stage);
}

static void what_is_missing_is_one_line(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "sssuuu");
    sass_comparison_done(&shown[0].compared);
    sass_kernel_done(&shown[0].kernel);
    missing = "no machine code of interleaved is recorded on h200";
    expect(stage, 120, 40, "Not known: no machine code of interleaved is");
    stage_press(stage, "s");
    expect(stage, 200, 60, "waits Not known: no machine code of interleaved is recorded on h200.");
    stage_press(stage, "T");
    expect(stage, 200, 60, "Not known: no machine code of interleaved is recorded");
    missing = NULL;
    close_stage(0, stage);
}

static void a_click_goes_to_the_line(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "sss<Tab>z");
    Canvas *canvas = stage_draw(stage, 120, 50);
    Text text = {0};
    canvas_to_text(canvas, &text);
    int row = 0;
    for (const char *at = text_string(&text);
         !strstr(at, "24  __sync") || strchr(at, '\n') < strstr(at, "24  __sync"); at = strchr(at, '\n') + 1)
        row++;
    comparison_click(&stage->comparison, 120, 50, 40, row);
    const View *view = stage_view(stage);
    int pc = view_steps(view, stage->scene)->steps[view->place.step].pc;
    assert_int_equal(scene_code(stage->scene, 0, pc)->line.line, 24);
    text_done(&text);
    canvas_free(canvas);
    close_stage(0, stage);
}

/* ---- beside source and PTX ----------------------------------------------------------------------------- */

static void samples_beside_the_source(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "uuu");
    stage_check(stage, "samples_80x24", 80, 24, false);
    stage_check(stage, "samples_120x40", 120, 40, false);
    stage_press(stage, "s<Tab>z");
    stage_check(stage, "samples_both", 120, 40, false);
    expect(stage, 120, 40, "rem.u32 became 17 SASS");
    stage_press(stage, "s");
    expect(stage, 120, 40, "* rem.u32 became 17 SASS instructions: 544 of the 1,888 executed");
    close_stage(0, stage);
}

/* ---- stalls -------------------------------------------------------------------------------------------- */

static void stalls_in_every_size(void **state) {
    (void)state;
    Stage *stage = open_stage(0, "T");
    stage_check(stage, "stalls_120x40", 120, 40, false);
    stage_check(stage, "stalls_200x60", 200, 60, false);
    stage_press(stage, "<Shift-Tab>");
    stage_check(stage, "stalls_80x24", 80, 24, false);
    stage_check(stage, "stalls_ascii", 80, 24, true);
    stage_press(stage, "z");
    stage_check(stage, "stalls_enlarged", 120, 40, false);
    for (int columns = 1; columns < 130; columns += 3)
        for (int rows = 1; rows < 50; rows += 2) canvas_free(stage_draw(stage, columns, rows));
    close_stage(0, stage);
}

/* The second run has no sample at a barrier, and waits more for shared memory. */
static void what_one_waits_for_and_the_other_does_not(void **state) {
    (void)state;
    Stage *first = open_stage(0, ""), *second = open_stage(1, "");
    for (int i = 0; i < shown[1].kernel.count; i++) {
        uint32_t *samples = shown[1].kernel.instructions[i].samples;
        samples[SASS_STALL_barrier] = 0;
        samples[SASS_STALL_short_scoreboard] *= 3;
    }
    comparison_put(&first->comparison, 1, second->scene);
    stage_press(first, "<Shift-Tab>T");
    stage_check(first, "stalls_compared_200x60", 200, 60, false);
    stage_check(first, "stalls_compared_80x24", 80, 24, false);
    stage_press(first, "z");
    stage_check(first, "stalls_compared_120x40", 120, 40, false);
    comparison_leave(&first->comparison);
    close_stage(1, second);
    close_stage(0, first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_code_in_every_size),
        cmocka_unit_test(s_goes_around),
        cmocka_unit_test(the_line_of_the_step_is_in_sight),
        cmocka_unit_test(where_the_numbers_come_from),
        cmocka_unit_test(what_is_missing_is_one_line),
        cmocka_unit_test(a_click_goes_to_the_line),
        cmocka_unit_test(samples_beside_the_source),
        cmocka_unit_test(stalls_in_every_size),
        cmocka_unit_test(what_one_waits_for_and_the_other_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
