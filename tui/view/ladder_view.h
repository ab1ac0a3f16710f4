/* Ladder view: the selection on the ladder and latency screens, and their keys. */
#ifndef TUI_VIEW_LADDER_VIEW_H
#define TUI_VIEW_LADDER_VIEW_H

#include "ladder/ladder.h"
#include "tui/view/view.h"

/* Opens the ladder at the run's kernel, size and type. */
void view_ladder_open(View *view, const Scene *scene);
/* False: there are no timings at all. */
bool view_ladder_gather(const View *view, const Scene *scene, Ladder *out, bool *is_live);
void view_ladder_select(View *view, const Ladder *ladder, int row, int size); /* clamped */

/* IGNORED: not a key of these screens. */
ViewAnswer view_ladder_press(View *view, const Scene *scene, KeyPress press);

#endif
