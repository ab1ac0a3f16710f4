#include "emulator/machine/saved_pages.h"

#include <sched.h>
#include <stdlib.h>

enum { PAGE_BYTES = 4096 };

struct SavedPages {
    const Memory *memory;
    uint64_t *first; /* [region] its first page */
    uint8_t **pages; /* NULL: not written; `being_saved`; or the old contents */
    uint64_t count;
};

static uint8_t being_saved;

static uint64_t page_count(const Region *region) {
    return (region->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

static uint64_t page_bytes(const Region *region, uint64_t page) {
    uint64_t left = region->bytes - page * PAGE_BYTES;
    return left < PAGE_BYTES ? left : PAGE_BYTES;
}

SavedPages *saved_pages_new(const Memory *memory) {
    SavedPages *saved = memory_new(sizeof *saved);
    saved->memory = memory;
    saved->first = memory_new(((size_t)memory->count + 1) * sizeof *saved->first);
    for (int i = 0; i < memory->count; i++) {
        saved->first[i] = saved->count;
        saved->count += page_count(&memory->regions[i]);
    }
    saved->pages = memory_new((size_t)(saved->count + 1) * sizeof *saved->pages);
    return saved;
}

void saved_pages_free(SavedPages *saved) {
    for (uint64_t i = 0; i < saved->count; i++) free(saved->pages[i]);
    free(saved->pages);
    free(saved->first);
    free(saved);
}

static void save(uint8_t **at, const Region *region, uint64_t page) {
    uint8_t *none = NULL, *copy = memory_new(PAGE_BYTES);
    if (!__atomic_compare_exchange_n(at, &none, &being_saved, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        free(copy);
        while (__atomic_load_n(at, __ATOMIC_ACQUIRE) == &being_saved) sched_yield();
        return;
    }
    memcpy(copy, region->host + page * PAGE_BYTES, page_bytes(region, page));
    __atomic_store_n(at, copy, __ATOMIC_RELEASE);
}

void saved_pages_keep(SavedPages *saved, const Region *region, uint64_t offset, uint64_t bytes) {
    uint8_t **pages = saved->pages + saved->first[region - saved->memory->regions];
    for (uint64_t page = offset / PAGE_BYTES; page <= (offset + bytes - 1) / PAGE_BYTES; page++) {
        const uint8_t *old = __atomic_load_n(&pages[page], __ATOMIC_ACQUIRE);
        if (!old || old == &being_saved) save(&pages[page], region, page);
    }
}

const uint8_t *saved_page(const SavedPages *saved, int region, uint64_t page) {
    return saved->pages[saved->first[region] + page];
}

void saved_pages_restore(const SavedPages *saved) {
    for (int i = 0; i < saved->memory->count; i++) {
        const Region *region = &saved->memory->regions[i];
        uint8_t *const *pages = saved->pages + saved->first[i];
        for (uint64_t page = 0; page < page_count(region); page++)
            if (pages[page]) memcpy(region->host + page * PAGE_BYTES, pages[page], page_bytes(region, page));
    }
}
