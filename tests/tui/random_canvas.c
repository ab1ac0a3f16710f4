#include "random_canvas.h"

#include "base/utf8.h"

enum { MOST_CHARACTERS = 24 };

uint32_t random_next(Random *random, uint32_t limit) { /* xorshift32 */
    random->state ^= random->state << 13;
    random->state ^= random->state >> 17;
    random->state ^= random->state << 5;
    return random->state % limit;
}

/* Some scripts often, so that wide and narrow characters and marks are adjacent. */
static uint32_t random_character(Random *random) {
    static const uint32_t ranges[][2] = {
        {' ', '~'},         {' ', '~'},       {0x4E00, 0x9FA5},   {0x4E00, 0x9FA5},   {0x300, 0x36F},
        {0x300, 0x36F},     {0xA1, 0x24F},    {0x3A3, 0x3C9},     {0x410, 0x44F},     {0x5D0, 0x5EA},
        {0x627, 0x63A},     {0x64B, 0x652},   {0x915, 0x939},     {0x941, 0x948},     {0xE01, 0xE2E},
        {0xE34, 0xE3A},     {0x1100, 0x1112}, {0x1161, 0x1175},   {0xAC00, 0xD7A3},   {0x3001, 0x301C},
        {0x3041, 0x3096},   {0xFF01, 0xFF60}, {0xFF61, 0xFF9F},   {0x2500, 0x257F},   {0x200B, 0x200F},
        {0x202A, 0x202E},   {0xFE00, 0xFE0F}, {0x1F600, 0x1F64F}, {0x1F3FB, 0x1F3FF}, {0xFEFF, 0xFEFF},
        {0x20000, 0x2A6D6}, {0xE000, 0xE0FF}, {1, 0x1F},          {0x7F, 0x9F}};
    const uint32_t *range = ranges[random_next(random, sizeof ranges / sizeof *ranges)];
    return range[0] + random_next(random, range[1] - range[0] + 1);
}

static void random_text(Random *random, char *out) {
    for (uint32_t left = random_next(random, MOST_CHARACTERS); left > 0; left--) {
        if (random_next(random, 16)) out += utf8_encode(random_character(random), out);
        /* Malformed or truncated. */
        else
            *out++ = (char)(1 + random_next(random, 255));
    }
    *out = 0;
}

static Rectangle random_area(Random *random, const Canvas *canvas) {
    uint32_t columns = (uint32_t)canvas->columns, rows = (uint32_t)canvas->rows;
    Rectangle area = {.column = (int)random_next(random, columns), .row = (int)random_next(random, rows)};
    area.columns = (int)random_next(random, columns + 2);
    area.rows = (int)random_next(random, rows + 2);
    return area;
}

void random_draw(Random *random, Canvas *canvas) {
    char text[MOST_CHARACTERS * UTF8_BYTES + 1];
    for (uint32_t left = 1 + random_next(random, 12); left > 0; left--) {
        Rectangle area = random_area(random, canvas);
        Role role = (Role)random_next(random, ROLE_COUNT);
        int column = (int)random_next(random, 12) - 4, row = (int)random_next(random, 4) - 1;
        random_text(random, text);
        switch (random_next(random, 8)) {
        case 0:
            canvas_fill(canvas, area, role);
            break;
        case 1:
            canvas_reverse(canvas, area, column, row, 5);
            break;
        case 2:
            canvas_glyph(canvas, area, column, row, role, random_character(random));
            break;
        case 3:
            canvas_box(canvas, area, role, text, role, "note");
            break;
        case 4:
            canvas_paragraph(canvas, area, row, role, text);
            break;
        default:
            canvas_text(canvas, area, column, row, role, text);
        }
    }
}

uint32_t random_shown_glyph(const VTermScreenCell *shown) {
    return shown->chars[0] == (uint32_t)-1 ? CELL_RIGHT_HALF : shown->chars[0] ? shown->chars[0] : ' ';
}

bool random_shows(const VTermScreenCell *shown, const Cell *cell) {
    int columns = canvas_cell_columns(cell);
    if (random_shown_glyph(shown) != cell->glyph || (columns && shown->width != columns)) return false;
    /* empty: the rest is left from the cell requested before. */
    if (!shown->chars[0]) return !cell->marks[0];
    for (int i = 0; columns && i < CHARACTER_MARKS; i++) {
        if (shown->chars[1 + i] != cell->marks[i]) return false;
        if (!cell->marks[i]) break;
    }
    return true;
}
