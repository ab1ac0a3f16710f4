/* The settings pane: edits the settings of the run; Enter re-runs the kernel with them. */
#include "tui/panes/pane.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_COLUMN = 16, HINT_COLUMN = 38 };

static void head(const StepContext *context, PaneHead *out) {
    snprintf(out->title, sizeof out->title, "parameters of %s", context->scene->identity.kernel);
    snprintf(out->note, sizeof out->note, "Enter applies, Esc closes");
}

static void draw_setting(const Settings *settings, int index, Canvas *canvas, Rectangle area) {
    SettingText text;
    bool chosen = index == settings->choice;
    settings_print(settings, index, &text);
    canvas_print(canvas, area, 0, index, chosen ? ROLE_CURRENT : ROLE_TEXT, "%s%s", chosen ? ">" : " ",
                 text.name);
    int room = area.columns - VALUE_COLUMN - 4, length = (int)strlen(text.value);
    bool is_cut = length > room && room > 3;
    /* The end, where the user types, stays visible. */
    const char *value = is_cut ? text.value + length - room + 3 : text.value;
    canvas_print(canvas, area, VALUE_COLUMN, index, chosen ? ROLE_CURRENT : ROLE_TEXT,
                 chosen ? "< %s%s >" : "  %s%s", is_cut ? "..." : "", value);
    if (VALUE_COLUMN + length + 4 < HINT_COLUMN &&
        HINT_COLUMN + canvas_text_columns(text.hint) <= area.columns)
        canvas_text(canvas, area, HINT_COLUMN, index, ROLE_DIM, text.hint);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const Settings *settings = &context->view->transient.settings;
    int count = settings_count(settings);
    SettingText chosen;
    for (int i = 0; i < count; i++) draw_setting(settings, i, canvas, area);
    Rectangle below = {area.column, area.row + count + 1, area.columns, area.rows - count - 1};
    if (settings->error[0]) {
        canvas_paragraph(canvas, below, 0, ROLE_WARNING, settings->error);
        return;
    }
    settings_print(settings, settings->choice, &chosen);
    int row = canvas_print(canvas, below, 0, 0, ROLE_TEXT, "%s: %s", chosen.name, chosen.hint) ? 1 : 0;
    canvas_paragraph(canvas, below, row, ROLE_DIM,
                     settings->row
                         ? "Up and Down select, Left and Right change; numbers can be typed (2^20). "
                           "Enter re-runs the kernel and keeps your position."
                         : "Up and Down select, Left and Right change; numbers (2^20) and args can be "
                           "typed, Ctrl-U clears args. "
                           "Enter re-runs the kernel and keeps your position.");
}

const Pane pane_settings = {.slot = SLOT_OVERLAY, .overlay = OVERLAY_SETTINGS, .head = head, .draw = draw};
