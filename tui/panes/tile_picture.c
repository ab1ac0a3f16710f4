/*  32 x 32 of 4 bytes: in rows 32-63, columns 0-31 -> tile+0
 *  4,096 bytes, row.piece (16 bytes); swizzle of 128: a ^ (a >> 3 & 0x70)
 *  +------------------+          bank    0    4    8   12   16   20   24   28
 *  |                  |             0  0.0  0.1  0.2  0.3  0.4  0.5  0.6  0.7
 *  |##                |            32  1.1  1.0  1.3  1.2  1.5  1.4  1.7  1.6
 *  +------------------+
 */
#include "tui/panes/tile_picture.h"

#include "base/language.h"
#include "base/sentence.h"
#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    MAP_COLUMNS = 26,
    MAP_ROWS = 4,
    LABEL_COLUMNS = 8,
    CELL_COLUMNS = 6,
    LINE_PIECES = 8, /* of 16 bytes: 32 banks */
    TABLE_COLUMNS = LABEL_COLUMNS + LINE_PIECES * CELL_COLUMNS
};

/* Pixels and gathered rows are no box: they are named by where they begin. */
static bool is_matrix(const TraceTile *tile) {
    return tile->shape == TILE_BOX && tile->count[2] * tile->count[3] * tile->count[4] == 1 &&
           tile->stride[1];
}

/* The place of the box in a matrix, in elements. Rows and columns outside of it do not count. */
typedef struct BoxPlace {
    uint64_t row, column, rows, columns, all_rows, all_columns;
} BoxPlace;

static BoxPlace place_of(const TilePicture *picture) {
    const TraceTile *tile = &picture->tile;
    return (BoxPlace){.row = picture->offset / tile->stride[1],
                      .column = picture->offset % tile->stride[1] / tile->element_bytes,
                      .rows = tile->last[1] - tile->first[1],
                      .columns = tile->last[0] - tile->first[0],
                      .all_rows = (picture->array_bytes + tile->stride[1] - 1) / tile->stride[1],
                      .all_columns = tile->stride[1] / tile->element_bytes};
}

/* ---- the sentence -------------------------------------------------------------------------------------- */

static bool is_partly_outside(const TraceTile *tile) {
    TilePiece piece;
    for (TileWalk walk = trace_tile_walk(tile, 0); trace_tile_next(&walk, &piece);)
        if (!piece.is_inside) return true;
    return false;
}

static void print_box(const TilePicture *picture, Text *out) {
    const TraceTile *tile = &picture->tile;
    if (trace_tile_is_outside(tile)) {
        text_print(out, tr("all outside of %s"), picture->array);
        return;
    }
    if (!is_matrix(tile)) {
        text_print(out, "%s+%llu", picture->array, (unsigned long long)picture->offset);
        if (is_partly_outside(tile)) text_add(out, tr(" (the rest is outside)"));
        return;
    }
    BoxPlace at = place_of(picture);
    text_print(out, tr("%s rows %llu-%llu, columns %llu-%llu"), picture->array, (unsigned long long)at.row,
               (unsigned long long)(at.row + at.rows - 1), (unsigned long long)at.column,
               (unsigned long long)(at.column + at.columns - 1));
    if (at.rows < tile->count[1] || at.columns < tile->count[0]) text_add(out, tr(" (the rest is outside)"));
}

/* "8 x 64"; "64 pixels x 8 channels". */
static void print_size(const TraceTile *tile, Text *out) {
    if (tile->shape == TILE_PIXELS) {
        text_print(out, tr("%u pixel%s x %u channel%s"), tile->rows, plural(tile->rows), tile->count[0],
                   plural(tile->count[0]));
        return;
    }
    if (tile->shape == TILE_ROWS) {
        text_print(out, tr("%u rows x %u"), tile->rows, tile->count[0]);
        return;
    }
    bool is_first = true;
    for (int d = TILE_RANK - 1; d >= 0; d--)
        if (d < 2 || tile->count[d] > 1) {
            text_print(out, is_first ? "%u" : " x %u", tile->count[d]);
            is_first = false;
        }
}

/* What a line of the table names a row of shared memory. */
static const char *row_name(const TraceTile *tile) {
    return tile->shape == TILE_PIXELS ? tr("pixel") : tr("row");
}

static void draw_sentence(const TilePicture *picture, Canvas *canvas, Rectangle area) {
    const TraceTile *tile = &picture->tile;
    Text box = {0}, sentence = {0};
    print_box(picture, &box);
    print_size(tile, &sentence);
    text_print(&sentence, tr(" of %u byte%s: "), tile->element_bytes, plural(tile->element_bytes));
    if (picture->loads)
        text_print(&sentence, "%s → %s+%llu", text_string(&box), picture->shared,
                   (unsigned long long)picture->shared_offset);
    else
        text_print(&sentence, "%s+%llu → %s", picture->shared, (unsigned long long)picture->shared_offset,
                   text_string(&box));
    canvas_text(canvas, area, 1, 0, ROLE_TEXT, text_string(&sentence));
    text_done(&box);
    text_done(&sentence);
}

/* ---- the array ----------------------------------------------------------------------------------------- */

/* Whether cell `i` of `cells` that share out `all` holds one of `count` from `first` on. */
static bool covers(int i, int cells, uint64_t all, uint64_t first, uint64_t count) {
    uint64_t begin = all * (uint64_t)i / (uint64_t)cells, end = all * (uint64_t)(i + 1) / (uint64_t)cells;
    if (end == begin) end++;
    return first < end && first + count > begin;
}

