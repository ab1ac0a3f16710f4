/* Panes drawn alone, one pane and one step at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "stage.h"
#include "trace/block.h"
#include "tui/frame.h"
#include "tui/view/view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Opened {
    Session *session;
    Scene *scene;
    View view;
} Opened;

static Opened open_with(RunSpec options) {
    Error error = {0};
    Opened opened = {0};
    options.backend = BACKEND_EMULATOR;
    opened.session = session_open(&options, &error);
    if (!opened.session) fail_msg("%s: %s", options.kernel, error.message);
    opened.scene = scene_new(opened.session);
    view_init(&opened.view);
    return opened;
}

static Opened open_kernel(const char *kernel) {
    return open_with((RunSpec){.kernel = kernel});
}

static Opened open_ptx(const char *parameters, const char *body, const char *args, uint32_t threads) {
    Opened opened = {.session = stage_session_of_ptx(parameters, body, args, threads)};
    opened.scene = scene_new(opened.session);
    view_init(&opened.view);
    return opened;
}

static void close_kernel(Opened *opened) {
    scene_free(opened->scene);
    session_free(opened->session);
}

static StepContext context_of(const Opened *opened) {
    StepContext context;
    if (!step_context_init(&context, opened->scene, &opened->view)) fail_msg("there is no step");
    return context;
}

/* The pane's inside as text; `columns` by `rows`. */
static char *draw(const Opened *opened, const Pane *pane, int columns, int rows) {
    StepContext context = context_of(opened);
    Canvas *canvas = canvas_new(columns, rows, false);
    Text text = {0};
    pane->draw(&context, canvas, (Rectangle){0, 0, columns, rows});
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    return text.data; /* the caller frees it */
}

/* The whole screen as text. */
static char *draw_frame(const Opened *opened, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, false);
    Text text = {0};
    frame_draw(opened->scene, &opened->view, canvas);
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    return text.data; /* the caller frees it */
}

static void assert_shows(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void assert_hides(const char *text, const char *part) {
    if (strstr(text, part)) fail_msg("\"%s\" is in:\n%s", part, text);
}

/* The first step of this kind in which a warp's mask is `mask`. */
static int step_with(const Opened *opened, TraceKind kind, int warp, uint32_t mask) {
    StepIndex *index = scene_step_index(opened->scene, 0);
    for (int step = 0; step < index->steps->step_count; step++)
        if (index->step[step].kind == kind && step_index_warp_state(index, step, warp).active == mask)
            return step;
    fail_msg("there is no such step");
    return -1;
}

/* ---- lanes without a thread ---------------------------------------------------------------------------- */

static void test_absent_lanes_have_a_sign(void **state) {
    (void)state;
    Opened opened = open_kernel("lab_partial_warp");
    opened.view.place.step = step_with(&opened, TRACE_SHARED_STORE, 1, 0xFFFF);
    char *text = draw(&opened, &pane_lanes, 60, 10);
    assert_shows(text, " w1    ■■■■■■■■■■■■■■■■---------------- 16/32");
    assert_shows(text, ">w0    ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■ 32/32");
    assert_shows(text, "- no thread");
    free(text);
    opened.view.place.step = step_with(&opened, TRACE_BRANCH, 1, 0xFFFF);
    opened.view.selection.warp = 1;
    text = draw(&opened, &pane_branch, 110, 10);
    assert_shows(text, "■■■■■■■■■■■■■■■■----------------");
    free(text);
    close_kernel(&opened);
}

static void test_full_warps_have_no_absent_lanes(void **state) {
    (void)state;
    Opened opened = open_kernel("interleaved");
    char *text = draw(&opened, &pane_lanes, 60, 20);
    assert_shows(text, "x exited");
    assert_hides(text, "no thread");
    assert_hides(text, "----");
    free(text);
    close_kernel(&opened);
}

/* ---- the whole block ----------------------------------------------------------------------------------- */

/* The load before the second addition of sequential: 8 of 32 warps work. */
static Opened open_1024_threads(void) {
    RunSpec options = {.kernel = "sequential"};
    options.catalog.block = 1024;
    Opened opened = open_with(options);
    StepIndex *index = scene_step_index(opened.scene, 0);
    int step = 0;
    while (step < index->steps->step_count && (index->step[step].lanes != 256 || !index->step[step].accesses))
        step++;
    if (step == index->steps->step_count) fail_msg("there is no such step");
    opened.view.place.step = step;
    opened.view.display.focus = FOCUS_LANES;
    opened.view.display.zoomed = true;
    return opened;
}

static void test_every_warp_has_a_row_where_there_are_rows(void **state) {
    (void)state;
    static const int sizes[][2] = {{80, 40}, {120, 40}, {120, 50}, {200, 60}};
    Opened opened = open_1024_threads();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = draw_frame(&opened, sizes[i][0], sizes[i][1]), row[32];
        for (int warp = 0; warp < 32; warp++) {
            snprintf(row, sizeof row, "w%d %s", warp, warp > 9 ? "  " : "   ");
            if (!strstr(text, row))
                fail_msg("%dx%d: no row of warp %d:\n%s", sizes[i][0], sizes[i][1], warp, text);
        }
        assert_shows(text, "x exited");
        free(text);
    }
    close_kernel(&opened);
}

