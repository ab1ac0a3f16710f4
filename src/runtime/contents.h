/* Contents: pages of memory by what they hold, each kept once. A launch keeps the pages that it read and
 * wrote, and a launch that finds the same pages does the same again. */
#ifndef RUNTIME_CONTENTS_H
#define RUNTIME_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTENTS_PAGE_BYTES = 4096 };

typedef struct
    PageHash { /* of 128 bits: two pages with one hash are not expected in the life of the machine */
    uint64_t low, high;
} PageHash;

typedef struct PageContents PageContents;

PageContents *contents_new(uint64_t most_bytes);
void contents_free(PageContents *contents);
PageHash contents_hash(const void *page, size_t bytes); /* at most CONTENTS_PAGE_BYTES */
/* Keeps a copy, with zeros behind `bytes`; false: there is no room for another. */
bool contents_keep(PageContents *contents, PageHash hash, const void *page, size_t bytes);
const void *contents_find(const PageContents *contents, PageHash hash); /* NULL: not kept */

/* Every page that is kept, with its bytes. */
void contents_visit(const PageContents *contents,
                    void (*visit)(void *context, const void *page, size_t bytes), void *context);
uint64_t contents_bytes(const PageContents *contents); /* of all pages */

static inline bool page_hash_is_equal(PageHash a, PageHash b) {
    return a.low == b.low && a.high == b.high;
}

#endif
