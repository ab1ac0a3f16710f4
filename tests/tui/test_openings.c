/* Openings: the first frame of every kernel of the catalogue at three sizes: the picture shows data, the
 * sentence is complete, a time is shown. The same frames as exact text, one golden file per size. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "stage.h"
#include "tui/frame.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STORY_COLUMNS = 78, MOST_KERNELS = 100 };

static const struct {
    int columns, rows;
    const char *golden;
} sizes[] = {{80, 24, "openings_80x24"}, {120, 40, "openings_120x40"}, {200, 60, "openings_200x60"}};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };

static Stage *stages[MOST_KERNELS];

static int open_all(void **state) {
    (void)state;
    assert_in_range(catalog_count(), 50, MOST_KERNELS);
    for (int i = 0; i < catalog_count(); i++) stages[i] = stage_open_kernel(catalog_row(i)->id);
    return 0;
}

static int close_all(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) stage_free(stages[i]);
    return 0;
}

/* ---- the picture --------------------------------------------------------------------------------------- */

static bool moves_data(TraceKind kind) {
    return trace_kind_is_access(kind) || kind == TRACE_SHUFFLE || kind == TRACE_VOTE || kind == TRACE_REDUX ||
           kind == TRACE_MATRIX;
}

static bool has_data_from(const Stage *stage, int step) {
    const StepIndex *index = scene_step_index(stage->scene, stage->comparison.view[0].place.block);
    for (; step < index->steps->step_count; step++)
        if (moves_data((TraceKind)index->step[step].kind)) return true;
    return false;
}

/* Rows of the picture, without its frame, that contain a digit: the numbers of lanes and words, or values. */
static int rows_with_data(const Canvas *canvas, Rectangle area) {
    int count = 0;
    for (int row = area.row + 1; row < area.row + area.rows; row++) {
        bool has_digit = false;
        for (int column = area.column; column < area.column + area.columns; column++) {
            uint32_t glyph = canvas->cells[row * canvas->columns + column].glyph;
            has_digit |= glyph >= '0' && glyph <= '9';
        }
        count += has_digit;
    }
    return count;
}

static void check_picture(const Stage *stage, const char *kernel, int columns, int rows) {
    Rectangle area;
    const Pane *pane = stage_picture(stage, columns, rows, &area);
    const View *view = &stage->comparison.view[0];
    if (!pane) fail_msg("%s at %dx%d: no picture", kernel, columns, rows);
    const CatalogRow *row = stage->scene->identity.row;
    if (row && row->opens && pane == &pane_async) return; /* the lesson is the copy */
    bool is_of_data = pane == &pane_reduction || pane == &pane_banks || pane == &pane_shuffle ||
                      pane == &pane_global || pane == &pane_vote || pane == &pane_matrix ||
                      pane == &pane_branch;
    if (!is_of_data && has_data_from(stage, view->place.step))
        fail_msg("%s at %dx%d: step %d shows neither data nor a lesson", kernel, columns, rows,
                 view->place.step + 1);
    if (!is_of_data) return;
    Canvas *canvas = stage_draw(stage, columns, rows);
    int filled = rows_with_data(canvas, area);
    canvas_free(canvas);
    if (filled < 2) fail_msg("%s at %dx%d: the picture is empty", kernel, columns, rows);
}

/* It diverges, and that is the first entry of the list. */
static bool is_first_entry(const Stage *stage) {
    const Findings *list = stage->scene->borrowed.hazards;
    const ViewPlace *place = &stage->comparison.view[0].place;
    const StepIndex *index = scene_step_index(stage->scene, place->block);
    return list->count && list->items[0].kind == FINDING_IDLE_LANES &&
           list->items[0].access.pc == index->steps->steps[place->step].pc;
}

static void the_first_step_moves_data(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        const ViewPlace *place = &stages[i]->comparison.view[0].place;
        const StepIndex *index = scene_step_index(stages[i]->scene, place->block);
        bool has_lesson = moves_data((TraceKind)index->step[place->step].kind) || is_first_entry(stages[i]);
        if (!has_lesson && has_data_from(stages[i], 0))
            fail_msg("%s opens on step %d, which moves nothing", catalog_row(i)->id, place->step + 1);
    }
}

