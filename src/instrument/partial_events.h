/* Partial events: the records of a block, split into the parts that become events. Private to src/instrument.
 *
 * A record of an access becomes a partial event for each place that its lanes reach (shared, local, each
 * buffer), and for each matrix; any other record becomes one partial event. Interval and occurrence are known
 * here; only the last iteration of a spin loop is kept. */
#ifndef INSTRUMENT_PARTIAL_EVENTS_H
#define INSTRUMENT_PARTIAL_EVENTS_H

#include "instrument/locate.h"
#include "instrument/records.h"
#include "trace/tile.h"

typedef struct PartialEvent {
    int record; /* its first record */
    int pc;
    uint32_t mask;
    TraceKind kind;
    uint32_t interval, occurrence, turn;
    /* ldmatrix and stmatrix: the matrix; wmma: the piece; a copy: its part (probe_copies.h); otherwise 0 */
    int matrix;
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

/* Of a tensor copy by the lowest lane of the partial event. NULL: no tensor map of the launch. *global: as in
 * trace_tile_of(). */
const TensorMap *partial_event_map(const PartialEvents *partial_events, const PartialEvent *partial);
TraceTile partial_event_tile(const PartialEvents *partial_events, const PartialEvent *partial,
                             uint64_t *global);

/* The address that a lane accesses: its own or, for matrices, one in a row whose address another lane
 * holds. */
uint64_t partial_event_address(const PartialEvents *partial_events, const PartialEvent *partial, int lane);
/* The number of bytes that a lane of a copy reads. */
uint32_t partial_event_copied(const PartialEvents *partial_events, const PartialEvent *partial, int lane);
/* The space that the instruction names. */
PtxSpace partial_event_space(const PartialEvents *partial_events, const PartialEvent *partial);
/* The location of that address. */
Location partial_event_location(const PartialEvents *partial_events, const PartialEvent *partial, int lane);
uint64_t partial_event_value(const PartialEvents *partial_events, const PartialEvent *partial,
                             InstrumentFieldKind kind, int element, int lane);

/* Element `element` of the value that a lane loads or stores, as in memory. */
uint64_t partial_event_element(const PartialEvents *partial_events, const PartialEvent *partial, int element,
                               int lane);

/* spin_collapse.c: the latest events of each warp, as long as they may be an iteration of a spin loop. */
typedef struct SpinCollapse SpinCollapse;
SpinCollapse *spin_collapse_new(int warps);
void spin_collapse_free(SpinCollapse *spin_collapse);
/* Adds the newest partial event. If it completes an iteration that repeats the previous one, returns its
 * number of events; otherwise 0. `*earlier` ..: the partial events of the previous iteration, to be dropped;
 * `*later` ..: those of this one. */
int spin_collapse_note(SpinCollapse *spin_collapse, const PartialEvents *partial_events, int partial,
                       const uint64_t **earlier, const uint64_t **later);
/* The earlier iteration has been dropped. */
void spin_collapse_forget(SpinCollapse *spin_collapse, int warp, int period);

#endif
