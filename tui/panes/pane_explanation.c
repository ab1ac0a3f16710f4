/* Explanation: the step in words, and what the catalogue says to watch for. */
#include "tui/panes/pane.h"

#include <stdio.h>

static void head(const StepContext *context, PaneHead *out) {
    (void)context;
    snprintf(out->title, sizeof out->title, "explanation");
}

/* The fault, at the step where it ended this block's run; else, below the step, that of another block. */
static int draw_trap(const StepContext *context, Canvas *canvas, Rectangle area, int row, bool here) {
    const Trace *trace = context->scene->traced.trace;
    const Trap *trap = context->step_index->trap ? context->step_index->trap
                       : trace->trap_count       ? &trace->traps[0]
                                                 : NULL;
    if (!trap || (context->step_index->trap != NULL) != here) return 0;
    if (here && context->view->place.step + 1 < context->steps->step_count) return 0;
    Text text = {0};
    text_add(&text, here ? "The run ends here. TRAP " : "TRAP ");
    step_context_describe_trap(context, trap, &text);
    int rows = canvas_paragraph(canvas, area, row, ROLE_WARNING, text_string(&text));
    text_done(&text);
    return rows;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Text text = {0};
    explain_step(context, &text);
    int row = draw_trap(context, canvas, area, 0, true);
    row += canvas_paragraph(canvas, area, row, ROLE_TEXT, text_string(&text));
    row += draw_trap(context, canvas, area, row, false);
    if (*context->scene->identity.watch && row < area.rows) {
        text_clear(&text);
        text_print(&text, "Watch: %s", context->scene->identity.watch);
        canvas_paragraph(canvas, area, row, ROLE_DIM, text_string(&text));
    }
    text_done(&text);
}

const Pane pane_explanation = {.slot = SLOT_EXPLANATION, .head = head, .draw = draw};
