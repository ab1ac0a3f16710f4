/* The pieces of a tile, and its form in events (tile.h). */
#include "trace/tile.h"

#include <string.h>

enum { INDEX_BITS = 9, VALUES = 7 };

TileShape trace_tile_shape(const PtxInstruction *instruction) {
    if (ptx_instruction_has(instruction, PTX_MOD_IM2COL) ||
        ptx_instruction_has(instruction, PTX_MOD_IM2COL_NO_OFFS))
        return TILE_PIXELS;
    bool is_rows = ptx_instruction_has(instruction, PTX_MOD_TILE_GATHER4) ||
                   ptx_instruction_has(instruction, PTX_MOD_TILE_SCATTER4);
    return is_rows ? TILE_ROWS : TILE_BOX;
}

typedef struct Axis { /* the coordinates begin + i * step of a dimension, for i < count */
    int64_t begin, step, count, size;
    uint64_t stride; /* bytes from one coordinate to the next */
} Axis;

static uint32_t clipped(int64_t number, int64_t count) {
    return (uint32_t)(number < 0 ? 0 : number < count ? number : count);
}

/* Sets dimension `d` of the tile; *global advances to the first index inside. */
static void place_axis(const Axis *axis, int d, TraceTile *tile, uint64_t *global) {
    int64_t first = axis->begin < 0 ? (-axis->begin + axis->step - 1) / axis->step : 0,
            last = axis->size <= axis->begin ? 0 : (axis->size - axis->begin + axis->step - 1) / axis->step;
    tile->count[d] = (uint32_t)axis->count;
    tile->step[d] = 1;
    tile->first[d] = clipped(first, axis->count);
    tile->last[d] = clipped(last, axis->count);
    tile->stride[d] = axis->stride * (uint64_t)axis->step;
    *global += (uint64_t)axis->begin * axis->stride + tile->first[d] * tile->stride[d];
}

static const Axis no_axis = {.step = 1, .count = 1, .size = 1};

/* The elements of a row: the innermost dimension, which no element stride applies to. */
static void place_elements(const TensorMap *map, const TileRequest *request, TraceTile *tile,
                           uint64_t *global) {
    int64_t size = (int64_t)map->size[0], bytes = tile->element_bytes;
    if (!request->is_load) size = (size * bytes + TILE_CHUNK - 1) / TILE_CHUNK * TILE_CHUNK / bytes;
    const Axis axis = {request->at[0], 1, map->box[0], size, (uint64_t)bytes};
    place_axis(&axis, 0, tile, global);
}

static void place_box(const TensorMap *map, const TileRequest *request, TraceTile *tile, uint64_t *global) {
    tile->rows = 1;
    for (int d = 1; d < TILE_RANK; d++) {
        bool exists = d < (int)map->rank;
        int64_t step = exists ? map->step[d] : 1;
        const Axis axis = {request->at[d], step, (map->box[d] + step - 1) / step, (int64_t)map->size[d],
                           map->stride[d - 1]};
        place_axis(exists ? &axis : &no_axis, d, tile, global);
        tile->rows *= tile->count[d];
    }
}

/* The base pixels of a side of the bounding box, from lower[] on. */
static int64_t side_of_box(const TensorMap *map, uint32_t side) {
    return (int64_t)map->size[side + 1] + map->upper[side] - map->lower[side];
}

/* The hardware keeps all offsets in 16 bits; one that needs more than its share changes the next one. */
static int64_t offset_of(const TensorMap *map, const TileRequest *request, uint32_t side) {
    uint32_t bits = tensor_corner_bits(map), all = 0;
    for (uint32_t i = 0; i < tensor_side_count(map); i++) all |= (uint32_t)request->offset[i] << bits * i;
    return all >> bits * side & ((1u << bits) - 1);
}

bool trace_tile_begins_in_box(const TensorMap *map, const TileRequest *request) {
    bool good = true;
    for (uint32_t side = 0; side < tensor_side_count(map); side++) {
        int64_t start = (int64_t)request->at[side + 1] - map->lower[side];
        good &= start >= 0 && start < side_of_box(map, side);
    }
    return good;
}

static void place_pixels(const TensorMap *map, const TileRequest *request, TraceTile *tile,
                         uint64_t *global) {
    uint32_t sides = tensor_side_count(map), images = sides + 1;
    tile->rows = map->pixels;
    for (uint32_t side = 0; side < TENSOR_SIDES_MOST; side++) {
        uint32_t d = side + 1;
        if (side >= sides) {
            place_axis(&no_axis, (int)d, tile, global);
            continue;
        }
        const Axis axis = {map->lower[side] + offset_of(map, request, side), 1, side_of_box(map, side),
                           (int64_t)map->size[d], map->stride[side]};
        place_axis(&axis, (int)d, tile, global);
        tile->start[d] = (uint32_t)(request->at[d] - map->lower[side]);
        tile->step[d] = map->step[d];
    }
    const Axis axis = {request->at[images], map->step[images], map->pixels, (int64_t)map->size[images],
                       map->stride[images - 1]};
    place_axis(&axis, TILE_RANK - 1, tile, global);
}

