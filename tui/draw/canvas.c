/* Canvas: clipping, characters of two cells, ASCII replacements, frames of panes. */
#include "tui/draw/canvas.h"

#include "base/language.h"
#include "base/characters.h"
#include "base/memory.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_TITLE_COLUMNS = 16 };

/* Glyphs beyond ASCII that panes draw, and what an ASCII canvas shows instead. Glyphs that mean different
 * things have different replacements. */
static const struct {
    uint32_t glyph;
    char ascii;
} replacements[] = {
    {0x00B7, '.'}, {0x00D7, 'x'}, {0x2013, '-'}, {0x2014, '-'}, {0x2026, '~'}, {0x2039, '<'}, {0x203A, '>'},
    {0x2190, '<'}, {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'}, {0x2500, '-'}, {0x2502, '|'}, {0x250C, '+'},
    {0x2510, '+'}, {0x2514, '+'}, {0x2518, '+'}, {0x251C, '+'}, {0x2524, '+'}, {0x252C, '+'}, {0x2534, '+'},
    {0x253C, '+'}, {0x256F, '+'}, {0x2570, '+'}, {0x2581, '_'}, {0x2582, '.'}, {0x2583, ':'}, {0x2584, '-'},
    {0x2585, '='}, {0x2586, '+'}, {0x2587, '*'}, {0x2588, '#'}, {0x2591, '.'}, {0x2592, ':'}, {0x2593, '%'},
    {0x25A0, '#'}, {0x25A1, 'o'}, {0x25B2, '^'}, {0x25B6, '>'}, {0x25BC, 'v'}, {0x25C0, '<'},
};

static char glyph_ascii(uint32_t glyph) {
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++)
        if (replacements[i].glyph == glyph) return replacements[i].ascii;
    return '?';
}

Canvas *canvas_new(int columns, int rows, bool ascii) {
    Canvas *canvas = memory_new(sizeof *canvas);
    canvas->columns = columns > 0 ? columns : 0;
    canvas->rows = rows > 0 ? rows : 0;
    canvas->ascii = ascii;
    canvas->cells = memory_new((size_t)canvas->columns * (size_t)canvas->rows * sizeof *canvas->cells);
    canvas_clear(canvas);
    return canvas;
}

void canvas_free(Canvas *canvas) {
    if (!canvas) return;
    free(canvas->cells);
    free(canvas);
}

void canvas_clear(Canvas *canvas) {
    for (int i = 0; i < canvas->columns * canvas->rows; i++) canvas->cells[i] = (Cell){.glyph = ' '};
}

Cell *canvas_cell(Canvas *canvas, Rectangle area, int column, int row) {
    if (column < 0 || row < 0 || column >= area.columns || row >= area.rows) return NULL;
    column += area.column;
    row += area.row;
    if (column < 0 || row < 0 || column >= canvas->columns || row >= canvas->rows) return NULL;
    return &canvas->cells[row * canvas->columns + column];
}

/* The other cell of a character of double width; NULL: this cell has no partner. */
static Cell *other_half(Cell *cell) {
    if (cell->glyph == CELL_RIGHT_HALF) return cell - 1;
    return canvas_cell_columns(cell) == 2 ? cell + 1 : NULL;
}

static void put_cell(Cell *cell, Cell content) {
    if (!cell) return;
    Cell *other = other_half(cell);
    if (other) *other = (Cell){.glyph = ' ', .role = other->role, .reverse = other->reverse};
    *cell = content;
}

/* Puts the character into the cell, or the two cells, that begin there; a half alone at an edge becomes a
 * space. */
static void put_character(Canvas *canvas, Rectangle area, int column, int row, Role role,
                          const Character *character) {
    Cell content = {.glyph = character->glyph, .role = (uint8_t)role}, second = {.role = (uint8_t)role};
    Cell *left = canvas_cell(canvas, area, column, row),
         *right = character->columns == 2 ? canvas_cell(canvas, area, column + 1, row) : NULL;
    if (!canvas->ascii) {
        memcpy(content.marks, character->marks, sizeof content.marks);
    } else if (content.glyph > '~') {
        content.glyph = (uint32_t)glyph_ascii(content.glyph);
        second.glyph = '?';
    }
    bool is_half = character->columns == 2 && (!left || !right);
    if (is_half) content = second = (Cell){.glyph = ' ', .role = (uint8_t)role};
    put_cell(right, (Cell){.glyph = ' '}); /* before the left one, whose right half must stay */
    put_cell(left, content);
    if (right) *right = second;
}

