/* Block, grid and worker: the state of a launch while it runs. Private to the emulator.
 *
 * A Grid is one launch, read by all host threads. A Worker is one host thread's share: counters, traps,
 * printed text, which are merged in block order at the end. A Block is one resident block. */
#ifndef EMULATOR_MACHINE_MACHINE_BLOCK_H
#define EMULATOR_MACHINE_MACHINE_BLOCK_H

#include "emulator/machine/touched_page.h"
#include "emulator/machine/hooks.h"
#include "emulator/machine/machine_memory.h"
#include "trace/observer.h"
#include <stdatomic.h>

enum { QUIET_ITERATIONS = 4 }; /* iterations of a loop without changes before its accesses are compared */
enum { MAX_WARPS = 32, MAX_REPORTED = 2, BARRIER_COUNT = 17, CLUSTER_BARRIER = TRACE_CLUSTER_BARRIER };

typedef struct Recorder Recorder;
typedef struct RecordedValues RecordedValues;
typedef struct Writers Writers;
typedef struct Worker Worker;
typedef struct AsyncCopies AsyncCopies;
typedef struct Cluster Cluster;
typedef struct Tape Tape;
typedef struct TapeDoor TapeDoor;
typedef struct Holds Holds;

typedef struct Grid {
    Memory *memory;
    const Launch *launch;
    const LoweredProgram *program;
    TraceLaunch *trace;
    int launch_index; /* in the trace */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t cluster_blocks; /* 1: each block is a cluster of its own */
    uint32_t threads_per_block;
    int warps_per_block;
    uint64_t block_count;
    uint32_t multiprocessors;
    uint64_t number; /* of this launch in the emulator's life, from 1 */
    uint64_t seed, schedule;
    uint64_t launched_at;     /* for %clock: the end of earlier launches */
    uint64_t latest;          /* out: when the last block ended, relative to launched_at */
    uint64_t repeated_blocks; /* out: played from a tape */
    uint64_t workspace;       /* address of the grid workspace of cooperative launches, or 0 */
    uint64_t budget, block_budget;
    uint64_t trace_first, trace_last; /* first > last: none */
    int trace_most;                   /* events of a traced block */
    bool has_trace_also;              /* emulator.h */
    uint64_t trace_also;
    bool first_look;               /* emulator.h */
    bool keeps_going;              /* emulator.h */
    bool clusters_communicate;     /* a cluster may wait for another one, or observe it */
    bool blocks_communicate;       /* the same for blocks */
    Holds *holds;                  /* NULL: every thread goes on by the schedule (holds.h) */
    const Writers *writers;        /* NULL: not a guided run (writers.h) */
    const TraceObserver *observer; /* NULL: none */
    const TapeDoor *tapes;         /* NULL: every block runs by the schedule (tape_door.h) */
    struct ShadowPages *shadow;    /* NULL: only values are computed (shadow.h) */
    double *deviation; /* with a shadow: [op_count] how far off a result of each instruction is at most */
    void (*touched)(void *context, const EmulatorPage *page); /* emulator.h; NULL: nobody asks */
    void *touched_context;
    const atomic_bool *cancel;
    _Atomic uint64_t *blocks_done;
} Grid;

typedef struct RunCounter {
    int64_t executions, lanes;
} RunCounter; /* differences: their sum up to a pc is its count */

/* patterns per instruction */
enum { PATTERN_SETS = 4, PATTERN_WAYS = 4, PATTERNS = PATTERN_SETS * PATTERN_WAYS };
typedef struct CostPattern { /* an arithmetic progression that an instruction accessed, and its cost */
    uint32_t mask, phase;
    int64_t stride;
    bool global;
    uint32_t cost, ideal; /* wavefronts or sectors */
} CostPattern;

struct Worker {
    Grid *grid;
    RunCounter *runs;       /* [op_count + 1] */
    TraceCounter *counters; /* [op_count]; executions and lanes are corrections to `runs`, wrapping */
    CostPattern *patterns;  /* [op_count][PATTERN_SETS][PATTERN_WAYS], the latest first in each set */
    uint32_t *last_region;  /* [op_count] */
    uint8_t *reported;      /* [op_count] non-fatal faults reported so far */
    uint64_t *dropped;      /* [op_count] lanes that were out of bounds in non-fatal faults */
    Trap *traps;
    int trap_count, trap_capacity;
    Text printed;
    uint64_t executed;  /* warp instructions of finished slices */
    uint64_t latest;    /* when the last of its blocks ended, relative to the start of the launch */
    uint64_t changes;   /* accesses that changed memory, where blocks communicate */
    uint64_t irregular; /* faults, and scheduling decisions based on loaded values (tape_door.h) */
    Tape *tape;         /* NULL: none */
    int tapes_begun, tape_misses;
    uint64_t repeated_blocks; /* played from a tape */
    bool stopped;             /* a fatal trap */
    bool outdone;             /* as in TraceLaunch */
    Footprint *footprint;     /* NULL: not needed */
    void *observed_by;        /* the context of the grid's observer, or this thread's part of it */
    Arena arena;              /* details of traps */
};

