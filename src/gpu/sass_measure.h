/* The machine code of launches, counted and sampled instruction by instruction on a GPU.
 *
 * PC sampling comes first: it sees only modules that are loaded after it was enabled. Then the plain launches are
 * timed, and then CUPTI patches the code to count (sass.h). What one of these cannot do is one line in SassNotes; the
 * others go on. */
#ifndef GPU_SASS_MEASURE_H
#define GPU_SASS_MEASURE_H

#include "gpu/pc_sampling.h"
#include "gpu/run.h"
#include "sass/sass.h"

typedef struct SassWork { /* the launches of a run, one after another */
    Cuda *cuda;
    uint64_t n;                                /* elements */
    const char *driver;                        /* "580.159.04, CUDA 13.0" */
    bool (*load)(void *context, Error *error); /* begins `run`, which keeps its code, prepares `launches` */
    bool (*restore)(void *context, Error *error); /* the buffers as they were; NULL: they may stay */
    void *context;
    const GpuRun *run; /* these three are valid when load() has returned */
    const GpuLaunch *launches;
    int count;
    PcSampling *sampling; /* open already, borrowed; NULL: opened for this run alone */
    /* Metrics that this process may count later (sass.h: a device can be configured once). */
    const char *const *also;
    int also_count;
} SassWork;

typedef enum SassPart { SASS_COUNTS = 1, SASS_SAMPLES = 2, SASS_ALL = 3 } SassPart;

typedef struct SassNotes { /* why something is missing; an empty message: it is not */
    Error code, counts, samples;
    uint64_t dropped;  /* samples that found no room */
    uint64_t unplaced; /* samples and counts elsewhere than in the kernel's listed instructions */
} SassNotes;

/* Fills kernels[count]. Those that have no instructions yet are disassembled; others are of the same machine code,
 * measured before. Where there is no listing, nothing is measured. false with `error`: a launch failed. */
bool sass_measure(const SassWork *work, int parts, SassKernel *kernels, SassNotes *notes, Error *error);

#endif
