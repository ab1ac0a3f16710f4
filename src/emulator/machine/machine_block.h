/* Block, grid and worker: the state of a launch while it runs. Private to the emulator.
 *
 * A Grid is one launch, read by all host threads. A Worker is one host thread's share: counters, traps,
 * printed text; they are added up in block order at the end. A Block is one resident block. */
#ifndef EMULATOR_MACHINE_MACHINE_BLOCK_H
#define EMULATOR_MACHINE_MACHINE_BLOCK_H

#include "emulator/machine/hooks.h"
#include "emulator/machine/machine_memory.h"
#include "trace/observer.h"

enum { QUIET_ITERATIONS = 4 }; /* of a loop, that changed nothing, before its accesses are compared */
enum { MAX_WARPS = 32, MAX_REPORTED = 2, BARRIER_COUNT = 17, CLUSTER_BARRIER = TRACE_CLUSTER_BARRIER };

typedef struct Recorder Recorder;
typedef struct RecordedValues RecordedValues;
typedef struct Writers Writers;
typedef struct Worker Worker;
typedef struct AsyncCopies AsyncCopies;
typedef struct Cluster Cluster;
typedef struct Tape Tape;
typedef struct TapeDoor TapeDoor;

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
    uint64_t launched_at;     /* for %clock: after the launches before */
    uint64_t latest;          /* out: when its last block ended, since then */
    uint64_t repeated_blocks; /* out: played from a tape */
    uint64_t workspace;       /* address of the grid workspace of cooperative launches, or 0 */
    uint64_t budget, block_budget;
    uint64_t trace_first, trace_last; /* first > last: none */
    bool has_trace_also;              /* emulator.h */
    uint64_t trace_also;
    bool first_look;               /* emulator.h */
    bool keeps_going;              /* emulator.h */
    bool clusters_communicate;     /* a cluster may wait for another, or see what it does */
    bool blocks_communicate;       /* the same of blocks */
    const Writers *writers;        /* NULL: not a guided run (writers.h) */
    const TraceObserver *observer; /* NULL: none */
    const TapeDoor *tapes;         /* NULL: every block takes its turns (tape_door.h) */
    const volatile bool *cancel;
    volatile uint64_t *blocks_done;
} Grid;

typedef struct RunCounter {
    int64_t executions, lanes;
} RunCounter; /* differences: sum up to a pc is that pc's count */

enum {
    PATTERN_SETS = 4,
    PATTERN_WAYS = 4,
    PATTERNS = PATTERN_SETS * PATTERN_WAYS
};                           /* kept of an instruction */
typedef struct CostPattern { /* an arithmetic progression that an instruction has accessed, and its cost */
    uint32_t mask, phase;
    int64_t stride;
    bool global;
    uint32_t cost, ideal; /* wavefronts or sectors */
} CostPattern;

struct Worker {
    Grid *grid;
    RunCounter *runs;       /* [op_count + 1] */
    TraceCounter *counters; /* [op_count]; executions and lanes are corrections to `runs`, wrapping */
    CostPattern *patterns;  /* [op_count][PATTERN_SETS][PATTERN_WAYS], in each set the latest first */
    uint32_t *last_region;  /* [op_count] */
    uint8_t *reported;      /* [op_count] faults reported so far, of those after which the run goes on */
    uint64_t *dropped;      /* [op_count] lanes whose access reached outside, where the run goes on */
    Trap *traps;
    int trap_count, trap_capacity;
    Text printed;
    uint64_t executed;  /* warp instructions of finished slices */
    uint64_t latest;    /* when the last of its blocks ended, since the launch began */
    uint64_t changes;   /* accesses that changed memory, where blocks communicate */
    uint64_t irregular; /* faults, and decisions of the schedule by what was loaded (tape_door.h) */
    Tape *tape;         /* NULL: there is none */
    int tapes_begun, tape_misses;
    uint64_t repeated_blocks; /* played from a tape */
    bool stopped;             /* a fatal trap */
    Footprint *footprint;     /* NULL: not needed */
    void *observed_by;        /* the context of the grid's observer, or this thread's part of it */
    Arena arena;              /* details of traps */
};

typedef struct Barrier {
    uint32_t expected;     /* threads; 0: all that live */
    uint32_t arrived;      /* threads: 32 for every warp all of whose live lanes have come */
    uint32_t holds, votes; /* bar.red: threads whose predicate is true; threads that gave one */
} Barrier;

