#include "metrics/races/shadow_memory.h"

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

static bool widen(ShadowMemory *memory, ShadowPage *page) {
    if (!take_bytes(memory, SHADOW_PAGE_CELLS * sizeof *page->cells)) return false;
    page->cells = memory_new(SHADOW_PAGE_CELLS * sizeof *page->cells);
    for (int i = 0; page->read && i < SHADOW_PAGE_CELLS; i++) page->cells[i].reads[0] = page->read[i];
    free(page->read);
    page->read = NULL;
    return true;
}

ShadowPage *shadow_memory_page(ShadowMemory *memory, uint64_t cell, bool read_only) {
    uint64_t index = cell / SHADOW_PAGE_CELLS;
    if (index >= memory->page_count) grow(memory, index + 1);
    ShadowPage *page = &memory->pages[index];
    if (page->cells) return page;
    if (!read_only) return widen(memory, page) ? page : NULL;
    if (!page->read) {
        if (!take_bytes(memory, SHADOW_PAGE_CELLS * sizeof *page->read)) return NULL;
        page->read = memory_new(SHADOW_PAGE_CELLS * sizeof *page->read);
    }
    return page;
}

void shadow_memory_done(ShadowMemory *memory) {
    for (uint64_t i = 0; i < memory->page_count; i++) {
        free(memory->pages[i].read);
        free(memory->pages[i].cells);
    }
    free(memory->pages);
    *memory = (ShadowMemory){.bytes_left = memory->bytes_left};
}
