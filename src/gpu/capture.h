/* Capture: launches run on the GPU, instrumented, and the events of the traced blocks.
 *
 *   capture_open()   instruments the programs and gives the buffers their addresses
 *   (the caller binds its launches to them)
 *   capture_run()    runs the launches and adds what they recorded to a trace
 *   capture_close() */
#ifndef GPU_CAPTURE_H
#define GPU_CAPTURE_H

#include "gpu/run.h"
#include "instrument/instrument.h"
#include "trace/trace.h"

typedef struct CaptureBuffer {
    const char *name;
    void *host; /* copied to the GPU before, and back after the last launch */
    uint64_t bytes;
    int index;        /* in the trace */
    bool is_variable; /* a module variable: the module brings it, `host` is not used */
    uint64_t address; /* out: where it was on the GPU */
} CaptureBuffer;

typedef struct CaptureOptions {
    uint64_t first, last;  /* traced blocks, linear, inclusive */
    uint32_t threads;      /* of the largest block: probes must leave it enough registers */
    uint64_t region_bytes; /* for each of them; 0: chosen */
    int other;             /* buffer of the trace for what lies in none of the buffers; -1: an error */
    double seconds;        /* after which a kernel counts as hung; 0: 10 */
    const char *probe;     /* text of assets/ptx/probe.ptx */
    bool approximate;      /* results of .approx are events, too */
    /* Gets each traced block's region as it came from the GPU, before it is decoded; or NULL. */
    void (*keep)(void *context, int launch, const InstrumentSettings *settings,
                 const InstrumentMemory *memory, uint32_t block, const uint8_t *region);
    void *keep_context;
} CaptureOptions;

typedef struct CaptureTally {
    uint64_t records, dropped, left_out; /* InstrumentTally, of all launches */
    double kernel_seconds;               /* all launches, instrumented */
    int unprobed; /* instructions that the emulator would record, and a GPU cannot (InstrumentSites) */
    uint32_t most_blocks; /* not 0: it failed, since a cooperative grid was larger than this, which is what
                             the GPU holds at once of the instrumented kernel */
} CaptureTally;

typedef struct Capture Capture;

/* `programs` ([count], one a launch) are of one module, which like them outlives the trace. `buffers` and
 * `options` outlive the capture. NULL with `error`. */
Capture *capture_open(Cuda *cuda, const PtxProgram *const *programs, int count, CaptureBuffer *buffers,
                      int buffer_count, const CaptureOptions *options, Error *error);
/* Once: a launch of each program, in their order. Adds a launch to `trace` for each (symbols, traced blocks,
 * dropped; counters stay 0), and copies the buffers back. */
bool capture_run(Capture *capture, const Launch *launches, Trace *trace, CaptureTally *tally, Error *error);
void capture_close(Capture *capture); /* or NULL */

#endif
