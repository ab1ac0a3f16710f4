/* What the records of tensor copies become (probe_tensor.h). */
#include "instrument/probe_tensor.h"

#include "instrument/probe_copies.h"

static const InstrumentSite *site_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    return partial_events->records->records[partial->record].site;
}

static uint32_t ranks_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    const InstrumentSite *site = site_of(partial_events, partial);
    int mask = tensor_copy_rank(site) + tensor_copy_offsets(site);
    return (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, mask,
                                         __builtin_ctz(partial->mask));
}

uint32_t tensor_copy_part_lanes(const PartialEvents *partial_events, const PartialEvent *partial) {
    bool is_written = partial->matrix > 0 && tensor_copy_is_multicast(site_of(partial_events, partial));
    if (!is_written) return partial->mask;
    return ranks_of(partial_events, partial) >> (partial->matrix - 1) & 1 ? partial->mask : 0;
}

void tensor_copy_fill(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event) {
    uint64_t global;
    int lane = __builtin_ctz(partial->mask);
    TraceTile tile = partial_event_tile(partial_events, partial, &global);
    trace_tile_write(&tile, event, lane);
    event->operand[lane] = trace_tile_bytes(&tile);
}

void tensor_copy_place(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event) {
    const InstrumentSite *site = site_of(partial_events, partial);
    uint64_t global;
    TraceTile tile = partial_event_tile(partial_events, partial, &global);
    bool is_shared = copies_part_space(site, partial->matrix) == PTX_SPACE_SHARED;
    if (!is_shared && trace_tile_is_outside(&tile)) event->offset[__builtin_ctz(partial->mask)] = 0;
    if (!is_shared || !partial->matrix || !tensor_copy_is_multicast(site)) return;
    uint32_t rank = (uint32_t)partial->matrix - 1;
    event->participants = rank == partial_events->locator->rank ? 0 : rank + 1;
}
