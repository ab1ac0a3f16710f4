/* The boxes in the window, and their width. */
#include "tui/panes/reduction_row.h"

#include <string.h>

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

static int longest_value(const BoxRow *row) {
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
    int width = longest_value(row) * CANVAS_BIG_COLUMNS + BIG_GAP;
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
