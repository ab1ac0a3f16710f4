/* Assemble: the machine code of a kernel without a GPU.
 *
 * `ptxas -lineinfo -v` assembles the PTX, nvdisasm disassembles the cubin. The code may differ from what a
 * driver makes of the same PTX, since that has a ptxas of its own version. Nothing of it is executed, so
 * nothing is counted or sampled. */
#ifndef SASS_ASSEMBLE_H
#define SASS_ASSEMBLE_H

#include "ptx/program.h"
#include "sass/sass.h"

/* Assembles the program for sm_90, the machines of recordings; for its own target if that is newer or has
 * features of its own (sm_90a). ptxas may take this many seconds.
 * `kernel` must be empty; false leaves it empty. `error` then says what is missing, or
 * the first error of ptxas and the line of the PTX. */
bool sass_assemble(const PtxProgram *program, double seconds, SassKernel *kernel, Error *error);

/* What `ptxas -v` says of an entry. False: nothing. */
bool sass_read_resources(const char *messages, const char *entry, SassResources *resources);

/* The first error among the messages of ptxas for the printed program; returns false. */
bool sass_ptxas_error(const char *messages, const char *printed, const PtxProgram *program, Error *error);

#endif
