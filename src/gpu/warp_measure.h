/* Warp measure: runs with the wait probe (instrument/wait_probe.h): when each warp of one multiprocessor
 * waited, and what the probes cost.
 *
 * All launches of the run are enqueued at once. L2 holds what fits of the run before: overwriting it would
 * also take away the code of the traced copy, which one multiprocessor would then load alone. */
#ifndef GPU_WARP_MEASURE_H
#define GPU_WARP_MEASURE_H

#include "gpu/residency.h"
#include "instrument/wait_probe.h"
#include "trace/warp_timeline.h"

typedef struct WarpWork {
    ResidencyWork run;
    unsigned kinds; /* bits 1 << WarpActivity */
    /* Blocks that a multiprocessor is made to hold, by dynamic shared memory; 0: as many as it can. */
    uint32_t resident;
    /* The multiprocessor that runs this block is traced; UINT64_MAX: the first that has a block. */
    uint64_t block;
    /* Leaves out a rule of the probe, for its test. */
    bool plain_barrier_clock, plain_load_clock, keep_order;
} WarpWork;

/* The caller frees *timeline, and fills in its kernel, n, type, operation, driver and date.
 * False with `error`: a kernel that cannot have the probe, or
 * be made to reside so, or a failure of the GPU (then cuda->faulted or hung). */
bool gpu_measure_warps(const WarpWork *work, Timer *timer, WarpTimeline **timeline, Error *error);

#endif
