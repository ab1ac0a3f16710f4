/* The explanation pane: a fault, the step in words, and the catalogue's advice on what to watch for. A
 * sentence that does not fit as a whole is left out. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <stdio.h>

static void head(const StepContext *context, PaneHead *out) {
    (void)context;
    pane_title(out, tr("explanation"));
}

/* Shows the fault of another block below the step. */
static int draw_other_trap(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    const Trace *trace = context->scene->traced.trace;
    if (!trace->trap_count || context->step_index->trap) return 0;
    const Trap *trap = &trace->traps[0];
    const SessionBlock *here = &context->scene->traced.blocks[context->view->place.block];
    if (trap->launch == here->launch &&
        scene_trap_block(context->scene, trap) == trace_block_linear(here->block))
        return 0;
    Text text = {0};
    step_context_describe_trap(context, trap, &text);
    int rows = canvas_sentences(canvas, area, row, ROLE_WARNING, text_string(&text), PART_SENTENCE);
    text_done(&text);
    return rows;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Text text = {0};
    explain_fault(context, &text);
    int row = canvas_sentences(canvas, area, 0, ROLE_WARNING, text_string(&text), PART_SENTENCE);
    text_clear(&text);
    explain_step(context, &text);
    row += canvas_sentences(canvas, area, row, ROLE_TEXT, text_string(&text), PART_SENTENCE);
    row += draw_other_trap(context, canvas, area, row);
    if (*context->scene->identity.watch && row < area.rows) {
        text_clear(&text);
        text_print(&text, tr("Watch: %s"), context->scene->identity.watch);
        canvas_sentences(canvas, area, row, ROLE_DIM, text_string(&text), PART_SENTENCE);
    }
    text_done(&text);
}

const Pane pane_explanation = {
    .slot = SLOT_EXPLANATION, .tells = HIDES_ALL & ~HIDES_HERE, .head = head, .draw = draw};
