/* The pieces of a tile, and its form in events (tile.h). */
#include "trace/tile.h"

enum { INDEX_BITS = 9, VALUES = 7 };

static void place_dimension(const TensorMap *map, int d, int64_t at, bool is_load, TraceTile *tile,
                            uint64_t *global) {
    bool exists = d < (int)map->rank;
    int64_t step = exists && d ? map->step[d] : 1, count = exists ? (map->box[d] + step - 1) / step : 1;
    int64_t size = exists ? (int64_t)map->size[d] : 1, bytes = tile->element_bytes;
    if (!d && !is_load) size = (size * bytes + TILE_CHUNK - 1) / TILE_CHUNK * TILE_CHUNK / bytes;
    int64_t first = at < 0 ? (-at + step - 1) / step : 0,
            last = size <= at ? 0 : (size - at + step - 1) / step;
    tile->count[d] = (uint32_t)count;
    tile->first[d] = (uint32_t)(first < count ? first : count);
    tile->last[d] = (uint32_t)(last < count ? last : count);
    uint64_t stride = d ? exists ? map->stride[d - 1] : 0 : (uint64_t)bytes;
    tile->stride[d] = stride * (uint64_t)step;
    *global += (uint64_t)at * stride + tile->first[d] * tile->stride[d];
}

TraceTile trace_tile_of(const TensorMap *map, const int32_t *at, bool is_load, uint64_t *global) {
    TraceTile tile = {.element_bytes = (uint32_t)tensor_type_bytes(map->type), .swizzle = map->swizzle};
    *global = map->address;
    for (int d = 0; d < TILE_RANK; d++)
        place_dimension(map, d, d < (int)map->rank ? at[d] : 0, is_load, &tile, global);
    return tile;
}

static uint32_t row_bytes_of(const TraceTile *tile) {
    return tile->count[0] * tile->element_bytes;
}

static uint32_t row_count(const TraceTile *tile) {
    return tile->count[1] * tile->count[2] * tile->count[3] * tile->count[4];
}

static uint32_t pitch_of(const TraceTile *tile) {
    return tile->swizzle ? 16u << tile->swizzle : row_bytes_of(tile);
}

uint32_t trace_tile_bytes(const TraceTile *tile) {
    return row_count(tile) * row_bytes_of(tile);
}

uint32_t trace_tile_span(const TraceTile *tile) {
    return row_count(tile) * pitch_of(tile);
}

bool trace_tile_is_outside(const TraceTile *tile) {
    for (int d = 0; d < TILE_RANK; d++)
        if (tile->first[d] >= tile->last[d]) return true;
    return false;
}

/* ---- in events --------------------------------------------------------------------------------------- */

static uint64_t pack(const uint32_t *numbers) {
    uint64_t word = 0;
    for (int d = 0; d < TILE_RANK; d++) word |= (uint64_t)numbers[d] << d * INDEX_BITS;
    return word;
}

static void unpack(uint64_t word, uint32_t *numbers) {
    for (int d = 0; d < TILE_RANK; d++)
        numbers[d] = (uint32_t)(word >> d * INDEX_BITS) & ((1u << INDEX_BITS) - 1);
}

void trace_tile_write(const TraceTile *tile, TraceEvent *event, int lane) {
    enum { MODES = TILE_RANK * INDEX_BITS };
    event->element_bytes = 8;
    event->element_count = TRACE_MAX_ELEMENTS;
    event->width = (int)tile->element_bytes;
    event->value[0][lane] =
        pack(tile->count) | (uint64_t)tile->element_bytes << MODES | (uint64_t)tile->swizzle << (MODES + 4);
    event->value[1][lane] = pack(tile->first);
    event->value[2][lane] = pack(tile->last);
    for (int d = 1; d < TILE_RANK; d++) event->value[2 + d][lane] = tile->stride[d];
}

bool trace_tile_read(const TraceEvent *event, int lane, TraceTile *tile) {
    enum { MODES = TILE_RANK * INDEX_BITS };
    uint64_t modes = event->value[0][lane] >> MODES;
    if (event->element_count != TRACE_MAX_ELEMENTS || !modes) return false;
    tile->element_bytes = (uint32_t)(modes & 15);
    tile->swizzle = (uint32_t)(modes >> 4 & 3);
    unpack(event->value[0][lane], tile->count);
    unpack(event->value[1][lane], tile->first);
    unpack(event->value[2][lane], tile->last);
    tile->stride[0] = tile->element_bytes;
    for (int d = 1; d < TILE_RANK; d++) tile->stride[d] = event->value[2 + d][lane];
    bool good = row_bytes_of(tile) > 0;
    for (int d = 0; d < TILE_RANK; d++) good &= tile->count[d] <= 256 && tile->last[d] <= tile->count[d];
    return good;
}

/* ---- pieces ------------------------------------------------------------------------------------------ */

/* The inside bytes [low, high) of the row, and where they lie. */
static void place_row(TileWalk *walk) {
    const TraceTile *tile = walk->tile;
    walk->low = walk->high = walk->row_bytes;
    walk->global = 0;
    for (int d = 1; d < TILE_RANK; d++) {
        if (walk->index[d] < tile->first[d] || walk->index[d] >= tile->last[d]) return;
        walk->global += (walk->index[d] - tile->first[d]) * tile->stride[d];
    }
    if (tile->first[0] >= tile->last[0]) return;
    walk->low = tile->first[0] * tile->element_bytes;
    walk->high = tile->last[0] * tile->element_bytes;
}

TileWalk trace_tile_walk(const TraceTile *tile, uint64_t shared) {
    TileWalk walk = {.tile = tile, .shared = shared, .row_bytes = row_bytes_of(tile)};
    place_row(&walk);
    return walk;
}

static bool next_row(TileWalk *walk) {
    const TraceTile *tile = walk->tile;
    int d = 1;
    while (d < TILE_RANK && ++walk->index[d] == tile->count[d]) walk->index[d++] = 0;
    if (d == TILE_RANK) return false;
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
