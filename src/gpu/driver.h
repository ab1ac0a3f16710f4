/* Driver: the CUDA driver, opened at run time. The build needs no toolkit, and the same program runs on a
 * machine without a GPU.
 *
 * Every call goes through cuda_call(): a failure becomes one line with the name of the call and the driver's
 * message. After a time limit, a kernel that does not return is abandoned, and so is the driver's compiler
 * (it took minutes for one instrumented kernel): the context is then *hung*, every further call fails at
 * once, and the process must end with _exit(), because the driver's own cleanup would wait for the work. */
#ifndef GPU_DRIVER_H
#define GPU_DRIVER_H

#include "base/error.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CudaResult; /* CUresult: 0 is success */
typedef uint64_t CudaAddress;
typedef struct CudaContextTag *CudaContext;
typedef struct CudaModuleTag *CudaModule;
typedef struct CudaFunctionTag *CudaFunction;
typedef struct CudaStreamTag *CudaStream;
typedef struct CudaEventTag *CudaEvent;
typedef struct CudaGraphTag *CudaGraph;
typedef struct CudaGraphExecTag *CudaGraphExec;

typedef struct CudaLaunchAttribute { /* CUlaunchAttribute */
    int id;
    char unused[4];
    union {
        uint32_t cluster[3];
        char bytes[64];
        uint64_t alignment;
    } value;
} CudaLaunchAttribute;

typedef struct CudaLaunchConfig { /* CUlaunchConfig */
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    CudaStream stream;
    CudaLaunchAttribute *attributes;
    unsigned attribute_count;
} CudaLaunchConfig;

typedef struct CudaTable {
#define CUDA(name, symbol, parameters) CudaResult(*name) parameters;
#include "gpu/driver.def"
#undef CUDA
} CudaTable;

typedef struct Cuda {
    CudaTable table;
    void *library;
    int device; /* an index in $CUDA_VISIBLE_DEVICES */
    CudaContext context;
    CudaStream stream;  /* everything runs here */
    char name[128];     /* "NVIDIA H200" */
    int driver_version; /* 13000: CUDA 13.0 */
    int major, minor;   /* compute capability */
    int multiprocessors, l2_bytes, clock_khz, memory_clock_khz, bus_bits;
    int shared_bytes_per_block_optin;
    bool cooperative, clusters;
    bool hung;
    double load_seconds;       /* limit of the driver's compiler */
    const atomic_bool *cancel; /* true: stops waiting for kernels and the compiler; NULL: never */
    /* a kernel faulted (an illegal address, ...) or did not return: this context is no longer usable */
    bool faulted;
} Cuda;

/* NULL with `error`: no driver ("there is no libcuda.so.1 here"), no device, or a driver that is too old.
 * $REDVIZ_CUDA names another library (tests). The context is current in the calling thread. */
Cuda *cuda_open(Error *error); /* the first device */
/* Opens only the library; NULL: not found. The caller closes it. */
void *cuda_library(void);
Cuda *cuda_open_device(int ordinal, Error *error);
/* In a hung context, device memory is not freed. */
void cuda_close(Cuda *cuda);
/* Makes the context current in this thread too. */
bool cuda_use(Cuda *cuda, Error *error);

/* Measurements take turns, in whatever thread they run: kernels of one would disturb the times and the counts
 * of another. */
void cuda_turn_begin(void);
void cuda_turn_end(void);

/* True if `result` is a success. Otherwise sets error: "cuMemAlloc: out of memory
 * (CUDA_ERROR_OUT_OF_MEMORY)". */
bool cuda_check(const Cuda *cuda, const char *call, CudaResult result, Error *error);
#define CUDA_CALL(cuda, error, name, ...)                                                                    \
    (!(cuda)->hung && cuda_check(cuda, #name, (cuda)->table.name(__VA_ARGS__), error))

/* Copies from host memory, which may be freed afterwards. Launches in cuda->stream that follow see it: a copy
 * outside that stream returns when the driver has taken the bytes, and they may arrive after a kernel has run
 * ("API synchronization behavior" in the CUDA driver API; an H100 lost 4 of 800 results so). */
bool cuda_upload(Cuda *cuda, CudaAddress to, const void *from, size_t bytes, Error *error);
bool cuda_allocate(Cuda *cuda, size_t bytes, CudaAddress *address, Error *error);
/* The size for a buffer that only a measurement needs: a power of two, at most `most` and an eighth of the
 * free memory. */
size_t cuda_measured_bytes(const Cuda *cuda, size_t most);
/* Loads 0-terminated PTX text; an error includes the compiler's log. After load_seconds, or a second after
 * `cancel`, the context counts as hung. */
bool cuda_load(Cuda *cuda, const char *ptx, CudaModule *module, Error *error);
/* The same, with few enough registers for blocks of `threads` (CU_JIT_THREADS_PER_BLOCK). */
bool cuda_load_for_blocks(Cuda *cuda, const char *ptx, uint32_t threads, CudaModule *module, Error *error);
/* The same, with the source line of each machine instruction (CU_JIT_GENERATE_LINE_INFO). */
bool cuda_load_with_lines(Cuda *cuda, const char *ptx, CudaModule *module, Error *error);
/* Waits for the stream. After `seconds`, or a second after `cancel`, the kernel counts as hung, and so does
 * the context. The error names `what`. */
bool cuda_wait(Cuda *cuda, double seconds, const char *what, Error *error);

#endif
