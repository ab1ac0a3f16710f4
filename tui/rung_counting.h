/* Rung counting: the emulator counts the rungs that the ladder screen shows, one after another: at once for a
 * script, in a worker thread while the interface runs. */
#ifndef TUI_RUNG_COUNTING_H
#define TUI_RUNG_COUNTING_H

#include "ladder/ladder.h"
#include "tui/session_loader.h"

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
