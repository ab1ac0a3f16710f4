/* Explanation: what is wrong at this step, the step in words, and what the catalogue says to watch for. A sentence that
 * does not fit as a whole is left out: half of one says nothing. */
#include "tui/panes/pane.h"

#include <stdio.h>

static void head(const StepContext *context, PaneHead *out) {
    (void)context;
    snprintf(out->title, sizeof out->title, "explanation");
}

/* Bytes of the first sentence, with the blank behind it. "..." ends none. */
static size_t first_sentence(const char *text) {
    for (size_t i = 1; text[i]; i++)
        if (text[i] == ' ' && text[i - 1] == '.' && (i < 2 || text[i - 2] != '.')) return i + 1;
    return strlen(text);
}

static int count_rows(const char *text, int columns) {
    int rows = 0;
    for (; *text; rows++) {
        text += canvas_break(text, columns);
        text += strspn(text, " ");
    }
    return rows;
}

/* From `row` on, as many whole sentences as there are rows for, in their order; returns rows. What comes first of all is
 * cut where nothing fits. */
static int draw_sentences(Canvas *canvas, Rectangle area, int row, Role role, const char *text) {
    Text shown = {0};
    const char *all = text;
    while (*text) {
        size_t length = first_sentence(text), before = shown.length;
        text_add_bytes(&shown, text, length);
        text += length;
        if (row + count_rows(text_string(&shown), area.columns) <= area.rows) continue;
        shown.length = before;
        if (shown.data) shown.data[before] = 0;
    }
    if (!row && !shown.length) text_add(&shown, all);
    int rows = canvas_paragraph(canvas, area, row, role, text_string(&shown));
    text_done(&shown);
    return rows;
}

/* The fault of another block, below the step. */
static int draw_other_trap(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    const Trace *trace = context->scene->traced.trace;
    if (!trace->trap_count || context->step_index->trap) return 0;
    const Trap *trap = &trace->traps[0];
    const SessionBlock *here = &context->scene->traced.blocks[context->view->place.block];
    if (trap->launch == here->launch &&
        scene_trap_block(context->scene, trap) == trace_block_linear(here->block))
        return 0;
    Text text = {0};
    text_add(&text, "TRAP ");
    step_context_describe_trap(context, trap, &text);
    int rows = draw_sentences(canvas, area, row, ROLE_WARNING, text_string(&text));
    text_done(&text);
    return rows;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Text text = {0};
    explain_fault(context, &text);
    int row = draw_sentences(canvas, area, 0, ROLE_WARNING, text_string(&text));
    text_clear(&text);
    explain_step(context, &text);
    row += draw_sentences(canvas, area, row, ROLE_TEXT, text_string(&text));
    row += draw_other_trap(context, canvas, area, row);
    if (*context->scene->identity.watch && row < area.rows) {
        text_clear(&text);
        text_print(&text, "Watch: %s", context->scene->identity.watch);
        draw_sentences(canvas, area, row, ROLE_DIM, text_string(&text));
    }
    text_done(&text);
}

const Pane pane_explanation = {.slot = SLOT_EXPLANATION, .head = head, .draw = draw};
