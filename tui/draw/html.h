/* HTML: frames as differences and markup, the data of a web page.
 *
 * A frame is a sequence of runs of consecutive cells, row by row, that look alike:
 *
 *   GAP ROLE HEAD TEXT
 *
 * GAP: unchanged cells since the end of the run before. ROLE: one digit, the role, plus 32 if the cell is
 * reversed. HEAD: 4 * count + kind, where the kind defines TEXT:
 *
 *   0  `count` cells with a character each
 *   1  `count` cells with the same character, given once
 *   2  `count` characters of double width, of two cells each
 *   3  one character with its marks, `count` / 2 code points together; of double width if `count` is odd
 *
 * The 64 digits are 0-9 A-Z a-z - _ in this order. GAP and HEAD are numbers with five bits a digit, lowest
 * first; after a digit of 32 or more another follows. */
#ifndef TUI_DRAW_HTML_H
#define TUI_DRAW_HTML_H

#include "tui/draw/theme.h"

/* Appends the cells of a frame that differ from `before`, a frame of the same size; NULL: all cells. */
void html_add_frame(Text *out, const Canvas *canvas, const Canvas *before);

/* Appends text escaped for an element or a quoted attribute. Control characters become U+FFFD. */
void html_add_text(Text *out, const char *text, size_t length);

/* Appends JSON escaped for a script element: no tag or comment begins or ends in it, and no line of an old
 * JavaScript. */
void html_add_script_data(Text *out, const char *json);

/* Appends the style rules of all roles: .r0, .r1, ... and the variables --TEXT, --DIM, ..., --back, in the
 * colours of the themes dark and light, as the reader's system asks, or as the attribute data-theme of the
 * root states; .v for a reversed cell. */
void html_add_colours(Text *out);
/* Appends a rule that sets these variables to the colours of a theme that has a background. */
void html_add_palette(Text *out, const char *selector, Theme theme);
/* Appends the rules of all roles without colours, where the attribute says so: the theme mono. */
void html_add_mono(Text *out);

#endif
