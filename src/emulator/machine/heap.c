/* The device heap: malloc and free of kernels. First fit over a list of pieces that lies outside the heap, so
 * that a kernel that writes over its allocations cannot harm it. */
#include "emulator/machine/memory.h"

enum { HEAP_BYTES = 8 << 20, HEAP_ALIGNMENT = 16 };

typedef struct HeapPiece {
    uint64_t offset, bytes;
    bool used;
} HeapPiece;

void heap_prepare(Memory *memory) {
    if (memory->pieces) return;
    heap_begin(memory,
               memory_add(memory, "heap", memory_new(HEAP_BYTES), HEAP_BYTES, PTX_NO_TYPE, false, true));
}

void heap_begin(Memory *memory, int region) {
    memory->heap_region = region;
    HeapPiece whole = {0, HEAP_BYTES, false};
    array_push(memory->pieces, memory->piece_count, memory->piece_capacity, whole);
}

uint64_t heap_allocate(Memory *memory, uint64_t bytes) {
    if (bytes > HEAP_BYTES || !memory->pieces) return 0;
    bytes = bytes ? (bytes + HEAP_ALIGNMENT - 1) / HEAP_ALIGNMENT * HEAP_ALIGNMENT : HEAP_ALIGNMENT;
    if (memory->heap_out && bytes >= memory->heap_out) return 0;
    while (memory->heap_first < memory->piece_count && memory->pieces[memory->heap_first].used)
        memory->heap_first++;
    for (int i = memory->heap_first; i < memory->piece_count; i++) {
        HeapPiece piece = memory->pieces[i];
        if (piece.used || piece.bytes < bytes) continue;
        if (piece.bytes > bytes) {
            array_reserve(memory->pieces, memory->piece_count + 1, memory->piece_capacity);
            memmove(&memory->pieces[i + 1], &memory->pieces[i],
                    (size_t)(memory->piece_count - i) * sizeof piece);
            memory->piece_count++;
            memory->pieces[i + 1] = (HeapPiece){piece.offset + bytes, piece.bytes - bytes, false};
        }
        memory->pieces[i] = (HeapPiece){piece.offset, bytes, true};
        return memory->regions[memory->heap_region].base + piece.offset;
    }
    memory->heap_out = bytes;
    return 0;
}

/* The piece that begins there, or -1. */
static int find_piece(const Memory *memory, uint64_t offset) {
    int low = 0, high = memory->piece_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (memory->pieces[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < memory->piece_count && memory->pieces[low].offset == offset ? low : -1;
}

static void remove_piece(Memory *memory, int index) {
    memory->piece_count--;
    memmove(&memory->pieces[index], &memory->pieces[index + 1],
            (size_t)(memory->piece_count - index) * sizeof *memory->pieces);
}

bool heap_free(Memory *memory, uint64_t address) {
    if (!address) return true;
    if (!memory->pieces) return false;
    uint64_t offset = address - memory->regions[memory->heap_region].base;
    int i = find_piece(memory, offset);
    if (i < 0 || !memory->pieces[i].used) return false;
    memory->pieces[i].used = false;
    memory->heap_out = 0;
    if (i + 1 < memory->piece_count && !memory->pieces[i + 1].used) {
        memory->pieces[i].bytes += memory->pieces[i + 1].bytes;
        remove_piece(memory, i + 1);
    }
    if (i > 0 && !memory->pieces[i - 1].used) {
        memory->pieces[i - 1].bytes += memory->pieces[i].bytes;
        remove_piece(memory, i--);
    }
    if (i < memory->heap_first) memory->heap_first = i;
    return true;
}
