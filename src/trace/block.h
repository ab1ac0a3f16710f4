/* Block: what src/trace needs of a TraceBlock beyond trace.h. */
#ifndef TRACE_BLOCK_H
#define TRACE_BLOCK_H

#include "trace/trace.h"

void trace_block_free(TraceBlock *block);              /* NULL is fine */
uint64_t trace_block_dropped(const TraceBlock *block); /* events beyond INT_MAX */

#endif
