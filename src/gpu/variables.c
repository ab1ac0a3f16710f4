/* Module variables before and after a run (variables.h). */
#include "gpu/variables.h"

#include "base/memory.h"

#include <stdlib.h>

/* The driver does not find variables that no launch names: they are not in the loaded module. */
bool gpu_variables_keep(GpuVariables *variables, const GpuRun *run, const PtxModule *module, Error *error) {
    Cuda *cuda = run->cuda;
    for (int i = 0; i < module->variable_count; i++) {
        GpuVariable variable = {0};
        if (module->variables[i]->space != PTX_SPACE_GLOBAL ||
            cuda->table.cuModuleGetGlobal(&variable.address, &variable.bytes, run->module,
                                          module->variables[i]->name))
            continue;
        variable.before = memory_new(variable.bytes + 1);
        array_push(variables->items, variables->count, variables->capacity, variable);
        if (!CUDA_CALL(cuda, error, cuMemcpyDtoH, variable.before, variable.address, variable.bytes))
            return false;
    }
    return true;
}

bool gpu_variables_restore(const GpuVariables *variables, Cuda *cuda, Error *error) {
    for (int i = 0; i < variables->count; i++) {
        const GpuVariable *variable = &variables->items[i];
        if (!cuda_upload(cuda, variable->address, variable->before, variable->bytes, error)) return false;
    }
    return true;
}

void gpu_variables_done(GpuVariables *variables) {
    for (int i = 0; i < variables->count; i++) free(variables->items[i].before);
    free(variables->items);
    *variables = (GpuVariables){0};
}
