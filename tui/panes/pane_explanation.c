/* Explanation: the step in words, and what the catalogue says to watch for. */
#include "tui/panes/pane.h"

#include <stdio.h>

static void head(const StepContext *now, PaneHead *out) {
    (void)now;
    snprintf(out->title, sizeof out->title, "explanation");
}

/* The fault, where it ended this block's run; or, in fewer places, that another block's run met one. */
static int draw_trap(const StepContext *now, Canvas *canvas, Rectangle area, int row, bool here) {
    const Trace *trace = now->scene->trace;
    const Trap *trap = now->step_index->trap ? now->step_index->trap
                       : trace->trap_count   ? &trace->traps[0]
                                             : NULL;
    if (!trap || (now->step_index->trap != NULL) != here) return 0;
    if (here && now->view->step + 1 < now->steps->step_count) return 0;
    Text text = {0};
    text_add(&text, here ? "Here it ends. TRAP " : "TRAP ");
    step_context_describe_trap(now, trap, &text);
    int rows = canvas_paragraph(canvas, area, row, ROLE_WARNING, text_string(&text));
    text_done(&text);
    return rows;
}

static void draw(const StepContext *now, Canvas *canvas, Rectangle area) {
    Text text = {0};
    explain_step(now, &text);
    int row = draw_trap(now, canvas, area, 0, true);
    row += canvas_paragraph(canvas, area, row, ROLE_TEXT, text_string(&text));
    row += draw_trap(now, canvas, area, row, false);
    if (*now->scene->watch && row < area.rows) {
        text_clear(&text);
        text_print(&text, "Watch: %s", now->scene->watch);
        canvas_paragraph(canvas, area, row, ROLE_DIM, text_string(&text));
    }
    text_done(&text);
}

const Pane pane_explanation = {.slot = SLOT_EXPLANATION, .head = head, .draw = draw};
