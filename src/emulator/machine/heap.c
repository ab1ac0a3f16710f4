/* The device heap: malloc and free of kernels. First fit over a list of pieces stored outside the heap, so
 * that a kernel that overruns its allocations cannot corrupt the list. */
#include "emulator/machine/machine_memory.h"

enum { USUAL_BYTES = 8 << 20, HEAP_ALIGNMENT = 16 };

typedef struct HeapPiece {
    uint64_t offset, bytes;
    bool used;
    uint64_t asked; /* bytes of an allocation, before they were rounded up */
    int pc;         /* of the malloc call */
} HeapPiece;

void heap_prepare(Memory *memory) {
    if (memory->pieces) return;
    uint64_t bytes = memory->heap_bytes ? memory->heap_bytes : USUAL_BYTES;
    heap_begin(memory, memory_add(memory, "heap", memory_new(bytes), bytes, PTX_NO_TYPE, false, true));
}

void heap_begin(Memory *memory, int region) {
    memory->heap_region = region;
    uint64_t bytes = memory->regions[region].bytes;
    HeapPiece whole = {0, bytes, false, 0, PTX_NO_PC};
    memory->heap_begun = memory_new((size_t)(bytes / HEAP_ALIGNMENT / 8 + 8));
    array_push(memory->pieces, memory->piece_count, memory->piece_capacity, whole);
}

/* Marks the memory unwritten: an earlier allocation may have written it. */
static void begin(Memory *memory, const HeapPiece *piece) {
    uint64_t *written = memory->regions[memory->heap_region].written;
    bits_set(memory->heap_begun, piece->offset / HEAP_ALIGNMENT, 1);
    for (uint64_t i = piece->offset; written && i < piece->offset + piece->bytes; i++)
        written[i / 64] &= ~(UINT64_C(1) << i % 64);
}

uint64_t heap_allocate(Memory *memory, uint64_t bytes, int pc) {
    uint64_t asked = bytes;
    if (!memory->pieces || bytes > memory->regions[memory->heap_region].bytes) return 0;
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
            memory->pieces[i + 1] =
                (HeapPiece){piece.offset + bytes, piece.bytes - bytes, false, 0, PTX_NO_PC};
        }
        memory->pieces[i] = (HeapPiece){piece.offset, bytes, true, asked, pc};
        begin(memory, &memory->pieces[i]);
        return memory->regions[memory->heap_region].base + piece.offset;
    }
    memory->heap_out = bytes;
    return 0;
}

/* The piece that begins at `offset`, or -1. */
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

/* The last piece that begins at or before `offset`. */
static int piece_before(const Memory *memory, uint64_t offset) {
    int low = 0, high = memory->piece_count;
    while (low + 1 < high) {
        int middle = low + (high - low) / 2;
        if (memory->pieces[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

HeapPlace heap_place(const Memory *memory, uint64_t offset, uint64_t bytes, HeapAllocation *near) {
    int i = piece_before(memory, offset);
    const HeapPiece *piece = &memory->pieces[i];
    if (piece->used && offset + bytes <= piece->offset + piece->asked) return HEAP_INSIDE;
    *near = (HeapAllocation){.pc = PTX_NO_PC};
    if (piece->used || (i > 0 && piece[-1].used && offset - piece->offset < HEAP_ALIGNMENT * 4)) {
        const HeapPiece *of = piece->used ? piece : &piece[-1]; /* directly after it */
        *near = (HeapAllocation){of->offset, of->asked, of->pc};
    }
    if (piece->used) return HEAP_OUTSIDE;
    uint64_t last = offset / HEAP_ALIGNMENT, first = piece->offset / HEAP_ALIGNMENT;
    for (uint64_t at = last + 1; at-- > first;)
        if (memory->heap_begun[at / 64] >> at % 64 & 1) return HEAP_FREED;
    return HEAP_OUTSIDE;
}

uint64_t heap_left(const Memory *memory, uint64_t *bytes, HeapAllocation *first) {
    uint64_t count = 0;
    *bytes = 0;
    for (int i = 0; i < memory->piece_count; i++) {
        const HeapPiece *piece = &memory->pieces[i];
        if (!piece->used) continue;
        if (!count++) *first = (HeapAllocation){piece->offset, piece->asked, piece->pc};
        *bytes += piece->asked;
    }
    return count;
}

HeapFree heap_free(Memory *memory, uint64_t address) {
    if (!address) return HEAP_FREE_DONE;
    if (!memory->pieces) return HEAP_FREE_UNKNOWN;
    uint64_t offset = address - memory->regions[memory->heap_region].base;
    int i = find_piece(memory, offset);
    uint64_t unit = offset / HEAP_ALIGNMENT;
    if (i < 0 || !memory->pieces[i].used)
        return offset < memory->regions[memory->heap_region].bytes && offset % HEAP_ALIGNMENT == 0 &&
                       memory->heap_begun[unit / 64] >> unit % 64 & 1
                   ? HEAP_FREE_AGAIN
                   : HEAP_FREE_UNKNOWN;
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
    return HEAP_FREE_DONE;
}
