/* Clocks: a light rewriting that records the clock at each barrier of block 0. It is smaller than
 * instrument.h's. Block 0 records when it passed each block-wide barrier, and nothing else: the first lane of
 * each of its warps writes %clock64 into a variable of the module where the entry begins, behind each
 * barrier, and before it exits. All other threads only read the clock.
 *
 * The clock is that of the multiprocessor, the same for all warps of a block. */
#ifndef INSTRUMENT_CLOCKS_H
#define INSTRUMENT_CLOCKS_H

#include "base/text.h"
#include "ptx/program.h"

enum {
    CLOCKS_WARPS = 32,
    CLOCKS_SAMPLES = 512, /* of a warp: what comes later is not written, but the exit */
    CLOCKS_BYTES = CLOCKS_WARPS * CLOCKS_SAMPLES * 8
};
#define CLOCKS_VARIABLE "redviz_clocks" /* all zero before a launch */

/* Prints the programs, which are of one module, with clocks. false with `error` where a function that is
 * called has a block-wide barrier: its intervals could not be distinguished. */
bool instrument_clocks(const PtxProgram *const *programs, int count, Text *out, Error *error);

/* Cycles of each barrier interval of the block, from what the variable held after a launch; their number. An
 * interval ends when the last warp has passed its barrier, or exited. */
int instrument_clock_intervals(const uint64_t *samples, double cycles[CLOCKS_SAMPLES]);

#endif
