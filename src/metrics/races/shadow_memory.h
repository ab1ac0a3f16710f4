/* Shadow memory: the last accesses to each piece of memory that threads share. Private to src/metrics.
 *
 * A piece (a *cell*) is as large as the smallest access of the program, so that every access covers whole
 * cells. Pages are allocated when they are first accessed. Memory that is only read, each cell by one
 * thread, takes a quarter of the space. */
#ifndef METRICS_RACES_SHADOW_MEMORY_H
#define METRICS_RACES_SHADOW_MEMORY_H

#include "metrics/races/happens_before.h"

enum { CELL_READS = 3, SHADOW_PAGE_CELLS = 256 };

typedef struct ShadowCell {
    WarpAccess write;             /* the last */
    WarpAccess reads[CELL_READS]; /* each of one warp and instruction; of other warps preferably */
} ShadowCell;

typedef struct ShadowPage { /* one of both is NULL, or both */
    WarpAccess *read;       /* [SHADOW_PAGE_CELLS]: only read so far, each cell by one thread */
    ShadowCell *cells;      /* [SHADOW_PAGE_CELLS] */
} ShadowPage;

typedef struct ShadowMemory { /* of a buffer, or of a block's shared memory */
    ShadowPage *pages;
    uint64_t page_count;
    uint64_t *bytes_left; /* to be allocated, by all shadow memories of a detector together */
} ShadowMemory;

/* The page of a cell, for one reader or for any access; NULL: the limit of memory is reached. */
ShadowPage *shadow_memory_page(ShadowMemory *memory, uint64_t cell, bool read_only);
void shadow_memory_done(ShadowMemory *memory);

#endif
