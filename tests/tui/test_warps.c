/* Warps in time: timelines by hand of the kernel `sequential`, whose steps wait where the kernel loads and at
 * its barriers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "golden.h"
#include "stage.h"
#include "tui/frame.h"
#include "tui/view/warps_view.h"
#include <stdlib.h>

enum { LOAD_LINE = 23, FIRST_BARRIER_LINE = 24, LOOP_BARRIER_LINE = 29, WARPS = 8, ROUNDS = 8 };
enum { GLOBAL, FIRST_BARRIER, LOOP_BARRIER, SITES };

static SessionWarps shown; /* what the scene returns */

static const SessionWarps *answer(Session *session) {
    (void)session;
    return &shown;
}

static void forget(void) {
    for (int i = 0; i < shown.count; i++) warp_timeline_free(shown.timelines[i]);
    free(shown.timelines);
    shown = (SessionWarps){0};
}

/* The instruction of this line and kind, in the code that the stage runs. */
static int find_pc(const Stage *stage, int line, TraceKind kind) {
    const Steps *steps = session_block(stage->session, 0)->steps;
    for (int i = 0; i < steps->step_count; i++) {
        TraceEvent event;
        trace_block_read(steps->block, steps->events[steps->steps[i].first], &event);
        if (event.kind == kind && steps->launch->program->code[event.pc].line.line == line) return event.pc;
    }
    fail_msg("line %d has no such instruction", line);
    return -1;
}

static void add_line(WarpTimeline *timeline, int index, uint64_t block, uint32_t warp, uint32_t begin) {
    WarpLine *line = &timeline->lines[index];
    uint32_t at = begin + 120 + 10 * warp;
    *line =
        (WarpLine){.block = block, .warp = warp, .slot = (uint32_t)index, .begin = begin + 5 * (warp % 3)};
    line->wait_count = 2 + ROUNDS;
    line->waits = arena_new(&timeline->arena, (size_t)line->wait_count * sizeof *line->waits);
    line->waits[0] = (WarpWait){at, at + 400, GLOBAL, 0};
    line->waits[1] = (WarpWait){at + 420, at + 560 - 10 * warp, FIRST_BARRIER, 0};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t from = begin + 700 + 200 * i;
        line->waits[2 + i] = (WarpWait){from, from + 20 + 10 * ((warp + i) % 5), LOOP_BARRIER, 0};
    }
    line->end = begin + 700 + 200 * ROUNDS;
}

/* `at_once` blocks of 8 warps at once, in the order of their numbers but for the first two. */
static void add_timeline(const Stage *stage, uint32_t resident, int at_once) {
    enum { BLOCKS = 4 };
    static const uint64_t blocks[BLOCKS] = {9, 4, 13, 22};
    WarpTimeline *timeline = warp_timeline_new(1, SITES, BLOCKS * WARPS);
    int load = find_pc(stage, LOAD_LINE, TRACE_GLOBAL_LOAD);
    timeline->of.kernel = "sequential";
    timeline->of.dtype = "int";
    timeline->of.op = "sum";
    timeline->of.n = session_n(stage->session);
    timeline->of.machine = "NVIDIA Example 80GB";
    timeline->of.driver = "";
    timeline->of.measured = "2026-11-22T10:00:00Z";
    timeline->multiprocessor = 5;
    timeline->resident = resident;
    timeline->plain_us = resident ? 12 : 4;
    timeline->untraced_us = timeline->plain_us;
    timeline->traced_us = timeline->plain_us * 1.1;
    timeline->plain_life = 2000;
    timeline->traced_life = 2800;
    timeline->launches[0] = (WarpLaunch){.entry = "sequential", .grid = {64, 1, 1}, .block = {256, 1, 1}};
    timeline->sites[GLOBAL] = (WarpSite){WARP_WAITS_GLOBAL, 0, load + 1, load, LOAD_LINE};
    timeline->sites[FIRST_BARRIER] = (WarpSite){
        WARP_WAITS_BARRIER, 0, find_pc(stage, FIRST_BARRIER_LINE, TRACE_BARRIER), -1, FIRST_BARRIER_LINE};
    timeline->sites[LOOP_BARRIER] = (WarpSite){
        WARP_WAITS_BARRIER, 0, find_pc(stage, LOOP_BARRIER_LINE, TRACE_BARRIER), -1, LOOP_BARRIER_LINE};
    for (int i = 0; i < BLOCKS; i++)
        for (uint32_t warp = 0; warp < WARPS; warp++)
            add_line(timeline, i * WARPS + (int)warp, blocks[i], warp,
                     50 * (uint32_t)i + (uint32_t)(i / at_once) * 2400);
    warp_timeline_finish(timeline);
    array_push(shown.timelines, shown.count, shown.capacity, timeline);
}

