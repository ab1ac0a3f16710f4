/* Side: a run on the screen and what belongs to it: its files, what was measured of it, and the run that it
 * was before its file was edited. */
#ifndef TUI_RUN_SLOT_H
#define TUI_RUN_SLOT_H

#include "tui/edit.h"
#include "tui/session_loader.h"

typedef struct Run {
    Session *session; /* NULL: none */
    bool is_owned;    /* the session is not the caller's */
    Scene *scene;     /* owned */
} Run;

typedef struct RunSlot {
    Run now;
    Run before;       /* the same before its file was edited; none: it was not */
    FileWatch *files; /* that it is made of; NULL: none that a user may change */
    bool is_stale;    /* they were changed: it has to be made again */
    bool has_to_tell; /* what the edit changed, once the grid is counted */
    SceneTimings timings;
    SessionLoader *counting; /* the same run to its end, where this is a first look; NULL: not under way */
} RunSlot;

RunSlot run_slot_new(Session *session, bool is_owned);
/* The same run in place of `old`, which loses its run before the edit: run to its end, or with another block
 * traced. */
RunSlot run_slot_renew(Session *session, RunSlot *old);
/* The run of the changed file; `old` loses its own, which is from now on the one before. */
RunSlot run_slot_edited(Session *session, RunSlot *old);
/* Every block ran, watched for hazards; or the run is over, in a file. */
bool run_slot_is_complete(const RunSlot *side);
void run_slot_done(RunSlot *side); /* `counting` is somebody else's by now */

#endif
