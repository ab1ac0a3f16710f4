/* The registers pane: the registers of an instruction in the selected lane. Each has its value, the number of
 * inputs folded into it, and the step that produced it. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <inttypes.h>
#include <stdio.h>

enum { NAME_COLUMNS = 8, LEAST_VALUE_COLUMNS = 12, INPUTS_COLUMNS = 8, STEP_COLUMNS = 11 };

static void head(const StepContext *context, PaneHead *out) {
    pane_title(out, tr("registers  w%d lane %d"), context->event.warp, context->view->selection.lane);
    pane_note(out, tr("after this step"));
}

/* Columns of the values: those of the longest, with a space before it. */
static int value_columns(const StepContext *context, const Registers *registers) {
    RegisterValues values;
    char text[40];
    int columns = LEAST_VALUE_COLUMNS;
    for (int i = 0; i < registers->count; i++) {
        if (!register_values(context, registers->items[i], &values)) continue;
        register_print(context, register_type(context, registers->items[i]),
                       values.bits[context->view->selection.lane], text, sizeof text);
        if ((int)strlen(text) >= columns) columns = (int)strlen(text) + 1;
    }
    return columns;
}

static void draw_register(const StepContext *context, Canvas *canvas, Rectangle area, int row, int columns,
                          const PtxRegister *reg, const RegisterValues *values) {
    int lane = context->view->selection.lane, from = values->producer[lane];
    char text[40];
    canvas_text(canvas, area, 0, row, ROLE_CURRENT, reg->name);
    register_print(context, register_type(context, reg), values->bits[lane], text, sizeof text);
    canvas_print(canvas, area, NAME_COLUMNS, row, ROLE_TEXT, "%*s", columns, text);
    if (values->weight[lane])
        canvas_print(canvas, area, NAME_COLUMNS + columns, row, ROLE_TEXT, "%*" PRIu32, INPUTS_COLUMNS,
                     values->weight[lane]);
    if (from >= 0)
        canvas_print(canvas, area, NAME_COLUMNS + columns + INPUTS_COLUMNS, row, ROLE_DIM, "%*d",
                     STEP_COLUMNS, context->steps->step_of_event[from] + 1);
}

/* What to do if there is nothing to show; NULL: there is something. */
static const char *print_empty(const StepContext *context, const Registers *registers) {
    RegisterValues values;
    if (!scene_can_replay(context->scene, context->view->place.block))
        return tr("Too long to replay: p, then a smaller n.");
    for (int i = 0; i < registers->count; i++)
        if (register_values(context, registers->items[i], &values)) return NULL;
    return tr("No registers here: > steps on.");
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Registers registers;
    RegisterValues values;
    registers_of(context->code ? context->code->instruction : NULL, &registers);
    const char *empty = print_empty(context, &registers);
    if (empty) {
        canvas_text(canvas, area, 0, 0, ROLE_DIM, empty);
        return;
    }
    int columns = value_columns(context, &registers);
    int end = canvas_right(canvas, area, NAME_COLUMNS + columns, 0, ROLE_DIM, tr("value"));
    end = canvas_right(canvas, area, end + INPUTS_COLUMNS, 0, ROLE_DIM, tr("inputs"));
    canvas_right(canvas, area, end + STEP_COLUMNS, 0, ROLE_DIM, tr("from step"));
    for (int i = 0, row = 1; i < registers.count && row < area.rows; i++)
        if (register_values(context, registers.items[i], &values))
            draw_register(context, canvas, area, row++, columns, registers.items[i], &values);
}

/* Does not depend on whether this step has any: the screen would jump. */
static bool is_empty(const StepContext *context) {
    return !scene_can_replay(context->scene, context->view->place.block);
}

const Pane pane_registers = {
    .slot = SLOT_SIDE, .tells_here = HIDES_VALUES, .is_empty = is_empty, .head = head, .draw = draw};
