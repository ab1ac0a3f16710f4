/* Guided runs: every traced block runs again, alone, with the values that another producer recorded
 * (recording.h). Private to the emulator. */
#ifndef EMULATOR_MACHINE_GUIDED_RUN_H
#define EMULATOR_MACHINE_GUIDED_RUN_H

#include "emulator/machine/grid.h"
#include "emulator/machine/recording.h"

/* Runs the grid, then each block of `recording`, whose events go into the trace. `earlier`: one bit per word
 * that earlier launches wrote, `earlier_words` of them; replaced by the bits after this launch (malloc'd). */
bool grid_run_guided(Grid *grid, const EmulatorRecording *recording, uint64_t memory_limit,
                     uint64_t **earlier, uint64_t *earlier_words, EmulatorTakenValues *taken, Trace *trace,
                     Error *error);

#endif
