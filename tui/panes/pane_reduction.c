/* Reduction: the sum as every text draws it. A row of boxes with their values, the operands that come in from elsewhere,
 * and the row that results; one level at a time, the levels before it above, as far as there is room.
 *
 *   sdata        0     1     2     3     4     5     6     7
 *   before       7     4     7     6     9     2     2     1
 *                ├───────────╯           ├───────────╯
 *   after       14     ·     ·     ·    11     ·     ·     ·
 *   thread      t0                      t4
 *   inputs       4                       4
 */
#include "tui/panes/pane.h"

#include "tui/scene/reduction.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LABEL_COLUMNS = 14, BOX_COLUMNS = 6, NARROW_BOX_COLUMNS = 5, NARROW_FROM = 172, MOST_ROWS = 64 };
enum { FEW_BOXES = 16, MANY_BOXES = 32, MOST_PARTNERS = 16, NARROW_HEAD = 90 };

typedef struct BoxRow { /* the boxes of the window, and where they are drawn */
    Reduction *reduction;
    const ReductionLevel *level;
    const TreePath *path;  /* of the final result: inputs that are in it twice */
    const TreePath *chain; /* of the selected box, where it is lit; NULL: it is not */
    int64_t first;
    int count, width;
    int64_t selected; /* box; -1: none of this level */
    bool marked;      /* some sum has a mark behind it, for which a column stays free */
    bool is_chain;    /* the boxes are additions of one thread, one after another */
} BoxRow;

static const Tree *tree_of(const StepContext *context) {
    return scene_tree(context->scene, context->view->place.block);
}

static const FoldNode *node_at(const StepContext *context, int node) {
    return &tree_of(context)->folds->nodes[node];
}

/* ---- the window ------------------------------------------------------------------------------------------ */

/* The box that belongs to the selected thread: that it adds into, else of its own number. */
static int64_t selected_box(const StepContext *context, const ReductionLevel *level) {
    int thread = context->view->selection.warp * WARP_LANES + context->view->selection.lane;
    for (int i = 0; i < level->box_count; i++)
        if (level->boxes[i].adds && level->boxes[i].thread == thread) return level->boxes[i].index;
    return thread < level->box_count ? thread : -1;
}

/* The addition that is played. */
static int64_t latest_box(const StepContext *context, const ReductionLevel *chain) {
    int latest = 0;
    while (latest + 1 < chain->box_count && chain->boxes[latest + 1].step <= context->view->place.step)
        latest++;
    return latest;
}

static BoxRow box_row(const StepContext *context, int columns) {
    BoxRow row = {.reduction = scene_reduction(context->scene, context->view->place.block)};
    if (!row.reduction) return row;
    row.level = reduction_level(row.reduction, reduction_level_at(row.reduction, context->view->place.step));
    if (!row.level) return row;
    int thread = context->view->selection.warp * WARP_LANES + context->view->selection.lane;
    const ReductionLevel *chain = reduction_chain(row.reduction, row.level->level, thread);
    row.is_chain = chain != NULL;
    if (chain) row.level = chain;
    row.width = columns >= NARROW_FROM ? NARROW_BOX_COLUMNS : BOX_COLUMNS;
    int fit = (columns - LABEL_COLUMNS) / row.width;
    row.count = fit >= MANY_BOXES  ? MANY_BOXES
                : fit >= FEW_BOXES ? fit / 4 * 4
                : fit >= 10        ? fit / 2 * 2
                                   : fit;
    if (row.count < 1) row.count = 1;
    row.selected = row.is_chain ? latest_box(context, row.level) : selected_box(context, row.level);
    row.first = row.selected > 0 ? row.selected / row.count * row.count : 0;
    if (row.first + row.count > row.level->box_count) row.count = (int)(row.level->box_count - row.first);
    if (row.count < 0) row.count = 0;
    return row;
}

static const ReductionBox *box_at(const BoxRow *row, int index) {
    return reduction_find(row->level, row->first + index);
}

