/* Ladder view: the selection on the ladder and latency screens, and their keys. */
#ifndef TUI_VIEW_LADDER_VIEW_H
#define TUI_VIEW_LADDER_VIEW_H

#include "ladder/ladder.h"
#include "tui/view/view.h"

/* Opens the ladder at the run's kernel, size and type. */
void ladder_view_open(View *view, const Scene *scene);
/* False: there are no timings at all. */
bool ladder_view_gather(const View *view, const Scene *scene, Ladder *out, bool *is_live);
void ladder_view_select(View *view, const Ladder *ladder, int row, int size); /* clamped */

/* IGNORED: not a key of these screens. */
ViewAnswer ladder_view_press(View *view, const Scene *scene, KeyPress press);

#endif
