/* Counted: what the hardware counted of the launch at hand, beside what its trace predicts. */
#ifndef TUI_PANES_COUNTER_ROWS_H
#define TUI_PANES_COUNTER_ROWS_H

#include "tui/draw/canvas.h"
#include "tui/view/step_context.h"

enum { COUNTED_COLUMNS = 54 };

int counted_height(const StepContext *context); /* that counted_draw() needs; 0: nothing was counted */
void counted_draw(const StepContext *context, Canvas *canvas, Rectangle area);

#endif
