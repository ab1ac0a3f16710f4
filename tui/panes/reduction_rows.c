/* The rows of a level: numbers, before, after, threads, inputs, rounding. */
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t box_number(const BoxRow *row, int64_t box) {
    bool lanes = row->level->place == PLACE_THREAD &&
                 (row->level->through == TRACE_SHUFFLE || row->level->through == TRACE_REDUX ||
                  row->level->through == TRACE_MATRIX);
    if (row->is_chain) return row->level->terms[row->level->boxes[box].first_term].index;
    return lanes ? box % WARP_LANES : box;
}

/* A number of the window is too wide for its box. */
static bool is_too_long(const BoxRow *row) {
    char text[32];
    for (int i = 0; i < row->count; i++)
        if (snprintf(text, sizeof text, "%" PRId64, box_number(row, row->first + i)) >= row->width)
            return true;
    return false;
}

/* The inputs of a chain are far apart: if their numbers are too wide, those of the additions are more
 * useful. */
void boxes_draw_indexes(const BoxRow *row, int line) {
    char text[64];
    bool counts = row->is_chain && is_too_long(row);
    if (counts)
        snprintf(text, sizeof text, tr("addition"));
    else
        boxes_print_name(row, text, sizeof text);
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, text);
    for (int i = 0; i < row->count; i++) {
        int64_t number = counts ? row->first + i : box_number(row, row->first + i);
        snprintf(text, sizeof text, "%" PRId64, number);
        if ((int)strlen(text) >= row->width) snprintf(text, sizeof text, "..%02" PRId64, number % 100);
        boxes_draw_right(row, row->first + i, line,
                         row->first + i == row->selected ? ROLE_SELECTED : ROLE_DIM, text);
    }
}

/* The step at which the box is read, if it is this one. */
static bool is_read_now(const BoxRow *row, int64_t box) {
    for (int i = 0; i < row->level->term_count; i++) {
        const ReductionTerm *term = &row->level->terms[i];
        if (term->place == row->level->place && term->index == box && boxes_is_now(row, term)) return true;
    }
    return false;
}

static PtxType before_type(const BoxRow *row, const ReductionBox *box) {
    if (box->before_type != PTX_NO_TYPE) return box->before_type;
    return box->before_node == FOLD_NONE ? row->level->type
                                         : reduction_type(row->reduction, box->before_node, row->level->type);
}

/* Where values are passed on, most threads held nothing before. */
bool boxes_show_before(const BoxRow *row) {
    if (row->level->kind != TREE_TAKE) return true;
    for (int i = 0; i < row->count; i++)
        if (boxes_at(row, i)->has_before && boxes_at(row, i)->was_live) return true;
    return false;
}

void boxes_draw_before(const BoxRow *row, int line) {
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, row->is_chain ? tr("value") : tr("before"));
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (!box->has_before || !box->was_live) {
            boxes_draw_dot(row, box->index, line);
            continue;
        }
        Role role =
            is_read_now(row, box->index) || boxes_is_lit(row, box->before_node) ? ROLE_LIT : ROLE_TEXT;
        boxes_draw_value(row, box->index, line, role, before_type(row, box), box->before);
    }
}

/* The first value of a chain is an input: it may have another type than the sum. */
static PtxType after_type(const BoxRow *row, const ReductionBox *box) {
    bool is_input = row->is_chain && box->node != FOLD_NONE && box->node == box->before_node;
    return is_input ? before_type(row, box) : row->level->type;
}

void boxes_draw_after(const BoxRow *row, int line) {
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, row->is_chain ? tr("sum so far") : tr("after"));
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        char mark = boxes_mark(row, box);
        if (box->adds && !boxes_is_done(row, box)) {
            canvas_glyph(row->canvas, row->area, boxes_column(row, box->index), line, ROLE_DIM, 0x2026);
            continue;
        }
        bool is_unused =
            (!box->is_live && !box->adds) || box->is_idle || boxes_is_stopped(row, (int)box->index);
        if (!box->has_after || is_unused) {
            boxes_draw_dot(row, box->index, line);
            continue;
        }
        Role role = mark != ' '                    ? ROLE_WARNING
                    : boxes_is_lit(row, box->node) ? ROLE_LIT
                    : box->adds && box->is_live    ? ROLE_ACTIVE
                    : box->is_live                 ? ROLE_TEXT
                                                   : ROLE_IDLE;
        boxes_draw_value(row, box->index, line, role, after_type(row, box), box->after);
        if (mark != ' ')
            canvas_glyph(row->canvas, row->area, boxes_column(row, box->index) + 1, line, ROLE_WARNING,
                         (uint32_t)mark);
    }
}

