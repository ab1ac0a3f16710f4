/* Timing: the duration of work on the GPU, by CUDA events ("Event Management"; resolution about 0.5 us).
 *
 * Two ways. *Single*: one repetition between two events, what a caller waits for, launch gaps included.
 * *Graph*: a CUDA graph of many repetitions replayed between two events, divided by their number: kernel time
 * without launch gaps. Two states. *Warm*: the same buffers again, so that what fits is in L2. *Cold*: other
 * buffers in every repetition, and L2 overwritten before each sample. Samples follow a warm-up, until the
 * median is stable or the time is spent; of what takes longer than 50 ms, the first is the only one. */
#ifndef GPU_TIMING_H
#define GPU_TIMING_H

#include "base/samples.h"
#include "gpu/driver.h"

/* Enqueues one repetition; `set` (0 to sets - 1) says which copies of the buffers. */
typedef bool (*TimedWork)(void *context, int set, Error *error);

typedef struct TimingPlan {
    TimedWork work;
    void *context;
    int sets;        /* copies of the buffers that there are; 1: cold is by overwriting L2 alone */
    int repetitions; /* in a graph */
    double seconds;  /* for each of the measurements, at most */
} TimingPlan;

/* A buffer that overwrites L2; freed by timer_free(). */
typedef struct Timer {
    Cuda *cuda;
    CudaAddress flush;
    size_t flush_bytes;
    CudaEvent start, end;
} Timer;

bool timer_new(Timer *timer, Cuda *cuda, Error *error);
void timer_free(Timer *timer);
/* Microseconds of a repetition. */
bool time_single(Timer *timer, const TimingPlan *plan, bool cold, Spread *out, Error *error);
bool time_graph(Timer *timer, const TimingPlan *plan, bool cold, Spread *out, Error *error);

#endif
