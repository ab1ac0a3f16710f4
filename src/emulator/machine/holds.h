/* Holds: lanes that wait where an order of the run says so (trace/hold.h). Private to the emulator. */
#ifndef EMULATOR_MACHINE_HOLDS_H
#define EMULATOR_MACHINE_HOLDS_H

#include "emulator/machine/machine_block.h"
#include "trace/hold.h"

/* The holds of one launch; NULL: it has none. `list` is borrowed and gets the ends of its holds. */
Holds *holds_new(Hold *list, int count, int launch);
void holds_free(Holds *holds);

/* The warp's current fragment is about to execute `op`. False: it is held. Else some lanes may have been
 * split off, which are held. */
bool holds_pass(Block *block, Warp *warp, const Op *op);
/* The current fragment has executed `op`: ends the holds that waited for it, and what they held has its
 * turn. */
void holds_executed(Block *block, Warp *warp, const Op *op);
/* Another block, whose lanes go on before this block does: what they waited for has just happened. NULL:
 * none. */
Block *holds_released(const Block *block);
void holds_go_on(const Block *block); /* that block is about to run */
bool holds_any_in(const Block *block);
/* Nothing else of the block can run: ends the holds of the block that wait for the block itself. */
bool holds_give_up_in(Block *block);
/* Nothing else of the grid can run: ends all holds. False: there is none. */
bool holds_give_up(Holds *holds);

#endif
