#include "gpu/libraries.h"

#include "gpu/cupti.h"
#include "gpu/driver.h"

#include <dlfcn.h>

/* Calls an entry point that returns a number; 0: it does not exist. */
static uint32_t ask(void *library, const char *name) {
    uint32_t version = 0;
    int (*entry)(uint32_t *) = NULL;
    *(void **)(void *)&entry = library ? dlsym(library, name) : NULL;
    return entry && entry(&version) == 0 ? version : 0;
}

void found_print(Text *out) {
    void *driver = cuda_library();
    uint32_t version = ask(driver, "cuDriverGetVersion");
    if (version)
        text_print(out, "CUDA driver %u.%u\n", version / 1000, version % 1000 / 10);
    else
        text_add(out, "CUDA driver: none found\n");
    if (driver) dlclose(driver);
    const Cupti *cupti = cupti_open(NULL);
    version = cupti ? ask(cupti->library, "cuptiGetVersion") : 0;
    if (version)
        text_print(out, "CUPTI %u\n", version);
    else
        text_add(out, cupti ? "CUPTI: found\n" : "CUPTI: none found\n");
}
