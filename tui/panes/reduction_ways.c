/* The ways of the operands to their sums: brackets between boxes; rows of operands where a way cannot be drawn. */
#include "tui/panes/reduction_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_PARTNERS = 16 };

/* Every operand that comes from a box of this row is in the window, and no way overlaps another: they can be drawn. */
bool boxes_can_bracket(const BoxRow *row) {
    int drawn = 0;
    if (row->level->arrows_cross) return false;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        for (int t = 0; box->adds && t < box->term_count; t++) {
            const ReductionTerm *term = &row->level->terms[box->first_term + t];
            if (term->is_own) continue;
            if (term->place != row->level->place || !boxes_in_window(row, term->index)) return false;
            drawn += term->index != box->index;
        }
    }
    return drawn > 0;
}

/* The column of a value on its way. */
static int column_between(const BoxRow *row, int from, int to) {
    return from + (int)lround((to - from) * view_phase(row->context->view));
}

static void draw_moving(const BoxRow *row, int line, const ReductionTerm *term, int column) {
    char text[64];
    boxes_print_value(row, reduction_type(row->reduction, term->node, row->level->type),
                      boxes_node(row, term->node)->bits, row->width - 1, text, sizeof text);
    canvas_text(row->canvas, row->area, column + 1 - canvas_text_columns(text), line, ROLE_LIT, text);
}

static bool is_moving(const BoxRow *row, const ReductionTerm *term) {
    return boxes_is_now(row, term) && view_phase(row->context->view) < 1;
}

static void draw_bracket(const BoxRow *row, int line, const ReductionBox *box) {
    int64_t first = box->index, last = box->index;
    bool is_lit_now = false;
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (term->is_own) continue;
        if (term->index < first) first = term->index;
        if (term->index > last) last = term->index;
        is_lit_now |= boxes_is_now(row, term);
    }
    if (first == last) return;
    Role role = is_lit_now || boxes_is_done(row, box) ? ROLE_ARROW : ROLE_DIM;
    for (int column = boxes_column(row, first); column <= boxes_column(row, last); column++)
        canvas_glyph(row->canvas, row->area, column, line, role, 0x2500);
    canvas_glyph(row->canvas, row->area, boxes_column(row, first), line, role,
                 first == box->index ? 0x251C : 0x2570);
    canvas_glyph(row->canvas, row->area, boxes_column(row, last), line, role,
                 last == box->index ? 0x2524 : 0x256F);
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (!term->is_own && term->index > first && term->index < last && term->index != box->index)
            canvas_glyph(row->canvas, row->area, boxes_column(row, term->index), line, role, 0x2534);
    }
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (term->is_own || term->index == box->index || !is_moving(row, term)) continue;
        draw_moving(row, line, term,
                    column_between(row, boxes_column(row, term->index), boxes_column(row, box->index)));
    }
}

void boxes_draw_brackets(const BoxRow *row, int line) {
    for (int i = 0; i < row->count; i++)
        if (boxes_at(row, i)->adds) draw_bracket(row, line, boxes_at(row, i));
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

int boxes_count_partners(const BoxRow *row) {
    int most = 0;
    if (row->level->through == TRACE_REDUX && row->level->kind == TREE_FOLD)
        return 0; /* all lanes, as the title says */
    for (int i = 0; i < row->count; i++)
        while (most < MOST_PARTNERS && partner_of(row, boxes_at(row, i), most)) most++;
    return most;
}

/* All of them lie equally far from their boxes: `*by`. */
static bool is_regular(const BoxRow *row, int number, int64_t *by) {
    int count = 0;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        const ReductionTerm *term = partner_of(row, box, number);
        if (!term) continue;
        if (count++ && term->index - box->index != *by) return false;
        *by = term->index - box->index;
    }
    return count > 1;
}

/* Rows that partner `number` needs: its numbers, where they are not regular, and its values. */
int boxes_partner_rows(const BoxRow *row, int number) {
    const ReductionTerm *term = NULL;
    int64_t by;
    for (int i = 0; i < row->count && !term; i++) term = partner_of(row, boxes_at(row, i), number);
    return term && term->place != row->level->place && is_regular(row, number, &by) ? 1 : 2;
}

static void name_partners(const BoxRow *row, int number, char *out, size_t bytes) {
    char sign[8] = "";
    if (number || row->level->kind == TREE_FOLD) snprintf(sign, sizeof sign, "%s ", row->level->operation);
    for (int i = 0; i < row->count; i++) {
        const ReductionTerm *term = partner_of(row, boxes_at(row, i), number);
        char name[64] = "thread";
        if (!term) continue;
        if (term->place == PLACE_WORD)
            step_context_print_symbol(row->context, term->symbol, name, sizeof name);
        else if (term->place == PLACE_INPUT || term->place == PLACE_GLOBAL)
            scene_short_name(row->context->scene->traced.trace->buffers[term->symbol].name, name,
                             sizeof name);
        else if (row->level->through == TRACE_SHUFFLE)
            snprintf(name, sizeof name, "lane");
        if (term->place == PLACE_WORD && strlen(name) > LABEL_COLUMNS - 3)
            snprintf(name, sizeof name, "word");
        int64_t by = 0;
        if (boxes_partner_rows(row, number) > 1)
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
static void draw_moving_partner(const BoxRow *row, int line, const ReductionBox *box,
                                const ReductionTerm *term) {
    int to = boxes_column(row, box->index), from = boxes_column(row, term->index);
    int left = LABEL_COLUMNS + 1, right = row->area.columns - 1;
    if (term->place != row->level->place) {
        canvas_glyph(row->canvas, row->area, to, line, ROLE_LIT, 0x2193);
        return;
    }
    if (!boxes_in_window(row, term->index)) from = term->index < row->first ? left : right;
    draw_moving(row, line, term, column_between(row, from, to));
}

/* Two rows: where the operands come from, and their values. */
void boxes_draw_partners(const BoxRow *row, int line, int number) {
    char text[64];
    name_partners(row, number, text, sizeof text);
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, text);
    int values = line + boxes_partner_rows(row, number) - 1;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        const ReductionTerm *term = partner_of(row, box, number);
        if (!term) continue;
        bool lanes = row->level->through == TRACE_SHUFFLE && term->place == PLACE_THREAD;
        snprintf(text, sizeof text, "%" PRId64, lanes ? term->index % WARP_LANES : term->index);
        if ((int)strlen(text) >= row->width) snprintf(text, sizeof text, "..%" PRId64, term->index % 100);
        if (values > line) boxes_draw_right(row, box->index, line, ROLE_DIM, text);
        if (is_moving(row, term)) {
            draw_moving_partner(row, values, box, term);
            continue;
        }
        const FoldNode *node = boxes_node(row, term->node);
        bool is_there = term->step <= row->context->view->place.step;
        bool races = boxes_is_racing(row, term);
        Role role = races                                                      ? ROLE_WARNING
                    : boxes_is_now(row, term) || boxes_is_lit(row, term->node) ? ROLE_LIT
                    : is_there                                                 ? ROLE_ARROW
                                                                               : ROLE_DIM;
        if (races)
            canvas_glyph(row->canvas, row->area, boxes_column(row, box->index) + 1, values, ROLE_WARNING,
                         MARK_RACE);
        boxes_draw_value(row, box->index, values, role,
                         reduction_type(row->reduction, term->node, row->level->type), node->bits);
    }
}
