/* Warp: 32 lanes that execute together whenever possible. Private to the emulator.
 *
 * A warp is a set of *fragments*: lanes at the same pc in the same call frame. A divergent branch splits a
 * fragment and opens a *join* at the immediate post-dominator: lanes that reach it wait until all members of
 * the join have arrived (or have exited), then continue together. A call does the same for the lanes that
 * enter a function: the frame is a join at the return. Reconvergence is an optimization, not a guarantee:
 * lanes that wait for a sibling that cannot arrive before they continue (a spin lock) are released
 * (warp_release_any). */
#ifndef EMULATOR_MACHINE_WARP_H
#define EMULATOR_MACHINE_WARP_H

#include "emulator/lower/lowered.h"

typedef struct Block Block;
typedef struct Frame Frame;
typedef struct Provenance Provenance;
typedef struct UndefinedValue UndefinedValue;
typedef struct UnwrittenRead UnwrittenRead;
typedef struct ShadowSlot ShadowSlot;

enum { NO_JOIN = -1, NO_FRAGMENT = -1 };

struct Frame {
    Frame *parent; /* the caller's; NULL: the entry's frame */
    Frame *next;   /* all frames of the warp, newest first */
    const FunctionLayout *layout;
    const Op *call;           /* NULL: the entry */
    const CallValue *results; /* where the caller expects the results */
    int result_count;
    uint8_t *registers;
    uint8_t *parameters;    /* [lane][layout->parameter_bytes] */
    Provenance *provenance; /* kept by the hooks of the block; NULL without hooks */
    /* per register, and per 4 bytes of the parameters (undefined.h); NULL: none */
    UndefinedValue *undefined;
    ShadowSlot *shadow;  /* [register_bytes / 64] numbers of registers (shadow.h); NULL: none */
    uint32_t local_base; /* bytes into each lane's local memory */
    uint32_t local_top;  /* end of the frame, alloca included */
    uint32_t depth;
    /* lanes that have not left for good; of these, lanes that have returned and wait */
    uint32_t members, arrived;
    int join; /* innermost join of the calling fragment */
};

typedef struct Join {
    int pc;
    Frame *frame;
    uint32_t members, arrived;
    int parent; /* the enclosing join in the same frame; NO_JOIN: the frame itself */
    bool used;
} Join;

typedef enum FragmentState {
    FRAGMENT_READY,
    FRAGMENT_AT_WARP_OP, /* at a shfl.sync, vote.sync, bar.warp.sync ...: waits for the other named lanes */
    FRAGMENT_AT_ALIGNED, /* at an aligned barrier: waits for its siblings */
    FRAGMENT_IN_BARRIER, /* has arrived at a barrier of the block and waits for its release */
    /* waits for a phase of an mbarrier, or for a wgmma-group: retries once one has changed */
    FRAGMENT_AT_MBARRIER,
    FRAGMENT_HELD /* waits since the order of the run says so (holds.h) */
} FragmentState;

#define AWAITS_WARPGROUP UINT32_MAX /* in place of an mbarrier */

typedef struct Fragment {
    int pc;
    uint32_t mask;
    Frame *frame;
    int join, join_pc; /* innermost join of this frame, and its pc (PTX_NO_PC: none) */
    int segment;       /* first pc that is not in the counters yet */
    uint8_t state;
    uint8_t barrier; /* IN_BARRIER: its number */
    bool passes;     /* its bar.warp.sync is complete */
    /* its wait for an mbarrier took too long: it continues with the phase incomplete */
    bool gives_up;
    bool touched, changed; /* in this iteration: accessed memory; changed memory */
    uint8_t quiet;         /* consecutive iterations that changed nothing */
    uint32_t active;       /* waiting: lanes whose guard is true */
    /* AT_WARP_OP: named lanes that are missing; AT_MBARRIER: its offset in the block's window */
    uint32_t awaited;
    uint32_t named; /* AT_WARP_OP: the mask of its lowest lane */
    uint64_t since; /* turn at which it was last picked */
    /* of the accesses of this iteration, after some quiet ones; of the previous iteration */
    uint64_t hash, last_hash;
    uint32_t spins; /* consecutive identical iterations that changed nothing */
    /* hash of the values that this iteration, and the previous one, found in words that others change
     * (ordered loads, atomics that changed nothing); 0: no such access */
    uint64_t watch, last_watch;
    /* consecutive iterations that found the same values there, even if they did something else */
    uint32_t vain;
    bool waits; /* it spins, or has long watched in vain: other lanes must run */
    bool rests; /* it has spun for long: it seems to wait for others */
} Fragment;

