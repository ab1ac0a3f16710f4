/* Timing: the duration of work on the GPU, measured with CUDA events ("Event Management"; resolution about
 * 0.5 us).
 *
 * There are two ways. *Single*: one repetition between two events, the time a caller waits, including launch
 * gaps. *Graph*: a CUDA graph of many repetitions between two events, divided by their number: kernel time
 * without launch gaps. There are two states. *Warm*: the same buffers again, so L2 holds what fits. *Cold*:
 * other buffers in every repetition, and L2 overwritten before each sample. Sampling starts after a warm-up
 * and ends when the median is stable or the time limit is reached; work longer than 50 ms is sampled once. */
#ifndef GPU_TIMING_H
#define GPU_TIMING_H

#include "base/samples.h"
#include "gpu/driver.h"

/* Enqueues one repetition; `set` (0 to sets - 1) selects the copies of the buffers. */
typedef bool (*TimedWork)(void *context, int set, Error *error);

typedef struct TimingPlan {
    TimedWork work;
    void *context;
    int sets;        /* copies of the buffers; 1: cold only overwrites L2 */
    int repetitions; /* per graph */
    double seconds;  /* limit for each measurement */
} TimingPlan;

/* Owns a buffer that overwrites L2; freed by timer_free(). */
typedef struct Timer {
    Cuda *cuda;
    CudaAddress flush;
    size_t flush_bytes;
    CudaEvent start, end;
} Timer;

bool timer_new(Timer *timer, Cuda *cuda, Error *error);
void timer_free(Timer *timer);
/* Microseconds of what `enqueue` enqueues, once. Before it L2 is overwritten, or so little of it (`warm`)
 * that it keeps the rest; in either case the GPU is busy until the host has enqueued all, so that gaps are
 * the GPU's own. `what`: for errors. */
bool time_once(Timer *timer, bool warm, bool (*enqueue)(void *context, Error *error), void *context,
               const char *what, double *microseconds, Error *error);
/* Microseconds per repetition. */
bool time_single(Timer *timer, const TimingPlan *plan, bool cold, Spread *out, Error *error);
bool time_graph(Timer *timer, const TimingPlan *plan, bool cold, Spread *out, Error *error);

#endif
