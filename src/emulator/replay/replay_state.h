/* The state of a replay, shared by its parts: replay.c moves it, replay_event.c runs its events,
 * replay_access.c those that access memory. Private to them. */
#ifndef EMULATOR_REPLAY_REPLAY_STATE_H
#define EMULATOR_REPLAY_REPLAY_STATE_H

#include "emulator/replay/replay.h"

#include "emulator/replay/event_provenance.h"
#include "emulator/replay/fold_builder.h"
#include "emulator/machine/machine_access.h"
#include "emulator/machine/grid.h"
#include "emulator/replay/provenance.h"

typedef struct Snapshot {
    int position;
    uint64_t taken;
    Block *block;
} Snapshot;

struct Replay {
    const TraceBlock *recorded;
    const TraceBuffer *buffers; /* of the trace */
    int event_count;
    Memory memory; /* addresses only, without bytes */
    LoweredProgram *program;
    Grid grid;
    Worker *worker;
    ProvenanceRules *rules;
    BlockHooks hooks; /* of its blocks; the context is this replay */
    Block *block;
    int position;   /* the last event that ran; -1: none */
    uint64_t taken; /* bit i: event position + 1 + i ran before its turn */
    Snapshot *snapshots;
    int snapshot_count, snapshot_capacity, snapshot_interval;
    bool prepared;            /* the first run is complete or in progress */
    ProvenanceMemory *stored; /* only during the first run */
    EventProvenance *provenance;
    /* [2 * node + half] plus 1: nodes of the halves of a pair (replay_matrix.c); 0: not created */
    int32_t *halves;
    int halves_count;
    Folds *folds;      /* NULL: not wanted; otherwise producers are nodes (fold_builder.h) */
    FoldOperands read; /* by the instruction that lanes execute, if folds are kept */
    uint32_t largest;  /* largest weight so far, in the first run */
    double *progress;  /* [event] that weight, over the final largest one */
    Error failed;      /* where the replay failed to follow the trace */
    struct {
        TraceKind kind;
        uint16_t buffer[WARP_LANES];
        uint64_t offset[WARP_LANES];
    } bulk_source; /* of the latest bulk copy, whose destination is the next event of its warp */
    /* While lanes of several places exchange values (machine/hooks.h): */
    struct {
        uint32_t lanes; /* 0: none do */
        uint32_t names[WARP_LANES];
        uint64_t operand[WARP_LANES];
        Provenance source;        /* of their operands */
        int32_t node[WARP_LANES]; /* what redux folded for the lane at an earlier place; FOLD_NONE: nothing */
    } met;
    int current; /* the current event */
    TraceEvent expected, made;
};

/* Members of the hooks (machine/hooks.h). */
bool replay_expects(const void *context, const Warp *warp, int pc, uint32_t lanes);
uint32_t replay_next_mask(const void *context, const Warp *warp, int pc);
void replay_before_lanes(void *context, const Warp *warp, const Op *op, uint32_t mask);
void replay_after_lanes(void *context, const Warp *warp, const Op *op, uint32_t mask);
bool replay_access(void *context, const Access *access);
void replay_after_parameters(void *context, const Access *access);
TraceEvent *replay_begin_event(void *context, const Warp *warp, int pc, uint32_t mask);
void replay_end_event(void *context);
void replay_meet(void *context, const MetLanes *met);
void replay_after_transpose(void *context, const Frame *frame, Operand place);
void replay_after_copy(void *context, const Frame *frame, Operand to, Operand from);
/* mma, wmma.mma, movmatrix: the lanes get the recorded values (replay_matrix.c). */
void replay_matrix(Replay *replay, const Op *op, Warp *warp);

/* wgmma.mma_async (replay_wgmma.c); false: the event has registers that D has not. */
bool replay_wgmma(Replay *replay, const Op *op, Warp *warp);

/* A unique name over all spaces of a byte of this block's shared memory, or of global memory. */
static inline uint64_t replay_key(TraceKind kind, uint16_t buffer, uint64_t offset) {
    return (uint64_t)trace_kind_is_shared(kind) << 63 | (uint64_t)buffer << 46 | offset;
}

/* The same for shared memory of another block of the cluster: the byte that the event accesses there. */
static inline uint64_t replay_event_key(const TraceEvent *event, int lane, uint64_t offset) {
    return replay_key(event->kind, event->buffer[lane], offset) | (uint64_t)(trace_event_peer(event) + 1)
                                                                      << 40;
}

/* The current event is one side of a bulk copy: in the first run, weights and producers move with the
 * bytes. */
void replay_bulk(Replay *replay);

/* Keeps the first reason; always false. */
bool replay_fail(Replay *replay, const char *why);

/* Reads the warp's next event at `pc` with this mask (part: with some of it) into `expected`; false: there is
 * no such event. */
bool replay_take(Replay *replay, const Warp *warp, int pc, uint32_t mask, bool part);

/* Keeps the provenance that the first run found for the current event. */
void replay_see_weight(Replay *replay, uint32_t weight);
void replay_keep_provenance(Replay *replay, const ElementProvenance *provenance, int elements, int shown);

/* The result of the current event in a lane. */
FoldPlace replay_place(const Replay *replay, int lane, int element);

/* The producer of a value that an event gives to a lane: the event or, if folds are kept, a node of that
 * lane. */
int32_t replay_brought(const Replay *replay, int lane, int element, int32_t node);

/* For one lane of a register; a constant has no provenance. */
void replay_set_provenance(const Frame *frame, Operand place, int lane, uint32_t weight, int32_t producer);

#endif
