/* Registers: what the current instruction's registers hold in the selected lane: the value, how many inputs
 * are folded into it, and the step that it came from. */
#include "tui/panes/pane.h"

#include "tui/view/registers.h"
#include <inttypes.h>
#include <stdio.h>

enum { NAME_COLUMNS = 8, VALUE_COLUMNS = 12, INPUTS_COLUMNS = 8 };

static void head(const StepContext *context, PaneHead *out) {
    snprintf(out->title, sizeof out->title, "registers  w%d lane %d", context->event.warp,
             context->view->selection.lane);
    snprintf(out->note, sizeof out->note, "after this step");
}

static void draw_register(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                          const PtxRegister *reg, const RegisterValues *values) {
    int lane = context->view->selection.lane, from = values->producer[lane];
    char text[40];
    canvas_text(canvas, area, 0, row, ROLE_CURRENT, reg->name);
    register_print(context, reg, values->bits[lane], text, sizeof text);
    canvas_print(canvas, area, NAME_COLUMNS, row, ROLE_TEXT, "%*s", VALUE_COLUMNS, text);
    if (values->weight[lane])
        canvas_print(canvas, area, NAME_COLUMNS + VALUE_COLUMNS, row, ROLE_TEXT, "%*" PRIu32, INPUTS_COLUMNS,
                     values->weight[lane]);
    if (from >= 0)
        canvas_print(canvas, area, NAME_COLUMNS + VALUE_COLUMNS + INPUTS_COLUMNS, row, ROLE_DIM, "%11d",
                     context->steps->step_of_event[from] + 1);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Registers registers;
    RegisterValues values;
    registers_of(context->code ? context->code->instruction : NULL, &registers);
    if (!scene_can_replay(context->scene, context->view->place.block)) {
        canvas_paragraph(canvas, area, 0, ROLE_DIM,
                         "This block has too many events to replay for register values.");
        return;
    }
    canvas_print(canvas, area, NAME_COLUMNS, 0, ROLE_DIM, "%*s%*s  from step", VALUE_COLUMNS, "value",
                 INPUTS_COLUMNS, "inputs");
    int row = 1;
    for (int i = 0; i < registers.count && row < area.rows; i++)
        if (register_values(context, registers.items[i], &values))
            draw_register(context, canvas, area, row++, registers.items[i], &values);
    if (row == 1) canvas_text(canvas, area, 0, 1, ROLE_DIM, "this instruction has no registers");
}

const Pane pane_registers = {.slot = SLOT_SIDE, .head = head, .draw = draw};
