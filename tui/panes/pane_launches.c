/* The launches screen: every launch of a program, and what its host code did wrong. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/view/launch_view.h"

#include <stdlib.h>
#include <string.h>

enum {
    MARKS = 3,       /* columns of the marks before a row */
    MEASURED = 2000, /* rows whose texts decide how wide the columns are */
    DETAIL_ROWS = 2,
    LEAST_LIST = 4
};

static const Program *program_of(const StepContext *context) {
    return context->view->display.program;
}

static void head(const StepContext *context, PaneHead *out) {
    const Program *program = program_of(context);
    const Captured *capture = program->capture;
    Text end = {0}, last = {0};
    double seconds = 0;
    for (int i = 0; i < capture->launch_count; i++) seconds += capture->launches[i].seconds;
    launch_view_print_end(program, &end);
    output_last_line(program, &last);
    pane_note(out, tr("%d launch%s, %d distinct, %.1f s emulated"), capture->launch_count,
              capture->launch_count == 1 ? "" : "es", launch_count_distinct(capture), seconds);
    pane_title(out, tr("launches  the program %s"), text_string(&end));
    int room = out->columns - canvas_text_columns(out->title) - canvas_text_columns(out->note) - 8;
    if (room > 0 && last.length)
        pane_add_title(out, ": \"%.*s\"", output_fit(text_string(&last), room), text_string(&last));
    text_done(&end);
    text_done(&last);
}

/* ---- columns ------------------------------------------------------------------------------------------- */

typedef struct LaunchColumns {
    int width[LAUNCH_COLUMNS]; /* 0: not shown */
    int gap;
} LaunchColumns;

static bool is_number(LaunchColumn column) {
    return column == LAUNCH_GRID || column == LAUNCH_BLOCK || column == LAUNCH_SHARED ||
           column == LAUNCH_INSTRUCTIONS;
}

static void print_cell(const StepContext *context, const LaunchRow *row, LaunchColumn column, Text *out) {
    const Captured *capture = program_of(context)->capture;
    const LaunchShown shown = {launch_view_shown(context->view, context->scene),
                               context->scene->borrowed.hazards};
    if (column != LAUNCH_FINDING || row->is_repeat) {
        Text text = {0};
        launch_column_print(capture, row, column, &shown, &text);
        text_add(out, column == LAUNCH_FINDING ? tr(text_string(&text)) : text_string(&text));
        text_done(&text);
        return;
    }
    char words[200], number[24];
    uint64_t count;
    snprintf(words, sizeof words, "%s", launch_finding(capture, row->first, &shown, &count));
    for (char *at = words; *at; at++)
        if (*at == '_') *at = ' '; /* a kind of trap */
    text_add(out, tr(words));
    step_context_print_short(count, number, sizeof number);
    if (count) text_print(out, " %s", number);
}

static void measure(const StepContext *context, const LaunchRow *rows, int count, LaunchColumns *out) {
    Text cell = {0};
    for (int c = 0; c < LAUNCH_COLUMNS; c++) {
        out->width[c] = canvas_text_columns(tr(launch_column_title((LaunchColumn)c)));
        for (int r = 0; r < count && r < MEASURED; r++) {
            text_clear(&cell);
            print_cell(context, &rows[r], (LaunchColumn)c, &cell);
            int columns = canvas_text_columns(text_string(&cell));
            if (columns > out->width[c]) out->width[c] = columns;
        }
    }
    text_done(&cell);
}

static int columns_used(const LaunchColumns *columns) {
    int used = MARKS - columns->gap;
    for (int c = 0; c < LAUNCH_COLUMNS; c++)
        if (columns->width[c]) used += columns->width[c] + columns->gap;
    return used;
}

/* Takes what is too wide from the widest of the columns of texts; false: they are at their least. */
static bool shrink(LaunchColumns *columns, int room) {
    static const int least[LAUNCH_COLUMNS] = {[LAUNCH_KERNEL] = 14, [LAUNCH_CHANGED] = 12};
    while (columns_used(columns) > room) {
        int widest = -1;
        for (int c = 0; c < LAUNCH_COLUMNS; c++)
            if (least[c] && columns->width[c] > least[c] &&
                (widest < 0 || columns->width[c] - least[c] > columns->width[widest] - least[widest]))
                widest = c;
        if (widest < 0) return false;
        columns->width[widest]--;
    }
    return true;
}

