/* Counters: what the hardware counted for this launch, beside what its trace predicts. A large metrics pane
 * shows the same. */
#include "tui/panes/counter_rows.h"
#include "tui/panes/pane.h"

#include <stdio.h>

static void head(const StepContext *context, PaneHead *out) {
    const Scene *scene = context->scene;
    snprintf(out->title, sizeof out->title, "counters");
    if (!counter_rows_height(context)) return;
    snprintf(out->note, sizeof out->note, "%s %s%s%.10s",
             scene->borrowed.recorded ? "recorded on" : "counted on",
             scene->borrowed.measured->counters[0].machine, scene->borrowed.recorded ? ", " : "",
             scene->borrowed.recorded ? scene->borrowed.recorded : "");
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    char why[512];
    if (counter_rows_height(context)) {
        counter_rows_draw(context, canvas, area);
        return;
    }
    snprintf(why, sizeof why, "Not measured: %s.",
             context->scene->borrowed.uncounted ? context->scene->borrowed.uncounted
                                                : "--counters reads the hardware counters of a GPU");
    canvas_paragraph(canvas, area, 0, ROLE_DIM, why);
}

const Pane pane_counters = {.slot = SLOT_SIDE, .head = head, .draw = draw};
