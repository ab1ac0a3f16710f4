#include "tui/panes/counter_rows.h"

#include "base/language.h"
#include "metrics/counted.h"
#include <math.h>
#include <stdio.h>

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

/* Ends before column `end`. */
static void draw_name(const char *name, Canvas *canvas, Rectangle area, int end) {
    canvas_text(canvas, area, end - canvas_text_columns(name), 0, ROLE_DIM, name);
}

/* The machine, and the date if the counters come from a file. */
static void draw_head(const Scene *scene, const char *machine, Canvas *canvas, Rectangle area) {
    int predicted = LABEL_COLUMNS + NUMBER_COLUMNS, measured = predicted + NUMBER_COLUMNS;
    canvas_print(canvas, area, 0, 0, ROLE_DIM, "%.*s", LABEL_COLUMNS, machine);
    draw_name(tr("predicted"), canvas, area, predicted);
    draw_name(tr("measured"), canvas, area, measured);
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
