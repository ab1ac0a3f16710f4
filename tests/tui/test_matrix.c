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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_of_products),
        cmocka_unit_test(a_click_chooses_the_lane_of_a_cell),
    };
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
