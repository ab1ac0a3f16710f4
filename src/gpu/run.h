/* Run: a module, its buffers and launches on the GPU, for any purpose. */
#ifndef GPU_RUN_H
#define GPU_RUN_H

#include "gpu/machine_code.h"
#include "ptx/launch.h"

typedef struct GpuBuffer {
    void *host; /* borrowed; NULL: filled on the device, with a pattern */
    size_t bytes;
    CudaAddress address;
    const char *variable; /* a variable of the module, which allocates it; NULL: allocated here */
    /* Where it lay when its contents were captured: in uploaded contents, words that point there, or to
     * another buffer with such an address, are changed to point to where they lie here. 0: it was never
     * elsewhere. */
    uint64_t captured;
} GpuBuffer;

enum { GPU_PARAMETERS = 64 };

typedef struct GpuLaunch { /* a launch, bound to the run's addresses, and its entry in the run's module */
    Launch launch;
    CudaFunction function;
    bool has_extra; /* the entry was rewritten: it has one more parameter at the end */
    uint64_t extra;
} GpuLaunch;

typedef struct GpuRun {
    Cuda *cuda;
    CudaModule module;
    bool stays_loaded; /* the module stays loaded after the run */
    MachineCode code;  /* of gpu_run_begin_keeping(); otherwise empty */
    GpuBuffer *buffers;
    int buffer_count, buffer_capacity;
} GpuRun;

/* Loads `ptx`. */
bool gpu_run_begin(GpuRun *run, Cuda *cuda, const char *ptx, Error *error);
/* The same, with few enough registers for blocks of `threads`. */
bool gpu_run_begin_for_blocks(GpuRun *run, Cuda *cuda, const char *ptx, uint32_t threads, Error *error);
/* The same, with line information: keeps the machine code that runs. */
bool gpu_run_begin_keeping(GpuRun *run, Cuda *cuda, const char *ptx, Error *error);
/* Frees everything, except device memory in a hung context. */
void gpu_run_end(GpuRun *run);
/* Allocates a buffer and returns its index, or -1. gpu_run_upload() sets the contents. */
int gpu_run_add_buffer(GpuRun *run, void *host, size_t bytes, Error *error);
/* The same with all that `wanted` says, except its address. */
int gpu_run_add(GpuRun *run, const GpuBuffer *wanted, Error *error);
bool gpu_run_upload(GpuRun *run, Error *error);
bool gpu_run_download(GpuRun *run, Error *error);
/* Finds the function of the launch and permits its amount of shared memory. */
bool gpu_run_prepare(const GpuRun *run, GpuLaunch *launch, Error *error);
/* The number of blocks of the launch that the device can hold at once, the limit of a cooperative grid. */
bool gpu_run_resident_blocks(const GpuRun *run, const GpuLaunch *prepared, uint32_t *blocks, Error *error);
/* A cooperative grid of a module with probes, which may need more registers: false with `error` if it no
 * longer fits. */
bool gpu_run_check_cooperative(const GpuRun *run, const GpuLaunch *prepared, Error *error);
/* Enqueues the launch. */
bool gpu_run_launch(const GpuRun *run, const GpuLaunch *prepared, Error *error);

#endif