static void place_rows(const TensorMap *map, const TileRequest *request, TraceTile *tile, uint64_t *global) {
    int64_t lowest = INT64_MAX;
    tile->rows = TILE_RANK - 1;
    for (int i = 1; i < TILE_RANK; i++)
        if (request->at[i] >= 0 && request->at[i] < (int64_t)map->size[1] && request->at[i] < lowest)
            lowest = request->at[i];
    for (int i = 1; i < TILE_RANK; i++) {
        bool is_inside = request->at[i] >= 0 && request->at[i] < (int64_t)map->size[1];
        tile->stride[i] = is_inside ? (uint64_t)(request->at[i] - lowest) * map->stride[0] : TILE_NO_ROW;
        tile->count[i] = tile->step[i] = tile->last[i] = 1;
    }
    if (lowest < INT64_MAX) *global += (uint64_t)lowest * map->stride[0];
}

static uint32_t row_bytes_of(const TraceTile *tile) {
    return tile->count[0] * tile->element_bytes;
}

static uint32_t pitch_of(const TraceTile *tile) {
    return tile->swizzle ? 16u << tile->swizzle : row_bytes_of(tile);
}

/* Sets `reach` and `lead`, which follow from the other fields. */
static void measure(TraceTile *tile) {
    uint64_t begin = UINT64_MAX, end = 0;
    TilePiece piece;
    tile->lead = 0;
    if (tile->shape == TILE_BOX) {
        begin = 0, end = tile->element_bytes;
        for (int d = 0; d < TILE_RANK && end; d++) {
            bool is_outside = tile->first[d] >= tile->last[d];
            end = is_outside ? 0 : end + (tile->last[d] - tile->first[d] - 1) * tile->stride[d];
        }
    } else {
        for (TileWalk walk = trace_tile_walk(tile, 0); trace_tile_next(&walk, &piece);) {
            if (piece.is_inside && piece.global < begin) begin = piece.global;
            if (piece.is_inside && piece.global + piece.bytes > end) end = piece.global + piece.bytes;
        }
    }
    tile->reach = end ? end - begin : 0;
    if (tile->shape == TILE_PIXELS && end) tile->lead = begin;
}

TraceTile trace_tile_of(const TensorMap *map, const TileRequest *request, uint64_t *global) {
    static void (*const place[])(const TensorMap *, const TileRequest *, TraceTile *, uint64_t *) = {
        [TILE_BOX] = place_box, [TILE_PIXELS] = place_pixels, [TILE_ROWS] = place_rows};
    TraceTile tile = {.shape = request->shape,
                      .element_bytes = (uint32_t)tensor_type_bytes(map->type),
                      .swizzle = map->swizzle};
    *global = map->address;
    place_elements(map, request, &tile, global);
    place[tile.shape](map, request, &tile, global);
    measure(&tile);
    *global += tile.lead;
    return tile;
}

uint32_t trace_tile_bytes(const TraceTile *tile) {
    return tile->rows * row_bytes_of(tile);
}

uint32_t trace_tile_span(const TraceTile *tile) {
    return tile->rows * pitch_of(tile);
}

bool trace_tile_is_outside(const TraceTile *tile) {
    return !tile->reach;
}

/* ---- in events ---------------------------------------------------------------------------------------
 *
 * clang-format off
 *   value  BOX, ROWS                        PIXELS
 *   0      count by dimension, 9 bits each  count[0], first[0], last[0]: 9 bits each; rows: 11 bits
 *          from bit 45 on: element bytes, 4 bits; swizzle, 2; shape, 2
 *   1      first by dimension, 9 bits each  count, start, first and last of W: 16 bits each
 *   2      last by dimension, 9 bits each   the same of H
 *   3 - 6  stride[1] to stride[4]           from bit 48 on of 3, 4, 5: first[4], last[4], step[1 to 3]
 *   7                                       as 1 and 2, of D
 * clang-format on */

enum {
    ELEMENT_AT = TILE_RANK * INDEX_BITS,
    SWIZZLE_AT = ELEMENT_AT + 4,
    SHAPE_AT = SWIZZLE_AT + 2,
    ROWS_AT = 3 * INDEX_BITS,
    ROWS_BITS = 11,
    STRIDE_BITS = 48,
    SIDE_BITS = 16,
    STEP_BITS = 4
};

