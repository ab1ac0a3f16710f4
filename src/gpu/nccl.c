/* Opens NCCL with dlopen (nccl.h). */
#include "gpu/nccl.h"
#include "base/library.h"

#include <dlfcn.h>
#include <stdlib.h>

static bool check(const Nccl *nccl, const char *call, int result, Error *error) {
    return !result || error_set(error, "%s: %s", call, nccl->ncclGetErrorString(result));
}

static bool find_entry_points(Nccl *nccl, Error *error) {
    struct {
        const char *name;
        void *place;
    } entries[] = {
        {"ncclGetVersion", &nccl->ncclGetVersion},   {"ncclGetErrorString", &nccl->ncclGetErrorString},
        {"ncclCommInitAll", &nccl->ncclCommInitAll}, {"ncclCommDestroy", &nccl->ncclCommDestroy},
        {"ncclGroupStart", &nccl->ncclGroupStart},   {"ncclGroupEnd", &nccl->ncclGroupEnd},
        {"ncclAllReduce", &nccl->ncclAllReduce},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(nccl->library, entries[i].name);
        if (!symbol) return error_set(error, "the NCCL here has no %s", entries[i].name);
        *(void **)entries[i].place = symbol;
    }
    return true;
}

bool nccl_open(Nccl *nccl, Cuda *const *gpus, int count, Error *error) {
    const char *given = getenv("REDVIZ_NCCL"), *name = given && *given ? given : "libnccl.so.2";
    int devices[GPU_MOST];
    *nccl = (Nccl){.library = library_open(name)};
    if (!nccl->library)
        return error_set(error, "NCCL (%s) is not installed here; $REDVIZ_NCCL can name its path", name);
    if (!find_entry_points(nccl, error)) return false;
    for (int i = 0; i < count; i++) devices[i] = gpus[i]->device;
    if (!check(nccl, "ncclGetVersion", nccl->ncclGetVersion(&nccl->version), error) ||
        !check(nccl, "ncclCommInitAll", nccl->ncclCommInitAll(nccl->comms, count, devices), error))
        return false;
    nccl->count = count;
    return true;
}

void nccl_close(Nccl *nccl) {
    for (int i = 0; i < nccl->count; i++) nccl->ncclCommDestroy(nccl->comms[i]);
    if (nccl->library) dlclose(nccl->library);
    *nccl = (Nccl){0};
}

bool nccl_all_reduce(const Nccl *nccl, Cuda *const *gpus, const CudaAddress *from, const CudaAddress *to,
                     NcclType type, NcclOp op, Error *error) {
    if (!check(nccl, "ncclGroupStart", nccl->ncclGroupStart(), error)) return false;
    bool good = true;
    for (int i = 0; good && i < nccl->count; i++)
        good = check(nccl, "ncclAllReduce",
                     nccl->ncclAllReduce((const void *)(uintptr_t)from[i], (void *)(uintptr_t)to[i], 1,
                                         (int)type, (int)op, nccl->comms[i], gpus[i]->stream),
                     error);
    return check(nccl, "ncclGroupEnd", nccl->ncclGroupEnd(), good ? error : NULL) && good;
}
