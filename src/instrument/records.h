/* Records: a region taken apart and checked. Private to src/instrument. */
#ifndef INSTRUMENT_RECORDS_H
#define INSTRUMENT_RECORDS_H

#include "instrument/region.h"

typedef struct Record {
    const InstrumentSite *site;
    const uint8_t *columns;
    uint32_t mask, extra;
    uint8_t warp;
    uint32_t all; /* of the first record: the lanes of all that it stands for */
    int next;     /* another record of the same execution; -1: none */
    int first;    /* that record's number; the own one where it is the first */
    int last;     /* of the first record: the latest of them */
} Record;

typedef struct Records {
    Record *records; /* in the order in which they were made */
    int count, capacity;
    uint64_t dropped, left_out;
} Records;

/* The settings say how large the region is and how many threads the block has. */
bool records_read(Records *records, const InstrumentSites *sites, const InstrumentSettings *settings,
                  uint32_t block, const uint8_t *region, Error *error);
void records_done(Records *records);

/* A field's value for one lane of record `number` or of those that belong to it. */
uint64_t records_value(const Records *records, int number, int field, int lane);

#endif
