/* Recording: the part of another producer's trace that a guided run uses. Part of emulator.h.
 *
 * Values that only scheduling decides differ between two machines, and later instructions may then take
 * another path. A guided run takes such values from the other producer's events, thread by thread, and
 * computes everything else; so its events must equal the other's exactly. It takes
 *   - the results of atomics and of ordered loads;
 *   - the results of other loads of words that other blocks, earlier launches, or atomics of this block have
 *     written;
 *   - the result of a shuffle in a lane whose source lane does not participate, which PTX leaves undefined;
 *   - the results of .approx instructions that lie within the error that PTX states, and reads of %clock and
 *     the like (`approximate`);
 *   - sums of tensor cores that lie within the bound of their rounding (instructions/matrix_dot.h).
 * It takes no other values: if one differs, the event differs. */
#ifndef EMULATOR_MACHINE_RECORDING_H
#define EMULATOR_MACHINE_RECORDING_H

#include "trace/trace.h"

typedef struct EmulatorRecording {
    const TraceLaunch *recorded; /* of the same program and geometry; its traced blocks run */
    /* [buffer_count] the other producer's addresses of the buffers, to translate pointers; 0: unknown */
    const uint64_t *base;
    int buffer_count;
    bool approximate; /* results that PTX does not define bit by bit are events too (TRACE_APPROXIMATE) */
} EmulatorRecording;

typedef struct EmulatorTakenValues {
    /* values that scheduling or the machine decides; how many of them differed */
    uint64_t scheduled, scheduled_other;
    uint64_t approximate, approximate_other; /* the same for .approx results */
    uint64_t products, products_other;       /* and for elements of D of mma and wmma */
} EmulatorTakenValues;

#endif