/* The column of a box's last digit. */
static int column_of(const BoxRow *row, int64_t box) {
    return LABEL_COLUMNS + (int)(box - row->first + 1) * row->width - 2;
}

static bool in_window(const BoxRow *row, int64_t box) {
    return box >= row->first && box < row->first + row->count;
}

/* ---- values ---------------------------------------------------------------------------------------------- */

/* In at most `columns`, with an exponent where that is shorter: "1.2e9". */
static void print_number(double value, int columns, char *out, size_t bytes) {
    for (int digits = 6; digits > 0; digits--) {
        snprintf(out, bytes, "%.*g", digits, value);
        if ((int)strlen(out) <= columns && !strchr(out, 'e')) return;
        int exponent = value != 0 && isfinite(value) ? (int)floor(log10(fabs(value))) : 0;
        snprintf(out, bytes, "%.*fe%d", digits - 1, value / pow(10, exponent), exponent);
        if ((int)strlen(out) <= columns) return;
    }
    snprintf(out, bytes, "%.*s", columns, "########");
}

/* The value in at most `columns`: as it is, else rounded. */
static void print_short(const StepContext *context, PtxType type, uint64_t bits, int columns, char *out,
                        size_t bytes) {
    char text[64];
    step_context_print_typed(context, type, bits, text, sizeof text);
    if ((int)strlen(text) > columns && type != PTX_NO_TYPE && context->view->display.values != VALUE_HEX)
        print_number(plan_element(type, &bits, 0), columns, text, sizeof text);
    if ((int)strlen(text) > columns) snprintf(text, sizeof text, "%.*s", columns, "########");
    snprintf(out, bytes, "%s", text);
}

static void draw_right(const BoxRow *row, Canvas *canvas, Rectangle area, int64_t box, int line, Role role,
                       const char *text) {
    canvas_text(canvas, area, column_of(row, box) + 1 - canvas_text_columns(text), line, role, text);
}

static void draw_value(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                       int64_t box, int line, Role role, PtxType type, uint64_t bits) {
    char text[64];
    print_short(context, type, bits, row->width - 1 - row->marked, text, sizeof text);
    draw_right(row, canvas, area, box, line, role, text);
}

