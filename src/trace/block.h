/* Block: the parts of a TraceBlock that only src/trace needs, beyond trace.h. */
#ifndef TRACE_BLOCK_H
#define TRACE_BLOCK_H

#include "trace/check.h"

void trace_block_free(TraceBlock *block);              /* NULL is fine */
uint64_t trace_block_dropped(const TraceBlock *block); /* events that were not kept */

/* Pages, as a session file keeps them: `count` encoded events in `bytes` bytes. */
int trace_block_page_count(const TraceBlock *block);
const uint8_t *trace_block_page(const TraceBlock *block, int page, size_t *bytes, int *count);
/* Appends a page from a file. False: the bytes are no valid events, and nothing is appended. */
bool trace_block_add_page(TraceBlock *block, const EventCheck *check, const uint8_t *bytes, size_t length,
                          int count);

#endif
