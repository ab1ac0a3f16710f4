/* Machine code: the cubin that the driver compiles from PTX when it loads it. The disassembly shows the code
 * that runs.
 *
 * CUPTI provides it when the module is loaded (CUPTI Callback API, CUPTI_CBID_RESOURCE_MODULE_LOADED). The
 * driver's linker would also give a cubin, but a different one: it leaves addresses to relocations, which
 * cost instructions (on an H200 `interleaved` executes 8,200,192 instead of 8,126,464). Line information
 * gives the source line of every instruction, taken from the .loc directives in the PTX. */
#ifndef GPU_MACHINE_CODE_H
#define GPU_MACHINE_CODE_H

#include "gpu/cupti.h"
#include "gpu/driver.h"

typedef struct MachineCode {
    void *cubin; /* malloc'd; NULL: none */
    size_t bytes;
    char *ptx; /* malloc'd; the PTX it was compiled from */
} MachineCode;

/* Loads 0-terminated PTX text with line information, and keeps the driver's machine code. False with `error`:
 * it does not load (with the compiler's log), or CUPTI is not available. */
bool machine_code_load(Cuda *cuda, const char *ptx, CudaModule *module, MachineCode *code, Error *error);
void machine_code_done(MachineCode *code);

#endif
