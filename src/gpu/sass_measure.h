/* Counts and samples the machine code of launches on a GPU, instruction by instruction.
 *
 * PC sampling comes first: it sees only modules that are loaded after it was enabled. Then the plain launches
 * are timed, and then CUPTI patches the code to count (gpu_sass.h). A failure of one of these is one line in
 * SassNotes; the others continue. */
#ifndef GPU_SASS_MEASURE_H
#define GPU_SASS_MEASURE_H

#include "gpu/pc_sampling.h"
#include "gpu/run.h"
#include "sass/sass.h"

typedef struct SassWork { /* the launches of a run, one after another */
    Cuda *cuda;
    uint64_t n;         /* elements */
    const char *driver; /* "580.159.04, CUDA 13.0" */
    /* begins `run`, which keeps its code, and prepares `launches` */
    bool (*load)(void *context, Error *error);
    bool (*restore)(void *context, Error *error); /* restores the buffers; NULL: not needed */
    void *context;
    const GpuRun *run; /* these three are valid after load() */
    const GpuLaunch *launches;
    int count;
    PcSampling *sampling; /* already open, borrowed; NULL: opened for this run only */
    /* Metrics that this process may count later (gpu_sass.h: a device can be configured only once). */
    const char *const *also;
    int also_count;
} SassWork;

typedef enum SassPart { SASS_COUNTS = 1, SASS_SAMPLES = 2, SASS_ALL = 3 } SassPart;

typedef struct SassNotes { /* reasons for missing parts; an empty message: nothing is missing */
    Error code, counts, samples;
    uint64_t dropped;  /* samples without room */
    uint64_t unplaced; /* samples and counts outside the kernel's listed instructions */
} SassNotes;

/* Fills kernels[count]. Disassembles kernels without instructions; the others have the same machine code and
 * were measured before. Without a listing, measures nothing. False with `error`: a launch failed. */
bool gpu_sass_measure(const SassWork *work, int parts, SassKernel *kernels, SassNotes *notes, Error *error);

#endif
