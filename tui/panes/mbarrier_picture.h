/* The picture of a block's mbarriers and of what its warps do with them. */
#ifndef TUI_PANES_MBARRIER_PICTURE_H
#define TUI_PANES_MBARRIER_PICTURE_H

#include "tui/panes/pane.h"

/* Draws the state after the step's event from row `row` on: the mbarriers, then the warps. */
void mbarrier_picture_draw(const StepContext *context, Canvas *canvas, Rectangle area, int row);

#endif
