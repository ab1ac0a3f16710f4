#include "runtime/contents.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct Kept {
    PageHash hash;
    uint8_t *page; /* NULL: an empty slot */
    size_t bytes;
} Kept;

struct PageContents {
    Kept *kept; /* hashed; the capacity is a power of two */
    size_t count, capacity;
    uint64_t bytes, most_bytes;
};

PageContents *contents_new(uint64_t most_bytes) {
    PageContents *contents = memory_new(sizeof *contents);
    contents->most_bytes = most_bytes;
    return contents;
}

void contents_free(PageContents *contents) {
    if (!contents) return;
    for (size_t i = 0; i < contents->capacity; i++) free(contents->kept[i].page);
    free(contents->kept);
    free(contents);
}

/* Multiplies 64 by 64 bits and folds the halves: two independent sums of such products make the hash. */
static uint64_t fold(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 Wide;
    Wide product = (Wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

PageHash contents_hash(const void *page, size_t bytes) {
    static const uint64_t key[4] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu,
                                    0xd6e8feb86659fd93u};
    PageHash hash = {bytes * key[0] + 1, ~bytes * key[1]};
    const uint8_t *at = page;
    for (; bytes >= 16; at += 16, bytes -= 16) {
        uint64_t word[2];
        memcpy(word, at, 16);
        hash.low = fold(hash.low ^ word[0] ^ key[2], word[1] ^ key[0]);
        hash.high = fold(hash.high ^ word[1] ^ key[3], word[0] ^ key[1]) + word[0];
    }
    if (bytes) {
        uint64_t word[2] = {0};
        memcpy(word, at, bytes);
        hash.low = fold(hash.low ^ word[0] ^ key[2], word[1] ^ key[0]);
        hash.high = fold(hash.high ^ word[1] ^ key[3], word[0] ^ key[1]) + word[0];
    }
    return hash;
}

static Kept *slot_of(const PageContents *contents, PageHash hash) {
    size_t mask = contents->capacity - 1, i = (size_t)hash.low;
    while (contents->kept[i & mask].page && !page_hash_is_equal(contents->kept[i & mask].hash, hash)) i++;
    return &contents->kept[i & mask];
}

const void *contents_find(const PageContents *contents, PageHash hash) {
    return contents->capacity ? slot_of(contents, hash)->page : NULL;
}

static void grow(PageContents *contents) {
    Kept *old = contents->kept;
    size_t count = contents->capacity;
    contents->capacity = count ? 2 * count : 1024;
    contents->kept = memory_new(contents->capacity * sizeof *old);
    for (size_t i = 0; i < count; i++)
        if (old[i].page) *slot_of(contents, old[i].hash) = old[i];
    free(old);
}

bool contents_keep(PageContents *contents, PageHash hash, const void *page, size_t bytes) {
    if (contents_find(contents, hash)) return true;
    if (contents->bytes + bytes > contents->most_bytes) return false;
    if (2 * (contents->count + 1) > contents->capacity) grow(contents);
    Kept *slot = slot_of(contents, hash);
    slot->hash = hash;
    slot->page = memory_new(CONTENTS_PAGE_BYTES);
    memcpy(slot->page, page, bytes);
    slot->bytes = bytes;
    contents->count++;
    contents->bytes += bytes;
    return true;
}

void contents_visit(const PageContents *contents,
                    void (*visit)(void *context, const void *page, size_t bytes), void *context) {
    for (size_t i = 0; i < contents->capacity; i++)
        if (contents->kept[i].page) visit(context, contents->kept[i].page, contents->kept[i].bytes);
}

uint64_t contents_bytes(const PageContents *contents) {
    return contents->bytes;
}
