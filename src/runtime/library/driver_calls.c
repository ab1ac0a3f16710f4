/* What the driver has beyond the runtime: contexts, and functions asked for by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "runtime/library/client.h"

/* There is one context. A thread's stack of contexts is a count, and whether one is current. */
static char the_context[64];
static _Thread_local struct {
    bool is_current;
    int depth;
} contexts;

int context_get(void **context) {
    *context = the_context;
    return 0;
}

int context_current(void **context) {
    *context = contexts.is_current ? the_context : NULL;
    return 0;
}

int context_set(const void *context) {
    contexts.is_current = context != NULL;
    return 0;
}

int context_push(void **context) {
    if (context != NULL) *context = the_context;
    contexts.depth++;
    contexts.is_current = true;
    return 0;
}

int context_pop(void **context) {
    if (!contexts.is_current) return cudaErrorDeviceUninitialized;
    if (context != NULL) *context = the_context;
    if (contexts.depth > 0) contexts.depth--;
    contexts.is_current = contexts.depth > 0;
    return 0;
}

/* Names that mean another function from some version of CUDA on; all others mean the name with _v2, if there
 * is one, or the name itself. */
static const struct {
    const char *name;
    int version;
    const char *function;
} LATER[] = {
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuGraphAddDependencies", 12030, "cuGraphAddDependencies_v2"},
    {"cuGraphGetEdges", 12030, "cuGraphGetEdges_v2"},
    {"cuGraphNodeGetDependencies", 12030, "cuGraphNodeGetDependencies_v2"},
    {"cuGraphNodeGetDependentNodes", 12030, "cuGraphNodeGetDependentNodes_v2"},
    {"cuGraphAddNode", 12030, "cuGraphAddNode_v2"},
    {"cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies_v2"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
};

/* Finds a function of this library. `status` is a CUdriverProcAddressQueryResult. */
int entry_point(const char *name, int version, void **function, int *status) {
    enum { FOUND, NOT_FOUND };
    static void *self;
    Dl_info info;
    char other[128];
    if (self == NULL && dladdr((void *)LATER, &info) != 0)
        self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    *function = NULL;
    bool is_listed = false;
    for (size_t i = 0; i < sizeof LATER / sizeof *LATER && *function == NULL; i++) {
        if (strcmp(name, LATER[i].name) != 0) continue;
        is_listed = strcmp(name, "cuCtxCreate") != 0;
        if (version >= LATER[i].version) *function = dlsym(self, LATER[i].function);
    }
    if (*function == NULL && !is_listed && snprintf(other, sizeof other, "%s_v2", name) < (int)sizeof other)
        *function = dlsym(self, other);
    if (*function == NULL) *function = dlsym(self, name);
    if (status != NULL) *status = *function != NULL ? FOUND : NOT_FOUND;
    return *function != NULL ? 0 : cudaErrorSymbolNotFound;
}

/* NVRTC keeps what it has compiled in a cache of the driver, and does without if there is none: no failure to
 * speak of. Seen in NVRTC 12.9 and 13.0. */
static const uint8_t COMPILER_CACHE[16] = {0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41,
                                           0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28};

int export_table(const void **table, const void *id) {
    if (table != NULL) *table = NULL;
    if (id != NULL && memcmp(id, COMPILER_CACHE, sizeof COMPILER_CACHE) == 0) return cudaErrorNotSupported;
    return lacks("cuGetExportTable");
}
