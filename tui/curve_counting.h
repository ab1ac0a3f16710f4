/* Curve counting: the emulator counts a run for each value of its first parameter, one after another: at once
 * for a script, in a worker thread while the interface runs. */
#ifndef TUI_CURVE_COUNTING_H
#define TUI_CURVE_COUNTING_H

#include "tui/scene/curve.h"
#include "ladder/ladder.h"
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

/* Rung counting: the emulator counts the rungs that the ladder screen shows, one after another: at once for a
 * script, in a worker thread while the interface runs. */

typedef struct RungCounting { /* zero-initialised is valid */
    LadderCounts counts;
    SessionLoader *loader; /* NULL: not running */
    RunSpec options;       /* options of the run */
} RungCounting;

/* Starts the next rung that is not counted at this size, unless one is running. `waits`: counts all of them
 * now. The thread calls `wake`. */
void rung_counting_go_on(RungCounting *counting, const Ladder *ladder, uint64_t n, bool waits,
                         void (*wake)(void));
/* Takes a result. False: there is no result. */
bool rung_counting_take(RungCounting *counting);

#endif
