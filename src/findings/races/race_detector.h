/* Race detector: its state while it observes a run (findings.h). Private to src/findings. */
#ifndef FINDINGS_RACES_RACE_DETECTOR_H
#define FINDINGS_RACES_RACE_DETECTOR_H

#include "findings/races/finding.h"
#include "findings/races/block_pattern.h"
#include "findings/races/cluster_order.h"
#include "findings/races/chunk_journal.h"

enum { MOST_PAIRS = 64, PAIR_PLACES = 256 };

typedef enum Strength {
    ACCESS_WEAK,
    ACCESS_VOLATILE, /* strong in PTX, but no basis for an order */
    ACCESS_STRONG    /* relaxed, acquire, release; atomics */
} Strength;

typedef struct PcRule { /* what an instruction does to memory that threads share */
    bool is_access, reads, writes, is_atomic;
    bool is_mbarrier;    /* an initialized mbarrier */
    bool is_end;         /* mbarrier.inval */
    bool is_read_only;   /* ld.global.nc */
    bool is_guess;       /* a load whose value only a compare-and-swap of the word uses, which checks it */
    bool is_cached;      /* a load of global memory by way of L1 */
    bool is_in_shared;   /* of a copy's destination: it is in shared memory */
    bool is_async_proxy; /* a bulk copy: it does not see generic stores without a proxy fence */
    Strength strength;
    bool acquires, releases;
    bool is_relaxed_arrival;      /* barrier.cluster.arrive.relaxed */
    SyncScope scope;              /* scope of a strong access or a fence */
    uint8_t width, element_bytes; /* bytes that a lane accesses; bytes of one value in them */
} PcRule;

/* One access of one lane to one cell. */
typedef struct Touch {
    struct BlockRaces *block, *owner; /* owner: the block whose shared memory it is; else `block` */
    const TraceAccess *access;
    const PcRule *rule;
    int lane;
    uint64_t offset; /* byte offset of the cell */
    int cell_bytes;
    bool is_shared;    /* the cells may hold accesses of an earlier block, which had its own shared memory */
    bool follows_read; /* the earlier access is a read; for a copy, of its source */
} Touch;

enum { KNOWN_RACES = 16 };
typedef struct KnownRace { /* accesses that need no further report for the access of this serial */
    uint64_t serial;
    int pc;
    bool is_same_warp, is_same_block;
} KnownRace;

typedef struct RacePair { /* a pair of instructions that race, and the first accesses that did */
    FindingKind kind;
    int launch;
    PtxSpace space;
    FindingAccess access, other;
    uint64_t count, blocks;
    uint64_t last_serial, last_block; /* when it was last counted */
    bool is_volatile;                 /* both accesses are volatile */
    bool is_atomic;                   /* one of them is atomic */
    bool is_narrow;                   /* both are strong, but their scope is too narrow */
    bool is_same_warp, is_same_block;
    bool is_of_others;    /* STALE_READ: another block had loaded the line, not the block of `access` */
    bool is_scope;        /* MISSING_ACQUIRE: an mbarrier lies between them, but its scope is a block */
    bool is_source;       /* a copy in flight: its source is written */
    TraceUse use;         /* how an undefined value is used */
    bool has_owner;       /* the shared memory belongs to block `owner`; one access is another block's */
    bool is_before_start; /* BLOCK_LIFETIME: the owner may not have started; else it may have exited */
    uint64_t owner;
} RacePair;

typedef struct SyncTable { /* words through which threads synchronize, by buffer and offset */
    struct SyncEntry *entries;
    int count, capacity;
} SyncTable;

typedef struct FlyingSide { /* what asynchronous copies in flight write; or what they read */
    uint32_t *units;        /* copies that have bytes in each 16 of shared memory */
    size_t unit_count;
    struct FlyingHull *hulls; /* of buffers */
    int hull_count, hull_capacity;
} FlyingSide;

typedef struct FlyingCopies { /* asynchronous copies in flight */
    struct FlyingCopy *items;
    int count, capacity;
    int *places; /* [place_count] by number: the first of the copies with this hash; -1: none */
    int place_count;
    FlyingSide written, read;
} FlyingCopies;

