/* PC sampling: the instruction at which a warp stands, and why it waits, at regular intervals. Each
 * multiprocessor writes them down for one of its warps (CUPTI API, "PC Sampling").
 *
 * CUPTI names each reason twice. "..._issue_stalled_X" has all samples; "..._issue_stalled_X_not_issued" has those of
 * them in whose cycle the scheduler issued no instruction of any warp. Here are all samples, those that Nsight Compute
 * shows as "Warp Stall Sampling (All Samples)" and adds up as warp states; the others are not asked for, or a sample
 * would count twice.
 *
 * Kernels are serialized while it runs. It excludes the range profiler and SASS metrics: one after another. */
#ifndef GPU_PC_SAMPLING_H
#define GPU_PC_SAMPLING_H

#include "gpu/driver.h"
#include "sass/sass.h"

typedef struct PcSampling PcSampling;

/* From here on CUPTI sees which modules are loaded: what is to be sampled is loaded afterwards. NULL with `error`: no
 * CUPTI, or it does not sample here. */
PcSampling *pc_sampling_open(Cuda *cuda, Error *error);
void pc_sampling_close(PcSampling *sampling);

/* So many cycles lie between two samples of a multiprocessor: 2^5 where the kernel is short; more where it is so long
 * that the samples would not fit into the hardware's buffer. */
uint32_t pc_sampling_period(const Cuda *cuda, double microseconds);

typedef struct PcSamples {
    uint64_t total;     /* all that the hardware took */
    uint64_t kept;      /* that were given to the sink */
    uint64_t dropped;   /* that found no room */
    uint64_t elsewhere; /* in kernels of the driver */
} PcSamples;

/* Samples of the function with this name, at `pc` bytes from its first instruction. */
typedef void (*PcSink)(void *context, const char *function, uint64_t pc, SassStall stall, uint32_t samples);

/* Kernels between start and stop are sampled; the stream is idle at both. `period`: a power of 2 from 2^5. */
bool pc_sampling_start(PcSampling *sampling, uint32_t period, Error *error);
bool pc_sampling_stop(PcSampling *sampling, PcSink sink, void *context, PcSamples *samples, Error *error);

#endif