static Stage *open_stage(bool several) {
    Stage *stage = stage_open_kernel("sequential");
    stage->scene->questions.warps = answer;
    add_timeline(stage, 0, 4);
    if (several) {
        add_timeline(stage, 1, 1);
        add_timeline(stage, 2, 2);
    }
    return stage;
}

static void close_stage(Stage *stage) {
    stage_free(stage);
    forget();
}

static bool frame_has(const Stage *stage, int columns, int rows, const char *text) {
    char *frame = stage_text(stage, columns, rows);
    bool found = strstr(frame, text) != NULL;
    free(frame);
    return found;
}

static WarpsCursor cursor(const Stage *stage) {
    StepContext context;
    assert_true(step_context_init(&context, stage->scene, stage_view((Stage *)(uintptr_t)stage)));
    return warps_view_cursor(&context);
}

/* The source line of the step on the screen. */
static int line_here(Stage *stage) {
    StepContext context;
    assert_true(step_context_init(&context, stage->scene, stage_view(stage)));
    return context.code->line.line;
}

/* ---- the picture --------------------------------------------------------------------------------------- */

static void every_size(void **state) {
    (void)state;
    Stage *stage = open_stage(true);
    stage_press(stage, "##<Right>");
    stage_check(stage, "warps_80x24", 80, 24, false);
    stage_check(stage, "warps_120x40", 120, 40, false);
    stage_check(stage, "warps_200x60", 200, 60, false);
    stage_check(stage, "warps_ascii", 80, 24, true);
    stage_press(stage, "z");
    stage_check(stage, "warps_two_residencies", 200, 60, false);
    stage_press(stage, "?");
    stage_check(stage, "warps_help", 120, 60, false);
    close_stage(stage);
}

static void any_size(void **state) {
    (void)state;
    Stage *stage = open_stage(true);
    stage_press(stage, "##");
    for (int zoomed = 0; zoomed < 2; zoomed++) {
        for (int columns = 1; columns < 210; columns += 7)
            for (int rows = 1; rows < 50; rows += 3) canvas_free(stage_draw(stage, columns, rows));
        stage_press(stage, "z");
    }
    close_stage(stage);
}

/* Without colours the letters are the same, and the waits of this step's line are reversed capitals. */
static void letters_do_without_colours(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    stage_press(stage, "##<Right>");
    char *before = stage_text(stage, 120, 40);
    stage_view(stage)->display.theme = THEME_MONO;
    char *after = stage_text(stage, 120, 40);
    assert_string_equal(before, after);
    assert_non_null(strstr(after, "GGGG"));
    assert_null(strstr(after, "BBBB"));
    int reversed = 0;
    Canvas *canvas = stage_draw(stage, 120, 40);
    for (int i = 0; i < 120 * 40; i++) {
        const Cell *next = &canvas->cells[i + (i + 1 < 120 * 40)];
        if (canvas->cells[i].glyph == 'G' && next->glyph == 'G' && canvas->cells[i].reverse) reversed++;
    }
    assert_true(reversed > 20);
    canvas_free(canvas);
    free(before);
    free(after);
    close_stage(stage);
}

/* Block 9 came before block 4. */
static void blocks_are_in_the_order_in_which_they_came(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    stage_press(stage, "##z");
    char *text = stage_text(stage, 120, 60);
    const char *first = strstr(text, "blk  9 w0"), *second = strstr(text, "blk  4 w0");
    assert_true(first && second && first < second);
    free(text);
    close_stage(stage);
}

/* ---- what is said -------------------------------------------------------------------------------------- */

