/* Curve counting: the emulator counts a run for each value of its first parameter, one after another: at once
 * for a script, in a worker thread while the interface runs. */
#ifndef TUI_CURVE_COUNTING_H
#define TUI_CURVE_COUNTING_H

#include "tui/scene/curve.h"
#include "tui/session_loader.h"

typedef struct CurveCounting { /* zero-initialised is valid */
    Curve curve;
    SessionLoader *loader; /* NULL: not running */
    CatalogRun of;         /* what it counts: as `curve.run`, with the value */
} CurveCounting;

/* Starts the next value of the session's curve, unless one is running; none if it has too many elements.
 * `waits`: counts all of them now. The thread calls `wake`. */
void curve_counting_go_on(CurveCounting *counting, const Session *session, bool waits, void (*wake)(void));
/* Takes a result. False: there is no result. */
bool curve_counting_take(CurveCounting *counting);

#endif
