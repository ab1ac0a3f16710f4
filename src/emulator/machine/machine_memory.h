/* The global memory of an emulator, with marks of written bytes and accessed words. Host threads access
 * different parts. Private to the emulator. */
#ifndef EMULATOR_MACHINE_MACHINE_MEMORY_H
#define EMULATOR_MACHINE_MACHINE_MEMORY_H

#include "emulator/lower/address_space.h"
#include "trace/trace.h"

typedef struct Region {   /* a buffer, module variable, heap or workspace */
    uint64_t base, bytes; /* generic address */
    uint8_t *host;
    uint64_t first_word; /* index of its first 4-byte word, counted over all regions; a multiple of 64 */
    const char *name;
    PtxType type;
    bool read_only, owned; /* owned: `host` is freed with the memory */
    uint64_t *written;     /* one bit per written byte; NULL: all count as written */
} Region;

typedef struct Memory {
    Region *regions; /* ascending by address; index = index of the buffer in traces */
    int count, capacity;
    uint64_t next_base, next_word;
    struct HeapPiece *pieces; /* of the device heap, ascending; heap.c */
    int piece_count, piece_capacity, heap_region;
    uint64_t heap_bytes;  /* of the device heap, before its first use; 0: 8 MB */
    int heap_first;       /* all earlier pieces are used */
    uint64_t heap_out;    /* no free piece is this large; 0: unknown */
    uint64_t *heap_begun; /* one bit per 16 bytes of the heap where an allocation has ever begun */
    bool has_marks;       /* a region has marks; then the order of blocks matters */
} Memory;

/* The next region begins at `address`; false: regions lie behind it, or it is not aligned. */
bool memory_skip(Memory *memory, uint64_t address);
int memory_add(Memory *memory, const char *name, void *host, uint64_t bytes, PtxType type, bool read_only,
               bool owned);
/* A region of borrowed host memory at `address`, whose index is returned: it and those behind it move up. -1:
 * the address is not aligned, or a region lies there. */
int memory_insert(Memory *memory, const char *name, void *host, uint64_t bytes, PtxType type, bool read_only,
                  uint64_t address);
/* The regions behind it move down. */
void memory_remove(Memory *memory, int region);
/* The host writes bytes within a region, between launches. */
void memory_write(Memory *memory, int region, uint64_t offset, const void *bytes, uint64_t count);
void memory_done(Memory *memory);
/* The region that contains `address`, or -1. */
int memory_find(const Memory *memory, uint64_t address);
/* The host bytes of [address, address + bytes), or NULL unless they lie in one region. */
uint8_t *memory_at(const Memory *memory, uint64_t address, uint64_t bytes);
/* Describes an address outside all regions: "4 bytes past the end of `in` (4000 bytes)". `own`: the region
 * that the address was computed from; -1: unknown, and the text names the nearest region. Returns the named
 * region, or -1. */
/* "4 bytes past the end of `in` (4000 bytes)"; gap 0: "just past". */
void memory_describe_past(uint64_t gap, const char *name, uint64_t bytes, Text *out);
int memory_describe(const Memory *memory, uint64_t address, int width, int own, Text *out);

/* The device heap (malloc, free): created on first use, with heap_bytes. 0: full. */
uint64_t heap_allocate(Memory *memory, uint64_t bytes, int pc);
void heap_prepare(Memory *memory);
typedef enum HeapFree { HEAP_FREE_DONE, HEAP_FREE_UNKNOWN, HEAP_FREE_AGAIN } HeapFree;
/* The heap allocation that contains an access. */
typedef struct HeapAllocation {
    uint64_t offset, bytes; /* as asked for */
    int pc;                 /* of the malloc call */
} HeapAllocation;
typedef enum HeapPlace { HEAP_INSIDE, HEAP_OUTSIDE, HEAP_FREED } HeapPlace;
HeapPlace heap_place(const Memory *memory, uint64_t offset, uint64_t bytes, HeapAllocation *near);
/* The allocations that have not been freed: their number, their bytes, and the first one. */
uint64_t heap_left(const Memory *memory, uint64_t *bytes, HeapAllocation *first);
/* From now on, reads of unwritten bytes in this region are faults (marks.h). */
void memory_mark_unwritten(Memory *memory, int region);
void heap_begin(Memory *memory, int region); /* marks the whole region as unallocated */

HeapFree heap_free(Memory *memory, uint64_t address); /* 0 is allowed */

typedef struct SavedPages SavedPages;

/* The 4-byte words of global memory that one host thread read and wrote. */
typedef struct Footprint {
    uint64_t *read, *written; /* one bit per word */
    uint64_t words;
    uint64_t begin, end; /* range of all written words */
    SavedPages *saved;   /* saves pages before they are written; NULL: not saved */
} Footprint;

Footprint *footprint_new(const Memory *memory);
void footprint_write(Footprint *footprint, uint64_t word, uint64_t count);
void footprint_free(Footprint *footprint);
/* True if one of them wrote a word that another accessed. */
bool footprint_conflicts(Footprint *const *footprints, int count);

/* ---- a bit per byte --------------------------------------------------------------------------------- */

static inline void bits_set(uint64_t *bits, uint64_t first, uint64_t count) {
    uint64_t last = first + count - 1, from = first / 64, to = last / 64;
    uint64_t head = ~UINT64_C(0) << (first % 64), tail = ~UINT64_C(0) >> (63 - last % 64);
    if (from == to) {
        bits[from] |= head & tail;
        return;
    }
    bits[from] |= head;
    for (uint64_t i = from + 1; i < to; i++) bits[i] = ~UINT64_C(0);
    bits[to] |= tail;
}

static inline void bits_clear(uint64_t *bits, uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; i++) bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool bits_all(const uint64_t *bits, uint64_t first, uint64_t count) {
    uint64_t last = first + count - 1, from = first / 64, to = last / 64;
    uint64_t head = ~UINT64_C(0) << (first % 64), tail = ~UINT64_C(0) >> (63 - last % 64);
    if (from == to) return (bits[from] & head & tail) == (head & tail);
    if ((bits[from] & head) != head || (bits[to] & tail) != tail) return false;
    for (uint64_t i = from + 1; i < to; i++)
        if (~bits[i]) return false;
    return true;
}

#endif
