/* Places: for each piece of memory that threads share, who accessed it last. Private to src/metrics.
 *
 * A piece (a *cell*) is as large as the smallest access of the program, so that no access covers a part of
 * one. Memory that is only read, each cell by one thread, takes a third of the room. */
#ifndef METRICS_PLACES_H
#define METRICS_PLACES_H

#include "metrics/order.h"

enum { CELL_READS = 3, PLACES_PAGE = 256 /* cells */ };

typedef struct Cell {
    Slot write;
    Slot reads[CELL_READS]; /* since the start: of a warp and instruction each, other warps kept first */
} Cell;

typedef struct PlacesPage {
    Slot *read; /* [PLACES_PAGE]: nobody wrote here; else NULL */
    Cell *cells;
} PlacesPage;

typedef struct Places { /* of a buffer, or of a block's shared memory */
    PlacesPage *pages;
    uint64_t page_count;
    uint64_t *room; /* bytes that may still be allocated, shared by all places of a watch */
} Places;

/* The page of a cell, for reading only or for anything; NULL: there is no room left. */
PlacesPage *places_page(Places *places, uint64_t cell, bool read_only);
void places_done(Places *places);

#endif
