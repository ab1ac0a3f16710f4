/* Nvdisasm: a cubin as text, and the text as instructions.
 *
 * `nvdisasm -c -gi -gp` prints the code sections with the source line, the inlined-at chain and the PTX line
 * of each instruction (CUDA Binary Utilities, "nvdisasm: Command-line Options"). It comes with the CUDA
 * toolkit, not with the driver (cuda_tools.h). */
#ifndef SASS_NVDISASM_H
#define SASS_NVDISASM_H

#include "sass/sass.h"

#include <stddef.h>

/* Disassembles the code of `entry` in a cubin. `kernel` must be empty; false leaves it empty. */
bool sass_disassemble(const void *cubin, size_t bytes, const char *entry, SassKernel *kernel, Error *error);

/* As above, for the output of nvdisasm. Omits the padding after the last instruction, and labels that no
 * instruction names. A compiler-generated subroutine (a division) has its name as file and line 0, inlined at
 * its only call. */
bool sass_parse(const char *text, const char *entry, SassKernel *kernel, Error *error);

#endif
