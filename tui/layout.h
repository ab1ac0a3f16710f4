/* Layout: which slot gets which part of the screen. Depends on the size and the zoom only, so that nothing
 * jumps from one step to the next. */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include "pane.h"

enum { SMALLEST_COLUMNS = 60, SMALLEST_ROWS = 16, MOST_SIDES = 4 };

typedef struct Layout {
    Rectangle header, footer;
    Rectangle slots[SLOT_COUNT]; /* no rows: not shown */
    Rectangle sides[MOST_SIDES]; /* for panes of SLOT_SIDE */
    int side_count;
    Rectangle overlay;
    bool boxed; /* panes have a frame around; else a line above */
} Layout;

/* False: too small for anything but a sentence. */
bool layout_make(int columns, int rows, Zoom zoom, Layout *out);

#endif
