/* Records: a region split into checked records. Private to src/instrument. */
#ifndef INSTRUMENT_RECORDS_H
#define INSTRUMENT_RECORDS_H

#include "instrument/region.h"

typedef struct Record {
    const InstrumentSite *site;
    const uint8_t *columns;
    uint32_t mask, extra;
    uint8_t warp;
    uint32_t all; /* of the first record: all lanes of its execution */
    int next;     /* the next record of the same execution; -1: none */
    int first;    /* the first record of the execution; may be this one */
    /* of a shfl.sync, vote.sync, ...: the number of its execution; the lanes that it meets */
    uint32_t number, met;
    int last; /* of the first record: the last one of its execution */
} Record;

typedef struct Records {
    Record *records; /* in the order in which they were written */
    int count, capacity;
    uint64_t dropped, left_out;
} Records;

/* The settings give the size of the region and the threads of the block. */
bool records_read(Records *records, const InstrumentSites *sites, const InstrumentSettings *settings,
                  uint32_t block, const uint8_t *region, Error *error);
void records_done(Records *records);

/* A field's value in one lane of record `number`, or of a later record of its execution. */
uint64_t records_value(const Records *records, int number, int field, int lane);

/* Meetings: finds the records of .sync instructions whose lanes met. Private to src/instrument.
 *
 * Lanes meet that name each other in one mask, at one instruction or at several with the same qualifiers
 * (emulator/instructions/warp_meet.h), and all lanes of the mask that have not exited are there. So the n-th
 * execution of a lane with this mask and these qualifiers meets the n-th one of every other lane. */

typedef struct Meetings Meetings;

#endif
