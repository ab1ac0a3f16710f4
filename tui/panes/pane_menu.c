/* Lectures, kernels by family, files, earlier runs and, in the palette, every action. Typing filters them by
 * name and title (view/menu.h). The selected row's lesson stands beside the list, or below it. */
#include "base/language.h"
#include "base/utf8.h"
#include "tui/panes/pane.h"
#include "tui/view/menu.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 24, START_COLUMNS = 32, TAG_COLUMNS = 10, KEYS_COLUMNS = 16 };
enum { BESIDE_COLUMNS = 110, LIST_COLUMNS = 70, TITLE = -1, BLANK = -2 };

static void head(const StepContext *context, PaneHead *out) {
    static const char *const titles[] = {[MENU_KERNELS] = "kernel: ",
                                         [MENU_BESIDE] = "compare with: ",
                                         [MENU_HOME] = "redviz   find: ",
                                         [MENU_PALETTE] = ":"};
    const ViewTransient *transient = &context->view->transient;
    pane_title(out, "%s%s_", tr(titles[transient->menu]), transient->filter);
    pane_note(out, "%s",
              transient->confirms               ? tr("Enter again: writes its file here and opens it")
              : transient->menu == MENU_PALETTE ? tr("an action, kernel, lecture or step; Esc closes")
              : transient->menu == MENU_HOME    ? tr("type to find, Enter opens, F10 quits")
                                                : tr("type to filter, Enter opens, Esc closes"));
}

/* ---- lines --------------------------------------------------------------------------------------------- */

typedef struct Lines { /* of the list: an index of a row, TITLE of the row that follows, or BLANK */
    int count;
    int line[2 * MENU_MOST];
} Lines;

/* Sections have titles as long as nothing is filtered. */
static void make_lines(const View *view, const MenuList *list, Lines *out) {
    out->count = 0;
    for (int i = 0; i < list->count; i++) {
        bool begins = !i || strcmp(list->rows[i].section, list->rows[i - 1].section) != 0;
        if (begins && !*view->transient.filter) {
            if (i) out->line[out->count++] = BLANK;
            out->line[out->count++] = TITLE;
        }
        out->line[out->count++] = i;
    }
}

/* The first line on the screen: the choice is in the middle, except at both ends. */
static int first_line(const View *view, const Lines *lines, int rows) {
    int at = 0;
    while (at < lines->count && lines->line[at] != view->transient.choice) at++;
    return canvas_first_shown(at, rows, lines->count);
}

typedef struct Areas {
    Rectangle list, lesson; /* lesson: no rows where there is no room */
} Areas;

static Areas divide(Rectangle area) {
    if (area.columns >= BESIDE_COLUMNS)
        return (Areas){
            {area.column, area.row, LIST_COLUMNS, area.rows},
            {area.column + LIST_COLUMNS + 2, area.row, area.columns - LIST_COLUMNS - 2, area.rows}};
    if (area.rows <= 6) return (Areas){area, {0}};
    return (Areas){{area.column, area.row, area.columns, area.rows - 3},
                   {area.column, area.row + area.rows - 2, area.columns, 2}};
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

/* "→ l": the keys of an action. */
static void print_keys(const char *list, bool ascii, char *out, size_t bytes) {
    char key[24];
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; keys_show(list, i, ascii, key, sizeof key) && at < bytes; i++)
        at += (size_t)snprintf(out + at, bytes - at, "%s%s", i ? " " : "", key);
}

/* An action has its keys behind its name. */
static void draw_action(const MenuRow *row, Canvas *canvas, Rectangle area, int line, Role role) {
    char keys[128];
    print_keys(row->name, canvas->ascii, keys, sizeof keys);
    int column = 1, least = area.columns - KEYS_COLUMNS;
    if (row->kind == MENU_BACK) column += canvas_text(canvas, area, column, line, role, tr("back: "));
    column += canvas_text(canvas, area, column, line, role, tr(row->title)) + 2;
    canvas_text(canvas, area, column < least ? least : column, line, ROLE_KEY, keys);
}

