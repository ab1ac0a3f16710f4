/* Recorder: records the events of one traced block. Private to the emulator.
 *
 * Events wait in a short queue, so that only the last iteration of a spin loop is written
 * (trace/producer_rules.h). */
#ifndef EMULATOR_MACHINE_RECORDER_H
#define EMULATOR_MACHINE_RECORDER_H

#include "emulator/machine/machine_block.h"

Recorder *recorder_new(const Grid *grid, uint64_t linear);
/* A recorder whose hooks create the events. */
Recorder *recorder_with_hooks(const BlockHooks *hooks);
/* Begins an event of `warp` at its turn: sets kind, warp, pc, mask, turn, interval and occurrence; the rest
 * is 0. */
TraceEvent *recorder_begin(Recorder *recorder, const Warp *warp, int pc, uint32_t mask, TraceKind kind);
/* Ends the event. `repeatable` and `watches`: the results of trace_may_repeat() and trace_watches() for it
 * (trace/producer_rules.h). */
void recorder_end(Recorder *recorder, bool repeatable, bool watches);
/* Writes out the remaining events and adds the block to the launch. */
void recorder_finish(Recorder *recorder, TraceLaunch *launch);
void recorder_free(Recorder *recorder); /* without adding anything to the launch */

#endif
