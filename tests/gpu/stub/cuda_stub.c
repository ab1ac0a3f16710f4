/* A CUDA driver without a GPU: memory is the host's, kernels do nothing; with STUB_EMULATES, the emulator
 * runs them (emulated.c). For tests of the driver layer, and of its users.
 *
 * $STUB_FAIL="NAME=CODE" makes the entry point NAME fail; $STUB_DEVICES is the number of devices (1);
 * $STUB_BLOCKS: blocks per multiprocessor (8); $STUB_BUSY: the stream never becomes idle; $STUB_SLOW:
 * milliseconds that a query of the stream takes. Built with STUB_OLD, the library lacks graphs, as an old
 * driver does. */
#define _POSIX_C_SOURCE 200809L
#include "cuda_stub.h"

#include <stdio.h>
#include <time.h>
#define PLAIN(name, ...)                                                                                     \
    ENTRY(name, __VA_ARGS__);                                                                                \
    ENTRY(name, __VA_ARGS__) {                                                                               \
        return outcome(#name);                                                                               \
    }
#define MAKES(name, value, ...)                                                                              \
    ENTRY(name, __VA_ARGS__);                                                                                \
    ENTRY(name, __VA_ARGS__) {                                                                               \
        *out = (value);                                                                                      \
        return outcome(#name);                                                                               \
    }

static int thing; /* what handles point to */

PLAIN(cuInit, unsigned flags)
MAKES(cuDriverGetVersion, 13000, int *out)
MAKES(cuDeviceGetCount, getenv("STUB_DEVICES") ? atoi(getenv("STUB_DEVICES")) : 1, int *out)
MAKES(cuDeviceGet, 0, int *out, int ordinal)
MAKES(cuDeviceGetAttribute, which == 16 ? 132 : which == 39 ? 2048 : 1, int *out, int which, int device)
PLAIN(cuDeviceGetUuid_v2, void *uuid, int device)
MAKES(cuDevicePrimaryCtxRetain, &thing, void **out, int device)
PLAIN(cuDevicePrimaryCtxRelease_v2, int device)
PLAIN(cuCtxSetCurrent, void *context)
MAKES(cuDeviceCanAccessPeer, !getenv("STUB_NO_PEERS"), int *out, int device, int peer)
PLAIN(cuCtxEnablePeerAccess, void *peer, unsigned flags)
PLAIN(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
#ifndef STUB_EMULATES
static uint64_t variable[1 << 15]; /* every variable of every module */
PLAIN(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t bytes, void *stream)
ENTRY(cuModuleLoadDataEx, void **out, const void *image, unsigned count, int *options, void **values);
ENTRY(cuModuleLoadDataEx, void **out, const void *image, unsigned count, int *options, void **values) {
    *out = &thing;
    if (getenv("STUB_SLOW_LOAD"))
        nanosleep(&(struct timespec){.tv_nsec = atol(getenv("STUB_SLOW_LOAD")) * 1000000}, NULL);
    say_loaded(image, count, options, values);
    return outcome("cuModuleLoadDataEx");
}
PLAIN(cuModuleUnload, void *module)
MAKES(cuModuleGetGlobal_v2, (uint64_t)(uintptr_t)variable, uint64_t *out, size_t *bytes, void *module,
      const char *name)
#endif
MAKES(cuFuncGetAttribute, 0, int *out, int which, void *function)
PLAIN(cuFuncSetAttribute, void *function, int which, int value)
MAKES(cuOccupancyMaxActiveBlocksPerMultiprocessor, getenv("STUB_BLOCKS") ? atoi(getenv("STUB_BLOCKS")) : 8,
      int *out, void *function, int block, size_t shared)
#ifndef STUB_EMULATES
/* A function is its name, so that a launch can report it. */
static char names[1024][256];
static int name_count;

ENTRY(cuModuleGetFunction, char **out, void *module, const char *name);
ENTRY(cuModuleGetFunction, char **out, void *module, const char *name) {
    (void)module;
    int i = 0;
    while (i < name_count && strcmp(names[i], name) != 0) i++;
    if (i == sizeof names / sizeof *names) abort();
    if (i == name_count) snprintf(names[name_count++], sizeof *names, "%s", name);
    *out = names[i];
    return outcome("cuModuleGetFunction");
}

ENTRY(cuLaunchKernel, char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void *stream, void **parameters, void **extra);
ENTRY(cuLaunchKernel, char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void *stream, void **parameters, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
    (void)shared, (void)stream, (void)parameters, (void)extra;
    say_launched(f);
    return outcome("cuLaunchKernel");
}

ENTRY(cuLaunchKernelEx, const void *config, char *f, void **parameters, void **extra);
ENTRY(cuLaunchKernelEx, const void *config, char *f, void **parameters, void **extra) {
    (void)config, (void)parameters, (void)extra;
    say_launched(f);
    return outcome("cuLaunchKernelEx");
}

ENTRY(cuLaunchCooperativeKernel, char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **parameters);
ENTRY(cuLaunchCooperativeKernel, char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **parameters) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
    (void)shared, (void)stream, (void)parameters;
    say_launched(f);
    return outcome("cuLaunchCooperativeKernel");
}
#endif

/* The map stays in redviz's own encoding, which the emulator reads. */
ENTRY(cuTensorMapEncodeTiled, void *map, int type, unsigned rank, void *address, const uint64_t *size,
      const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave, int swizzle,
      int l2_promotion, int fill);
ENTRY(cuTensorMapEncodeTiled, void *map, int type, unsigned rank, void *address, const uint64_t *size,
      const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave, int swizzle,
      int l2_promotion, int fill) {
    (void)map, (void)type, (void)rank, (void)address, (void)size, (void)stride, (void)box, (void)step;
    (void)interleave, (void)swizzle, (void)l2_promotion, (void)fill;
    return outcome("cuTensorMapEncodeTiled");
}
PLAIN(cuTensorMapEncodeIm2col, void *map, int type, unsigned rank, void *address, const uint64_t *size,
      const uint64_t *stride, const int *lower, const int *upper, unsigned channels, unsigned pixels,
      const uint32_t *step, int interleave, int swizzle, int l2_promotion, int fill)
MAKES(cuStreamCreate, &thing, void **out, unsigned flags)
PLAIN(cuStreamDestroy_v2, void *stream)
PLAIN(cuStreamSynchronize, void *stream)
MAKES(cuEventCreate, &thing, void **out, unsigned flags)
PLAIN(cuEventDestroy_v2, void *event)
PLAIN(cuEventRecord, void *event, void *stream)
MAKES(cuEventElapsedTime, getenv("STUB_MILLISECONDS") ? (float)atof(getenv("STUB_MILLISECONDS")) : 0.25f,
      float *out, void *start, void *end)
PLAIN(cuStreamBeginCapture_v2, void *stream, int mode)
MAKES(cuGraphInstantiateWithFlags, &thing, void **out, void *graph, unsigned long long flags)
PLAIN(cuGraphLaunch, void *graph, void *stream)
PLAIN(cuGraphExecDestroy, void *graph)
PLAIN(cuGraphDestroy, void *graph)
#ifndef STUB_OLD
Result cuStreamEndCapture(void *stream, void **out);
Result cuStreamEndCapture(void *stream, void **out) {
    (void)stream;
    *out = &thing;
    return outcome("cuStreamEndCapture");
}
#endif

ENTRY(cuDeviceGetName, char *name, int length, int device);
ENTRY(cuDeviceGetName, char *name, int length, int device) {
    (void)device;
    snprintf(name, (size_t)length, "Stub 1");
    return outcome("cuDeviceGetName");
}

ENTRY(cuGetErrorName, int error, const char **text);
ENTRY(cuGetErrorName, int error, const char **text) {
    *text = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == 218 ? "CUDA_ERROR_INVALID_PTX"
            : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                           : "CUDA_ERROR_UNKNOWN";
    return 0;
}

ENTRY(cuGetErrorString, int error, const char **text);
ENTRY(cuGetErrorString, int error, const char **text) {
    *text = error == 2 ? "out of memory" : error == 218 ? "a PTX JIT compilation failed" : "unknown error";
    return 0;
}

ENTRY(cuMemGetInfo_v2, size_t *free_bytes, size_t *total);
ENTRY(cuMemGetInfo_v2, size_t *free_bytes, size_t *total) {
    *free_bytes = (size_t)100 << 20;
    *total = (size_t)200 << 20;
    return outcome("cuMemGetInfo_v2");
}

#ifndef STUB_EMULATES
ENTRY(cuStreamQuery, void *stream);
ENTRY(cuStreamQuery, void *stream) {
    (void)stream;
    if (getenv("STUB_SLOW"))
        nanosleep(&(struct timespec){.tv_nsec = atol(getenv("STUB_SLOW")) * 1000000}, NULL);
    return getenv("STUB_BUSY") ? 600 : outcome("cuStreamQuery");
}

ENTRY(cuMemAlloc_v2, uint64_t *address, size_t bytes);
ENTRY(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
    Result result = outcome("cuMemAlloc_v2");
    if (!result) *address = (uint64_t)(uintptr_t)malloc(bytes);
    return result;
}

ENTRY(cuMemFree_v2, uint64_t address);
ENTRY(cuMemFree_v2, uint64_t address) {
    free((void *)(uintptr_t)address);
    return outcome("cuMemFree_v2");
}

ENTRY(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes);
ENTRY(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes) {
    memcpy((void *)(uintptr_t)to, from, bytes);
    return outcome("cuMemcpyHtoD_v2");
}

ENTRY(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes);
ENTRY(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes) {
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return outcome("cuMemcpyDtoH_v2");
}

ENTRY(cuMemsetD8Async, uint64_t to, unsigned char value, size_t bytes, void *stream);
ENTRY(cuMemsetD8Async, uint64_t to, unsigned char value, size_t bytes, void *stream) {
    (void)stream;
    memset((void *)(uintptr_t)to, value, bytes);
    return outcome("cuMemsetD8Async");
}
#endif

/* The same with either memory. */
ENTRY(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes);
ENTRY(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes);

ENTRY(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t bytes, void *stream);
ENTRY(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    Result result = outcome("cuMemcpyHtoDAsync_v2");
    return result ? result : cuMemcpyHtoD_v2(to, from, bytes);
}

ENTRY(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes, void *stream);
ENTRY(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    Result result = outcome("cuMemcpyDtoHAsync_v2");
    return result ? result : cuMemcpyDtoH_v2(to, from, bytes);
}

ENTRY(cuMemHostAlloc, void **memory, size_t bytes, unsigned flags);
ENTRY(cuMemHostAlloc, void **memory, size_t bytes, unsigned flags) {
    (void)flags;
    Result result = outcome("cuMemHostAlloc");
    if (!result) *memory = malloc(bytes);
    return result;
}

ENTRY(cuMemFreeHost, void *memory);
ENTRY(cuMemFreeHost, void *memory) {
    free(memory);
    return outcome("cuMemFreeHost");
}
