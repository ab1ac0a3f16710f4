/* Capture: runs instrumented launches on the GPU and collects the events of the traced blocks.
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
    int index;         /* in the trace */
    bool is_variable;  /* a module variable: the module allocates it; `host`, or NULL: as the module begins */
    uint64_t captured; /* GpuBuffer */
    uint64_t address;  /* out: its address on the GPU */
} CaptureBuffer;

typedef struct CaptureOptions {
    uint64_t first, last;  /* traced blocks, linear, inclusive */
    uint32_t threads;      /* in the largest block: probes must leave enough registers for it */
    uint64_t region_bytes; /* per traced block; 0: automatic */
    int other;             /* buffer of the trace for addresses outside all buffers; -1: an error */
    double seconds;        /* limit after which a kernel counts as hung; 0: 10 */
    const char *probe;     /* text of assets/ptx/probe.ptx */
    bool approximate;      /* results of .approx are events too */
    /* Receives the region of each traced block before it is decoded; or NULL. */
    void (*keep)(void *context, int launch, const InstrumentSettings *settings,
                 const InstrumentMemory *memory, uint32_t block, const uint8_t *region);
    void *keep_context;
} CaptureOptions;

typedef struct CaptureTally {
    uint64_t records, dropped, left_out; /* InstrumentTally, of all launches */
    double kernel_seconds;               /* of all launches, instrumented */
    int unprobed; /* instructions that the emulator would record, but a GPU cannot (InstrumentSites) */
    /* not 0: the run failed because a cooperative grid is larger than this, the number of blocks of the
     * instrumented kernel that the GPU holds at once */
    uint32_t most_blocks;
} CaptureTally;

typedef struct Capture Capture;

/* `programs` ([count], one per launch) belong to one module; they and the module outlive the trace. `buffers`
 * and `options` outlive the capture. NULL with `error`. */
Capture *capture_open(Cuda *cuda, const PtxProgram *const *programs, int count, CaptureBuffer *buffers,
                      int buffer_count, const CaptureOptions *options, Error *error);
/* Call once: runs a launch of each program, in order. Adds a launch to `trace` for each (symbols, traced
 * blocks, dropped; counters stay 0), and copies the buffers back. */
bool capture_run(Capture *capture, const Launch *launches, Trace *trace, CaptureTally *tally, Error *error);
void capture_close(Capture *capture); /* or NULL */

#endif
