/* SVG: a frame as an image that every browser shows, for slides and the README. */
#ifndef TUI_SVG_H
#define TUI_SVG_H

#include "theme.h"

/* In the colours of a terminal that has 256 of them; where the theme leaves the background to the terminal,
 * it is dark. */
void canvas_to_svg(const Canvas *canvas, Theme theme, Text *out);

#endif