void boxes_draw_threads(const BoxRow *row, int line) {
    char text[16];
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, tr("thread"));
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (box->thread < 0) continue;
        snprintf(text, sizeof text, "t%d", box->thread);
        boxes_draw_right(row, box->index, line, ROLE_DIM, text);
    }
}

static bool counts_inputs(const BoxRow *row, const ReductionBox *box) {
    return box->adds && box->node != FOLD_NONE && boxes_node(row, box->node)->is_plain;
}

bool boxes_count_inputs(const BoxRow *row) {
    for (int i = 0; i < row->count; i++)
        if (counts_inputs(row, boxes_at(row, i))) return true;
    return false;
}

void boxes_draw_inputs(const BoxRow *row, int line) {
    char text[16];
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, tr("inputs in"));
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (!counts_inputs(row, box) || !boxes_is_done(row, box)) continue;
        if (boxes_is_stopped(row, (int)box->index)) continue;
        boxes_print_number(boxes_node(row, box->node)->weight, row->width - 1, text, sizeof text);
        char mark = boxes_mark(row, box);
        boxes_draw_right(row, box->index, line,
                         mark == MARK_TWICE || mark == MARK_LOST ? ROLE_WARNING : ROLE_DIM, text);
    }
}

bool boxes_sum_floats(const BoxRow *row) {
    double rounding;
    bool is_float = row->level->type != PTX_NO_TYPE && ptx_type_is_float(row->level->type);
    for (int i = 0; is_float && i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (box->adds && box->node != FOLD_NONE && reduction_rounding(row->reduction, box->node, &rounding))
            return true;
    }
    return false;
}

/* The rounding error of each addition. */
void boxes_draw_rounding(const BoxRow *row, int line) {
    char text[32];
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, tr("rounding"));
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        double rounding;
        if (!box->adds || box->node == FOLD_NONE || !boxes_is_done(row, box)) continue;
        if (!reduction_rounding(row->reduction, box->node, &rounding)) continue;
        boxes_print_number(rounding, row->width - 1, text, sizeof text);
        boxes_draw_right(row, box->index, line, rounding != 0 ? ROLE_WARNING : ROLE_DIM, text);
    }
}

/* The selected box in words: its sum, its rounding error, its distance from the exact sum. */
void boxes_draw_error(const BoxRow *row, int line) {
    const ReductionBox *box = reduction_find(row->level, row->selected);
    double rounding, error;
    char value[64];
    if (!box || !box->adds || box->node == FOLD_NONE || !boxes_is_done(row, box)) return;
    if (!reduction_rounding(row->reduction, box->node, &rounding)) return;
    if (!reduction_error(row->reduction, box->node, &error)) return;
    step_context_print_typed(row->context, row->level->type, box->after, value, sizeof value);
    canvas_print(row->canvas, row->area, 1, line, error != 0 ? ROLE_WARNING : ROLE_TEXT,
                 tr("t%d: %s; rounding %.6g here, %.6g from the exact sum"), box->thread, value, rounding,
                 error);
}

bool boxes_show_adders(const BoxRow *row, int rows) {
    enum { LEAST_ROWS = 7 };
    return row->level->kind == TREE_FOLD && !row->is_chain && rows >= LEAST_ROWS;
}

/* "64 of 256 threads add, 8 of 32 lanes in all 8 warps; 2 warps would do" */
void boxes_draw_adders(const BoxRow *row, int line) {
    const ReductionLevel *level = row->level;
    int threads = boxes_tree(row)->thread_count, warps = 0, least = WARP_LANES, most = 0;
    char where[48] = "", lanes[48];
    for (int i = 0; i < level->warp_count; i++) {
        int count = __builtin_popcount(level->adding[i]);
        if (!count) continue;
        warps++;
        if (count < least) least = count;
        if (count > most) most = count;
    }
    if (warps < level->warp_count)
        snprintf(where, sizeof where, tr(" in %d of %d warps"), warps, level->warp_count);
    else if (warps > 1)
        snprintf(where, sizeof where, warps == 2 ? tr(" in both warps") : tr(" in all %d warps"), warps);
    snprintf(lanes, sizeof lanes, tr("all 32"));
    if (least < most)
        snprintf(lanes, sizeof lanes, tr("%d to %d of %d"), least, most, WARP_LANES);
    else if (least < WARP_LANES)
        snprintf(lanes, sizeof lanes, tr("%d of %d"), least, WARP_LANES);
    int needed = (level->adder_count + WARP_LANES - 1) / WARP_LANES;
    Role role = needed < warps ? ROLE_WARNING : ROLE_DIM;
    int column = 1 + canvas_print(row->canvas, row->area, 1, line, role,
                                  tr("%d of %d threads %s, %s lanes%s"), level->adder_count, threads,
                                  reduction_verb(level, level->adder_count == 1), lanes, where);
    if (needed < warps)
        canvas_print(row->canvas, row->area, column, line, role, tr("; %d warp%s would do"), needed,
                     needed > 1 ? "s" : "");
}