/* Where sections have no titles, and in "start here", a tag says what a row is. */
static void draw_row(const MenuRow *row, Canvas *canvas, Rectangle area, int line, bool chosen,
                     bool sectioned) {
    Role role = chosen ? ROLE_CURRENT : ROLE_TEXT, dim = chosen ? ROLE_CURRENT : ROLE_DIM;
    bool is_action = row->kind == MENU_ACTION || row->kind == MENU_BACK;
    canvas_text(canvas, area, 0, line, role, chosen ? ">" : " ");
    if (is_action) {
        draw_action(row, canvas, area, line, role);
    } else {
        int column = canvas_text(canvas, area, 1, line, role, row->start ? tr(row->start) : row->name) + 3;
        int least = row->start ? START_COLUMNS : NAME_COLUMNS;
        if (column < least) column = least;
        if (row->start || !sectioned) {
            canvas_text(canvas, area, column, line, dim, tr(menu_tag(row)));
            column += TAG_COLUMNS;
        }
        canvas_text(canvas, area, column, line, dim, row->start ? row->name : tr(row->title));
    }
    if (chosen) canvas_reverse(canvas, area, 0, line, area.columns);
}

/* The first paragraph of what a lecture or a task says; a lecture's begins with the title of its first
 * stop. */
static void draw_about(const MenuRow *row, Canvas *canvas, Rectangle area) {
    char first[600];
    const char *about = row->about;
    const char *end = row->kind == MENU_LECTURE ? strchr(about, '\n') : NULL;
    if (end) about = end + 1;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(about, "\n"), about);
    utf8_drop_half(first);
    int at = area.rows > 3 ? canvas_paragraph(canvas, area, 0, ROLE_TITLE, tr(row->title)) + 1 : 0;
    canvas_paragraph(canvas, area, at, ROLE_TEXT, first);
}

static void draw_lesson(const MenuRow *row, Canvas *canvas, Rectangle area) {
    if (area.rows && row->about && row->kind != MENU_KERNEL) draw_about(row, canvas, area);
    if (!area.rows || row->kind != MENU_KERNEL) return;
    const CatalogRow *kernel = catalog_row(row->index);
    int at = kernel->lesson ? canvas_paragraph(canvas, area, 0, ROLE_TEXT, tr(kernel->lesson)) + 1 : 0;
    if (at + 1 >= area.rows) return;
    Rectangle below = {area.column, area.row + at, area.columns, area.rows - at};
    if (kernel->watch) at += canvas_paragraph(canvas, below, 0, ROLE_DIM, tr(kernel->watch)) + 1;
    for (const CatalogParameter *parameter = kernel->parameters; parameter->name && at < area.rows;
         parameter++, at++)
        canvas_print(canvas, area, 0, at, ROLE_TEXT, "%s %lld..%lld  %s", parameter->name,
                     (long long)parameter->minimum, (long long)parameter->maximum, tr(parameter->meaning));
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const View *view = context->view;
    Areas areas = divide(area);
    MenuList list;
    Lines lines;
    menu_list(view, &list);
    make_lines(view, &list, &lines);
    if (!list.count) {
        canvas_text(canvas, area, 0, 0, ROLE_WARNING,
                    tr("nothing has this name; Backspace widens the search"));
        return;
    }
    int rows = areas.list.rows, first = first_line(view, &lines, rows);
    for (int at = 0; at < rows && first + at < lines.count; at++) {
        int row = lines.line[first + at];
        if (row == TITLE)
            canvas_text(canvas, areas.list, 0, at, ROLE_TITLE,
                        tr(list.rows[lines.line[first + at + 1]].section));
        else if (row != BLANK)
            draw_row(&list.rows[row], canvas, areas.list, at, row == view->transient.choice,
                     !*view->transient.filter);
    }
    canvas_more(canvas, areas.list, first > 0, first + rows < lines.count);
    draw_lesson(&list.rows[view->transient.choice], canvas, areas.lesson);
}

/* Selects; a click on the selected one opens it. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Areas areas = divide(area);
    MenuList list;
    Lines lines;
    (void)context;
    menu_list(view, &list);
    make_lines(view, &list, &lines);
    int at = first_line(view, &lines, areas.list.rows) + row;
    if (row >= areas.list.rows || column >= areas.list.columns || at >= lines.count || lines.line[at] < 0)
        return VIEW_IGNORED;
    if (view->transient.choice == lines.line[at]) return menu_choose(view);
    view->transient.choice = lines.line[at];
    return VIEW_CHANGED;
}

const Pane pane_menu = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_MENU, .head = head, .draw = draw, .click = click};
