/* Pair: one run on the screen, or two side by side.
 *
 * Keys go to the active one. While the two are linked, the other follows by progress (elements folded, not
 * step numbers): it stands where it has come as far. What is shown of a run (zoom, value format, ...) is the
 * same on both sides, so that panes line up and can be compared. */
#ifndef TUI_PAIR_H
#define TUI_PAIR_H

#include "differences.h"
#include "frame.h"

typedef struct Pair {
    const Scene *scene[2]; /* borrowed */
    View view[2];
    int count;  /* 1 or 2 */
    int active; /* index of the one that has the keys */
    bool linked;
    bool exchanged; /* scene[1] is on the left, or above */
} Pair;

void pair_init(Pair *pair, const Scene *scene);
/* A second run beside the active one and linked to it; where there are two, run `index` gives way. */
void pair_put(Pair *pair, int index, const Scene *scene);
/* The active run and what it was before its file was edited (its scene's `before`, which is there). */
void pair_change(const Pair *pair, Differences *out);
/* Only the active run stays; it becomes number 0. */
void pair_leave(Pair *pair);

View *pair_view(Pair *pair);
const Scene *pair_scene(const Pair *pair);

/* The keys of comparing are answered here, the others by the active view. */
ViewAnswer pair_press(Pair *pair, Key key);
bool pair_play(Pair *pair); /* as view_play() */
void pair_go_to_step(Pair *pair, int step);
/* The active view was moved, or linked again: the other follows. */
void pair_follow(Pair *pair);

/* Nothing is scrolled further than a screen of this size needs. */
void pair_fit(Pair *pair, int columns, int rows);
bool pair_shows(const Pair *pair, int columns, int rows, const Pane *pane);
void pair_draw(const Pair *pair, Canvas *canvas);
/* A click as frame_click(); the run at this place becomes active. */
ViewAnswer pair_click(Pair *pair, int columns, int rows, int column, int row);

#endif
