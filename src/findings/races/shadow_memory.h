/* Shadow memory: the last accesses to each cell of shared or global memory. Private to src/findings.
 *
 * A *cell* is as large as the smallest access of the program, so that every access covers whole cells. 32
 * cells are a *chunk*. Nearly always the lanes of a warp access a chunk side by side, and no two unordered
 * accesses meet. Then a list of these accesses is enough, one line each (chunk_journal.h). Any other chunk
 * keeps the accesses of each cell; the list gives their order. */
#ifndef FINDINGS_RACES_SHADOW_MEMORY_H
#define FINDINGS_RACES_SHADOW_MEMORY_H

#include "findings/races/happens_before.h"

enum { CELL_READS = 8, CHUNK_CELLS = 32, SHADOW_PAGE_CHUNKS = 64 };

typedef struct LostReads { /* reads that did not fit in a cell */
    WarpAccess last;       /* block 0: none */
    bool of_more_blocks, of_more_instructions;
    /* The cell has been written since by a thread that they may not be ordered before. 1 for a buffer, the
     * number of the owning block for shared memory; else 0. */
    uint32_t counted_for;
} LostReads;

typedef struct CachedLoad { /* a block's first load of a cell by way of L1 */
    uint32_t block, tick;   /* block 0: none */
} CachedLoad;

enum { CELL_CACHED = 2 };

typedef struct ShadowCell {
    WarpAccess write;             /* the last write */
    WarpAccess reads[CELL_READS]; /* each of one warp and instruction, preferably of different warps */
    LostReads lost;
    uint32_t written;               /* tick of the last write; 0: none */
    CachedLoad cached[CELL_CACHED]; /* the first ones of a launch, by different blocks */
} ShadowCell;

/* The read gives up its slot to another one. */
static inline void shadow_cell_lose(ShadowCell *cell, const WarpAccess *read) {
    LostReads *lost = &cell->lost;
    if (lost->last.block) {
        lost->of_more_blocks |= lost->last.block != read->block;
        lost->of_more_instructions |= warp_access_pc(&lost->last) != warp_access_pc(read);
    }
    lost->last = *read;
}

/* Cells of a chunk that lanes of a warp accessed in one instruction, at one stamp. */
typedef struct ChunkAccess {
    uint32_t block, stamp;
    uint32_t origin; /* warp_access_origin() */
    uint32_t cells;  /* a bit for each cell accessed; 0: no access */
    /* Cell i was accessed by lane (i + shift) / step. Step 0: every cell by all of `lanes`. */
    uint32_t lanes;
    int16_t shift;
    uint8_t step;
    bool writes, arrives; /* arrives: the write of a copy, compared when it was issued */
    bool is_cached;       /* a load by way of L1 */
} ChunkAccess;

/* The lanes that accessed a cell of `access->cells`. */
static inline uint32_t chunk_access_lanes(const ChunkAccess *access, int cell) {
    return access->step ? UINT32_C(1) << (cell + access->shift) / access->step : access->lanes;
}

typedef struct ChunkMore { /* more than one access */
    ShadowCell *cells;     /* [CHUNK_CELLS]; NULL: use the list */
    uint32_t last;         /* stamp of the last access of the cells */
    uint32_t tick;         /* orders the writes and the cached loads of the cells */
    int count, capacity;
    ChunkAccess list[]; /* in order of time */
} ChunkMore;

typedef struct ShadowChunk {
    ChunkAccess only; /* while `more` is NULL */
    ChunkMore *more;
} ShadowChunk;

typedef struct ShadowMemory { /* of a buffer, or of a block's shared memory */
    ShadowChunk **pages;      /* [page][SHADOW_PAGE_CHUNKS]; NULL: not accessed */
    uint64_t page_count;
    uint64_t *bytes_left; /* to be allocated; shared by all shadow memories of a detector */
} ShadowMemory;

/* Blocks before `first` are of another launch, between which L1 is emptied. */
static inline void shadow_cell_keep_cached(ChunkMore *more, ShadowCell *cell, uint32_t block,
                                           uint32_t first) {
    for (int i = 0; i < CELL_CACHED; i++) {
        CachedLoad *load = &cell->cached[i];
        if (load->block == block) return;
        if (load->block && load->block >= first) continue;
        *load = (CachedLoad){block, ++more->tick};
        return;
    }
}

/* NULL: the limit of memory is reached. */
ShadowChunk *shadow_memory_chunk(ShadowMemory *memory, uint64_t chunk);
/* The cells of the chunk, one by one; NULL: as above. */
ChunkMore *shadow_memory_cells(ShadowMemory *memory, ShadowChunk *chunk);
/* False: as above. */
bool shadow_memory_add(ShadowMemory *memory, ShadowChunk *chunk, const ChunkAccess *access);
void shadow_memory_forget_cells(ShadowMemory *memory, ShadowChunk *chunk);
void shadow_memory_done(ShadowMemory *memory);

static inline ChunkAccess *shadow_chunk_list(ShadowChunk *chunk, int *count) {
    if (chunk->more) {
        *count = chunk->more->count;
        return chunk->more->list;
    }
    *count = chunk->only.cells != 0;
    return &chunk->only;
}

#endif