static void another_size_or_type_is_said(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    stage_press(stage, "##");
    assert_false(frame_has(stage, 120, 40, ", not "));
    shown.timelines[0]->of.n = 1 << 24;
    assert_true(frame_has(stage, 120, 40, " of n = 2^24, not "));
    assert_true(frame_has(stage, 80, 24, " of n = 2^24, not "));
    shown.timelines[0]->of.n = session_n(stage->session);
    shown.timelines[0]->of.dtype = "float";
    assert_true(frame_has(stage, 120, 40, " of float, not int "));
    close_stage(stage);
}

static void probes_that_change_much_are_marked(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    stage_press(stage, "##z");
    assert_true(frame_has(stage, 120, 40, "launch +10%, traced blocks live 1.4x "));
    assert_false(frame_has(stage, 120, 40, "The probes change what they measure"));
    shown.timelines[0]->traced_life = 4000;
    assert_true(frame_has(stage, 120, 40, "traced blocks live 2.0x!"));
    assert_true(frame_has(stage, 120, 40, "! The probes change what they measure"));
    close_stage(stage);
}

/* With lines only the order means something; a line is passed, not waited for. */
static void lines_are_passed(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    shown.timelines[0]->sites[FIRST_BARRIER].state = WARP_PASSES_LINE;
    shown.timelines[0]->is_order_only = true;
    stage_press(stage, "G##z<Right><Right>");
    assert_int_equal(line_here(stage), FIRST_BARRIER_LINE);
    assert_true(frame_has(stage, 120, 40, " comes by at "));
    assert_true(frame_has(stage, 120, 40, ", line 24: __syncthreads();"));
    assert_true(frame_has(stage, 120, 40, "l line"));
    assert_true(frame_has(stage, 120, 40, "So many probes: only the order of waits means something"));
    close_stage(stage);
}

/* A narrow screen keeps the shares and leaves out their causes. */
static void a_narrow_summary_keeps_its_shares(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    WarpSummary *summary = &shown.timelines[0]->summary;
    *summary = (WarpSummary){.cycles = 100, .ready = 20, .empty = 10};
    for (int i = WARP_WAITS_GLOBAL; i <= WARP_WAITS_SHARED; i++) summary->waiting[i] = 10;
    stage_press(stage, "##z");
    assert_true(frame_has(stage, 80, 24, "all wait 70%; no warp 10%"));
    assert_true(frame_has(stage, 200, 60, "70% (global 10, atomic 10, barrier 10, fence 10, copy 10,"));
    close_stage(stage);
}

