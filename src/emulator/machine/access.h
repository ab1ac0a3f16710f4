/* Access: the parts that ld, st, atom and red share: addresses of the lanes, where they lead, checks, costs,
 * events. Private to the emulator. */
#ifndef EMULATOR_MACHINE_ACCESS_H
#define EMULATOR_MACHINE_ACCESS_H

#include "emulator/machine/block.h"

typedef struct MemoryValue { /* a register that is loaded or stored */
    Operand place;
    uint8_t bytes;
    bool present; /* false: the sink `_` */
} MemoryValue;

typedef struct Access Access;
typedef void (*AccessMove)(Access *access);
typedef int (*AccessTogether)(Block *block, const Op *op, const Gang *gang, AccessMove move);

typedef struct MemoryOp {
    CoreOp core;
    PtxSpace space;
    TraceKind kind; /* as trace_kind_of() says */
    PtxType type;
    bool is_load, is_store, is_atomic; /* one of them */
    bool ordered;                      /* volatile, relaxed, acquire, release: others may be watching */
    bool is_signed;                    /* loads sign-extend into wider registers */
    uint8_t element_bytes, count, width;
    bool is_plain;           /* one element of 4 or 8 bytes, whose register has as many */
    uint8_t base_bytes;      /* 4 or 8 */
    AccessTogether together; /* ld, st */
    Operand base;
    int64_t offset;
    MemoryValue values[TRACE_MAX_ELEMENTS]; /* destinations of ld; sources of st, atom, red (operand b) */
    struct AtomicRule *rule;                /* atom, red */
    MemoryValue results[TRACE_MAX_ELEMENTS], third; /* atom: destinations, operand c */
} MemoryOp;

/* The addresses of one access in one space, and the host bytes behind them: host(lane) = bytes +
 * offset[lane]. */
struct Access {
    const Op *op;
    const MemoryOp *memory;
    Block *block;
    Warp *warp;
    PtxSpace space; /* SHARED, GLOBAL (CONST included), LOCAL, PARAM */
    uint32_t mask;
    bool line;      /* an arithmetic progression over the lanes of the mask */
    uint64_t first; /* line: what lane 0 has, or would have */
    int64_t stride;
    uint64_t address[WARP_LANES]; /* in the space; lanes outside the mask are undefined */
    const Region *region;         /* GLOBAL */
    uint8_t *bytes;
    const uint64_t *offset; /* [lane]; valid where !host_line */
    bool host_line;         /* host(lane) = bytes + host_first + lane * host_stride */
    uint64_t host_first;
    int64_t host_stride;
    uint64_t scattered[WARP_LANES];
};

bool access_lower_address(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand);

/* Splits by space where the address is generic, checks bounds and alignment, counts costs, and calls `move`
 * for every part (all lanes of a part lie in one space and, if global, in one region). Returns OUTCOME_NEXT
 * or OUTCOME_STOP. */
Outcome access_execute(Block *block, Warp *warp, const Op *op, uint32_t mask, AccessMove move);
/* The same of an access whose op, memory, block, warp, mask and addresses are set. */
Outcome access_go(Access *access, AccessMove move);
/* The moves of ld and st: between host bytes and the registers that memory->values say. */
void access_load(Access *access);
void access_store(Access *access);
/* Value `element` of memory->values: a register, or the source of a store. */
bool access_lower_value(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand, int element);
/* The usual accesses of a gang, as CoreOp.execute_together says; the best function for this machine. */
AccessTogether access_together(void);
/* Keeps what a line has cost, for the next one like it. */
void access_keep_pattern(const Access *access, bool global, int cost, int ideal);

static inline uint8_t *access_host(const Access *access, int lane) {
    return access->host_line
               ? access->bytes + (access->host_first + (uint64_t)((int64_t)lane * access->host_stride))
               : access->bytes + access->offset[lane];
}

/* Writes the event of an access that has been made, where the block is traced: `values` as [element],
 * `operand` (atomics) may be NULL. Keeps the account by which spinning fragments are known. `changed`: memory
 * is not what it was. */
void access_keep(Access *access, const MemoryValue *values, int count, const uint64_t *operand, bool changed);

/* Lanes of the warp, or other blocks, may be what a loop of this fragment waits for. */
static inline bool may_spin(const Access *access) {
    return access->warp->live != warp_fragment(access->warp)->mask || access->block->grid->blocks_meet;
}

/* ... and it has been quiet for so long that what it accesses is compared. */
static inline bool may_spin_unseen(const Access *access) {
    return may_spin(access) && warp_fragment(access->warp)->quiet >= QUIET_ITERATIONS;
}

static inline void note_access(Worker *worker, Fragment *fragment, bool changed) {
    fragment->touched = true;
    fragment->changed |= changed;
    worker->changes += changed;
}

/* What a word that others change is found to be goes into the account of the iteration. */
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

/* Makes sure that the warp has `bytes` of local memory per lane; false (after a trap) where that is too much.
 */
bool local_reserve(Block *block, Warp *warp, uint64_t bytes);
/* Host byte of one lane's local memory: for printf and calls. NULL: outside. Pieces of 16 bytes are
 * contiguous. */
uint8_t *local_at(const Warp *warp, int lane, uint64_t offset);

/* Reads one byte at a generic address as `lane` sees it; false where nothing is mapped. */
bool generic_read(const Warp *warp, int lane, uint64_t address, void *to, size_t bytes);

/* Values between registers and 64-bit numbers. */
static inline uint64_t register_read(const Warp *warp, Operand place, int bytes, int lane) {
    const void *at = operand_at(warp, place);
    switch (bytes) {
    case 0:
        return *(const uint32_t *)at >> lane & 1;
    case 2:
        return ((const uint16_t *)at)[lane];
    case 4:
        return ((const uint32_t *)at)[lane];
    default:
        return ((const uint64_t *)at)[lane];
    }
}

static inline void register_write(Warp *warp, Operand place, int bytes, int lane, uint64_t value) {
    void *at = operand_at(warp, place);
    switch (bytes) {
    case 0:
        *(uint32_t *)at = (*(uint32_t *)at & ~(UINT32_C(1) << lane)) | (uint32_t)(value & 1) << lane;
        break;
    case 2:
        ((uint16_t *)at)[lane] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)at)[lane] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)at)[lane] = value;
        break;
    }
}

static inline uint64_t bytes_read(const uint8_t *from, int bytes) {
    uint64_t value = 0;
    memcpy(&value, from, (size_t)bytes);
    return value;
}

#endif