static void draw_dot(const BoxRow *row, Canvas *canvas, Rectangle area, int64_t box, int line) {
    canvas_glyph(canvas, area, column_of(row, box), line, ROLE_IDLE, 0xB7);
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static void print_name(const StepContext *context, const BoxRow *row, char *out, size_t bytes) {
    const char *name = "thread";
    char text[64];
    if (row->is_chain && row->level->terms[0].place == PLACE_INPUT) {
        scene_short_name(context->scene->traced.trace->buffers[row->level->terms[0].symbol].name, text,
                         sizeof text);
        name = text;
    } else if (row->level->place == PLACE_WORD) {
        step_context_print_symbol(context, row->level->symbol, text, sizeof text);
        name = text;
    } else if (row->level->through == TRACE_SHUFFLE || row->level->through == TRACE_REDUX) {
        name = "lane";
    }
    snprintf(out, bytes, "%.*s", LABEL_COLUMNS - 1, name);
}

static int64_t box_number(const BoxRow *row, int64_t box) {
    bool lanes = row->level->place == PLACE_THREAD &&
                 (row->level->through == TRACE_SHUFFLE || row->level->through == TRACE_REDUX);
    if (row->is_chain) return row->level->terms[row->level->boxes[box].first_term].index;
    return lanes ? box % WARP_LANES : box;
}

static void draw_indexes(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                         int line) {
    char text[64];
    print_name(context, row, text, sizeof text);
    canvas_text(canvas, area, 1, line, ROLE_DIM, text);
    for (int i = 0; i < row->count; i++) {
        int64_t number = box_number(row, row->first + i);
        snprintf(text, sizeof text, "%" PRId64, number);
        if ((int)strlen(text) >= row->width) snprintf(text, sizeof text, "..%02" PRId64, number % 100);
        draw_right(row, canvas, area, row->first + i, line,
                   row->first + i == row->selected ? ROLE_SELECTED : ROLE_DIM, text);
    }
}

/* The value is part of the selected one. */
static bool is_lit(const BoxRow *row, int node) {
    return row->chain && node != FOLD_NONE && node <= row->chain->root && row->chain->ways[node] > 0;
}

/* Does the term's value reach its adder in this very step? */
static bool is_now(const StepContext *context, const ReductionTerm *term) {
    return term->step == context->view->place.step && !term->is_own;
}

/* The step at which the box is read, if it is this one. */
static bool is_read_now(const StepContext *context, const BoxRow *row, int64_t box) {
    for (int i = 0; i < row->level->term_count; i++) {
        const ReductionTerm *term = &row->level->terms[i];
        if (term->place == row->level->place && term->index == box && is_now(context, term)) return true;
    }
    return false;
}

static PtxType before_type(const BoxRow *row, const ReductionBox *box) {
    return box->before_node == FOLD_NONE ? row->level->type
                                         : reduction_type(row->reduction, box->before_node, row->level->type);
}

/* Where values are handed over, most threads held nothing before. */
static bool shows_before(const BoxRow *row) {
    if (row->level->kind != TREE_TAKE) return true;
    for (int i = 0; i < row->count; i++)
        if (box_at(row, i)->has_before && box_at(row, i)->was_live) return true;
    return false;
}

static void draw_before(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                        int line) {
    canvas_text(canvas, area, 1, line, ROLE_DIM, row->is_chain ? "value" : "before");
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        if (!box->has_before || !box->was_live) {
            draw_dot(row, canvas, area, box->index, line);
            continue;
        }
        Role role =
            is_read_now(context, row, box->index) || is_lit(row, box->before_node) ? ROLE_LIT : ROLE_TEXT;
        draw_value(context, row, canvas, area, box->index, line, role, before_type(row, box), box->before);
    }
}

/* The sum is there: its store, or its addition, has been played. */
static bool is_done(const StepContext *context, const ReductionBox *box) {
    int step = context->view->place.step;
    return box->step < step || (box->step == step && view_phase(context->view) >= 1);
}

enum { MARK_TWICE = '!', MARK_LOST = '?', MARK_RACE = 'X' };

/* The term's load is one of a race that was found, and its word has another writer. */
static bool is_racing(const StepContext *context, const ReductionTerm *term) {
    return term->writer >= 0 && term->step <= context->view->place.step &&
           step_context_is_of_hazard(context, context->steps->steps[term->step].pc);
}

static const ReductionTerm *racing_term(const StepContext *context, const BoxRow *row,
                                        const ReductionBox *box) {
    for (int t = 0; box->adds && t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (is_racing(context, term)) return term;
    }
    return NULL;
}

/* What goes wrong with the box's sum: an input is in it twice, it is in no result and takes inputs with it, it was made
 * of a word that another thread writes at the same time; ' ': nothing. */
static char mark_of(const StepContext *context, const BoxRow *row, const ReductionBox *box) {
    if (box->node == FOLD_NONE || !box->adds) return ' ';
    const Tree *tree = tree_of(context);
    if (row->path && box->node <= row->path->root && row->path->doubles[box->node]) return MARK_TWICE;
    if (!tree->reaches[box->node] && node_at(context, box->node)->is_plain &&
        (box->is_live || tree->holds_lost[box->node]))
        return MARK_LOST;
    return racing_term(context, row, box) ? MARK_RACE : ' ';
}

