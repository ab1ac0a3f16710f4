/* A row that several frames share is written once. The frames that show it form a pattern, which is one style
 * rule: rows with the same pattern share it. */
#include "tui/draw/svg_movie.h"

#include "base/memory.h"
#include "tui/draw/svg.h"
#include <stdlib.h>
#include <string.h>

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
