/* The kinds of text that the terminal can show, by the locale and the terminal's type. After
 * setlocale(LC_CTYPE, ""). */
#ifndef TUI_DRAW_TERMINAL_TEXT_H
#define TUI_DRAW_TERMINAL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the locale is UTF-8. No other encoding is written: elsewhere a canvas is ASCII. */
bool terminal_shows_utf8(void);
/* Whether all of `utf8` can be read there; where it cannot, text in another language should stand in its place. Not where
 * the locale is not UTF-8 or the C library does not know a character, and of characters of double width none in the
 * console of Linux, whose font has 512 glyphs. */
bool terminal_shows_text(const char *utf8);
/* Whether the C library has this width for a character. Curses moves its cursor by that, so that no other character can
 * be sent. */
bool terminal_knows(uint32_t character, int columns);

#endif
