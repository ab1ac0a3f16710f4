/* Tape: the work of one block as a straight line of steps that other blocks repeat (machine/tape_door.h).
 * Private to the emulator.
 *
 * Registers become *values*: what one instruction wrote for one or more warps. A value is **kept** where it is the same in
 * every block, because it depends only on constants, parameters, %tid and their like: it is computed once, while the tape
 * is recorded, and no instruction that makes one is on the tape. What a tape repeats depends on memory, or on %ctaid: lane
 * arithmetic, shuffles, accesses. Shared addresses have to be kept values; of global ones, the stride is checked,
 * and what they cost is counted again where they begin elsewhere in a sector. Branches leave nothing on the tape but a check of their predicate, if that is not
 * a kept value; barriers, jumps and exits leave nothing at all.
 *
 * Where an observer sees the blocks, a tape has all of their accesses and synchronizations, and all of its checks come first,
 * so that nothing is ever taken back: what decides them must not be loaded by the block.
 *
 * record.c makes *entries*; order.c puts checks before what they are for; place.c finds out which lanes of each value are needed, drops what nobody needs, and gives values
 * places in a register file of the tape; play.c runs what remains. */
#ifndef EMULATOR_TAPE_TAPE_H
#define EMULATOR_TAPE_TAPE_H

#include "emulator/machine/machine_access.h"
#include "emulator/machine/tape_door.h"
#include "trace/observer.h"

enum {
    NO_VALUE = -1,
    TAPE_SLOT = 64,
    PREDICATE_BYTES = 4,
    MOST_REFERENCES = OP_SOURCES + TRACE_MAX_ELEMENTS + 2
};

typedef struct TapeValue {
    uint32_t bytes; /* PREDICATE_BYTES: a bit a lane; else 32 times those of a lane */
    int special;    /* row of specials.def that fills it in each block; -1: none */
    bool is_kept;
    uint8_t *data;            /* kept: [warp][bytes] */
    uint32_t has;             /* kept: the warps in which it has been read */
    uint32_t need[MAX_WARPS]; /* lanes that an entry reads */
    int home;                 /* the value in whose place it lies, since it is a changed one; itself */
    int last;                 /* entry that reads the place last */
    uint32_t offset;
} TapeValue;

typedef struct TapeReference { /* an operand of an entry */
    Operand *operand;
    int value;
    bool is_result;
    int before; /* result: the value whose lanes outside the mask stay; NO_VALUE: none is alive there */
} TapeReference;

typedef enum TapeKind {
    TAPE_LANES,
    TAPE_GUARD,
    TAPE_PRODUCT, /* checks that it fits */
    TAPE_MERGE,
    TAPE_SHUFFLE,
    TAPE_EXCHANGE,
    TAPE_SHARED,
    TAPE_ADDRESS, /* finds where the lanes of the next GLOBAL entry are, and checks it */
    TAPE_GLOBAL,
    TAPE_SYNC /* what an observer sees of a barrier */
} TapeKind;

typedef struct TapeDetail { /* of an entry, for one warp */
    uint32_t expected;      /* GUARD: the predicate */
    bool is_needed;
    bool
        is_line; /* SHARED: lane l is at first + l * stride; GLOBAL: only stride and place in a sector count */
    bool is_movable; /* SHARED: a line of 32 elements like the register, all of them inside the memory */
    bool
        is_whole; /* SHARED, a load: all 32 lanes may be moved; SHUFFLE: all 32 are moved by `stride` lanes */
    uint64_t first;
    int64_t stride;
    uint64_t at; /* GLOBAL, of the block that is played: `first` as an offset in the region */
    uint8_t *
        sectors; /* GLOBAL: [SECTOR_BYTES] what an access costs that begins so far into a sector; 0: not known yet */
    const uint64_t *offset; /* SHARED, no line: [lane] */
    const uint8_t *from;    /* SHUFFLE: [lane] the lane that it reads; WARP_LANES: it gets 0 */
} TapeDetail;

