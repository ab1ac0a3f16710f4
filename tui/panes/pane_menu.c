/* Menu: another kernel of the catalogue, or a lecture; typing filters by name and title. */
#include "tui/panes/pane.h"

#include <stdio.h>

enum { NAME_COLUMNS = 24 };

static void head(const StepContext *context, PaneHead *out) {
    snprintf(out->title, sizeof out->title, "%s: %s_",
             context->view->transient.beside ? "compare with" : "kernel", context->view->transient.filter);
    snprintf(out->note, sizeof out->note, "type to filter, Enter opens, Esc closes");
}

/* Rows for kernels; the rest is for the lesson of the selected one. */
static int list_rows(Rectangle area) {
    return area.rows > 6 ? area.rows - 3 : area.rows;
}

static int first_shown(const View *view, int rows) {
    return view->transient.choice < rows ? 0 : view->transient.choice - rows + 1;
}

static const char *title_of(const View *view, int index) {
    if (index >= catalog_count()) return view->display.lectures->titles[index - catalog_count()];
    const char *title = catalog_row(index)->title;
    return title ? title : "";
}

static void draw_entry(const View *view, Canvas *canvas, Rectangle area, int row, int index, bool chosen) {
    bool is_lecture = index >= catalog_count();
    canvas_print(canvas, area, 0, row, chosen ? ROLE_CURRENT : ROLE_TEXT, "%s%s%s", chosen ? ">" : " ",
                 is_lecture ? "lecture " : "", view_menu_name(view, index));
    canvas_text(canvas, area, NAME_COLUMNS, row, chosen ? ROLE_CURRENT : ROLE_DIM, title_of(view, index));
    if (chosen) canvas_reverse(canvas, area, 0, row, area.columns);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    int choice = context->view->transient.choice, rows = list_rows(area),
        first = first_shown(context->view, rows);
    for (int row = 0; row < rows; row++) {
        int index = view_menu_row(context->view, first + row);
        if (index < 0) break;
        draw_entry(context->view, canvas, area, row, index, first + row == choice);
    }
    Rectangle list = {area.column, area.row, area.columns, rows + (rows < area.rows)};
    canvas_more(canvas, list, first > 0, view_menu_row(context->view, first + rows) >= 0);
    int index = view_menu_row(context->view, choice);
    if (index < 0) {
        canvas_text(canvas, area, 0, 0, ROLE_WARNING, "no kernel matches; Backspace widens the filter");
    } else if (rows < area.rows && index < catalog_count() && catalog_row(index)->lesson) {
        Rectangle below = {area.column, area.row + rows + 1, area.columns, area.rows - rows - 1};
        canvas_paragraph(canvas, below, 0, ROLE_TEXT, catalog_row(index)->lesson);
    }
}

/* Selects; a click on the selected one opens it. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    int rows = list_rows(area), index = first_shown(view, rows) + row;
    (void)context, (void)column;
    if (row >= rows || view_menu_row(view, index) < 0) return VIEW_IGNORED;
    if (view->transient.choice == index) {
        return view_choose(view);
    }
    view->transient.choice = index;
    return VIEW_CHANGED;
}

const Pane pane_menu = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_MENU, .head = head, .draw = draw, .click = click};