void canvas_glyph(Canvas *canvas, Rectangle area, int column, int row, Role role, uint32_t glyph) {
    Utf8Kind kind = utf8_kind(glyph);
    Character character = {.glyph = kind > UTF8_WIDE ? '?' : glyph, .columns = kind == UTF8_WIDE ? 2 : 1};
    put_character(canvas, area, column, row, role, &character);
}

int canvas_text(Canvas *canvas, Rectangle area, int column, int row, Role role, const char *utf8) {
    int at = column, first = column > 0 ? column : 0;
    while (*utf8 && at < area.columns) {
        Character character = character_next(&utf8, at - column);
        int end = at + character.columns;
        bool is_tab = character.glyph == '\t';
        if (!is_tab && character.columns) put_character(canvas, area, at, row, role, &character);
        for (int i = at; is_tab && i < end; i++) canvas_glyph(canvas, area, i, row, role, ' ');
        at = end;
    }
    if (at > area.columns) at = area.columns;
    return at > first ? at - first : 0;
}

int canvas_print(Canvas *canvas, Rectangle area, int column, int row, Role role, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    utf8_drop_half(text);
    return canvas_text(canvas, area, column, row, role, text);
}

int canvas_text_columns(const char *utf8) {
    return characters_columns(utf8, SIZE_MAX);
}

int canvas_right(Canvas *canvas, Rectangle area, int end, int row, Role role, const char *utf8) {
    canvas_text(canvas, area, end - canvas_text_columns(utf8), row, role, utf8);
    return end;
}

void canvas_row(Canvas *canvas, Rectangle area, int column, int row, int columns, Role role, uint32_t glyph) {
    for (int i = 0; i < columns; i++) canvas_glyph(canvas, area, column + i, row, role, glyph);
}

void canvas_column(Canvas *canvas, Rectangle area, int column, int row, Role role, int eighths) {
    for (; row >= 0 && eighths > 0; row--, eighths -= 8)
        canvas_glyph(canvas, area, column, row, role, 0x2580 + (uint32_t)(eighths < 8 ? eighths : 8));
}

int canvas_clamp(int value, int least, int most) {
    return value < least ? least : value > most ? most : value;
}

int canvas_scroll(int first, int shown, int all) {
    return canvas_clamp(first, 0, all > shown ? all - shown : 0);
}

int canvas_first_shown(int selected, int shown, int all) {
    return canvas_scroll(selected - shown / 2, shown, all);
}

int canvas_paragraph(Canvas *canvas, Rectangle area, int row, Role role, const char *utf8) {
    int first = row;
    while (*utf8 && row < area.rows) {
        int bytes = line_break(utf8, area.columns);
        const char *next = utf8 + bytes + strspn(utf8 + bytes, " ");
        bool cut = row == area.rows - 1 && *next; /* the last row: mark the cut */
        if (cut)
            canvas_text(canvas, area, 0, row, role, utf8);
        else
            canvas_print(canvas, area, 0, row, role, "%.*s", bytes, utf8);
        if (cut) canvas_glyph(canvas, area, area.columns - 1, row, role, 0x2026);
        utf8 = next;
        row++;
    }
    return row - first;
}

void canvas_put(Canvas *canvas, const Canvas *from, int column, int row) {
    const Rectangle whole = {0, 0, canvas->columns, canvas->rows};
    for (int y = 0; y < from->rows; y++)
        for (int x = 0; x < from->columns; x++) {
            Cell *cell = canvas_cell(canvas, whole, column + x, row + y);
            if (cell) *cell = from->cells[y * from->columns + x];
        }
}

static bool is_letter(uint32_t glyph) {
    return (glyph >= 'a' && glyph <= 'z') || (glyph >= 'A' && glyph <= 'Z');
}

static bool is_hyphen(Canvas *canvas, Rectangle area, int column, int row) {
    const Cell *before = canvas_cell(canvas, area, column - 1, row),
               *after = canvas_cell(canvas, area, column + 1, row);
    return canvas_cell(canvas, area, column, row)->glyph == '-' && before && after &&
           is_letter(before->glyph) && is_letter(after->glyph);
}

/* The digit of L1 or L2, a cache's name. */
static bool is_of_cache(Canvas *canvas, Rectangle area, int column, int row) {
    const Cell *before = canvas_cell(canvas, area, column - 1, row),
               *after = canvas_cell(canvas, area, column + 1, row);
    uint32_t glyph = canvas_cell(canvas, area, column, row)->glyph;
    return (glyph == '1' || glyph == '2') && before && before->glyph == 'L' && after && after->glyph == ' ';
}

