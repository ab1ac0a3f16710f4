/* Turns the records of asynchronous copies into events (probe_copies.h). */
#include "instrument/probe_copies.h"

#include "instrument/locate.h"
#include "instrument/probe_tensor.h"
#include <string.h>

enum { WORD = 4, MOST_BYTES = 16 };

static const InstrumentSite *site_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    return partial_events->records->records[partial->record].site;
}

static CopyPart part_of(const PartialEvents *partial_events, const PartialEvent *partial, int lane) {
    const InstrumentSite *site = site_of(partial_events, partial);
    return copies_part(site, partial->matrix, partial_event_copied(partial_events, partial, lane));
}

uint32_t copies_part_lanes(const PartialEvents *partial_events, const PartialEvent *partial) {
    uint32_t lanes = 0;
    if (tensor_copy_is_site(site_of(partial_events, partial)))
        return tensor_copy_part_lanes(partial_events, partial);
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        if (part_of(partial_events, partial, __builtin_ctz(rest)).exists) lanes |= rest & (0 - rest);
    return lanes;
}

/* Bytes of an element as in the buffer, if all lanes read all of their bytes. */
static int element_bytes(const PartialEvents *partial_events, const PartialEvent *partial) {
    const InstrumentSite *site = site_of(partial_events, partial);
    uint32_t all = partial_events->records->records[partial->record].all, whole = copies_whole_bytes(site);
    for (uint32_t rest = all; rest; rest &= rest - 1)
        if (partial_event_copied(partial_events, partial, __builtin_ctz(rest)) != whole) return WORD;
    uint64_t source =
        partial_event_value(partial_events, partial, INSTRUMENT_ADDRESS, COPY_SOURCE, __builtin_ctz(all));
    int bytes = locator_element_bytes(partial_events->locator, source);
    return bytes == 2 || (bytes == 8 && whole >= 8) ? bytes : WORD;
}

/* The bytes that the lane reads, followed by zeros. */
static void bytes_of_lane(const PartialEvents *partial_events, const PartialEvent *partial, int lane,
                          uint8_t bytes[MOST_BYTES]) {
    const InstrumentSite *site = site_of(partial_events, partial);
    uint32_t size = partial_event_copied(partial_events, partial, lane), whole = copies_whole_bytes(site);
    memset(bytes, 0, MOST_BYTES);
    for (uint32_t w = 0; w < whole / WORD; w++) {
        uint32_t word =
            (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_VALUE, (int)w, lane);
        if (size >= (w + 1) * WORD) memcpy(bytes + w * WORD, &word, WORD);
    }
    if (size == whole || !(size % WORD)) return;
    uint32_t tail = (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_VALUE, COPY_TAIL, lane);
    memcpy(bytes + size / WORD * WORD, &tail, size % WORD);
}

static void fill_bulk(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event) {
    event->element_bytes = WORD;
    event->element_count = 1;
    event->width = MOST_BYTES;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1)
        event->operand[__builtin_ctz(rest)] =
            partial_event_copied(partial_events, partial, __builtin_ctz(rest));
}

void copies_fill(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event) {
    const InstrumentSite *site = site_of(partial_events, partial);
    bool bulk = trace_kind_is_bulk(partial->kind);
    event->is_load = copies_part_kind(site, partial->matrix) == site->kind;
    event->has_result = !bulk;
    if (bulk) {
        (tensor_copy_is_site(site) ? tensor_copy_fill : fill_bulk)(partial_events, partial, event);
        return;
    }
    CopyPart first = part_of(partial_events, partial, __builtin_ctz(partial->mask));
    event->width = first.bytes;
    event->element_bytes = first.is_whole ? element_bytes(partial_events, partial) : first.bytes;
    event->element_count = event->width / event->element_bytes;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint8_t bytes[MOST_BYTES];
        bytes_of_lane(partial_events, partial, lane, bytes);
        const uint8_t *at = bytes + part_of(partial_events, partial, lane).offset;
        for (int e = 0; e < event->element_count; e++)
            memcpy(&event->value[e][lane], at + e * event->element_bytes, (size_t)event->element_bytes);
    }
}
