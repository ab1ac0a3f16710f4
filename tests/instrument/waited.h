/* A kernel with the wait probe, run by the emulator beside its original. The emulated machine has one
 * multiprocessor, so that every warp is traced. */
#ifndef TESTS_INSTRUMENT_WAITED_H
#define TESTS_INSTRUMENT_WAITED_H

#include "instrument/wait_probe.h"
#include "trace/warp_compare.h"
#include "twin.h"

extern const WaitProbeOptions waited_options; /* all that is traced by default, room for all */

typedef struct Waited {
    const char *name;
    WaitProbeOptions options;
    PtxModule *module, *probed_module;
    PtxProgram *programs[PLAN_LAUNCHES], *probed[PLAN_LAUNCHES];
    Plan plans[2];
    Emulator *emulators[2];
    Trace *traces[2];
    WaitSites sites;
    Text text;
    uint8_t *buffers[PLAN_LAUNCHES];
} Waited;

PtxProgram *waited_link(const Waited *waited, PtxModule *module, const char *name);
/* All launches of the plans, from `module`. */
void waited_instrument(Waited *waited);
/* Runs both; fails if their results differ. */
void waited_run(Waited *waited);
void waited_done(Waited *waited);

uint32_t waited_wanted_slots(const Waited *waited, int launch); /* also by warps that got none */
uint32_t waited_used_slots(const Waited *waited, int launch);
const WaitHeader *waited_header(const Waited *waited, int launch, uint32_t slot);
const WaitRecord *waited_records(const Waited *waited, int launch, uint32_t slot, int lane);

/* Its records; lines in no order, waits of a lane after those of the lane before, without lengths. The caller
 * frees it. */
WarpTimeline *waited_timeline(const Waited *waited);
/* Against the emulator's trace of the original. */
void waited_compare(const Waited *waited, const WarpTimeline *timeline, WarpComparison *comparison);
/* Fails unless each warp is there once, and its waits agree with the emulator's trace of the original
 * (warp_compare()). */
void waited_check(const Waited *waited);

#endif