/* ---- values kept in registers -------------------------------------------------------------------------- */

enum { MOST_KEPT_ROWS = 3 };

/* Value number `number` that the box's thread keeps; NULL: none. */
static const ReductionKept *kept_by(const BoxRow *row, int64_t thread, int number) {
    for (int i = 0; i < row->level->kept_count; i++)
        if (row->level->kept[i].thread == thread && number-- == 0) return &row->level->kept[i];
    return NULL;
}

int boxes_kept_rows(const BoxRow *row, int room) {
    int most = 0, limit = room < MOST_KEPT_ROWS ? room : MOST_KEPT_ROWS;
    if (row->is_chain || room <= 0 || !row->level->kept_count) return 0;
    if (row->level->place != PLACE_THREAD) return 1;
    for (int i = 0; i < row->count; i++)
        while (most < limit && kept_by(row, row->first + i, most)) most++;
    return most * row->tall <= room ? most * row->tall : 0;
}

static PtxType type_of_kept(const BoxRow *row, const ReductionKept *kept) {
    return reduction_type(row->reduction, kept->node, row->level->type);
}

/* If boxes are words: "t0 also holds 71 in a register; 3 values are in registers". */
static void draw_sentence(const BoxRow *row, int line) {
    const ReductionKept *first = row->level->kept;
    char value[64];
    step_context_print_typed(row->context, type_of_kept(row, first), first->bits, value, sizeof value);
    int column = 1 + canvas_print(row->canvas, row->area, 1, line, ROLE_TEXT,
                                  tr("t%d also holds %s in a register"), first->thread, value);
    if (row->level->kept_count > 1)
        canvas_print(row->canvas, row->area, column, line, ROLE_DIM, tr("; %d values are in registers"),
                     row->level->kept_count);
}

void boxes_draw_kept(const BoxRow *row, int line, int rows) {
    if (rows && row->level->place != PLACE_THREAD) {
        draw_sentence(row, line);
        return;
    }
    for (int number = 0; number < rows / row->tall; number++) {
        int at = line + number * row->tall;
        canvas_text(row->canvas, row->area, 1, at, ROLE_DIM, tr("also holds"));
        for (int i = 0; i < row->count; i++) {
            const ReductionKept *kept = kept_by(row, row->first + i, number);
            if (!kept) continue;
            boxes_draw_value(row, row->first + i, at, boxes_is_lit(row, kept->node) ? ROLE_LIT : ROLE_TEXT,
                             type_of_kept(row, kept), kept->bits);
        }
    }
}

/* ---- the window ---------------------------------------------------------------------------------------- */

enum {
    BOX_COLUMNS = 6,
    NARROW_BOX_COLUMNS = 5,
    WIDE_BOX_COLUMNS = 8,
    GAPS = 2,
    NARROW_FROM = 172,
    FEW_BOXES = 16,
    MANY_BOXES = 32
};

/* The box of the selected thread: the one that it adds into, else the one with its number. */
static int64_t selected_box(const StepContext *context, const ReductionLevel *level) {
    int thread = context->view->selection.warp * WARP_LANES + context->view->selection.lane;
    for (int i = 0; i < level->box_count; i++)
        if (level->boxes[i].adds && level->boxes[i].thread == thread) return level->boxes[i].index;
    return thread < level->box_count ? thread : -1;
}

/* The addition being played. */
static int64_t latest_box(const StepContext *context, const ReductionLevel *chain) {
    int latest = 0;
    while (latest + 1 < chain->box_count && chain->boxes[latest + 1].step <= context->view->place.step)
        latest++;
    return latest;
}

/* The first box of the page. Pages of a chain overlap by a quarter, so that a sum is shown beside the one
 * before. */
static int64_t first_box(const BoxRow *row) {
    if (row->selected <= 0) return 0;
    bool is_trap = boxes_has_trap(row); /* threads before the first trapped one are shown as well */
    if (is_trap) return row->selected > row->count / 2 ? row->selected - row->count / 2 : 0;
    if (!row->is_chain) return row->selected / row->count * row->count;
    int kept = row->count / 4;
    int64_t first = row->selected / (row->count - kept) * (row->count - kept) - kept;
    return first > 0 ? first : 0;
}

