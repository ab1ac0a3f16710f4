/* Random canvas: text of any script, well-formed or not, drawn anywhere; and whether a cell of libvterm
 * matches a cell of a canvas. The characters are of Unicode 5.0 or are emoji: those that libvterm 0.1
 * knows. */
#ifndef TESTS_TUI_RANDOM_CANVAS_H
#define TESTS_TUI_RANDOM_CANVAS_H

#include "tui/draw/canvas.h"
#include <vterm.h>

typedef struct Random {
    uint32_t state; /* not 0 */
} Random;

uint32_t random_next(Random *random, uint32_t limit); /* below `limit` */
/* Draws some texts, glyphs, boxes, selections and cleared areas over the canvas. */
void random_draw(Random *random, Canvas *canvas);

/* The glyph of an empty cell is a space, that of a right half CELL_RIGHT_HALF. */
uint32_t random_shown_glyph(const VTermScreenCell *shown);
/* Glyph, marks and width are the same. */
bool random_shows(const VTermScreenCell *shown, const Cell *cell);

#endif
