/* Shadow memory in pages, made when they are first touched (places.h). */
#include "metrics/races/shadow_memory.h"

#include "base/memory.h"
#include <stdlib.h>

static bool take_room(ShadowMemory *places, uint64_t bytes) {
    if (*places->room < bytes) return false;
    *places->room -= bytes;
    return true;
}

static void grow(ShadowMemory *places, uint64_t pages) {
    uint64_t count = places->page_count * 2 > pages ? places->page_count * 2 : pages;
    places->pages = memory_resize(places->pages, count * sizeof *places->pages);
    memset(places->pages + places->page_count, 0, (count - places->page_count) * sizeof *places->pages);
    places->page_count = count;
}

static bool widen(ShadowMemory *places, ShadowPage *page) {
    if (!take_room(places, SHADOW_PAGE_CELLS * sizeof *page->cells)) return false;
    page->cells = memory_new(SHADOW_PAGE_CELLS * sizeof *page->cells);
    for (int i = 0; page->read && i < SHADOW_PAGE_CELLS; i++) page->cells[i].reads[0] = page->read[i];
    free(page->read);
    page->read = NULL;
    return true;
}

ShadowPage *shadow_memory_page(ShadowMemory *places, uint64_t cell, bool read_only) {
    uint64_t index = cell / SHADOW_PAGE_CELLS;
    if (index >= places->page_count) grow(places, index + 1);
    ShadowPage *page = &places->pages[index];
    if (page->cells) return page;
    if (!read_only) return widen(places, page) ? page : NULL;
    if (!page->read) {
        if (!take_room(places, SHADOW_PAGE_CELLS * sizeof *page->read)) return NULL;
        page->read = memory_new(SHADOW_PAGE_CELLS * sizeof *page->read);
    }
    return page;
}

void shadow_memory_done(ShadowMemory *places) {
    for (uint64_t i = 0; i < places->page_count; i++) {
        free(places->pages[i].read);
        free(places->pages[i].cells);
    }
    free(places->pages);
    *places = (ShadowMemory){.room = places->room};
}
