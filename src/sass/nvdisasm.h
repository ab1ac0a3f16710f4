/* Nvdisasm: a cubin as text, and the text as instructions.
 *
 * `nvdisasm -c -gi -gp` prints the code sections with the source line and the inlined-at chain of each instruction, and
 * its line in the PTX (CUDA Binary Utilities, "nvdisasm: Command-line Options"). It comes with the CUDA toolkit, not
 * with the driver. */
#ifndef SASS_NVDISASM_H
#define SASS_NVDISASM_H

#include "sass/sass.h"

#include <stddef.h>

/* $REDVIZ_NVDISASM, else bin/nvdisasm of $CUDA_HOME and $CUDA_PATH, PATH, and /usr/local/cuda*. false with `error`:
 * none of them is there. */
bool sass_find_nvdisasm(char *path, size_t bytes, Error *error);

/* Disassembles the code of `entry` in a cubin. `kernel` is empty before; on false it is empty again. */
bool sass_disassemble(const void *cubin, size_t bytes, const char *entry, SassKernel *kernel, Error *error);

/* The same of what nvdisasm printed. The padding behind the last instruction is left out; labels that no instruction
 * names are, too. A subroutine of the compiler's own (a division) has its name as its file and line 0, inlined where the
 * only call of it is. */
bool sass_parse(const char *text, const char *entry, SassKernel *kernel, Error *error);

#endif