static uint32_t bits_of(uint64_t word, int at, int bits) {
    return (uint32_t)(word >> at) & ((1u << bits) - 1);
}

static uint64_t pack(const uint32_t *numbers) {
    uint64_t word = 0;
    for (int d = 0; d < TILE_RANK; d++) word |= (uint64_t)numbers[d] << d * INDEX_BITS;
    return word;
}

static void unpack(uint64_t word, uint32_t *numbers) {
    for (int d = 0; d < TILE_RANK; d++) numbers[d] = bits_of(word, d * INDEX_BITS, INDEX_BITS);
}

/* The value that holds the indices of a side. */
static int value_of_side(int d) {
    return d < 3 ? d : VALUES;
}

static void write_pixels(const TraceTile *tile, TraceEvent *event, int lane) {
    const uint32_t channels[TILE_RANK] = {tile->count[0], tile->first[0], tile->last[0]};
    event->value[0][lane] = pack(channels) | (uint64_t)tile->rows << ROWS_AT;
    for (int d = 1; d < TILE_RANK - 1; d++)
        event->value[value_of_side(d)][lane] = tile->count[d] | (uint64_t)tile->start[d] << SIDE_BITS |
                                               (uint64_t)tile->first[d] << 2 * SIDE_BITS |
                                               (uint64_t)tile->last[d] << 3 * SIDE_BITS;
    event->value[3][lane] |= (uint64_t)tile->first[TILE_RANK - 1] << STRIDE_BITS;
    event->value[4][lane] |= (uint64_t)tile->last[TILE_RANK - 1] << STRIDE_BITS;
    for (int d = 1; d < TILE_RANK - 1; d++)
        event->value[5][lane] |= (uint64_t)tile->step[d] << (STRIDE_BITS + STEP_BITS * (d - 1));
}

void trace_tile_write(const TraceTile *tile, TraceEvent *event, int lane) {
    event->element_bytes = 8;
    event->element_count = TRACE_MAX_ELEMENTS;
    event->width = (int)tile->element_bytes;
    for (int d = 1; d < TILE_RANK; d++) event->value[2 + d][lane] = tile->stride[d];
    if (tile->shape == TILE_PIXELS) {
        write_pixels(tile, event, lane);
    } else {
        event->value[0][lane] = pack(tile->count);
        event->value[1][lane] = pack(tile->first);
        event->value[2][lane] = pack(tile->last);
    }
    event->value[0][lane] |= (uint64_t)tile->element_bytes << ELEMENT_AT |
                             (uint64_t)tile->swizzle << SWIZZLE_AT | (uint64_t)tile->shape << SHAPE_AT;
}

static void read_pixels(const TraceEvent *event, int lane, TraceTile *tile) {
    uint32_t channels[TILE_RANK];
    unpack(event->value[0][lane], channels);
    tile->count[0] = channels[0], tile->first[0] = channels[1], tile->last[0] = channels[2];
    tile->rows = bits_of(event->value[0][lane], ROWS_AT, ROWS_BITS);
    for (int d = 1; d < TILE_RANK - 1; d++) {
        uint64_t side = event->value[value_of_side(d)][lane];
        tile->count[d] = bits_of(side, 0, SIDE_BITS);
        tile->start[d] = bits_of(side, SIDE_BITS, SIDE_BITS);
        tile->first[d] = bits_of(side, 2 * SIDE_BITS, SIDE_BITS);
        tile->last[d] = bits_of(side, 3 * SIDE_BITS, SIDE_BITS);
        tile->step[d] = bits_of(event->value[5][lane], STRIDE_BITS + STEP_BITS * (d - 1), STEP_BITS);
    }
    tile->count[TILE_RANK - 1] = tile->rows;
    tile->first[TILE_RANK - 1] = bits_of(event->value[3][lane], STRIDE_BITS, SIDE_BITS);
    tile->last[TILE_RANK - 1] = bits_of(event->value[4][lane], STRIDE_BITS, SIDE_BITS);
    for (int d = 1; d < TILE_RANK; d++) tile->stride[d] &= (UINT64_C(1) << STRIDE_BITS) - 1;
}

static void read_box(const TraceEvent *event, int lane, TraceTile *tile) {
    unpack(event->value[0][lane], tile->count);
    unpack(event->value[1][lane], tile->first);
    unpack(event->value[2][lane], tile->last);
    tile->rows = 1;
    for (int d = 1; d < TILE_RANK && tile->shape == TILE_BOX; d++) tile->rows *= tile->count[d];
    if (tile->shape == TILE_ROWS) tile->rows = TILE_RANK - 1;
}

