/* The picture of a split warp in each form of source, and the keys that go there. Also the keys to
 * conflicts and levels. */
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

enum { COLUMNS = 120, ROWS = 40 };

/* A kernel of the catalogue, or an entry of tests/kernels/paths.ptx. */
static Stage *open_kernel(const char *name, const char *args) {
    char path[256];
    const char *root = getenv("REDVIZ_SHARE");
    if (!args) return stage_open_kernel(name);
    snprintf(path, sizeof path, "%s/tests/kernels/paths.ptx", root ? root : ".");
    return stage_open(
        &(RunSpec){.file = path, .entry = name, .args = args, .grid = {1}, .block = {32}, .threads = 1});
}

/* The cells of `area`, without blanks at the ends of rows. */
static void add_area(const Canvas *canvas, Rectangle area, Text *out) {
    Canvas *part = canvas_new(area.columns, area.rows, false);
    for (int row = 0; row < area.rows; row++)
        for (int column = 0; column < area.columns; column++)
            part->cells[row * area.columns + column] =
                canvas->cells[(area.row + row) * canvas->columns + area.column + column];
    canvas_to_text(part, out);
    canvas_free(part);
}

/* The lanes, the picture, the explanation and the timeline after these keys. */
static void add_screen(Text *out, const char *name, const char *args, const char *keys) {
    Stage *stage = open_kernel(name, args);
    Layout layout;
    stage_press(stage, keys);
    const View *view = stage_view(stage);
    assert_true(layout_make(COLUMNS, ROWS, view, frame_needs(stage->scene, view), &layout));
    Canvas *canvas = stage_draw(stage, COLUMNS, ROWS);
    text_print(out, "==== %s %s\n", name, keys);
    add_area(canvas, layout.slots[SLOT_LANES], out);
    add_area(canvas, layout.slots[SLOT_PICTURE], out);
    add_area(canvas, layout.slots[SLOT_EXPLANATION], out);
    add_area(canvas, layout.slots[SLOT_TIMELINE], out);
    canvas_free(canvas);
    stage_free(stage);
}

static void the_picture_shows_who_goes_where(void **state) {
    (void)state;
    Text text = {0};
    add_screen(&text, "lab_divergent_branch", NULL, "gd");
    add_screen(&text, "lab_divergent_branch", NULL, "gdl");
    add_screen(&text, "lab_divergent_branch", NULL, "gdll");
    add_screen(&text, "lab_divergent_branch", NULL, "gdlll");
    add_screen(&text, "interleaved", NULL, "d");
    add_screen(&text, "collatz", "in=uint[32]:iota, out=uint[32]:zero", "gdd");
    add_screen(&text, "collatz", "in=uint[32]:iota, out=uint[32]:zero", "gdddddd");
    add_screen(&text, "nested_switch", "in=int[32]:iota, out=int[32]:zero", "gd");
    add_screen(&text, "nested_switch", "in=int[32]:iota, out=int[32]:zero", "gdlll");
    add_screen(&text, "early", "in=int[32]:iota, out=int[32]:zero, 20", "gd");
    add_screen(&text, "both", "in=int[32]:iota, out=int[33]:zero", "gd");
    add_screen(&text, "chosen", "in=int[32]:iota, out=int[32]:zero", "gl");
    golden_check("branches", &text);
    text_done(&text);
}

/* The picture of the first split of a kernel of falls.ptx. */
static char *picture_of(const char *name) {
    char path[256];
    const char *root = getenv("REDVIZ_SHARE");
    Layout layout;
    Text text = {0};
    snprintf(path, sizeof path, "%s/tests/kernels/falls.ptx", root ? root : ".");
    Stage *stage = stage_open(&(RunSpec){.file = path,
                                         .entry = name,
                                         .args = "in=int[32]:iota, out=int[32]:zero",
                                         .grid = {1},
                                         .block = {32},
                                         .threads = 1});
    stage_press(stage, "gd");
    const View *view = stage_view(stage);
    assert_true(layout_make(COLUMNS, ROWS, view, frame_needs(stage->scene, view), &layout));
    Canvas *canvas = stage_draw(stage, COLUMNS, ROWS);
    add_area(canvas, layout.slots[SLOT_PICTURE], &text);
    canvas_free(canvas);
    stage_free(stage);
    char *copy = memory_copy_text(text_string(&text));
    text_done(&text);
    return copy;
}

/* Lanes that match no case go to the default, which they execute with those of the case above it. */
static void a_default_is_an_arm(void **state) {
    (void)state;
    char *falls = picture_of("falls"), *two = picture_of("two_cases");
    if (!strstr(falls, "16 take default") || !strstr(falls, "16 lanes  shares line 7") ||
        !strstr(falls, ": A 2 + C 1 + ") || strstr(falls, "nothing"))
        fail_msg("%s", falls);
    if (!strstr(two, "16 match no case") || !strstr(two, "16 lanes  nothing") || strstr(two, "default"))
        fail_msg("%s", two);
    free(falls), free(two);
}

