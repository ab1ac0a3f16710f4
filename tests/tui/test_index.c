/* The index lab: exact screens, what each key does, and the access of a step as an expression with the same
 * cost. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "stage.h"
#include "tests/cli/program.h"
#include "tui/view/index_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const ViewIndex *shown(Stage *stage) {
    return &stage_view(stage)->display.index;
}

static void check(const char *name, const char *keys, int columns, int rows, bool ascii) {
    Stage *stage = stage_open_kernel("lab_bank_stride");
    view_index_open(stage_view(stage), NULL, NULL);
    stage_press(stage, keys);
    stage_check(stage, name, columns, rows, ascii);
    stage_free(stage);
}

static void screens_of_the_lab(void **state) {
    (void)state;
    check("index_80x24", "<Right><Right><Right><Right><Right><Right>", 80, 24, false);
    check("index_120x40", "", 120, 40, false);
    check("index_200x60", "4<Down><Down>3", 200, 60, false);
    check("index_vector_120x40", "6", 120, 40, false);
    check("index_error_80x24", "<Enter> + q", 80, 24, false);
    check("index_ascii_80x24", "5", 80, 24, true);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void press(Stage *stage, const char *keys, const char *a, const char *b) {
    stage_press(stage, keys);
    if (strcmp(shown(stage)->text[0], a) != 0 || strcmp(shown(stage)->text[1], b) != 0)
        fail_msg("%s: '%s', '%s'", keys, shown(stage)->text[0], shown(stage)->text[1]);
}

static Stage *open_lab(const char *a, const char *b) {
    Stage *stage = stage_open_kernel("lab_bank_stride");
    view_index_open(stage_view(stage), a, b);
    return stage;
}

static void keys_turn_and_type(void **state) {
    (void)state;
    Stage *stage = open_lab("tid * 2", "tid * 2 + tid / 16");
    press(stage, "<Right><Right>", "tid * 4", "tid * 2 + tid / 16");
    press(stage, "<Left><Left><Left><Left><Left><Left>", "tid * 0", "tid * 2 + tid / 16");
    press(stage, "<Down><Down><Right>", "tid * 0", "tid * 2 + tid / 17");
    press(stage, "5", "tid * 0", "lane / 32"); /* a preset of the expression that has the selected number */
    press(stage, "<Up>4", "lane * 32 + 5", "lane / 32");
    press(stage, "tid", "tid", "lane / 32");
    press(stage, "<Home>8+<End>*2", "8+tid*2", "lane / 32");
    press(stage, "<Left><Backspace>", "8+tid2", "lane / 32");
    press(stage, "<Escape>", "8+tid*2", "lane / 32"); /* the last one without an error */
    press(stage, "+1<Enter><Right>", "9+tid*2+1", "lane / 32");
    press(stage, "<Tab><Tab><Tab><Backspace><Erase>lane^1<Enter>", "9+tid*2+1", "lane^1");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_INDEX);
    stage_press(stage, "?<Escape>");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_INDEX);
    stage_press(stage, "<Escape>");
    assert_int_equal(stage_view(stage)->transient.overlay, OVERLAY_NONE);
    stage_free(stage);
}

static void other_fields_turn(void **state) {
    (void)state;
    Stage *stage = open_lab("tid * s + n", "");
    IndexAccess access;
    stage_press(stage, "<Down><Down><Right>"); /* no number, B, s */
    assert_int_equal(shown(stage)->of.s, 2);
    stage_press(stage, "<Down><Left><Down><Right><Down><Right><Down><Right>");
    const IndexOf *of = &shown(stage)->of;
    assert_true(of->n == 1023 && of->warp == 1 && of->bytes == 8 && of->is_store && of->mask == 0xffffffff);
    assert_true(view_index_access(shown(stage), 0, false, &access, NULL));
    assert_int_equal(access.offset[1], 8 * (33 * 2 + 1023));
    stage_press(stage, "<Left>"); /* a load again */
    IndexChart chart;
    view_index_chart(shown(stage), &chart);
    assert_int_equal(chart.count, 2);
    stage_press(stage, "<Up>"); /* bytes */
    view_index_chart(shown(stage), &chart);
    assert_true(chart.count == 5 && chart.now == 3 && chart.value[4] == 16);
    stage_free(stage);
}

