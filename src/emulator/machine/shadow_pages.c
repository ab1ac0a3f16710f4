/* Pages of numbers, by host address (shadow.h). */
#include "emulator/machine/shadow.h"

#include <stdlib.h>

enum {
    PAGE_BYTES = 512,
    WIDTHS = 3, /* of 2, 4 and 8 bytes */
    AREA_BYTES = 1 << 14,
    AREAS = 1 << 16
};

typedef struct ShadowPage {
    uint64_t key; /* 0: none */
    ShadowNumber *numbers;
} ShadowPage;

struct ShadowPages {
    ShadowPage *pages; /* a hash table, with open addresses */
    size_t count, capacity;
    const ShadowPage *last[WIDTHS];
    /* a bit for each area, modulo AREAS, that may have numbers: most loads are of inputs, which have none */
    uint64_t areas[AREAS / 64];
    bool keeps[WIDTHS]; /* a number of this width was kept */
    bool is_lost;
};

ShadowPages *shadow_pages_new(void) {
    ShadowPages *memory = memory_new(sizeof *memory);
    memory->capacity = 1024;
    memory->pages = memory_new(memory->capacity * sizeof *memory->pages);
    return memory;
}

void shadow_pages_free(ShadowPages *memory) {
    if (!memory) return;
    for (size_t i = 0; i < memory->capacity; i++) free(memory->pages[i].numbers);
    free(memory->pages);
    free(memory);
}

void shadow_pages_lose(ShadowPages *memory) {
    memory->is_lost = true;
}

bool shadow_pages_is_lost(const ShadowPages *memory) {
    return memory->is_lost;
}

static int width_of(int bytes) {
    return bytes == 2 ? 0 : bytes == 4 ? 1 : 2;
}

static uint64_t key_of(const void *at, int width) {
    return ((uint64_t)(uintptr_t)at / PAGE_BYTES << 2 | (uint64_t)width) + 1;
}

/* The page with the key, or the free place for it. */
static ShadowPage *place_of(const ShadowPages *memory, uint64_t key) {
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (memory->capacity - 1);
    while (memory->pages[at].key && memory->pages[at].key != key) at = (at + 1) & (memory->capacity - 1);
    return &memory->pages[at];
}

static void grow(ShadowPages *memory) {
    ShadowPages old = *memory;
    memory->capacity *= 2;
    memory->pages = memory_new(memory->capacity * sizeof *memory->pages);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.pages[i].key) *place_of(memory, old.pages[i].key) = old.pages[i];
    free(old.pages);
    memset(memory->last, 0, sizeof memory->last);
}

static uint64_t area_of(const void *at) {
    return (uint64_t)(uintptr_t)at / AREA_BYTES % AREAS;
}

bool shadow_pages_may_keep(const ShadowPages *memory, const void *at) {
    return memory->areas[area_of(at) / 64] >> area_of(at) % 64 & 1;
}

static ShadowNumber *number_at(ShadowPages *memory, const void *at, int bytes, bool makes) {
    int width = width_of(bytes);
    uint64_t key = key_of(at, width);
    const ShadowPage *page = memory->last[width];
    if (!page || page->key != key) {
        ShadowPage *found = place_of(memory, key);
        if (!found->key && !makes) return NULL;
        if (!found->key) {
            if (2 * ++memory->count > memory->capacity) {
                grow(memory);
                found = place_of(memory, key);
            }
            *found =
                (ShadowPage){key, memory_new((size_t)PAGE_BYTES / (size_t)bytes * sizeof *found->numbers)};
        }
        memory->last[width] = page = found;
    }
    return &page->numbers[(uintptr_t)at % PAGE_BYTES / (uintptr_t)bytes];
}

bool shadow_pages_keep_width(const ShadowPages *memory, int bytes) {
    return memory->keeps[width_of(bytes)];
}

bool shadow_pages_find(ShadowPages *memory, const void *at, int bytes, uint64_t bits, ShadowNumber *found) {
    const ShadowNumber *number =
        shadow_pages_may_keep(memory, at) ? number_at(memory, at, bytes, false) : NULL;
    if (!number || !number->bytes || number->bits != bits) return false;
    *found = *number;
    return true;
}

void shadow_pages_keep(ShadowPages *memory, const void *at, const ShadowNumber *number) {
    memory->keeps[width_of(number->bytes)] = true;
    memory->areas[area_of(at) / 64] |= UINT64_C(1) << area_of(at) % 64;
    *number_at(memory, at, number->bytes, true) = *number;
}

void shadow_pages_forget(ShadowPages *memory, const uint8_t *at, size_t bytes) {
    if (bytes <= 8 && !shadow_pages_may_keep(memory, at)) return;
    for (int width = 2; width <= 8; width *= 2) {
        if (!memory->keeps[width_of(width)]) continue;
        size_t before = (uintptr_t)at % (uintptr_t)width;
        for (size_t i = 0; i < bytes + before; i += (size_t)width) {
            ShadowNumber *number = shadow_pages_may_keep(memory, at + i - before)
                                       ? number_at(memory, at + i - before, width, false)
                                       : NULL;
            if (number) number->bytes = 0;
        }
    }
}

void shadow_pages_move(ShadowPages *memory, const uint8_t *to, const uint8_t *from, size_t bytes) {
    shadow_pages_forget(memory, to, bytes);
    for (size_t i = 0; i + 2 <= bytes && memory->count; i += 2)
        for (int width = 2; width <= 8 && i + (size_t)width <= bytes; width *= 2) {
            ShadowNumber number;
            if ((uintptr_t)(from + i) % (uintptr_t)width) break;
            if (shadow_pages_find(memory, from + i, width, bytes_read(from + i, width), &number))
                shadow_pages_keep(memory, to + i, &number);
        }
}
