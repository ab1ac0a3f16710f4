/* Counters: hardware counters of kernels, read by CUPTI's range profiler. Metrics with "__sass_" in their
 * names are counted by CUPTI in patched machine code (gpu_sass.h).
 *
 * The chip counts only a few events at a time, so the kernels run several times (*passes*), and must do the
 * same each time. During a measurement, kernels run one after another and take longer, so timings must wait
 * (cuda_turn_begin()). Between measurements, kernels run at full speed. */
#ifndef GPU_COUNTERS_H
#define GPU_COUNTERS_H

#include "gpu/driver.h"

typedef struct Counters Counters; /* a list of metrics, for the chip of a device */

/* `metrics`: names as in Nsight Compute, with their roll-up: "sm__cycles_active.avg"; borrowed, they outlive
 * the Counters. NULL with `error`: no library, an unknown chip, or no permission. The context of `cuda` must
 * be current in the calling thread. */
Counters *counters_open(Cuda *cuda, const char *const *metrics, int count, Error *error);
void counters_close(Counters *counters);

/* The kernels to count: launches of one kernel each, in this order, once per pass. */
typedef struct CountersWork {
    bool (*restore)(void *context, Error *error);           /* restores the buffers; NULL: nothing to do */
    bool (*launch)(void *context, int index, Error *error); /* enqueues one kernel on cuda->stream */
    void *context;
    int launches;
} CountersWork;

/* The counts of the kernels: values[launch * count + metric]; NaN if this chip does not have the metric, or
 * CUPTI does not patch. */
bool counters_measure(Counters *counters, const CountersWork *work, double *values, Error *error);

/* Uses only the host part, without a GPU: known[i] says whether `chip` ("GH100") has the metric. *passes: how
 * often a kernel would run to count all known metrics. */
bool counters_known(const char *chip, const char *const *metrics, int count, bool *known, int *passes,
                    Error *error);

#endif