/* Fewer rows: no more warps share a row than necessary, so that 8 of 32 warps are a quarter of the rows. */
static void test_warps_share_rows_only_as_needed(void **state) {
    (void)state;
    Opened opened = open_1024_threads();
    char *text = draw(&opened, &pane_lanes, 78, 13);
    assert_shows(text, ">w0-2   ■");
    assert_shows(text, " w6-7   ■");
    assert_shows(text, " w8-10  b");
    assert_shows(text, "w29-31 b");
    assert_shows(text, "x exited");
    free(text);
    opened.view.display.zoomed = false;
    text = draw(&opened, &pane_lanes, 78, 13);
    assert_shows(text, " w8-31 b");
    free(text);
    close_kernel(&opened);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* At every width, with all its columns: a row of the metrics consists of numbers with spaces between. */
static void test_numbers_of_metrics_do_not_run_together(void **state) {
    (void)state;
    Opened opened = open_with((RunSpec){.kernel = "strided", .catalog = {.n = 1 << 22}});
    StepIndex *index = scene_step_index(opened.scene, 0);
    opened.view.place.step = index->conflict_from[0];
    int rounded = 0;
    for (int columns = 28; columns <= 100; columns++) {
        char *text = draw(&opened, &pane_metrics, columns, 30);
        for (const char *at = text; *at; at++) {
            if (*at == '!' && at[1] != ' ' && at[1] != '\n') fail_msg("%d columns:\n%s", columns, text);
            if (strchr("kMG", *at) && at > text && at[-1] >= '0' && at[-1] <= '9') {
                rounded++;
                if (!strchr("! \n", at[1])) fail_msg("%d columns:\n%s", columns, text);
            }
        }
        free(text);
    }
    assert_true(rounded > 100);
    close_kernel(&opened);
}

/* ---- panes with nothing to show ------------------------------------------------------------------------ */

/* One row that says what to do. */
static void assert_one_row(const Opened *opened, const Pane *pane, const char *expected) {
    char *text = draw(opened, pane, 44, 8);
    const char *end = strchr(text, '\n');
    assert_non_null(end);
    assert_shows(text, expected);
    for (; *end; end++)
        if (*end != '\n' && *end != ' ') fail_msg("more than a row:\n%s", text);
    free(text);
}

static void test_empty_panes_say_what_to_do_in_one_row(void **state) {
    (void)state;
    Opened opened = open_kernel("sequential");
    opened.view.place.step = step_with(&opened, TRACE_BARRIER, 0, 0xffffffffu);
    assert_one_row(&opened, &pane_registers, "No registers here: > steps on.");
    assert_one_row(&opened, &pane_counters, "Open it with --counters on a GPU.");
    opened.scene->borrowed.uncounted = "CUPTI (libcupti.so, of the CUDA toolkit) is not installed here";
    assert_one_row(&opened, &pane_counters, "Open it with --counters on a GPU; here, ");
    opened.scene->borrowed.hazards_note = "hazards were not searched for";
    opened.scene->borrowed.hazards = NULL;
    assert_one_row(&opened, &pane_hazards, "redviz --check searches; hazards were not");
    Findings none = {.is_complete = true};
    opened.scene->borrowed.hazards = &none;
    opened.scene->borrowed.hazards_note = NULL;
    assert_one_row(&opened, &pane_hazards, "No hazard, no excess wavefronts, no");
    opened.scene->borrowed.hazards = NULL;
    close_kernel(&opened);
}

/* The row after the one with `sentence` is the pane's lower border, the one before it the upper. */
static void assert_takes_one_row(const Opened *opened, const char *sentence) {
    char *text = draw_frame(opened, 200, 60), *at = strstr(text, sentence);
    if (!at) fail_msg("\"%s\" is not in:\n%s", sentence, text);
    char *end = strchr(at, '\n'), *next = end ? strchr(end + 1, '\n') : NULL;
    while (at > text && *at != '\n') at--;
    assert_non_null(next);
    assert_memory_equal(at - strlen("┐"), "┐", strlen("┐"));
    assert_memory_equal(next - strlen("┘"), "┘", strlen("┘"));
    free(text);
}

static void test_an_empty_pane_leaves_its_rows(void **state) {
    (void)state;
    Opened opened = open_kernel("sequential");
    opened.scene->questions.sass = NULL;
    while (pane_side(opened.view.display.side) != &pane_stalls) opened.view.display.side++;
    assert_takes_one_row(&opened, "no machine code of this kernel"); /* above another pane */
    while (pane_side(opened.view.display.side + 1) != &pane_counters) opened.view.display.side--;
    assert_takes_one_row(&opened, "Open it with"); /* below one */
    close_kernel(&opened);
}

/* ---- hazards and conflicts in the source and on the timeline ------------------------------------------- */

static void test_conflicts_have_a_sign_beside_the_line(void **state) {
    (void)state;
    Opened opened = open_kernel("strided");
    /* At the first step: the interval's counts have none. */
    char *text = draw(&opened, &pane_source, 100, 30);
    assert_shows(text, " 26! ");
    assert_shows(text, " 24  ");
    assert_shows(text, " 27! "); /* warps wait there without work */
    assert_hides(text, "X ");
    free(text);
    opened.view.display.source = SOURCE_PTX;
    text = draw(&opened, &pane_source, 100, 80);
    int signs = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strlen(line) > 4 && line[4] == '!') {
            assert_shows(line, ".shared.u32");
            signs++;
        }
    assert_int_equal(signs, 3); /* two loads, a store */
    free(text);
    close_kernel(&opened);
}

