/* The picture of a block's mbarriers and of what its warps do with them. */
#ifndef TUI_PANES_MBARRIER_PICTURE_H
#define TUI_PANES_MBARRIER_PICTURE_H

#include "tui/panes/pane.h"

/* Draws the state after this event of the step's block, from row `row` on: the mbarriers, then the warps. The
 * event is an operation on an mbarrier, or the destination of a copy. */
void mbarrier_picture_draw(const StepContext *context, int event, Canvas *canvas, Rectangle area, int row);

#endif
