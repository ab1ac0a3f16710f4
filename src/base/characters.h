/* Characters: the characters that share a cell of a grid, and the columns that a text takes.
 *
 * A character is a base with its combining marks. Terminals differ in how they combine several characters, so
 * text is read in a way that every terminal draws alike:
 *
 * - A control, a mark of direction (which could show source text in another order than the compiler reads
 *   it), a mark without a base and a malformed byte are '?', in one column.
 * - Variation selectors are dropped, and so are joiners and skin tones after a symbol: an emoji of several
 *   characters is drawn as its parts. A joiner within a word of a script that needs it stays.
 * - The order is that of the text, also for scripts written from right to left. */
#ifndef BASE_CHARACTERS_H
#define BASE_CHARACTERS_H

#include <stddef.h>
#include <stdint.h>

/* Further marks on one base are dropped. Curses keeps 4 with a character. */
enum { CHARACTER_MARKS = 4, CHARACTER_TAB_COLUMNS = 4, CHARACTER_BYTES = 4 * (1 + CHARACTER_MARKS) };

typedef struct Character {
    uint32_t glyph;                  /* '\t': a tab */
    uint32_t marks[CHARACTER_MARKS]; /* in order, 0 after the last */
    /* 1 or 2; 0: only dropped characters, nothing to draw; for a tab: up to the next fourth column. */
    int columns;
} Character;

/* Reads the character at *text and moves past it. `column`: of the text, from 0, for tabs. Not to be called
 * at the end of the text. */
Character character_next(const char **text, int column);
/* Encodes a glyph with its marks in UTF-8. Returns the bytes written, without a terminator. */
size_t character_encode(uint32_t glyph, const uint32_t marks[CHARACTER_MARKS], char out[CHARACTER_BYTES]);
/* The columns of the first `bytes` bytes of a text, or of all of it if it is shorter. */
int characters_columns(const char *text, size_t bytes);

/* Places where a line of text may end: at a space, and beside a character of double width.
 *
 * Chinese and Japanese put no spaces between words. A line does not end before a closing mark or after an
 * opening one (the rules of kinsoku, as in Unicode Standard Annex 14). */

/* Bytes of the words, or of the Chinese characters, that fit into `columns`; a longer word is cut. At least
 * one character if there is text. The spaces that follow belong to no line. */
int line_break(const char *text, int columns);

#endif