/* The first step of the finding's access; -1: it is not of block 0. */
static int step_of(const Opened *opened, const FindingAccess *access) {
    const SessionBlock *block = &opened->scene->traced.blocks[0];
    if (access->event < 0 || access->linear_block != trace_block_linear(block->block)) return -1;
    return block->steps->step_of_event[access->event];
}

static void test_hazards_have_a_sign_beside_the_line_and_on_the_timeline(void **state) {
    (void)state;
    Opened opened = open_kernel("bug_volatile_tail");
    char *text = draw(&opened, &pane_timeline, 200, 4);
    assert_null(strchr(text, 'X')); /* none is known yet */
    free(text);
    const Findings *hazards = ask_hazards(opened.session);
    opened.scene->borrowed.hazards = hazards;
    text = draw(&opened, &pane_source, 100, 40);
    for (int line = 29; line <= 32; line++) {
        char sign[8];
        snprintf(sign, sizeof sign, " %dX ", line);
        assert_shows(text, sign);
    }
    assert_shows(text, " 27  ");
    free(text);
    text = draw(&opened, &pane_timeline, 42, 2); /* 42 steps: one column each */
    assert_int_equal(opened.scene->traced.blocks[0].steps->step_count, 42);
    bool expected[42] = {false};
    for (int i = 0; i < hazards->error_count; i++) {
        int steps[] = {step_of(&opened, &hazards->items[i].access),
                       step_of(&opened, &hazards->items[i].other)};
        for (int side = 0; side < 2; side++)
            if (steps[side] >= 0) expected[steps[side]] = true;
    }
    const char *marks = strchr(text, '\n') + 1;
    int marked = 0;
    for (int step = 0; step < 42 && marks[step] && marks[step] != '\n'; step++) {
        assert_int_equal(marks[step] == 'X', expected[step]);
        marked += expected[step];
    }
    assert_true(marked >= 10);
    free(text);
    opened.scene->borrowed.hazards = NULL;
    close_kernel(&opened);
}

/* ---- banks in large cells ------------------------------------------------------------------------------ */

static Opened open_stride(const char *stride) {
    RunSpec options = {.kernel = "lab_bank_stride"};
    options.catalog.parameters[0] = stride;
    options.catalog.parameter_count = 1;
    Opened opened = open_with(options);
    opened.view.place.step = step_with(&opened, TRACE_SHARED_STORE, 0, 0xffffffffu);
    return opened;
}

static void enlarge(Opened *opened) {
    opened->view.display.focus = FOCUS_PICTURE;
    opened->view.display.zoomed = true;
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) count++;
    return count;
}

