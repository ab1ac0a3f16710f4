/* Residency: where and when each block of a run's launches ran on the GPU. Uses the light probe of
 * instrument/residency_probe.h, and measures its cost.
 *
 * All launches of the run are enqueued at once, after a kernel that overwrites the L2 cache, so the gaps
 * between them come from the GPU, not from the host. Of several runs, the one with median length is kept. */
#ifndef GPU_RESIDENCY_H
#define GPU_RESIDENCY_H

#include "gpu/run.h"
#include "gpu/timing.h"
#include "trace/grid_timeline.h"

typedef struct ResidencyWork {
    const GpuRun *plain;               /* the original module, with the run's buffers */
    const GpuLaunch *launches;         /* [count] prepared in the run */
    const PtxProgram *const *programs; /* [count] */
    int count;
    /* Restores the buffers and the variables of the plain module before every run; NULL: the launches may be
     * repeated without it. The variables of the module with probes are restored too. */
    bool (*restore)(void *context, Error *error);
    void *context;
    bool keeps_cache; /* L2 holds what fits of the run before */
    bool is_large;    /* restoring takes long: as few runs as possible */
} ResidencyWork;

enum { RESIDENCY_MOST_BLOCKS = 1 << 24 }; /* per run */

/* The caller frees *timeline, and fills in its kernel, n, type, operation, driver and date. False with
 * `error`: too many blocks, a kernel that cannot have the probe, a cooperative grid that does not fit with
 * the probe, or a failure of the GPU (then cuda->faulted or hung). */
bool gpu_measure_residency(const ResidencyWork *work, Timer *timer, GridTimeline **timeline, Error *error);

#endif
