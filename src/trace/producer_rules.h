/* Producer rules: the rules that the emulator and the decoder of an instrumented run share. With them one
 * execution gives one trace, whoever recorded it.
 *
 * Sharing these rules does not make --verify compare a thing with itself: they decide which events there are and how
 * they are labelled. The values in the events are the machine's on one side and the emulator's on the other. What
 * decides values, such as whether an atomic changes its word, each producer finds out for itself. */
#ifndef TRACE_PRODUCER_RULES_H
#define TRACE_PRODUCER_RULES_H

#include "trace/trace.h"

/* ---- shuffles ---- */

typedef enum ShuffleMode { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX } ShuffleMode;

ShuffleMode trace_shuffle_mode(const PtxInstruction *instruction);

/* The lane that `lane` reads; -1: none, it keeps its own value ("shfl.sync" in the PTX ISA, the pseudo code there).
 * `by` and `control` are the operands b and c. Inline, since the emulator runs it in loops over the lanes. */
static inline __attribute__((always_inline)) int trace_shuffle_source(ShuffleMode mode, int lane, uint32_t by,
                                                                      uint32_t control) {
    int segment = (int)(control >> 8 & 31), clamp = (int)(control & 31), offset = (int)(by & 31);
    int lowest = lane & segment, limit = lowest | (clamp & ~segment);
    switch (mode) {
    case SHUFFLE_UP:
        return lane - offset >= limit ? lane - offset : -1;
    case SHUFFLE_DOWN:
        return lane + offset <= limit ? lane + offset : -1;
    case SHUFFLE_BFLY:
        return (lane ^ offset) <= limit ? lane ^ offset : -1;
    case SHUFFLE_IDX:
        break;
    }
    int source = lowest | (offset & ~segment);
    return source <= limit ? source : -1;
}

/* ---- spin loops ----
 *
 * How often a warp goes round a loop that waits for others depends on scheduling, so of such rounds only the last
 * stays in the trace. A round is up to SPIN_LONGEST_ROUND events of one warp of which none changes anything and at
 * least one watches what others may change; it repeats the round before where each event executes the same
 * instruction with the same lanes on the same words. An atomic that finds another value each time does not wait: it
 * competes, and every attempt goes on from what it found; so atomics must also have found the same. */
enum { SPIN_HISTORY = 16, SPIN_LONGEST_ROUND = SPIN_HISTORY / 2 };

/* Does the instruction watch memory: an atom, an ordered load (volatile, relaxed, acquire, mmio), or a wait for an
 * mbarrier? */
bool trace_watches(const PtxInstruction *instruction);

/* Can an event be part of such a round? `changed`: memory is not what it was. A red counts as a change, as its result
 * is not seen by any thread; so does an atom of several elements, or of 128 bits, as only the first element of its
 * operand is recorded. */
bool trace_may_repeat(TraceKind kind, const PtxInstruction *instruction, bool changed);

/* The latest events of a warp, as long as they may repeat, by the numbers that a producer gives them. */
typedef struct SpinHistory {
    uint64_t event[SPIN_HISTORY];
    int count;
} SpinHistory;

typedef struct SpinEvents { /* what a producer knows of its events */
    bool (*is_same)(const void *context, uint64_t late,
                    uint64_t early); /* instruction, lanes, words, found values */
    bool (*watches)(const void *context, uint64_t event);
    const void *context;
} SpinEvents;

/* Adds an event that may repeat. Returns how many events the round has that it completes, where that repeats the round
 * before; else 0. Of `period` events each, the earlier round begins at event[count - 2 * period], the later one at
 * event[count - period]. */
int spin_history_add(SpinHistory *history, uint64_t event, const SpinEvents *events);
/* Removes the earlier round. */
void spin_history_drop_earlier(SpinHistory *history, int period);

#endif