typedef struct BlockRaces {
    RaceDetector *detector;
    uint64_t linear;
    HappensBefore order;
    ClusterOrder cluster;
    bool has_visitors; /* other blocks of the cluster have accessed its shared memory */
    ShadowMemory shared;
    BlockPattern pattern;
    SyncTable syncs;    /* of shared memory */
    bool stores_strong; /* it has made volatile or relaxed stores to global memory */
    FlyingCopies flying;
    struct BlockRaces *next_idle;
} BlockRaces;

typedef struct Reread { /* an instruction's first load of a global word that another block loaded before */
    FindingAccess access, other;
    uint64_t loads; /* number of such loads, over all lanes and words */
} Reread;

/* Where the observed producer placed the shared variables of a launch's blocks. */
typedef struct SharedWindow {
    TraceSymbol *symbols;
    int count;
} SharedWindow;

struct RaceDetector {
    const Trace *trace; /* while it is observed */
    int launch, code_count;
    const TraceLaunch *launched;
    PcRule *rules;          /* [pc] of this launch */
    PcRule *written;        /* [pc] what asynchronous copies do to their destination */
    bool has_fences;        /* or acquires or releases */
    bool has_strong_stores; /* to global memory */
    /* it reads words by relaxed loads or probes that need not be flags: what atomics leave */
    bool orders_atomics;
    bool has_patterns;
    bool has_clusters;
    bool only_cells;                    /* compares cell by cell, without lists: a reference for tests */
    bool forgets;                       /* a shared memory access that the whole block knows can be dropped */
    uint8_t shared_shift, global_shift; /* log2 of the bytes of a cell */
    uint32_t first_block;               /* number of the launch's first block */
    uint64_t block_count;
    struct BlockRaces *completing[LAUNCH_CLUSTER_BLOCKS]; /* blocks of a cluster whose barrier is complete */
    int completing_count;
    VectorClock *phase;    /* what their threads released */
    ShadowMemory *buffers; /* [buffer] */
    bool *is_stored;       /* [buffer] this launch has stored to it */
    int buffer_count;
    SyncTable syncs;
    uint64_t most_bytes, bytes_left; /* bytes of shadow memory */
    bool is_complete;
    FindingsUnseen unseen;
    uint64_t unseen_serial; /* the last access that did not fit in memory */
    bool was_split;         /* several threads have searched */
    BlockRaces *idle;
    uint64_t serial;       /* of the last access */
    SharedWindow *windows; /* [launch] */
    int window_count, window_capacity;
    Arena arena;                  /* for their symbols */
    KnownRace known[KNOWN_RACES]; /* [pc % KNOWN_RACES] */
    uint64_t example_serial;      /* serial of the last access that is the example of a pair */
    RacePair *pairs;
    int pair_count, pair_capacity;
    uint8_t places[PAIR_PLACES]; /* recently found pairs */
    Reread *rereads;             /* [pc] of this launch */
    Reread reread;               /* the one with the most loads in the launches so far */
    int reread_launch;
    int last_store_pc, last_store_launch; /* the last instruction that changed global memory; -1: none */
};

/* Makes shadow memory for the buffers of the trace. */
void race_detector_make_buffers(RaceDetector *detector);
void race_detector_forget_memory(RaceDetector *detector);
/* The access does not fit in memory. */
void race_detector_lack_memory(BlockRaces *block);
/* Keeps a place of which reads were given up, unless there is one that the same instruction wrote. */
void race_detector_name_unseen(RaceDetector *detector, const UnseenPlace *place);
void *race_detector_split(void *context, int parts); /* TraceObserver.split, join */
bool race_detector_join(void *context, void *const *parts, int count, bool keep);
void race_detector_finish(RaceDetector *detector); /* after the last launch; may be called again */
void race_detector_set_block(const RaceDetector *detector, uint64_t linear, FindingAccess *access);
/* The pair of these instructions in this launch (`other` may be PTX_NO_PC); NULL: it is new. */
RacePair *race_pair_find(RaceDetector *detector, FindingKind kind, int pc, int other);
/* A new pair for the caller to fill in; NULL: the limit is reached. */
RacePair *race_pair_add(BlockRaces *block, FindingKind kind, PtxSpace space);
void race_pair_count(RacePair *pair, const BlockRaces *block); /* counts it again, in this block */
/* A note: some lanes of a warp have exited while others are at an instruction. */
void race_detector_note_exited(BlockRaces *block, FindingKind kind, int warp, const TraceRelease *others);
/* A barrier has released these two warps, which wait in different lines of the source. */
void race_detector_note_split_barrier(BlockRaces *block, const TraceRelease *released, int warp, int other);
void race_detector_undefined(void *block, const TraceUndefined *undefined); /* TraceObserver.undefined */
PcRule *race_detector_rules(const PtxProgram *program);
/* The rules of destinations; width 0: not a copy. */
PcRule *race_detector_written_rules(const PtxProgram *program);

