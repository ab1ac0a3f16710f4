/* HTML: frames as differences and markup, the data of a web page.
 *
 * A frame is a sequence of runs, each of cells that follow each other along the rows and look alike:
 *
 *   GAP ROLE HEAD TEXT
 *
 * GAP: cells since the end of the run before that stay as they are. ROLE: one digit, the role, 32 more where the cell is
 * reversed. HEAD: 4 * count + kind, and what TEXT holds then:
 *
 *   0  `count` cells with a character each
 *   1  `count` cells with the same character, given once
 *   2  `count` characters of double width, of two cells each
 *   3  one character with its marks, of `count` / 2 code points together; of double width where `count` is odd
 *
 * The 64 digits are 0-9 A-Z a-z - _ in this order. GAP and HEAD are numbers, five bits a digit, the lowest first; a digit
 * of 32 or more says that another follows. */
#ifndef TUI_DRAW_HTML_H
#define TUI_DRAW_HTML_H

#include "tui/draw/theme.h"

/* Appends the cells of a frame that differ from `before`, a frame of the same size; NULL: all cells. */
void html_add_frame(Text *out, const Canvas *canvas, const Canvas *before);

/* Appends text so that it stands in an element or in a quoted attribute as it is. Controls become U+FFFD. */
void html_add_text(Text *out, const char *text, size_t length);

/* Appends JSON so that it can stand in a script element: no tag or comment begins or ends in it, and no line of an old
 * JavaScript. */
void html_add_script_data(Text *out, const char *json);

/* Appends the style rules of all roles: .r0, .r1, ... and the variables --TEXT, --DIM, ..., --back, in the colours of the themes dark and light, as the reader's system
 * asks, or as the attribute data-theme of the root says; .v where a cell is reversed. */
void html_add_colours(Text *out);

#endif
