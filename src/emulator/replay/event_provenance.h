/* Event provenance: the weight and the producer of each loaded, stored or shuffled value. It is packed: most
 * events have one weight for all lanes, and a million of them must fit. Private to the emulator. */
#ifndef EMULATOR_REPLAY_EVENT_PROVENANCE_H
#define EMULATOR_REPLAY_EVENT_PROVENANCE_H

#include "emulator/replay/replay.h"

typedef struct EventProvenance EventProvenance;
/* One element of an access, or the single result of another event. */
typedef ReplayEventProvenance ElementProvenance;
enum { MAX_PROVENANCE_ELEMENTS = 2 * TRACE_MAX_ELEMENTS };

EventProvenance *event_provenance_new(int event_count);
void event_provenance_free(EventProvenance *provenance);

/* Nothing folded, no producer. */
void event_provenance_clear(ElementProvenance *elements, int count);
/* Keeps the provenance of the lanes of `mask`; once per event. The event shows the first `shown` elements; a
 * replay needs the others when it reaches the event again. */
void event_provenance_add(EventProvenance *provenance, int event, uint32_t mask,
                          const ElementProvenance *elements, int count, int shown);
/* Reads it back, with the same `count`; false, and no change, if nothing was kept. */
bool event_provenance_read(const EventProvenance *provenance, int event, ElementProvenance *elements,
                           int count);
/* All shown elements as one: the sum of the weights and the latest producer. Valid until the next call. */
const ReplayEventProvenance *provenance_of_event(EventProvenance *provenance, int event);

#endif
