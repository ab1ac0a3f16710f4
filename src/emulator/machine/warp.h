/* Warp: 32 lanes that execute together where they can. Private to the emulator.
 *
 * A warp is a set of *fragments*: lanes that stand at the same pc in the same call frame. A branch whose
 * lanes disagree splits a fragment and opens a *join* at the immediate post-dominator: lanes that get there
 * wait until all members of the join have arrived (or have exited), and go on together. A call does the same for
 * the lanes that enter a function: the frame is a join at the return. Reconvergence is an optimization, not a
 * guarantee: lanes that wait for a sibling which cannot arrive before they have moved on (a spin lock) are
 * released (warp_release). */
#ifndef EMULATOR_MACHINE_WARP_H
#define EMULATOR_MACHINE_WARP_H

#include "emulator/lower/lowered.h"

typedef struct Block Block;
typedef struct Frame Frame;
typedef struct Provenance Provenance;
typedef struct UndefinedValue UndefinedValue;

enum { NO_JOIN = -1, NO_FRAGMENT = -1 };

struct Frame {
    Frame *parent; /* the caller's; NULL: the entry's frame */
    Frame *next;   /* all frames of the warp, newest first */
    const FunctionLayout *layout;
    const Op *call;           /* NULL: the entry */
    const CallValue *results; /* where the caller wants the results */
    int result_count;
    uint8_t *registers;
    uint8_t *parameters;    /* [lane][layout->parameter_bytes] */
    Provenance *provenance; /* what the hooks of the block keep of the frame; NULL without hooks */
    UndefinedValue
        *undefined;      /* of registers, and of 4 bytes each of the parameters (undefined.h); NULL: none */
    uint32_t local_base; /* bytes into each lane's local memory */
    uint32_t local_top;  /* end of the frame, alloca included */
    uint32_t depth;
    uint32_t members,
        arrived; /* lanes that have not left for good; of these, those that have returned and wait */
    int join;    /* innermost join of the calling fragment */
};

typedef struct Join {
    int pc;
    Frame *frame;
    uint32_t members, arrived;
    int parent; /* the join around it, in the same frame; NO_JOIN: the frame itself */
    bool used;
} Join;

typedef enum FragmentState {
    FRAGMENT_READY,
    FRAGMENT_AT_WARP_OP, /* at a shfl.sync, vote.sync, bar.warp.sync ...: waits for the other named lanes */
    FRAGMENT_AT_ALIGNED, /* at an aligned barrier: waits for its siblings */
    FRAGMENT_IN_BARRIER, /* has arrived at a barrier of the block and waits for its release */
    FRAGMENT_AT_MBARRIER /* waits for a phase of an mbarrier: tries again when one has changed */
} FragmentState;

typedef struct Fragment {
    int pc;
    uint32_t mask;
    Frame *frame;
    int join, join_pc; /* innermost join of this frame, and its pc (PTX_NO_PC: none) */
    int segment;       /* first pc that is not yet in the counters */
    uint8_t state;
    uint8_t barrier;       /* IN_BARRIER: its number */
    bool passes;           /* its bar.warp.sync is complete */
    bool gives_up;         /* its wait for an mbarrier has taken too long: it goes on without */
    bool touched, changed; /* in this iteration: memory was accessed; memory was changed */
    uint8_t quiet;         /* iterations in a row that changed nothing */
    uint32_t active;       /* waiting: lanes whose guard is true */
    uint32_t awaited; /* AT_WARP_OP: lanes that it names and that have not come; AT_MBARRIER: its place in the
                              block's window */
    uint64_t since;   /* turn at which it was picked last */
    uint64_t hash,
        last_hash; /* of the accesses of this iteration of a loop, after some quiet ones; of the one before */
    uint32_t spins;             /* iterations in a row that were the same and changed nothing */
    uint64_t watch, last_watch; /* hash of what this iteration, and the one before, found in words that others
                                   change: ordered loads, atomics that changed nothing; 0: no such access */
    uint32_t vain;              /* iterations in a row that found the same there, whatever else they did */
    bool waits;                 /* it spins, or has watched in vain for long: other lanes are to go on */
    bool rests;                 /* it has spun for long: it seems to wait for others */
} Fragment;

