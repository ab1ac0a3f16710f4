/* Accesses of memory by ld, st, atom or red, and the registers that they move. See
 * emulator/instructions/access_execute.h for their execution. Private to the emulator. */
#ifndef EMULATOR_MACHINE_MACHINE_ACCESS_H
#define EMULATOR_MACHINE_MACHINE_ACCESS_H

#include "emulator/machine/machine_block.h"

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
    TraceKind kind; /* from trace_kind_of() */
    PtxType type;
    bool is_load, is_store, is_atomic; /* exactly one is true */
    bool overwrites;  /* an exchange that drops the old value, which need not have been written */
    bool ordered;     /* volatile, relaxed, acquire, release: other threads may observe it */
    bool may_drop;    /* lanes out of bounds may be skipped (Grid.keeps_going): ld, st, atom, red */
    bool is_deferred; /* stores: the bytes arrive later (machine_copies.h) */
    bool is_signed;   /* loads sign-extend into wider registers */
    uint8_t element_bytes, count, width;
    bool is_byte_of_word;    /* loads: a byte for the low end of its register (run_matrix.c) */
    bool is_plain;           /* one element of 4 or 8 bytes, as wide as its register */
    uint8_t base_bytes;      /* 4 or 8 */
    AccessTogether together; /* ld, st */
    /* ld, st: moves only the values; needs memory, warp, mask and the host bytes of the Access */
    AccessMove move;
    Operand base;
    int64_t offset;
    MemoryValue values[TRACE_MAX_ELEMENTS]; /* destinations of ld; sources of st, atom, red (operand b) */
    struct AtomicRule *rule;                /* atom, red */
    PtxAtomicForm form;                     /* atom, red: what they cost in shared memory */
    MemoryValue results[TRACE_MAX_ELEMENTS], third; /* atom: destinations, operand c */
} MemoryOp;

/* The addresses of one access in one space, and their host bytes: host(lane) = bytes + offset[lane]. */
struct Access {
    const Op *op;
    const MemoryOp *memory;
    Block *block;
    Warp *warp;
    PtxSpace space; /* SHARED, GLOBAL (CONST included), LOCAL, PARAM */
    uint32_t mask;
    bool line;      /* an arithmetic progression over the lanes of the mask */
    uint64_t first; /* line: the address of lane 0, even if inactive */
    int64_t stride;
    uint64_t address[WARP_LANES]; /* in the space; undefined for lanes outside the mask */
    const Region *region;         /* GLOBAL */
    int peer;                     /* SHARED, in another block: its rank in the cluster; -1: this block */
    uint8_t *bytes;
    const uint64_t *offset; /* [lane]; valid where !host_line */
    bool host_line;         /* host(lane) = bytes + host_first + lane * host_stride */
    uint64_t host_first;
    int64_t host_stride;
    uint64_t scattered[WARP_LANES];
};

static inline uint8_t *access_host(const Access *access, int lane) {
    return access->host_line
               ? access->bytes + (access->host_first + (uint64_t)((int64_t)lane * access->host_stride))
               : access->bytes + access->offset[lane];
}

/* The place of the operand's register. False: it is none, or is never used. */
static inline bool frame_find_register(const Frame *frame, const PtxOperand *operand, Operand *place) {
    if (operand->kind != PTX_OPERAND_REGISTER || !operand->reg) return false;
    uint32_t offset = frame->layout->register_offset[operand->reg->index];
    if (offset == UINT32_MAX) return false;
    int bytes = register_type_bytes(operand->reg->type),
        component = operand->component > 0 ? operand->component : 0;
    *place = (Operand){
        offset + (uint32_t)(component * (bytes ? bytes * WARP_LANES : REGISTER_SLOT_ALIGNMENT)), false};
    return true;
}

/* Converts between registers and 64-bit numbers. */
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