struct Warp {
    RegisterBase base; /* of the current fragment's frame */
    Block *block;
    int index;
    uint32_t started, live; /* lanes that exist; lanes that have not exited */
    uint64_t turn;
    uint32_t interval;
    /* lanes that were released because an instruction of the warp waits for them, and do not just exit */
    uint32_t called;
    int current; /* NO_FRAGMENT: none is ready */
    int fragment_count;
    Fragment fragments[WARP_LANES];
    Join *joins;
    int join_count, join_capacity;
    Frame *frames;
    Frame *entry_frame;
    uint32_t arrived[17]; /* lanes that have arrived at each barrier of the block, and at the cluster's */
    /* lanes that have not waited at the cluster barrier since it completed (machine_cluster.h) */
    uint32_t passed;
    uint8_t *local;            /* [offset / 16][lane][16]: the 16-byte pieces of all lanes are adjacent */
    uint64_t *local_written;   /* one bit per byte of `local` */
    size_t local_bytes;        /* per lane, as allocated */
    bool follows;              /* some of its values may be undefined (undefined.h) */
    UndefinedValue *undefined; /* [offset / 4] of local memory; NULL: none */
    uint64_t undefined_count;
    UnwrittenRead *unwritten_reads; /* of shared memory: the last one of each instruction */
    uint64_t failed_waits;          /* bit pc % 64: a wait for an mbarrier there has given up once */
};

static inline Fragment *warp_fragment(Warp *warp) {
    return &warp->fragments[warp->current];
}

/* A frame of a called function, and its host memory in bytes. */
Frame *frame_new(const FunctionLayout *layout);
uint64_t frame_bytes(const FunctionLayout *layout);

/* Starts the warp at pc 0 with the lanes of `lanes`. */
void warp_start(Warp *warp, Block *block, int index, uint32_t lanes, Frame *entry_frame);
void warp_abandon(Warp *warp); /* frees the frames of the functions it was in */
void warp_done(Warp *warp);
/* Copies the state of `from` to `to`. Both are warps of blocks of one grid; replays have no local memory, so
 * it is left out. */
void warp_copy(Warp *to, const Warp *from);
/* Fills in special registers and local addresses of a new frame; or only those that differ between blocks. */
void frame_fill_slots(const Warp *warp, const Frame *frame);
void frame_fill_block_slots(const Warp *warp, const Frame *frame);

/* Makes fragment `index` the current one: registers, turn bookkeeping. */
void warp_select(Warp *warp, int index);
/* Picks the next ready fragment after `current`; current becomes NO_FRAGMENT if there is none. */
bool warp_pick(Warp *warp);

/* The current fragment branches: `taken` (a proper, non-empty part of its mask) goes to `target`, the rest to
 * the next instruction and runs first. `reconvergence`: where they reconverge, or PTX_NO_PC. The caller
 * updates the counters. */
void warp_diverge(Warp *warp, uint32_t taken, int target, int reconvergence);
/* The same for several targets (brx): `ways` disjoint parts that cover the mask. */
void warp_scatter(Warp *warp, int ways, const uint32_t *masks, const int *targets, int reconvergence);
/* The current fragment is at its join: its lanes wait there, or all continue. Another fragment may be current
 * afterwards. */
void warp_arrive(Warp *warp);
/* `lanes` of the current fragment exit. */
void warp_exit(Warp *warp, uint32_t lanes);
/* `lanes` of the current fragment enter `frame` (created by the caller; members set here); the rest moves to
 * the next pc. */
void warp_enter(Warp *warp, uint32_t lanes, Frame *frame);
/* `lanes` of the current fragment return from their frame. */
void warp_return(Warp *warp, uint32_t lanes);
/* Releases the lanes that wait at the innermost join (or return) of the warp that has any: they continue
 * without the others. */
bool warp_release_any(Warp *warp);
/* The same for lanes that only exit when they continue. */
bool warp_release_exiting(Warp *warp);
/* After a backward branch of the current fragment that may wait for lanes of the warp or other blocks: lets
 * other fragments run once it has used its share, or releases those that it seems to wait for. */
void warp_consider_rotation(Warp *warp);
/* True if everything in the warp that can run only spins. */
bool warp_rests(const Warp *warp);
/* Merges ready fragments at the same place, in the same join: all have passed an aligned barrier. */
void warp_merge(Warp *warp);
/* True if `a` is inside a branch or call that `b` has left, or never entered. */
bool warp_is_deeper(const Warp *warp, const Fragment *a, const Fragment *b);
/* Splits `lanes` off the current fragment into a fragment at the same place. */
void warp_split(Warp *warp, uint32_t lanes);
#endif