static void the_picture_shows_data(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++)
        for (int size = 0; size < SIZE_COUNT; size++)
            check_picture(stages[i], catalog_row(i)->id, sizes[size].columns, sizes[size].rows);
}

/* ---- the sentence -------------------------------------------------------------------------------------- */

/* Row `row` of the frame without surrounding blanks; the caller frees it. */
static char *row_of(const char *frame, int row) {
    while (row-- > 0) frame = strchr(frame, '\n') + 1;
    while (*frame == ' ') frame++;
    size_t length = strcspn(frame, "\n");
    while (length && frame[length - 1] == ' ') length--;
    return strndup(frame, length);
}

static void the_sentence_is_complete(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (!row->story || !row->story[0]) fail_msg("%s has no story", row->id);
        if (canvas_text_columns(row->story) > MOST_STORY_COLUMNS)
            fail_msg("%s: its story has %d columns", row->id, canvas_text_columns(row->story));
        for (int size = 0; size < SIZE_COUNT; size++) {
            char *frame = stage_text(stages[i], sizes[size].columns, sizes[size].rows);
            char *line = row_of(frame, 1);
            assert_string_equal(line, row->story);
            free(line);
            free(frame);
        }
    }
}

/* ---- nothing is cut ------------------------------------------------------------------------------------ */

/* A row of the source, which begins with the number of its line, ends there. */
static bool is_of_source(const char *begin, const char *at) {
    static const char border[] = "│";
    if (!strncmp(begin, border, strlen(border))) begin += strlen(border);
    const char *number = begin + strspn(begin, " >");
    size_t digits = strspn(number, "0123456789"), rest = strlen(begin);
    const char *next = strstr(begin, border);
    return digits && number - begin <= 4 && at < (next ? next : begin + rest);
}

/* The first text of the frame that ends in an ellipsis, except a line of source, and one that stands alone: a
 * sum that is not made yet. NULL: none. The caller frees it. */
static char *cut_text(const char *frame) {
    static const char ellipsis[] = "\u2026";
    for (const char *at = frame; (at = strstr(at, ellipsis)) != NULL; at += strlen(ellipsis)) {
        if (at == frame || at[-1] == ' ' || at[-1] == '\n') continue;
        const char *begin = at;
        while (begin > frame && begin[-1] != '\n') begin--;
        if (is_of_source(begin, at)) continue;
        return strndup(begin, strcspn(begin, "\n"));
    }
    return NULL;
}

static void nothing_is_cut(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++)
        for (int size = 0; size < SIZE_COUNT; size++) {
            char *frame = stage_text(stages[i], sizes[size].columns, sizes[size].rows),
                 *cut = cut_text(frame);
            if (cut)
                fail_msg("%s at %dx%d: %s", catalog_row(i)->id, sizes[size].columns, sizes[size].rows, cut);
            free(frame);
        }
}

/* "15.7 us" or "1.5 ms", not the "us" of a word. */
static bool has_unit(const char *text, const char *unit) {
    for (const char *at = text; (at = strstr(at, unit)) != NULL; at += 3)
        if (at > text && isdigit((unsigned char)at[-1]) && !isalnum((unsigned char)at[3])) return true;
    return false;
}

/* A comparison's first screen: no text cut, both times and their ratio, and a picture of each run. */
static void a_comparison_shows_times_and_pictures(void **state) {
    (void)state;
    for (int size = 0; size < SIZE_COUNT; size++) {
        Stage *left = stage_open_kernel("interleaved"), *right = stage_open_kernel("sequential");
        comparison_put(&left->comparison, 1, right->scene);
        char *frame = stage_text(left, sizes[size].columns, sizes[size].rows), *cut = cut_text(frame);
        if (cut) fail_msg("%dx%d: %s", sizes[size].columns, sizes[size].rows, cut);
        const char *time = strstr(frame, "time, H200 recorded ");
        assert_non_null(time);
        char *line = strndup(time, strcspn(time, "\n"));
        assert_true(has_unit(line, " us"));
        assert_non_null(strstr(line, "x as fast"));
        const char *picture = strstr(frame, "reduction  ");
        assert_non_null(picture);
        assert_non_null(strstr(picture + 1, "reduction  "));
        free(line);
        free(frame);
        stage_free(left);
        stage_free(right);
    }
}