/* A full stop after a letter ends a sentence; three are an ellipsis. */
static bool says_nothing(Canvas *canvas, Rectangle area, int column, int row) {
    uint32_t glyph = canvas_cell(canvas, area, column, row)->glyph;
    const Cell *before = canvas_cell(canvas, area, column - 1, row),
               *after = canvas_cell(canvas, area, column + 1, row);
    if (glyph == '.' && ((before && before->glyph == '.') || (after && after->glyph == '.'))) return true;
    if (glyph == '.' || glyph == ',') return before && is_letter(before->glyph);
    return glyph == ' ' || (glyph < 128 && strchr(";:()/_", (int)glyph)) ||
           is_of_cache(canvas, area, column, row) || is_hyphen(canvas, area, column, row);
}

void canvas_hide_figures(Canvas *canvas, Rectangle area) {
    for (int row = 0; row < area.rows; row++) {
        bool is_run = false;
        for (int column = 0; column < area.columns; column++) {
            Cell *cell = canvas_cell(canvas, area, column, row);
            if (!cell || cell->glyph == CELL_RIGHT_HALF) continue;
            bool stays = says_nothing(canvas, area, column, row) || is_letter(cell->glyph) ||
                         (cell->glyph >= 0x2500 && cell->glyph < 0x2580);
            if (!stays) canvas_glyph(canvas, area, column, row, ROLE_DIM, is_run ? ' ' : '?');
            is_run = !stays;
        }
    }
}

void canvas_fill(Canvas *canvas, Rectangle area, Role role) {
    for (int row = 0; row < area.rows; row++)
        for (int column = 0; column < area.columns; column++)
            canvas_glyph(canvas, area, column, row, role, ' ');
}

void canvas_reverse(Canvas *canvas, Rectangle area, int column, int row, int columns) {
    for (int i = 0; i < columns; i++) {
        Cell *cell = canvas_cell(canvas, area, column + i, row);
        if (!cell) continue;
        cell->reverse = 1;
        Cell *other = other_half(cell);
        if (other) other->reverse = 1;
    }
}

/* The last parts of the note that fit, three spaces apart: the most important comes last. */
static const char *fit_note(const char *note, int columns) {
    const char *rest = note;
    while (rest && canvas_text_columns(rest) > columns)
        if ((rest = strstr(rest, "   "))) rest += strspn(rest, " ");
    return rest ? rest : "";
}

/* Title left, note right, on the top line of `area`; if both do not fit, the title is cut, then the note. */
static void draw_heading(Canvas *canvas, Rectangle area, Role title_role, const char *title, Role note_role,
                         const char *note) {
    Rectangle line = {area.column + 2, area.row, area.columns - 4, 1};
    int title_columns = title && *title ? canvas_text_columns(title) + 2 : 0;
    note = fit_note(note ? note : "", line.columns - LEAST_TITLE_COLUMNS - 2);
    int note_columns = *note ? canvas_text_columns(note) + 2 : 0;
    Rectangle left = line;
    left.columns -= note_columns ? note_columns + 1 : 0;
    if (title_columns) {
        canvas_print(canvas, left, 0, 0, ROLE_TITLE, "%*s", title_columns, "");
        canvas_text(canvas, left, 1, 0, title_role, title);
    }
    if (title_columns > left.columns) canvas_text(canvas, left, left.columns - 2, 0, title_role, "\u2026 ");
    if (note_columns) canvas_print(canvas, line, line.columns - note_columns, 0, note_role, " %s ", note);
}

Rectangle canvas_rule(Canvas *canvas, Rectangle area, Role title_role, const char *title, Role note_role,
                      const char *note) {
    for (int column = 0; column < area.columns; column++)
        canvas_glyph(canvas, area, column, 0, ROLE_BORDER, 0x2500);
    draw_heading(canvas, area, title_role, title, note_role, note);
    return (Rectangle){area.column + 1, area.row + 1, area.columns > 2 ? area.columns - 2 : 0,
                       area.rows > 1 ? area.rows - 1 : 0};
}

