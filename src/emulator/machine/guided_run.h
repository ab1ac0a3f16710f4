/* Fed runs (emulator.h, Feeding): who writes which words, and blocks that run alone. Private to the emulator.
 */
#ifndef EMULATOR_MACHINE_GUIDED_RUN_H
#define EMULATOR_MACHINE_GUIDED_RUN_H

#include "emulator/machine/grid.h"
#include "emulator/machine/recording.h"

/* What the fed blocks write, each by itself, and what all others write. */
struct Writers {
    const TraceLaunch *recorded;
    Footprint **footprints; /* [block_count of `recorded` + 1]: the last is of the others */
};

Footprint *writers_footprint(const Writers *writers, uint64_t block);

/* `earlier`: words that earlier launches wrote, a bit each for `earlier_words` of them; becomes those after
 * this launch (malloc'd). */
bool grid_run_fed(Grid *grid, const EmulatorRecording *recorded_values, uint64_t memory_limit,
                  uint64_t **earlier, uint64_t *earlier_words, EmulatorTakenValues *taken, Trace *trace,
                  Error *error);

#endif