static void put_window(BoxRow *row, int columns, int width) {
    int fit = (columns - LABEL_COLUMNS) / width;
    row->width = width;
    row->count = fit >= MANY_BOXES  ? MANY_BOXES
                 : fit >= FEW_BOXES ? fit / 4 * 4
                 : fit >= 10        ? fit / 2 * 2
                                    : fit;
    if (row->count < 1) row->count = 1;
    row->first = first_box(row);
    if (row->first + row->count > row->level->box_count)
        row->count = (int)(row->level->box_count - row->first);
    if (row->count < 0) row->count = 0;
    row->marked = false;
    for (int i = 0; i < row->count; i++) row->marked |= boxes_mark(row, boxes_at(row, i)) != MARK_NONE;
}

/* A sum with a mark after it loses digits in a box of this width. */
static bool is_cut(const BoxRow *row) {
    char text[64];
    if (boxes_has_trap(row)) return true; /* so would the element that a thread accessed */
    for (int i = 0; row->marked && i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (!box->has_after) continue;
        step_context_print_typed(row->context, row->level->type, box->after, text, sizeof text);
        if ((int)strlen(text) > row->width - 2) return true;
    }
    return false;
}

/* A value of the window has no room for its digits: it is written with an exponent, or not at all. */
static bool loses_digits(const BoxRow *row) {
    char text[64];
    if (row->level->type == PTX_NO_TYPE) return false;
    bool is_hex = row->context->view->display.values == VALUE_HEX;
    for (int i = 0; i < 2 * row->count; i++) {
        const ReductionBox *box = boxes_at(row, i / 2);
        bool is_after = i % 2;
        if (!(is_after ? box->has_after && box->is_live : box->has_before && box->was_live)) continue;
        boxes_print_value(row, is_after ? row->level->type : before_type(row, box),
                          is_after ? box->after : box->before, row->width - 1 - row->marked, text,
                          sizeof text);
        if (text[strcspn(text, is_hex ? "#" : "e#")]) return true;
    }
    return false;
}

static int longest_in_window(const BoxRow *row) {
    char text[64];
    int longest = 1;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        for (int after = 0; after < 2; after++) {
            if (!(after ? box->has_after : box->has_before)) continue;
            step_context_print_typed(row->context, row->level->type, after ? box->after : box->before, text,
                                     sizeof text);
            if ((int)strlen(text) > longest) longest = (int)strlen(text);
        }
    }
    return longest;
}

/* On a projector the values are big, if the least number of boxes still fits. */
static void enlarge(BoxRow *row, int columns) {
    enum { LEAST_BIG_BOXES = 8, BIG_GAP = 2 };
    int width = longest_in_window(row) * CANVAS_BIG_COLUMNS + BIG_GAP;
    if (columns - LABEL_COLUMNS < LEAST_BIG_BOXES * width) return;
    put_window(row, columns, width);
    if (row->count < 2 * LEAST_BIG_BOXES)
        put_window(row, columns, (columns - LABEL_COLUMNS) / LEAST_BIG_BOXES);
    row->tall = CANVAS_BIG_ROWS;
}

BoxRow boxes_row(const StepContext *context, int columns) {
    BoxRow row = {.context = context,
                  .tall = 1,
                  .reduction = scene_reduction(context->scene, context->view->place.block)};
    if (!row.reduction) return row;
    row.level = reduction_level(row.reduction, reduction_level_at(row.reduction, context->view->place.step));
    if (!row.level) return row;
    int thread = context->view->selection.warp * WARP_LANES + context->view->selection.lane;
    const ReductionLevel *chain = reduction_chain(row.reduction, row.level->level, thread);
    row.is_chain = chain != NULL;
    if (chain) row.level = chain;
    row.selected = row.is_chain ? latest_box(context, row.level) : selected_box(context, row.level);
    Tree *tree = scene_tree(context->scene, context->view->place.block);
    if (tree->final_count) row.path = tree_path(tree, tree->final[0]);
    put_window(&row, columns, columns >= NARROW_FROM ? NARROW_BOX_COLUMNS : BOX_COLUMNS);
    if (row.width < BOX_COLUMNS && is_cut(&row)) put_window(&row, columns, BOX_COLUMNS);
    bool is_hex = context->view->display.values == VALUE_HEX;
    int wide = is_hex ? 2 * ptx_type_bytes(row.level->type) + GAPS : WIDE_BOX_COLUMNS;
    if (loses_digits(&row)) put_window(&row, columns, wide);
    if (context->view->display.projector) enlarge(&row, columns);
    return row;
}
