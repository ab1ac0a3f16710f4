/* Variables: the .global variables of a loaded module, kept before a kernel changes them. */
#ifndef GPU_VARIABLES_H
#define GPU_VARIABLES_H

#include "gpu/run.h"

typedef struct GpuVariable {
    CudaAddress address;
    size_t bytes;
    uint8_t *before;
} GpuVariable;

typedef struct GpuVariables { /* zero-initialised is a valid empty one */
    GpuVariable *items;
    int count, capacity;
} GpuVariables;

/* Copies what the variables of `module` hold in the run's module. Those that no launch names are not in it. */
bool gpu_variables_keep(GpuVariables *variables, const GpuRun *run, const PtxModule *module, Error *error);
/* Writes that back. */
bool gpu_variables_restore(const GpuVariables *variables, Cuda *cuda, Error *error);
void gpu_variables_done(GpuVariables *variables);

#endif
