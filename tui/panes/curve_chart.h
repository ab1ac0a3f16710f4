/* The curve of a parameter as a bar chart (tui/scene/curve.h), with the time of the run. */
#ifndef TUI_PANES_CURVE_CHART_H
#define TUI_PANES_CURVE_CHART_H

#include "tui/draw/canvas.h"
#include "tui/scene/curve.h"

/* "wavefronts of the worst shared access, stride 1 to 33" */
void curve_print_title(const Curve *curve, char *out, size_t bytes);
/* `time`: what is known of the run's time, in a line of its own. */
void curve_draw(const Curve *curve, const char *time, Canvas *canvas, Rectangle area);

#endif
