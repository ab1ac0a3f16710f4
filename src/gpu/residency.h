/* Residency: a run's launches on the GPU, with the light probe of instrument/residency_probe.h: where and when each block ran,
 * and what the probe costs.
 *
 * All launches of the run are enqueued at once behind a kernel that overwrites the L2 cache, so that the gaps between
 * them are the GPU's, not the host's. Of several runs the one of median length is kept. */
#ifndef GPU_RESIDENCY_H
#define GPU_RESIDENCY_H

#include "gpu/run.h"
#include "gpu/timing.h"
#include "trace/grid_timeline.h"

typedef struct ResidencyWork {
    const GpuRun *plain;               /* the module as it is, with the run's buffers */
    const GpuLaunch *launches;         /* [count] prepared in it */
    const PtxProgram *const *programs; /* [count] */
    int count;
    /* Puts buffers and the plain module's variables back before every run; NULL: the launches may be repeated as they
     * are. Variables of the module with probes are put back, too. */
    bool (*restore)(void *context, Error *error);
    void *context;
    bool is_large; /* putting back takes long: as few runs as possible */
} ResidencyWork;

enum { RESIDENCY_MOST_BLOCKS = 1 << 24 }; /* of a run */

/* The caller frees *timeline, in which kernel, n, type, operation, driver and date are still to be filled in. false with
 * `error`: too many blocks, a kernel that cannot have the probe, a cooperative grid that does not fit with it, or the GPU
 * failed (then cuda->faulted or hung). */
bool gpu_measure_residency(const ResidencyWork *work, Timer *timer, GridTimeline **timeline, Error *error);

#endif
