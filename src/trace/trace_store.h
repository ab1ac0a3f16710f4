/* A trace in a session file: the tables launch to page of schema.def. */
#ifndef TRACE_TRACE_STORE_H
#define TRACE_TRACE_STORE_H

#include "trace/store.h"
#include "trace/trace.h"

/* Approximate bytes of its events. */
uint64_t trace_stored_bytes(const Trace *trace);

void trace_write(const Trace *trace, Store *store);

/* Fills `trace` (new; the caller sets its producer and printed text) and the geometry of its `count`
 * launches, whose programs are already set. Checks everything; errors stay in the store. */
void trace_read(Trace *trace, Launch *launches, int count, Store *store);

#endif
