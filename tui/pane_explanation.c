/* Explanation: the step in words, and what the catalogue says to watch for. The timings' place says what it will hold. */
#include "pane.h"

#include <stdio.h>

static void head(const Moment *now, PaneHead *out) {
    (void)now;
    snprintf(out->title, sizeof out->title, "explanation");
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    Text text = {0};
    explain_step(now, false, &text);
    int row = canvas_paragraph(canvas, area, 0, ROLE_TEXT, text_string(&text));
    if (*now->scene->watch && row < area.rows) {
        text_clear(&text);
        text_print(&text, "Watch: %s", now->scene->watch);
        canvas_paragraph(canvas, area, row, ROLE_DIM, text_string(&text));
    }
    text_done(&text);
}

static void timings_head(const Moment *now, PaneHead *out) {
    (void)now;
    snprintf(out->title, sizeof out->title, "timings");
}

static void timings_draw(const Moment *now, Canvas *canvas, Rectangle area) {
    (void)now;
    canvas_paragraph(canvas, area, 0, ROLE_DIM,
                     "Nothing was measured: counts are exact, but times need a GPU.");
}

const Pane pane_explanation = {.slot = SLOT_EXPLANATION, .head = head, .draw = draw};
const Pane pane_timings = {.slot = SLOT_TIMINGS, .head = timings_head, .draw = timings_draw};
