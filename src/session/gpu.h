/* A session's run on a GPU: its launches, instrumented, on copies of its buffers. Private to the session. */
#ifndef SESSION_GPU_H
#define SESSION_GPU_H

#include "gpu/capture.h"
#include "session/state.h"

typedef struct GpuCopy {
    const Session *session;
    CaptureBuffer *buffers; /* [count]: those of the plan, then module variables */
    int count, other;
    uint64_t *base; /* [buffers of the trace] where they lay on the GPU; 0: not known */
    Trace *trace;   /* numbers buffers as the session's */
    CaptureTally tally;
} GpuCopy;

/* The session was opened with keep_inputs. `settings`: what is asked for beyond what the session says (probe,
 * blocks and `other` are filled in). In any case session_gpu_copy_done(). */
bool session_gpu_copy_capture(GpuCopy *copy, const Session *session, Cuda *cuda,
                              const CaptureOptions *settings, Error *error);
void session_gpu_copy_done(GpuCopy *copy);

/* The GPU of this process, current in the calling thread; one at a time has it, until it is given back. NULL
 * with `error`: there is none that can be used. */
Cuda *session_gpu_take(Error *error);
/* `failed`: the context may be broken; the next caller gets a new one. */
void session_gpu_give_back(bool failed);

/* Captures the session's run and makes it the session's: its trace, whose counters are the emulator's, its
 * results, its device. false with `error`: nothing has changed; *most_blocks as in CaptureTally. */
bool session_capture(Session *session, uint32_t *most_blocks, Error *error);

#endif
