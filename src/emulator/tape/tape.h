/* Tape: the work of one block as a straight line of steps that other blocks repeat (machine/tape_door.h).
 * Private to the emulator.
 *
 * Registers become *values*: the result of one instruction in one or more warps. A value is *kept* if it is
 * the same in every block, because it depends only on constants, parameters, %tid and the like: it is
 * computed once, during the recording, and its instructions are not on the tape. A tape repeats what depends
 * on memory or on %ctaid: lane arithmetic, shuffles, accesses. Shared addresses must be kept values; for
 * global addresses the tape checks the stride, and counts the cost again if they start at another offset in a
 * sector. A branch only adds a check of its predicate, unless that is a kept value; barriers, jumps and exits
 * add nothing.
 *
 * With an observer, a tape contains all accesses and synchronizations of the block, and all checks come
 * first, so that nothing has to be undone: the checks must not depend on values that the block loads.
 *
 * record.c creates *entries*; order.c moves checks before the entries they guard; place.c finds which lanes
 * of each value are needed, drops unneeded entries, and places the values in a register file of the tape;
 * play.c runs the result. */
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
    uint32_t bytes; /* PREDICATE_BYTES: one bit per lane; otherwise 32 times the bytes of a lane */
    int special;    /* row of lower_specials.def that sets it in each block; -1: none */
    bool is_kept;
    uint8_t *data;            /* kept: [warp][bytes] */
    uint32_t has;             /* kept: the warps in which it has been read */
    uint32_t need[MAX_WARPS]; /* lanes that some entry reads */
    int home;                 /* the value whose location it shares, because it modifies it; or itself */
    int last;                 /* the last entry that reads the location */
    uint32_t offset;
} TapeValue;

typedef struct TapeReference { /* an operand of an entry */
    Operand *operand;
    int value;
    bool is_result;
    int before; /* result: the value whose lanes outside the mask stay; NO_VALUE: none is live there */
} TapeReference;

typedef enum TapeKind {
    TAPE_LANES,
    TAPE_GUARD,
    TAPE_PRODUCT, /* checks that the product fits */
    TAPE_MERGE,
    TAPE_SHUFFLE,
    TAPE_EXCHANGE,
    TAPE_SHARED,
    TAPE_ADDRESS, /* computes the addresses of the next GLOBAL entry, and checks them */
    TAPE_GLOBAL,
    TAPE_SYNC /* a barrier, as the observer sees it */
} TapeKind;

typedef struct TapeDetail { /* of an entry, per warp */
    uint32_t expected;      /* GUARD: the predicate */
    bool is_needed;
    /* SHARED: lane l is at first + l * stride; GLOBAL: only the stride and the offset in a sector matter */
    bool is_line;
    bool is_movable; /* SHARED: a line of 32 elements as wide as the register, all inside the memory */
    /* SHARED load: all 32 lanes may be moved; SHUFFLE: all 32 move by `stride` lanes */
    bool is_whole;
    uint64_t first;
    int64_t stride;
    uint64_t at; /* GLOBAL, for the played block: `first` as an offset in the region */
    /* GLOBAL: [SECTOR_BYTES] the cost of an access that starts at this offset in a sector; 0: unknown */
    uint8_t *sectors;
    const uint64_t *offset; /* SHARED, not a line: [lane] */
    const uint8_t *from;    /* SHUFFLE: [lane] the source lane; WARP_LANES: the lane gets 0 */
} TapeDetail;

typedef struct TapeEntry {
    TapeKind kind;
    const Op *source; /* the instruction */
    Op *op;           /* its copy, whose operands are tape registers */
    TapeReference references[MOST_REFERENCES];
    int reference_count;
    int count; /* warps */
    uint8_t warps[MAX_WARPS];
    uint32_t masks[MAX_WARPS];
    TapeDetail *details; /* [count]; unused in some kinds */
    Tape *tape;
    MemoryOp *memory;      /* SHARED, ADDRESS, GLOBAL */
    int region;            /* ADDRESS, GLOBAL */
    const TraceSync *sync; /* SYNC */
    bool is_last;          /* no later entry checks anything */
    bool is_late;          /* observed tape: after the checks */
} TapeEntry;

typedef struct TapeSlot { /* a slot of a warp's registers, during the recording */
    int value;            /* of the lanes that vary */
    uint32_t varying;     /* lanes that differ between blocks */
    int kept;             /* known as this value, or NO_VALUE */
} TapeSlot;

typedef struct TapeStep {
    OpFunction run;
    const Op *op;
    Warp *const *warps; /* with registers (RegisterBase) only */
    const uint32_t *masks;
    int count;
} TapeStep;

typedef struct TapeSpecial { /* a value of %ctaid or the like */
    int special;
    uint32_t offset, bytes;
} TapeSpecial;

typedef struct CostChange { /* difference in cost between a block and the recorded one */
    int pc, sectors;
} CostChange;

typedef struct UndoneBytes {
    uint8_t *at;
    uint32_t bytes, saved; /* in Tape.saved */
} UndoneBytes;

struct Tape {
    const Grid *grid;
    const Block *recorded; /* NULL: the tape is complete */
    Arena arena;
    bool is_abandoned;
    uint64_t irregular; /* Worker.irregular at its start */
    uint64_t executed, now;
    RunCounter *runs;       /* the cost of a block; during the recording, the worker's earlier counts */
    TraceCounter *counters; /* the same */
    uint64_t plays;
    /* ---- during the recording ---- */
    int slot_count;
    uint32_t *slot_bytes; /* [slot_count] of the register that starts there; 0: none known */
    TapeSlot *slots;      /* [warp][slot_count] */
    int *latest_kept;     /* [slot_count] */
    uint64_t kept_bytes;
    TapeValue **values;
    int value_count, value_capacity;
    TapeEntry **entries;
    int entry_count, entry_capacity;
    /* ---- for playback ---- */
    TapeStep *steps;
    int step_count;
    bool is_observed;
    int late; /* observed: the first step after the checks */
    RegisterBase bases[MAX_WARPS];
    uint8_t *registers; /* of all warps */
    uint32_t register_stride;
    TapeSpecial *specials;
    int special_count;
    Block *stand;      /* stands for the played block, for its special registers */
    bool differs;      /* the block differs */
    UndoneBytes *undo; /* bytes that its stores have overwritten */
    int undo_count, undo_capacity;
    CostChange *changes;
    int change_count, change_capacity;
    uint8_t *saved;
    uint32_t saved_bytes, saved_capacity;
};

/* True if the entry may find that the block differs. */
static inline bool tape_is_check(const TapeEntry *entry) {
    return entry->kind == TAPE_GUARD || entry->kind == TAPE_PRODUCT || entry->kind == TAPE_ADDRESS;
}
/* order.c. False: the block is observed, and a check depends on values that it loads. */
bool tape_order(Tape *tape);
/* place.c: turns the entries into steps. False: there are too many. */
bool tape_place(Tape *tape);
/* tape_steps.c: sets the function that runs the entry. */
void tape_set_run(TapeEntry *entry);
/* play.c: TapeDoor.play */
bool tape_play_block(Tape *tape, Worker *worker, uint64_t linear);
/* Saves bytes that are about to be overwritten, until the block has ended. */
void tape_keep_bytes(Tape *tape, uint8_t *at, uint32_t bytes);
void tape_free(Tape *tape);

extern const TapeDoor tape_door;

#endif
