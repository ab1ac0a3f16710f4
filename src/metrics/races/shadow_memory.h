/* Places: for each piece of memory that threads share, who accessed it last. Private to src/metrics.
 *
 * A piece (a *cell*) is as large as the smallest access of the program, so that no access covers a part of
 * one. Memory that is only read, each cell by one thread, takes a third of the room. */
#ifndef METRICS_RACES_SHADOW_MEMORY_H
#define METRICS_RACES_SHADOW_MEMORY_H

#include "metrics/races/happens_before.h"

enum { CELL_READS = 3, SHADOW_PAGE_CELLS = 256 /* cells */ };

typedef struct ShadowCell {
    WarpStamp write;
    WarpStamp reads[CELL_READS]; /* since the start: of a warp and instruction each, other warps kept first */
} ShadowCell;

typedef struct ShadowPage {
    WarpStamp *read; /* [SHADOW_PAGE_CELLS]: nobody wrote here; else NULL */
    ShadowCell *cells;
} ShadowPage;

typedef struct ShadowMemory { /* of a buffer, or of a block's shared memory */
    ShadowPage *pages;
    uint64_t page_count;
    uint64_t *room; /* bytes that may still be allocated, shared by all places of a watch */
} ShadowMemory;

/* The page of a cell, for reading only or for anything; NULL: there is no room left. */
ShadowPage *shadow_memory_page(ShadowMemory *places, uint64_t cell, bool read_only);
void shadow_memory_done(ShadowMemory *places);

#endif
