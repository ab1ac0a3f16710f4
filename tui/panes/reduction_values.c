/* The places of boxes on the screen, and their values. */
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const Tree *boxes_tree(const BoxRow *row) {
    return scene_tree(row->context->scene, row->context->view->place.block);
}

const FoldNode *boxes_node(const BoxRow *row, int node) {
    return &boxes_tree(row)->folds->nodes[node];
}

const ReductionBox *boxes_at(const BoxRow *row, int index) {
    return reduction_find(row->level, row->first + index);
}

/* The column of a box's last digit. */
int boxes_column(const BoxRow *row, int64_t box) {
    return LABEL_COLUMNS + (int)(box - row->first + 1) * row->width - 2;
}

bool boxes_in_window(const BoxRow *row, int64_t box) {
    return box >= row->first && box < row->first + row->count;
}

/* The value is part of the selected one. */
bool boxes_is_lit(const BoxRow *row, int node) {
    return row->chain && node != FOLD_NONE && node <= row->chain->root && row->chain->ways[node] > 0;
}

/* Whether the term's value reaches its adder in this step. */
bool boxes_is_now(const BoxRow *row, const ReductionTerm *term) {
    return term->step == row->context->view->place.step && !term->is_own;
}

/* The sum is complete: its store, or its addition, has been played. */
bool boxes_is_done(const BoxRow *row, const ReductionBox *box) {
    int step = row->context->view->place.step;
    return box->step < step || (box->step == step && view_phase(row->context->view) >= 1);
}

/* In at most `columns`, with an exponent if that is shorter: "1.2e9". */
void boxes_print_number(double value, int columns, char *out, size_t bytes) {
    for (int digits = 6; digits > 0; digits--) {
        snprintf(out, bytes, "%.*g", digits, value);
        if ((int)strlen(out) <= columns && !strchr(out, 'e')) return;
        int exponent = value != 0 && isfinite(value) ? (int)floor(log10(fabs(value))) : 0;
        snprintf(out, bytes, "%.*fe%d", digits - 1, value / pow(10, exponent), exponent);
        if ((int)strlen(out) <= columns) return;
    }
    snprintf(out, bytes, "%.*s", columns, fabs(value) < 1 ? "~0" : "########");
}

/* The value in at most `columns`: exact, else rounded. */
void boxes_print_value(const BoxRow *row, PtxType type, uint64_t bits, int columns, char *out, size_t bytes) {
    char text[64];
    step_context_print_typed(row->context, type, bits, text, sizeof text);
    if ((int)strlen(text) > columns && (type == PTX_F16X2 || type == PTX_BF16X2))
        snprintf(text, sizeof text, "pair");
    if ((int)strlen(text) > columns && type != PTX_NO_TYPE && row->context->view->display.values != VALUE_HEX)
        boxes_print_number(plan_element(type, &bits, 0), columns, text, sizeof text);
    if ((int)strlen(text) > columns) snprintf(text, sizeof text, "%.*s", columns, "########");
    snprintf(out, bytes, "%s", text);
}

void boxes_draw_right(const BoxRow *row, int64_t box, int line, Role role, const char *text) {
    canvas_text(row->canvas, row->area, boxes_column(row, box) + 1 - canvas_text_columns(text), line, role,
                text);
}

void boxes_draw_value(const BoxRow *row, int64_t box, int line, Role role, PtxType type, uint64_t bits) {
    char text[64];
    bool is_big = row->tall > 1;
    int columns = is_big ? row->width / CANVAS_BIG_COLUMNS : row->width - 1 - row->marked;
    boxes_print_value(row, type, bits, columns, text, sizeof text);
    if (is_big)
        canvas_big_number(row->canvas, row->area, boxes_column(row, box), line, role, text);
    else
        boxes_draw_right(row, box, line, role, text);
}

void boxes_draw_dot(const BoxRow *row, int64_t box, int line) {
    canvas_glyph(row->canvas, row->area, boxes_column(row, box), line + row->tall / 2, ROLE_IDLE, 0xB7);
}

void boxes_print_name(const BoxRow *row, char *out, size_t bytes) {
    const char *name = tr("thread");
    char text[64];
    if (row->is_chain && row->level->terms[0].place == PLACE_INPUT) {
        step_context_print_input(row->context, row->level->terms[0].symbol, text, sizeof text);
        name = text;
    } else if (row->level->place == PLACE_WORD) {
        step_context_print_symbol(row->context, row->level->symbol, text, sizeof text);
        name = text;
    } else if (row->level->through == TRACE_SHUFFLE || row->level->through == TRACE_REDUX ||
               row->level->through == TRACE_MATRIX) {
        name = "lane";
    }
    snprintf(out, bytes, "%.*s", LABEL_COLUMNS - 1, name);
}

/* ---- the window ---------------------------------------------------------------------------------------- */

enum { BOX_COLUMNS = 6, NARROW_BOX_COLUMNS = 5, NARROW_FROM = 172, FEW_BOXES = 16, MANY_BOXES = 32 };

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
    if (context->view->display.projector) enlarge(&row, columns);
    return row;
}
