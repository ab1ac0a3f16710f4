/* Counters: hardware counts while kernels run, by CUPTI's range profiler; and metrics with "__sass_" in their
 * names, which CUPTI counts by patching the machine code (gpu_sass.h).
 *
 * The chip counts a few things at a time, so the kernels run several times (*passes*), and each time must do
 * the same. While a measurement runs, kernels run one after another and take longer: no timings at the same
 * time (cuda_turn_begin()). Between measurements nothing is slowed. */
#ifndef GPU_COUNTERS_H
#define GPU_COUNTERS_H

#include "gpu/driver.h"

typedef struct Counters Counters; /* a list of metrics, for the chip of a device */

/* `metrics`: names as Nsight Compute has them, with their roll-up: "sm__cycles_active.avg"; borrowed, they
 * outlive the Counters. NULL with `error`: no library, a chip that it does not know, or not allowed to. The
 * context of `cuda` is current in the calling thread. */
Counters *counters_open(Cuda *cuda, const char *const *metrics, int count, Error *error);
void counters_close(Counters *counters);

/* The kernels to be counted: launches of one each, in this order, once a pass. */
typedef struct CountersWork {
    bool (*restore)(void *context, Error *error); /* makes the buffers what they were; NULL: nothing to do */
    bool (*launch)(void *context, int index, Error *error); /* enqueues one kernel on cuda->stream */
    void *context;
    int launches;
} CountersWork;

/* What the kernels counted: values[launch * count + metric]; NaN where this chip has no such metric,
 * or CUPTI does not patch. */
bool counters_measure(Counters *counters, const CountersWork *work, double *values, Error *error);

/* The same from the host half alone, without a GPU: does `chip` ("GH100") have the metric? known[i] says so.
 * *passes: times that a kernel would run for all that are known. */
bool counters_known(const char *chip, const char *const *metrics, int count, bool *known, int *passes,
                    Error *error);

#endif
