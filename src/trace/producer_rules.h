/* Producer rules: rules shared by the emulator and the decoder of an instrumented run. With them one
 * execution gives one trace, whichever producer recorded it.
 *
 * --verify still compares two independent runs: these rules decide which events exist and how they are
 * labelled. The values in the events come from the machine on one side and from the emulator on the other.
 * Each producer decides by itself what affects values, such as whether an atomic changes its word. */
#ifndef TRACE_PRODUCER_RULES_H
#define TRACE_PRODUCER_RULES_H

#include "trace/trace.h"

/* ---- shuffles ---- */

typedef enum ShuffleMode { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX } ShuffleMode;

ShuffleMode trace_shuffle_mode(const PtxInstruction *instruction);

/* The lane that `lane` reads; -1: none, it keeps its own value ("shfl.sync" in the PTX ISA, pseudo code).
 * `by` and `control` are the operands b and c. Inline, since the emulator calls it in loops over the
 * lanes. */
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

/* ---- wgmma ---- */

/* An event has some of the `registers` of D: 8, or what is left of them, a power of two. `first`: the first
 * one, its participants. */
static inline int trace_warpgroup_registers(int registers, int first) {
    int left = registers - first;
    return left >= TRACE_MAX_ELEMENTS ? TRACE_MAX_ELEMENTS : left >= 4 ? 4 : left;
}

/* ---- spin loops ----
 *
 * How often a warp iterates a loop that waits for other threads depends on scheduling, so only the last
 * iteration, or round, stays in the trace. A round has up to SPIN_LONGEST_ROUND events of one warp; none
 * changes anything, and at least one watches what others may change. A round repeats the previous one if each
 * event executes the same instruction with the same lanes on the same words. An atomic that finds another
 * value each time does not wait: it competes, and every attempt depends on what it found. So atomics must
 * also have found the same values. */
enum { SPIN_HISTORY = 16, SPIN_LONGEST_ROUND = SPIN_HISTORY / 2 };

/* True if the instruction watches memory: an atom, an ordered load (volatile, relaxed, acquire, mmio), or a
 * wait for an mbarrier. */
bool trace_watches(const PtxInstruction *instruction);

/* True if an event can be part of such a round. `changed`: memory has changed. A red counts as a change, as
 * no thread sees its result; so does an atom of several elements or of 128 bits, as only the first element of
 * its operand is recorded. */
bool trace_may_repeat(TraceKind kind, const PtxInstruction *instruction, bool changed);

/* The latest events of a warp that may repeat, by the producer's numbers for them. */
typedef struct SpinHistory {
    uint64_t event[SPIN_HISTORY];
    int count;
} SpinHistory;

typedef struct SpinEvents { /* gives access to the producer's events */
    /* Compares instruction, lanes, words and found values. */
    bool (*is_same)(const void *context, uint64_t late, uint64_t early);
    bool (*watches)(const void *context, uint64_t event);
    const void *context;
} SpinEvents;

/* Adds an event that may repeat. Returns the number of events in the round that it completes if that repeats
 * the previous round, else 0. With a period of `period` events, the earlier round begins at event[count - 2 *
 * period], the later one at event[count - period]. */
int spin_history_add(SpinHistory *history, uint64_t event, const SpinEvents *events);
/* Removes the earlier round. */
void spin_history_drop_earlier(SpinHistory *history, int period);

#endif
