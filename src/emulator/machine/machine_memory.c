/* Global memory: regions in the generic address space (machine_memory.h). */
#include "emulator/machine/machine_memory.h"

#include <inttypes.h>
#include <stdlib.h>

static void memory_begin(Memory *memory) {
    if (!memory->next_base) memory->next_base = GLOBAL_BASE, memory->heap_region = -1;
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
    Region region = {memory->next_base, bytes, host, memory->next_word, memory_copy_text(name), type,
                     read_only,         owned, NULL};
    array_push(memory->regions, memory->count, memory->capacity, region);
    uint64_t room = (bytes + BUFFER_GAP + BUFFER_GAP - 1) / BUFFER_GAP * BUFFER_GAP;
    memory->next_base += room > bytes + BUFFER_ALIGNMENT ? room : room + BUFFER_GAP;
    memory->next_word += (bytes + 3) / 4;
    return memory->count - 1;
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

int memory_describe(const Memory *memory, uint64_t address, int width, int own, Text *out) {
    int before = region_before(memory, address);
    if (address < 4096) {
        text_print(out, "address 0x%" PRIx64 " is a null pointer%s", address,
                   address ? " with an offset" : "");
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
            text_print(out, "%d bytes at offset %" PRIu64 " of `%s` (%" PRIu64 " bytes) reach past its end",
                       width, past, below->name, below->bytes);
        } else {
            if (gap_below) text_print(out, "%" PRIu64 " bytes past", gap_below);
            text_print(out, "%s the end of `%s` (%" PRIu64 " bytes)", gap_below ? "" : "just past",
                       below->name, below->bytes);
        }
        return (int)(below - memory->regions);
    } else if (above) {
        text_print(out, "%" PRIu64 " bytes before the start of `%s` (%" PRIu64 " bytes)", gap_above,
                   above->name, above->bytes);
        return (int)(above - memory->regions);
    } else {
        text_print(out, "address 0x%" PRIx64 ": there is no global memory in this launch", address);
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
