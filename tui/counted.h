/* Counted: what the hardware counted of the launch at hand, beside what its trace predicts. */
#ifndef TUI_COUNTED_H
#define TUI_COUNTED_H

#include "canvas.h"
#include "moment.h"

enum { COUNTED_COLUMNS = 54 };

int counted_height(const Moment *now); /* that counted_draw() needs; 0: nothing was counted */
void counted_draw(const Moment *now, Canvas *canvas, Rectangle area);

#endif
