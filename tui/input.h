/* Input: passes each key to its receiver: an overlay, the text being typed, or an action of keys.def. */
#ifndef TUI_INPUT_H
#define TUI_INPUT_H

#include "tui/view/view.h"

ViewAnswer input_press(View *view, const Scene *scene, KeyPress press);

/* The last line that the overlay can scroll to: help, words or differences. `columns`: inner width. */
int input_overlay_lines(const View *view, const Scene *scene, int columns);

#endif
