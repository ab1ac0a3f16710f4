/* Residency probe: a light rewriting that records where and when each block ran. Every block records on which
 * multiprocessor it is and when, in a record of its own; the kernel is otherwise as it was.
 *
 * Where the entry begins, thread 0 of the block writes start, clock and multiprocessor. Before every ret and exit of the
 * entry, the lowest lane of those that leave together raises end and end clock to the time of now, so that both are
 * those of the last warp in the end. Lanes that leave apart from each other each write, which changes nothing.
 *
 * %globaltimer is the same for all multiprocessors, in steps of nanoseconds that depend on the GPU ("Special
 * Registers" in the PTX ISA); %clock64 is each multiprocessor's own, in cycles. */
#ifndef INSTRUMENT_RESIDENCY_PROBE_H
#define INSTRUMENT_RESIDENCY_PROBE_H

#include "base/text.h"
#include "ptx/program.h"

/* [linear index of the block], all zero before a launch. */
typedef struct ResidencyRecord {
    uint64_t start, end; /* %globaltimer; end 0: no thread came to an exit */
    uint64_t clock; /* %clock64 at the start in the lower 48 bits, above them %smid + 1; 0: no block ran */
    uint64_t end_clock; /* %clock64 */
} ResidencyRecord;

/* Prints the programs, which are of one module. Each entry has one more parameter behind its own: .u64, the address of
 * the records. false with `error` where an entry's header cannot be read, or another function than an entry exits. */
bool instrument_residency(const PtxProgram *const *programs, int count, Text *out, Error *error);

/* Cycles between the two; the multiprocessor. */
uint32_t residency_cycles(const ResidencyRecord *record);
uint32_t residency_multiprocessor(const ResidencyRecord *record);

#endif
