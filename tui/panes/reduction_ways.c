/* The paths of the operands to their sums: brackets between boxes; rows of operands where no path can be
 * drawn. */
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_PARTNERS = 16 };

/* Every operand of the box comes from a box in the window, so paths can be drawn to it. */
static bool is_near(const BoxRow *row, const ReductionBox *box) {
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        const ReductionBox *from = reduction_find(row->level, term->index);
        if (boxes_is_home(row, box, term)) continue;
        if (term->is_second || term->is_taken || term->place != row->level->place) return false;
        if (!boxes_in_window(row, term->index) || !from->has_before || from->before != term->bits)
            return false;
    }
    return true;
}

/* There is a path to draw, and none overlaps another. */
static bool can_bracket(const BoxRow *row) {
    int drawn = 0;
    if (row->level->arrows_cross || row->is_chain) return false;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        for (int t = 0; box->adds && is_near(row, box) && t < box->term_count; t++) {
            const ReductionTerm *term = &row->level->terms[box->first_term + t];
            drawn += !term->is_own && term->index != box->index;
        }
    }
    return drawn > 0;
}

/* The column of a moving value. */
static int column_between(const BoxRow *row, int from, int to) {
    return from + (int)lround((to - from) * view_phase(row->context->view));
}

static void draw_moving(const BoxRow *row, int line, const ReductionTerm *term, int column) {
    char text[64] = "U";
    if (term->node != FOLD_NONE)
        boxes_print_value(row, term->type, reduction_addend(term), row->width - 1, text, sizeof text);
    canvas_right(row->canvas, row->area, column + 1, line, ROLE_LIT, text);
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

static void draw_brackets(const BoxRow *row, int line) {
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (box->adds && is_near(row, box)) draw_bracket(row, line, box);
    }
}

/* The operands other than the box's own word or register, in order; none if paths are drawn to it. */
static const ReductionTerm *partner_of(const BoxRow *row, const ReductionBox *box, int number) {
    if (box->is_idle || (row->brackets && is_near(row, box))) return NULL;
    for (int t = 0; box->adds && t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (!boxes_is_home(row, box, term) && number-- == 0) return term;
    }
    return NULL;
}

/* Operands beside the box's own. */
static int partners_of(const BoxRow *row, const ReductionBox *box) {
    int count = 0;
    if (!partner_of(row, box, 0)) return 0;
    for (int t = 0; t < box->term_count; t++)
        count += !boxes_is_home(row, box, &row->level->terms[box->first_term + t]);
    return count;
}

static int count_partners(const BoxRow *row) {
    int most = 0;
    bool is_all = row->level->through == TRACE_REDUX || row->level->through == TRACE_MATRIX;
    if (is_all && row->level->kind == TREE_FOLD) return 0; /* all lanes, as the title says */
    for (int i = 0; i < row->count; i++) {
        int count = partners_of(row, boxes_at(row, i));
        if (count > most) most = count;
    }
    return most;
}

/* All operands are equally far from their boxes: `*by`. */
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

/* Rows that partner `number` needs: its numbers, if they are irregular, and its values. */
static int partner_rows(const BoxRow *row, int number) {
    const ReductionTerm *term = NULL;
    int64_t by;
    for (int i = 0; i < row->count && !term; i++) term = partner_of(row, boxes_at(row, i), number);
    return row->tall + !(term && term->place != row->level->place && is_regular(row, number, &by));
}

static void name_place(const BoxRow *row, const ReductionTerm *term, char *out, size_t bytes) {
    if (term->is_second && term->is_own)
        snprintf(out, bytes, "%s", tr("its own"));
    else if (term->place == PLACE_WORD)
        step_context_print_symbol(row->context, term->symbol, out, bytes);
    else if (term->place == PLACE_INPUT || term->place == PLACE_GLOBAL)
        step_context_print_input(row->context, term->symbol, out, bytes);
    else
        snprintf(out, bytes, "%s", row->level->through == TRACE_SHUFFLE ? "lane" : tr("thread"));
}

static const char *operation_of(const BoxRow *row, int number) {
    return number || row->level->kind == TREE_FOLD ? row->level->operation : "";
}

/* "+ sdata", "max lane+16", of a row of indices "from sdata": shorter words if the label has no room. */
static void name_partners(const BoxRow *row, int number, char *out, size_t bytes) {
    const ReductionTerm *term = NULL;
    char sign[16] = "", name[64], away[24] = "";
    int64_t by = 0;
    for (int i = 0; i < row->count && !term; i++) term = partner_of(row, boxes_at(row, i), number);
    *out = 0;
    if (!term) return;
    bool has_indices = partner_rows(row, number) > row->tall;
    const char *word = has_indices ? tr("from") : operation_of(row, number);
    if (*word) snprintf(sign, sizeof sign, "%s ", word);
    if (!has_indices && is_regular(row, number, &by) && by) snprintf(away, sizeof away, "%+" PRId64, by);
    name_place(row, term, name, sizeof name);
    if (term->place == PLACE_WORD && strlen(sign) + strlen(name) + strlen(away) > LABEL_COLUMNS - 2)
        snprintf(name, sizeof name, "word");
    int room = LABEL_COLUMNS - 2 - canvas_text_columns(sign) - (int)strlen(away);
    while (*name && canvas_text_columns(name) > room) {
        name[strlen(name) - 1] = 0;
        utf8_drop_half(name);
    }
    snprintf(out, bytes, "%s%s%s", sign, name, away);
}

