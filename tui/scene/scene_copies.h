/* Asynchronous copies of a block, by their events: which are in flight, and which wait completes them.
 * Derived from a trace alone. */
#ifndef TUI_SCENE_SCENE_COPIES_H
#define TUI_SCENE_SCENE_COPIES_H

#include "trace/trace.h"

enum { MOST_COPIES_SHOWN = 64, NO_EVENT = -1 };

typedef struct AsyncCopyOnItsWay {
    int event; /* the event of its destination */
    /* its group in the lane, from 0; the lane's count of groups: not committed to a group yet */
    int group;
    bool arrives; /* the given wait completes it */
} AsyncCopyOnItsWay;

typedef struct AsyncCopiesOnTheirWay {           /* of one lane, just before an event of its warp */
    AsyncCopyOnItsWay copies[MOST_COPIES_SHOWN]; /* oldest first */
    int count, more;                             /* more: how many are in flight beyond those */
    int groups;                                  /* groups committed */
} AsyncCopiesOnTheirWay;

/* The event commits groups, or waits for them. */
void async_copies_before(const TraceLaunch *launch, const TraceBlock *block, int event, int lane,
                         AsyncCopiesOnTheirWay *out);
/* The wait that completes the lane's copy; `event` is one of the copy's sides. NO_EVENT: none, or an mbarrier
 * completes it. */
int async_copy_wait(const TraceLaunch *launch, const TraceBlock *block, int event, int lane);
/* The line of an event: of the source, else of the PTX. */
int async_copy_line(const TraceLaunch *launch, const TraceBlock *block, int event);
/* The other side of the copy. */
int async_copy_other_side(const TraceLaunch *launch, const TraceBlock *block, int event);

#endif
