/* Shadow memory in pages, made when they are first touched (places.h). */
#include "metrics/places.h"

#include "base/memory.h"
#include <stdlib.h>

static bool take_room(Places *places, uint64_t bytes) {
    if (*places->room < bytes) return false;
    *places->room -= bytes;
    return true;
}

static void grow(Places *places, uint64_t pages) {
    uint64_t count = places->page_count * 2 > pages ? places->page_count * 2 : pages;
    places->pages = memory_resize(places->pages, count * sizeof *places->pages);
    memset(places->pages + places->page_count, 0, (count - places->page_count) * sizeof *places->pages);
    places->page_count = count;
}

static bool widen(Places *places, PlacesPage *page) {
    if (!take_room(places, PLACES_PAGE * sizeof *page->cells)) return false;
    page->cells = memory_new(PLACES_PAGE * sizeof *page->cells);
    for (int i = 0; page->read && i < PLACES_PAGE; i++) page->cells[i].reads[0] = page->read[i];
    free(page->read);
    page->read = NULL;
    return true;
}

PlacesPage *places_page(Places *places, uint64_t cell, bool read_only) {
    uint64_t index = cell / PLACES_PAGE;
    if (index >= places->page_count) grow(places, index + 1);
    PlacesPage *page = &places->pages[index];
    if (page->cells) return page;
    if (!read_only) return widen(places, page) ? page : NULL;
    if (!page->read) {
        if (!take_room(places, PLACES_PAGE * sizeof *page->read)) return NULL;
        page->read = memory_new(PLACES_PAGE * sizeof *page->read);
    }
    return page;
}

void places_done(Places *places) {
    for (uint64_t i = 0; i < places->page_count; i++) {
        free(places->pages[i].read);
        free(places->pages[i].cells);
    }
    free(places->pages);
    *places = (Places){.room = places->room};
}
