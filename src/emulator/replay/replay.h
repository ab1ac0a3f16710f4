/* Replay: what the emulator asks while it runs a recorded block again (emulator.h says what a replay is).
 * Private to the emulator.
 *
 * The events decide whose turn it is; loads and atomics get the values that were recorded instead of touching
 * memory; everything else is executed, and must come out as recorded. */
#ifndef EMULATOR_REPLAY_REPLAY_H
#define EMULATOR_REPLAY_REPLAY_H

#include "emulator/machine/access.h"

/* Is the next event of `warp` this instruction, for some of `lanes`? */
bool replay_expects(const Replay *replay, const Warp *warp, int pc, uint32_t lanes);
/* The mask of the warp's next event, if that is this instruction; else 0. */
uint32_t replay_next_mask(const Replay *replay, const Warp *warp, int pc);
/* Lanes ran `op`, which touches nothing but registers. */
void replay_lanes(Replay *replay, const Warp *warp, const Op *op, uint32_t mask);
/* An access of shared, global or local memory. */
Outcome replay_access(const Access *access);
/* Values moved between registers and the parameters of the frame. */
void replay_parameters(const Access *access);

/* Another instruction makes an event: the event to fill in, as the recorder gives it; and it is filled in. */
TraceEvent *replay_begin(Replay *replay, const Warp *warp, int pc, uint32_t mask);
void replay_end(Replay *replay);

#endif