static void draw_after(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                       int line) {
    canvas_text(canvas, area, 1, line, ROLE_DIM, row->is_chain ? "sum so far" : "after");
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        char mark = mark_of(context, row, box);
        if (box->adds && !is_done(context, box)) {
            canvas_glyph(canvas, area, column_of(row, box->index), line, ROLE_DIM, 0x2026);
            continue;
        }
        if (!box->has_after || (!box->is_live && !box->adds)) {
            draw_dot(row, canvas, area, box->index, line);
            continue;
        }
        Role role = mark != ' '                 ? ROLE_WARNING
                    : is_lit(row, box->node)    ? ROLE_LIT
                    : box->adds && box->is_live ? ROLE_ACTIVE
                    : box->is_live              ? ROLE_TEXT
                                                : ROLE_IDLE;
        draw_value(context, row, canvas, area, box->index, line, role, row->level->type, box->after);
        if (mark != ' ')
            canvas_glyph(canvas, area, column_of(row, box->index) + 1, line, ROLE_WARNING, (uint32_t)mark);
    }
}

static void draw_threads(const BoxRow *row, Canvas *canvas, Rectangle area, int line) {
    char text[16];
    canvas_text(canvas, area, 1, line, ROLE_DIM, "thread");
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        if (box->thread < 0) continue;
        snprintf(text, sizeof text, "t%d", box->thread);
        draw_right(row, canvas, area, box->index, line, ROLE_DIM, text);
    }
}

static void draw_inputs(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                        int line) {
    char text[16];
    canvas_text(canvas, area, 1, line, ROLE_DIM, "inputs in");
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        if (!box->adds || box->node == FOLD_NONE || !is_done(context, box)) continue;
        print_number(node_at(context, box->node)->weight, row->width - 1, text, sizeof text);
        char mark = mark_of(context, row, box);
        draw_right(row, canvas, area, box->index, line,
                   mark == MARK_TWICE || mark == MARK_LOST ? ROLE_WARNING : ROLE_DIM, text);
    }
}

static bool sums_floats(const BoxRow *row) {
    return row->level->type != PTX_NO_TYPE && ptx_type_is_float(row->level->type) &&
           row->level->kind != TREE_TAKE;
}

/* What rounding changed in each addition. */
static void draw_rounding(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                          int line) {
    char text[32];
    canvas_text(canvas, area, 1, line, ROLE_DIM, "rounding");
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        double rounding;
        if (!box->adds || box->node == FOLD_NONE || !is_done(context, box)) continue;
        if (!reduction_rounding(row->reduction, box->node, &rounding)) continue;
        print_number(rounding, row->width - 1, text, sizeof text);
        draw_right(row, canvas, area, box->index, line, rounding != 0 ? ROLE_WARNING : ROLE_DIM, text);
    }
}

/* The selected box in words: its sum, what rounding changed, how far it is from the exact sum. */
static void draw_error(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                       int line) {
    const ReductionBox *box = reduction_find(row->level, row->selected);
    double rounding, error;
    char value[64];
    if (!box || !box->adds || box->node == FOLD_NONE || !is_done(context, box)) return;
    if (!reduction_rounding(row->reduction, box->node, &rounding)) return;
    if (!reduction_error(row->reduction, box->node, &error)) return;
    step_context_print_typed(context, row->level->type, box->after, value, sizeof value);
    canvas_print(canvas, area, 1, line, error != 0 ? ROLE_WARNING : ROLE_TEXT,
                 "t%d: %s; rounding changed this addition by %g; so far it is %.6g from the exact sum",
                 box->thread, value, rounding, error);
}

/* The first box of the window that has the mark, the selected one before all others; NULL: none. */
static const ReductionBox *marked_box(const StepContext *context, const BoxRow *row, char mark) {
    const ReductionBox *selected =
        in_window(row, row->selected) ? reduction_find(row->level, row->selected) : NULL;
    if (selected && mark_of(context, row, selected) == mark) return selected;
    for (int i = 0; i < row->count; i++)
        if (mark_of(context, row, box_at(row, i)) == mark) return box_at(row, i);
    return NULL;
}

