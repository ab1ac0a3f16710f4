/* The settings being edited, in one row in place of the footer's hints. */
#ifndef TUI_PANES_SETTINGS_ROW_H
#define TUI_PANES_SETTINGS_ROW_H

#include "tui/draw/canvas.h"
#include "tui/view/settings.h"

/* The settings side by side, the chosen one in brackets; as many as fit around it. If there is no run with
 * them, only the chosen one, and why. */
void settings_row_draw(const Settings *settings, Canvas *canvas, Rectangle area);
/* What the chosen setting means, its values, and the keys: for a row above. */
void settings_row_draw_hint(const Settings *settings, Canvas *canvas, Rectangle area);

#endif
