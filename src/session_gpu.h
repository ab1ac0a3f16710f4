/* A session's run on a GPU: its launches, instrumented, on copies of its buffers. Private to the session. */
#ifndef SESSION_GPU_H
#define SESSION_GPU_H

#include "gpu/capture.h"
#include "session_state.h"

typedef struct GpuCopy {
    const Session *session;
    CaptureBuffer *buffers; /* [count]: those of the plan, then module variables */
    int count, other;
    uint64_t *base; /* [buffers of the trace] where they lay on the GPU; 0: not known */
    Trace *trace;   /* numbers buffers as the session's */
    CaptureTally tally;
} GpuCopy;

/* The session was opened with keep_inputs. `approximate`: results of .approx are events, too. In any case
 * gpu_copy_done(). */
bool gpu_copy_capture(GpuCopy *copy, const Session *session, Cuda *cuda, bool approximate, Error *error);
void gpu_copy_done(GpuCopy *copy);

#endif
