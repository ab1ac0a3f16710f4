/* Race: an order of the threads that loses, beside the run, as two rows of time each. */
#ifndef TUI_RACE_H
#define TUI_RACE_H

#include "ask/ask.h"
#include "tui/draw/canvas.h"

/* `losing`: the half of the run in that order, 0: the left one. */
void race_draw(const AskRace *race, int losing, Canvas *canvas, Rectangle area, bool boxed);

#endif
