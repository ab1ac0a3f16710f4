/* Paths: how the lanes of a warp part at its branches and join again.
 *
 * A *split* is a branch whose lanes go several ways; each way is a *path*, up to the place where the lanes
 * join. The paths of one warp execute one after another. A split inside a path is nested in it; so is each
 * further round of a loop that lanes leave one after another.
 *
 * Only the events of the block are read. Between two events a warp's way through the program is known, since
 * every conditional branch is an event; so the instructions of a path are counted exactly, whether or not
 * they make events. Of a loop that waits for other threads only the rounds in the trace are counted. */
#ifndef TRACE_PATHS_H
#define TRACE_PATHS_H

#include "trace/trace.h"

typedef struct PathLines { /* source lines; first 0: none */
    int first, last;
} PathLines;

typedef struct Path {
    int split;
    uint32_t lanes;
    int target;                  /* pc where these lanes continue after the branch */
    int first_event, last_event; /* on the path, nested paths included; -1: none is recorded */
    uint64_t instructions;       /* warp instructions issued on it, nested paths included */
    PathLines after, before;     /* lines of these instructions: after the branch's line; up to it */
    int nested;                  /* the first split nested directly in it; -1: none */
    bool is_counted;             /* false: the way between two events is unknown, `instructions` is too few */
} Path;

typedef struct PathSplit {
    int event, pc; /* the branch */
    int warp;
    int parent;                 /* the path that it is nested in; -1: none */
    int join_pc;                /* PTX_NO_PC: the lanes join when their function returns, or never */
    int join_event;             /* the first event after they have joined; -1: none */
    int first_path, path_count; /* in the order in which they begin to execute */
    int calls;                  /* functions around the branch */
} PathSplit;

typedef struct Paths {
    PathSplit *splits; /* warp by warp, in program order: a nested split comes after the one around it */
    int split_count;
    Path *paths;
    int path_count;
    int *of_event;         /* [event] the innermost path on which it is executed; -1: none */
    int *split_at;         /* [event] the split that it makes; -1: none */
    uint64_t instructions; /* warp instructions issued by the block */
    bool is_counted;       /* false: as for a path */
} Paths;

Paths *paths_build(const TraceLaunch *launch, const TraceBlock *block);
void paths_free(Paths *paths);

/* The warp instructions that all paths of the split issued. */
uint64_t paths_issued(const Paths *paths, const PathSplit *split);

#endif
