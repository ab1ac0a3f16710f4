/* The menu: kernels of the user's file and of the catalogue, and lectures; typing filters by name and
 * title. */
#include "tui/panes/pane.h"

#include <stdio.h>

enum { NAME_COLUMNS = 24 };

static void head(const StepContext *context, PaneHead *out) {
    snprintf(out->title, sizeof out->title, "%s: %s_",
             context->view->transient.beside ? "compare with" : "kernel", context->view->transient.filter);
    snprintf(out->note, sizeof out->note, "type to filter, Enter opens, Esc closes");
}

/* Rows for kernels; the others show the lesson of the selected one. */
static int list_rows(Rectangle area) {
    return area.rows > 6 ? area.rows - 3 : area.rows;
}

static int first_shown(const View *view, int rows) {
    return view->transient.choice < rows ? 0 : view->transient.choice - rows + 1;
}

static void draw_row(const MenuRow *row, Canvas *canvas, Rectangle area, int line, bool chosen) {
    Text name = {0};
    text_print(&name, "%s%s%s", chosen ? ">" : " ", row->kind == MENU_LECTURE ? "lecture " : "", row->name);
    canvas_text(canvas, area, 0, line, chosen ? ROLE_CURRENT : ROLE_TEXT, text_string(&name));
    int columns = canvas_text_columns(text_string(&name)) + 2;
    canvas_text(canvas, area, columns > NAME_COLUMNS ? columns : NAME_COLUMNS, line,
                chosen ? ROLE_CURRENT : ROLE_DIM, row->title);
    if (chosen) canvas_reverse(canvas, area, 0, line, area.columns);
    text_done(&name);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    int choice = context->view->transient.choice, rows = list_rows(area),
        first = first_shown(context->view, rows);
    MenuRow row;
    for (int line = 0; line < rows && view_menu_row(context->view, first + line, &row); line++)
        draw_row(&row, canvas, area, line, first + line == choice);
    Rectangle list = {area.column, area.row, area.columns, rows + (rows < area.rows)};
    canvas_more(canvas, list, first > 0, view_menu_row(context->view, first + rows, &row));
    if (!view_menu_choice(context->view, &row)) {
        canvas_text(canvas, area, 0, 0, ROLE_WARNING, "no kernel matches; Backspace widens the filter");
    } else if (rows < area.rows && row.kind == MENU_KERNEL && catalog_row(row.index)->lesson) {
        Rectangle below = {area.column, area.row + rows + 1, area.columns, area.rows - rows - 1};
        canvas_paragraph(canvas, below, 0, ROLE_TEXT, catalog_row(row.index)->lesson);
    }
}

/* Selects; a click on the selected one opens it. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    int rows = list_rows(area), index = first_shown(view, rows) + row;
    MenuRow clicked;
    (void)context, (void)column;
    if (row >= rows || !view_menu_row(view, index, &clicked)) return VIEW_IGNORED;
    if (view->transient.choice == index) {
        return view_choose(view);
    }
    view->transient.choice = index;
    return VIEW_CHANGED;
}

const Pane pane_menu = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_MENU, .head = head, .draw = draw, .click = click};
