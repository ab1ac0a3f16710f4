/* Watch: what the detector of races keeps while a run goes on. Private to src/metrics. */
#ifndef METRICS_RACES_RACE_DETECTOR_H
#define METRICS_RACES_RACE_DETECTOR_H

#include "metrics/findings.h"
#include "metrics/races/shadow_memory.h"

typedef enum Strength {
    ACCESS_WEAK,
    ACCESS_VOLATILE, /* strong to PTX; yet code that relies on it for order is wrong */
    ACCESS_STRONG    /* relaxed, acquire, release; atomics */
} Strength;

typedef struct PcRule { /* what an instruction does to memory that is shared, from its text */
    bool is_access, reads, writes, is_atomic;
    Strength strength;
    bool acquires, releases;
    OrderScope scope;             /* of a strong access, a fence */
    uint8_t width, element_bytes; /* of a lane; of one value */
} PcRule;

typedef struct RacePair { /* one pair of instructions; the sides are those of the first time */
    FindingKind kind;
    int launch;
    PtxSpace space;
    FindingAccess access, other;
    uint64_t count, blocks;
    uint64_t last_serial, last_block;       /* where it was counted last */
    bool is_volatile, is_atomic, is_narrow; /* what the sentence speaks about: both volatile; one atomic;
                                               atomics of too narrow a scope */
    bool is_same_warp, is_same_block;
} RacePair;

typedef struct SyncTable { /* words through which threads talk, by (space, buffer, offset) */
    struct SyncEntry *entries;
    int count, capacity;
} SyncTable;

typedef struct BlockRaces {
    RaceDetector *detector;
    uint64_t linear;
    HappensBefore order;
    ShadowMemory shared;
    SyncTable syncs; /* of shared memory */
    struct BlockRaces *next_idle;
} BlockRaces;

typedef struct Reread { /* a load of global memory that another block had loaded before, by one instruction */
    FindingAccess access, other;
    uint64_t words;
} Reread;

typedef struct
    SharedWindow { /* of a launch's blocks: where the producer that was watched has its shared variables
                         */
    TraceSymbol *symbols;
    int count;
} SharedWindow;

struct RaceDetector {
    const Trace *trace; /* while it is watched */
    int launch, code_count;
    const TraceLaunch *launched;
    PcRule *rules;                      /* [pc] of this launch */
    bool has_order;                     /* the program has fences, acquires or releases */
    uint8_t shared_shift, global_shift; /* log2 of the bytes of a cell */
    uint32_t first_block;               /* number of the launch's first */
    uint64_t block_count;
    ShadowMemory *buffers; /* [buffer] */
    int buffer_count;
    SyncTable syncs;
    uint64_t room;
    bool is_complete;
    BlockRaces *idle;
    uint64_t serial;       /* of accesses */
    SharedWindow *windows; /* [launch] */
    int window_count, window_capacity;
    Arena arena; /* their symbols */
    RacePair *pairs;
    int pair_count, pair_capacity;
    Reread *rereads; /* [pc] of this launch */
    Reread reread;   /* the one with most words of the launches before */
    int reread_launch;
    int last_store_pc, last_store_launch; /* the last instruction that changed global memory; -1 */
};

enum { MOST_PAIRS = 64 };

void race_detector_finish(RaceDetector *detector); /* after the last launch; may be called again */
PcRule *race_detector_rules(const PtxProgram *program);
/* The entry of a word, made where `make`; else NULL where there is none. */
SyncPlace *sync_table_find(SyncTable *table, int buffer, uint64_t offset, bool make);
void sync_table_done(SyncTable *table);

#endif
