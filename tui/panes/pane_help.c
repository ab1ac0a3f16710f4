/* Help: the key table as a screen. */
#include "tui/panes/pane.h"

#include <stdio.h>

enum { KEYS_COLUMNS = 24 };

static void head(const StepContext *context, PaneHead *out) {
    (void)context;
    snprintf(out->title, sizeof out->title, "keys");
    snprintf(out->note, sizeof out->note, "any other key closes");
}

/* "→ l   ← h" */
static void print_keys(const KeyRow *row, bool ascii, char *out, size_t bytes) {
    char name[24];
    size_t at = 0;
    out[0] = 0;
    for (int backwards = 0; backwards < 2; backwards++) {
        const char *list = backwards ? row->backwards : row->forwards;
        for (int i = 0; keys_show(list, i, ascii, name, sizeof name) && at < bytes; i++)
            at += (size_t)snprintf(out + at, bytes - at, "%s%s", i ? " " : backwards ? "   " : "", name);
    }
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    int rows = ACTION_COUNT - 1, scroll = context->view->transient.scroll;
    if (scroll > rows - area.rows) scroll = rows - area.rows;
    if (scroll < 0) scroll = 0;
    for (int row = 0; row < area.rows && scroll + row < rows; row++) {
        const KeyRow *key = &key_rows[1 + scroll + row];
        char keys[64];
        print_keys(key, canvas->ascii, keys, sizeof keys);
        canvas_text(canvas, area, 0, row, ROLE_KEY, keys);
        canvas_text(canvas, area, KEYS_COLUMNS, row, ROLE_TEXT, key->help);
    }
    canvas_more(canvas, area, scroll > 0, scroll + area.rows < rows);
    Rectangle below = {area.column, area.row + rows + 1, area.columns, area.rows - rows - 1};
    canvas_paragraph(canvas, below, 0, ROLE_DIM,
                     "A number typed before a key repeats it or selects: 10l, 74g, 3w, 7x. The mouse wheel "
                     "steps. A click goes to "
                     "a step or a source line, or selects a warp, lane, pane or metric; a click on the title "
                     "of the lanes goes "
                     "to the next traced block.");
}

const Pane pane_help = {.slot = SLOT_OVERLAY, .overlay = OVERLAY_HELP, .head = head, .draw = draw};
