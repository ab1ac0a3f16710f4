/* Run: a module, its buffers and launches on the GPU. Nothing here knows what is launched, or why. */
#ifndef GPU_RUN_H
#define GPU_RUN_H

#include "gpu/machine_code.h"
#include "ptx/launch.h"

typedef struct GpuBuffer {
    void *host; /* borrowed; NULL: filled on the device, with a pattern */
    size_t bytes;
    CudaAddress address;
} GpuBuffer;

enum { GPU_PARAMETERS = 64 };

typedef struct GpuLaunch { /* a launch, bound to the run's addresses, and its entry in the run's module */
    Launch launch;
    CudaFunction function;
    bool has_extra; /* the entry was rewritten: it has one more parameter, behind its own */
    uint64_t extra;
} GpuLaunch;

typedef struct GpuRun {
    Cuda *cuda;
    CudaModule module;
    bool stays_loaded; /* the module, when the run ends */
    MachineCode code;  /* of gpu_run_begin_keeping(); else empty */
    GpuBuffer *buffers;
    int buffer_count, buffer_capacity;
} GpuRun;

/* Loads `ptx`. */
bool gpu_run_begin(GpuRun *run, Cuda *cuda, const char *ptx, Error *error);
/* The same, with so few registers that blocks of `threads` can be launched. */
bool gpu_run_begin_for_blocks(GpuRun *run, Cuda *cuda, const char *ptx, uint32_t threads, Error *error);
/* The same, with line information: the machine code that runs is kept. */
bool gpu_run_begin_keeping(GpuRun *run, Cuda *cuda, const char *ptx, Error *error);
/* Frees everything; where the context is hung, nothing on the device. */
void gpu_run_end(GpuRun *run);
/* Allocates a buffer; its index, or -1. Contents: gpu_run_upload(). */
int gpu_run_add_buffer(GpuRun *run, void *host, size_t bytes, Error *error);
bool gpu_run_upload(GpuRun *run, Error *error);
bool gpu_run_download(GpuRun *run, Error *error);
/* Finds the function of the launch and allows it the shared memory that it asks for. */
bool gpu_run_prepare(const GpuRun *run, GpuLaunch *launch, Error *error);
/* Blocks of the launch that the device can hold at once: what a cooperative grid may have at most. */
bool gpu_run_resident_blocks(const GpuRun *run, const GpuLaunch *prepared, uint32_t *blocks, Error *error);
/* Enqueues it. */
bool gpu_run_launch(const GpuRun *run, const GpuLaunch *prepared, Error *error);

#endif