/* What the marks of the window mean, a line each, as far as there is room. */
static void draw_faults(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                        int line) {
    const ReductionBox *box = marked_box(context, row, MARK_RACE);
    if (box) {
        const ReductionTerm *term = racing_term(context, row, box);
        canvas_print(canvas, area, 1, line++, ROLE_WARNING,
                     "X t%d reads word %" PRId64 " %s t%d writes it: no barrier keeps them in this order",
                     term->thread, term->index, term->is_early ? "before" : "after", term->writer);
    }
    const Tree *tree = tree_of(context);
    bool is_last = row->level->level + 1 == reduction_level_count(row->reduction);
    if (marked_box(context, row, MARK_TWICE))
        canvas_text(canvas, area, 1, line++, ROLE_WARNING, "! an input is in this sum more than once");
    else if (is_last && row->path && row->path->twice)
        canvas_print(canvas, area, 1, line++, ROLE_WARNING,
                     "! %d of %d inputs are in the result more than once", row->path->twice,
                     tree->input_count);
    if (tree->shared_count && (context->scene->outcome.verdict == SCENE_WRONG ||
                               context->scene->outcome.verdict == SCENE_WRONG_ON_PURPOSE))
        canvas_print(canvas, area, 1, line++, ROLE_WARNING,
                     "! %d of %d inputs are also in another block's result", tree->shared_count,
                     tree->input_count);
    if (marked_box(context, row, MARK_LOST) || (is_last && tree->lost_count))
        canvas_print(canvas, area, 1, line++, ROLE_WARNING, "? %d of %d inputs reach no result",
                     tree->lost_count, tree->input_count);
}

/* ---- the ways ---------------------------------------------------------------------------------------------- */

/* Every operand that comes from a box of this row is in the window, and no way overlaps another: they can be drawn. */
static bool can_bracket(const BoxRow *row) {
    int drawn = 0;
    if (row->level->arrows_cross) return false;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        for (int t = 0; box->adds && t < box->term_count; t++) {
            const ReductionTerm *term = &row->level->terms[box->first_term + t];
            if (term->is_own) continue;
            if (term->place != row->level->place || !in_window(row, term->index)) return false;
            drawn += term->index != box->index;
        }
    }
    return drawn > 0;
}

/* The column of a value on its way. */
static int column_between(const StepContext *context, int from, int to) {
    return from + (int)lround((to - from) * view_phase(context->view));
}

static void draw_moving(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                        int line, const ReductionTerm *term, int column) {
    char text[64];
    print_short(context, reduction_type(row->reduction, term->node, row->level->type),
                node_at(context, term->node)->bits, row->width - 1, text, sizeof text);
    canvas_text(canvas, area, column + 1 - canvas_text_columns(text), line, ROLE_LIT, text);
}

static bool is_moving(const StepContext *context, const ReductionTerm *term) {
    return is_now(context, term) && view_phase(context->view) < 1;
}

static void draw_bracket(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                         int line, const ReductionBox *box) {
    int64_t first = box->index, last = box->index;
    bool is_lit_now = false;
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (term->is_own) continue;
        if (term->index < first) first = term->index;
        if (term->index > last) last = term->index;
        is_lit_now |= is_now(context, term);
    }
    if (first == last) return;
    Role role = is_lit_now || is_done(context, box) ? ROLE_ARROW : ROLE_DIM;
    for (int column = column_of(row, first); column <= column_of(row, last); column++)
        canvas_glyph(canvas, area, column, line, role, 0x2500);
    canvas_glyph(canvas, area, column_of(row, first), line, role, first == box->index ? 0x251C : 0x2570);
    canvas_glyph(canvas, area, column_of(row, last), line, role, last == box->index ? 0x2524 : 0x256F);
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (!term->is_own && term->index > first && term->index < last && term->index != box->index)
            canvas_glyph(canvas, area, column_of(row, term->index), line, role, 0x2534);
    }
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (term->is_own || term->index == box->index || !is_moving(context, term)) continue;
        draw_moving(context, row, canvas, area, line, term,
                    column_between(context, column_of(row, term->index), column_of(row, box->index)));
    }
}

static void draw_brackets(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                          int line) {
    for (int i = 0; i < row->count; i++)
        if (box_at(row, i)->adds) draw_bracket(context, row, canvas, area, line, box_at(row, i));
}

