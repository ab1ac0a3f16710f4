/* Variables: saves the .global variables of a loaded module before a kernel changes them. */
#ifndef GPU_VARIABLES_H
#define GPU_VARIABLES_H

#include "gpu/run.h"

typedef struct GpuVariable {
    CudaAddress address;
    size_t bytes;
    uint8_t *before;
} GpuVariable;

typedef struct GpuVariables { /* zero-initialized: valid and empty */
    GpuVariable *items;
    int count, capacity;
} GpuVariables;

/* Copies the contents of `module`'s variables in the run's module. Variables that no launch names are not in
 * it. */
bool gpu_variables_keep(GpuVariables *variables, const GpuRun *run, const PtxModule *module, Error *error);
/* Writes them back. */
bool gpu_variables_restore(const GpuVariables *variables, Cuda *cuda, Error *error);
void gpu_variables_done(GpuVariables *variables);

#endif
