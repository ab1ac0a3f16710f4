/* What panes share: the texts of their heads, and the settings being edited in one row. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_COLUMN = 4, GAP = 2, MOST_SETTINGS = 32, LEAST_VALUE = 8 };

#define SETS(name, text, at)                                                                                 \
    void name(PaneHead *out, const char *format, ...) {                                                      \
        va_list list;                                                                                        \
        size_t begin = at;                                                                                   \
        va_start(list, format);                                                                              \
        vsnprintf(out->text + begin, sizeof out->text - begin, format, list);                                \
        va_end(list);                                                                                        \
    }
SETS(pane_title, title, 0)
SETS(pane_note, note, 0)
SETS(pane_foot, foot, 0)
SETS(pane_add_title, title, strlen(out->title))
SETS(pane_add_note, note, strlen(out->note))
#undef SETS

/* "n 4096", "block [256]". A value too long for `columns` keeps its end, where the user types. */
static void print_setting(const Settings *settings, int index, int columns, char *out, size_t bytes) {
    SettingText text;
    bool is_chosen = index == settings->choice;
    settings_print(settings, index, &text);
    int room = columns - canvas_text_columns(text.name) - 3, length = (int)strlen(text.value);
    bool is_cut = room >= LEAST_VALUE && length > room;
    const char *value = is_cut ? text.value + length - room + 3 : text.value;
    snprintf(out, bytes, is_chosen ? "%s [%s%s]" : "%s %s%s", text.name, is_cut ? "..." : "", value);
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

void settings_row_draw(const Settings *settings, Canvas *canvas, Rectangle area) {
    canvas_text(canvas, area, 1, 0, ROLE_KEY, "p");
    if (!settings->error[0]) {
        const char *running = tr("running ...");
        Rectangle left = area;
        if (settings->is_running) left.columns -= canvas_text_columns(running) + 1;
        draw_all(settings, canvas, left);
        if (settings->is_running) canvas_text(canvas, area, left.columns, 0, ROLE_DIM, running);
        return;
    }
    char text[288];
    print_setting(settings, settings->choice, area.columns / 2, text, sizeof text);
    int at = FIRST_COLUMN + canvas_text(canvas, area, FIRST_COLUMN, 0, ROLE_CURRENT, text);
    canvas_text(canvas, area, at + GAP, 0, ROLE_WARNING, settings->error);
}

void settings_row_draw_hint(const Settings *settings, Canvas *canvas, Rectangle area) {
    const char *keys = tr("← → change, ↑ ↓ select, Enter closes");
    SettingText text;
    settings_print(settings, settings->choice, &text);
    int keys_at = area.columns - canvas_text_columns(keys) - 1;
    canvas_text(canvas, area, keys_at, 0, ROLE_KEY, keys);
    Rectangle left = {area.column + 1, area.row, keys_at - 2, 1};
    if (canvas_text_columns(text.name) + 2 + canvas_text_columns(text.hint) <= left.columns)
        canvas_print(canvas, left, 0, 0, ROLE_TEXT, tr("%s: %s"), text.name, text.hint);
    else
        canvas_paragraph(canvas, left, 0, ROLE_TEXT, text.hint);
}
