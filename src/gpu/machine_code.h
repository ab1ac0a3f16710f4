/* Machine code: the cubin that the driver makes of PTX when it loads it. It can be disassembled: what is
 * shown is what runs.
 *
 * CUPTI hands it over when the module is loaded (CUPTI Callback API, CUPTI_CBID_RESOURCE_MODULE_LOADED). The driver's
 * linker would give a cubin, too, but another one: it leaves addresses to relocations, which cost instructions (on an
 * H200 `interleaved` executes 8,200,192 instead of 8,126,464). Line information names the place of every instruction; the
 * places are those of the .loc directives in the PTX. */
#ifndef GPU_MACHINE_CODE_H
#define GPU_MACHINE_CODE_H

#include "gpu/cupti.h"
#include "gpu/driver.h"

typedef struct MachineCode {
    void *cubin; /* malloc'd; NULL: none */
    size_t bytes;
    char *ptx; /* malloc'd; what it was made of */
} MachineCode;

/* Loads PTX text, 0-terminated, with line information, and keeps what the driver made of it. false with `error`: it does
 * not load (with the compiler's log), or CUPTI is not there. */
bool machine_code_load(Cuda *cuda, const char *ptx, CudaModule *module, MachineCode *code, Error *error);
void machine_code_done(MachineCode *code);

#endif
