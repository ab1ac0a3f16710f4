/* Shadow memory: the last accesses to each piece of memory that threads share. Private to src/metrics.
 *
 * A piece (a *cell*) is as large as the smallest access of the program, so that every access covers whole cells. 32
 * cells are a *chunk*. Nearly always the lanes of a warp access a chunk side by side, and no two accesses meet that are
 * not ordered: then it is enough to list them, each as one line (chunk_journal.h). Only a chunk where that is not so
 * keeps the accesses of each cell, of which the list says in which order they came. */
#ifndef FINDINGS_RACES_SHADOW_MEMORY_H
#define FINDINGS_RACES_SHADOW_MEMORY_H

#include "findings/races/happens_before.h"

enum { CELL_READS = 8, CHUNK_CELLS = 32, SHADOW_PAGE_CHUNKS = 64 };

typedef struct LostReads { /* for which a cell had no place */
    WarpAccess last;       /* block 0: there are none */
    bool of_more_blocks, of_more_instructions;
    /* The cell has been written since by a thread that they may not be ordered before. Of a buffer 1, of shared memory the
     * block whose it is; else 0. */
    uint32_t counted_for;
} LostReads;

typedef struct ShadowCell {
    WarpAccess write;             /* the last */
    WarpAccess reads[CELL_READS]; /* each of one warp and instruction; of other warps preferably */
    LostReads lost;
} ShadowCell;

/* The read makes place for another one. */
static inline void shadow_cell_lose(ShadowCell *cell, const WarpAccess *read) {
    LostReads *lost = &cell->lost;
    if (lost->last.block) {
        lost->of_more_blocks |= lost->last.block != read->block;
        lost->of_more_instructions |= warp_access_pc(&lost->last) != warp_access_pc(read);
    }
    lost->last = *read;
}

typedef struct
    ChunkAccess { /* cells of a chunk that lanes of a warp accessed in one instruction, at one stamp */
    uint32_t block, stamp;
    uint32_t origin; /* warp_access_origin(), and: */
    uint32_t cells;  /* a bit for each that this is an access of; 0: there is no access */
    /* Cell i was accessed by lane (i + shift) / step. Step 0: every cell by all of `lanes`. */
    uint32_t lanes;
    int16_t shift;
    uint8_t step;
    bool writes;
} ChunkAccess;

typedef struct ChunkMore { /* more than one access */
    ShadowCell *cells;     /* [CHUNK_CELLS]; NULL: the list below */
    uint32_t last;         /* stamp of the last access of the cells */
    int count, capacity;
    ChunkAccess list[]; /* as they came */
} ChunkMore;

typedef struct ShadowChunk {
    ChunkAccess only; /* while `more` is NULL */
    ChunkMore *more;
} ShadowChunk;

typedef struct ShadowMemory { /* of a buffer, or of a block's shared memory */
    ShadowChunk **pages;      /* [page][SHADOW_PAGE_CHUNKS]; NULL: not accessed */
    uint64_t page_count;
    uint64_t *bytes_left; /* to be allocated, by all shadow memories of a detector together */
} ShadowMemory;

/* NULL: the limit of memory is reached. */
ShadowChunk *shadow_memory_chunk(ShadowMemory *memory, uint64_t chunk);
/* The cells of the chunk, one by one; NULL as above. */
ChunkMore *shadow_memory_cells(ShadowMemory *memory, ShadowChunk *chunk);
/* False as above. */
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
