/* Counter rows: hardware counters of the shown launch, beside what its trace predicts. */
#ifndef TUI_PANES_COUNTER_ROWS_H
#define TUI_PANES_COUNTER_ROWS_H

#include "tui/draw/canvas.h"
#include "tui/view/step_context.h"

enum { COUNTER_ROWS_COLUMNS = 54 };

int counter_rows_height(const StepContext *context); /* rows that counter_rows_draw() needs; 0: no counters */
void counter_rows_draw(const StepContext *context, Canvas *canvas, Rectangle area);

#endif
