/* Registers: what the current instruction's registers hold in the selected lane: the value, how many inputs
 * are folded into it, and the step that it came from. */
#include "tui/panes/pane.h"

#include "tui/scene/registers.h"
#include <inttypes.h>
#include <stdio.h>

enum { NAME_COLUMNS = 8, VALUE_COLUMNS = 12, INPUTS_COLUMNS = 8 };

static void head(const StepContext *now, PaneHead *out) {
    snprintf(out->title, sizeof out->title, "registers  w%d lane %d", now->event.warp, now->view->lane);
    snprintf(out->note, sizeof out->note, "after this step");
}

static void draw_register(const StepContext *now, Canvas *canvas, Rectangle area, int row,
                          const PtxRegister *reg, const RegisterValues *values) {
    int lane = now->view->lane, from = values->producer[lane];
    char text[40];
    canvas_text(canvas, area, 0, row, ROLE_CURRENT, reg->name);
    register_print(now, reg, values->bits[lane], text, sizeof text);
    canvas_print(canvas, area, NAME_COLUMNS, row, ROLE_TEXT, "%*s", VALUE_COLUMNS, text);
    if (values->weight[lane])
        canvas_print(canvas, area, NAME_COLUMNS + VALUE_COLUMNS, row, ROLE_TEXT, "%*" PRIu32, INPUTS_COLUMNS,
                     values->weight[lane]);
    if (from >= 0)
        canvas_print(canvas, area, NAME_COLUMNS + VALUE_COLUMNS + INPUTS_COLUMNS, row, ROLE_DIM, "%11d",
                     now->steps->step_of_event[from] + 1);
}

static void draw(const StepContext *now, Canvas *canvas, Rectangle area) {
    Registers registers;
    RegisterValues values;
    registers_of(now->code ? now->code->instruction : NULL, &registers);
    if (!scene_can_replay(now->scene, now->view->view)) {
        canvas_paragraph(canvas, area, 0, ROLE_DIM,
                         "This block has too many events to be run again for its registers.");
        return;
    }
    canvas_print(canvas, area, NAME_COLUMNS, 0, ROLE_DIM, "%*s%*s  from step", VALUE_COLUMNS, "value",
                 INPUTS_COLUMNS, "inputs");
    int row = 1;
    for (int i = 0; i < registers.count && row < area.rows; i++)
        if (register_values(now, registers.items[i], &values))
            draw_register(now, canvas, area, row++, registers.items[i], &values);
    if (row == 1) canvas_text(canvas, area, 0, 1, ROLE_DIM, "this instruction has no registers");
}

const Pane pane_registers = {.slot = SLOT_SIDE, .head = head, .draw = draw};