static void why_there_is_none(void **state) {
    (void)state;
    Stage *stage = stage_open_kernel("sequential");
    stage->scene->questions.warps = answer;
    shown.why = "this kernel was not recorded on a GPU, and there is none here";
    stage_press(stage, "##");
    char *text = stage_text(stage, 200, 60);
    assert_non_null(strstr(
        text, "Not known: this kernel was not recorded on a GPU, and there is none here. On a machine"));
    assert_non_null(strstr(text, "beat")); /* the keys keep their meaning */
    free(text);
    int step = stage_view(stage)->place.step;
    stage_press(stage, "<Right>");
    assert_true(stage_view(stage)->place.step > step);
    stage_free(stage);
    shown = (SessionWarps){0};
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void the_key_turns_from_grid_to_warps_and_back(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    char *before = stage_text(stage, 120, 40);
    stage_press(stage, "#");
    assert_int_equal(stage_view(stage)->display.picture, SHOW_GRID);
    stage_press(stage, "#");
    assert_int_equal(stage_view(stage)->display.picture, SHOW_WARPS);
    stage_press(stage, "#");
    char *after = stage_text(stage, 120, 40);
    assert_string_equal(before, after);
    stage_press(stage, "##<Escape>");
    assert_true(stage_view(stage)->display.picture < SHOWN_PICTURE_COUNT);
    stage_press(stage, "##r");
    assert_true(stage_view(stage)->display.picture < SHOWN_PICTURE_COUNT);
    free(before);
    free(after);
    close_stage(stage);
}

static void a_wait_and_its_step_are_one(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    View *view = stage_view(stage);
    stage_press(stage, "G##");
    assert_int_equal(cursor(stage).wait, -1); /* the last step waits for nothing */
    stage_press(stage, "<Right>");
    assert_int_equal(line_here(stage), LOAD_LINE);
    assert_int_equal(cursor(stage).wait, 0);
    stage_press(stage, "<Right>");
    assert_int_equal(line_here(stage), FIRST_BARRIER_LINE);
    stage_press(stage, "<Right>");
    assert_int_equal(line_here(stage), LOOP_BARRIER_LINE);
    int first = view->place.step;
    stage_press(stage, "<Right>"); /* the next round of the loop */
    assert_int_equal(line_here(stage), LOOP_BARRIER_LINE);
    int second = view->place.step;
    assert_true(second > first);
    stage_press(stage, "<Down>"); /* the same barrier of another warp */
    assert_int_equal(cursor(stage).line, 1);
    assert_int_equal(cursor(stage).wait, 3);
    assert_int_equal(view->selection.warp, 1);
    assert_int_equal(view->place.step, second);
    stage_press(stage, "<PgDn>"); /* of the block that came next */
    assert_int_equal(cursor(stage).line, WARPS + 1);
    stage_press(stage, "<PgUp><Left>");
    assert_int_equal(cursor(stage).line, 1);
    assert_int_equal(view->place.step, first);
    close_stage(stage);
}

/* Keys that move by steps take the cursor along. */
static void the_cursor_follows_the_step(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    View *view = stage_view(stage);
    stage_press(stage, "G##<Right><Right><Right><Right>");
    int there = view->place.step, wait = cursor(stage).wait;
    stage_press(stage, "G");
    assert_int_equal(cursor(stage).wait, -1);
    char keys[32];
    snprintf(keys, sizeof keys, "%dg", there + 1);
    stage_press(stage, keys);
    assert_int_equal(view->place.step, there);
    assert_int_equal(cursor(stage).wait, wait);
    stage_press(stage, "l"); /* a beat, as everywhere */
    assert_true(view->place.step > there);
    close_stage(stage);
}

/* The very block of a line is shown where the run has it. */
static void a_traced_block_is_gone_to(void **state) {
    (void)state;
    Stage *stage = stage_open(&(RunSpec){.kernel = "sequential",
                                         .threads = 1,
                                         .catalog = {.n = 64 * 256},
                                         .has_trace_blocks = true,
                                         .trace_first = 3,
                                         .trace_last = 4});
    stage->scene->questions.warps = answer;
    add_timeline(stage, 0, 4);
    stage_press(stage, "g##");
    assert_int_equal(stage_view(stage)->place.block, 0);
    stage_press(stage, "<Right><PgDn>");
    assert_int_equal(shown.timelines[0]->lines[cursor(stage).line].block, 4);
    assert_int_equal(stage_view(stage)->place.block, 1);
    close_stage(stage);
}

static void zoom_and_move(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    View *view = stage_view(stage);
    const WarpTimeline *timeline = shown.timelines[0];
    stage_press(stage, "g##<Right>");
    WarpsWindow life = warps_view_window(view, timeline, 0);
    assert_int_equal(life.begin, 0);
    assert_int_equal(life.span, 700 + 200 * ROUNDS); /* of block 9 */
    stage_press(stage, "+");
    WarpsWindow closer = warps_view_window(view, timeline, 0);
    assert_int_equal(closer.span, life.span / 2);
    stage_press(stage, ".");
    assert_int_equal(warps_view_window(view, timeline, 0).begin, closer.begin + closer.span / 2);
    stage_press(stage, "----------");
    WarpsWindow all = warps_view_window(view, timeline, 0);
    assert_int_equal(all.begin, 0);
    assert_int_equal(all.span, timeline->cycles);
    stage_press(stage, "+++++++++++++++++++++++++");
    assert_true(warps_view_window(view, timeline, 0).span >= 16);
    stage_press(stage, "<Right><Right><Right>"); /* the window follows the cursor */
    WarpsWindow window = warps_view_window(view, timeline, 0);
    const WarpWait *wait = &timeline->lines[cursor(stage).line].waits[cursor(stage).wait];
    assert_true(wait->begin >= window.begin && wait->begin < window.begin + window.span);
    close_stage(stage);
}

static void blocks_at_once_are_chosen(void **state) {
    (void)state;
    Stage *stage = open_stage(true);
    stage_press(stage, "##");
    assert_true(frame_has(stage, 120, 40, "warps on SM 5, all blocks"));
    stage_press(stage, "y");
    assert_true(frame_has(stage, 120, 40, "warps on SM 5, 1 block "));
    stage_press(stage, "y");
    assert_true(frame_has(stage, 120, 40, "warps on SM 5, 2 blocks"));
    stage_press(stage, "yY");
    assert_true(frame_has(stage, 120, 40, "warps on SM 5, 2 blocks"));
    close_stage(stage);
    stage = open_stage(false); /* none to choose from */
    stage_press(stage, "##y");
    assert_true(frame_has(stage, 120, 40, "only this number of blocks at once was measured"));
    close_stage(stage);
}

/* While another pane has the focus, the keys are those of the interface. */
static void keys_need_the_focus(void **state) {
    (void)state;
    Stage *stage = open_stage(false);
    View *view = stage_view(stage);
    stage_press(stage, "g##");
    assert_true(frame_has(stage, 200, 60, "arrows: waits"));
    stage_press(stage, "<Tab>g");
    assert_true(frame_has(stage, 200, 60, " beat "));
    int speed = view->display.speed;
    stage_press(stage, "+");
    assert_int_equal(view->display.speed, speed + 1);
    assert_int_equal(view->display.warps.span, 0);
    close_stage(stage);
}

/* ---- mouse --------------------------------------------------------------------------------------------- */

/* Clicks where the frame shows `text`, `columns` to the right of its begin. */
static void click_on(Stage *stage, int width, int height, const char *text, int right) {
    Canvas *canvas = stage_draw(stage, width, height);
    size_t length = strlen(text);
    for (int at = 0; at + (int)length < width * height; at++) {
        size_t i = 0;
        while (i < length && canvas->cells[at + (int)i].glyph == (uint32_t)(unsigned char)text[i]) i++;
        if (i < length) continue;
        comparison_click(&stage->comparison, width, height, at % width + right, at / width);
        canvas_free(canvas);
        return;
    }
    fail_msg("the frame does not hold \"%s\"", text);
}

static void clicks(void **state) {
    (void)state;
    Stage *stage = open_stage(true);
    stage_press(stage, "G##z");
    click_on(stage, 120, 40, "gggg", 1);
    assert_int_equal(line_here(stage), LOAD_LINE);
    assert_int_equal(cursor(stage).wait, 0);
    click_on(stage, 120, 40, " w4 ", 1); /* a warp alone */
    assert_int_equal(cursor(stage).line, 4);
    assert_int_equal(cursor(stage).wait, -1);
    assert_int_equal(stage_view(stage)->selection.warp, 4);
    click_on(stage, 120, 40, "is ready", 2);
    assert_int_equal(stage_view(stage)->display.warps.timeline, 0);
    click_on(stage, 200, 60, "1 block at once", 4); /* a title is no warp */
    assert_int_equal(stage_view(stage)->display.warps.timeline, 0);
    click_on(stage, 200, 60, "   2 ", 3); /* in the table */
    assert_int_equal(stage_view(stage)->display.warps.timeline, 2);
    close_stage(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(any_size),
        cmocka_unit_test(letters_do_without_colours),
        cmocka_unit_test(blocks_are_in_the_order_in_which_they_came),
        cmocka_unit_test(another_size_or_type_is_said),
        cmocka_unit_test(probes_that_change_much_are_marked),
        cmocka_unit_test(lines_are_passed),
        cmocka_unit_test(a_narrow_summary_keeps_its_shares),
        cmocka_unit_test(why_there_is_none),
        cmocka_unit_test(the_key_turns_from_grid_to_warps_and_back),
        cmocka_unit_test(a_wait_and_its_step_are_one),
        cmocka_unit_test(the_cursor_follows_the_step),
        cmocka_unit_test(a_traced_block_is_gone_to),
        cmocka_unit_test(zoom_and_move),
        cmocka_unit_test(blocks_at_once_are_chosen),
        cmocka_unit_test(keys_need_the_focus),
        cmocka_unit_test(clicks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
