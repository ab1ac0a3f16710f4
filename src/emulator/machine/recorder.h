/* Recorder: makes the events of one traced block. Private to the emulator.
 *
 * Events wait in a short queue, so that of the rounds of a spin loop only the last is written
 * (trace/producer_rules.h). */
#ifndef EMULATOR_MACHINE_RECORDER_H
#define EMULATOR_MACHINE_RECORDER_H

#include "emulator/machine/machine_block.h"

Recorder *recorder_new(const Grid *grid, uint64_t linear);
/* One that leaves the making of events to the hooks. */
Recorder *recorder_with_hooks(const BlockHooks *hooks);
/* Begins an event of `warp` at its turn: kind, warp, pc, mask, turn, interval and occurrence are set, the
 * rest is 0. */
TraceEvent *recorder_begin(Recorder *recorder, const Warp *warp, int pc, uint32_t mask, TraceKind kind);
/* Ends it. `repeatable` and `watches`: what trace_may_repeat() and trace_watches() say of it
 * (trace/producer_rules.h). */
void recorder_end(Recorder *recorder, bool repeatable, bool watches);
/* Writes out what is left and gives the block to the launch. */
void recorder_finish(Recorder *recorder, TraceLaunch *launch);
void recorder_free(Recorder *recorder); /* without giving anything to the launch */

#endif
