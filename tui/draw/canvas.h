/* Canvas: a grid of character cells that frames are drawn into. Pure memory: no terminal here. Colours are
 * roles, never numbers; theme.c gives roles their look. Text is UTF-8 of any script, read as
 * base/characters.h defines: marks stay with their base, and a character of double width takes two cells,
 * which are never separated: drawing over one of them leaves a space in the other, and at the edge of an area
 * a half becomes a space. An ASCII canvas replaces box and block glyphs as they are drawn (one table), and
 * every other glyph by one '?' per column. */
#ifndef TUI_DRAW_CANVAS_H
#define TUI_DRAW_CANVAS_H

#include "base/characters.h"
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum Role {
#define ROLE(id, ...) ROLE_##id,
#include "tui/draw/roles.def"
#undef ROLE
    ROLE_COUNT
} Role;

typedef struct Cell {
    uint32_t glyph;                  /* Unicode scalar */
    uint32_t marks[CHARACTER_MARKS]; /* combining marks; 0 after the last */
    uint8_t role;
    uint8_t reverse; /* selection, cursor */
} Cell;

/* In place of a glyph: the cell belongs to the character on its left. */
enum { CELL_RIGHT_HALF = 0 };

typedef struct Canvas {
    int columns, rows;
    bool ascii;
    Cell *cells; /* [row][column] */
} Canvas;

typedef struct Rectangle {
    int column, row, columns, rows;
} Rectangle;

Canvas *canvas_new(int columns, int rows, bool ascii);
void canvas_free(Canvas *canvas);
void canvas_clear(Canvas *canvas);
/* The cell at a place inside `area`, or NULL if that is outside the area or the canvas. */
Cell *canvas_cell(Canvas *canvas, Rectangle area, int column, int row);
/* All drawing clips to `area`; coordinates are relative to it. Returns columns written. */
int canvas_text(Canvas *canvas, Rectangle area, int column, int row, Role role, const char *utf8);
int canvas_print(Canvas *canvas, Rectangle area, int column, int row, Role role, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void canvas_glyph(Canvas *canvas, Rectangle area, int column, int row, Role role, uint32_t glyph);
/* Text that ends before column `end`, which is returned. */
int canvas_right(Canvas *canvas, Rectangle area, int end, int row, Role role, const char *utf8);
/* A glyph `columns` times. */
void canvas_row(Canvas *canvas, Rectangle area, int column, int row, int columns, Role role, uint32_t glyph);
/* A bar of so many eighths of a row, from the bottom of this row upwards. */
void canvas_column(Canvas *canvas, Rectangle area, int column, int row, Role role, int eighths);
/* Of `all` lines of which `shown` are on the screen, the first: the selected one is in the middle, except at
 * both ends. */
int canvas_first_shown(int selected, int shown, int all);
/* The first of them where it is to be `first`: no further than to the last line. */
int canvas_scroll(int first, int shown, int all);
int canvas_clamp(int value, int least, int most);
int canvas_text_columns(const char *utf8);
/* Draws words from `row` on, wrapped at the area's width; the last row ends in an ellipsis if text is left.
 * Returns the number of rows. */
int canvas_paragraph(Canvas *canvas, Rectangle area, int row, Role role, const char *utf8);
void canvas_fill(Canvas *canvas, Rectangle area, Role role); /* with spaces */
/* A number in digits of CANVAS_BIG_ROWS rows and CANVAS_BIG_COLUMNS columns each, a gap included, made of
 * half blocks; its last column is `end`. Text of other characters, and any on an ASCII canvas, stays small,
 * in the middle row. */
enum { CANVAS_BIG_ROWS = 3, CANVAS_BIG_COLUMNS = 4 };
void canvas_big_number(Canvas *canvas, Rectangle area, int end, int row, Role role, const char *text);
/* Makes a block of cells of one role, reversed: what is in it stays. */
void canvas_tile(Canvas *canvas, Rectangle area, Role role);
void canvas_reverse(Canvas *canvas, Rectangle area, int column, int row, int columns);
/* Draws the border of `area` with a title left and a note right; returns the inside. */
Rectangle canvas_box(Canvas *canvas, Rectangle area, Role title_role, const char *title, Role note_role,
                     const char *note);
/* The same with only a line above, for small screens. */
Rectangle canvas_rule(Canvas *canvas, Rectangle area, Role title_role, const char *title, Role note_role,
                      const char *note);
/* Copies all cells of `from` to this place. */
void canvas_put(Canvas *canvas, const Canvas *from, int column, int row);
/* Replaces each run of figures and marks by one '?', so that neither their number nor the length of a bar is
 * seen: digits, and everything except letters, blanks, lines and punctuation. */
void canvas_hide_figures(Canvas *canvas, Rectangle area);
/* Marks in the last row that there is more above or below. */
void canvas_more(Canvas *canvas, Rectangle area, bool above, bool below);
/* A cell's glyph and its marks in UTF-8; empty for a right half. */
void canvas_add_cell_text(const Cell *cell, Text *out);
/* 1 or 2; 0: a right half. */
int canvas_cell_columns(const Cell *cell);
bool canvas_same_cell(const Cell *a, const Cell *b);
/* Rows as lines without trailing spaces: what --frame prints. */
void canvas_to_text(const Canvas *canvas, Text *out);

typedef enum SentencePart {
    PART_SENTENCE, /* to ". " */
    PART_CLAUSE    /* to ". " or "; " */
} SentencePart;

/* Draws the parts that fit, in order, from `row` on; the others are left out. If not even the first fits and
 * nothing is above it, it is cut. Returns rows. */
int canvas_sentences(Canvas *canvas, Rectangle area, int row, Role role, const char *text, SentencePart part);

#endif
