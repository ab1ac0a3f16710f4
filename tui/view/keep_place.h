/* Keep place: finds a view's place in another run of the same kernel, whose steps differ. */
#ifndef TUI_VIEW_KEEP_PLACE_H
#define TUI_VIEW_KEEP_PLACE_H

#include "tui/view/view.h"

/* Moves `view` from its place in `from` to the corresponding place in `to`: the same visit of the same source
 * line in the same launch, else the same progress. Its marks move likewise. Selection and display stay. */
void keep_place(View *view, const Scene *from, const Scene *to);

#endif
