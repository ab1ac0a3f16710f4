/* Printing from kernels: vprintf, and strings in a lane's memory. Private to the emulator. */
#ifndef EMULATOR_INSTRUCTIONS_PRINT_H
#define EMULATOR_INSTRUCTIONS_PRINT_H

#include "emulator/machine/warp.h"

/* Formats as printf does. `format` and `arguments` are generic addresses; the arguments are laid out as
 * vprintf expects, each aligned to its size. Returns the number of arguments, as CUDA does, or -1 if the
 * format cannot be read. `out` NULL: prints nothing. */
int print_format(const Warp *warp, int lane, uint64_t format, uint64_t arguments, Text *out);
/* Prints at most `limit` bytes of the string at a generic address. */
void print_string(const Warp *warp, int lane, uint64_t address, size_t limit, Text *out);

#endif
