/* Sentences: text that is drawn in whole sentences or clauses only. */
#ifndef TUI_PANES_SENTENCES_H
#define TUI_PANES_SENTENCES_H

#include "tui/draw/canvas.h"

typedef enum SentencePart {
    PART_SENTENCE, /* to ". " */
    PART_CLAUSE    /* to ". " or "; " */
} SentencePart;

/* Draws the parts that fit, in order, from `row` on; the others are left out. If not even the first fits and
 * nothing is above it, it is cut. Returns rows. */
int sentences_draw(Canvas *canvas, Rectangle area, int row, Role role, const char *text, SentencePart part);

#endif