Rectangle canvas_box(Canvas *canvas, Rectangle area, Role title_role, const char *title, Role note_role,
                     const char *note) {
    int right = area.columns - 1, bottom = area.rows - 1;
    for (int column = 1; column < right; column++) {
        canvas_glyph(canvas, area, column, 0, ROLE_BORDER, 0x2500);
        canvas_glyph(canvas, area, column, bottom, ROLE_BORDER, 0x2500);
    }
    for (int row = 1; row < bottom; row++) {
        canvas_glyph(canvas, area, 0, row, ROLE_BORDER, 0x2502);
        canvas_glyph(canvas, area, right, row, ROLE_BORDER, 0x2502);
    }
    canvas_glyph(canvas, area, 0, 0, ROLE_BORDER, 0x250C);
    canvas_glyph(canvas, area, right, 0, ROLE_BORDER, 0x2510);
    canvas_glyph(canvas, area, 0, bottom, ROLE_BORDER, 0x2514);
    canvas_glyph(canvas, area, right, bottom, ROLE_BORDER, 0x2518);
    draw_heading(canvas, area, title_role, title, note_role, note);
    return (Rectangle){area.column + 2, area.row + 1, area.columns > 4 ? area.columns - 4 : 0,
                       area.rows > 2 ? area.rows - 2 : 0};
}

void canvas_more(Canvas *canvas, Rectangle area, bool above, bool below) {
    const char *text = above && below ? tr(" ↑↓ more") : above ? tr(" ↑ more") : tr(" ↓ more");
    int columns = canvas_text_columns(text);
    if (above || below) canvas_text(canvas, area, area.columns - columns, area.rows - 1, ROLE_DIM, text);
}

void canvas_add_cell_text(const Cell *cell, Text *out) {
    char bytes[CHARACTER_BYTES];
    if (cell->glyph != CELL_RIGHT_HALF)
        text_add_bytes(out, bytes, character_encode(cell->glyph, cell->marks, bytes));
}

bool canvas_same_cell(const Cell *a, const Cell *b) {
    return a->glyph == b->glyph && a->role == b->role && a->reverse == b->reverse &&
           !memcmp(a->marks, b->marks, sizeof a->marks);
}

int canvas_cell_columns(const Cell *cell) {
    return cell->glyph == CELL_RIGHT_HALF ? 0 : utf8_columns(cell->glyph);
}

void canvas_to_text(const Canvas *canvas, Text *out) {
    for (int row = 0; row < canvas->rows; row++) {
        const Cell *cells = &canvas->cells[row * canvas->columns];
        int length = canvas->columns;
        while (length > 0 && cells[length - 1].glyph == ' ' && !cells[length - 1].marks[0]) length--;
        for (int column = 0; column < length; column++) canvas_add_cell_text(&cells[column], out);
        text_add(out, "\n");
    }
}

/* ---- what a projector needs ---------------------------------------------------------------------------- */

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

/* ---- whole sentences ----------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *mark) {
    return !strncmp(text, mark, strlen(mark));
}

/* Bytes of the first part, including the space after it, which Chinese does not have. "..." ends no part. */
static size_t first_sentence(const char *text, SentencePart part) {
    static const char full_stop[] = "。", semicolon[] = "；";
    for (size_t i = 1; text[i]; i++) {
        if (begins_with(text + i, full_stop)) return i + strlen(full_stop);
        if (part == PART_CLAUSE && begins_with(text + i, semicolon)) return i + strlen(semicolon);
        if (text[i] != ' ') continue;
        bool is_sentence = text[i - 1] == '.' && (i < 2 || text[i - 2] != '.');
        if (is_sentence || (part == PART_CLAUSE && text[i - 1] == ';')) return i + 1;
    }
    return strlen(text);
}

static int count_rows(const char *text, int columns) {
    int rows = 0;
    for (; *text; rows++) {
        text += line_break(text, columns);
        text += strspn(text, " ");
    }
    return rows;
}

static void cut_text(Text *text, size_t length) {
    text->length = length;
    if (text->data) text->data[length] = 0;
}

int canvas_sentences(Canvas *canvas, Rectangle area, int row, Role role, const char *text,
                     SentencePart part) {
    Text shown = {0};
    for (const char *rest = text; *rest;) {
        size_t length = first_sentence(rest, part), before = shown.length;
        text_add_bytes(&shown, rest, length);
        rest += length;
        if (row + count_rows(text_string(&shown), area.columns) > area.rows) cut_text(&shown, before);
    }
    if (!row && !shown.length) text_add(&shown, text);
    static const char *const semicolons[] = {"; ", "；"};
    for (size_t i = 0; i < sizeof semicolons / sizeof *semicolons; i++)
        if (text_ends_with(text_string(&shown), semicolons[i]))
            cut_text(&shown, shown.length - strlen(semicolons[i]));
    int rows = canvas_paragraph(canvas, area, row, role, text_string(&shown));
    text_done(&shown);
    return rows;
}
