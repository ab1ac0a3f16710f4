/* Run slot: a run on the screen and what belongs to it: its files, its timings, and the same run before its
 * file was edited. */
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
    Run current;
    Run before;          /* the same before its file was edited; none: it was not */
    FileWatch *files;    /* its source files; NULL: none that a user may change */
    bool is_stale;       /* they have changed: the run has to be repeated */
    bool reports_change; /* once the grid is counted, a message says what the edit changed */
    SceneTimings timings;
    SessionLoader *counting; /* runs the whole grid, where `current` is a first look; NULL: not under way */
} RunSlot;

RunSlot run_slot_new(Session *session, bool is_owned);
/* The same run in place of `old`: run to its end, or with another block traced. Takes over old->before. */
RunSlot run_slot_renew(Session *session, RunSlot *old);
/* The run of the edited file; takes old->current over as the run before. */
RunSlot run_slot_edited(Session *session, RunSlot *old);
/* Every block has run and was searched for hazards; or the run comes from a session file. */
bool run_slot_is_complete(const RunSlot *slot);
void run_slot_done(RunSlot *slot); /* without `counting`, which the app ends */

#endif
