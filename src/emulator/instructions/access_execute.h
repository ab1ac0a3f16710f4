/* Accesses of ld, st, atom and red: the lanes' addresses and targets, checks, costs, events. Private to the
 * emulator. */
#ifndef EMULATOR_INSTRUCTIONS_ACCESS_EXECUTE_H
#define EMULATOR_INSTRUCTIONS_ACCESS_EXECUTE_H

#include "emulator/machine/machine_access.h"

bool access_lower_address(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand);

/* The address in a lane's registers. */
static inline uint64_t access_lane_address(const Warp *warp, const MemoryOp *memory, int lane) {
    uint64_t address = register_read(warp, memory->base, memory->base_bytes, lane) + (uint64_t)memory->offset;
    return memory->base_bytes == 4 ? (uint32_t)address : address;
}

/* An address in shared memory, which may name a block of the cluster: 32-bit addresses do so directly, 64-bit
 * ones are generic. */
static inline uint64_t shared_window_address(const Warp *warp, const MemoryOp *memory, int lane) {
    uint64_t address = access_lane_address(warp, memory, lane);
    return address - SHARED_WINDOW < WINDOW_BYTES ? address - SHARED_WINDOW : address;
}

typedef struct SharedHome { /* the block whose shared memory a shared::cluster address names */
    Block *block;           /* NULL: another block's, and this block runs without its cluster */
    int peer;               /* as in Access */
} SharedHome;

/* Turns the lane's shared address into one of the window of the block that it names. False after a trap: the
 * block does not exist or has exited. */
bool access_find_home(Block *block, const Warp *warp, const Op *op, PtxSpace space, int lane,
                      uint64_t *address, SharedHome *home);

/* Splits a generic access by space, checks bounds and alignment, counts costs, and calls `move` for every
 * part (all lanes of a part lie in one space and, if global, in one region). Returns OUTCOME_NEXT or
 * OUTCOME_STOP. */
Outcome access_execute(Block *block, Warp *warp, const Op *op, uint32_t mask, AccessMove move);
/* Does the same for an access whose op, memory, block, warp, mask and addresses are set. */
Outcome access_go(Access *access, AccessMove move);
/* Handles lanes whose shared address names a block (access_cluster.c). `in_block` continues in the shared
 * memory of one block, with plain window addresses; access->peer is its rank. */
typedef Outcome (*AccessInBlock)(Access *access, SharedMemory memory, AccessMove move);
Outcome access_in_cluster(const Access *access, AccessInBlock in_block, AccessMove move);
/* The moves of ld and st, between host bytes and the registers in memory->values. */
void access_load(Access *access);
void access_store(Access *access);
/* Lowers value `element` of memory->values: a register, or the source of a store. */
bool access_lower_value(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand, int element);
/* The common accesses of a gang (access_fast.c), as CoreOp.execute_together; picks the best function for this
 * machine. */
AccessTogether access_together(void);
/* Marks the words of its region that an access reads or writes. */
void access_leave_footprint(const Access *access, Footprint *footprint);
/* Keeps the cost of a line, for the next one like it. */
void access_keep_pattern(const Access *access, bool global, int cost, int ideal);

/* Writes the event of a completed access if the block is traced: `values` as [element]; `operand` (atomics)
 * may be NULL. Updates the hash that recognizes spinning fragments. `changed`: the access changed memory. */
void access_keep(Access *access, const MemoryValue *values, int count, const uint64_t *operand, bool changed);

/* Finds the arithmetic progression in `address`, if any. */
static inline void access_find_line(Access *access) {
    const uint64_t *address = access->address;
    uint32_t mask = access->mask, rest = mask & (mask - 1);
    int first = __builtin_ctz(mask), gap = rest ? __builtin_ctz(rest) - first : 0;
    access->line = false;
    int64_t stride = (int64_t)(address[first + gap] - address[first]);
    if (gap > 1) {
        if (gap & (gap - 1)) {
            if (stride % gap) return;
            stride /= gap;
        } else {
            if (stride & (gap - 1)) return;
            stride >>= __builtin_ctz((unsigned)gap);
        }
    }
    uint64_t start = address[first] - (uint64_t)first * (uint64_t)stride, wrong = 0;
    if (mask == ALL_LANES) {
        for (uint64_t l = 0; l < WARP_LANES; l++) wrong |= address[l] ^ (start + l * (uint64_t)stride);
    } else {
        for (rest &= rest - 1; rest; rest &= rest - 1) {
            uint64_t l = (uint64_t)__builtin_ctz(rest);
            wrong |= address[l] ^ (start + l * (uint64_t)stride);
        }
    }
    if (wrong) return;
    access->line = true;
    access->first = start;
    access->stride = stride;
}

/* True if a loop of this fragment may wait for other lanes of the warp, or for other blocks. */
static inline bool may_spin(const Access *access) {
    return access->warp->live != warp_fragment(access->warp)->mask || access->block->grid->blocks_communicate;
}

/* True if so many iterations changed nothing that their accesses are compared. */
static inline bool may_spin_unseen(const Access *access) {
    return may_spin(access) && warp_fragment(access->warp)->quiet >= QUIET_ITERATIONS;
}

static inline void note_access(Worker *worker, Fragment *fragment, bool changed) {
    fragment->touched = true;
    fragment->changed |= changed;
    worker->changes += changed;
}

/* Adds values read from words that other threads change to the hash of the iteration. */
void access_watch(const Access *access, const MemoryValue *values, int count);

static inline void access_record(Access *access, const MemoryValue *values, int count,
                                 const uint64_t *operand, bool changed) {
    if (access->memory->ordered && !changed && access->warp->live != warp_fragment(access->warp)->mask)
        access_watch(access, values, count);
    if (access->block->recorder || may_spin_unseen(access))
        access_keep(access, values, count, operand, changed);
    else if (may_spin(access))
        note_access(access->block->worker, warp_fragment(access->warp), changed);
}

/* The operation of an atom or red. */
PtxModifierKind atomic_operation(const MemoryOp *memory);
/* st and red, the synchronous forms. */
bool access_lower_store(Lowering *low, const PtxInstruction *in, Op *op);
bool atomic_lower_red(Lowering *low, const PtxInstruction *in, Op *op);
struct AtomicRule *atomic_rule(Lowering *low, PtxModifierKind operation, PtxType type);
/* The operation among the modifiers, or PTX_MODIFIER_NONE. */
PtxModifierKind atomic_operation_of(const PtxInstruction *in);
/* The new value of `old` after an operation with one operand; keeps subnormals. */
uint64_t atomic_apply(PtxModifierKind operation, PtxType type, uint64_t old, uint64_t operand);

/* Finds the shared variable at a window address and the offset in it, as events store them. */
void access_place_shared(const Grid *grid, uint64_t address, uint16_t *buffer, uint64_t *offset);

#endif
