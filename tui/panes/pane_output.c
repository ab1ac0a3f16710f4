/* The output screen: what a program printed, and how it ended. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/output_lines.h"
#include "tui/view/launch_view.h"

static void head(const StepContext *context, PaneHead *out) {
    enum { KEPT_MEGABYTES = 16 }; /* program.h */
    const Program *program = context->view->display.program;
    Text end = {0};
    launch_view_print_end(program, &end);
    snprintf(out->title, sizeof out->title, tr("output  the program %s"), text_string(&end));
    if (program->end != PROGRAM_EXITED || program->status) out->note_role = ROLE_WARNING;
    if (program->output.length >= (size_t)KEPT_MEGABYTES << 20)
        snprintf(out->note, sizeof out->note, tr("the first %d MB"), KEPT_MEGABYTES);
    else
        snprintf(out->note, sizeof out->note, "%.1f s", program->seconds);
    text_done(&end);
}

/* Draws the rows from `first` on; a canvas of NULL: only counts. Returns the rows of the whole text. */
static int put(const Program *program, Canvas *canvas, Rectangle area, int first) {
    OutputLines lines = output_lines(program);
    int row = 0;
    while (output_next_line(&lines)) {
        const char *text = text_string(&lines.line);
        do {
            int bytes = output_fit(text, area.columns);
            if (canvas && row >= first && row < first + area.rows)
                canvas_print(canvas, area, 0, row - first, ROLE_TEXT, "%.*s", bytes, text);
            text += bytes;
            row++;
        } while (*text);
    }
    text_done(&lines.line);
    return row;
}

static int line_count(const StepContext *context, int columns) {
    return put(context->view->display.program, NULL, (Rectangle){.columns = columns}, 0) +
           1; /* and the hints */
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const Program *program = context->view->display.program;
    Rectangle inside = {area.column, area.row, area.columns, area.rows - 1};
    int scroll = context->view->transient.scroll, count = put(program, NULL, inside, 0);
    canvas_text(canvas, area, 0, area.rows - 1, ROLE_DIM,
                tr("arrows, Space, Home, End scroll  @ launches  q back"));
    if (!count) canvas_text(canvas, inside, 0, 0, ROLE_DIM, tr("the program printed nothing"));
    if (scroll > count - inside.rows) scroll = count > inside.rows ? count - inside.rows : 0;
    put(program, canvas, inside, scroll);
    canvas_more(canvas, inside, scroll > 0, scroll + inside.rows < count);
}

const Pane pane_output = {.slot = SLOT_OVERLAY,
                          .overlay = OVERLAY_OUTPUT,
                          .tells = HIDES_VALUES,
                          .head = head,
                          .draw = draw,
                          .line_count = line_count};