struct Block {
    Grid *grid;
    Worker *worker;
    uint64_t linear;
    uint32_t id[3];
    Cluster *cluster; /* NULL: it is alone (cluster.h) */
    uint32_t rank;    /* in its cluster */
    int warp_count;
    Warp *warps;              /* [grid->warps_per_block] */
    Frame *frames;            /* the entry frames */
    uint8_t *registers;       /* of the entry frames */
    bool has_run;             /* another block of the grid has had these registers before */
    uint32_t queued;          /* a bit for each warp whose turn will come, at next[] */
    uint64_t next[MAX_WARPS]; /* turn of each warp's next instruction */
    uint32_t ready;           /* a bit for each warp that has had this turn and may run ahead */
    uint64_t turn;
    uint64_t now;        /* turn of what runs ahead, for %clock */
    uint64_t started_at; /* for %clock */
    uint64_t executed;   /* warp instructions */
    int live_warps;
    uint8_t *shared;
    uint64_t *shared_written; /* a bit per byte */
    bool shared_is_written;   /* all of them are known to be set */
    uint8_t *
        elsewhere; /* in the place of the shared memory of other blocks, where it has no cluster; NULL: not needed yet */
    Barrier barriers[BARRIER_COUNT];
    uint32_t barriers_in_use;        /* a bit for each */
    uint32_t given_up;               /* how often all waits for mbarriers gave up since one changed */
    Recorder *recorder;              /* NULL: not traced */
    const BlockHooks *hooks;         /* NULL: an ordinary run */
    RecordedValues *recorded_values; /* NULL: an ordinary run */
    uint32_t noted;                  /* a bit for each warp whose next ordered instruction is on the tape */
    Tape *tape;                      /* records what it does (tape_door.h); NULL: nothing does */
    void *observed;                  /* what the grid's observer calls this block; NULL: no observer */
    AsyncCopies *copies;             /* asynchronous copies on their way (copies.h); NULL: there were none */
    bool follows;                    /* one of its warps does (undefined.h) */
    uint64_t frame_bytes;            /* of called functions */
};

/* Warps whose current fragments stand at the same place, at the same turn, in the order of their indices.
 * While they are together, `pc` and `turn` say where; their own are behind. */
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
/* Puts block `linear` of the grid into `block`. */
void block_start(Block *block, Worker *worker, uint64_t linear);
void block_place(Block *block, uint64_t linear); /* only its place in the grid */
/* Runs until the block ends, a fatal trap, `instructions` warp instructions are used up, or it rests: all
 * that can run only spins, so that it seems to wait for another block. SLICE_WAITS: nothing can run before another
 * block of its cluster does. */
SliceEnd block_run(Block *block, uint64_t instructions);
/* Counts what a block that was stopped has executed since it was last counted. */
void block_count_rest(Block *block);
typedef struct SharedMemory { /* of a block */
    uint8_t *bytes;
    uint64_t *written; /* a bit per byte */
} SharedMemory;
/* Stands for the shared memory of another block of the cluster: what is loaded counts as recorded elsewhere. */
SharedMemory block_elsewhere(Block *block);
size_t block_bytes(const Grid *grid); /* host memory of one resident block */

/* With hooks: `warp` goes on to its next ordered instruction and executes it. False: it waits for others, or has
 * ended. */
bool block_hooked_turn(Block *block, Warp *warp);
/* Makes `to` stand where `from` stands, memory left out. Both are of one grid and have hooks. */
void block_copy(Block *to, const Block *from);

Worker *worker_new(Grid *grid);
void worker_free(Worker *worker);
/* Adds what `from` gathered; called in block order. */
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

/* A warp of which no fragment is ready: releases lanes that wait for nothing but each other. False: it waits
 * for others, or (after a trap) for ever. */
bool block_unstick(Block *block, Warp *warp);
/* No warp can run: releases what may be released, or finds the fault. False: the block waits for others of its
 * cluster. */
bool block_resolve(Block *block);
/* The fault by which the block, or its cluster, waits for ever. */
void block_raise_stuck(Block *block);
/* `lanes` of `warp` have exited: barriers may be complete without them. */
void barrier_after_exit(Block *block, const Warp *warp, uint32_t lanes);
/* An aligned barrier will never be reached by all live lanes of the warp; the trap lists which lanes wait where. */
void raise_divergent_barrier(Block *block, const Warp *warp);
void raise_missing_lanes(Block *block, const Warp *warp);
/* No warp of the block can run, nor be released; of its whole cluster, where it is one of several. */
void raise_deadlock(Block *block);
/* `count` resident blocks wait for each other, or for one of `waiting` blocks that can only start once one of them
 * ends. */
void raise_spinning_blocks(Block *const *blocks, int count, uint64_t waiting);

/* ---- ordered instructions (OP_MEMORY, OP_WARP, OP_BARRIER, OP_CONTROL, OP_TRAP) --------------------- */

typedef enum Outcome {
    OUTCOME_NEXT,    /* executed; go on at the next pc */
    OUTCOME_MOVED,   /* executed; the handler has set pcs and the current fragment */
    OUTCOME_ARRIVED, /* executed; the fragment waits (its state says for what) */
    OUTCOME_WAIT,    /* not executed: the fragment waits and tries again when it is ready */
    OUTCOME_STOP     /* fatal trap */
} Outcome;

/* What Op.extra of an ordered instruction begins with. `mask`: lanes whose guard is true, never 0. */
typedef struct CoreOp CoreOp;
typedef Outcome (*CoreExecute)(Block *block, Warp *warp, const Op *op, uint32_t mask);
typedef enum CoreForm { /* what a tape (tape_door.h) knows of it */
                        CORE_OTHER,
                        CORE_NO_VALUE, /* touches no register, and what it does depends on none */
                        CORE_TRANSFER, /* ld, st: a MemoryOp */
                        CORE_EXCHANGE  /* between the lanes of a warp: a WarpOp (instructions/warp_op.h) */
} CoreForm;
struct CoreOp {
    CoreExecute execute;
    CoreForm form;
    /* The same for a gang, one warp after another, where nothing is recorded and no guard is in the way.
     * Returns how many warps have executed it: the next one needs `execute`. NULL: every one does. Fragments
     * that do not go on at the next instruction have a state that says so. */
    int (*execute_together)(Block *block, const Op *op, const Gang *gang);
};

#endif
