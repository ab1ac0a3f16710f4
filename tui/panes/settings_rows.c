/* The settings being edited, in two rows in place of the footer's hints. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <stdio.h>
#include <string.h>

enum { FIRST_COLUMN = 4, GAP = 2, MOST_SETTINGS = 32, LEAST_VALUE = 8 };

/* "n 4096", "‹block 256›". A value too long for `columns` keeps its end, where the user types. */
static void print_setting(const Settings *settings, int index, int columns, char *out, size_t bytes) {
    SettingText text;
    bool is_chosen = index == settings->choice;
    settings_print(settings, index, &text);
    int room = columns - canvas_text_columns(text.name) - 3, length = (int)strlen(text.value);
    bool is_cut = room >= LEAST_VALUE && length > room;
    const char *value = is_cut ? text.value + length - room + 3 : text.value;
    snprintf(out, bytes, is_chosen ? "‹%s %s%s›" : "%s %s%s", text.name, is_cut ? "..." : "", value);
}

/* The first setting to draw, so that the chosen one is in the window. */
static int first_shown(const int widths[], int choice, int columns) {
    int first = choice, used = widths[choice];
    while (first > 0 && used + GAP + widths[first - 1] <= columns) used += GAP + widths[--first];
    return first;
}

static void draw_all(const Settings *settings, Canvas *canvas, Rectangle area) {
    char text[MOST_SETTINGS][288];
    int widths[MOST_SETTINGS] = {0}, count = settings_count(settings), room = area.columns - FIRST_COLUMN - 2;
    for (int i = 0; i < count; i++) {
        print_setting(settings, i, room, text[i], sizeof text[i]);
        widths[i] = canvas_text_columns(text[i]);
    }
    int first = first_shown(widths, settings->choice, room), at = FIRST_COLUMN;
    if (first > 0) canvas_glyph(canvas, area, FIRST_COLUMN - 1, 0, ROLE_KEY, '<');
    for (int i = first; i < count; i++) {
        if (i > first && at + widths[i] > area.columns - 1) {
            canvas_glyph(canvas, area, area.columns - 1, 0, ROLE_KEY, '>');
            return;
        }
        canvas_text(canvas, area, at, 0, i == settings->choice ? ROLE_CURRENT : ROLE_DIM, text[i]);
        at += widths[i] + GAP;
    }
}

/* What the chosen setting means, and its values. */
static void draw_hint(const Settings *settings, Canvas *canvas, Rectangle area) {
    SettingText text;
    settings_print(settings, settings->choice, &text);
    if (canvas_text_columns(text.name) + 2 + canvas_text_columns(text.hint) <= area.columns)
        canvas_print(canvas, area, 0, 0, ROLE_TEXT, tr("%s: %s"), text.name, text.hint);
    else
        canvas_paragraph(canvas, area, 0, ROLE_TEXT, text.hint);
}

/* "before → after:  wavefronts 600 → 180" once there is another run. */
static void draw_change(const Scene *scene, const View *view, Canvas *canvas, Rectangle area) {
    char text[512];
    RunFigures after;
    const RunFigures *before = &view->transient.settings.before;
    int at = canvas_text(canvas, area, 0, 0, ROLE_TITLE, tr("before → after:")) + GAP;
    figures_of(scene, !view->display.times_alone, view->display.times, &after);
    if (!before->is_counted)
        canvas_text(canvas, area, at, 0, ROLE_DIM, tr("the run before was not counted to its end"));
    else if (!after.is_counted)
        canvas_text(canvas, area, at, 0, ROLE_DIM, tr("counting the whole grid ..."));
    else if (!before->is_whole || !after.is_whole)
        canvas_text(canvas, area, at, 0, ROLE_WARNING,
                    tr("a fault ended a run early: counts are not compared"));
    else {
        figures_print(before, &after, area.columns - at, text, sizeof text);
        canvas_text(canvas, area, at, 0, ROLE_CURRENT, text);
    }
}

void settings_rows_draw(const Scene *scene, const View *view, Canvas *canvas, Rectangle area) {
    const Settings *settings = &view->transient.settings;
    const char *keys = tr("←→ choose  ↑↓ change  Esc closes");
    int keys_at = area.columns - canvas_text_columns(keys) - 1;
    Rectangle first = {area.column, area.row, keys_at - 1, 1},
              second = {area.column + FIRST_COLUMN, area.row + 1, area.columns - FIRST_COLUMN - 1, 1};
    canvas_text(canvas, area, 1, 0, ROLE_KEY, "p");
    draw_all(settings, canvas, first);
    canvas_text(canvas, area, keys_at, 0, ROLE_KEY, keys);
    if (area.rows < 2) return;
    if (settings->error[0])
        canvas_text(canvas, second, 0, 0, ROLE_WARNING, settings->error);
    else if (settings->is_running)
        canvas_text(canvas, second, 0, 0, ROLE_DIM, tr("running ..."));
    else if (settings->has_changed)
        draw_change(scene, view, canvas, second);
    else
        draw_hint(settings, canvas, second);
}
