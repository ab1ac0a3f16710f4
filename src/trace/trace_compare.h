/* Compares two traces of the same launches, thread by thread and mask by mask.
 *
 * For every thread of the blocks that both traces have, the sequence of (instruction, address, value) must be
 * identical. Values that only scheduling decides are compared like all others: to compare two producers, one
 * runs with the values of the other (emulator_run_guided()). The iteration count of a spin loop means
 * nothing: only its last iteration is compared. A 64-bit value that points into a buffer is compared as
 * (buffer, offset). */
#ifndef TRACE_TRACE_COMPARE_H
#define TRACE_TRACE_COMPARE_H

#include "trace/trace.h"

typedef struct TraceSide {
    const Trace *trace;
    const uint64_t *base; /* [trace->buffer_count] addresses of the buffers, 0: not known; NULL: none known */
    const char *name;     /* "emulator" */
} TraceSide;

typedef struct TraceComparison {
    /* Compared; an event of the first side counts once for each of its lanes. */
    uint64_t blocks, threads, events;
    /* Events of the first side; those whose lanes were also together on the other side. */
    uint64_t masks, equal_masks;
    bool same;       /* all threads are equal */
    Text difference; /* the first difference, with both sides; empty: none */
    Text other_mask; /* as above, for the first event whose lanes were not together */
} TraceComparison;

void trace_compare(const TraceSide *a, const TraceSide *b, TraceComparison *out);
void trace_comparison_done(TraceComparison *comparison);

#endif
