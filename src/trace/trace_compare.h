/* The comparison of two traces of the same launches, thread by thread: for every thread of the blocks that
 * both have, the sequence of (instruction, address, value) must be identical; and mask by mask.
 *
 * Values that only scheduling decides are compared like all others: where two producers are compared, one
 * runs with the values of the other (emulator_run_guided()). But how often a spin loop iterates means
 * nothing: only its last iteration is compared. A 64-bit value that points into a buffer is compared as
 * (buffer, offset). */
#ifndef TRACE_TRACE_COMPARE_H
#define TRACE_TRACE_COMPARE_H

#include "trace/trace.h"

typedef struct TraceSide {
    const Trace *trace;
    const uint64_t *base; /* [trace->buffer_count] where the buffers lay, 0: not known; NULL: none is */
    const char *name;     /* "emulator" */
} TraceSide;

typedef struct TraceComparison {
    uint64_t blocks, threads,
        events; /* compared; an event of the first side is counted once for each of its lanes */
    uint64_t masks,
        equal_masks; /* events of the first side; those whose lanes were together on the other, too */
    bool same;       /* all threads are equal */
    Text difference; /* the first one, both sides; empty: none */
    Text other_mask; /* the same of the first event whose lanes were not together */
} TraceComparison;

void trace_compare(const TraceSide *a, const TraceSide *b, TraceComparison *out);
void trace_comparison_done(TraceComparison *comparison);

#endif
