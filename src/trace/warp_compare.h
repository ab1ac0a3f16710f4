/* Warp comparison: the waits of a timeline of warps against the emulator's trace of the same run.
 *
 * Lengths are the machine's. What both must agree on:
 * - For each lane of a warp of a traced block, the order of its waits at barriers and for groups of copies,
 *   of which the trace has events. A wait is recorded by the lowest lane of those that wait together. Where
 *   the machine splits a warp otherwise, other lanes record it: then the lane's waits must be events that it
 *   took part in, with all those of which it is the lowest lane.
 * - The number of waits of each site: no more than the emulator executed its instruction, and as many where
 *   all warps of the launch are on the timeline. Parts of a warp count each: other parts, other counts, up to
 *   one for each lane.
 *
 * Rounds of a loop that waits for other threads are left out of the order: their number is no one's to
 * know. */
#ifndef TRACE_WARP_COMPARE_H
#define TRACE_WARP_COMPARE_H

#include "trace/trace.h"
#include "trace/warp_timeline.h"

typedef struct WarpComparison {
    int warps;        /* of traced blocks */
    int agree, split; /* of these: nothing differs; of these again: other lanes recorded, as above */
    int other_counts; /* sites whose number differs as parts of a warp can make it */
    bool has_counts;  /* of a launch at least, all warps are there */
    Text difference;  /* the first, without a line's end; empty: none */
} WarpComparison;

/* `rounds`: [launch][pc] the instruction is in a loop that may wait for others
 * (instrument_find_waiting()). */
void warp_compare(const WarpTimeline *timeline, const Trace *trace, bool *const *rounds, WarpComparison *out);
void warp_comparison_done(WarpComparison *comparison);

#endif