/* On a narrow screen the columns that matter least are left out. */
static void fit(LaunchColumns *columns, int room) {
    static const LaunchColumn leaves[] = {LAUNCH_SHARED, LAUNCH_CHANGED, LAUNCH_INSTRUCTIONS,
                                          LAUNCH_BLOCK,  LAUNCH_GRID,    LAUNCH_FINDING};
    LaunchColumns whole = *columns;
    for (size_t left = 0; left <= sizeof leaves / sizeof *leaves; left++) {
        *columns = whole;
        columns->gap = 2;
        for (size_t i = 0; i < left; i++) columns->width[leaves[i]] = 0;
        if (shrink(columns, room)) break;
    }
    if (columns_used(columns) + LAUNCH_COLUMNS <= room) columns->gap = 3;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void draw_cell(Canvas *canvas, Rectangle area, int line, Role role, LaunchColumn column,
                      const char *text) {
    int columns = canvas_text_columns(text);
    int at = is_number(column) && columns < area.columns ? area.columns - columns : 0;
    canvas_text(canvas, area, at, line, role, text);
    if (columns > area.columns) canvas_glyph(canvas, area, area.columns - 1, line, role, 0x2026);
}

static Role role_of(const Captured *capture, const LaunchRow *row, LaunchColumn column) {
    const CapturedLaunch *launch = &capture->launches[row->first];
    if (column == LAUNCH_FINDING && launch->error) return ROLE_CONFLICT;
    return row->is_repeat || !launch_view_can_show(capture, row->first) ? ROLE_DIM : ROLE_TEXT;
}

static void draw_row(const StepContext *context, const LaunchRow *row, const LaunchColumns *columns,
                     Canvas *canvas, Rectangle area, int line, bool chosen) {
    const Captured *capture = program_of(context)->capture;
    int shown = launch_view_shown(context->view, context->scene);
    bool is_shown = shown >= row->first && shown <= row->last;
    Rectangle cell = {area.column + MARKS, area.row, 0, area.rows};
    Text text = {0};
    if (chosen) canvas_text(canvas, area, 0, line, ROLE_CURRENT, ">");
    if (is_shown) canvas_text(canvas, area, 1, line, ROLE_CURRENT, "*");
    for (int c = 0; c < LAUNCH_COLUMNS; c++) {
        cell.columns = columns->width[c];
        if (!cell.columns) continue;
        text_clear(&text);
        print_cell(context, row, (LaunchColumn)c, &text);
        Role role = role_of(capture, row, (LaunchColumn)c);
        draw_cell(canvas, cell, line, role == ROLE_TEXT && is_shown ? ROLE_CURRENT : role, (LaunchColumn)c,
                  text_string(&text));
        cell.column += cell.columns + columns->gap;
    }
    if (chosen) canvas_reverse(canvas, area, 0, line, area.columns);
    text_done(&text);
}

/* The selected launch: its kernel and place in full; why it failed. */
static void draw_detail(const Captured *capture, const LaunchRow *row, Canvas *canvas, Rectangle area) {
    const CapturedLaunch *launch = &capture->launches[row->first];
    Text text = {0};
    launch_view_print_name(capture, row->first, &text);
    canvas_text(canvas, area, 0, 0, ROLE_TEXT, text_string(&text));
    if (launch->why)
        canvas_text(canvas, area, 0, 1, ROLE_WARNING, launch->why);
    else if (launch->repeats >= 0)
        canvas_print(canvas, area, 0, 1, ROLE_DIM, tr("repeats launch %d: the same arguments and memory"),
                     launch->repeats + 1);
    text_done(&text);
}

/* Returns the rows that they take. */
static int draw_findings(const Program *program, Canvas *canvas, Rectangle area) {
    Arena arena = {0};
    int count, row = 0;
    HostFinding *found = host_findings(program, TOOL_NONE, &arena, &count);
    Text text = {0};
    canvas_text(canvas, area, 0, row++, ROLE_TITLE, tr("host code"));
    if (!count) canvas_text(canvas, area, 2, row++, ROLE_DIM, tr("nothing wrong was seen"));
    for (int i = 0; i < count && row < area.rows; i++) {
        Rectangle rest = {area.column + 2, area.row + row, area.columns - 2, area.rows - row};
        text_clear(&text);
        text_add(&text, found[i].is_error ? tr("error: ") : tr("note: "));
        if (found[i].line)
            text_print(&text, tr("%s line %d: "), scene_file_name(found[i].file), found[i].line);
        text_add(&text, found[i].text);
        if (i + 1 < count && row + 1 == area.rows) {
            canvas_print(canvas, rest, 0, 0, ROLE_DIM, tr("and %d more"), count - i);
            row++;
            break;
        }
        row += canvas_paragraph(canvas, rest, 0, found[i].is_error ? ROLE_WARNING : ROLE_TEXT,
                                text_string(&text));
    }
    text_done(&text);
    free(found);
    arena_done(&arena);
    return row;
}

static int count_finding_rows(const Program *program, int columns, int most) {
    Canvas *canvas = canvas_new(columns > 0 ? columns : 1, most > 0 ? most : 1, false);
    int rows = draw_findings(program, canvas, (Rectangle){0, 0, canvas->columns, canvas->rows});
    canvas_free(canvas);
    return rows < most ? rows : most;
}

/* ---- the screen ---------------------------------------------------------------------------------------- */

typedef struct LaunchAreas {
    Rectangle titles, list, detail, findings, hints; /* no rows where there is no room */
} LaunchAreas;

static Rectangle cut_bottom(Rectangle *area, int rows) {
    area->rows -= rows;
    return (Rectangle){area->column, area->row + area->rows, area->columns, rows};
}

static LaunchAreas divide(const StepContext *context, Rectangle area, int row_count) {
    LaunchAreas out = {0};
    out.hints = cut_bottom(&area, 1);
    out.titles = (Rectangle){area.column, area.row, area.columns, 1};
    area.row++;
    area.rows--;
    int findings = count_finding_rows(program_of(context), area.columns, area.rows / 3);
    if (findings >= 2 && area.rows - findings >= LEAST_LIST) {
        out.findings = cut_bottom(&area, findings);
        if (area.rows > LEAST_LIST + 1) cut_bottom(&area, 1);
    }
    if (area.rows - DETAIL_ROWS - 1 >= LEAST_LIST) {
        out.detail = cut_bottom(&area, DETAIL_ROWS);
        cut_bottom(&area, 1);
    }
    out.list = area;
    int spare = area.rows - row_count; /* what follows stands right below a short list */
    if (spare > 0) {
        out.list.rows -= spare;
        out.detail.row -= spare;
        out.findings.row -= spare;
    }
    return out;
}

static void draw_hints(const View *view, Canvas *canvas, Rectangle area) {
    const char *message = view->transient.message;
    if (*message)
        canvas_text(canvas, area, 0, 0, ROLE_CURRENT, message);
    else
        canvas_text(canvas, area, 0, 0, ROLE_DIM,
                    area.columns < 100
                        ? tr("Enter open  * & next, previous  J output  ? help  q back")
                        : tr("Enter open the launch  * & next, previous one that can be shown  "
                             "J what the program printed  ? help  q back"));
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const Program *program = program_of(context);
    const Captured *capture = program->capture;
    int count, choice = context->view->transient.choice;
    LaunchRow *rows = launch_rows(capture, &count);
    LaunchAreas areas = divide(context, area, count);
    LaunchColumns columns;
    measure(context, rows, count, &columns);
    fit(&columns, area.columns);
    if (count) {
        Rectangle cell = {areas.titles.column + MARKS, areas.titles.row, 0, areas.titles.rows};
        for (int c = 0; c < LAUNCH_COLUMNS; c++) {
            cell.columns = columns.width[c];
            if (!cell.columns) continue;
            draw_cell(canvas, cell, 0, ROLE_TITLE, (LaunchColumn)c, tr(launch_column_title((LaunchColumn)c)));
            cell.column += cell.columns + columns.gap;
        }
    }
    if (!count) canvas_text(canvas, areas.titles, 0, 0, ROLE_TEXT, tr("the program launched no kernel"));
    int first = canvas_first_shown(choice, areas.list.rows, count);
    for (int at = 0; at < areas.list.rows && first + at < count; at++)
        draw_row(context, &rows[first + at], &columns, canvas, areas.list, at, first + at == choice);
    canvas_more(canvas, areas.list, first > 0, first + areas.list.rows < count);
    if (areas.detail.rows && choice < count) draw_detail(capture, &rows[choice], canvas, areas.detail);
    if (areas.findings.rows) draw_findings(program, canvas, areas.findings);
    draw_hints(context->view, canvas, areas.hints);
    free(rows);
}

/* Selects; a click on the selected one opens it. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    int count;
    free(launch_rows(program_of(context)->capture, &count));
    LaunchAreas areas = divide(context, area, count);
    int at = row - (areas.list.row - area.row);
    int chosen = canvas_first_shown(view->transient.choice, areas.list.rows, count) + at;
    (void)column;
    if (at < 0 || at >= areas.list.rows || chosen >= count) return VIEW_IGNORED;
    if (view->transient.choice == chosen) return launch_view_choose(view, context->scene, chosen);
    view->transient.choice = chosen;
    return VIEW_CHANGED;
}

const Pane pane_launches = {.slot = SLOT_OVERLAY,
                            .overlay = OVERLAY_LAUNCHES,
                            .tells = HIDES_COUNTS | HIDES_ACCESSES,
                            .head = head,
                            .draw = draw,
                            .click = click};
