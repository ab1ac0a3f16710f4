/* PC sampling: the current instruction of a warp and the reason why it waits, at regular intervals. Each
 * multiprocessor records them for one of its warps (CUPTI API, "PC Sampling").
 *
 * CUPTI names each reason twice. "..._issue_stalled_X" counts all samples; "..._issue_stalled_X_not_issued"
 * only those in whose cycle the scheduler issued no instruction of any warp. redviz requests all samples,
 * which Nsight Compute shows as "Warp Stall Sampling (All Samples)" and adds up as warp states; with the
 * others too, a sample would count twice.
 *
 * Kernels are serialized during sampling. It cannot run together with the range profiler or SASS metrics,
 * only one after another. */
#ifndef GPU_PC_SAMPLING_H
#define GPU_PC_SAMPLING_H

#include "gpu/driver.h"
#include "sass/sass.h"

typedef struct PcSampling PcSampling;

/* Call before the modules to sample are loaded: CUPTI only sees later ones. NULL with `error`: no CUPTI, or
 * it cannot sample here. */
PcSampling *pc_sampling_open(Cuda *cuda, Error *error);
void pc_sampling_close(PcSampling *sampling);

/* The cycles between two samples of a multiprocessor: 2^5 for a short kernel; more for one whose samples
 * would not fit into the hardware buffer. */
uint32_t pc_sampling_period(const Cuda *cuda, double microseconds);

typedef struct PcSamples {
    uint64_t total;     /* all samples of the hardware */
    uint64_t kept;      /* given to the sink */
    uint64_t dropped;   /* for lack of room */
    uint64_t elsewhere; /* in kernels of the driver */
} PcSamples;

/* Samples in the function with this name, at `pc` bytes from its first instruction. */
typedef void (*PcSink)(void *context, const char *function, uint64_t pc, SassStall stall, uint32_t samples);

/* Samples the kernels between start and stop; the stream must be idle at both. `period`: a power of 2 from
 * 2^5. */
bool pc_sampling_start(PcSampling *sampling, uint32_t period, Error *error);
bool pc_sampling_stop(PcSampling *sampling, PcSink sink, void *context, PcSamples *samples, Error *error);

#endif