/* Drops accesses that can no longer race: those of other blocks in reused shared memory, and more
 * (`forgets`). */
static inline void race_touch_forget(const Touch *touch, ShadowMemory *memory, ShadowChunk *chunk) {
    const RaceDetector *detector = touch->block->detector;
    const HappensBefore *order = &touch->block->order;
    if (!chunk || !touch->is_shared || detector->has_clusters) return;
    chunk_journal_forget(memory, chunk, detector->forgets ? order->barrier : order->begun);
}

/* Compares the access of one lane with the earlier ones to cells that it covers, and keeps it. touch->offset
 * is that of the first cell, and then that of the cell behind the last. */
void race_touch_cells(Touch *touch, ShadowMemory *memory, uint64_t cell, uint64_t count);
/* `lanes` access these cells of a chunk in the same instruction as touch->lane and one more lane, which have
 * been compared. True: the same result holds for them, and they are kept with those. False: they must be
 * compared. */
bool race_touch_alike(const Touch *touch, ShadowCell *cells, uint32_t which, uint32_t lanes);
/* As race_touch_cells(), for all lanes of an access at once if their addresses have a constant stride; false:
 * they have not. */
bool race_touch_warp(Touch *touch, ShadowMemory *memory, int shift);

/* The present access, and an earlier one of the same memory, as a finding shows them. */
FindingAccess race_this_access(const Touch *touch);
FindingAccess race_earlier_access(const Touch *touch, const WarpAccess *earlier, uint32_t lanes);
/* The rule of an earlier access of the same memory; for a copy, that of its write. */
const PcRule *race_rule_of(const Touch *touch, const WarpAccess *earlier);

/* `lanes` of `earlier` and this access are a finding of this kind; `is_source`: as in RacePair. */
void race_detector_report(const Touch *touch, FindingKind kind, const WarpAccess *earlier, uint32_t lanes,
                          bool is_source);
/* A finding about lanes of one instruction of the block `linear`, without an address. */
void race_detector_report_lanes(BlockRaces *block, uint64_t linear, FindingKind kind, int pc, int warp,
                                uint32_t lanes);
/* True if the blocks are in one cluster; numbers as in WarpAccess. */
bool race_detector_are_peers(const RaceDetector *detector, uint32_t block, uint32_t other);
/* The lane accesses shared memory of another block. */
void race_detector_visit(const Touch *touch);
/* The block ends: accesses of its memory by other blocks that are not ordered before its exit may come too
 * late. */
void race_detector_check_visitors(BlockRaces *block);
/* Shared memory of `owner` is accessed when it may not have started, or may have exited. */
void race_detector_report_lifetime(BlockRaces *block, const BlockRaces *owner, const FindingAccess *access,
                                   bool is_before_start);

/* Copies in flight (async_copies.c). The block of the destination and the issuing block each keep the
 * copy. */
void async_copies_see(BlockRaces *home, const TraceCopy *copy);
/* Reports and returns the lanes that access what a copy in flight reads or writes; `owner`: the block of the
 * memory. */
uint32_t async_copies_check(BlockRaces *block, BlockRaces *owner, const TraceAccess *access,
                            const PcRule *rule);
/* The block ends: copies out of its shared memory lose their source. */
void async_copies_leave_sources(BlockRaces *block);
void async_copies_forget(BlockRaces *block);
void async_copies_done(BlockRaces *block);
/* What `store` stores in `to` is computed, through shuffles, from what `load` loads in `from`, lanes of one
 * warp. */
bool race_detector_value_comes_from(const PtxProgram *program, int store, int to, int load, int from);
/* The load is repeated until it reads the value it waits for. */
bool race_detector_is_polled(const PtxProgram *program, int pc);
/* NULL: not found, and `make` is false. */
SyncWord *sync_table_find(SyncTable *table, int buffer, uint64_t offset, bool make);
void sync_table_done(SyncTable *table);

#endif