static void the_chart_is_the_lab_of_strides(void **state) {
    (void)state;
    Stage *stage = open_lab("tid * 2", NULL);
    IndexChart chart;
    view_index_chart(shown(stage), &chart);
    assert_int_equal(chart.count, 32);
    for (int i = 0; i < 32; i++) {
        int stride = i + 1, lowest = stride & -stride; /* gcd(stride, 32) */
        assert_int_equal(chart.value[i], stride);
        assert_int_equal(chart.wavefronts[i], lowest);
    }
    assert_true(chart.now == 1 && chart.most == 32);
    stage_free(stage);
}

static void an_error_keeps_the_last_picture(void **state) {
    (void)state;
    Stage *stage = open_lab("tid * 8", "");
    stage_press(stage, "<Enter> / 0");
    char *text = stage_text(stage, 80, 24);
    program_assert_contains(text, "column 9: division by zero");
    program_assert_contains(text, "banks of A  8 wavefronts!");
    free(text);
    stage_press(stage, "<Backspace><Backspace><Backspace>- 9"); /* lane 0: -9 */
    text = stage_text(stage, 80, 24);
    program_assert_contains(text, "the index of lane 0 is negative: -9");
    program_assert_contains(text, "banks of A  8 wavefronts!");
    free(text);
    stage_free(stage);
}

/* ---- an access as an expression ------------------------------------------------------------------------ */

/* Whether E opens the lab with the cost of every load and store of the run's traced block. */
static int open_every_access(const char *kernel) {
    Stage *stage = stage_open(&(RunSpec){.kernel = kernel, .threads = 1, .catalog.n = 2048});
    const Steps *steps = view_steps(stage_view(stage), stage->scene);
    int fitted = 0;
    for (int step = 0; steps && step < steps->step_count; step++) {
        StepContext context;
        View view = *stage_view(stage);
        IndexAccess access;
        view_go_to_step(&view, stage->scene, step);
        if (!step_context_init(&context, stage->scene, &view) || !view_index_open_access(&view, &context))
            continue;
        const ViewIndex *index = &view.display.index;
        assert_true(view_index_access(index, 0, false, &access, NULL));
        assert_int_equal(view.transient.overlay, OVERLAY_INDEX);
        bool is_shared = step_context_is_shared(context.event.kind);
        if (context.event.width > 16 || trace_event_peer(&context.event) >= 0) continue;
        if (is_shared && (access.shared.wavefronts != context.cost.wavefronts ||
                          access.shared.ideal != context.cost.ideal))
            fail_msg("%s, step %d: %s: %d wavefronts, not %d", kernel, step, index->text[0],
                     access.shared.wavefronts, context.cost.wavefronts);
        if (!is_shared)
            assert_int_equal(
                access.global.sectors,
                access_global_sectors(context.event.width, context.event.mask, context.event.offset));
        fitted += !index->has_offsets;
    }
    stage_free(stage);
    return fitted;
}

static void the_lab_opens_with_the_cost_of_the_access(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved",      "strided",         "sequential",
                                          "vectorized",       "unrolled",        "lab_bank_padding",
                                          "lab_bank_bytes",   "lab_bank_vector", "lab_bank_broadcast",
                                          "lab_coalescing",   "async_copy",      "tensor_core",
                                          "lab_partial_warp", "cluster",         "row_sum"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!catalog_find(kernels[i], NULL)) continue;
        if (!open_every_access(kernels[i])) fail_msg("%s: nothing was fitted", kernels[i]);
    }
}

