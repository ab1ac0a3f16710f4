/* What a projector needs: digits of several cells, and blocks of colour. */
#include "tui/draw/canvas.h"

#include <string.h>

enum { PIXEL_ROWS = 5, PIXEL_COLUMNS = CANVAS_BIG_COLUMNS - 1 };
static const char characters[] = "0123456789-.";
/* Rows of three pixels, the left one is the highest bit. */
static const uint8_t pixels[sizeof characters - 1][PIXEL_ROWS] = {
    {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1}, {7, 4, 7, 1, 7},
    {7, 4, 7, 5, 7}, {7, 1, 2, 2, 2}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}, {0, 0, 7, 0, 0}, {0, 0, 0, 0, 2}};

void canvas_big_number(Canvas *canvas, Rectangle area, int end, int row, Role role, const char *text) {
    int length = (int)strlen(text);
    if (canvas->ascii || (int)strspn(text, characters) != length) {
        canvas_text(canvas, area, end + 1 - canvas_text_columns(text), row + 1, role, text);
        return;
    }
    int column = end + 2 - length * CANVAS_BIG_COLUMNS;
    if (role == ROLE_LIT) role = ROLE_CURRENT; /* half blocks cannot be read in reverse */
    for (int i = 0; i < length; i++, column += CANVAS_BIG_COLUMNS) {
        int index = (int)(strchr(characters, text[i]) - characters);
        static const uint32_t blocks[] = {' ', 0x2580, 0x2584, 0x2588}; /* none, upper, lower, both */
        for (int r = 0; r < CANVAS_BIG_ROWS; r++)
            for (int c = 0; c < PIXEL_COLUMNS; c++) {
                int bit = PIXEL_COLUMNS - 1 - c;
                bool upper = pixels[index][2 * r] >> bit & 1;
                bool lower = 2 * r + 1 < PIXEL_ROWS && pixels[index][2 * r + 1] >> bit & 1;
                canvas_glyph(canvas, area, column + c, row + r, role, blocks[upper + 2 * lower]);
            }
    }
}

/* A role that is reverse by itself stays so. */
void canvas_tile(Canvas *canvas, Rectangle area, Role role) {
    for (int row = 0; row < area.rows; row++)
        for (int column = 0; column < area.columns; column++) {
            Cell *cell = canvas_cell(canvas, area, column, row);
            if (!cell) continue;
            cell->role = (uint8_t)role;
            cell->reverse = role != ROLE_LIT;
        }
}
