/* Tile: what one tensor copy moves between global and shared memory. The values of both of its events hold it
 * ("Tensors" in the PTX ISA).
 *
 * A *row* is what lies behind one another in global memory: the innermost dimension of the box, or the
 * channels of a pixel. Rows lie in shared memory one behind another, at a distance of a whole swizzle span;
 * within it, chunks of 16 bytes change places by the address: a XOR (a >> 3 & span - 16), a from the start of
 * the block's window (measured byte by byte on an H200: 576 loads, 228 stores, driver 580.159.04).
 *
 * In im2col mode, the rows are pixels. They start at a base pixel and advance in W, at the end of the
 * bounding box in H, then D, then to the next image; the offsets of the instruction move all of them
 * ("Tensors: Im2col mode"). */
#ifndef TRACE_TILE_H
#define TRACE_TILE_H

#include "base/tensor_map.h"
#include "trace/trace.h"

enum { TILE_RANK = 5, TILE_CHUNK = 16 };

typedef enum TileShape {
    TILE_BOX,    /* .tile: a box of the tensor */
    TILE_PIXELS, /* .im2col: pixels of one image or several */
    TILE_ROWS    /* .tile::gather4 and .tile::scatter4: four rows anywhere in a matrix */
} TileShape;

typedef struct TraceTile {
    TileShape shape;
    uint32_t element_bytes; /* 1, 2, 4, 8 */
    uint32_t swizzle;       /* 0: none; 1, 2, 3: spans of 32, 64, 128 bytes */
    uint32_t rows;          /* rows, pixels */
    /* Elements by dimension, the innermost first; 1 beyond the rank. PIXELS: dimension 0 are the channels, 1
     * to 3 the sides of the bounding box (W, H, D), 4 the images, as many as there may be. */
    uint32_t count[TILE_RANK];
    /* PIXELS: the index of the first row, and what its index advances by; a side that begins again does so at
     * index 0, wherever the copy began (measured on an H200). Other shapes: 0 and 1. */
    uint32_t start[TILE_RANK], step[TILE_RANK];
    /* Indices first <= i < last lie inside of the tensor; `last` may be 0: none do. */
    uint32_t first[TILE_RANK], last[TILE_RANK];
    /* Bytes in global memory from one index to the next. ROWS: stride[1 + i] are those from the lowest row
     * inside of the tensor to row i; TILE_NO_ROW: it lies outside. */
    uint64_t stride[TILE_RANK];
    /* Of what is inside, from the first byte to the last one; 0: nothing is. */
    uint64_t reach;
    uint64_t lead; /* PIXELS: bytes from the indices first[] to the first byte of a pixel */
} TraceTile;

#define TILE_NO_ROW UINT64_MAX

/* Of a tensor copy. */
TileShape trace_tile_shape(const PtxInstruction *instruction);

typedef struct TileRequest { /* what an instruction says of its tile */
    TileShape shape;
    bool is_load;
    int32_t at[TENSOR_RANK_MOST]; /* coordinates; ROWS: the column, then the four rows */
    /* PIXELS: W, H, D. The hardware keeps them in 16, 2 x 8 or 3 x 5 bits (measured on an H200). */
    uint16_t offset[TENSOR_SIDES_MOST];
} TileRequest;

/* The sides of a bounding box have fewer base pixels, so that the values of an event hold them. */
enum { TILE_SIDE_LIMIT = 1 << 16 };

/* PIXELS: the base pixel lies in the bounding box, as the hardware demands. Measured on an H200, 2026-11-30,
 * as are the walk over the pixels, fills and faults: tests/device/im2col.cu. */
bool trace_tile_begins_in_box(const TensorMap *map, const TileRequest *request);
/* The tile of a request, whose map fits its shape. *global: the address of its first byte inside of the
 * tensor. A store clips the innermost dimension at 16 bytes, and so overwrites what follows a row; the
 * element stride of that dimension has no effect (both measured on an H200). */
TraceTile trace_tile_of(const TensorMap *map, const TileRequest *request, uint64_t *global);
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
    uint32_t row, index[TILE_RANK], row_bytes, at, byte, low, high;
} TileWalk;

/* `shared`: the address of the tile in the window. */
TileWalk trace_tile_walk(const TraceTile *tile, uint64_t shared);
bool trace_tile_next(TileWalk *walk, TilePiece *piece); /* false: no more */

#endif
