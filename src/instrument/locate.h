/* Locate: turns GPU addresses into a symbol or a buffer with an offset. Private to src/instrument. */
#ifndef INSTRUMENT_LOCATE_H
#define INSTRUMENT_LOCATE_H

#include "instrument/region.h"

typedef struct LocatedConstant {
    uint64_t base, bytes;
    int buffer;
} LocatedConstant;

typedef struct LocatedSymbol {   /* a shared variable, or a part of a local frame */
    const PtxVariable *variable; /* NULL: reserved by the system at the start of shared memory */
    uint64_t base, bytes, frame_offset;
} LocatedSymbol;

typedef struct Locator { /* of a single block */
    const InstrumentMemory *memory;
    uint64_t shared_window, local_window;
    LocatedSymbol *shared, *local; /* ascending by base */
    int shared_count, local_count;
    LocatedConstant *constants, *generic_constants;
    int constant_count, generic_constant_count;
    bool has_peers;  /* addresses may name another block of the cluster */
    uint32_t origin; /* by its rank plus this, above the offset */
    uint32_t rank, cluster_blocks;
    int local_symbol; /* index of the launch's symbol for local frames */
} Locator;

typedef struct Location {
    PtxSpace space; /* SHARED, LOCAL, GLOBAL (including constants) */
    uint16_t buffer;
    uint64_t offset;
    int peer; /* SHARED: from trace_event_peer() */
} Location;

/* Reads the symbols' addresses from the header of the block's region. */
void locator_init(Locator *locator, const InstrumentSites *sites, const InstrumentMemory *memory,
                  const TraceLaunch *launch, uint32_t block, const uint8_t *region);
void locator_done(Locator *locator);

/* The launch's symbols, as the emulator lists them: shared ones in window order, then "local". */
void locator_name_symbols(const Locator *locator, Arena *arena, TraceLaunch *launch);

/* The element size of the buffer that contains the address; 0: unknown. */
int locator_element_bytes(const Locator *locator, uint64_t address);

/* `space`: from the instruction. False: no buffer contains the address. */
bool locate(const Locator *locator, PtxSpace space, uint64_t address, Location *out);

#endif
