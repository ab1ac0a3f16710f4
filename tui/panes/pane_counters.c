/* The counters pane: the hardware's counts for this launch beside the predicted ones. A large metrics pane
 * shows the same. */
#include "tui/panes/counter_rows.h"

#include "base/language.h"
#include "tui/panes/pane.h"

#include <stdio.h>

static void head(const StepContext *context, PaneHead *out) {
    const Scene *scene = context->scene;
    snprintf(out->title, sizeof out->title, tr("counters"));
    if (!counter_rows_height(context)) return;
    snprintf(out->note, sizeof out->note, "%s %s%s%.10s",
             scene->borrowed.recorded ? tr("recorded on") : tr("counted on"),
             scene->borrowed.measured->counters[0].machine, scene->borrowed.recorded ? tr(", ") : "",
             scene->borrowed.recorded ? scene->borrowed.recorded : "");
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const char *why = context->scene->borrowed.uncounted;
    Rectangle line = {area.column, area.row, area.columns, 1};
    Text text = {0};
    if (counter_rows_height(context)) {
        counter_rows_draw(context, canvas, area);
        return;
    }
    text_print(&text, tr("Open it with --counters on a GPU%s%s."), why ? tr("; here, ") : "", why ? why : "");
    canvas_paragraph(canvas, line, 0, ROLE_DIM, text_string(&text));
    text_done(&text);
}

static bool is_empty(const StepContext *context) {
    return !counter_rows_height(context);
}

const Pane pane_counters = {
    .slot = SLOT_SIDE, .tells = HIDES_ALL & ~HIDES_HERE, .is_empty = is_empty, .head = head, .draw = draw};