typedef struct Barrier {
    uint32_t expected;     /* threads; 0: all live ones */
    uint32_t arrived;      /* threads: 32 per warp whose live lanes have all arrived */
    uint32_t holds, votes; /* bar.red: threads whose predicate is true; threads that contributed one */
    int pc;                /* of its first arrival */
} Barrier;

struct Block {
    Grid *grid;
    Worker *worker;
    uint64_t linear;
    uint32_t id[3];
    Cluster *cluster; /* NULL: no cluster (machine_cluster.h) */
    uint32_t rank;    /* in its cluster */
    int warp_count;
    Warp *warps;              /* [grid->warps_per_block] */
    Frame *frames;            /* the entry frames */
    uint8_t *registers;       /* of the entry frames */
    bool has_run;             /* another block of the grid has used these registers before */
    uint32_t queued;          /* one bit per warp that waits for its turn, next[] */
    uint64_t next[MAX_WARPS]; /* turn of each warp's next instruction */
    uint32_t ready;           /* one bit per warp that has had this turn and may run ahead */
    uint64_t turn;
    uint64_t now;        /* the turn of the warps that run ahead, for %clock */
    uint64_t started_at; /* for %clock */
    uint64_t executed;   /* warp instructions */
    int live_warps;
    uint8_t *shared;
    uint64_t *shared_written; /* one bit per byte */
    bool shared_is_written;   /* all of them are known to be set */
    /* [word] the load whose unwritten value a store has brought there (undefined.h); NULL: there is none */
    UnwrittenRead **shared_moved;
    /* stands for the shared memory of other blocks if the block has no cluster; NULL: not needed yet */
    uint8_t *elsewhere;
    Barrier barriers[BARRIER_COUNT];
    uint32_t barriers_in_use; /* one bit per barrier */
    /* how often all waits for mbarriers have given up since an mbarrier last changed */
    uint32_t given_up;
    uint32_t given_up_alike; /* the last ones of these with the same registers, and a hash of those */
    uint64_t waited_with;
    Recorder *recorder;              /* NULL: not traced */
    const BlockHooks *hooks;         /* NULL: an ordinary run */
    RecordedValues *recorded_values; /* NULL: an ordinary run */
    uint32_t noted;                  /* one bit per warp whose next ordered instruction is on the tape */
    Tape *tape;                      /* records the block (tape_door.h); NULL: not recorded */
    void *observed;                  /* the observer's handle of this block; NULL: no observer */
    AsyncCopies *copies;             /* asynchronous copies in flight (machine_copies.h); NULL: none so far */
    bool follows;                    /* one of its warps follows undefined values (undefined.h) */
    uint64_t frame_bytes;            /* of called functions */
};

/* Warps whose current fragments stand at the same place, in the same turn, in the order of their indices.
 * While they are together, `pc` and `turn` are current; the warps' own values are out of date. */
typedef struct Gang {
    int count;
    int pc;
    uint64_t turn;
    bool may_reconverge; /* a fragment has a reconvergence point */
    Warp *warps[MAX_WARPS];
    Fragment *fragments[MAX_WARPS];
    uint32_t masks[MAX_WARPS]; /* of the fragments */
} Gang;

typedef enum SliceEnd { SLICE_DONE, SLICE_USED, SLICE_RESTS, SLICE_WAITS, SLICE_STOPPED } SliceEnd;

Block *block_new(Grid *grid);
void block_free(Block *block);
static inline uint64_t block_started_at(uint64_t linear) { /* for %clock */
    return linear * 1000;
}
/* Starts block `linear` of the grid in `block`. */
void block_start(Block *block, Worker *worker, uint64_t linear);
void block_place(Block *block, uint64_t linear); /* sets only its place in the grid */
/* Runs until the block ends, traps fatally, has used up `instructions` warp instructions, or rests:
 * everything that can run only spins, so the block seems to wait for another one. SLICE_WAITS: nothing can
 * run until another block of its cluster does. */
