/* Check: decides whether an event is possible in its launch. Events of a session file are used only after
 * this check: every index in them is then within its range. */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "trace/trace.h"

enum { TRACE_WINDOW_LIMIT = 1 << 20 /* more than the shared memory of a block on any architecture */ };

typedef struct EventCheck EventCheck;

/* Borrows both, whose symbols and buffers must be known. */
EventCheck *event_check_new(const Trace *trace, const TraceLaunch *launch);
void event_check_free(EventCheck *check);

/* Checks everything but operands and values, and only active lanes. */
bool event_check(const EventCheck *check, const TraceEvent *event);

#endif
