/* Replay: weights, producers and register values of a traced block. Part of emulator.h.
 *
 * A Replay runs one traced block again with the values that its recorded loads and atomics returned, so it needs no
 * global memory. The events decide which warp goes on; what is executed must come out as recorded, or the replay ends
 * there with an error. It keeps snapshots; seeking costs at most one snapshot interval.
 *
 * Weight: how many input elements are folded into a value. A load of a global word that this block has not written
 * has weight 1, an operation adds its operands' weights (a product takes the larger), a move, conversion or shuffle
 * copies, a constant has 0. What an atomic finds in a word that this block has not written is no input: 0. Producer:
 * the event (its number in the block) that the value last came from, possibly through arithmetic; -1: none. */
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

/* What the value that an event produced or stored is made of, in each active lane. */
typedef struct ReplayEventProvenance {
    uint32_t weight[WARP_LANES]; /* of the value loaded, stored, shuffled in or reduced */
    int32_t
        producer[WARP_LANES]; /* load: the event that stored the word; store: the event its value came from;
                                     atomic: the event its operand came from;
                                     shuffle: the event that produced the value in the source lane */
} ReplayEventProvenance;

Replay *replay_open(const Trace *trace, int launch, const TraceBlock *block, const Launch *bound,
                    Error *error);
void replay_free(Replay *replay);
/* Moves to just after `event` (-1: the block's start). */
bool replay_seek(Replay *replay, int event, Error *error);
/* Value of a register (name with %, of the function that the warp's lane stands in) at the current point. */
bool replay_register(Replay *replay, int warp, const char *name, ReplayValue *out);
/* The provenance of any event; does not move. Computed for all events at once, on first use. */
const ReplayEventProvenance *replay_event_provenance(Replay *replay, int event);
/* The fold graph of the whole block (trace/folds.h), from a replay of its own; the caller owns it. NULL with
 * `error` where the block cannot be replayed. */
Folds *replay_folds(const Trace *trace, int launch, const TraceBlock *block, const Launch *bound,
                    Error *error);
/* Largest weight seen up to and including `event`, over the block's largest: 0..1. Where there are no
 * weights: the fraction of barrier intervals done. Never decreases. */
double replay_progress(Replay *replay, int event);

#endif