SliceEnd block_run(Block *block, uint64_t instructions);
/* Counts the instructions of a stopped block since the last count. */
void block_count_rest(Block *block);
typedef struct SharedMemory { /* of a block */
    uint8_t *bytes;
    uint64_t *written; /* a bit per byte */
} SharedMemory;
/* Stands for the shared memory of another block of the cluster: loaded values count as recorded elsewhere. */
SharedMemory block_elsewhere(Block *block);
size_t block_bytes(const Grid *grid); /* host memory of one resident block */

/* With hooks: `warp` runs up to its next ordered instruction and executes it. False: it waits for others, or
 * has ended. */
bool block_hooked_turn(Block *block, Warp *warp);
/* Copies the state of `from` to `to`, except memory. Both belong to one grid and have hooks. */
void block_copy(Block *to, const Block *from);

Worker *worker_new(Grid *grid);
void worker_free(Worker *worker);
/* Adds the results of `from`; called in block order. */
void worker_merge(Worker *into, Worker *from);
void counter_add(TraceCounter *into, const TraceCounter *from, uint64_t times); /* modulo 2^64 */
/* Puts the counters into the trace. */
void worker_finish(Worker *worker);

/* A fault in `warp` (NULL: the block as a whole). Fatal ones stop the launch. `address` may be NULL. */
Trap *raise_trap(Block *block, TrapKind kind, const Warp *warp, int pc, uint32_t lanes,
                 const uint64_t *address, const char *format, ...) __attribute__((format(printf, 7, 8)));

static inline void count_segment(Worker *worker, Fragment *fragment, int end) {
    int64_t lanes = lane_count(fragment->mask);
    worker->runs[fragment->segment].executions++;
    worker->runs[end].executions--;
    worker->runs[fragment->segment].lanes += lanes;
    worker->runs[end].lanes -= lanes;
    fragment->segment = end;
}

/* For a warp without a ready fragment: releases lanes that only wait for each other. False: the warp waits
 * for others, or (after a trap) for ever. */
bool block_unstick(Block *block, Warp *warp);
/* No warp can run: releases lanes if possible, or finds the fault. False: the block waits for others of its
 * cluster. */
bool block_resolve(Block *block);
/* Raises the fault that makes the block, or its cluster, wait for ever. */
void block_raise_stuck(Block *block);
/* `lanes` of `warp` have exited: barriers may be complete without them. */
void barrier_after_exit(Block *block, const Warp *warp, uint32_t lanes);
/* `warp` arrives with another thread count than the arrivals before it in this phase; 0: without one. */
void raise_barrier_counts(Block *block, const Warp *warp, int pc, int number, uint32_t count);
/* For an aligned barrier that not all live lanes of the warp can reach; the trap lists which lanes wait
 * where. */
void raise_divergent_barrier(Block *block, const Warp *warp);
/* `at` waits at an instruction that names lanes that never come. */
void raise_missing_lanes(Block *block, const Warp *warp, const Fragment *at);
/* For a block (or a whole cluster of several blocks) in which no warp can run or be released. */
void raise_deadlock(Block *block);
/* `count` resident blocks wait for each other, or for one of `waiting` blocks that can only start after one
 * of them ends. */
void raise_spinning_blocks(Block *const *blocks, int count, uint64_t waiting);

/* ---- ordered instructions (OP_MEMORY, OP_WARP, OP_BARRIER, OP_CONTROL, OP_TRAP) --------------------- */

typedef enum Outcome {
    OUTCOME_NEXT,    /* executed; continues at the next pc */
    OUTCOME_MOVED,   /* executed; the handler has set pcs and the current fragment */
    OUTCOME_ARRIVED, /* executed; the fragment waits (its state says for what) */
    OUTCOME_WAIT,    /* not executed: the fragment waits and retries once it is ready */
    OUTCOME_STOP     /* fatal trap */
} Outcome;

/* The first member of Op.extra of an ordered instruction. `mask`: lanes whose guard is true, never 0. */
typedef struct CoreOp CoreOp;
typedef Outcome (*CoreExecute)(Block *block, Warp *warp, const Op *op, uint32_t mask);
typedef enum CoreForm { /* what a tape (tape_door.h) knows about the instruction */
                        CORE_OTHER,
                        CORE_NO_VALUE, /* uses no register, and its effect depends on none */
                        CORE_TRANSFER, /* ld, st: a MemoryOp */
                        CORE_EXCHANGE  /* between the lanes of a warp: a WarpOp (instructions/warp_op.h) */
} CoreForm;
struct CoreOp {
    CoreExecute execute;
    CoreForm form;
    /* The same for a gang, one warp after another, without recording or a false guard. Returns how many warps
     * have executed it: the next one needs `execute`. NULL: every warp does. Fragments that do not continue
     * at the next instruction have a state that says so. */
    int (*execute_together)(Block *block, const Op *op, const Gang *gang);
};

#endif
