/* Layout: which slot gets which part of the screen. Depends on the size and on what is enlarged or hidden,
 * never on the step, so that panes stay in place. */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include "tui/panes/pane.h"

enum { SMALLEST_COLUMNS = 60, SMALLEST_ROWS = 16, MOST_SIDES = 4 };

typedef struct Layout {
    Rectangle area; /* all of it */
    Rectangle header, footer;
    Rectangle slots[SLOT_COUNT]; /* no rows: not shown */
    Rectangle sides[MOST_SIDES]; /* for panes of SLOT_SIDE */
    int side_count;
    Rectangle overlay;
    bool boxed; /* panes have a frame; else only a line above them */
} Layout;

/* False: too small for anything but a sentence. */
bool layout_make(int columns, int rows, const View *view, Layout *out);

/* Two runs: side by side where there is room, else one above the other, with the same panes at the same
 * places of each half. */
enum { COMPARISON_SMALLEST_COLUMNS = 60, COMPARISON_SMALLEST_ROWS = 18 };

typedef struct ComparisonLayout {
    Layout half[2]; /* without footer and overlay */
    Rectangle differences, footer, overlay;
    bool boxed;
} ComparisonLayout;

bool layout_make_comparison(int columns, int rows, const View *view, ComparisonLayout *out);

bool layout_holds(Rectangle area, int column, int row);

#endif
