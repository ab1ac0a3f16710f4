/* Event provenance: the weight and the producer of each loaded, stored or shuffled value. They are packed,
 * since most events have one weight for all lanes, and a million of them must fit. Private to the
 * emulator. */
#ifndef EMULATOR_REPLAY_EVENT_PROVENANCE_H
#define EMULATOR_REPLAY_EVENT_PROVENANCE_H

#include "emulator/replay/replay.h"

typedef struct EventProvenance EventProvenance;
/* Of one element of an access, or of the one result of another event. */
typedef ReplayEventProvenance ElementProvenance;
enum { MAX_PROVENANCE_ELEMENTS = 2 * TRACE_MAX_ELEMENTS };

EventProvenance *event_provenance_new(int event_count);
void event_provenance_free(EventProvenance *provenance);

/* Nothing folded, no producer. */
void event_provenance_clear(ElementProvenance *elements, int count);
/* Keeps what the lanes of `mask` have; once for an event. The first `shown` elements are what the event shows; a replay
 * needs the others when it comes by again. */
void event_provenance_add(EventProvenance *provenance, int event, uint32_t mask,
                          const ElementProvenance *elements, int count, int shown);
/* Reads it back, with the same `count`; false, and nothing is changed, where nothing was kept. */
bool event_provenance_read(const EventProvenance *provenance, int event, ElementProvenance *elements,
                           int count);
/* All elements that are shown, as one: weights added, the latest producer. Valid until the next call. */
const ReplayEventProvenance *provenance_of_event(EventProvenance *provenance, int event);

#endif
