/* Sentences: text of which only whole parts are drawn: half of a sentence says nothing. */
#ifndef TUI_PANES_SENTENCES_H
#define TUI_PANES_SENTENCES_H

#include "tui/draw/canvas.h"

typedef enum SentencePart {
    PART_SENTENCE, /* to ". " */
    PART_CLAUSE    /* to ". " or "; " */
} SentencePart;

/* From `row` on, in their order, the parts for which there are rows; the others are left out. Where not even the first
 * fits and nothing stands above it, it is cut. Returns rows. */
int sentences_draw(Canvas *canvas, Rectangle area, int row, Role role, const char *text, SentencePart part);

#endif
