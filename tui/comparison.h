/* Comparison: the run on the screen, or two runs side by side.
 *
 * Keys go to the active one. While the two are linked, the other follows by progress (elements folded, not
 * step numbers): it goes to the step with the same progress. Both runs share one display (zoom, value format,
 * ...), so that panes line up and can be compared. */
#ifndef TUI_COMPARISON_H
#define TUI_COMPARISON_H

#include "ask/ask.h"
#include "tui/frame.h"

typedef struct Differences Differences; /* of differences.h */

typedef struct Comparison {
    const Scene *scene[2]; /* borrowed */
    View view[2];
    int count;  /* 1 or 2 */
    int active; /* index of the run that receives the keys */
    bool linked;
    bool exchanged; /* scene[1] is on the left, or on top */
    /* scene[0] is the run before an edit, scene[1] the run after it: what was edited; "": two kernels. The
     * other run then follows by source line (view.h). */
    char change[128];
    int losing;   /* index of a run in an order that loses, which `race` is of; NO_RACE: none is */
    AskRace race; /* drawn above the two */
} Comparison;
enum { NO_RACE = -1 };

void comparison_init(Comparison *comparison, const Scene *scene);
/* Puts a second run beside the active one, linked to it. If there are two already, it replaces run
 * `index`. */
void comparison_put(Comparison *comparison, int index, const Scene *scene);
/* The run `index` is in an order in which this race loses. */
void comparison_put_race(Comparison *comparison, int index, const AskRace *race);
/* Puts the run after an edit beside the only run, at the same place, and makes it active. */
void comparison_put_change(Comparison *comparison, const Scene *after, const char *what);
/* Compares the active run with the run before its file was edited, which must exist. */
void comparison_change(const Comparison *comparison, Differences *out);
/* Keeps only the active run, which becomes number 0. */
void comparison_leave(Comparison *comparison);

View *comparison_view(Comparison *comparison);
const Scene *comparison_scene(const Comparison *comparison);

/* Handles the keys of a comparison; other keys go to the active view. */
ViewAnswer comparison_press(Comparison *comparison, KeyPress press);
bool comparison_play(Comparison *comparison); /* as view_play() */
void comparison_go_to_step(Comparison *comparison, int step);
/* Makes the other run follow after the active view has moved or the two were linked again. */
void comparison_follow(Comparison *comparison);

/* Limits scrolling to the lines that a screen of this size hides. */
void comparison_fit(Comparison *comparison, int columns, int rows);
bool comparison_shows(const Comparison *comparison, int columns, int rows, const Pane *pane);
void comparison_draw(const Comparison *comparison, Canvas *canvas);
/* Handles a click as frame_click() does; the run at this place becomes active. */
ViewAnswer comparison_click(Comparison *comparison, int columns, int rows, int column, int row);
/* The timeline at this place; no rows: there is no timeline. A drag that began in a timeline stays in it:
 * comparison_scrub() goes to the step at this column, or at the nearer end, and keeps the place that ''
 * returns to. */
Rectangle comparison_timeline_at(const Comparison *comparison, int columns, int rows, int column, int row);
ViewAnswer comparison_scrub(Comparison *comparison, int columns, int rows, Rectangle timeline, int column);

#endif
