/* Failure: why an edited file cannot be run, with the line at fault. The previous run stays on the screen
 * below. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <stdio.h>

static void head(const StepContext *context, PaneHead *out) {
    const Error *error = &context->view->transient.failure;
    pane_title(out, tr("not run: %s"), *error->file ? scene_file_name(error->file) : tr("the new version"));
    pane_note(out, tr("$ edits again, any other key closes"));
}

/* As much of the line as fits, and the caret below the column. */
static int draw_excerpt(const Error *error, Canvas *canvas, Rectangle area, int row) {
    enum { INDENT = 4 };
    int column = error->caret ? error->caret : error->column;
    if (!*error->excerpt) return 0;
    canvas_text(canvas, area, INDENT, row, ROLE_CURRENT, error->excerpt);
    if (column > 0) canvas_glyph(canvas, area, INDENT + column - 1, row + 1, ROLE_CONFLICT, '^');
    return 3;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const Error *error = &context->view->transient.failure;
    int row = 1;
    if (error->line)
        canvas_print(canvas, area, 0, row++, ROLE_DIM, tr("line %d, column %d"), error->line, error->column);
    row += 1 + draw_excerpt(error, canvas, area, row);
    row += canvas_paragraph(canvas, area, row, ROLE_WARNING, error->message);
    canvas_paragraph(canvas, area, row + 1, ROLE_DIM, tr("The screen still shows the previous version."));
}

const Pane pane_failure = {.slot = SLOT_OVERLAY, .overlay = OVERLAY_FAILURE, .head = head, .draw = draw};
