/* Call values: arguments and results of calls, in registers or in .param variables of a frame. Private to the
 * emulator. */
#ifndef EMULATOR_MACHINE_CALL_VALUES_H
#define EMULATOR_MACHINE_CALL_VALUES_H

#include "emulator/machine/machine_block.h"

/* Reads the first `bytes` bytes of the value in one lane; 0 beyond its end. */
void call_value_read(const Warp *warp, const Frame *frame, const CallValue *value, int lane, void *to,
                     size_t bytes);
void call_value_write(const Frame *frame, const CallValue *value, int lane, const void *from, size_t bytes);
/* Passes `count` values from one frame to another. */
void call_values_pass(const Warp *warp, uint32_t mask, const Frame *from, const CallValue *source, Frame *to,
                      const CallValue *destination, int count);
/* Passes the results of lanes that leave `frame` to its caller. */
void call_values_return(const Warp *warp, const Frame *frame, uint32_t mask);

#endif
