/* Recording: the part of another producer's trace that a guided run takes. Part of emulator.h.
 *
 * What only scheduling decides differs between two machines, and everything after it may follow another path. A
 * guided run takes such values from the events that the other producer recorded, thread by thread, and computes
 * everything else itself; so its events must equal the other's, exactly. It takes
 *   - the results of atomics and of ordered loads;
 *   - what other loads find in words that other blocks, earlier launches, or atomics of this block have written;
 *   - what a shuffle gives to a lane whose source lane takes no part, which PTX leaves undefined;
 *   - the results of .approx instructions that lie within the error that PTX states, and reads of %clock and the
 *     like (`approximate`);
 *   - sums of tensor cores that lie within the bound of their rounding (instructions/matrix_dot.h).
 * It never takes any other value: where one differs, the event differs. */
#ifndef EMULATOR_MACHINE_RECORDING_H
#define EMULATOR_MACHINE_RECORDING_H

#include "trace/trace.h"

typedef struct EmulatorRecording {
    const TraceLaunch *recorded; /* of the same program and geometry; its traced blocks are run */
    const uint64_t *base; /* [buffer_count] where the other producer had the buffers, 0: unknown; pointers
                                    are translated */
    int buffer_count;
    bool approximate; /* results that PTX does not define to the bit are events, too (TRACE_APPROXIMATE) */
} EmulatorRecording;

typedef struct EmulatorTakenValues {
    uint64_t scheduled,
        scheduled_other; /* values that scheduling or the machine decides; of these, those that differed */
    uint64_t approximate, approximate_other; /* the same for .approx results */
    uint64_t products, products_other;       /* and for elements of D of mma and wmma */
} EmulatorTakenValues;

#endif
