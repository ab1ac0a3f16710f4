/* The cubin of a module (machine_code.h). */
#include "gpu/machine_code.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void take_module(void *user, int domain, uint32_t id, const void *data) {
    MachineCode *code = user;
    const CuptiResource *resource = data;
    const CuptiModule *module = resource->what;
    if (domain != CUPTI_DOMAIN_RESOURCE || id != CUPTI_MODULE_LOADED || code->cubin) return;
    code->cubin = memory_new(module->bytes); /* CUPTI frees its copy when this returns */
    memcpy(code->cubin, module->cubin, module->bytes);
    code->bytes = module->bytes;
}

static bool subscribe(const Cupti *cupti, MachineCode *code, CuptiSubscriber *subscriber, Error *error) {
    if (!cupti_check(cupti, "cuptiSubscribe", cupti->cuptiSubscribe(subscriber, take_module, code), error))
        return false;
    if (cupti_check(cupti, "cuptiEnableCallback",
                    cupti->cuptiEnableCallback(1, *subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED),
                    error))
        return true;
    cupti->cuptiUnsubscribe(*subscriber);
    return false;
}

bool machine_code_load(Cuda *cuda, const char *ptx, CudaModule *module, MachineCode *code, Error *error) {
    const Cupti *cupti = cupti_open(error);
    CuptiSubscriber subscriber = NULL;
    *code = (MachineCode){0};
    if (!cupti || !subscribe(cupti, code, &subscriber, error)) return false;
    bool good = cuda_load_with_lines(cuda, ptx, module, error);
    cupti->cuptiUnsubscribe(subscriber);
    code->ptx = memory_new(strlen(ptx) + 1);
    memcpy(code->ptx, ptx, strlen(ptx) + 1);
    return good &&
           (code->cubin || error_set(error, "CUPTI does not show the machine code of a loaded module"));
}

void machine_code_done(MachineCode *code) {
    free(code->cubin);
    free(code->ptx);
    *code = (MachineCode){0};
}