/* The value that each lane stores, how long it waits, and the bytes at which rows begin. */
static void test_large_banks_show_values_bytes_and_waits(void **state) {
    (void)state;
    static const int sizes[][2] = {{116, 23}, {196, 40}, {196, 20}};
    Opened opened = open_stride("stride=2");
    enlarge(&opened);
    StepContext context = context_of(&opened);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = draw(&opened, &pane_banks, sizes[i][0], sizes[i][1]), value[32];
        for (int lane = 0; lane < WARP_LANES; lane++) {
            snprintf(value, sizeof value, " %d", (int)(int32_t)context.event.value[0][lane]);
            assert_shows(text, value);
        }
        assert_int_equal(count_of(text, " now"), 16);
        assert_int_equal(count_of(text, " +1"), 16);
        assert_shows(text, "  128B");
        assert_shows(text, "wavefront 1 of 2 serves lanes 0-15; lanes 16-31 wait");
        free(text);
    }
    opened.view.place.wavefront = 1;
    char *text = draw(&opened, &pane_banks, 116, 23);
    assert_int_equal(count_of(text, "done"), 16);
    assert_int_equal(count_of(text, " now"), 16);
    assert_shows(text, "wavefront 2 of 2 serves lanes 16-31");
    assert_hides(text, "wait;");
    free(text);
    close_kernel(&opened);
}

/* 80 columns: 8 banks, those of the selected lane; a click selects the lane of the cell. */
static void test_large_banks_follow_the_lane(void **state) {
    (void)state;
    Opened opened = open_stride("stride=1");
    enlarge(&opened);
    char *text = draw(&opened, &pane_banks, 78, 8);
    assert_shows(text, "banks 0-7 of 32");
    free(text);
    opened.view.selection.lane = 27;
    text = draw(&opened, &pane_banks, 78, 8);
    assert_shows(text, "banks 24-31 of 32");
    free(text);
    text = draw(&opened, &pane_banks, 300, 5); /* wide, without the rows of large cells */
    assert_shows(text, "31\n");
    assert_hides(text, "23 now ");
    assert_shows(text, "27 now ");
    assert_hides(text, "rows 1");
    free(text);
    StepContext context = context_of(&opened);
    View view = opened.view;
    pane_banks.click(&context, (Rectangle){0, 0, 78, 8}, 8 + 5 * 8 + 4, 2, &view);
    assert_int_equal(view.selection.lane, 29);
    close_kernel(&opened);
}

/* 32 rows: all of them if they fit; else the pane says which. */
static void test_rows_out_of_sight_are_counted(void **state) {
    (void)state;
    Opened opened = open_stride("stride=32");
    char *text = draw(&opened, &pane_banks, 116, 8);
    assert_shows(text, "rows 1-5 of 32; z shows more");
    free(text);
    enlarge(&opened);
    opened.view.place.wavefront = 16;
    text = draw(&opened, &pane_banks, 76, 12);
    assert_shows(text, "rows 14-19 of 32");
    assert_int_equal(count_of(text, "done"), 3);
    assert_shows(text, "now ");
    assert_shows(text, "+2 ");
    free(text);
    opened.view.place.wavefront = 0;
    text = draw(&opened, &pane_banks, 196, 45);
    assert_hides(text, "rows 1");
    for (int later = 1; later < 32; later++) {
        char wait[8];
        snprintf(wait, sizeof wait, "+%d ", later);
        assert_shows(text, wait);
    }
    free(text);
    close_kernel(&opened);
}

/* A GPU reserves the first kilobyte of a block's shared memory: the rows of the arrays are shown, and the
 * pane says which are not. */
static void test_reserved_rows_are_left_out(void **state) {
    (void)state;
    Opened opened = open_kernel("strided");
    opened.view.place.step = step_with(&opened, TRACE_SHARED_STORE, 0, 0xffffffffu);
    char *text = draw(&opened, &pane_banks, 116, 20);
    assert_shows(text, "    0>");
    assert_hides(text, "untouched");
    free(text);
    session_trace(opened.session)->launches[0]->symbols[0].window_offset = 1024;
    text = draw(&opened, &pane_banks, 116, 20);
    assert_shows(text, "  256>");
    assert_shows(text, "\n  480 ");
    assert_hides(text, "\n  224 ");
    assert_shows(text, "cell: the lane that accesses the word; words 0-255 untouched");
    free(text);
    StepContext context = context_of(&opened);
    PaneHead head = {.columns = 116, .rows = 10};
    pane_banks.head(&context, &head);
    assert_shows(head.title, "cells: lanes; words 0-255 untouched");
    close_kernel(&opened);
}

