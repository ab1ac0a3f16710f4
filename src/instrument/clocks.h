/* Clocks: a light rewriting that records the clock at each barrier of block 0. It is smaller than that of
 * instrument.h. Block 0 only records when it passes each block-wide barrier: the first lane of each of its
 * warps writes %clock64 into a module variable at the start of the entry, after each barrier, and before it
 * exits. All other threads only read the clock.
 *
 * The clock belongs to the multiprocessor and is the same for all warps of a block. */
#ifndef INSTRUMENT_CLOCKS_H
#define INSTRUMENT_CLOCKS_H

#include "base/text.h"
#include "ptx/program.h"

enum {
    CLOCKS_WARPS = 32,
    CLOCKS_SAMPLES = 512, /* per warp: later samples, except the exit, are not written */
    CLOCKS_BYTES = CLOCKS_WARPS * CLOCKS_SAMPLES * 8
};
#define CLOCKS_VARIABLE "redviz_clocks" /* all zero before a launch */

/* Prints the programs of one module with clocks. False with `error` if a called function has a block-wide
 * barrier: its intervals could not be distinguished. */
bool instrument_clocks(const PtxProgram *const *programs, int count, Text *out, Error *error);

/* Computes the cycles of each barrier interval of the block from the variable's contents after a launch;
 * returns their number. An interval ends when the last warp has passed its barrier, or exited. */
int instrument_clock_intervals(const uint64_t *samples, double cycles[CLOCKS_SAMPLES]);

#endif