static void the_key_opens_the_access(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("strided");
    stage_press(stage, "E");
    assert_string_equal(shown(stage)->text[0], "tid * 2 + 1"); /* sdata[index + s] */
    assert_non_null(strstr(shown(stage)->about, "w0"));
    stage_press(stage, "<Escape>gE"); /* the first step is no access */
    assert_non_null(strstr(stage_view(stage)->transient.message, "no load or store"));
    assert_string_equal(shown(stage)->text[0], "tid * 2 + 1"); /* as it was */
    stage_free(stage);
}

/* Addresses that no form fits are shown as they are. */
static void what_fits_no_form_is_shown_as_it_is(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("strided");
    View *view = stage_view(stage);
    StepContext context;
    assert_true(step_context_init(&context, stage->scene, view));
    for (int lane = 0; lane < WARP_LANES; lane++)
        context.event.offset[lane] = (uint64_t)lane * (uint64_t)lane * (uint64_t)lane * 4;
    context.event.mask = 0xffffffff;
    assert_true(view_index_open_access(view, &context));
    assert_true(shown(stage)->has_offsets);
    char *text = stage_text(stage, 120, 40);
    program_assert_contains(text, "no form fits these addresses");
    free(text);
    stage_press(stage, "tid");
    assert_false(shown(stage)->has_offsets);
    stage_free(stage);
}

/* ---- the program --------------------------------------------------------------------------------------- */

static void the_program_opens_and_prints_it(void **state) {
    (void)state;
    char *text = program_output(0, "@ --index 'tid * 3' --frame=80x24");
    program_assert_contains(text, "array[ tid * [3] ]");
    free(text);
    text = program_output(0, "@ --index='tid * 32' --index='tid * 33' --frame --keys '<Right>'");
    program_assert_contains(text, "array[ tid * [33] ]");
    free(text);
    text = program_output(0, "@ --index 'lane * 32' 'lane' --report");
    program_assert_contains(text,
                            "array[lane * 32]\n  shared   32 wavefronts, ideal 1; 85 cycles (NVIDIA H200");
    program_assert_contains(text, "array[lane]\n  shared   1 wavefront, ideal 1; ");
    program_assert_contains(text, "  global   4 sectors, ideal 4; 1 line of 128 bytes\n");
    free(text);
    text = program_output(0, "@ --index 'lane * 3 / 2 ^ 1' --report=json");
    program_assert_contains(text, "[{\"expression\":\"lane * 3 / 2 ^ 1\",\"bytes\":4,\"shared_wavefronts\":");
    program_assert_contains(text, "\"words_of_banks\":[");
    free(text);
    text = program_output(0, "@ --kernel strided --index --keys '<Escape>' --frame=80x24");
    assert_null(strstr(text, "index lab"));
    free(text);
}

/* Every key answers within 50 ms, the frame included; the best of five, since the machine may be busy. */
static void keys_are_answered_at_once(void **state) {
    (void)state;
    Stage *stage = open_lab("(tid * 33 ^ tid / 8) % n + s", "tid * 33 + (lane ^ 5)");
    double best = 1;
    for (int i = 0; i < 5; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        stage_press(stage, "<Right>");
        free(stage_text(stage, 200, 60));
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        if (took < best) best = took;
    }
    assert_true(best < 0.05);
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_of_the_lab),
        cmocka_unit_test(keys_turn_and_type),
        cmocka_unit_test(other_fields_turn),
        cmocka_unit_test(the_chart_is_the_lab_of_strides),
        cmocka_unit_test(an_error_keeps_the_last_picture),
        cmocka_unit_test(the_lab_opens_with_the_cost_of_the_access),
        cmocka_unit_test(the_key_opens_the_access),
        cmocka_unit_test(what_fits_no_form_is_shown_as_it_is),
        cmocka_unit_test(the_program_opens_and_prints_it),
        cmocka_unit_test(keys_are_answered_at_once),
    };
    return cmocka_run_group_tests_name("index", tests, program_make_folder, program_remove_folder);
}
