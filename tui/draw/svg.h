/* SVG: a frame as an image for any browser, for slides and the README. */
#ifndef TUI_DRAW_SVG_H
#define TUI_DRAW_SVG_H

#include "tui/draw/theme.h"

/* Uses the colours of a 256-colour terminal; if the theme leaves the background to the terminal, it is
 * dark. */
void canvas_to_svg(const Canvas *canvas, Theme theme, Text *out);

/* The parts of the image: the beginning, with a style element or ""; a row; the end. */
void svg_begin(Text *out, int columns, int rows, Theme theme, const char *style);
void svg_add_row(Text *out, const Canvas *canvas, int row, Theme theme);
void svg_end(Text *out);

#endif