/* ---- faults -------------------------------------------------------------------------------------------- */

/* The block shown first contains the run's faults, wherever it is in the grid, and they are described
 * first. */
static void a_fault_is_in_the_block_that_is_shown(void **state) {
    (void)state;
    int in_another_block = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const Scene *scene = stages[i]->scene;
        if (!scene->traced.trace->trap_count) continue;
        const Trap *trap = &scene->traced.trace->traps[0];
        const View *view = &stages[i]->comparison.view[0];
        uint32_t block = scene_trap_block(scene, trap);
        assert_int_equal(trace_block_linear(scene->traced.blocks[view->place.block].block), block);
        assert_int_equal(view->selection.warp, trap->warp);
        in_another_block += block > 0;
        char *frame = stage_text(stages[i], 120, 40);
        const char *explanation = strstr(frame, " explanation ");
        assert_non_null(explanation);
        assert_non_null(strstr(explanation, "TRAP "));
        assert_null(strstr(explanation, "no conflict"));
        assert_null(strstr(explanation, "coalesced"));
        free(frame);
    }
    assert_true(in_another_block >= 2);
}

/* ---- the time ------------------------------------------------------------------------------------------ */

/* The line of the kernel's own time: its row of the timings, or what stands in their place; NULL: none. The
 * caller frees it. */
static char *time_of(const char *frame, const char *kernel) {
    char own[64];
    snprintf(own, sizeof own, " >%s ", kernel);
    const char *at = strstr(frame, own);
    if (!at && (at = strstr(frame, "\n time ")) != NULL) at++;
    return at ? strndup(at, strcspn(at, "\n")) : NULL;
}

static void a_time_is_visible(void **state) {
    (void)state;
    int measured = 0;
    for (int i = 0; i < catalog_count(); i++) {
        for (int size = 0; size < SIZE_COUNT; size++) {
            const char *kernel = catalog_row(i)->id;
            char *frame = stage_text(stages[i], sizes[size].columns, sizes[size].rows);
            char *line = time_of(frame, kernel);
            if (!line) fail_msg("%s at %dx%d: no time", kernel, sizes[size].columns, sizes[size].rows);
            bool has_time = has_unit(line, " us") || has_unit(line, " ms");
            if (!has_time && !strstr(line, "not measured on a GPU") && !strstr(line, " No timings "))
                fail_msg("%s at %dx%d: %s", kernel, sizes[size].columns, sizes[size].rows, line);
            measured += has_time;
            free(line);
            free(frame);
        }
    }
    assert_true(measured >= 20 * SIZE_COUNT); /* the ladder's are recorded */
}

/* ---- exact text ---------------------------------------------------------------------------------------- */

static void goldens(void **state) {
    (void)state;
    for (int size = 0; size < SIZE_COUNT; size++) {
        Text text = {0};
        for (int i = 0; i < catalog_count(); i++) {
            char *frame = stage_text(stages[i], sizes[size].columns, sizes[size].rows);
            text_print(&text, "%s\n\n", frame);
            free(frame);
        }
        golden_check(sizes[size].golden, &text);
        text_done(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_step_moves_data),
        cmocka_unit_test(the_picture_shows_data),
        cmocka_unit_test(the_sentence_is_complete),
        cmocka_unit_test(nothing_is_cut),
        cmocka_unit_test(a_comparison_shows_times_and_pictures),
        cmocka_unit_test(a_fault_is_in_the_block_that_is_shown),
        cmocka_unit_test(a_time_is_visible),
        cmocka_unit_test(goldens),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
