/* Printing from kernels: vprintf, and strings in the memory of a lane. Private to the emulator. */
#ifndef EMULATOR_INSTRUCTIONS_PRINT_H
#define EMULATOR_INSTRUCTIONS_PRINT_H

#include "emulator/machine/warp.h"

/* Formats as printf does: `format` and `arguments` are generic addresses (arguments lie as vprintf wants
 * them: each aligned to its size). Returns the number of arguments, as CUDA does, or -1 where the format
 * cannot be read. `out` NULL: nothing is printed. */
int print_format(const Warp *warp, int lane, uint64_t format, uint64_t arguments, Text *out);
/* The string at a generic address, at most `limit` bytes of it. */
void print_string(const Warp *warp, int lane, uint64_t address, size_t limit, Text *out);

#endif
