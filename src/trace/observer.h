/* Observer: the calls that a producer makes in every block of the grid, traced or not.
 *
 * They report accesses to memory that threads share, and whatever orders such accesses. A producer with an
 * observer (emulator.h) calls it as things happen; arguments are borrowed for the call. It calls from one
 * host thread or, if the observer can be split, from one thread for each part.
 *
 * Order of calls: for one lane, its program order; between lanes, the order in which memory changed. */
#ifndef TRACE_OBSERVER_H
#define TRACE_OBSERVER_H

#include "trace/trace.h"

typedef struct TraceAccess TraceAccess;
/* A warp's lanes are about to access shared or global memory, which is still unchanged. */
struct TraceAccess {
    int pc, warp;
    uint32_t mask;
    PtxSpace space; /* PTX_SPACE_SHARED or PTX_SPACE_GLOBAL, also for a generic address */
    /* Global: index in trace->buffers. Lanes that access several buffers make one access each. */
    int buffer;
    bool is_line; /* the lanes' offsets are first + lane * stride; else offset[lane] */
    uint64_t first;
    int64_t stride;
    const uint64_t *offset; /* bytes in the buffer; shared: in the block's window */
    const uint8_t *memory;  /* the bytes at offset 0 */
    /* An earlier copy arrives: it has read these bytes by now, or is about to write them. */
    bool arrives;
    /* Shared memory of another block of the cluster: the observer's pointer for that block; else NULL. */
    void *owner;
    /* Stores: gets the bytes that `lane` is going to store, as many as the instruction's width. */
    void (*stored)(const TraceAccess *access, int lane, uint8_t *bytes);
    const void *producer;
};

static inline uint64_t trace_access_offset(const TraceAccess *access, int lane) {
    return access->is_line ? access->first + (uint64_t)((int64_t)lane * access->stride)
                           : access->offset[lane];
}

typedef enum TraceSyncKind {
    /* The lanes have arrived at barrier `number` of the block, which does not take all threads. */
    TRACE_SYNC_ARRIVE,
    TRACE_SYNC_RELEASE, /* all expected threads have arrived at barrier `number` and continue: `released` */
    TRACE_SYNC_CLUSTER_ARRIVE, /* the lanes have arrived at the barrier of the cluster */
    /* All threads of the cluster have arrived; one call for each block, `number` more follow. */
    TRACE_SYNC_CLUSTER_COMPLETE,
    TRACE_SYNC_CLUSTER_WAIT, /* the lanes continue after their wait */
    /* Lanes `exited` end, although an instruction at `pc`, where `mask` waits, names them. */
    TRACE_SYNC_PASSED_BY,
    TRACE_SYNC_WARP, /* bar.warp.sync: all of these lanes have arrived */
    /* Copies have arrived and complete the phase of the mbarrier at offset `number` of the window of the
     * block, or of `owner`: a thread that waits for it knows what this lane knows, including their writes. */
    TRACE_SYNC_PHASE,
    /* The warp has waited for wgmma-groups, which are its warpgroup's: it knows what the products of the four
     * warps that have ended (TRACE_COPY_ARRIVES of a copy to GENERIC) have read. */
    TRACE_SYNC_PRODUCTS,
    TRACE_SYNC_FENCE /* fence, membar: the instruction gives the scope */
} TraceSyncKind;

typedef struct TraceRelease { /* what a barrier releases of a warp */
    int pc;                   /* where it waited */
    uint32_t mask;            /* 0: nothing */
    uint32_t exited;          /* lanes that have exited */
} TraceRelease;

typedef struct TraceSync {
    TraceSyncKind kind;
    int pc, warp, number;
    uint32_t mask;
    uint32_t exited;   /* PASSED_BY: lanes of the warp that have exited */
    bool is_blockwide; /* RELEASE: a barrier of all threads of the block, which ends its interval */
    const TraceRelease *released; /* RELEASE: [released_count], by warp */
    int released_count;
    void *owner; /* PHASE: as in TraceAccess */
} TraceSync;

typedef enum TraceCopyKind {
    TRACE_COPY_BEGINS,  /* it is issued; its reads and writes are also reported as accesses at this point */
    TRACE_COPY_IS_READ, /* its source may change */
    /* Its thread has waited for it, or a thread for its mbarrier; its write is reported as an access of that
     * thread, after this. */
    TRACE_COPY_ARRIVES,
    TRACE_COPY_IS_LEFT /* the block ends, and no thread has waited */
} TraceCopyKind;

/* An asynchronous copy by one lane. The calls go to the block whose shared memory holds its destination and
 * its mbarrier, if it completes on one; else to the issuing block. */
typedef struct TraceCopy {
    TraceCopyKind kind;
    uint64_t number; /* its number in that block */
    /* The issuing block: its linear index, and the observer's pointer, or NULL once the block has ended. */
    uint64_t block;
    void *issuer;
    int pc, warp, lane;
    PtxSpace to, from; /* SHARED, GLOBAL; from GENERIC: it reads no memory */
    int to_buffer, from_buffer;
    uint64_t to_offset, from_offset, bytes;
    bool is_committed; /* IS_LEFT: it is in a group, or has an mbarrier */
} TraceCopy;

typedef enum TraceUse {
    TRACE_USE_STORE,   /* stored to memory that threads share */
    TRACE_USE_ADDRESS, /* part of an address */
    TRACE_USE_ATOMIC,  /* operand of an atomic */
    TRACE_USE_BRANCH,  /* decides where the lane continues */
    TRACE_USE_GUARD,   /* decides whether the instruction is executed */
    TRACE_USE_BARRIER, /* part of a barrier's result */
    TRACE_USE_OPERAND  /* read by an instruction: the result of an asynchronous product */
} TraceUse;

typedef struct TraceUndefined { /* lanes are about to use what a shuffle left undefined */
    int pc, origin;             /* the use; the shuffle that read a missing lane, or another origin */
    /* The origin is a 32-bit product that wrapped around; ADDRESS: it is used as an index. */
    bool is_product;
    bool is_matrix; /* the origin is a product of matrices in flight: wgmma.mma_async */
    int warp;
    uint32_t lanes;
    TraceUse use;
} TraceUndefined;

typedef struct TraceObserver {
    void *context;
    void (*launch)(void *context, const Trace *trace, int launch); /* begins; launches come in order */
    void *(*block)(void *context, uint64_t linear); /* begins; its result is passed to the calls below */
    void (*access)(void *block, const TraceAccess *access);
    void (*sync)(void *block, const TraceSync *sync);
    void (*copy)(void *block, const TraceCopy *copy);
    void (*undefined)(void *block, const TraceUndefined *undefined);
    /* is_stopped: the run ends before the block does. */
    void (*end)(void *block, bool is_stopped);
    /* Several host threads run consecutive blocks of the launch, and no block sees what those of another
     * thread write. Returns `parts` parts of the context; each thread passes its part to block(). NULL: the
     * context cannot be split. */
    void *(*split)(void *context, int parts);
    /* The parts end, in the order of their blocks. `keep`: adds what they observed to the context. False: a
     * single thread might have observed something else, and nothing is added. */
    bool (*join)(void *context, void *const *parts, int count, bool keep);
} TraceObserver;

#endif
