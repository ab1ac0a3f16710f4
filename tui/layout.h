/* Layout: divides the screen among the slots. It depends on the size, on which panes are enlarged or hidden,
 * on whether the block folds anything and on its number of warps, never on the step, so that no pane
 * moves. */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include "tui/panes/pane.h"

enum { SMALLEST_COLUMNS = 60, SMALLEST_ROWS = 16, MOST_SIDES = 4 };

typedef struct Layout {
    Rectangle area;   /* the whole screen */
    Rectangle header; /* the second row says what the kernel is about */
    Rectangle times;  /* the run's time in one line; no rows if a pane shows it */
    Rectangle footer;
    Rectangle slots[SLOT_COUNT]; /* no rows: not shown */
    Rectangle sides[MOST_SIDES]; /* for the panes of SLOT_SIDE */
    int side_count;
    Rectangle overlay;
    bool boxed; /* panes have a frame, else only a line above */
} Layout;

typedef struct LayoutNeeds { /* what the block has to show */
    bool folds;              /* there is a reduction to draw */
    int warps;
    int bank_lines; /* lines of shared memory, if an access of the block has a conflict; else 0 */
} LayoutNeeds;

/* False: too small for more than a sentence. */
bool layout_make(int columns, int rows, const View *view, LayoutNeeds needs, Layout *out);

/* Two runs: side by side if there is room, else one above the other, with the same panes at the same places
 * in each half. */
enum { COMPARISON_SMALLEST_COLUMNS = 60, COMPARISON_SMALLEST_ROWS = 18 };

typedef struct ComparisonLayout {
    Layout half[2]; /* without footer and overlay */
    Rectangle differences, footer, overlay;
    bool boxed;
} ComparisonLayout;

/* What stands above two runs: what an edit changed, or the race of which one of them loses. */
typedef enum ComparisonHead { HEAD_NONE, HEAD_CHANGE, HEAD_RACE } ComparisonHead;
bool layout_make_comparison(int columns, int rows, const View *view, ComparisonHead above,
                            ComparisonLayout *out);

bool layout_holds(Rectangle area, int column, int row);

#endif