/* The operands that are not the box's own word or register, in order. */
static const ReductionTerm *partner_of(const BoxRow *row, const ReductionBox *box, int number) {
    for (int t = 0; box->adds && t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        bool is_home = term->is_own || (term->place == row->level->place && term->index == box->index);
        if (!is_home && number-- == 0) return term;
    }
    return NULL;
}

static int count_partners(const BoxRow *row) {
    int most = 0;
    if (row->level->through == TRACE_REDUX && row->level->kind == TREE_FOLD)
        return 0; /* all lanes, as the title says */
    for (int i = 0; i < row->count; i++)
        while (most < MOST_PARTNERS && partner_of(row, box_at(row, i), most)) most++;
    return most;
}

/* All of them lie equally far from their boxes: `*by`. */
static bool is_regular(const BoxRow *row, int number, int64_t *by) {
    int count = 0;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        const ReductionTerm *term = partner_of(row, box, number);
        if (!term) continue;
        if (count++ && term->index - box->index != *by) return false;
        *by = term->index - box->index;
    }
    return count > 1;
}

/* Rows that partner `number` needs: its numbers, where they are not regular, and its values. */
static int partner_rows(const BoxRow *row, int number) {
    const ReductionTerm *term = NULL;
    int64_t by;
    for (int i = 0; i < row->count && !term; i++) term = partner_of(row, box_at(row, i), number);
    return term && term->place != row->level->place && is_regular(row, number, &by) ? 1 : 2;
}

static void name_partners(const StepContext *context, const BoxRow *row, int number, char *out,
                          size_t bytes) {
    char sign[8] = "";
    if (number || row->level->kind == TREE_FOLD) snprintf(sign, sizeof sign, "%s ", row->level->operation);
    for (int i = 0; i < row->count; i++) {
        const ReductionTerm *term = partner_of(row, box_at(row, i), number);
        char name[64] = "thread";
        if (!term) continue;
        if (term->place == PLACE_WORD)
            step_context_print_symbol(context, term->symbol, name, sizeof name);
        else if (term->place == PLACE_INPUT || term->place == PLACE_GLOBAL)
            scene_short_name(context->scene->traced.trace->buffers[term->symbol].name, name, sizeof name);
        else if (row->level->through == TRACE_SHUFFLE)
            snprintf(name, sizeof name, "lane");
        if (term->place == PLACE_WORD && strlen(name) > LABEL_COLUMNS - 3)
            snprintf(name, sizeof name, "word");
        int64_t by = 0;
        if (partner_rows(row, number) > 1)
            snprintf(out, bytes, "%s%.*s", sign, LABEL_COLUMNS - 3, name);
        else if (is_regular(row, number, &by) && by)
            snprintf(out, bytes, "%s%.6s%+" PRId64, sign, name, by);
        else
            snprintf(out, bytes, "%s%.*s", sign, LABEL_COLUMNS - 3, name);
        return;
    }
    *out = 0;
}

/* From its box, or from beyond the window; what comes from elsewhere falls in. */
static void draw_moving_partner(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                                int line, const ReductionBox *box, const ReductionTerm *term) {
    int to = column_of(row, box->index), from = column_of(row, term->index);
    int left = LABEL_COLUMNS + 1, right = area.columns - 1;
    if (term->place != row->level->place) {
        canvas_glyph(canvas, area, to, line, ROLE_LIT, 0x2193);
        return;
    }
    if (!in_window(row, term->index)) from = term->index < row->first ? left : right;
    draw_moving(context, row, canvas, area, line, term, column_between(context, from, to));
}

