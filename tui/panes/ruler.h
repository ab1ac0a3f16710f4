/* Ruler: the 32 lanes of a warp side by side, with as many columns each as fit. */
#ifndef TUI_PANES_RULER_H
#define TUI_PANES_RULER_H

#include "tui/view/step_context.h"

enum { RULER_LABEL = 8 };    /* columns left of most rulers */
enum { GLYPH_ABSENT = '-' }; /* a lane without a thread: the block ends within its warp */

typedef struct Ruler {
    int label; /* columns left of lane 0 */
    int width; /* columns per lane, 1 to 6: from 3 on a space follows the number; 1: a sign only */
} Ruler;

/* The widest ruler for `area` with `label` columns on its left and `note` on its right. */
Ruler ruler_make(Rectangle area, int label, int note);

/* The column of the lane's sign, or of the last digit of its number. */
int ruler_column(const Ruler *ruler, int lane);

/* Selects the lane at a column, if there is one; the click of a pane with a ruler of RULER_LABEL and no
 * note. */
ViewAnswer ruler_select(Ruler ruler, int column, View *view);
ViewAnswer ruler_click(const StepContext *context, Rectangle area, int column, int row, View *view);

/* The lanes' numbers, as many as fit without running into each other; `selected` is marked. */
void ruler_draw(const Ruler *ruler, Canvas *canvas, Rectangle area, int row, int selected);

/* A sign for each lane of `of`: ■ for those in `mask`, · for the others; `selected` is marked. */
void ruler_draw_mask(const Ruler *ruler, Canvas *canvas, Rectangle area, int row, Role role, uint32_t mask,
                     uint32_t of, int selected);

/* The sign of an absent lane for those not in `exists`. */
void ruler_draw_absent(const Ruler *ruler, Canvas *canvas, Rectangle area, int row, uint32_t exists);

/* A cell of a table of words: the lane that accesses it, and '+' if others share it. `width`: its columns;
 * where two digits would touch the neighbour's, every other cell is a square (`lanes` are those of its row,
 * -1 for none). */
void ruler_draw_lane(Canvas *canvas, Rectangle area, int column, int row, int width, Role role,
                     const int8_t lanes[32], int index, bool shared, bool selected);

#endif
