/* Facts: weight and producer of what the events of a block loaded, stored, shuffled, packed: most events have
 * one weight for all lanes, and a million of them must fit. Private to the emulator. */
#ifndef EMULATOR_REPLAY_EVENT_PROVENANCE_H
#define EMULATOR_REPLAY_EVENT_PROVENANCE_H

#include "emulator/replay/replay.h"

typedef struct EventProvenance EventProvenance;
typedef ReplayEventProvenance
    ElementProvenance; /* of one element of an access, or of the one result of another event */
enum { FACTS_ELEMENTS = 2 * TRACE_MAX_ELEMENTS };

EventProvenance *event_provenance_new(int event_count);
void event_provenance_free(EventProvenance *provenance);

/* Nothing folded, no producer. */
void event_provenance_clear(ElementProvenance *elements, int count);
/* Keeps what the lanes of `mask` have; once for an event. The first `shown` are the event's facts; the others
 * are kept along. */
void event_provenance_add(EventProvenance *provenance, int event, uint32_t mask,
                          const ElementProvenance *elements, int count, int shown);
/* Gives it back; false, and nothing is changed, where nothing was kept. `count` is as it was. */
bool event_provenance_read(const EventProvenance *provenance, int event, ElementProvenance *elements,
                           int count);
/* All elements that are shown, as one: weights added, the latest producer. Valid until the next call. */
const ReplayEventProvenance *provenance_of_event(EventProvenance *provenance, int event);

#endif
