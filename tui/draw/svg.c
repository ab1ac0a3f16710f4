#include "tui/draw/svg.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

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

/* The parts of the image: the beginning, with a style element or ""; a row; the end. */
static void svg_begin(Text *out, int columns, int rows, Theme theme, const char *style) {
    int width = columns * CELL_WIDTH + 2 * MARGIN, height = rows * CELL_HEIGHT + 2 * MARGIN;
    text_print(out, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d'>\n%s",
               width, height, width, height, style);
    text_print(out, "<rect width='100%%' height='100%%' rx='6' fill='#%06x'/>\n",
               theme_rgb(theme_look(theme, ROLE_TEXT, 256).background, BACKGROUND));
    text_add(out,
             "<g font-family='DejaVu Sans Mono, Menlo, Consolas, monospace' font-size='" FONT_SIZE "'>\n");
}

static void svg_add_row(Text *out, const Canvas *canvas, int row, Theme theme) {
    const Cell *cells = &canvas->cells[row * canvas->columns];
    for (int column = 0, next; column < canvas->columns; column = next) {
        next = column + canvas_cell_columns(&cells[column]);
        while (next < canvas->columns && may_follow(&cells[column], &cells[next]))
            next += canvas_cell_columns(&cells[next]);
        add_run(out, theme, cells + column, next - column, column, row);
    }
}

static void svg_end(Text *out) {
    text_add(out, "</g>\n</svg>\n");
}

void canvas_to_svg(const Canvas *canvas, Theme theme, Text *out) {
    svg_begin(out, canvas->columns, canvas->rows, theme, "");
    for (int row = 0; row < canvas->rows; row++) svg_add_row(out, canvas, row, theme);
    svg_end(out);
}

/* ---- several frames as one animated image -------------------------------------------------------------- */

typedef struct Row {    /* the content of one row of the screen in some of the frames */
    int row;            /* of the screen */
    const char *markup; /* owned */
    Text seen;          /* one byte per frame, '0' or '1'; frames past its end do not show it */
} Row;

struct SvgMovie {
    int columns, row_count, frame_count;
    Theme theme;
    double *seconds; /* [frame_count] */
    int seconds_capacity;
    Row *rows; /* [count], in no order */
    int count, capacity;
};

SvgMovie *svg_movie_new(void) {
    return memory_new(sizeof(SvgMovie));
}

void svg_movie_free(SvgMovie *movie) {
    if (!movie) return;
    for (int i = 0; i < movie->count; i++) {
        free((char *)movie->rows[i].markup);
        text_done(&movie->rows[i].seen);
    }
    free(movie->rows);
    free(movie->seconds);
    free(movie);
}

int svg_movie_frames(const SvgMovie *movie) {
    return movie->frame_count;
}

static Row *row_of(SvgMovie *movie, int row, const char *markup) {
    for (int i = 0; i < movie->count; i++)
        if (movie->rows[i].row == row && !strcmp(movie->rows[i].markup, markup)) return &movie->rows[i];
    const Row new_row = {.row = row, .markup = memory_copy_text(markup)};
    array_push(movie->rows, movie->count, movie->capacity, new_row);
    return &movie->rows[movie->count - 1];
}

static bool is_seen(const Row *row, int frame) {
    return (size_t)frame < row->seen.length && row->seen.data[frame] == '1';
}

/* Whether the row shows what the frame before showed; that row is then shown longer. */
static bool is_repeated(const SvgMovie *movie) {
    int last = movie->frame_count - 1;
    for (int i = 0; i < movie->count; i++)
        if (last < 1 || is_seen(&movie->rows[i], last) != is_seen(&movie->rows[i], last - 1)) return false;
    return true;
}

void svg_movie_add(SvgMovie *movie, const Canvas *canvas, Theme theme, double seconds) {
    Text markup = {0};
    if (!movie->frame_count) {
        movie->columns = canvas->columns;
        movie->row_count = canvas->rows;
        movie->theme = theme;
    }
    array_push(movie->seconds, movie->frame_count, movie->seconds_capacity, seconds);
    for (int i = 0; i < canvas->rows; i++) {
        text_clear(&markup);
        svg_add_row(&markup, canvas, i, movie->theme);
        if (!markup.length) continue;
        Row *row = row_of(movie, i, text_string(&markup));
        while (row->seen.length + 1 < (size_t)movie->frame_count) text_add(&row->seen, "0");
        text_add(&row->seen, "1");
    }
    text_done(&markup);
    if (!is_repeated(movie)) return;
    movie->frame_count--;
    movie->seconds[movie->frame_count - 1] += seconds;
    for (int i = 0; i < movie->count; i++)
        if (movie->rows[i].seen.length > (size_t)movie->frame_count)
            movie->rows[i].seen.data[--movie->rows[i].seen.length] = 0;
}

/* ---- style --------------------------------------------------------------------------------------------- */

static bool same_pattern(const SvgMovie *movie, const Row *a, const Row *b) {
    for (int frame = 0; frame < movie->frame_count; frame++)
        if (is_seen(a, frame) != is_seen(b, frame)) return false;
    return true;
}

/* The first row with the same pattern names the pattern. */
static int pattern_of(const SvgMovie *movie, int row) {
    for (int i = 0; i < row; i++)
        if (same_pattern(movie, &movie->rows[i], &movie->rows[row])) return i;
    return row;
}

static bool is_always_seen(const SvgMovie *movie, const Row *row) {
    for (int frame = 0; frame < movie->frame_count; frame++)
        if (!is_seen(row, frame)) return false;
    return true;
}

static void add_rule(const SvgMovie *movie, int pattern, double whole, Text *style) {
    const Row *row = &movie->rows[pattern];
    double at = 0;
    text_print(style, ".f%d{animation:f%d %.3gs step-end infinite%s}\n@keyframes f%d{", pattern, pattern,
               whole, is_seen(row, 0) ? "" : ";visibility:hidden", pattern);
    for (int frame = 0; frame < movie->frame_count; at += movie->seconds[frame++])
        if (!frame || is_seen(row, frame) != is_seen(row, frame - 1))
            text_print(style, "%.4g%%{visibility:%s}", 100 * at / whole,
                       is_seen(row, frame) ? "visible" : "hidden");
    text_add(style, "}\n");
}

void svg_movie_write(const SvgMovie *movie, Text *out) {
    Text style = {0};
    double whole = 0;
    for (int frame = 0; frame < movie->frame_count; frame++) whole += movie->seconds[frame];
    text_add(&style, "<style>\n");
    for (int i = 0; i < movie->count; i++)
        if (pattern_of(movie, i) == i && !is_always_seen(movie, &movie->rows[i]))
            add_rule(movie, i, whole, &style);
    text_add(&style, "@media (prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n");
    svg_begin(out, movie->columns, movie->row_count, movie->theme, text_string(&style));
    for (int i = 0; i < movie->count; i++) {
        const Row *row = &movie->rows[i];
        bool always = is_always_seen(movie, row);
        if (!always) text_print(out, "<g class='f%d'>", pattern_of(movie, i));
        text_add(out, row->markup);
        if (!always) text_add(out, "</g>\n");
    }
    svg_end(out);
    text_done(&style);
}
