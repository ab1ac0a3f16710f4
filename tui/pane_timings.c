/* Timings: how long every kernel of the ladder takes, as horizontal bars, with the rate at which it reads,
 * its speed-up over the first and its share of what the memory can do. The table is the scene's: whoever
 * measured fills it. */
#include "pane.h"

#include <stdio.h>

enum { TIME_COLUMNS = 10, NUMBER_COLUMNS = 9, LEAST_BAR_COLUMNS = 6, MOST_NAME_COLUMNS = 20 };

typedef struct Columns { /* from the left; 0: not shown */
    int name, bar;       /* widths */
    bool rate, speed_up, share;
} Columns;

static void head(const Moment *now, PaneHead *out) {
    const SceneTimings *timings = now->scene->timings;
    snprintf(out->title, sizeof out->title, "timings%s%s", timings ? "  " : "", timings ? timings->what : "");
    snprintf(out->note, sizeof out->note, "%s", timings ? timings->level : "");
}

static int find_kernel(const SceneTimings *timings, const char *kernel) {
    for (int i = 0; i < timings->count; i++)
        if (!strcmp(timings->rows[i].kernel, kernel)) return i;
    return -1;
}

/* Names and times first, then a bar, then the numbers for which there is room. */
static Columns choose_columns(const SceneTimings *timings, int columns) {
    Columns chosen = {.name = 6};
    for (int i = 0; i < timings->count; i++)
        if ((int)strlen(timings->rows[i].kernel) > chosen.name)
            chosen.name = (int)strlen(timings->rows[i].kernel);
    if (chosen.name > MOST_NAME_COLUMNS) chosen.name = MOST_NAME_COLUMNS;
    int room = columns - 1 - chosen.name - TIME_COLUMNS - 1 - LEAST_BAR_COLUMNS;
    bool *const numbers[] = {&chosen.speed_up, &chosen.rate, &chosen.share};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && room >= NUMBER_COLUMNS;
         i++, room -= NUMBER_COLUMNS)
        *numbers[i] = true;
    chosen.bar = room > 0 ? LEAST_BAR_COLUMNS + room : LEAST_BAR_COLUMNS;
    return chosen;
}

/* Four digits at most, and the unit. */
static void print_time(double microseconds, char *out, size_t bytes) {
    bool is_short = microseconds < 1000;
    double value = is_short ? microseconds : microseconds / 1000;
    snprintf(out, bytes, value < 99.95 ? "%.1f %s" : "%.0f %s", value, is_short ? "us" : "ms");
}

static void draw_names(Canvas *canvas, Rectangle area, int row, const Columns *columns) {
    int at = 1 + columns->name;
    canvas_text(canvas, area, 1, row, ROLE_DIM, "kernel");
    canvas_print(canvas, area, at, row, ROLE_DIM, "%*s", TIME_COLUMNS, "time");
    at += TIME_COLUMNS + 1 + columns->bar;
    if (columns->rate) at += canvas_print(canvas, area, at, row, ROLE_DIM, "%*s", NUMBER_COLUMNS, "GB/s");
    if (columns->speed_up)
        at += canvas_print(canvas, area, at, row, ROLE_DIM, "%*s", NUMBER_COLUMNS, "speed-up");
    if (columns->share) canvas_print(canvas, area, at, row, ROLE_DIM, "%*s", NUMBER_COLUMNS, "of peak");
}

static void draw_row(const SceneTimings *timings, Canvas *canvas, Rectangle area, int row, int index,
                     const Columns *columns, bool current, double longest) {
    const SceneTiming *timing = &timings->rows[index];
    Role role = current ? ROLE_CURRENT : ROLE_TEXT;
    char time[24];
    print_time(timing->microseconds, time, sizeof time);
    canvas_print(canvas, area, 0, row, role, "%c%.*s", current ? '>' : ' ', columns->name, timing->kernel);
    int at = 1 + columns->name;
    canvas_print(canvas, area, at, row, role, "%*s", TIME_COLUMNS, time);
    at += TIME_COLUMNS + 1;
    int length = longest > 0 ? (int)(timing->microseconds / longest * columns->bar + 0.5) : 0;
    for (int i = 0; i < columns->bar && (i < length || i == 0); i++)
        canvas_glyph(canvas, area, at + i, row, current ? ROLE_ACTIVE : ROLE_DIM, current ? 0x2588 : 0x25A0);
    at += columns->bar;
    if (columns->rate)
        at +=
            canvas_print(canvas, area, at, row, role, "%*.0f", NUMBER_COLUMNS, timing->gigabytes_per_second);
    double speed_up = timings->rows[0].microseconds / timing->microseconds,
           share = timing->share_of_peak * 100;
    if (columns->speed_up)
        at += canvas_print(canvas, area, at, row, role, speed_up < 99.95 ? "%*.1fx" : "%*.0fx",
                           NUMBER_COLUMNS - 1, speed_up);
    if (columns->share && share > 0)
        canvas_print(canvas, area, at, row, role, share < 9.95 ? "%*.1f%%" : "%*.0f%%", NUMBER_COLUMNS - 1,
                     share);
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    const SceneTimings *timings = now->scene->timings;
    if (!timings || !timings->count) {
        canvas_paragraph(canvas, area, 0, ROLE_DIM,
                         "Nothing was measured on this machine: counts are exact, but times need a GPU.");
        return;
    }
    Columns columns = choose_columns(timings, area.columns);
    int named = area.rows > 4, room = area.rows - named, here = find_kernel(timings, now->scene->kernel);
    int first = (here < 0 ? 0 : here) - room / 2, last = timings->count - room;
    double longest = 0;
    if (first > last) first = last;
    if (first < 0) first = 0;
    for (int i = first; i < first + room && i < timings->count; i++) /* of those that are seen */
        if (timings->rows[i].microseconds > longest) longest = timings->rows[i].microseconds;
    if (named) draw_names(canvas, area, 0, &columns);
    for (int i = 0; i < room && first + i < timings->count; i++)
        draw_row(timings, canvas, area, named + i, first + i, &columns, first + i == here, longest);
}

const Pane pane_timings = {.slot = SLOT_SIDE, .head = head, .draw = draw};
