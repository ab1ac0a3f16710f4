/* Latency: cycles until an instruction's result is available, as bars in groups. */
#include "ladder/latency.h"

#include "base/language.h"
#include "tui/panes/pane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_COLUMNS = 21,
    CYCLE_COLUMNS = 7,
    TIME_COLUMNS = 10,
    COLUMN_GAP = 2,
    MOST_LINES = 2 * LATENCY_ROWS
};

typedef struct LatencyLine {
    const char *heading; /* a heading, or a row below; without both: an empty line */
    const LatencyRow *row;
} LatencyLine;

static bool gather(const StepContext *context, Latencies *out, bool *is_live) {
    const SceneTimings *timings = context->scene->borrowed.timings;
    *out = (Latencies){.clock = NAN};
    *is_live = false;
    if (!timings) return false;
    if (timings->live && !context->view->display.ladder.recorded) latency_gather(out, timings->live);
    *is_live = out->known > 0;
    if (!out->known && timings->recorded) latency_gather(out, timings->recorded);
    return out->known > 0;
}

static void head(const StepContext *context, PaneHead *out) {
    Latencies latencies;
    bool is_live;
    gather(context, &latencies, &is_live);
    const char *machine = latencies.machine ? scene_machine_name(latencies.machine) : tr("not measured");
    if (is_live)
        pane_title(out, tr("latencies  %.40s, live"), machine);
    else
        pane_title(out, tr("latencies  %.40s, recorded %.10s"), machine,
                   latencies.measured ? latencies.measured : "");
    if (!isnan(latencies.clock))
        pane_note(out, out->columns < 100 ? "%.0f MHz" : tr("cycles until the result can be used; %.0f MHz"),
                  latencies.clock);
}

static int list_lines(const Latencies *latencies, LatencyLine lines[MOST_LINES]) {
    int count = 0;
    for (int i = 0; i < latencies->count; i++) {
        if (latencies->rows[i].group && count) lines[count++] = (LatencyLine){0};
        if (latencies->rows[i].group) lines[count++] = (LatencyLine){.heading = latencies->rows[i].group};
        lines[count++] = (LatencyLine){.row = &latencies->rows[i]};
    }
    return count;
}

static void draw_line(const Latencies *latencies, const LatencyLine *line, Canvas *canvas, Rectangle area,
                      int at) {
    if (line->heading) canvas_text(canvas, area, 0, at, ROLE_TITLE, tr(line->heading));
    if (!line->row) return;
    bool has_room = area.columns >= 56;
    int left = LABEL_COLUMNS + CYCLE_COLUMNS + (has_room ? TIME_COLUMNS : 1);
    const LatencyRow *row = line->row;
    bool known = !isnan(row->cycles);
    Rectangle label = {area.column + 1, area.row, LABEL_COLUMNS - 1, area.rows};
    canvas_text(canvas, label, 0, at, known ? ROLE_TEXT : ROLE_DIM, tr(row->label));
    if (!known) {
        canvas_print(canvas, area, LABEL_COLUMNS, at, ROLE_DIM, "%*s", CYCLE_COLUMNS, "-");
        return;
    }
    canvas_print(canvas, area, LABEL_COLUMNS, at, ROLE_CURRENT, "%*.0f", CYCLE_COLUMNS, row->cycles);
    if (has_room && !isnan(row->nanoseconds))
        canvas_print(canvas, area, LABEL_COLUMNS + CYCLE_COLUMNS, at, ROLE_DIM, "%*.1f ns", TIME_COLUMNS - 4,
                     row->nanoseconds);
    int length = (int)(row->cycles / latencies->most * (area.columns - left) + 0.5);
    canvas_row(canvas, area, left, at, length > 1 ? length : 1, ROLE_BAR, 0x2588);
}

/* Groups stay whole when they are divided into two columns. */
static int divide(const LatencyLine *lines, int count) {
    int best = count;
    for (int i = 0; i < count; i++)
        if (lines[i].heading && abs(2 * i - count) < abs(2 * best - count)) best = i;
    return best;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Latencies latencies;
    LatencyLine lines[MOST_LINES];
    bool is_live;
    Rectangle inside = {area.column, area.row, area.columns, area.rows - 1};
    canvas_text(canvas, area, 0, area.rows - 1, ROLE_DIM, tr("m machine  B ladder  q back"));
    if (!gather(context, &latencies, &is_live)) {
        canvas_text(canvas, inside, 0, 0, ROLE_TEXT, tr("no latencies were measured on this machine"));
        return;
    }
    int count = list_lines(&latencies, lines), scroll = context->view->transient.scroll;
    int first = count > inside.rows && area.columns >= 76 ? divide(lines, count) : count;
    scroll = canvas_scroll(scroll, inside.rows, first);
    Rectangle left = inside, right = inside;
    if (first < count) {
        left.columns = (inside.columns - COLUMN_GAP) / 2;
        right.column += left.columns + COLUMN_GAP;
        right.columns = left.columns;
    }
    for (int i = scroll; i < count; i++)
        draw_line(&latencies, &lines[i], canvas, i < first ? left : right,
                  i < first ? i - scroll : i - first);
    canvas_more(canvas, inside, scroll > 0, first - scroll > inside.rows);
}

const Pane pane_latency = {.slot = SLOT_OVERLAY, .overlay = OVERLAY_LATENCY, .head = head, .draw = draw};
