/* The diff of a source that is about to be written: unchanged, removed and added lines. */
#include "tui/panes/pane.h"

#include "base/language.h"

#include <string.h>

static void head(const StepContext *context, PaneHead *out) {
    (void)context;
    pane_title(out, "%s", tr("keep the remedy in the source"));
    pane_note(out, "%s", tr("k writes it   Esc leaves it"));
}

/* Draws the rows from `first` on; a canvas of NULL: only counts. Returns the rows of the whole text. */
static int put(const char *at, Canvas *canvas, Rectangle area, int first) {
    int row = 0;
    while (*at) {
        Role role = *at == '+' ? ROLE_GOOD : *at == '-' ? ROLE_WARNING : *at == '@' ? ROLE_TITLE : ROLE_TEXT;
        const char *end = at + strcspn(at, "\n");
        do {
            int fits = output_fit(at, area.columns), bytes = at + fits < end ? fits : (int)(end - at);
            if (canvas && row >= first && row < first + area.rows)
                canvas_print(canvas, area, 0, row - first, role, "%.*s", bytes, at);
            at += bytes;
            row++;
        } while (at < end);
        at += *at == '\n';
    }
    return row;
}

static int line_count(const StepContext *context, int columns) {
    return put(context->view->transient.diff, NULL, (Rectangle){.columns = columns}, 0);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const char *diff = context->view->transient.diff;
    int count = line_count(context, area.columns), scroll = context->view->transient.scroll;
    scroll = canvas_scroll(scroll, area.rows, count);
    put(diff, canvas, area, scroll);
    canvas_more(canvas, area, scroll > 0, scroll + area.rows < count);
}

const Pane pane_diff = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_DIFF, .head = head, .draw = draw, .line_count = line_count};
