/* The kinds of text that the terminal can show, by the locale and the terminal's type. Call after
 * setlocale(LC_CTYPE, ""). */
#ifndef TUI_DRAW_TERMINAL_TEXT_H
#define TUI_DRAW_TERMINAL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the locale is UTF-8. No other encoding is supported: elsewhere a canvas is ASCII. */
bool terminal_shows_utf8(void);
/* Whether all of `utf8` is readable on the terminal; otherwise use text in another language. It is not if the
 * locale is not UTF-8, if the C library does not know a character, or for characters of double width in the
 * Linux console, whose font has 512 glyphs. */
bool terminal_shows_text(const char *utf8);
/* Whether the C library gives a character this width. Curses moves its cursor by that width, so other
 * characters cannot be sent. */
bool terminal_knows(uint32_t character, int columns);

#endif
