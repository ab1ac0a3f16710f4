/* The mbarriers of a block at one of its events, and what each warp does with them; derived from the traced
 * events of the block alone. The rules are those of "Parallel Synchronization and Communication Instructions:
 * mbarrier" in the PTX ISA.
 *
 * The trace shows when a copy is ordered, not when its bytes arrive. A phase that expects bytes therefore
 * counts as complete at the first event that proves it: a wait that finds it complete, or an arrival in the
 * next phase. Arrivals from other blocks of a cluster are events of those blocks, and are not counted. */
#ifndef TUI_SCENE_MBARRIER_STATE_H
#define TUI_SCENE_MBARRIER_STATE_H

#include "trace/trace.h"

enum { MOST_MBARRIERS = 64, MOST_MBARRIER_WARPS = 32, NO_MBARRIER = -1 };

typedef struct TracedMbarrier {
    int symbol;         /* of the launch */
    uint64_t offset;    /* bytes in the symbol */
    int64_t count;      /* arrivals that a phase takes */
    int64_t pending;    /* arrivals that the current phase still needs */
    int64_t expected;   /* bytes that the current phase expects */
    int64_t ordered;    /* bytes of the copies ordered for it */
    bool is_here;       /* the event is an operation on it, or orders a copy that completes on it */
    uint64_t phase;     /* number of the current phase, from 0; its parity is that of the number */
    bool awaits_copies; /* an arrival of the current phase follows cp.async copies */
    bool is_copied_to;  /* bulk copies complete on it, somewhere in the block's trace */
    uint32_t arrived;   /* warps that have arrived in the current phase, by bit */
    uint32_t ever;      /* warps that arrive in any phase of the trace */
    /* Arrivals of each of these warps in a phase; 0: unknown, they differ. */
    int64_t arrivals_per_warp;
} TracedMbarrier;

typedef enum MbarrierActivity {
    WARP_RUNS,
    WARP_WAITS, /* its next event, or its latest, is a wait for a phase that is not complete */
    WARP_HAS_ENDED
} MbarrierActivity;

typedef struct MbarrierWarp {
    bool orders_copies; /* anywhere in the block's trace: to an mbarrier */
    /* Anywhere in the trace: waits for an mbarrier of copies, and loads what they wrote. */
    bool waits_for_copies, loads_copied;
    MbarrierActivity activity;
    int event;      /* RUNS: its latest event, NO_MBARRIER: none yet */
    int mbarrier;   /* WAITS: index of the mbarrier */
    uint64_t phase; /* WAITS: the number of the phase */
} MbarrierWarp;

typedef struct MbarrierState {
    TracedMbarrier mbarriers[MOST_MBARRIERS]; /* those initialized, by symbol and offset */
    int count;
    bool has_unknown_copies; /* the mbarrier of a copy is not in the trace: `ordered` is unknown */
    MbarrierWarp warps[MOST_MBARRIER_WARPS];
    int warp_count;
} MbarrierState;

/* The states of a block, which is read as a whole once; both arguments are borrowed. */
typedef struct MbarrierHistory MbarrierHistory;

MbarrierHistory *mbarrier_history_new(const TraceLaunch *launch, const TraceBlock *block);
void mbarrier_history_free(MbarrierHistory *history); /* NULL: nothing */
/* The state just after `event`, 0 or more; borrowed until the next call, which finds it at once for the same
 * event. */
const MbarrierState *mbarrier_history_at(MbarrierHistory *history, int event);
/* The phase needs nothing more so far, but earlier phases are complete. */
bool mbarrier_is_between_phases(const TracedMbarrier *mbarrier);
/* Warps whose arrival the current phase lacks; 0: none, or the arrivals of other phases do not tell. */
uint32_t mbarrier_missing_warps(const TracedMbarrier *mbarrier);
/* "full[1]", where the symbol holds nothing but mbarriers; "gate", if it is one; else "shared+16". */
void mbarrier_print_name(const TraceLaunch *launch, const MbarrierState *state, int index, char *out,
                         size_t bytes);

#endif
