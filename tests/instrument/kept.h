/* Kept records: regions of a trace buffer from a GPU, in a file. The file contains everything needed to
 * decode them. tests/device/on_gpu writes such files, tests/instrument/test_records.c decodes them on any
 * machine. */
#ifndef TESTS_INSTRUMENT_KEPT_H
#define TESTS_INSTRUMENT_KEPT_H

#include "instrument/instrument.h"
#include "session/session.h"

typedef struct KeptRegion {
    int launch;
    uint32_t block;
    InstrumentSettings settings;
    InstrumentMemory memory;
    uint8_t *bytes; /* [settings.region_bytes] */
} KeptRegion;

typedef struct Kept {
    char kernel[64], dtype[16], device[128];
    uint64_t n;
    uint32_t block, grid; /* grid 0: chosen by the kernel */
    bool approximate;
    KeptRegion *regions;
    int region_count, region_capacity;
    Arena arena; /* names, memory tables */
} Kept;

/* The run that records it. */
RunSpec kept_options(const Kept *kept);

void kept_add(Kept *kept, int launch, const InstrumentSettings *settings, const InstrumentMemory *memory,
              uint32_t block, const uint8_t *region);
bool kept_write(const Kept *kept, const char *path, Error *error);
bool kept_read(Kept *kept, const char *path, Error *error);
void kept_done(Kept *kept);

#endif
