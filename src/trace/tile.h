/* Tile: what one tensor copy moves between global and shared memory. The values of both of its events hold it
 * ("Tensors" in the PTX ISA).
 *
 * A *row* is what lies behind one another in global memory: the innermost dimension of the box. Rows lie in
 * shared memory one behind another, at a distance of a whole swizzle span; within it, chunks of 16 bytes
 * change places by the address: a XOR (a >> 3 & span - 16), a from the start of the block's window (measured
 * byte by byte on an H200: 576 loads, 228 stores, driver 580.159.04). */
#ifndef TRACE_TILE_H
#define TRACE_TILE_H

#include "base/tensor_map.h"
#include "trace/trace.h"

enum { TILE_RANK = 5, TILE_CHUNK = 16 };

typedef struct TraceTile {
    uint32_t element_bytes;    /* 1, 2, 4, 8 */
    uint32_t swizzle;          /* 0: none; 1, 2, 3: spans of 32, 64, 128 bytes */
    uint32_t count[TILE_RANK]; /* elements by dimension, the innermost first; 1 beyond the rank */
    /* Indices first <= i < last lie inside of the tensor; `last` may be 0: none do. */
    uint32_t first[TILE_RANK], last[TILE_RANK];
    uint64_t stride[TILE_RANK]; /* bytes in global memory from one index to the next */
} TraceTile;

/* The tile of the box at `at[map->rank]`. *global: the address of its first byte inside of the tensor. A
 * store clips the innermost dimension at 16 bytes, and so overwrites what follows a row; the element stride
 * of that dimension has no effect (both measured on an H200). */
TraceTile trace_tile_of(const TensorMap *map, const int32_t *at, bool is_load, uint64_t *global);
uint32_t trace_tile_bytes(const TraceTile *tile); /* of all elements, also those outside */
/* From the first byte in shared memory to the last one, the gaps between short rows included. */
uint32_t trace_tile_span(const TraceTile *tile);
bool trace_tile_is_outside(const TraceTile *tile); /* no element is inside */

static inline uint64_t trace_tile_swizzled(uint32_t swizzle, uint64_t address) {
    uint64_t span = swizzle ? UINT64_C(16) << swizzle : TILE_CHUNK;
    return address ^ (address >> 3 & (span - TILE_CHUNK));
}

/* The values of an event of a tensor copy. */
void trace_tile_write(const TraceTile *tile, TraceEvent *event, int lane);
/* False: the event is not of a tensor copy, or damaged. */
bool trace_tile_read(const TraceEvent *event, int lane, TraceTile *tile);

/* A part of a tile that lies together in both memories. */
typedef struct TilePiece {
    uint64_t shared; /* address in the window */
    uint64_t global; /* bytes behind the first byte inside of the tensor */
    uint32_t at;     /* bytes of the tile before it, row by row */
    uint32_t bytes;
    bool is_inside; /* else `global` is 0 */
} TilePiece;

typedef struct TileWalk { /* over the pieces, row by row */
    const TraceTile *tile;
    uint64_t shared; /* of the row, before the swizzle */
    uint64_t global; /* of the row's first inside byte */
    uint32_t index[TILE_RANK], row_bytes, at, byte, low, high;
} TileWalk;

/* `shared`: the address of the tile in the window. */
TileWalk trace_tile_walk(const TraceTile *tile, uint64_t shared);
bool trace_tile_next(TileWalk *walk, TilePiece *piece); /* false: no more */

#endif
