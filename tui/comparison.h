/* Pair: one run on the screen, or two side by side.
 *
 * Keys go to the active one. While the two are linked, the other follows by progress (elements folded, not
 * step numbers): it stands where it has come as far. What is shown of a run (zoom, value format, ...) is the
 * same on both sides, so that panes line up and can be compared. */
#ifndef TUI_COMPARISON_H
#define TUI_COMPARISON_H

#include "tui/differences.h"
#include "tui/frame.h"

typedef struct Comparison {
    const Scene *scene[2]; /* borrowed */
    View view[2];
    int count;  /* 1 or 2 */
    int active; /* index of the one that has the keys */
    bool linked;
    bool exchanged; /* scene[1] is on the left, or above */
} Comparison;

void comparison_init(Comparison *comparison, const Scene *scene);
/* A second run beside the active one and linked to it; where there are two, run `index` gives way. */
void comparison_put(Comparison *comparison, int index, const Scene *scene);
/* The active run and what it was before its file was edited (its scene's `before`, which is there). */
void comparison_change(const Comparison *comparison, Differences *out);
/* Only the active run stays; it becomes number 0. */
void comparison_leave(Comparison *comparison);

View *comparison_view(Comparison *comparison);
const Scene *comparison_scene(const Comparison *comparison);

/* The keys of comparing are answered here, the others by the active view. */
ViewAnswer comparison_press(Comparison *comparison, Key key);
bool comparison_play(Comparison *comparison); /* as view_play() */
void comparison_go_to_step(Comparison *comparison, int step);
/* The active view was moved, or linked again: the other follows. */
void comparison_follow(Comparison *comparison);

/* Nothing is scrolled further than a screen of this size needs. */
void comparison_fit(Comparison *comparison, int columns, int rows);
bool comparison_shows(const Comparison *comparison, int columns, int rows, const Pane *pane);
void comparison_draw(const Comparison *comparison, Canvas *canvas);
/* A click as frame_click(); the run at this place becomes active. */
ViewAnswer comparison_click(Comparison *comparison, int columns, int rows, int column, int row);

#endif
