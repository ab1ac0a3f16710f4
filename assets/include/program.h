/* CUDA C++ programs for clang without the CUDA toolkit: host code with the C++ standard library, and what it calls of the
 * CUDA runtime. redviz compiles FILE.cu with it twice, for the device to PTX and for the host, and links the result with its
 * own CUDA library, whose layouts are those of CUDA 13.
 *
 *   clang++ -x cuda --cuda-device-only -S -nocudainc -nocudalib -include program.h FILE.cu
 *   clang++ -x cuda --cuda-host-only -c -nocudainc -nocudalib -include program.h FILE.cu */
#ifndef REDVIZ_PROGRAM_H
#define REDVIZ_PROGRAM_H

/* Before clang.h: it defines __noinline__, which <memory> uses as an attribute. */
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#define REDVIZ_STANDARD_H
#include "clang.h"

/* What assert() calls. */
REDVIZ_DEVICE void __assert_fail(const char *condition, const char *file, unsigned line,
                                 const char *function) noexcept {
    __assertfail(condition, file, line, function, 1);
}

/* ---- types ---- */

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidKernelImage = 200,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorAssert = 710,
    cudaErrorMisalignedAddress = 716,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorNotPermitted = 800,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

enum cudaFuncCache {
    cudaFuncCachePreferNone = 0,
    cudaFuncCachePreferShared = 1,
    cudaFuncCachePreferL1 = 2,
    cudaFuncCachePreferEqual = 3
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

enum {
    cudaStreamDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2,
    cudaHostRegisterDefault = 0,
    cudaHostRegisterPortable = 1,
    cudaHostRegisterMapped = 2,
    cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2,
    cudaMemAttachGlobal = 1,
    cudaMemAttachHost = 2
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};

struct cudaPointerAttributes { /* of CUDA 13 */
    cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
    long reserved[8];
};

struct cudaDeviceProp { /* of CUDA 13; what redviz does not fill in is left out */
    char name[256];
    unsigned char redviz_identity[32];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int redviz_textures[39];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int redviz_rest[79];
};
static_assert(sizeof(cudaDeviceProp) == 1008, "the layout of CUDA 13");
static_assert(offsetof(cudaDeviceProp, surfaceAlignment) == 552, "the layout of CUDA 13");
static_assert(offsetof(cudaDeviceProp, maxBlocksPerMultiProcessor) == 688, "the layout of CUDA 13");

struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
    int redviz_rest[23];
};
static_assert(sizeof(cudaFuncAttributes) == 144, "the layout of CUDA 13");

/* ---- functions ---- */

extern "C" {
/* What a launch calls; clang asks for these declarations. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared, cudaStream_t stream);

cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind);
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
typedef void (*cudaHostFn_t)(void *);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void *kernel, cudaFuncCache cache);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
                                                          size_t shared);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
}

/* ---- the same with types ---- */

/* The host's line of what is inlined is that of the call. */
#define REDVIZ_TYPED __attribute__((always_inline, nodebug)) inline

template <typename T> REDVIZ_TYPED cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return cudaMalloc((void **)pointer, bytes);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
    return cudaMallocManaged((void **)pointer, bytes, flags);
}
template <typename T> REDVIZ_TYPED cudaError_t cudaMallocHost(T **pointer, size_t bytes) {
    return cudaMallocHost((void **)pointer, bytes);
}
template <typename T> REDVIZ_TYPED cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags) {
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync((void **)pointer, bytes, stream);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags) {
    return cudaHostGetDevicePointer((void **)device, host, flags);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                                            size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                              cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
template <typename T> REDVIZ_TYPED cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    return cudaGetSymbolAddress(address, (const void *)&symbol);
}
template <typename T> REDVIZ_TYPED cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    return cudaGetSymbolSize(bytes, (const void *)&symbol);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                          size_t shared = 0, cudaStream_t stream = 0) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                                     size_t shared = 0, cudaStream_t stream = 0) {
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <typename T> REDVIZ_TYPED cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache cache) {
    return cudaFuncSetCacheConfig((const void *)kernel, cache);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <typename T>
REDVIZ_TYPED cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int threads,
                                                                       size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}

/* CUDA declares min() and max() for host code, too. */
#define REDVIZ_LEAST(type)                                                                                   \
    static inline type min(type a, type b) {                                                                 \
        return b < a ? b : a;                                                                                \
    }                                                                                                        \
    static inline type max(type a, type b) {                                                                 \
        return a < b ? b : a;                                                                                \
    }
REDVIZ_LEAST(int)
REDVIZ_LEAST(unsigned)
REDVIZ_LEAST(long)
REDVIZ_LEAST(unsigned long)
REDVIZ_LEAST(long long)
REDVIZ_LEAST(unsigned long long)
REDVIZ_LEAST(float)
REDVIZ_LEAST(double)
#undef REDVIZ_LEAST

#endif
