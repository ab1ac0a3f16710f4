/* Emulator: runs a PTX program on the CPU in lockstep warps and writes a trace.
 *
 * It is complete for what scalar kernels use and has no knowledge of any particular kernel. Every block is
 * executed. One seed gives one trace, byte for byte, whatever the number of host threads: blocks run in
 * parallel only where the launch cannot let one block see another (no atomics, fences, ordered or volatile
 * accesses on memory that blocks share, and no word that one block writes and another touches: this is
 * checked while running, and where it fails, memory is restored and the grid runs again block after block).
 *
 * Faults of the kernel are traps in the trace, never errors; nothing a kernel does crashes or hangs the
 * emulator. */
#ifndef EMULATOR_EMULATOR_H
#define EMULATOR_EMULATOR_H

#include "ptx/launch.h"
#include "trace/folds.h"
#include "trace/observer.h"
#include "trace/trace.h"

typedef struct Emulator Emulator;

typedef struct EmulatorOptions {
    int threads;       /* host threads; 0: one per core */
    uint64_t seed;     /* %clock, %globaltimer, scheduling where a schedule is asked for */
    uint64_t schedule; /* 0: round robin; else: a different fair order of warps and fragments */
    uint32_t trace_first, trace_last; /* linear indices of the traced blocks, inclusive; first > last: none */
    bool first_look; /* the run ends after the last traced block, where blocks cannot see each other: these
                        are as in the whole run, counters and memory are not */
    uint64_t instruction_budget; /* warp instructions per launch before a trap; 0: default (20 billion) */
    uint64_t block_budget;       /* the same before any block ends; 0: no other limit than the launch's */
    uint64_t memory_limit_bytes; /* global + local + shared of resident blocks; 0: default (half of this
                                    machine) */
    uint32_t multiprocessors;    /* of the machine that is imitated (%nsmid, cooperative residency); 0: 132 */
    const TraceObserver *observer; /* looks on; then one host thread runs the grid. Outlives the emulator.
                                      NULL: nobody, which is several times faster */
    const volatile bool *cancel; /* polled; true ends the run early: emulator_run() fails with "cancelled" */
    volatile uint64_t *blocks_done; /* progress, or NULL */
} EmulatorOptions;

Emulator *emulator_new(const EmulatorOptions *options);
void emulator_free(Emulator *emulator);

/* Adds global memory; `bytes` is borrowed host memory that kernels read and write in place and must outlive
 * the emulator. Buffers are placed 256-byte aligned with unmapped space between them. Returns the index of
 * the buffer in the traces that this emulator writes (module variables follow the arguments). `type` is for
 * display only. */
int emulator_add_buffer(Emulator *emulator, const char *name, void *bytes, uint64_t byte_count, PtxType type);
uint64_t emulator_buffer_address(const Emulator *emulator, int buffer);
/* The host memory behind a buffer, or a module variable of a module that has been launched. */
void *emulator_buffer_bytes(const Emulator *emulator, int buffer);

/* Shared variables of launches from now on lie where they lie in `recorded`; NULL: one after another. */
void emulator_place_shared_as(Emulator *emulator, const TraceLaunch *recorded);

/* Runs one launch, bound to this emulator's addresses, to its end and adds it to `trace` (a new
 * TraceLaunch, counters, traced blocks, traps, printed text). Module variables (.global, .const) are
 * created on the first launch of a module and keep their contents between launches. false with `error`
 * only for what is no fault of the kernel: a grid or block that no machine accepts, parameters of the
 * wrong size, too little memory on this machine, cancelled. */
bool emulator_run(Emulator *emulator, const Launch *launch, Trace *trace, Error *error);

/* ---- Feeding: the blocks that somebody else recorded, run by what he found
 * -------------------------------------------------------------------------------------
 *
 * What only scheduling decides is not the same on two machines, and everything after it may follow another
 * path. A fed block takes such values from the events that the other producer recorded, thread by thread, and
 * computes everything else itself; so its events must be the other's, exactly. Taken are the results of
 * atomics and of ordered loads, and what other loads find in words that other blocks, or earlier launches, or
 * atomics of this block have written; and results of .approx instructions that are within the error that PTX
 * states, and reads of %clock and the like (`approximate`). A value that is neither is never
 * taken: the event differs then. */
typedef struct EmulatorRecording {
    const TraceLaunch *recorded; /* of the same program and geometry; its traced blocks are run */
    const uint64_t *base;        /* [buffer_count] where the other had the buffers, 0: not known; pointers are
                                    translated */
    int buffer_count;
    bool approximate; /* results that PTX does not define to the bit are events, too (TRACE_APPROXIMATE) */
} EmulatorRecording;

typedef struct EmulatorTakenValues {
    uint64_t scheduled, scheduled_other; /* taken since scheduling decides; those that were not the same */
    uint64_t approximate, approximate_other; /* the same of .approx */
} EmulatorTakenValues;

/* Runs the launch, so that memory is as after emulator_run(); then each block of feed->recorded, alone and
 * fed, from the memory before the launch: their events go into a new launch of `trace`. All launches of this
 * emulator must be run like this. `fed` grows. */
bool emulator_run_guided(Emulator *emulator, const Launch *launch, const EmulatorRecording *recorded_values,
                         Trace *trace, EmulatorTakenValues *taken, Error *error);

/* ---- Looking deeper: weights, producers, register values of a traced block
 * -----------------------------------------
 *
 * A Replay runs one traced block again, fed by the values that its recorded loads and atomics returned, so it
 * needs no global memory. The events decide which warp goes on; what is executed must come out as recorded,
 * or the replay ends there with an error. It keeps snapshots; seeking costs at most one snapshot interval.
 * Weight: how many input elements are folded into a value. Loads of global words that this block has not
 * written have weight 1, an operation adds its operands' weights (a product takes the larger), a move,
 * conversion or shuffle copies, a constant has 0. What an atomic finds in a word that this block has not
 * written is no input: 0. Producer: the event (number in the block) whose value, possibly through arithmetic,
 * it last came from; -1: none. */
typedef struct Replay Replay;

typedef struct ReplayValue {
    uint64_t bits[WARP_LANES]; /* predicates: 0 or 1 */
    uint32_t weight[WARP_LANES];
    int32_t producer[WARP_LANES];
} ReplayValue;

typedef struct
    ReplayEventProvenance {      /* per active lane of an event: what the value it produced or stored holds
                                   */
    uint32_t weight[WARP_LANES]; /* of the value loaded, stored, shuffled in, reduced */
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
/* Facts of any event (does not move). Computed for all events once, on first use. */
const ReplayEventProvenance *replay_event_provenance(Replay *replay, int event);
/* Who folded what, over the whole block (trace/folds.h), from a replay of its own; the caller's. NULL with
 * `error` where the block cannot be replayed. */
Folds *replay_folds(const Trace *trace, int launch, const TraceBlock *block, const Launch *bound,
                    Error *error);
/* Largest weight seen up to and including `event`, over the block's largest: 0..1. Where there are no
 * weights: the fraction of barrier intervals done. Never decreases. */
double replay_progress(Replay *replay, int event);

#endif
