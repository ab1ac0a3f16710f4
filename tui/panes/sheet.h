/* Sheet: terms and their meanings in as many columns as fit on the screen: the help and the glossary. */
#ifndef TUI_PANES_SHEET_H
#define TUI_PANES_SHEET_H

#include "tui/draw/canvas.h"

typedef struct SheetRow {
    char term[48];
    Role role;        /* of the term */
    const char *text; /* wrapped beside the term; NULL: the term is a title */
    bool begins;      /* a column of the sheet may begin here, but not at the rows that follow */
} SheetRow;

/* A sheet is made from top to bottom. */
typedef struct Sheet {
    Canvas *canvas; /* NULL: rows are only counted */
    Rectangle area;
    int row;            /* row of the next section, from the top of `area`; negative: scrolled out of it */
    bool has_rows;      /* something stands above */
    const char *filter; /* only rows that hold this text are shown; NULL or "": all */
} Sheet;

/* A sheet of `lines` lines, scrolled as far as the view requests and the sheet allows. If it does not fit,
 * the last row is reserved for the mark that says so; `lines` includes a row for that. */
Sheet sheet_open(Canvas *canvas, Rectangle area, int lines, int scroll);

/* An empty row below what stands above. */
void sheet_space(Sheet *sheet);
/* The row, which has a text, holds the filter. */
bool sheet_keeps(const Sheet *sheet, const SheetRow *row);

void sheet_title(Sheet *sheet, const char *title);
/* Draws the rows in columns of at least `least_columns`, of nearly the same height; meanings begin after
 * `term_columns`. */
void sheet_section(Sheet *sheet, const SheetRow *rows, int count, int least_columns, int term_columns);

#endif
