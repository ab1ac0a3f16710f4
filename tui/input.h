/* Input: passes each key to its receiver: an overlay, the text being typed, or an action of keys.def. */
#ifndef TUI_INPUT_H
#define TUI_INPUT_H

#include "tui/view/view.h"

ViewAnswer input_press(View *view, const Scene *scene, Key key);

int input_overlay_lines(const View *view); /* of the help or of the differences, which scroll */

#endif
