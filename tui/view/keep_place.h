/* Place: where a view stands, found again in another run of the same kernel: with other settings its steps
 * have other numbers. */
#ifndef TUI_VIEW_KEEP_PLACE_H
#define TUI_VIEW_KEEP_PLACE_H

#include "tui/view/view.h"

/* Puts `view`, which stands in `from`, to where the same is in `to`: the same visit of the same source line
 * in the same launch; else as far in the run. So for its marks. What was selected and shown stays. */
void keep_place(View *view, const Scene *from, const Scene *to);

#endif
