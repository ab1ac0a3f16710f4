/* Global memory: regions in the generic address space (machine_memory.h). */
#include "emulator/machine/machine_memory.h"

#include "base/language.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static void memory_begin(Memory *memory) {
    if (!memory->next_base) memory->next_base = GLOBAL_BASE, memory->heap_region = -1;
}

/* The last region that begins at or before `address`, or -1. */
static int region_before(const Memory *memory, uint64_t address) {
    int low = 0, high = memory->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (memory->regions[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

static void number_words(Memory *memory, int first) {
    memory->next_word = 0;
    if (first) {
        const Region *before = &memory->regions[first - 1];
        memory->next_word = before->first_word + ((before->bytes + 3) / 4 + 63) / 64 * 64;
    }
    for (int i = first; i < memory->count; i++) {
        memory->regions[i].first_word = memory->next_word;
        memory->next_word += ((memory->regions[i].bytes + 3) / 4 + 63) / 64 * 64;
    }
}

/* Keeps the regions ascending. */
static int place_region(Memory *memory, const Region *region) {
    int index = region_before(memory, region->base) + 1;
    array_reserve(memory->regions, memory->count + 1, memory->capacity);
    assert(memory->regions);
    memmove(&memory->regions[index + 1], &memory->regions[index],
            (size_t)(memory->count - index) * sizeof *region);
    memory->regions[index] = *region;
    memory->count++;
    number_words(memory, index);
    if (memory->heap_region >= index) memory->heap_region++;
    return index;
}

bool memory_skip(Memory *memory, uint64_t address) {
    memory_begin(memory);
    if (address < memory->next_base || address % BUFFER_ALIGNMENT) return false;
    memory->next_base = address;
    return true;
}

int memory_add(Memory *memory, const char *name, void *host, uint64_t bytes, PtxType type, bool read_only,
               bool owned) {
    memory_begin(memory);
    uint64_t room = (bytes + BUFFER_GAP + BUFFER_GAP - 1) / BUFFER_GAP * BUFFER_GAP;
    int index = place_region(memory, &(Region){memory->next_base, bytes, host, 0, memory_copy_text(name),
                                               type, read_only, owned, NULL});
    memory->next_base += room > bytes + BUFFER_ALIGNMENT ? room : room + BUFFER_GAP;
    return index;
}

int memory_insert(Memory *memory, const char *name, void *host, uint64_t bytes, PtxType type, bool read_only,
                  uint64_t address) {
    memory_begin(memory);
    int before = region_before(memory, address);
    const Region *below = before >= 0 ? &memory->regions[before] : NULL,
                 *above = before + 1 < memory->count ? &memory->regions[before + 1] : NULL;
    if (address % BUFFER_ALIGNMENT || (below && address - below->base < below->bytes + !below->bytes) ||
        (above && above->base - address < bytes))
        return -1;
    return place_region(
        memory, &(Region){address, bytes, host, 0, memory_copy_text(name), type, read_only, false, NULL});
}

void memory_remove(Memory *memory, int region) {
    Region *removed = &memory->regions[region];
    free((void *)(uintptr_t)removed->name);
    free(removed->written);
    if (removed->owned) free(removed->host);
    memory->count--;
    memmove(removed, removed + 1, (size_t)(memory->count - region) * sizeof *removed);
    number_words(memory, region);
    if (memory->heap_region > region) memory->heap_region--;
}

void memory_mark_unwritten(Memory *memory, int region) {
    Region *marked = &memory->regions[region];
    if (!marked->written)
        marked->written = memory_new((size_t)(marked->bytes / 64 + 1) * sizeof *marked->written);
    memory->has_marks = true;
}

void memory_write(Memory *memory, int region, uint64_t offset, const void *bytes, uint64_t count) {
    Region *to = &memory->regions[region];
    memcpy(to->host + offset, bytes, (size_t)count);
    for (uint64_t i = offset; to->written && i < offset + count; i++)
        to->written[i / 64] |= UINT64_C(1) << i % 64;
}

void memory_done(Memory *memory) {
    for (int i = 0; i < memory->count; i++) {
        free((void *)(uintptr_t)memory->regions[i].name);
        free(memory->regions[i].written);
        if (memory->regions[i].owned) free(memory->regions[i].host);
    }
    free(memory->regions);
    free(memory->pieces);
    free(memory->heap_begun);
    *memory = (Memory){0};
}

int memory_find(const Memory *memory, uint64_t address) {
    int index = region_before(memory, address);
    return index >= 0 && address - memory->regions[index].base < memory->regions[index].bytes ? index : -1;
}

uint8_t *memory_at(const Memory *memory, uint64_t address, uint64_t bytes) {
    int index = memory_find(memory, address);
    if (index < 0) return NULL;
    const Region *region = &memory->regions[index];
    uint64_t offset = address - region->base;
    return bytes <= region->bytes - offset ? region->host + offset : NULL;
}

void memory_describe_past(uint64_t gap, const char *name, uint64_t bytes, Text *out) {
    if (gap)
        text_print(out, tr("%llu bytes past"), (unsigned long long)gap);
    else
        text_add(out, tr("just past"));
    text_print(out, tr(" the end of `%s` (%llu bytes)"), name, (unsigned long long)bytes);
}

int memory_describe(const Memory *memory, uint64_t address, int width, int own, Text *out) {
    int before = region_before(memory, address);
    if (address < 4096) {
        text_print(out,
                   address ? tr("address 0x%llx is a null pointer with an offset")
                           : tr("address 0x%llx is a null pointer"),
                   (unsigned long long)address);
        return -1;
    }
    const Region *below = before >= 0 ? &memory->regions[before] : NULL;
    const Region *above = before + 1 < memory->count ? &memory->regions[before + 1] : NULL;
    if (own >= 0) {
        const Region *meant = &memory->regions[own];
        below = address >= meant->base ? meant : NULL;
        above = below ? NULL : meant;
    }
    uint64_t past = below ? address - below->base : UINT64_MAX; /* from the start of the preceding buffer */
    uint64_t gap_below = below ? (past < below->bytes ? 0 : past - below->bytes) : UINT64_MAX;
    uint64_t gap_above = above ? above->base - address : UINT64_MAX;
    if (below && gap_below <= gap_above) {
        if (past < below->bytes) {
            text_print(out, tr("%d bytes at offset %llu of `%s` (%llu bytes) reach past its end"), width,
                       (unsigned long long)past, below->name, (unsigned long long)below->bytes);
        } else {
            memory_describe_past(gap_below, below->name, below->bytes, out);
        }
        return (int)(below - memory->regions);
    } else if (above) {
        text_print(out, tr("%llu bytes before the start of `%s` (%llu bytes)"), (unsigned long long)gap_above,
                   above->name, (unsigned long long)above->bytes);
        return (int)(above - memory->regions);
    } else {
        text_print(out, tr("address 0x%llx: there is no global memory in this launch"),
                   (unsigned long long)address);
    }
    return -1;
}

Footprint *footprint_new(const Memory *memory) {
    Footprint *footprint = memory_new(sizeof *footprint);
    footprint->words = memory->next_word;
    footprint->begin = UINT64_MAX;
    footprint->read = memory_new((size_t)(footprint->words / 64 + 2) * sizeof(uint64_t));
    footprint->written = memory_new((size_t)(footprint->words / 64 + 2) * sizeof(uint64_t));
    return footprint;
}

void footprint_free(Footprint *footprint) {
    if (!footprint) return;
    free(footprint->read);
    free(footprint->written);
    free(footprint);
}

void footprint_write(Footprint *footprint, uint64_t word, uint64_t count) {
    bits_set(footprint->written, word, count);
    if (word < footprint->begin) footprint->begin = word;
    if (word + count > footprint->end) footprint->end = word + count;
}

bool footprint_conflicts(Footprint *const *footprints, int count) {
    uint64_t begin = UINT64_MAX, end = 0;
    for (int f = 0; f < count; f++) {
        if (footprints[f]->begin < begin) begin = footprints[f]->begin;
        if (footprints[f]->end > end) end = footprints[f]->end;
    }
    for (uint64_t i = begin / 64; i * 64 < end; i++) {
        uint64_t written = 0, touched = 0;
        for (int f = 0; f < count; f++) {
            uint64_t writes = footprints[f]->written[i], touches = writes | footprints[f]->read[i];
            if ((writes & touched) | (touches & written)) return true;
            written |= writes;
            touched |= touches;
        }
    }
    return false;
}
