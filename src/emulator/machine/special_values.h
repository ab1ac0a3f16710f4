/* Special registers and preludes: the values of %tid, %clock and the like while a warp runs. Private to the
 * emulator. */
#ifndef EMULATOR_MACHINE_SPECIAL_VALUES_H
#define EMULATOR_MACHINE_SPECIAL_VALUES_H

#include "emulator/machine/warp.h"

/* The value of row `special` of lower_specials.def in one lane. */
uint64_t special_value(int special, const Warp *warp, int lane);
/* Runs the preludes of an instruction. */
void prelude_run(const Prelude *prelude, Warp *warp);
/* An OpFunction: runs the preludes of `op`, then the Op that op->extra points to. */
void run_after_preludes(const Op *op, Warp *const *warps, const uint32_t *masks, int count);

#endif
