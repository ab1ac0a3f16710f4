/* Region: the layout of the trace buffer. Private to src/instrument; kernels/probe.cu repeats it for the
 * device, so the two change together.
 *
 *   header | an address for each symbol, plus 1 | a slot for each spin site, warp and lane | records
 *
 * A record: site, mask, warp, extra (4 bytes each), then a column for each wide field, then one for each
 * narrow field, rounded up to 8 bytes. A column has the value of each active lane, lowest lane first.
 * `extra`: members of warp-wide instructions, number of a barrier, taken lanes of a branch. */
#ifndef INSTRUMENT_REGION_H
#define INSTRUMENT_REGION_H

#include "instrument/instrument.h"

enum {
    REGION_USED = 0,           /* 8 bytes each: bytes of records, including those without room */
    REGION_LOST_AT = 8,        /* ~used of the first record without room; 0: all fit */
    REGION_DROPPED = 16,       /* how many had no room */
    REGION_LEFT_OUT = 24,      /* how many in spin loops were replaced by a later one */
    REGION_SHARED_WINDOW = 32, /* generic addresses */
    REGION_LOCAL_WINDOW = 40,
    REGION_SYMBOLS = 48,
    REGION_SLOT_BYTES = 16,
    RECORD_HEADER = 16
};

static inline uint32_t region_slots_at(const InstrumentSites *sites) {
    return (REGION_SYMBOLS + 8 * (uint32_t)sites->symbol_count + 15) / 16 * 16;
}

static inline uint64_t region_records_at(const InstrumentSites *sites, uint32_t block_threads) {
    uint64_t warps = (block_threads + WARP_LANES - 1) / WARP_LANES;
    return region_slots_at(sites) + (uint64_t)sites->spin_count * warps * WARP_LANES * REGION_SLOT_BYTES;
}

static inline uint32_t region_record_bytes(const InstrumentSite *site, uint32_t mask) {
    uint32_t columns = (uint32_t)(8 * site->wide_count + 4 * site->narrow_count);
    return RECORD_HEADER + (columns * (uint32_t)__builtin_popcount(mask) + 7) / 8 * 8;
}

static inline uint64_t region_read(const uint8_t *from, int bytes) {
    uint64_t value = 0;
    memcpy(&value, from, (size_t)bytes); /* both sides are little-endian */
    return value;
}

#endif
