/* The counters pane: the hardware's counts for this launch beside the predicted ones. A large metrics pane
 * shows the same. */

#include "base/language.h"
#include "tui/panes/pane.h"
#include "metrics/counted.h"

#include <stdio.h>
#include <math.h>

static void head(const StepContext *context, PaneHead *out) {
    const Scene *scene = context->scene;
    pane_title(out, tr("counters"));
    if (!counter_rows_height(context)) return;
    pane_note(out, "%s %s%s%.10s", scene->borrowed.recorded ? tr("recorded on") : tr("counted on"),
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

/* ---- rows ---------------------------------------------------------------------------------------------- */

enum { LABEL_COLUMNS = 21, NUMBER_COLUMNS = 11 };

/* Counter `index` of the shown launch, skipping those that are 0 both measured and predicted; NULL: none. */
static const MeasuredCounter *counter_of(const StepContext *context, int index) {
    const Measurements *measured = context->scene->borrowed.measured;
    int launch = context->scene->traced.blocks[context->view->place.block].launch;
    for (int i = 0; measured && i < measured->counter_count; i++)
        if (measured->counters[i].launch == launch &&
            (measured->counters[i].value != 0 || measured->counters[i].predicted != 0) && index-- == 0)
            return &measured->counters[i];
    return NULL;
}

int counter_rows_height(const StepContext *context) {
    int count = 0;
    while (counter_of(context, count)) count++;
    return count ? count + 1 : 0;
}

/* How well the two agree, in a word, with the role that shows it. */
static const char *describe(const MeasuredCounter *counter, Role *role) {
    CountedAgreement agreement = counted_agreement(counter);
    if (isnan(counter->predicted)) {
        *role = ROLE_DIM;
        return "";
    }
    *role = agreement == COUNTED_EQUAL ? ROLE_TEXT : agreement == COUNTED_DIFFERS ? ROLE_CONFLICT : ROLE_DIM;
    if (agreement != COUNTED_NOT_COMPARED) return tr(counted_agreement_text(agreement));
    return counter->note ? tr("waits") : tr("inexact");
}

static void draw_number(double value, Canvas *canvas, Rectangle area, int column, int row, Role role) {
    char text[32] = "";
    if (!isnan(value)) step_context_print_count((uint64_t)value, text, sizeof text);
    /* Leaves a space before it. */
    if (strlen(text) >= NUMBER_COLUMNS) snprintf(text, sizeof text, "%.4e", value);
    canvas_print(canvas, area, column, row, role, "%*s", NUMBER_COLUMNS, text);
}

/* The machine, and the date if the counters come from a file. */
static void draw_head(const Scene *scene, const char *machine, Canvas *canvas, Rectangle area) {
    int predicted = LABEL_COLUMNS + NUMBER_COLUMNS, measured = predicted + NUMBER_COLUMNS;
    canvas_print(canvas, area, 0, 0, ROLE_DIM, "%.*s", LABEL_COLUMNS, machine);
    canvas_right(canvas, area, predicted, 0, ROLE_DIM, tr("predicted"));
    canvas_right(canvas, area, measured, 0, ROLE_DIM, tr("measured"));
    canvas_print(canvas, area, measured, 0, ROLE_DIM, " %.10s",
                 scene->borrowed.recorded ? scene->borrowed.recorded : "");
}

void counter_rows_draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const MeasuredCounter *counter;
    for (int i = 0; (counter = counter_of(context, i)) && 1 + i < area.rows; i++) {
        if (!i) draw_head(context->scene, counter->machine, canvas, area);
        int row = 1 + i;
        Role role;
        const char *word = describe(counter, &role);
        canvas_text(canvas, (Rectangle){area.column, area.row, LABEL_COLUMNS, area.rows}, 0, row, ROLE_DIM,
                    tr(counter->label));
        draw_number(counter->predicted, canvas, area, LABEL_COLUMNS, row, role);
        draw_number(counter->value, canvas, area, LABEL_COLUMNS + NUMBER_COLUMNS, row, role);
        canvas_text(canvas, area, LABEL_COLUMNS + 2 * NUMBER_COLUMNS + 1, row, role, word);
    }
}
