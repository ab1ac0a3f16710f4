#include "findings/races/shadow_memory.h"

#include "base/memory.h"
#include <stdlib.h>

static bool take_bytes(ShadowMemory *memory, uint64_t bytes) {
    if (*memory->bytes_left < bytes) return false;
    *memory->bytes_left -= bytes;
    return true;
}

static void grow(ShadowMemory *memory, uint64_t pages) {
    uint64_t count = memory->page_count * 2 > pages ? memory->page_count * 2 : pages;
    memory->pages = memory_resize(memory->pages, count * sizeof *memory->pages);
    memset(memory->pages + memory->page_count, 0, (count - memory->page_count) * sizeof *memory->pages);
    memory->page_count = count;
}

ShadowChunk *shadow_memory_chunk(ShadowMemory *memory, uint64_t chunk) {
    uint64_t index = chunk / SHADOW_PAGE_CHUNKS;
    if (index >= memory->page_count) grow(memory, index + 1);
    if (!memory->pages[index]) {
        if (!take_bytes(memory, SHADOW_PAGE_CHUNKS * sizeof **memory->pages)) return NULL;
        memory->pages[index] = memory_new(SHADOW_PAGE_CHUNKS * sizeof **memory->pages);
    }
    return &memory->pages[index][chunk % SHADOW_PAGE_CHUNKS];
}

/* Makes room for `capacity` accesses and moves the present ones. */
static bool make_room(ShadowMemory *memory, ShadowChunk *chunk, int capacity) {
    int count;
    const ChunkAccess *list = shadow_chunk_list(chunk, &count);
    int old = chunk->more ? chunk->more->capacity : 0;
    if (!take_bytes(memory, sizeof *chunk->more + (size_t)(capacity - old) * sizeof *list)) return false;
    ChunkMore *more = memory_new(sizeof *more + (size_t)capacity * sizeof *list);
    memcpy(more->list, list, (size_t)count * sizeof *list);
    more->count = count;
    more->capacity = capacity;
    free(chunk->more);
    chunk->more = more;
    return true;
}

bool shadow_memory_add(ShadowMemory *memory, ShadowChunk *chunk, const ChunkAccess *access) {
    if (!chunk->more && !chunk->only.cells) {
        chunk->only = *access;
        return true;
    }
    if (!chunk->more && !make_room(memory, chunk, 4)) return false;
    if (chunk->more->count == chunk->more->capacity && !make_room(memory, chunk, 2 * chunk->more->capacity))
        return false;
    chunk->more->list[chunk->more->count++] = *access;
    return true;
}

/* ---- cell by cell ---- */

static WarpAccess of_cell(const ChunkAccess *access, int cell) {
    return (WarpAccess){access->block, access->stamp, chunk_access_lanes(access, cell), access->origin};
}

/* The slot for a read that is not ordered after those kept: as record_for_read() of cell_touch.c chooses
 * it. */
static WarpAccess *place_of_read(ShadowCell *cell, const WarpAccess *read) {
    WarpAccess *own = NULL;
    for (int i = 0; i < CELL_READS; i++) {
        WarpAccess *record = &cell->reads[i];
        if (!record->mask) return record;
        if (record->block == read->block && warp_access_warp(record) == warp_access_warp(read)) own = record;
    }
    WarpAccess *last = own ? own : &cell->reads[CELL_READS - 1];
    if (!own || own->mask & ~read->mask) shadow_cell_lose(cell, last);
    return last;
}

static void replay(const ChunkAccess *access, ChunkMore *more) {
    ShadowCell *cells = more->cells;
    for (uint32_t rest = access->cells; rest; rest &= rest - 1) {
        int i = __builtin_ctz(rest);
        WarpAccess one = of_cell(access, i);
        if (access->writes) {
            for (int r = 0; r < CELL_READS && !access->arrives; r++) cells[i].reads[r].origin |= BEFORE_WRITE;
            cells[i].write = one;
            cells[i].written = ++more->tick;
        } else {
            if (access->is_cached) shadow_cell_keep_cached(more, &cells[i], one.block, one.block);
            *place_of_read(&cells[i], &one) = one;
        }
    }
}

ChunkMore *shadow_memory_cells(ShadowMemory *memory, ShadowChunk *chunk) {
    if (!chunk->more && !make_room(memory, chunk, 1)) return NULL;
    ChunkMore *more = chunk->more;
    if (more->cells) return more;
    if (!take_bytes(memory, CHUNK_CELLS * sizeof *more->cells)) return NULL;
    more->cells = memory_new(CHUNK_CELLS * sizeof *more->cells);
    for (int i = 0; i < more->count; i++) {
        replay(&more->list[i], more);
        if (more->list[i].stamp > more->last) more->last = more->list[i].stamp;
    }
    more->count = 0;
    return more;
}

void shadow_memory_forget_cells(ShadowMemory *memory, ShadowChunk *chunk) {
    free(chunk->more->cells);
    chunk->more->cells = NULL;
    chunk->more->count = 0;
    *memory->bytes_left += CHUNK_CELLS * sizeof(ShadowCell);
}

static void free_chunk(ShadowChunk *chunk) {
    if (chunk->more) free(chunk->more->cells);
    free(chunk->more);
}

void shadow_memory_done(ShadowMemory *memory) {
    for (uint64_t p = 0; p < memory->page_count; p++) {
        for (int c = 0; memory->pages[p] && c < SHADOW_PAGE_CHUNKS; c++) free_chunk(&memory->pages[p][c]);
        free(memory->pages[p]);
    }
    free(memory->pages);
    *memory = (ShadowMemory){.bytes_left = memory->bytes_left};
}
