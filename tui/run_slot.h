/* Run slot: a run on the screen with its files, its timings, and the run before an edit. */
#ifndef TUI_RUN_SLOT_H
#define TUI_RUN_SLOT_H

#include "tui/edit.h"
#include "tui/session_loader.h"

typedef struct Run {
    Session *session; /* NULL: none */
    bool is_owned;    /* false: the session is the caller's */
    Scene *scene;     /* owned */
} Run;

typedef struct RunSlot {
    Run current;
    Run before;          /* the same run before its file was edited; empty: it was not edited */
    FileWatch *files;    /* its source files; NULL: none that a user may change */
    bool is_stale;       /* they have changed: re-run */
    bool reports_change; /* once the grid is counted, a message says what the edit changed */
    SceneTimings timings;
    /* runs the whole grid while `current` holds only the traced blocks; NULL: not running */
    SessionLoader *counting;
    SessionLoader *timing_warps; /* measures the timelines of `current`; NULL: not running */
    bool has_timed_warps;        /* with or without success */
    SessionLoader *timing_run;   /* measures timings.own; NULL: not running */
} RunSlot;

RunSlot run_slot_new(Session *session, bool is_owned);
/* Shows the run of the edited file beside or after `old`: files that changed since then count as changed. */
RunSlot run_slot_follow(Session *session, const RunSlot *old);
/* The run before an edit: its files say nothing about it any more. */
void run_slot_forget_files(RunSlot *slot);
/* Shows the same run in place of `old`: run to its end, or with another block traced. Takes over
 * old->before. */
RunSlot run_slot_renew(Session *session, RunSlot *old);
/* Shows the run of the edited file in place of `old`, whose run becomes the run before. */
RunSlot run_slot_edited(Session *session, RunSlot *old);
/* Every block has run and was searched for hazards, or the run comes from a session file. */
bool run_slot_is_complete(const RunSlot *slot);
void run_slot_done(
    RunSlot *slot); /* does not end `counting`, `timing_warps` and `timing_run`: the app does */

#endif
