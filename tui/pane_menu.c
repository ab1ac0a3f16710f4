/* Menu: another kernel of the catalogue; typing filters by name and title. */
#include "pane.h"

#include <stdio.h>

enum { NAME_COLUMNS = 24 };

static void head(const Moment *now, PaneHead *out) {
    snprintf(out->title, sizeof out->title, "kernel: %s_", now->view->filter);
    snprintf(out->note, sizeof out->note, "type to filter, Enter opens, Esc closes");
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    int choice = now->view->choice, lesson = area.rows > 6 ? 3 : 0, room = area.rows - lesson;
    int first = choice < room ? 0 : choice - room + 1;
    for (int row = 0; row < room; row++) {
        int index = view_menu_row(now->view, first + row);
        if (index < 0) {
            if (row == 0)
                canvas_text(canvas, area, 0, 0, ROLE_WARNING, "no kernel is called that; Backspace widens");
            break;
        }
        const CatalogRow *kernel = catalog_row(index);
        bool chosen = first + row == choice;
        canvas_print(canvas, area, 0, row, chosen ? ROLE_CURRENT : ROLE_TEXT, "%s%s", chosen ? ">" : " ",
                     kernel->id);
        canvas_text(canvas, area, NAME_COLUMNS, row, chosen ? ROLE_CURRENT : ROLE_DIM,
                    kernel->title ? kernel->title : "");
        if (chosen) canvas_reverse(canvas, area, 0, row, area.columns);
    }
    int index = view_menu_row(now->view, choice);
    if (!lesson || index < 0 || !catalog_row(index)->lesson) return;
    Rectangle below = {area.column, area.row + room + 1, area.columns, lesson - 1};
    canvas_paragraph(canvas, below, 0, ROLE_TEXT, catalog_row(index)->lesson);
}

const Pane pane_menu = {.slot = SLOT_OVERLAY, .overlay = OVERLAY_MENU, .head = head, .draw = draw};