/* From its box, or from outside the window; operands from elsewhere drop in. */
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

/* The operand's value; a word that nothing had written has none. */
static void draw_partner(const BoxRow *row, int line, const ReductionBox *box, const ReductionTerm *term) {
    int step = row->context->view->place.step;
    if (term->node == FOLD_NONE) {
        boxes_draw_right(row, box->index, line, term->step <= step ? ROLE_WARNING : ROLE_DIM, "U");
        return;
    }
    bool races = boxes_is_racing(row, term);
    Role role = races                                                      ? ROLE_WARNING
                : boxes_is_now(row, term) || boxes_is_lit(row, term->node) ? ROLE_LIT
                : term->step <= step                                       ? ROLE_ARROW
                                                                           : ROLE_DIM;
    if (races)
        canvas_glyph(row->canvas, row->area, boxes_column(row, box->index) + 1, line, ROLE_WARNING,
                     MARK_RACE);
    boxes_draw_value(row, box->index, line, role, term->type, reduction_addend(term));
}

/* Two rows: where the operands come from, and their values. */
static void draw_partners(const BoxRow *row, int line, int number) {
    char text[64];
    name_partners(row, number, text, sizeof text);
    canvas_text(row->canvas, row->area, 1, line, ROLE_DIM, text);
    int values = line + partner_rows(row, number) - row->tall;
    if (values > line) canvas_text(row->canvas, row->area, 1, values, ROLE_DIM, operation_of(row, number));
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        const ReductionTerm *term = partner_of(row, box, number);
        if (!term) continue;
        bool lanes = row->level->through == TRACE_SHUFFLE && term->place == PLACE_THREAD;
        snprintf(text, sizeof text, "%" PRId64, lanes ? term->index % WARP_LANES : term->index);
        if ((int)strlen(text) >= row->width) snprintf(text, sizeof text, "..%" PRId64, term->index % 100);
        if (values > line && !term->is_own) boxes_draw_right(row, box->index, line, ROLE_DIM, text);
        if (is_moving(row, term)) {
            draw_moving_partner(row, values, box, term);
            continue;
        }
        draw_partner(row, values, box, term);
    }
}

/* "sums[224] = 7", "lane 5 = 7" */
static void print_operand(const BoxRow *row, const ReductionTerm *term, char *out, size_t bytes) {
    char name[64], value[64];
    bool is_thread = term->place == PLACE_THREAD;
    name_place(row, term, name, sizeof name);
    snprintf(value, sizeof value, "%s", tr("undefined"));
    if (term->node != FOLD_NONE)
        boxes_print_value(row, term->type, reduction_addend(term), 12, value, sizeof value);
    snprintf(out, bytes, "%s%s%" PRId64 "%s = %s", name, is_thread ? " " : "[", term->index,
             is_thread ? "" : "]", value);
}

/* The operands of one box that have no rows, as far as they fit: "+ 1 more in word 0: sums[224] = 7". */
static void draw_rest(const BoxRow *row, int line, const BoxWays *ways) {
    char text[160];
    const ReductionBox *box =
        boxes_in_window(row, row->selected) ? reduction_find(row->level, row->selected) : NULL;
    for (int i = 0; i < row->count && !(box && partner_of(row, box, ways->shown)); i++)
        box = boxes_at(row, i);
    if (!box) return;
    int column =
        1 + canvas_print(row->canvas, row->area, 1, line, ROLE_DIM, tr("%s %d more in %s %lld: "),
                         row->level->operation, ways->partners - ways->shown,
                         row->level->place == PLACE_WORD ? "word" : tr("thread"), (long long)box->index);
    for (int i = ways->shown; i < ways->partners; i++) {
        const ReductionTerm *term = partner_of(row, box, i);
        if (!term) continue;
        print_operand(row, term, text, sizeof text);
        if (column + canvas_text_columns(text) + 4 > row->area.columns) {
            canvas_text(row->canvas, row->area, column, line, ROLE_DIM, "...");
            return;
        }
        column += canvas_print(row->canvas, row->area, column, line, ROLE_TEXT, "%s%s",
                               i > ways->shown ? tr(", ") : "", text);
    }
}

BoxWays boxes_plan_ways(BoxRow *row, int room) {
    BoxWays ways = {0};
    row->brackets = can_bracket(row);
    for (int pass = 0; pass < 2; pass++) {
        int needed = row->brackets;
        ways.brackets = row->brackets;
        ways.partners = row->is_chain ? 0 : count_partners(row);
        for (int i = 0; i < ways.partners && needed <= room; i++) needed += partner_rows(row, i);
        if (needed <= room || !row->brackets || !ways.partners) break;
        row->brackets = false; /* rows for all operands take less room */
    }
    ways.rows = ways.brackets;
    while (ways.shown < ways.partners && ways.shown < MOST_PARTNERS &&
           ways.rows + partner_rows(row, ways.shown) <= room)
        ways.rows += partner_rows(row, ways.shown++);
    if (ways.shown < ways.partners && ways.rows == room && ways.shown)
        ways.rows -= partner_rows(row, --ways.shown);
    ways.rows += ways.shown < ways.partners;
    return ways;
}

void boxes_draw_ways(const BoxRow *row, const BoxWays *ways, int line) {
    if (ways->brackets) draw_brackets(row, line++);
    for (int i = 0; i < ways->shown; line += partner_rows(row, i++)) draw_partners(row, line, i);
    if (ways->shown < ways->partners) draw_rest(row, line, ways);
}
