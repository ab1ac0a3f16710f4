/* Counters: what the hardware counted of this launch, beside what its trace predicts. The metrics pane has
 * the same where it is large enough. */
#include "tui/panes/counter_rows.h"
#include "tui/panes/pane.h"

#include <stdio.h>

static void head(const StepContext *context, PaneHead *out) {
    const Scene *scene = context->scene;
    snprintf(out->title, sizeof out->title, "counters");
    if (!counted_height(context)) return;
    snprintf(out->note, sizeof out->note, "%s %s%s%.10s",
             scene->borrowed.recorded ? "recorded on" : "counted on",
             scene->borrowed.measured->counters[0].machine, scene->borrowed.recorded ? ", " : "",
             scene->borrowed.recorded ? scene->borrowed.recorded : "");
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    char why[512];
    if (counted_height(context)) {
        counted_draw(context, canvas, area);
        return;
    }
    snprintf(why, sizeof why, "Not measured: %s.",
             context->scene->borrowed.uncounted
                 ? context->scene->borrowed.uncounted
                 : "the option --counters has a GPU's counters read, where there is one");
    canvas_paragraph(canvas, area, 0, ROLE_DIM, why);
}

const Pane pane_counters = {.slot = SLOT_SIDE, .head = head, .draw = draw};
