/* The output screen: what a program printed, and how it ended. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/view/launch_view.h"

#include <string.h>

static void head(const StepContext *context, PaneHead *out) {
    enum { KEPT_MEGABYTES = 16 }; /* program.h */
    const Program *program = context->view->display.program;
    Text end = {0};
    launch_view_print_end(program, &end);
    pane_title(out, tr("output  the program %s"), text_string(&end));
    if (program->end != PROGRAM_EXITED || program->status) out->note_role = ROLE_WARNING;
    if (program->output.length >= (size_t)KEPT_MEGABYTES << 20)
        pane_note(out, tr("the first %d MB"), KEPT_MEGABYTES);
    else
        pane_note(out, "%.1f s", program->seconds);
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
    scroll = canvas_scroll(scroll, inside.rows, count);
    put(program, canvas, inside, scroll);
    canvas_more(canvas, inside, scroll > 0, scroll + inside.rows < count);
}

const Pane pane_output = {.slot = SLOT_OVERLAY,
                          .overlay = OVERLAY_OUTPUT,
                          .tells = HIDES_VALUES,
                          .head = head,
                          .draw = draw,
                          .line_count = line_count};

/* ---- lines --------------------------------------------------------------------------------------------- */

enum { ESCAPE = 27, BELL = 7, LAST_LINE_BYTES = 1 << 14 };

OutputLines output_lines(const Program *program) {
    const char *text = text_string(&program->output);
    return (OutputLines){.at = text, .end = text + program->output.length};
}

/* Behind the escape sequence that begins here: ESC [ parameters letter, ESC ] text BEL, or ESC and one
 * byte. */
static const char *skip_escape(const char *at, const char *end) {
    char kind = ++at < end ? *at++ : 0;
    if (kind == '[') {
        while (at < end && *at >= 0x20 && *at < 0x40) at++;
        return at < end && *at != '\n' ? at + 1 : at;
    }
    if (kind != ']') return at < end ? at : end;
    while (at < end && *at != BELL && *at != '\n' && *at != ESCAPE) at++;
    if (at + 1 < end && *at == ESCAPE && at[1] == '\\') return at + 2;
    return at < end && *at == BELL ? at + 1 : at;
}

bool output_next_line(OutputLines *lines) {
    bool returned = false; /* the next character overwrites the line */
    text_clear(&lines->line);
    if (lines->at >= lines->end) return false;
    while (lines->at < lines->end && *lines->at != '\n') {
        if (*lines->at == ESCAPE) {
            lines->at = skip_escape(lines->at, lines->end);
            continue;
        }
        if (*lines->at == '\r') {
            returned = true;
        } else {
            if (returned) text_clear(&lines->line);
            returned = false;
            text_add_bytes(&lines->line, *lines->at ? lines->at : "\1", 1);
        }
        lines->at++;
    }
    lines->at += lines->at < lines->end;
    return true;
}

void output_last_line(const Program *program, Text *out) {
    OutputLines lines = output_lines(program);
    if (lines.end - lines.at > LAST_LINE_BYTES) lines.at = lines.end - LAST_LINE_BYTES;
    text_clear(out);
    while (output_next_line(&lines)) {
        const char *line = text_string(&lines.line);
        line += strspn(line, " \t");
        if (!*line) continue;
        text_clear(out);
        text_add(out, line);
    }
    text_done(&lines.line);
}

int output_fit(const char *text, int columns) {
    const char *at = text;
    for (int column = 0; *at;) {
        const char *next = at;
        int width = character_next(&next, column).columns;
        if (at > text && column + width > columns) break;
        column += width;
        at = next;
    }
    return (int)(at - text);
}
