/* Asynchronous copies in instrumented kernels. A record holds the addresses of a copy and the values it
 * reads; it becomes the events that the emulator creates (emulator/instructions/copy_async.c, bulk.c).
 * Private to src/instrument.
 *
 * Parts of cp.async, in this order: the load of the lanes that read all of their bytes; for lanes that read
 * less, if the instruction allows it, a load of each word, then of the bytes after their last word; the store
 * of all lanes. Parts of a bulk copy: the read and the write. */
#ifndef INSTRUMENT_PROBE_COPIES_H
#define INSTRUMENT_PROBE_COPIES_H

#include "instrument/partial_events.h"
#include "instrument/probe_plan.h"

bool copies_plan(const PtxInstruction *in, InstrumentSite *site);
/* Before the instruction: puts the values that it will read, and their number of bytes, into the registers of
 * the record. The first 8-byte register holds the source address. `guard`: "%p1", "!%p1" or "". */
void copies_put_values(const InstrumentSite *site, const char *guard, Text *out);

int copies_part_count(const InstrumentSite *site); /* 0: not a copy */
PtxSpace copies_part_space(const InstrumentSite *site, int part);
TraceKind copies_part_kind(const InstrumentSite *site, int part);

/* Elements of the fields ADDRESS; of VALUE: the bytes after the last whole word, the first in the lowest
 * bits. */
enum { COPY_SOURCE, COPY_DESTINATION, COPY_TAIL = 4 };

typedef struct CopyPart { /* for a lane that reads this many bytes */
    bool exists, is_whole;
    int address;     /* COPY_SOURCE, COPY_DESTINATION */
    int bytes;       /* accessed; bulk copies: 0 means all */
    uint32_t offset; /* from that address */
} CopyPart;

CopyPart copies_part(const InstrumentSite *site, int part, uint32_t size);
/* the record holds the number of bytes that a lane reads */
bool copies_reads_less(const InstrumentSite *site);
uint32_t copies_whole_bytes(const InstrumentSite *site); /* of cp.async */

/* The lanes of the record that have this part. */
uint32_t copies_part_lanes(const PartialEvents *partial_events, const PartialEvent *partial);
void copies_fill(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event);

#endif
