/* The picture of a product of matrices: which lane holds which elements, what the selected lane holds, and
 * which lane a click selects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "stage.h"
#include "tui/frame.h"
#include <stdlib.h>
#include <string.h>

static Stage *open_at_product(PtxType dtype, const char *keys) {
    Stage *stage = stage_open(&(RunSpec){.kernel = "tensor_core",
                                         .catalog = {.n = 1000, .dtype = dtype, .prefers_digits = true},
                                         .threads = 1});
    stage_press(stage, "r");
    stage_press(stage, keys);
    return stage;
}

static void add_screen(Text *out, const Stage *stage, const char *name, int columns, int rows) {
    char *text = stage_text(stage, columns, rows);
    text_print(out, "%s, %dx%d\n%s\n", name, columns, rows, text);
    free(text);
}

static void screens_of_products(void **state) {
    (void)state;
    static const struct {
        const char *name, *keys;
        PtxType dtype;
    } cases[] = {{"half", "", PTX_F16}, {"half, lane 5", "5x", PTX_F16}, {"double", "9x", PTX_F64}};
    Text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Stage *stage = open_at_product(cases[i].dtype, cases[i].keys);
        add_screen(&text, stage, cases[i].name, 80, 24);
        add_screen(&text, stage, cases[i].name, 120, 40);
        add_screen(&text, stage, cases[i].name, 200, 60);
        stage_free(stage);
    }
    golden_check("matrix", &text);
    text_done(&text);
}

/* In the map of A, a cell is three columns wide, after three columns for the row's number; its first row is
 * below the title. */
static void a_click_chooses_the_lane_of_a_cell(void **state) {
    (void)state;
    Stage *stage = open_at_product(PTX_F16, "");
    View *view = stage_view(stage);
    StepContext context;
    assert_true(step_context_init(&context, stage->scene, view));
    assert_int_equal(context.event.kind, TRACE_MATRIX);
    Rectangle area = {0, 0, 116, 18};
    static const struct {
        int column, row, lane;
    } clicks[] = {{3, 1, 0}, {6, 1, 1}, {15, 1, 0}, {4, 6, 20}, {13, 16, 31}, {1, 4, 31}, {3, 0, 31}};
    for (size_t i = 0; i < sizeof clicks / sizeof *clicks; i++) {
        pane_matrix.click(&context, area, clicks[i].column, clicks[i].row, view);
        assert_int_equal(view->selection.lane, clicks[i].lane);
    }
    stage_free(stage);
}

static void assert_shown(Stage *stage, const char *expected) {
    char *text = stage_text(stage, 80, 24);
    if (!strstr(text, expected)) fail_msg("'%s' is not in\n%s", expected, text);
    free(text);
}

/* scale-d: 0 or false, then true. */
static void a_warpgroup_adds_what_d_held_if_it_is_told_to(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("gemm_row_max");
    assert_shown(stage, "D = A * B: 16 of 64 rows, 64 columns");
    stage_press(stage, "llll");
    assert_shown(stage, "D = A * B + D: 16 of 64 rows, 64 columns");
    stage_free(stage);
}

static void elements_of_8_bits_are_numbers(void **state) {
    (void)state;
    Stage *stage = stage_open(&(RunSpec){.file = "assets/lectures/tiles_fp8.ptx",
                                         .launches = "fp8_sum<<<1, 128>>>(out=float[8]:unwritten)",
                                         .catalog = {.n = 8},
                                         .threads = 1});
    stage_press(stage, "l");
    assert_shown(stage, "D = A * B: 16 of 64 rows, 8 columns, sums of 32 products");
    assert_shown(stage, "A 0, 0..3   1 0.00781 ..");
    stage_press(stage, "x");
    assert_shown(stage, "D 0, 3      1.003784");
    stage_free(stage);
}

static Stage *open_at_sparse_product(const char *launches) {
    Stage *stage = stage_open(
        &(RunSpec){.file = "tests/data/sparse.ptx", .launches = launches, .catalog = {.n = 8}, .threads = 1});
    stage_press(stage, "ll5x");
    return stage;
}

/* The columns of A are those of the metadata, which lane 6 has for lane 5. */
static void sparse_a_has_the_columns_of_its_metadata(void **state) {
    (void)state;
    Stage *stage =
        open_at_sparse_product("half_sum<<<1, 128>>>(in=half[1024]:iota, out=float[128]:unwritten)");
    assert_shown(stage, "D = sparse A * B: 16 rows, 8 columns, sums of 16 products");
    assert_shown(stage, "A 16x16 f16 stored");
    assert_shown(stage, "A 1, 5 7    40 41\n");
    assert_shown(stage, "D 1, 2      744\n");
    assert_shown(stage, "multiply matrices. A is sparse: its");
    stage_press(stage, "t"); /* %f0: its value, and the inputs in it */
    char *wide = stage_text(stage, 200, 60);
    if (!strstr(wide, "%f0               744      16")) fail_msg("%s", wide);
    free(wide);
    stage_free(stage);
    stage = open_at_sparse_product("byte_sum<<<1, 128>>>(in=char[2048], out=int[128]:unwritten)");
    assert_shown(stage, "D = sparse A * B + D: 16 rows, 8 columns, sums of 32 products");
    assert_shown(stage, "A 1, 8 10 12 14    0 0 0 0\n");
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_of_products),
        cmocka_unit_test(a_click_chooses_the_lane_of_a_cell),
        cmocka_unit_test(a_warpgroup_adds_what_d_held_if_it_is_told_to),
        cmocka_unit_test(elements_of_8_bits_are_numbers),
        cmocka_unit_test(sparse_a_has_the_columns_of_its_metadata),
    };
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
