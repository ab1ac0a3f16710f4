/* Tensor copies in instrumented kernels. A record holds the digest of the tensor map, the coordinates and the
 * address of the tile in shared memory; the digest finds the map among those of the launch, and so the tile.
 * The parts of a copy are its read and its write, or with multicast a write into each block of the cluster
 * that may be named (emulator/instructions/tensor_copy.c). Private to src/instrument. */
#ifndef INSTRUMENT_PROBE_TENSOR_H
#define INSTRUMENT_PROBE_TENSOR_H

#include "instrument/partial_events.h"
#include "instrument/probe_plan.h"

bool tensor_copy_is_site(const InstrumentSite *site);
bool tensor_copy_is_load(const InstrumentSite *site);
bool tensor_copy_is_multicast(const InstrumentSite *site);
int tensor_copy_rank(const InstrumentSite *site);
int tensor_copy_offsets(const InstrumentSite *site); /* in im2col mode */
bool tensor_copy_plan(InstrumentSite *site);
const PtxOperand *tensor_copy_address(const InstrumentSite *site); /* of the tile */
/* The coordinates, the offsets, then the mask of the blocks; NULL: none of them. */
const PtxOperand *tensor_copy_operand(const InstrumentSite *site, int element);
/* Before the instruction: the digest into the record's 8-byte register. `guard`: "%p1", "!%p1" or "". */
void tensor_copy_put_digest(const InstrumentSite *site, const char *guard, Text *out);
int tensor_copy_part_count(const InstrumentSite *site);

uint32_t tensor_copy_part_lanes(const PartialEvents *partial_events, const PartialEvent *partial);
/* Of a partial event with a single lane. */
void tensor_copy_fill(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event);
/* Corrects the place of the event: a tile outside of the tensor lies nowhere, and a multicast writes into the
 * block that the part stands for. */
void tensor_copy_place(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event);

#endif