/* Two rows: where the operands come from, and their values. */
static void draw_partners(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area,
                          int line, int number) {
    char text[64];
    name_partners(context, row, number, text, sizeof text);
    canvas_text(canvas, area, 1, line, ROLE_DIM, text);
    int values = line + partner_rows(row, number) - 1;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = box_at(row, i);
        const ReductionTerm *term = partner_of(row, box, number);
        if (!term) continue;
        bool lanes = row->level->through == TRACE_SHUFFLE && term->place == PLACE_THREAD;
        snprintf(text, sizeof text, "%" PRId64, lanes ? term->index % WARP_LANES : term->index);
        if ((int)strlen(text) >= row->width) snprintf(text, sizeof text, "..%" PRId64, term->index % 100);
        if (values > line) draw_right(row, canvas, area, box->index, line, ROLE_DIM, text);
        if (is_moving(context, term)) {
            draw_moving_partner(context, row, canvas, area, values, box, term);
            continue;
        }
        const FoldNode *node = node_at(context, term->node);
        bool is_there = term->step <= context->view->place.step;
        bool races = is_racing(context, term);
        Role role = races                                              ? ROLE_WARNING
                    : is_now(context, term) || is_lit(row, term->node) ? ROLE_LIT
                    : is_there                                         ? ROLE_ARROW
                                                                       : ROLE_DIM;
        if (races)
            canvas_glyph(canvas, area, column_of(row, box->index) + 1, values, ROLE_WARNING, MARK_RACE);
        draw_value(context, row, canvas, area, box->index, values, role,
                   reduction_type(row->reduction, term->node, row->level->type), node->bits);
    }
}

/* ---- the pane ---------------------------------------------------------------------------------------------- */

/* "+ the word 2 away" */
static void print_distance(const ReductionLevel *level, char *out, size_t bytes) {
    int distance = level->distance < 0 ? -level->distance : level->distance;
    bool lanes = level->through == TRACE_SHUFFLE;
    const char *what = level->place == PLACE_WORD ? "word" : lanes ? "lane" : "thread";
    if (level->kind == TREE_INPUTS)
        snprintf(out, bytes, "the inputs");
    else if (level->kind == TREE_TAKE)
        snprintf(out, bytes, "values handed over");
    else if (level->through == TRACE_REDUX)
        snprintf(out, bytes, "all lanes of a warp");
    else if (level->through == TRACE_SHARED_ATOMIC || level->through == TRACE_GLOBAL_ATOMIC)
        snprintf(out, bytes, "atomics to one word each");
    else if (!distance)
        snprintf(out, bytes, "%s values of the same thread", level->operation);
    else if (level->crosswise)
        snprintf(out, bytes, "%s the %s across %d", level->operation, what, distance);
    else
        snprintf(out, bytes, "%s the %s %d away", level->operation, what, distance);
}

static void head(const StepContext *context, PaneHead *out) {
    BoxRow row = box_row(context, out->columns);
    char name[32], distance[64];
    if (!row.level) {
        snprintf(out->title, sizeof out->title, "reduction");
        return;
    }
    print_name(context, &row, name, sizeof name);
    bool is_narrow = out->columns < NARROW_HEAD; /* fewer words, and none cut */
    if (is_narrow)
        snprintf(out->title, sizeof out->title, "reduction  %s", name);
    else
        snprintf(out->title, sizeof out->title, "reduction   %s[%" PRId64 "..%" PRId64 "] of %d", name,
                 row.first, row.first + row.count - 1, row.level->box_count);
    print_distance(row.level, distance, sizeof distance);
    if (row.is_chain) {
        snprintf(out->title, sizeof out->title, "reduction   t%d, element by element",
                 row.level->boxes[0].thread);
        snprintf(out->note, sizeof out->note, "addition %" PRId64 " of %d", row.selected,
                 row.level->box_count - 1);
        return;
    }
    int threads = tree_of(context)->thread_count, folds = reduction_fold_count(row.reduction);
    if (row.level->kind == TREE_FOLD)
        snprintf(out->note, sizeof out->note, "level %d of %d: %s; %d of %d %sadd", row.level->number, folds,
                 distance, row.level->adder_count, threads, is_narrow ? "" : "threads ");
    else
        snprintf(out->note, sizeof out->note, "%s; %d of %d threads", distance, row.level->adder_count,
                 threads);
}

