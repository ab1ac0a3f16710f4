/* The encoded events of one traced block: a list of pages.
 *
 * A page is filled from both ends: events from the front, and for each a *slot* (two bytes: where the event
 * begins) from the back. A search over pages and one look at a slot find any event, an event costs two bytes
 * of index, and a page is complete in itself. The first page is small, since runs may trace thousands of
 * short blocks; pages grow with the block. */
#include "trace/block.h"

#include "base/memory.h"
#include "trace/encode.h"
#include <assert.h>
#include <limits.h>
#include <stdlib.h>

enum { SMALLEST_PAGE = 8192, LARGEST_PAGE = 65536, SLOT_BYTES = 2 };
_Static_assert(SMALLEST_PAGE >= ENCODED_EVENT_LIMIT + SLOT_BYTES, "every page holds at least one event");

typedef struct Page {
    uint8_t *bytes;
    uint32_t capacity, used; /* used: bytes of events, without slots */
    int first, count;        /* events first .. first + count - 1 */
} Page;

struct TraceBlock {
    uint32_t linear;
    Page *pages;
    int page_count, page_capacity;
    int event_count;
    uint64_t dropped;
};

TraceBlock *trace_block_new(uint32_t linear_block) {
    TraceBlock *block = memory_new(sizeof *block);
    block->linear = linear_block;
    return block;
}

void trace_block_free(TraceBlock *block) {
    if (!block) return;
    for (int i = 0; i < block->page_count; i++) free(block->pages[i].bytes);
    free(block->pages);
    free(block);
}

static Page *page_with_room(TraceBlock *block, size_t bytes) {
    assert(block->pages || (!block->page_count && !block->page_capacity));
    Page *last = block->page_count ? &block->pages[block->page_count - 1] : NULL;
    if (last && last->used + bytes + (size_t)SLOT_BYTES * (size_t)(last->count + 1) <= last->capacity)
        return last;
    uint32_t capacity = !last                               ? SMALLEST_PAGE
                        : last->capacity < LARGEST_PAGE / 2 ? last->capacity * 2
                                                            : LARGEST_PAGE;
    Page page = {.capacity = capacity, .first = block->event_count};
    page.bytes = memory_resize(NULL, capacity);
    array_push(block->pages, block->page_count, block->page_capacity, page);
    return &block->pages[block->page_count - 1];
}

/* The next event takes `length` bytes after the used ones. */
static void count_event(Page *page, uint32_t length) {
    uint8_t *slot = page->bytes + page->capacity - SLOT_BYTES * (page->count + 1);
    slot[0] = (uint8_t)page->used;
    slot[1] = (uint8_t)(page->used >> 8);
    page->used += length;
    page->count++;
}

void trace_block_drop(TraceBlock *block) {
    block->dropped++;
}

void trace_block_append(TraceBlock *block, const TraceEvent *event) {
    if (block->event_count == INT_MAX) { /* event numbers are of type int */
        trace_block_drop(block);
        return;
    }
    uint8_t bytes[ENCODED_EVENT_LIMIT];
    size_t length = encode_event(event, bytes);
    Page *page = page_with_room(block, length);
    memcpy(page->bytes + page->used, bytes, length);
    count_event(page, (uint32_t)length);
    block->event_count++;
}

uint32_t trace_block_linear(const TraceBlock *block) {
    return block->linear;
}
int trace_block_event_count(const TraceBlock *block) {
    return block->event_count;
}
uint64_t trace_block_dropped(const TraceBlock *block) {
    return block->dropped;
}

size_t trace_block_bytes(const TraceBlock *block) {
    size_t bytes = sizeof *block + (size_t)block->page_capacity * sizeof *block->pages;
    for (int i = 0; i < block->page_count; i++) bytes += block->pages[i].capacity;
    return bytes;
}

static const uint8_t *find(const TraceBlock *block, int event) {
    assert(event >= 0 && event < block->event_count);
    int low = 0, high = block->page_count - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (block->pages[middle].first <= event)
            low = middle;
        else
            high = middle - 1;
    }
    const Page *page = &block->pages[low];
    const uint8_t *slot = page->bytes + page->capacity - SLOT_BYTES * (event - page->first + 1);
    return page->bytes + (slot[0] | slot[1] << 8);
}

void trace_block_read(const TraceBlock *block, int event, TraceEvent *out) {
    decode_event(find(block, event), false, out);
}

void trace_block_read_places(const TraceBlock *block, int event, TraceEvent *out) {
    decode_places(find(block, event), out);
}

void trace_block_read_header(const TraceBlock *block, int event, TraceEvent *out) {
    decode_event(find(block, event), true, out);
}

/* ---- pages of files ------------------------------------------------------------------------------------ */

int trace_block_page_count(const TraceBlock *block) {
    return block->page_count;
}

const uint8_t *trace_block_page(const TraceBlock *block, int page, size_t *bytes, int *count) {
    *bytes = block->pages[page].used;
    *count = block->pages[page].count;
    return block->pages[page].bytes;
}

bool trace_block_add_page(TraceBlock *block, const EventCheck *check, const uint8_t *bytes, size_t length,
                          int count) {
    static const uint8_t nothing[ENCODED_EVENT_LIMIT];
    uint8_t padded[LARGEST_PAGE + ENCODED_EVENT_LIMIT]; /* the last event may look longer than it is */
    if (length > LARGEST_PAGE || count < 1 || (size_t)count > length || count > INT_MAX - block->event_count)
        return false;
    memcpy(padded, bytes, length);
    memcpy(padded + length, nothing, sizeof nothing);
    Page page = {.capacity = (uint32_t)(length + SLOT_BYTES * (size_t)count), .first = block->event_count};
    page.bytes = memory_resize(NULL, page.capacity);
    memcpy(page.bytes, bytes, length);
    TraceEvent event;
    bool good = true;
    while (good && page.count < count) {
        size_t taken = decode_places(padded + page.used, &event);
        good = taken <= length - page.used && event_check(check, &event);
        if (good) count_event(&page, (uint32_t)taken);
    }
    if (!good || page.used != length) {
        free(page.bytes);
        return false;
    }
    array_push(block->pages, block->page_count, block->page_capacity, page);
    block->event_count += count;
    return true;
}