static void draw_map(const TilePicture *picture, Canvas *canvas, Rectangle area) {
    BoxPlace at = place_of(picture);
    int rows = area.rows - 1 < MAP_ROWS ? area.rows - 1 : MAP_ROWS;
    char size[64];
    snprintf(size, sizeof size, "%s %llu x %llu", picture->array, (unsigned long long)at.all_rows,
             (unsigned long long)at.all_columns);
    canvas_text(canvas, area, 1, 0, ROLE_DIM, size);
    bool is_outside = trace_tile_is_outside(&picture->tile);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < MAP_COLUMNS; column++) {
            bool is_in = !is_outside && covers(row, rows, at.all_rows, at.row, at.rows) &&
                         covers(column, MAP_COLUMNS, at.all_columns, at.column, at.columns);
            canvas_glyph(canvas, area, 1 + column, 1 + row, is_in ? ROLE_LIT : ROLE_IDLE,
                         is_in ? 0x2592 : 0xB7);
        }
}

/* ---- the banks ----------------------------------------------------------------------------------------- */

typedef struct TilePlace { /* of 16 bytes of shared memory */
    int row, piece;
    bool exists, is_inside;
} TilePlace;

/* [pieces of the lines that the tile touches], from the 128 bytes on that hold its first byte */
static TilePlace *place_pieces(const TilePicture *picture, int *lines) {
    const TraceTile *tile = &picture->tile;
    uint64_t begin = picture->shared_address / (LINE_PIECES * TILE_CHUNK) * (LINE_PIECES * TILE_CHUNK),
             end = picture->shared_address + trace_tile_span(tile);
    *lines = (int)((end - begin + LINE_PIECES * TILE_CHUNK - 1) / (LINE_PIECES * TILE_CHUNK));
    TilePlace *places = memory_new((size_t)*lines * LINE_PIECES * sizeof *places);
    uint32_t row_bytes = tile->count[0] * tile->element_bytes;
    TilePiece piece;
    for (TileWalk walk = trace_tile_walk(tile, picture->shared_address); trace_tile_next(&walk, &piece);)
        for (uint32_t byte = 0; byte < piece.bytes; byte += TILE_CHUNK) {
            uint64_t at = (piece.shared + byte - begin) / TILE_CHUNK;
            uint32_t of_tile = piece.at + byte;
            if (at >= (uint64_t)*lines * LINE_PIECES || places[at].exists) continue;
            places[at] = (TilePlace){.row = (int)(of_tile / row_bytes),
                                     .piece = (int)(of_tile % row_bytes / TILE_CHUNK),
                                     .exists = true,
                                     .is_inside = piece.is_inside};
        }
    return places;
}

static void draw_banks(const TilePicture *picture, Canvas *canvas, Rectangle area) {
    int lines;
    TilePlace *places = place_pieces(picture, &lines);
    canvas_text(canvas, area, 0, 0, ROLE_DIM, "bank");
    for (int piece = 0; piece < LINE_PIECES; piece++) {
        char bank[8];
        snprintf(bank, sizeof bank, "%d", 4 * piece);
        canvas_right(canvas, area, LABEL_COLUMNS + (piece + 1) * CELL_COLUMNS, 0, ROLE_DIM, bank);
    }
    for (int line = 0; line < lines && line + 1 < area.rows; line++) {
        char text[24];
        uint64_t word = (picture->shared_address / (LINE_PIECES * TILE_CHUNK) + (uint64_t)line) * 32;
        snprintf(text, sizeof text, "%llu", (unsigned long long)word);
        canvas_right(canvas, area, LABEL_COLUMNS - 1, line + 1, ROLE_DIM, text);
        for (int piece = 0; piece < LINE_PIECES; piece++) {
            const TilePlace *place = &places[line * LINE_PIECES + piece];
            snprintf(text, sizeof text, "%d.%d", place->row, place->piece);
            Role role = !place->exists || !place->is_inside ? ROLE_DIM : place->piece ? ROLE_TEXT : ROLE_LIT;
            canvas_right(canvas, area, LABEL_COLUMNS + (piece + 1) * CELL_COLUMNS, line + 1, role,
                         !place->exists     ? "·"
                         : place->is_inside ? text
                                            : tr("fill"));
        }
    }
    free(places);
}

static void draw_legend(const TilePicture *picture, Canvas *canvas, Rectangle area) {
    uint32_t span = picture->tile.swizzle ? 16u << picture->tile.swizzle : 0;
    CountText bytes;
    count_text(trace_tile_bytes(&picture->tile), &bytes);
    if (span)
        canvas_print(canvas, area, 1, 0, ROLE_DIM,
                     tr("%s bytes, %s.piece (16 bytes); swizzle of %u: a ^ (a >> 3 & 0x%x)"), bytes.text,
                     row_name(&picture->tile), span, span - TILE_CHUNK);
    else
        canvas_print(canvas, area, 1, 0, ROLE_DIM, tr("%s bytes, %s.piece (16 bytes); no swizzle"),
                     bytes.text, row_name(&picture->tile));
}

void tile_picture_draw(const TilePicture *picture, Canvas *canvas, Rectangle area) {
    bool has_map = is_matrix(&picture->tile) && area.columns >= MAP_COLUMNS + TABLE_COLUMNS + 4;
    draw_sentence(picture, canvas, area);
    if (area.rows < 4) return;
    draw_legend(picture, canvas, (Rectangle){area.column, area.row + 1, area.columns, 1});
    Rectangle rest = {area.column, area.row + 2, area.columns, area.rows - 2};
    if (has_map) draw_map(picture, canvas, rest);
    if (has_map) rest.column += MAP_COLUMNS + 4, rest.columns -= MAP_COLUMNS + 4;
    draw_banks(picture, canvas, rest);
}
