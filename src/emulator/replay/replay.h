/* Replay: weights, producers and register values of a traced block. Part of emulator.h.
 *
 * A Replay re-runs one traced block with the recorded values of its loads and atomics, so it needs no global
 * memory. The events decide which warp runs next; each instruction must give its recorded event, or the
 * replay ends there with an error. It keeps snapshots; a seek costs at most one snapshot interval.
 *
 * Weight: how many input elements are folded into a value. A load of a global word that this block has not
 * written has weight 1; an operation adds its operands' weights (a product takes the larger one); a move,
 * conversion or shuffle copies the weight; a constant has 0. The value that an atomic finds in a word that
 * this block has not written is not an input: 0. Producer: the event (its number in the block) from which the
 * value last came, possibly through arithmetic; -1: none. */
#ifndef EMULATOR_REPLAY_REPLAY_H
#define EMULATOR_REPLAY_REPLAY_H

#include "ptx/launch.h"
#include "trace/folds.h"
#include "trace/trace.h"

typedef struct Replay Replay;

typedef struct ReplayValue {
    uint64_t bits[WARP_LANES]; /* predicates: 0 or 1 */
    uint32_t weight[WARP_LANES];
    int32_t producer[WARP_LANES];
} ReplayValue;

/* The origin of the value that an event produced or stored, in each active lane. */
typedef struct ReplayEventProvenance {
    uint32_t weight[WARP_LANES]; /* of the value loaded, stored, shuffled in or reduced */
    /* load: the event that stored the word; store: the event its value came from; atomic: the event its
     * operand came from; shuffle: the event that produced the value in the source lane */
    int32_t producer[WARP_LANES];
} ReplayEventProvenance;

Replay *replay_open(const Trace *trace, int launch, const TraceBlock *block, const Launch *bound,
                    Error *error);
void replay_free(Replay *replay);
/* Moves to just after `event` (-1: the block's start). */
bool replay_seek(Replay *replay, int event, Error *error);
/* The value of a register at the current point. The name starts with % and belongs to the function that the
 * warp's lane is in; of several, in different scopes, it is the one that the event's instruction names. */
bool replay_register(Replay *replay, int warp, const char *name, ReplayValue *out);
/* The provenance of any event, without a seek. The first call computes it for all events. */
const ReplayEventProvenance *replay_event_provenance(Replay *replay, int event);
/* The fold graph of the whole block (trace/folds.h), from a separate replay; the caller owns it. NULL with
 * `error` if the block cannot be replayed. */
Folds *replay_folds(const Trace *trace, int launch, const TraceBlock *block, const Launch *bound,
                    Error *error);
/* The largest weight up to and including `event`, over the block's largest: 0..1. Without weights: the
 * fraction of completed barrier intervals. Never decreases. */
double replay_progress(Replay *replay, int event);

#endif
