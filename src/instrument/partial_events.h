/* Partial events: the records of a block, cut into what will be events. Private to src/instrument.
 *
 * A record of an access becomes a partial event for each place that its lanes reach (shared, local, each buffer), and
 * for each matrix; any other record becomes one. Interval and occurrence are known here; of the rounds of a spin loop
 * only the last is kept. */
#ifndef INSTRUMENT_PARTIAL_EVENTS_H
#define INSTRUMENT_PARTIAL_EVENTS_H

#include "instrument/locate.h"
#include "instrument/records.h"

typedef struct PartialEvent {
    int record; /* the first of those that it is made of */
    int pc;
    uint32_t mask;
    TraceKind kind;
    uint32_t interval, occurrence, turn;
    int matrix; /* of ldmatrix and stmatrix; of wmma, the piece; of a copy, its part (copies.h); else 0 */
    bool is_dropped;
} PartialEvent;

typedef struct PartialEvents {
    const Records *records;
    const Locator *locator;
    const TraceLaunch *launch;
    uint32_t threads;
    PartialEvent *partial_events; /* in the order of the records */
    int count, capacity;
} PartialEvents;

bool partial_events_make(PartialEvents *partial_events, uint32_t block, Error *error);
void partial_events_done(PartialEvents *partial_events);

/* The field of an instruction's record; -1: it has none of that kind. */
int field_of(const InstrumentSite *site, InstrumentFieldKind kind, int element);
/* The address that a lane accesses: its own or, of matrices, in a row whose address another lane has. */
uint64_t partial_event_address(const PartialEvents *partial_events, const PartialEvent *partial, int lane);
/* How many bytes a lane of a copy reads. */
uint32_t partial_event_copied(const PartialEvents *partial_events, const PartialEvent *partial, int lane);
/* In which space, as the instruction says. */
PtxSpace partial_event_space(const PartialEvents *partial_events, const PartialEvent *partial);
/* Where that is. */
Location partial_event_location(const PartialEvents *partial_events, const PartialEvent *partial, int lane);
uint64_t partial_event_value(const PartialEvents *partial_events, const PartialEvent *partial,
                             InstrumentFieldKind kind, int element, int lane);

/* Element `element` of what a lane of an access loads or stores, as it lies in memory. */
uint64_t partial_event_element(const PartialEvents *partial_events, const PartialEvent *partial, int element,
                               int lane);

/* event_order.c: gives each partial event that is left its turn, and sorts by turn and warp. */
void partial_events_order(PartialEvents *partial_events);

/* spin_collapse.c: what each warp has done of late, as long as it may be a round of a spin loop. */
typedef struct SpinCollapse SpinCollapse;
SpinCollapse *spin_collapse_new(int warps);
void spin_collapse_free(SpinCollapse *spin_collapse);
/* Adds the newest partial event. Returns how many the round has that it completes, where that repeats the round
 * before, else 0: `*earlier` .. are the partial events of the round before, which are to be dropped, `*later` .. those
 * of this one. */
int spin_collapse_note(SpinCollapse *spin_collapse, const PartialEvents *partial_events, int partial,
                       const uint64_t **earlier, const uint64_t **later);
/* The earlier round has been dropped. */
void spin_collapse_forget(SpinCollapse *spin_collapse, int warp, int period);

#endif
