/* Facts: weight and producer of what the events of a block loaded, stored, shuffled, packed: most events have
 * one weight for all lanes, and a million of them must fit. Private to the emulator. */
#ifndef EMULATOR_FACTS_H
#define EMULATOR_FACTS_H

#include "emulator/emulator.h"

typedef struct Facts Facts;
typedef ReplayEventFacts
    ElementFacts; /* of one element of an access, or of the one result of another event */
enum { FACTS_ELEMENTS = 2 * TRACE_MAX_ELEMENTS };

Facts *facts_new(int event_count);
void facts_free(Facts *facts);

/* Nothing folded, no producer. */
void facts_clear(ElementFacts *elements, int count);
/* Keeps what the lanes of `mask` have; once for an event. The first `shown` are the event's facts; the others
 * are kept along. */
void facts_add(Facts *facts, int event, uint32_t mask, const ElementFacts *elements, int count, int shown);
/* Gives it back; false, and nothing is changed, where nothing was kept. `count` is as it was. */
bool facts_read(const Facts *facts, int event, ElementFacts *elements, int count);
/* All elements that are shown, as one: weights added, the latest producer. Valid until the next call. */
const ReplayEventFacts *facts_of_event(Facts *facts, int event);

#endif
