/* Observer: the calls that a producer makes in every block of the grid, traced or not: for accesses to memory
 * that threads share, and for what puts such accesses in order. A producer that has an observer (emulator.h)
 * calls it as things happen; what it is given is borrowed for the call. It calls from one host thread, or,
 * where the observer can be split, from one for each part.
 *
 * Order of calls: of one lane, its program order; between lanes, the order in which memory was changed. */
#ifndef TRACE_OBSERVER_H
#define TRACE_OBSERVER_H

#include "trace/trace.h"

typedef struct TraceAccess TraceAccess;
struct TraceAccess { /* a warp's lanes are about to access shared or global memory: nothing is changed yet */
    int pc, warp;
    uint32_t mask;
    PtxSpace space; /* PTX_SPACE_SHARED or PTX_SPACE_GLOBAL: where a generic address led */
    int buffer;     /* global: index in trace->buffers. Lanes that reach several make one access each. */
    bool is_line;   /* the lanes' offsets are first + lane * stride, else offset[lane] */
    uint64_t first;
    int64_t stride;
    const uint64_t *offset; /* bytes in the buffer; shared: in the block's window */
    const uint8_t *memory;  /* what lies at offset 0 */
    bool
        arrives; /* a copy that was issued before has arrived: these bytes it has read by now, or is about to write */
    void *
        owner; /* shared memory of another block of the cluster: what the observer calls that block; else NULL */
    /* Stores: the bytes that `lane` is going to store, as many as the instruction's width. */
    void (*stored)(const TraceAccess *access, int lane, uint8_t *bytes);
    const void *producer;
};

static inline uint64_t trace_access_offset(const TraceAccess *access, int lane) {
    return access->is_line ? access->first + (uint64_t)((int64_t)lane * access->stride)
                           : access->offset[lane];
}

typedef enum TraceSyncKind {
    TRACE_SYNC_ARRIVE, /* the lanes have come to barrier `number` of the block, which is not one of all threads */
    TRACE_SYNC_RELEASE, /* all that it waited for have come to barrier `number`, and go on: `released` */
    TRACE_SYNC_CLUSTER_ARRIVE, /* the lanes have come to the barrier of the cluster */
    TRACE_SYNC_CLUSTER_COMPLETE, /* all its threads have; one call for each of its blocks, of which `number` follow */
    TRACE_SYNC_CLUSTER_WAIT, /* the lanes go on behind their wait */
    TRACE_SYNC_PASSED_BY, /* lanes `exited` end; an instruction at `pc`, where `mask` waits, names them: they passed it by */
    TRACE_SYNC_WARP, /* bar.warp.sync: all of these lanes have come */
    TRACE_SYNC_PHASE, /* copies have arrived and complete the phase of the mbarrier at offset `number` of the window of
                         the block, or of `owner`: who waits for it knows what this lane knows, their writes among it */
    TRACE_SYNC_FENCE /* fence, membar: its scope is in the instruction */
} TraceSyncKind;

typedef struct TraceRelease { /* what a barrier lets go of a warp */
    int pc;                   /* where it has waited */
    uint32_t mask;            /* 0: nothing */
    uint32_t exited;          /* lanes that have exited */
} TraceRelease;

typedef struct TraceSync {
    TraceSyncKind kind;
    int pc, warp, number;
    uint32_t mask;
    uint32_t exited;   /* PASSED_BY: lanes of the warp that have exited */
    bool is_blockwide; /* RELEASE: a barrier of all threads of the block, which ends its interval */
    const TraceRelease *released; /* RELEASE: [released_count], by warps */
    int released_count;
    void *owner; /* PHASE: as in TraceAccess */
} TraceSync;

typedef enum TraceCopyKind {
    TRACE_COPY_BEGINS,  /* it is issued. Its reads and writes are seen as accesses there, too */
    TRACE_COPY_IS_READ, /* its source may change */
    TRACE_COPY_ARRIVES, /* its thread has waited for it, or a thread for its mbarrier; the write is seen as an access of
                           that thread, after this */
    TRACE_COPY_IS_LEFT /* the block ends, and no thread has waited */
} TraceCopyKind;

/* An asynchronous copy by one lane. The calls are of the block into whose shared memory it goes, where it completes on an
 * mbarrier, which lies there, too; else of the block that issues it. */
typedef struct TraceCopy {
    TraceCopyKind kind;
    uint64_t number; /* among those of that block */
    uint64_t
        block; /* that issued it: its linear index; what the observer calls it, or NULL once it has ended */
    void *issuer;
    int pc, warp, lane;
    PtxSpace to, from; /* SHARED, GLOBAL; from GENERIC: it reads no memory */
    int to_buffer, from_buffer;
    uint64_t to_offset, from_offset, bytes;
    bool is_committed; /* IS_LEFT: it is in a group, or belongs to an mbarrier */
} TraceCopy;

typedef enum TraceUse {
    TRACE_USE_STORE,   /* stored to memory that threads share */
    TRACE_USE_ADDRESS, /* part of an address */
    TRACE_USE_ATOMIC,  /* operand of an atomic */
    TRACE_USE_BRANCH,  /* decides where the lane goes on */
    TRACE_USE_GUARD,   /* decides whether the instruction is executed */
    TRACE_USE_BARRIER  /* part of a barrier's result */
} TraceUse;

typedef struct TraceUndefined { /* lanes are about to use what a shuffle has left undefined */
    int pc, origin;             /* the use; the shuffle that read a lane which is not there, or elsewhere */
    bool
        is_product; /* the origin is a 32-bit product that has wrapped around; ADDRESS: an index is made of it */
    int warp;
    uint32_t lanes;
    TraceUse use;
} TraceUndefined;

typedef struct TraceObserver {
    void *context;
    void (*launch)(void *context, const Trace *trace, int launch); /* begins, after those before it */
    void *(*block)(void *context, uint64_t linear); /* begins; the result is what the calls below are given */
    void (*access)(void *block, const TraceAccess *access);
    void (*sync)(void *block, const TraceSync *sync);
    void (*copy)(void *block, const TraceCopy *copy);
    void (*undefined)(void *block, const TraceUndefined *undefined);
    void (*end)(void *block,
                bool is_stopped); /* is_stopped: the run ends, the block has not come to its end */
    /* Several host threads run consecutive blocks of the launch each, none of which sees what those of another thread write:
     * one of `parts` parts of the context, to be given to block() there. NULL: it cannot be split. */
    void *(*split)(void *context, int parts);
    /* Its parts, in the order of their blocks, end. `keep`: what they have seen is added to the context. False: one thread
     * might have seen something else; then nothing is added. */
    bool (*join)(void *context, void *const *parts, int count, bool keep);
} TraceObserver;

#endif
