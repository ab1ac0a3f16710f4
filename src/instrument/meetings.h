/* Meetings: finds the records of .sync instructions whose lanes met. Private to src/instrument.
 *
 * Lanes meet that name each other in one mask, at one instruction or at several with the same qualifiers
 * (emulator/instructions/warp_meet.h), and all lanes of the mask that have not exited are there. So the n-th
 * execution of a lane with this mask and these qualifiers meets the n-th one of every other lane. */
#ifndef INSTRUMENT_MEETINGS_H
#define INSTRUMENT_MEETINGS_H

#include "instrument/records.h"

typedef struct Meetings Meetings;
Meetings *meetings_new(void);
void meetings_free(Meetings *meetings);
/* The next record in the order of writing, of an instruction that names its lanes in its extra: returns the
 * number of its execution for its lanes, from 0. */
uint32_t meetings_add(Meetings *meetings, const Record *record);
/* After all records: the lanes that this execution meets. */
uint32_t meetings_lanes(Meetings *meetings, const Record *record);

#endif