struct Warp {
    RegisterBase base; /* of the current fragment's frame */
    Block *block;
    int index;
    uint32_t started, live; /* lanes that exist; that have not exited */
    uint64_t turn;
    uint32_t interval;
    uint32_t
        called; /* lanes that were released because an instruction of the warp waits for them, and do not just
                        exit */
    int current; /* NO_FRAGMENT: none is ready */
    int fragment_count;
    Fragment fragments[WARP_LANES];
    Join *joins;
    int join_count, join_capacity;
    Frame *frames;
    Frame *entry_frame;
    uint32_t arrived[17]; /* lanes that have arrived at each barrier of the block, and at the cluster's */
    uint32_t passed;      /* lanes that have not waited at the cluster's since it was complete (cluster.h) */
    uint8_t *local;       /* [offset / 16][lane][16]: a 16-byte piece of every lane, side by side */
    uint64_t *local_written;   /* a bit per byte of `local` */
    size_t local_bytes;        /* per lane, as allocated */
    bool follows;              /* something in it may be undefined (undefined.h) */
    UndefinedValue *undefined; /* [offset / 4] of local memory; NULL: none */
    uint64_t undefined_count;
};

static inline Fragment *warp_fragment(Warp *warp) {
    return &warp->fragments[warp->current];
}

/* A frame of a called function; what it needs of host memory. */
Frame *frame_new(const FunctionLayout *layout);
uint64_t frame_bytes(const FunctionLayout *layout);

/* Starts the warp at pc 0 with the lanes of `lanes`. */
void warp_start(Warp *warp, Block *block, int index, uint32_t lanes, Frame *entry_frame);
void warp_abandon(Warp *warp); /* frees the frames of functions that it was in */
void warp_done(Warp *warp);
/* Makes `to` stand where `from` stands. Both are warps of blocks of one grid; local memory is left out, as
 * replays have none. */
void warp_copy(Warp *to, const Warp *from);
/* Fills in special registers and local addresses of a new frame; or only what is not the same in every block.
 */
void frame_fill_slots(const Warp *warp, const Frame *frame);
void frame_fill_block_slots(const Warp *warp, const Frame *frame);

/* Makes fragment `index` the current one: registers, turn bookkeeping. */
void warp_select(Warp *warp, int index);
/* Picks a ready fragment, after `current` in turn; current becomes NO_FRAGMENT where there is none. */
bool warp_pick(Warp *warp);

/* The current fragment branches: `taken` (a proper, non-empty part of its mask) goes to `target`, the rest to
 * the next instruction and runs first. `reconvergence`: where they reconverge, or PTX_NO_PC. Counters are the
 * caller's business. */
void warp_diverge(Warp *warp, uint32_t taken, int target, int reconvergence);
/* The same for many ways (brx): `ways` disjoint parts that cover the mask. */
void warp_scatter(Warp *warp, int ways, const uint32_t *masks, const int *targets, int reconvergence);
/* The current fragment stands at its join: its lanes wait there, or all go on. Something else may be current
 * afterwards. */
void warp_arrive(Warp *warp);
/* `lanes` of the current fragment end. */
void warp_exit(Warp *warp, uint32_t lanes);
/* `lanes` of the current fragment enter `frame` (made by the caller; members set here); the rest goes to the
 * next pc. */
void warp_enter(Warp *warp, uint32_t lanes, Frame *frame);
/* `lanes` of the current fragment return from their frame. */
void warp_return(Warp *warp, uint32_t lanes);
/* Lanes that wait at the innermost join (or return) around `fragment` that has any go on without the others.
 */
bool warp_release(Warp *warp, const Fragment *fragment);
/* The same for any join of the warp. */
bool warp_release_any(Warp *warp);
/* The same for lanes that only exit when they go on. */
bool warp_release_exiting(Warp *warp);
/* After a backward branch of the current fragment, where lanes of the warp or other blocks may be what it
 * waits for: lets other fragments run when it has had its share, or releases those that it seems to spin for.
 */
void warp_consider_rotation(Warp *warp);
/* Everything of the warp that can run only spins. */
bool warp_rests(const Warp *warp);
/* Ready fragments that stand at the same place, in the same join, go on as one: all have passed an aligned
 * barrier. */
void warp_merge(Warp *warp);
/* The current fragment goes on without `lanes`, which become a fragment of their own at the same place. */
void warp_split(Warp *warp, uint32_t lanes);
/* True once every lane has exited. */
static inline bool warp_is_done(const Warp *warp) {
    return warp->live == 0;
}

#endif
