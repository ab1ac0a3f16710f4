#include "tui/draw/svg.h"

enum { CELL_WIDTH = 9, CELL_HEIGHT = 17, BASELINE = 13, MARGIN = 8 };
/* The width of a cell in DejaVu Sans Mono is 0.602 of its size, also for viewers without textLength. */
#define FONT_SIZE "14.95"
enum { BACKGROUND = 0x16181d, FOREGROUND = 0xd4d7dd };

static void add_cell(Text *out, const Cell *cell) {
    const char *entity = cell->glyph == '<'   ? "&lt;"
                         : cell->glyph == '>' ? "&gt;"
                         : cell->glyph == '&' ? "&amp;"
                                              : NULL;
    Text text = {0};
    canvas_add_cell_text(cell, &text);
    if (entity) text_add(out, entity);
    text_add(out, text_string(&text) + (entity ? 1 : 0)); /* its combining marks */
    text_done(&text);
}

/* A word is stretched to its columns, so that any font of fixed width stays on the grid, including one that
 * is half or twice as wide for other scripts. Each word is placed separately, since renderers differ in the
 * width of blanks within a stretched text. */
static void add_word(Text *out, const Look *look, unsigned colour, const Cell *cells, int count, int x,
                     int y) {
    text_print(out, "<text x='%d' y='%d' textLength='%d' fill='#%06x'%s%s>", x, y + BASELINE,
               count * CELL_WIDTH, colour, look->bold ? " font-weight='bold'" : "",
               look->underline ? " text-decoration='underline'" : "");
    for (int i = 0; i < count; i++) add_cell(out, &cells[i]);
    text_add(out, "</text>\n");
}

/* Whether two cells look alike and are equally wide. */
static void add_run(Text *out, Theme theme, const Cell *cells, int count, int column, int row) {
    Look look = theme_look(theme, (Role)cells->role, 256);
    bool reverse = look.reverse != (cells->reverse != 0);
    int x = MARGIN + column * CELL_WIDTH, y = MARGIN + row * CELL_HEIGHT, width = count * CELL_WIDTH;
    unsigned colour = theme_rgb(look.colour, FOREGROUND), background = theme_rgb(look.background, BACKGROUND);
    if (reverse)
        text_print(out, "<rect x='%d' y='%d' width='%d' height='%d' fill='#%06x'/>\n", x, y, width,
                   CELL_HEIGHT, colour);
    for (int i = 0, end; i < count; i = end) {
        for (end = i; end < count && (cells[end].glyph == ' ') == (cells[i].glyph == ' ');) end++;
        if (cells[i].glyph == ' ') continue;
        add_word(out, &look, reverse ? background : colour, cells + i, end - i, x + i * CELL_WIDTH, y);
    }
}

/* Whether a cell continues the run. A cell with marks is a run of its own, since programs count marks
 * differently when they stretch. */
static bool may_follow(const Cell *first, const Cell *next) {
    return next->role == first->role && next->reverse == first->reverse &&
           canvas_cell_columns(next) == canvas_cell_columns(first) && !first->marks[0] && !next->marks[0];
}

void svg_begin(Text *out, int columns, int rows, Theme theme, const char *style) {
    int width = columns * CELL_WIDTH + 2 * MARGIN, height = rows * CELL_HEIGHT + 2 * MARGIN;
    text_print(out, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d'>\n%s",
               width, height, width, height, style);
    text_print(out, "<rect width='100%%' height='100%%' rx='6' fill='#%06x'/>\n",
               theme_rgb(theme_look(theme, ROLE_TEXT, 256).background, BACKGROUND));
    text_add(out,
             "<g font-family='DejaVu Sans Mono, Menlo, Consolas, monospace' font-size='" FONT_SIZE "'>\n");
}

void svg_add_row(Text *out, const Canvas *canvas, int row, Theme theme) {
    const Cell *cells = &canvas->cells[row * canvas->columns];
    for (int column = 0, next; column < canvas->columns; column = next) {
        next = column + canvas_cell_columns(&cells[column]);
        while (next < canvas->columns && may_follow(&cells[column], &cells[next]))
            next += canvas_cell_columns(&cells[next]);
        add_run(out, theme, cells + column, next - column, column, row);
    }
}

void svg_end(Text *out) {
    text_add(out, "</g>\n</svg>\n");
}

void canvas_to_svg(const Canvas *canvas, Theme theme, Text *out) {
    svg_begin(out, canvas->columns, canvas->rows, theme, "");
    for (int row = 0; row < canvas->rows; row++) svg_add_row(out, canvas, row, theme);
    svg_end(out);
}
