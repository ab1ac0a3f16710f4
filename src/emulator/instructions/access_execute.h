/* Accesses of ld, st, atom and red: addresses of the lanes, where they lead, checks, costs, events. Private
 * to the emulator. */
#ifndef EMULATOR_INSTRUCTIONS_ACCESS_EXECUTE_H
#define EMULATOR_INSTRUCTIONS_ACCESS_EXECUTE_H

#include "emulator/machine/machine_access.h"

bool access_lower_address(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand);

/* The address that the registers of a lane give. */
static inline uint64_t access_lane_address(const Warp *warp, const MemoryOp *memory, int lane) {
    uint64_t address = register_read(warp, memory->base, memory->base_bytes, lane) + (uint64_t)memory->offset;
    return memory->base_bytes == 4 ? (uint32_t)address : address;
}

/* An address in shared memory, which may name a block of the cluster: 32-bit addresses are, 64-bit ones are generic. */
static inline uint64_t shared_window_address(const Warp *warp, const MemoryOp *memory, int lane) {
    uint64_t address = access_lane_address(warp, memory, lane);
    return address - SHARED_WINDOW < WINDOW_BYTES ? address - SHARED_WINDOW : address;
}

typedef struct SharedHome { /* whose shared memory an address of shared::cluster names */
    Block *block;           /* NULL: another one's, and this block runs without its cluster */
    int peer;               /* as in Access */
} SharedHome;

/* The lane's address in shared memory becomes one of the window of the block that it names. False after a trap: there is
 * none, or it has exited. */
bool access_find_home(Block *block, const Warp *warp, const Op *op, PtxSpace space, int lane,
                      uint64_t *address, SharedHome *home);

/* Splits by space where the address is generic, checks bounds and alignment, counts costs, and calls `move`
 * for every part (all lanes of a part lie in one space and, if global, in one region). Returns OUTCOME_NEXT
 * or OUTCOME_STOP. */
Outcome access_execute(Block *block, Warp *warp, const Op *op, uint32_t mask, AccessMove move);
/* The same of an access whose op, memory, block, warp, mask and addresses are set. */
Outcome access_go(Access *access, AccessMove move);
/* Lanes whose shared address names a block (access_cluster.c). `in_block`: goes on in the shared memory of one, at
 * addresses that name none; access->peer says whose it is. */
typedef Outcome (*AccessInBlock)(Access *access, SharedMemory memory, AccessMove move);
Outcome access_in_cluster(const Access *access, AccessInBlock in_block, AccessMove move);
/* The moves of ld and st: between host bytes and the registers that memory->values say. */
void access_load(Access *access);
void access_store(Access *access);
/* Value `element` of memory->values: a register, or the source of a store. */
bool access_lower_value(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand, int element);
/* The common accesses of a gang (access_fast.c), as CoreOp.execute_together; the best function for this machine. */
AccessTogether access_together(void);
/* Notes which words of its region an access reads or writes. */
void access_leave_footprint(const Access *access, Footprint *footprint);
/* Keeps what a line has cost, for the next one like it. */
void access_keep_pattern(const Access *access, bool global, int cost, int ideal);

/* Writes the event of an access that has been made, where the block is traced: `values` as [element],
 * `operand` (atomics) may be NULL. Updates the hash by which spinning fragments are recognised. `changed`: memory
 * is not what it was. */
void access_keep(Access *access, const MemoryValue *values, int count, const uint64_t *operand, bool changed);

/* Finds the progression behind `address`, if there is one. */
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

/* Lanes of the warp, or other blocks, may be what a loop of this fragment waits for. */
static inline bool may_spin(const Access *access) {
    return access->warp->live != warp_fragment(access->warp)->mask || access->block->grid->blocks_communicate;
}

/* ... and so many iterations changed nothing that their accesses are compared. */
static inline bool may_spin_unseen(const Access *access) {
    return may_spin(access) && warp_fragment(access->warp)->quiet >= QUIET_ITERATIONS;
}

static inline void note_access(Worker *worker, Fragment *fragment, bool changed) {
    fragment->touched = true;
    fragment->changed |= changed;
    worker->changes += changed;
}

/* Adds what was found in words that other threads change to the hash of the iteration. */
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
/* st and red that are not asynchronous. */
bool access_lower_store(Lowering *low, const PtxInstruction *in, Op *op);
bool atomic_lower_red(Lowering *low, const PtxInstruction *in, Op *op);
struct AtomicRule *atomic_rule(Lowering *low, PtxModifierKind operation, PtxType type);
/* The operation among the modifiers; PTX_MODIFIER_NONE: there is none. */
PtxModifierKind atomic_operation_of(const PtxInstruction *in);
/* What `old` becomes, of an operation of one operand; subnormals are kept. */
uint64_t atomic_apply(PtxModifierKind operation, PtxType type, uint64_t old, uint64_t operand);

/* The shared variable at an address of the window, and the offset in it, as events have them. */
void access_place_shared(const Grid *grid, uint64_t address, uint16_t *buffer, uint64_t *offset);

#endif