/* The levels before this one, a row each, where their boxes are the same ones. */
static void draw_history(const StepContext *context, BoxRow row, Canvas *canvas, Rectangle area, int rows) {
    const ReductionLevel *shown = row.level;
    char text[32];
    for (int i = rows; i > 0; i--) {
        const ReductionLevel *level = reduction_level(row.reduction, shown->level - i - 1);
        row.level = level;
        if (level->kind == TREE_FOLD)
            snprintf(text, sizeof text, "level %d", level->number);
        else
            snprintf(text, sizeof text, "loaded");
        canvas_text(canvas, area, 1, rows - i, ROLE_DIM, text);
        for (int b = 0; b < row.count; b++) {
            const ReductionBox *box = box_at(&row, b);
            if (!box || !box->has_after || !box->is_live)
                draw_dot(&row, canvas, area, row.first + b, rows - i);
            else
                draw_value(context, &row, canvas, area, box->index, rows - i,
                           is_lit(&row, box->node) ? ROLE_LIT : ROLE_DIM, level->type, box->after);
        }
    }
}

/* A value in the window that is still used after the level. */
static bool has_live_box(const BoxRow *row, const ReductionLevel *level) {
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = reduction_find(level, row->first + i);
        if (box && box->has_after && box->is_live) return true;
    }
    return false;
}

static int count_history(const BoxRow *row, int room) {
    int count = 0;
    while (count < room) {
        const ReductionLevel *level = reduction_level(row->reduction, row->level->level - count - 2);
        if (!level || level->place != row->level->place || level->symbol != row->level->symbol) break;
        if (!has_live_box(row, level)) break;
        count++;
    }
    return count;
}

static void draw_levels(const StepContext *context, const BoxRow *row, Canvas *canvas, Rectangle area) {
    bool brackets = !row->is_chain && can_bracket(row);
    int partners = brackets || row->is_chain ? 0 : count_partners(row), line = 0, room = area.rows - 3;
    int shown = 0, used = brackets;
    while (shown < partners && used + partner_rows(row, shown) <= room) used += partner_rows(row, shown++);
    room -= used;
    int rounding = sums_floats(row) && room > 0, threads = row->level->place == PLACE_WORD && room > rounding;
    int inputs = room > rounding + threads, error = rounding && room > rounding + threads + inputs;
    int history = row->is_chain ? 0 : count_history(row, room - threads - inputs - rounding - error - 1);
    draw_indexes(context, row, canvas, area, line++);
    if (history > 0) {
        Rectangle above = area;
        above.row += line;
        above.rows = history;
        draw_history(context, *row, canvas, above, history);
        line += history;
    }
    bool has_before = row->is_chain || (row->level->kind != TREE_INPUTS && shows_before(row));
    if (has_before) draw_before(context, row, canvas, area, line++);
    if (brackets) draw_brackets(context, row, canvas, area, line++);
    for (int i = 0; i < shown; line += partner_rows(row, i++))
        draw_partners(context, row, canvas, area, line, i);
    if (partners > shown) canvas_print(canvas, area, 1, line++, ROLE_DIM, "+ %d more", partners - shown);
    draw_after(context, row, canvas, area, line++);
    if (rounding) draw_rounding(context, row, canvas, area, line++);
    if (threads) draw_threads(row, canvas, area, line++);
    if (inputs) draw_inputs(context, row, canvas, area, line++);
    if (error) draw_error(context, row, canvas, area, line++);
    draw_faults(context, row, canvas, area, line);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    BoxRow row = box_row(context, area.columns);
    if (!row.level) return;
    Tree *tree = scene_tree(context->scene, context->view->place.block);
    if (tree->final_count) row.path = tree_path(tree, tree->final[0]);
    for (int i = 0; i < row.count; i++) row.marked |= mark_of(context, &row, box_at(&row, i)) != ' ';
    draw_levels(context, &row, canvas, area);
}

const Pane pane_reduction = {.slot = SLOT_REDUCTION, .head = head, .draw = draw};
