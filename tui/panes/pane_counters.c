/* Counters: what the hardware counted of this launch, beside what its trace predicts. The metrics pane has
 * the same where it is large enough. */
#include "tui/panes/counter_rows.h"
#include "tui/panes/pane.h"

#include <stdio.h>

static void head(const StepContext *now, PaneHead *out) {
    const Scene *scene = now->scene;
    snprintf(out->title, sizeof out->title, "counters");
    if (!counter_rows_height(now)) return;
    snprintf(out->note, sizeof out->note, "%s %s%s%.10s", scene->recorded ? "recorded on" : "counted on",
             scene->measured->counters[0].machine, scene->recorded ? ", " : "",
             scene->recorded ? scene->recorded : "");
}

static void draw(const StepContext *now, Canvas *canvas, Rectangle area) {
    char why[512];
    if (counter_rows_height(now)) {
        counter_rows_draw(now, canvas, area);
        return;
    }
    snprintf(why, sizeof why, "Not measured: %s.",
             now->scene->uncounted ? now->scene->uncounted
                                   : "the option --counters has a GPU's counters read, where there is one");
    canvas_paragraph(canvas, area, 0, ROLE_DIM, why);
}

const Pane pane_counters = {.slot = SLOT_SIDE, .head = head, .draw = draw};