bool trace_tile_read(const TraceEvent *event, int lane, TraceTile *tile) {
    uint64_t modes = event->value[0][lane];
    if (event->element_count != TRACE_MAX_ELEMENTS || !(modes >> ELEMENT_AT)) return false;
    *tile = (TraceTile){.shape = (TileShape)bits_of(modes, SHAPE_AT, 2),
                        .element_bytes = bits_of(modes, ELEMENT_AT, 4),
                        .swizzle = bits_of(modes, SWIZZLE_AT, 2)};
    tile->stride[0] = tile->element_bytes;
    for (int d = 0; d < TILE_RANK; d++) tile->step[d] = 1;
    for (int d = 1; d < TILE_RANK; d++) tile->stride[d] = event->value[2 + d][lane];
    if (tile->shape == TILE_PIXELS)
        read_pixels(event, lane, tile);
    else
        read_box(event, lane, tile);
    bool good = row_bytes_of(tile) > 0 && tile->rows > 0 && tile->shape <= TILE_ROWS;
    for (int d = 0; d < TILE_RANK; d++)
        good &= (tile->shape == TILE_PIXELS && d ? tile->count[d] > 0 : tile->count[d] <= 256) &&
                tile->last[d] <= tile->count[d];
    if (good) measure(tile);
    return good;
}

/* ---- pieces ------------------------------------------------------------------------------------------ */

/* The row lies outside by one of the dimensions 1 to `most`. */
static bool row_is_outside(const TileWalk *walk, int most) {
    const TraceTile *tile = walk->tile;
    for (int d = 1; d <= most; d++)
        if (walk->index[d] < tile->first[d] || walk->index[d] >= tile->last[d]) return true;
    return false;
}

/* Bytes from the first byte inside of the tensor to the row; TILE_NO_ROW: it lies outside. */
static uint64_t row_global(const TileWalk *walk) {
    const TraceTile *tile = walk->tile;
    if (tile->shape == TILE_ROWS) return tile->stride[1 + walk->row];
    if (row_is_outside(walk, TILE_RANK - 1)) return TILE_NO_ROW;
    uint64_t global = 0;
    for (int d = 1; d < TILE_RANK; d++) global += (walk->index[d] - tile->first[d]) * tile->stride[d];
    return global - tile->lead;
}

/* The inside bytes [low, high) of the row, and where they lie. */
static void place_row(TileWalk *walk) {
    const TraceTile *tile = walk->tile;
    walk->low = walk->high = walk->row_bytes;
    walk->global = row_global(walk);
    if (walk->global == TILE_NO_ROW || tile->first[0] >= tile->last[0]) return;
    walk->low = tile->first[0] * tile->element_bytes;
    walk->high = tile->last[0] * tile->element_bytes;
}

TileWalk trace_tile_walk(const TraceTile *tile, uint64_t shared) {
    TileWalk walk = {.tile = tile, .shared = shared, .row_bytes = row_bytes_of(tile)};
    memcpy(walk.index, tile->start, sizeof walk.index);
    place_row(&walk);
    return walk;
}

static bool next_row(TileWalk *walk) {
    const TraceTile *tile = walk->tile;
    if (++walk->row == tile->rows) return false;
    for (int d = 1; d < TILE_RANK && (walk->index[d] += tile->step[d]) >= tile->count[d]; d++)
        walk->index[d] = 0;
    walk->shared += pitch_of(tile);
    walk->at += walk->row_bytes;
    walk->byte = 0;
    place_row(walk);
    return true;
}

bool trace_tile_next(TileWalk *walk, TilePiece *piece) {
    uint32_t byte = walk->byte, end = walk->row_bytes;
    if (byte == end) {
        if (!next_row(walk)) return false;
        byte = 0;
    }
    if (walk->tile->swizzle && byte / TILE_CHUNK * TILE_CHUNK + TILE_CHUNK < end)
        end = byte / TILE_CHUNK * TILE_CHUNK + TILE_CHUNK;
    piece->is_inside = byte >= walk->low && byte < walk->high;
    if (byte < walk->low && walk->low < end) end = walk->low;
    if (byte < walk->high && walk->high < end) end = walk->high;
    piece->shared = trace_tile_swizzled(walk->tile->swizzle, walk->shared + byte);
    piece->global = piece->is_inside ? walk->global + (byte - walk->low) : 0;
    piece->at = walk->at + byte;
    piece->bytes = end - byte;
    walk->byte = end;
    return true;
}
