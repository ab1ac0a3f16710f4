/* Check: decides whether an event is possible in its launch. What a session file says is used only after
 * that: every index in it is then within its range. */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "trace/trace.h"

enum { TRACE_WINDOW_LIMIT = 1 << 20 /* shared memory of a block is less on every architecture */ };

typedef struct EventCheck EventCheck;

/* Borrows both. Their symbols and buffers are known by then. */
EventCheck *event_check_new(const Trace *trace, const TraceLaunch *launch);
void event_check_free(EventCheck *check);

/* Looks at everything but operands and values; of lanes, at the active ones. */
bool event_check(const EventCheck *check, const TraceEvent *event);

#endif
