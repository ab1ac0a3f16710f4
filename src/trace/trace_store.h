/* A trace in a session file: the tables launch to page of schema.def. */
#ifndef TRACE_TRACE_STORE_H
#define TRACE_TRACE_STORE_H

#include "trace/store.h"
#include "trace/trace.h"

/* Bytes that its events take, about. */
uint64_t trace_stored_bytes(const Trace *trace);

void trace_write(const Trace *trace, Store *store);

/* Fills `trace` (new; its producer and what was printed are the caller's) and the geometry of its `count`
 * launches, whose programs are there already. Checks everything, and leaves what is wrong in the store. */
void trace_read(Trace *trace, Launch *launches, int count, Store *store);

#endif
