/* Linking by the driver (machine_code.h). */
#include "gpu/machine_code.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 8192, PTX_INPUT = 1 /* CU_JIT_INPUT_PTX */ };
/* CUjit_option */
enum { JIT_ERROR_LOG_BUFFER = 5, JIT_ERROR_LOG_BYTES = 6, JIT_GENERATE_LINE_INFO = 12 };

static bool link_with(Cuda *cuda, CudaLink link, const char *ptx, MachineCode *code, Error *call) {
    void *cubin = NULL;
    size_t bytes = 0;
    if (!CUDA_CALL(cuda, call, cuLinkAddData, link, PTX_INPUT, (void *)(uintptr_t)ptx, strlen(ptx) + 1,
                   "redviz.ptx", 0, NULL, NULL) ||
        !CUDA_CALL(cuda, call, cuLinkComplete, link, &cubin, &bytes))
        return false;
    code->cubin = memory_new(bytes); /* the linker's own copy goes with it */
    memcpy(code->cubin, cubin, bytes);
    code->bytes = bytes;
    return true;
}

bool machine_code_link(Cuda *cuda, const char *ptx, MachineCode *code, Error *error) {
    char log[LOG_BYTES] = "";
    int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BYTES, JIT_GENERATE_LINE_INFO};
    void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)1};
    CudaLink link = NULL;
    Error call = {0};
    *code = (MachineCode){0};
    bool good = CUDA_CALL(cuda, &call, cuLinkCreate, 3, options, values, &link) &&
                link_with(cuda, link, ptx, code, &call);
    if (link) cuda->table.cuLinkDestroy(link);
    log[sizeof log - 1] = 0;
    return good || cuda_fail_with_log(&call, log, error);
}

bool machine_code_load(Cuda *cuda, const MachineCode *code, CudaModule *module, Error *error) {
    return CUDA_CALL(cuda, error, cuModuleLoadDataEx, module, code->cubin, 0, NULL, NULL);
}

void machine_code_done(MachineCode *code) {
    free(code->cubin);
    *code = (MachineCode){0};
}