/* A value that another warp made is labelled with warp and lane. */
static void test_a_tree_names_the_other_warps_lane(void **state) {
    (void)state;
    Opened opened = open_kernel("sequential");
    opened.view.display.picture = SHOW_LANE_TREE;
    const Steps *steps = opened.scene->traced.blocks[0].steps;
    bool found = false;
    for (int step = 0; step < steps->step_count && !found; step++) {
        view_go_to_step(&opened.view, opened.scene, step);
        opened.view.selection.lane = 5;
        char *text = draw(&opened, &pane_tree, 120, 16);
        found = strstr(text, " of w4 lane 5");
        free(text);
    }
    assert_true(found);
    close_kernel(&opened);
}

/* The reach of a shuffle is a distance, in either direction; values that a lane takes from another are
 * highlighted, values that it keeps are not. */
static void test_a_shuffle_upwards_names_its_distance(void **state) {
    (void)state;
    Opened opened = open_ptx(".param .u64 out",
                             ".reg .b32 %r<4>;\n.reg .b64 %q<4>;\nmov.u32 %r0, %tid.x;\n"
                             "shfl.sync.up.b32 %r1, %r0, 3, 0, 0xffffffff;\n"
                             "ld.param.u64 %q0, [out];\nmul.wide.u32 %q1, %r0, 4;\nadd.u64 %q0, %q0, %q1;\n"
                             "st.global.u32 [%q0], %r1;\nret;",
                             "out=int[32]", 32);
    opened.view.place.step = step_with(&opened, TRACE_SHUFFLE, 0, 0xffffffffu);
    PaneHead head = {.note_role = ROLE_DIM};
    StepContext context = context_of(&opened);
    pane_shuffle.head(&context, &head);
    assert_shows(head.title, "shuffle up 3 ");
    assert_string_equal(head.note, "lanes 0-2 keep their own values");
    Canvas *canvas = canvas_new(140, 20, false);
    pane_shuffle.draw(&context, canvas, (Rectangle){0, 0, 140, 20});
    int taken[ROLE_COUNT] = {0}; /* digits, by role, of the row of what lanes take */
    for (int i = 1; i < 20 * 140; i++)
        if (canvas->cells[i / 140 * 140 + 1].glyph == 't' && canvas->cells[i].glyph >= '0' &&
            canvas->cells[i].glyph <= '9')
            taken[canvas->cells[i].role]++;
    canvas_free(canvas);
    assert_int_equal(taken[ROLE_DIM], 3);
    assert_int_equal(taken[ROLE_ARROW], 10 + 2 * 19); /* 0 to 28 */
    close_kernel(&opened);
}

