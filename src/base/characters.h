/* Characters: the characters that share a cell of a grid, and the columns that a text takes.
 *
 * A character is a base with the marks over it. Terminals disagree about what several characters become together, so a
 * text is read such that every terminal draws it alike:
 *
 * - A control, a mark of direction (which could show source text in another order than the compiler reads it), a mark
 *   without a base and a malformed byte are '?', in one column.
 * - Variation selectors are left out, and so are joiners and shades of skin behind a symbol: an emoji of several
 *   characters is drawn as its parts. A joiner within a word of a script that needs it stays.
 * - The order is that of the text; nothing is turned for scripts that are written from right to left. */
#ifndef BASE_CHARACTERS_H
#define BASE_CHARACTERS_H

#include <stddef.h>
#include <stdint.h>

/* Further marks over one base are left out. 4 is what curses keeps with a character. */
enum { CHARACTER_MARKS = 4, CHARACTER_TAB_COLUMNS = 4, CHARACTER_BYTES = 4 * (1 + CHARACTER_MARKS) };

typedef struct Character {
    uint32_t glyph;                  /* '\t': a tab */
    uint32_t marks[CHARACTER_MARKS]; /* in order, 0 behind the last */
    int columns; /* 1 or 2; 0: nothing to draw, the text held only what is left out; of a tab: up to the next fourth column */
} Character;

/* The next character at *text, which moves behind it. `column`: of the text, from 0, for tabs. Not to be called at the
 * end of the text. */
Character character_next(const char **text, int column);
/* A glyph with its marks, in UTF-8. Returns the bytes written; nothing terminates them. */
size_t character_encode(uint32_t glyph, const uint32_t marks[CHARACTER_MARKS], char out[CHARACTER_BYTES]);
/* The columns of the first `bytes` of a text, or of all of it where it is shorter. */
int characters_columns(const char *text, size_t bytes);

#endif