/* The explanation of the first split. */
static bool says_predicated(const char *name, const char *args) {
    Stage *stage = open_kernel(name, args);
    Layout layout;
    Text text = {0};
    stage_press(stage, "gd");
    const View *view = stage_view(stage);
    assert_true(layout_make(200, 60, view, frame_needs(stage->scene, view), &layout));
    Canvas *canvas = stage_draw(stage, 200, 60);
    add_area(canvas, layout.slots[SLOT_EXPLANATION], &text);
    bool says = strstr(text_string(&text), "predicate it") != NULL;
    text_done(&text);
    canvas_free(canvas);
    stage_free(stage);
    return says;
}

/* A short body is; a loop is not, however short, as each lane has its own number of rounds. */
static void a_loop_is_never_predicated(void **state) {
    (void)state;
    assert_true(says_predicated("interleaved", NULL));
    assert_false(says_predicated("collatz", "in=uint[32]:iota, out=uint[32]:zero"));
}

static int step_after(const char *kernel, const char *keys) {
    Stage *stage = stage_open_kernel(kernel);
    stage_press(stage, keys);
    int step = stage_view(stage)->place.step + 1;
    stage_free(stage);
    return step;
}

/* As the opening does. */
static void a_level_begins_where_its_sums_are_stored(void **state) {
    (void)state;
    int opening = step_after("interleaved", "");
    assert_int_equal(step_after("interleaved", "g]"), opening);
    assert_int_equal(step_after("interleaved", "]["), opening);
    assert_int_equal(step_after("interleaved", "]ll["), step_after("interleaved", "]"));
    Stage *stage = stage_open_kernel("interleaved");
    for (int level = 2; level <= 8; level++) {
        stage_press(stage, "]");
        int step = stage_view(stage)->place.step;
        assert_int_equal(scene_step_index(stage->scene, 0)->step[step].kind, TRACE_SHARED_STORE);
    }
    int last = stage_view(stage)->place.step;
    stage_press(stage, "]");
    assert_true(stage_view(stage)->place.step >= last);
    stage_free(stage);
}

/* The branch, then the first event of each arm. */
static void divergence_stops_at_the_branch_and_its_arms(void **state) {
    (void)state;
    assert_int_equal(step_after("lab_divergent_branch", "gd"), 3);
    assert_int_equal(step_after("lab_divergent_branch", "gdd"), step_after("lab_divergent_branch", "gdl"));
    assert_int_equal(step_after("lab_divergent_branch", "gddd"), step_after("lab_divergent_branch", "gdll"));
    assert_int_equal(step_after("lab_divergent_branch", "gdddDD"), 3);
}

/* strided: a load, a load and a store conflict in each level. */
static void conflicts_are_visited_once_a_level(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("strided");
    Reduction *reduction = scene_reduction(stage->scene, 0);
    stage_press(stage, "g");
    for (int level = 1; level <= 5; level++) {
        stage_press(stage, "n");
        assert_int_equal(reduction_number_at(reduction, stage_view(stage)->place.step), level);
    }
    stage_free(stage);
}

/* `is_whole`: all blocks have run. */
static void check_message(const char *kernel, bool is_whole, const char *key, const char *expected) {
    Stage *stage =
        stage_open(&(RunSpec){.kernel = kernel, .first_look = !is_whole, .threads = 1, .catalog.n = 1 << 20});
    stage_press(stage, key);
    assert_string_equal(stage_view(stage)->transient.message, expected);
    stage_free(stage);
}

static void a_message_says_that_a_kernel_has_none(void **state) {
    (void)state;
    check_message("interleaved", false, "n", "this block has no bank conflict");
    check_message("interleaved", true, "n", "this kernel has no bank conflict");
    check_message("atomic", true, "d", "this kernel has no divergent branch");
}

static void without_source_lanes_jump_or_fall_through(void **state) {
    (void)state;
    Session *session = stage_session_of_ptx(
        ".param .u64 out",
        ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
        "setp.lt.u32 %p1, %r1, 5; @%p1 bra $L_low;\n"
        "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;\n"
        "$L_low: ret;\n",
        "out=uint[32]:zero", 32);
    Scene *scene = scene_new(session);
    BranchRows rows;
    Text text = {0};
    assert_true(scene_branch_rows(scene, 0, 0, &rows));
    branch_rows_print(&rows, &text);
    assert_string_equal(text_string(&text), "5 lanes jump, 27 fall through");
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[0].lanes, 0xffffffe0);
    text_done(&text);
    scene_free(scene);
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_picture_shows_who_goes_where),
        cmocka_unit_test(a_default_is_an_arm),
        cmocka_unit_test(a_loop_is_never_predicated),
        cmocka_unit_test(a_level_begins_where_its_sums_are_stored),
        cmocka_unit_test(divergence_stops_at_the_branch_and_its_arms),
        cmocka_unit_test(conflicts_are_visited_once_a_level),
        cmocka_unit_test(a_message_says_that_a_kernel_has_none),
        cmocka_unit_test(without_source_lanes_jump_or_fall_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