/* A fault ends the block: lanes that did not fault are stopped; lanes that the warp does not have are not. */
static void test_lanes_that_a_warp_lacks_do_not_stop(void **state) {
    (void)state;
    Opened opened = open_ptx(".param .u64 out",
                             ".reg .b32 %r<4>;\n.reg .b64 %q<4>;\n.reg .pred %p<2>;\nmov.u32 %r0, %tid.x;\n"
                             "setp.gt.u32 %p0, %r0, 31;\n@%p0 bra FAULT;\nld.param.u64 %q0, [out];\n"
                             "st.global.u32 [%q0], %r0;\nst.global.u32 [%q0+4], %r0;\nret;\nFAULT:\n"
                             "add.u32 %r1, %r0, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\n"
                             "add.u32 %r1, %r1, 1;\nsetp.eq.u32 %p1, %r0, 40;\n@%p1 trap;\nret;",
                             "out=int[48]", 48);
    const StepIndex *index = scene_step_index(opened.scene, 0);
    WarpState last = step_index_warp_state(index, index->steps->step_count - 1, 1);
    assert_int_equal(last.exists, 0xffff);
    assert_int_equal(last.trapped, 1 << 8);
    assert_int_equal(last.stopped, 0xfeff);
    close_kernel(&opened);
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* Two threads add the halves of four elements through shared memory. */
static Opened open_halves(const char *type, const char *reg, const char *args) {
    char body[1024];
    snprintf(body, sizeof body,
             ".shared .align 16 .b8 words[32];\n.reg .b32 %%r<16>;\n.reg .b64 %%q<4>;\n.reg .f32 %%f<4>;\n"
             ".reg .pred %%p<2>;\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%q1, %%r0, 4;\n"
             "ld.param.u64 %%q0, [in];\nadd.u64 %%q0, %%q0, %%q1;\nld.global.%s %s1, [%%q0];\n"
             "mov.u32 %%r2, words;\nshl.b32 %%r3, %%r0, 2;\nadd.u32 %%r3, %%r3, %%r2;\n"
             "st.shared.%s [%%r3], %s1;\nbar.sync 0;\nsetp.gt.u32 %%p0, %%r0, 1;\n@%%p0 bra A;\n"
             "ld.shared.%s %s2, [%%r3+8];\nadd.%s %s1, %s1, %s2;\nst.shared.%s [%%r3], %s1;\n"
             "ld.param.u64 %%q0, [out];\nadd.u64 %%q0, %%q0, %%q1;\nst.global.%s [%%q0], %s1;\nA: ret;",
             type, reg, type, reg, type, reg, *type == 'f' ? type : "s32", reg, reg, reg, type, reg, type,
             reg);
    Opened opened = open_ptx(".param .u64 in, .param .u64 out", body, args, 4);
    view_go_to_step(&opened.view, opened.scene, scene_step_index(opened.scene, 0)->steps->step_count - 1);
    return opened;
}

/* Instructions of u32 move the values: the arrays say that they have a sign. */
static void test_negative_values_have_their_sign_in_every_pane(void **state) {
    (void)state;
    static const Pane *const panes[] = {&pane_lanes, &pane_global, &pane_tree};
    Opened opened = open_halves("u32", "%r", "in=int[4]:iota(-9,2), out=int[2]");
    for (int i = 0; i < 3; i++) {
        char *text = draw(&opened, panes[i], 110, 12);
        assert_shows(text, "-14"); /* -9 + -5 */
        assert_hides(text, "42949672");
        free(text);
    }
    close_kernel(&opened);
    opened = open_halves("u32", "%r", "in=unsigned[4]:iota(3000000000,2), out=unsigned[2]");
    char *text = draw(&opened, &pane_lanes, 110, 12);
    assert_shows(text, "1705032708"); /* 3000000000 + 3000000004 - 2^32 */
    free(text);
    close_kernel(&opened);
}

/* Values whose first digits are alike have room for the others. */
static void test_small_floats_keep_their_digits(void **state) {
    (void)state;
    Opened opened = open_halves("f32", "%f", "in=float[4]:iota(0.0000123,0.0000001), out=float[2]");
    for (int columns = 78; columns <= 198; columns += 40) {
        char *text = draw(&opened, &pane_reduction, columns, 12);
        assert_shows(text, "1.23e-5 1.24e-5 1.25e-5 1.26e-5");
        assert_shows(text, "2.48e-5  2.5e-5");
        free(text);
        opened.view.display.values = VALUE_HEX;
        text = draw(&opened, &pane_reduction, columns, 12);
        assert_shows(text, "374e5c19  37500998");
        free(text);
        opened.view.display.values = VALUE_NATURAL;
    }
    close_kernel(&opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_negative_values_have_their_sign_in_every_pane),
        cmocka_unit_test(test_small_floats_keep_their_digits),
        cmocka_unit_test(test_a_tree_names_the_other_warps_lane),
        cmocka_unit_test(test_a_shuffle_upwards_names_its_distance),
        cmocka_unit_test(test_lanes_that_a_warp_lacks_do_not_stop),
        cmocka_unit_test(test_absent_lanes_have_a_sign),
        cmocka_unit_test(test_full_warps_have_no_absent_lanes),
        cmocka_unit_test(test_every_warp_has_a_row_where_there_are_rows),
        cmocka_unit_test(test_warps_share_rows_only_as_needed),
        cmocka_unit_test(test_numbers_of_metrics_do_not_run_together),
        cmocka_unit_test(test_empty_panes_say_what_to_do_in_one_row),
        cmocka_unit_test(test_an_empty_pane_leaves_its_rows),
        cmocka_unit_test(test_conflicts_have_a_sign_beside_the_line),
        cmocka_unit_test(test_large_banks_show_values_bytes_and_waits),
        cmocka_unit_test(test_large_banks_follow_the_lane),
        cmocka_unit_test(test_reserved_rows_are_left_out),
        cmocka_unit_test(test_rows_out_of_sight_are_counted),
        cmocka_unit_test(test_hazards_have_a_sign_beside_the_line_and_on_the_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