typedef struct TapeEntry {
    TapeKind kind;
    const Op *source; /* the instruction */
    Op *op;           /* the copy whose operands lie in the tape's registers */
    TapeReference references[MOST_REFERENCES];
    int reference_count;
    int count; /* warps */
    uint8_t warps[MAX_WARPS];
    uint32_t masks[MAX_WARPS];
    TapeDetail *details; /* [count]; of which kinds use what they need */
    Tape *tape;
    MemoryOp *memory;      /* SHARED, ADDRESS, GLOBAL */
    int region;            /* ADDRESS, GLOBAL */
    const TraceSync *sync; /* SYNC */
    bool is_last;          /* no entry behind it checks anything */
    bool is_late;          /* of an observed tape: behind the checks */
} TapeEntry;

typedef struct TapeSlot { /* of a warp's registers, while the tape is recorded */
    int value;            /* of the lanes that vary */
    uint32_t varying;     /* lanes; the others are the same in every block */
    int kept;             /* known as this value, or NO_VALUE */
} TapeSlot;

typedef struct TapeStep {
    OpFunction run;
    const Op *op;
    Warp *const *warps; /* they have registers (RegisterBase) and nothing else */
    const uint32_t *masks;
    int count;
} TapeStep;

typedef struct TapeSpecial { /* a value of %ctaid or the like */
    int special;
    uint32_t offset, bytes;
} TapeSpecial;

typedef struct CostChange { /* of a block, against the recorded one */
    int pc, sectors;
} CostChange;

typedef struct UndoneBytes {
    uint8_t *at;
    uint32_t bytes, saved; /* in Tape.saved */
} UndoneBytes;

struct Tape {
    const Grid *grid;
    const Block *recorded; /* NULL: it is complete */
    Arena arena;
    bool is_abandoned;
    uint64_t irregular; /* Worker.irregular when it began */
    uint64_t executed, now;
    RunCounter *runs;       /* what a block costs; until it is complete, what the worker had counted before */
    TraceCounter *counters; /* the same */
    uint64_t plays;
    /* ---- while it is recorded ---- */
    int slot_count;
    uint32_t *slot_bytes; /* [slot_count] of the register that begins there; 0: none that is known */
    TapeSlot *slots;      /* [warp][slot_count] */
    int *latest_kept;     /* [slot_count] */
    uint64_t kept_bytes;
    TapeValue **values;
    int value_count, value_capacity;
    TapeEntry **entries;
    int entry_count, entry_capacity;
    /* ---- to be played ---- */
    TapeStep *steps;
    int step_count;
    bool is_observed;
    int late; /* observed: the first step behind the checks */
    RegisterBase bases[MAX_WARPS];
    uint8_t *registers; /* of all warps */
    uint32_t register_stride;
    TapeSpecial *specials;
    int special_count;
    Block *stand;      /* in the place of the played block, for its special registers */
    bool differs;      /* the block does something else */
    UndoneBytes *undo; /* what its stores have overwritten */
    int undo_count, undo_capacity;
    CostChange *changes;
    int change_count, change_capacity;
    uint8_t *saved;
    uint32_t saved_bytes, saved_capacity;
};

/* What it finds may be that the block does something else. */
static inline bool tape_is_check(const TapeEntry *entry) {
    return entry->kind == TAPE_GUARD || entry->kind == TAPE_PRODUCT || entry->kind == TAPE_ADDRESS;
}
/* order.c. False: what the block has loaded decides a check, and it is observed. */
bool tape_order(Tape *tape);
/* place.c: the entries become steps. False: there are too many. */
bool tape_place(Tape *tape);
/* steps.c: sets the function that runs the entry. */
void tape_set_run(TapeEntry *entry);
/* play.c: TapeDoor.play */
bool tape_play_block(Tape *tape, Worker *worker, uint64_t linear);
/* Keeps what is about to be overwritten, until the block has ended. */
void tape_keep_bytes(Tape *tape, uint8_t *at, uint32_t bytes);
void tape_free(Tape *tape);

extern const TapeDoor tape_door;

#endif
