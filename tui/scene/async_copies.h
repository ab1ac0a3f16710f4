/* Asynchronous copies of a block, by their events: which are on their way, and which wait they arrive at. Made of a trace
 * alone. */
#ifndef TUI_SCENE_ASYNC_COPIES_H
#define TUI_SCENE_ASYNC_COPIES_H

#include "trace/trace.h"

enum { MOST_COPIES_SHOWN = 64, NO_EVENT = -1 };

typedef struct AsyncCopyOnItsWay {
    int event;    /* its destination */
    int group;    /* of its lane, from 0; the lane's count of groups: in none yet */
    bool arrives; /* at the wait that was asked for */
} AsyncCopyOnItsWay;

typedef struct AsyncCopiesOnTheirWay {           /* of one lane, just before an event of its warp */
    AsyncCopyOnItsWay copies[MOST_COPIES_SHOWN]; /* the oldest first */
    int count, more;                             /* more: how many there are beyond those */
    int groups;                                  /* committed */
} AsyncCopiesOnTheirWay;

/* The event is a commit of groups, or a wait for them. */
void async_copies_before(const TraceLaunch *launch, const TraceBlock *block, int event, int lane,
                         AsyncCopiesOnTheirWay *out);
/* The wait that the lane's copy arrives at; `event` is one of its sides. NO_EVENT: none, or an mbarrier completes it. */
int async_copy_wait(const TraceLaunch *launch, const TraceBlock *block, int event, int lane);
/* The line of an event: of the source, else of the PTX. */
int async_copy_line(const TraceLaunch *launch, const TraceBlock *block, int event);
/* The other side of the copy. */
int async_copy_other_side(const TraceLaunch *launch, const TraceBlock *block, int event);

#endif
