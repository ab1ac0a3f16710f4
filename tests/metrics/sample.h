/* A small traced launch, built by hand, that the tests of metrics and reports share. */
#ifndef TESTS_METRICS_SAMPLE_H
#define TESTS_METRICS_SAMPLE_H

#include "trace/trace.h"

/* The instructions of the sample by pc; sample.c has the PTX. */
enum {
    SAMPLE_LOAD_SHARED,
    SAMPLE_STORE_SHARED,
    SAMPLE_LOAD_GLOBAL,
    SAMPLE_LOAD_GENERIC,
    SAMPLE_BRANCH,
    SAMPLE_SHUFFLE,
    SAMPLE_BARRIER,
    SAMPLE_RED,
    SAMPLE_EXIT,
    SAMPLE_COUNT
};

typedef struct Sample {
    PtxModule *module;
    PtxProgram *program;
    Trace *trace;
    TraceLaunch *launch; /* one launch without blocks or counts; symbols: sdata at 0, tail at 4096 */
} Sample;

void sample_open(Sample *sample);
void sample_close(Sample *sample);

/* An access event of 4 bytes a lane, at offset + lane * stride of a symbol or buffer, kind as the pc's. */
TraceEvent sample_access(TraceKind kind, int pc, uint32_t mask, int buffer, uint64_t offset, uint64_t stride);
TraceEvent sample_branch(uint32_t mask, uint32_t taken);

#endif
