/* Timeline: every step of the run. Height is the share of the block's threads that are active, '!' marks a
 * bank conflict, 'd' a divergent branch, '|' a barrier, '^' where we are. More steps than columns share one:
 * the mean of their heights, any of their marks. */
#include "pane.h"

#include <stdio.h>

enum { BAR_LEVELS = 8, MOST_BAR_ROWS = 3, MOST_STEP_COLUMNS = 4 };

static void head(const Moment *now, PaneHead *out) {
    const char *play = now->view->playing ? "playing " : "";
    char speed[16] = "";
    if (now->view->playing && now->view->speed < 0)
        snprintf(speed, sizeof speed, "1/%dx", 1 << -now->view->speed);
    else if (now->view->playing)
        snprintf(speed, sizeof speed, "%dx", 1 << now->view->speed);
    snprintf(out->title, sizeof out->title, "timeline%s%s%s", *play ? "  " : "", play, speed);
    snprintf(out->note, sizeof out->note, "step %d of %d   interval %d of %d", now->view->step + 1,
             now->steps->step_count, now->step->interval_step + 1, now->steps->interval_step_count);
}

/* The steps of a column: [first, *end). Few steps take several columns each, of the same width. */
static int first_step(int step_count, int columns, int column, int *end) {
    if (step_count <= columns) {
        int each = columns / step_count;
        if (each > MOST_STEP_COLUMNS) each = MOST_STEP_COLUMNS;
        int step = column / each;
        *end = step < step_count ? step + 1 : 0;
        return step < step_count ? step : 0;
    }
    *end = (int)((int64_t)(column + 1) * step_count / columns);
    return (int)((int64_t)column * step_count / columns);
}

int pane_timeline_step_at(const Moment *now, int columns, int column) {
    int end = 0;
    if (columns <= 0 || column < 0 || column >= columns) return -1;
    int first = first_step(now->steps->step_count, columns, column, &end);
    return first < end ? first : -1;
}

static void draw_bar(Canvas *canvas, Rectangle area, int column, int bar_rows, double share) {
    int eighths = (int)(share * bar_rows * BAR_LEVELS + 0.5);
    if (share > 0 && eighths == 0) eighths = 1;
    for (int row = bar_rows - 1; row >= 0 && eighths > 0; row--, eighths -= BAR_LEVELS)
        canvas_glyph(canvas, area, column, row, ROLE_BAR,
                     0x2580 + (uint32_t)(eighths > BAR_LEVELS ? BAR_LEVELS : eighths));
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    const Steps *steps = now->steps;
    const Outline *outline = now->outline;
    int bar_rows = area.rows - 1;
    if (bar_rows > MOST_BAR_ROWS) bar_rows = MOST_BAR_ROWS;
    if (bar_rows < 1) bar_rows = 1;
    for (int column = 0; column < area.columns; column++) {
        int end, first = first_step(steps->step_count, area.columns, column, &end);
        uint64_t lanes = 0;
        bool conflicts = false, diverges = false, barrier = false, here = false;
        if (first >= end) break;
        int before = first;
        if (column > 0) first_step(steps->step_count, area.columns, column - 1, &before);
        for (int step = first; step < end; step++) {
            lanes += outline->step[step].lanes;
            conflicts |= outline->step[step].conflicts;
            diverges |= outline->step[step].diverges;
            barrier |= step > 0 && end != before &&
                       steps->steps[step].interval_step != steps->steps[step - 1].interval_step;
            here |= step == now->view->step;
        }
        draw_bar(canvas, area, column, bar_rows,
                 (double)lanes /
                     ((double)(end - first) * (outline->thread_count ? outline->thread_count : 1)));
        if (conflicts)
            canvas_glyph(canvas, area, column, bar_rows, ROLE_CONFLICT, '!');
        else if (diverges)
            canvas_glyph(canvas, area, column, bar_rows, ROLE_WARNING, 'd');
        else if (barrier)
            canvas_glyph(canvas, area, column, bar_rows, ROLE_DIM, '|');
        if (!here) continue;
        canvas_glyph(canvas, area, column, bar_rows, ROLE_LIT, '^');
        for (int row = 0; row < bar_rows; row++) canvas_reverse(canvas, area, column, row, 1);
    }
    if (bar_rows + 1 < area.rows)
        canvas_text(canvas, area, 0, bar_rows + 1, ROLE_DIM,
                    "height: active threads   ! bank conflict   d divergent branch   | barrier   ^ here");
}

const Pane pane_timeline = {.slot = SLOT_TIMELINE, .head = head, .draw = draw};
