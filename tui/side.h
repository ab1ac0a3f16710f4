/* Side: a run on the screen and what belongs to it: its files, what was measured of it, and the run that it
 * was before its file was edited. */
#ifndef TUI_SIDE_H
#define TUI_SIDE_H

#include "edit.h"
#include "opening.h"

typedef struct Run {
    Session *session; /* NULL: none */
    bool is_owned;    /* the session is not the caller's */
    Scene *scene;     /* owned */
} Run;

typedef struct Side {
    Run now;
    Run before;       /* the same before its file was edited; none: it was not */
    FileWatch *files; /* that it is made of; NULL: none that a user may change */
    bool is_stale;    /* they were changed: it has to be made again */
    bool has_to_tell; /* what the edit changed, once the grid is counted */
    SceneTimings timings;
    Opening *counting; /* the same run to its end, where this is a first look; NULL: not under way */
} Side;

Side side_new(Session *session, bool is_owned);
/* The same run in place of `old`, which loses its run before the edit: run to its end, or with another block
 * traced. */
Side side_renew(Session *session, Side *old);
/* The run of the changed file; `old` loses its own, which is from now on the one before. */
Side side_edited(Session *session, Side *old);
/* Every block ran, watched for hazards; or the run is over, in a file. */
bool side_is_complete(const Side *side);
void side_done(Side *side); /* `counting` is somebody else's by now */

#endif
