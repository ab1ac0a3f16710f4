/* Recorder: makes the events of one traced block. Private to the emulator.
 *
 * Events wait in a short queue, so that the iterations of a spin loop, which only reads the same words again,
 * can collapse to the last of them. */
#ifndef EMULATOR_MACHINE_RECORDER_H
#define EMULATOR_MACHINE_RECORDER_H

#include "emulator/machine/block.h"

Recorder *recorder_new(const Grid *grid, uint64_t linear);
/* One that leaves the making of events to the hooks. */
Recorder *recorder_with_hooks(const BlockHooks *hooks);
/* Begins an event of `warp` at its turn: kind, warp, pc, mask, turn, interval and occurrence are set, the
 * rest is 0. */
TraceEvent *recorder_begin(Recorder *recorder, const Warp *warp, int pc, uint32_t mask, TraceKind kind);
/* Ends it. `repeatable`: it changed nothing, so that it may be an iteration of a spin loop; `watches`: it
 * reads what others may change (ordered or volatile load, atomic that changed nothing). */
void recorder_end(Recorder *recorder, bool repeatable, bool watches);
/* Writes out what is left and gives the block to the launch. */
void recorder_finish(Recorder *recorder, TraceLaunch *launch);
void recorder_free(Recorder *recorder); /* without giving anything to the launch */

#endif
