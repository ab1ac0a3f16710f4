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

bool boxes_is_home(const BoxRow *row, const ReductionBox *box, const ReductionTerm *term) {
    bool is_of_box = term->place == row->level->place && term->index == box->index;
    return (term->is_own || is_of_box) && !term->is_second;
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

/* "8e-05" as "8e-5", as rounded values are written. */
static void shorten_exponent(char *text) {
    char *exponent = strchr(text, 'e'), *zero = exponent && exponent[1] ? exponent + 2 : NULL;
    if (zero && *zero == '0' && zero[1]) memmove(zero, zero + 1, strlen(zero));
}

/* The value in at most `columns`: exact, else rounded. */
void boxes_print_value(const BoxRow *row, PtxType type, uint64_t bits, int columns, char *out, size_t bytes) {
    char text[64];
    step_context_print_typed(row->context, type, bits, text, sizeof text);
    if (type != PTX_NO_TYPE && ptx_type_is_float(type) && row->context->view->display.values != VALUE_HEX)
        shorten_exponent(text);
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
