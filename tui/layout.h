/* Layout: divides the screen among the slots. Depends on the size, on what is enlarged or hidden, on whether
 * the block folds anything and on how many warps it has, never on the step, so that nothing jumps. */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include "tui/panes/pane.h"

enum { SMALLEST_COLUMNS = 60, SMALLEST_ROWS = 16, MOST_SIDES = 4 };

typedef struct Layout {
    Rectangle area;   /* all of it */
    Rectangle header; /* its second row says what the kernel is about */
    Rectangle times;  /* the run's time in one line; no rows where a pane shows it */
    Rectangle footer;
    Rectangle slots[SLOT_COUNT]; /* no rows: not shown */
    Rectangle sides[MOST_SIDES]; /* for panes of SLOT_SIDE */
    int side_count;
    Rectangle overlay;
    bool boxed; /* panes have a frame; else only a line above them */
} Layout;

typedef struct LayoutNeeds { /* what the block has to show */
    bool folds;              /* there is a reduction to draw */
    int warps;
    int bank_lines; /* of shared memory, where an access of the block has a conflict; else 0 */
} LayoutNeeds;

/* False: too small for anything but a sentence. */
bool layout_make(int columns, int rows, const View *view, LayoutNeeds needs, Layout *out);

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
