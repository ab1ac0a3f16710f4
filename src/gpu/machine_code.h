/* Machine code: what the driver's linker makes of PTX, as a cubin (an ELF file), which can be loaded and be
 * disassembled: what is shown is what ran.
 *
 * It is linked with line information, which names the place of every instruction and does not change the
 * instructions (CUDA Driver API, "CU_JIT_GENERATE_LINE_INFO"); the places are those of the .loc directives in the
 * PTX. */
#ifndef GPU_MACHINE_CODE_H
#define GPU_MACHINE_CODE_H

#include "gpu/driver.h"

typedef struct MachineCode {
    void *cubin; /* malloc'd; NULL: none */
    size_t bytes;
} MachineCode;

/* PTX text, 0-terminated; the linker's log goes into the error. */
bool machine_code_link(Cuda *cuda, const char *ptx, MachineCode *code, Error *error);
bool machine_code_load(Cuda *cuda, const MachineCode *code, CudaModule *module, Error *error);
void machine_code_done(MachineCode *code);

#endif
