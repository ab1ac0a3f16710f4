/* What goes wrong in a level: a mark behind the sum, and below the boxes what it means. */
#include "tui/panes/reduction_row.h"

#include <inttypes.h>

/* The term's load is one of a race that was found, and its word has another writer. */
bool boxes_is_racing(const BoxRow *row, const ReductionTerm *term) {
    return term->writer >= 0 && term->step <= row->context->view->place.step &&
           step_context_is_of_hazard(row->context, row->context->steps->steps[term->step].pc);
}

static const ReductionTerm *racing_term(const BoxRow *row, const ReductionBox *box) {
    for (int t = 0; box->adds && t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (boxes_is_racing(row, term)) return term;
    }
    return NULL;
}

/* What goes wrong with the box's sum: an input is in it twice, it is in no result and takes inputs with it, it was made
 * of a word that another thread writes at the same time; ' ': nothing. */
char boxes_mark(const BoxRow *row, const ReductionBox *box) {
    if (box->node == FOLD_NONE || !box->adds) return ' ';
    const Tree *tree = boxes_tree(row);
    if (row->path && box->node <= row->path->root && row->path->doubles[box->node]) return MARK_TWICE;
    if (!tree->reaches[box->node] && boxes_node(row, box->node)->is_plain &&
        (box->is_live || tree->holds_lost[box->node]))
        return MARK_LOST;
    return racing_term(row, box) ? MARK_RACE : ' ';
}

/* The first box of the window that has the mark, the selected one before all others; NULL: none. */
static const ReductionBox *marked_box(const BoxRow *row, char mark) {
    const ReductionBox *selected =
        boxes_in_window(row, row->selected) ? reduction_find(row->level, row->selected) : NULL;
    if (selected && boxes_mark(row, selected) == mark) return selected;
    for (int i = 0; i < row->count; i++)
        if (boxes_mark(row, boxes_at(row, i)) == mark) return boxes_at(row, i);
    return NULL;
}

/* What the marks of the window mean, a line each, as far as there is room. */
void boxes_draw_faults(const BoxRow *row, int line) {
    const ReductionBox *box = marked_box(row, MARK_RACE);
    if (box) {
        const ReductionTerm *term = racing_term(row, box);
        canvas_print(row->canvas, row->area, 1, line++, ROLE_WARNING,
                     "X t%d reads word %" PRId64 " %s t%d writes it: no barrier keeps them in this order",
                     term->thread, term->index, term->is_early ? "before" : "after", term->writer);
    }
    const Tree *tree = boxes_tree(row);
    bool is_last = row->level->level + 1 == reduction_level_count(row->reduction);
    if (marked_box(row, MARK_TWICE))
        canvas_text(row->canvas, row->area, 1, line++, ROLE_WARNING,
                    "! an input is in this sum more than once");
    else if (is_last && row->path && row->path->twice)
        canvas_print(row->canvas, row->area, 1, line++, ROLE_WARNING,
                     "! %d of %d inputs are in the result more than once", row->path->twice,
                     tree->input_count);
    if (tree->shared_count && (row->context->scene->outcome.verdict == SCENE_WRONG ||
                               row->context->scene->outcome.verdict == SCENE_WRONG_ON_PURPOSE))
        canvas_print(row->canvas, row->area, 1, line++, ROLE_WARNING,
                     "! %d of %d inputs are also in another block's result", tree->shared_count,
                     tree->input_count);
    if (marked_box(row, MARK_LOST) || (is_last && tree->lost_count))
        canvas_print(row->canvas, row->area, 1, line++, ROLE_WARNING, "? %d of %d inputs reach no result",
                     tree->lost_count, tree->input_count);
}
