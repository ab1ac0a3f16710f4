/* Residency probe: a light rewriting that records where and when each block ran. Every block records its
 * multiprocessor and its times in its own record; the kernel is otherwise unchanged.
 *
 * At the start of the entry, thread 0 of the block writes start, clock and multiprocessor. Before every ret
 * and exit of the entry, the lowest of the leaving lanes raises end and end clock to the current time, so
 * both finally hold those of the last warp. Lanes that leave separately each write, which is harmless.
 *
 * %globaltimer is the same for all multiprocessors, in steps of nanoseconds that depend on the GPU ("Special
 * Registers" in the PTX ISA); %clock64 is each multiprocessor's own, in cycles. */
#ifndef INSTRUMENT_RESIDENCY_PROBE_H
#define INSTRUMENT_RESIDENCY_PROBE_H

#include "base/text.h"
#include "ptx/program.h"

/* [linear index of the block], all zero before a launch. */
typedef struct ResidencyRecord {
    uint64_t start, end; /* %globaltimer; end 0: no thread reached an exit */
    /* %clock64 at the start in the lower 48 bits, above them %smid + 1; 0: the block did not run */
    uint64_t clock;
    uint64_t end_clock; /* %clock64 */
} ResidencyRecord;

/* Prints the programs of one module. Each entry gets one more parameter at the end: .u64, the address of the
 * records. False with `error` if an entry's header cannot be read, or a function other than an entry
 * exits. */
bool instrument_residency(const PtxProgram *const *programs, int count, Text *out, Error *error);

/* The cycles between start and end; the multiprocessor. */
uint32_t residency_cycles(const ResidencyRecord *record);
uint32_t residency_multiprocessor(const ResidencyRecord *record);

#endif
