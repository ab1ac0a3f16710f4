/* Op: one PTX instruction in executable form, and the register file it works on. Private to the emulator.
 *
 * Lowering turns each PtxInstruction of a program into an Op: `lower_NAME`, one per row of opcodes.def,
 * checks the operands and picks the function to run for the instruction's types.
 *
 * A register stores its 32 lanes contiguously, so a handler is a loop over lanes that the compiler
 * vectorizes:
 *
 *     .pred            one uint32_t, a bit per lane
 *     8 and 16 bits    uint16_t[32]      (8-bit values zero-extended)
 *     32 bits          uint32_t[32]
 *     64 bits          uint64_t[32]
 *     128 bits         uint64_t[2][32]   (low halves, high halves)
 *
 * A vector register stores its components one after another. Constants, addresses of variables and special
 * registers that do not change have the same form (32 equal or per-lane values), so a handler never checks
 * the kind of an operand. */
#ifndef EMULATOR_LOWER_OP_H
#define EMULATOR_LOWER_OP_H

#include "ptx/program.h"
#include "trace/access.h"

typedef struct Warp Warp;
typedef struct Op Op;
typedef struct Lowering Lowering;

#define ALL_LANES 0xffffffffu

/* One bit per lane, for loops that the compiler vectorizes: (mask & lane_bit[l]) ? new : old. */
extern const uint32_t lane_bit[WARP_LANES];

/* The number of set bits. __builtin_popcount is a slow call if the compiler may not use the processor's
 * instruction. */
static inline int lane_count(uint32_t mask) {
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    return (int)(((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24);
}

typedef struct Operand { /* a place in the register file */
    uint32_t offset;     /* bytes, 64-byte aligned except predicates (4) */
    bool constant;       /* in the program's constants, not in the warp's registers */
} Operand;

/* Runs `op` for `count` warps, in each of them for the lanes of its mask (never 0): warps at the same
 * instruction run together (machine/schedule.c). Lanes outside the mask keep their destination. Destination
 * and sources may be the same register. */
typedef void (*OpFunction)(const Op *op, Warp *const *warps, const uint32_t *masks, int count);

/* Defines the OpFunction NAME; its body handles one warp and sees `op`, `warp` and `mask`. */
#define OP_FUNCTION(NAME)                                                                                    \
    static inline void NAME##_in_warp(const Op *op, Warp *warp, uint32_t mask);                              \
    static void NAME(const Op *op, Warp *const *warps, const uint32_t *masks, int count) {                   \
        for (int w = 0; w < count; w++) NAME##_in_warp(op, warps[w], masks[w]);                              \
    }                                                                                                        \
    static inline void NAME##_in_warp(const Op *op, Warp *warp, uint32_t mask)

typedef enum OpClass {
    OP_LANES,     /* pure function of the lane's registers: `run` */
    OP_MEMORY,    /* ld, st, atom, red, ... */
    OP_WARP,      /* shfl, vote, match, redux, activemask, elect: warp-wide, needs its lanes together */
    OP_BARRIER,   /* bar, barrier, bar.warp.sync, fences that wait */
    OP_CONTROL,   /* bra, brx, call, ret, exit, trap */
    OP_NO_EFFECT, /* prefetch, pragma-like: counted, no effect */
    OP_TRAP       /* valid PTX that is not emulated: a trap that names the instruction */
} OpClass;

/* How weights flow through the instruction (replay/replay.h). */
typedef enum OpWeight {
    WEIGHT_SUM,
    WEIGHT_PRODUCT /* max of the first two + the rest */,
    WEIGHT_NONE /* result has weight 0 */
} OpWeight;

enum { OP_SOURCES = 6 };

struct Op {
    OpFunction run; /* OP_LANES only */
    OpClass op_class;
    OpWeight provenance;
    bool guarded, guard_negated;
    Operand guard; /* predicate */
    Operand d, p;  /* destination; second (predicate, or high) destination */
    bool has_d, has_p;
    Operand s[OP_SOURCES];
    int source_count;
    /* register widths if they differ from the type (ld, st, cvt); 0: predicate */
    uint8_t d_bytes, s_bytes[OP_SOURCES];
    int32_t number[4]; /* meaning defined by the handler: a mode, a comparison, a rounding, an immediate */
    const void *extra; /* arena of the lowered program */
    /* preparation that lowering_source requested (!p, %clock); NULL: none. Not for handlers. */
    const struct Prelude *prelude;
    const PtxInstruction *instruction;
    int pc;
    int read_count;        /* of s: source_count, plus further ones that handlers read */
    bool is_index_product; /* a 32-bit product that may be part of an address (lower/index_products.h) */
    bool lists_registers;  /* d, p, s and the guard are all registers that it reads or writes */
};

/* The first member of Warp, so that handlers need no other header. */
enum { IN_REGISTERS, IN_CONSTANTS };
typedef struct RegisterBase {
    uint8_t *at[2]; /* [IN_REGISTERS]: of the current call frame; [IN_CONSTANTS]: read only */
} RegisterBase;

static inline void *operand_at(const Warp *warp, Operand operand) {
    const RegisterBase *base = (const RegisterBase *)(const void *)warp;
    return base->at[operand.constant] + operand.offset;
}

/* ---- for lower_NAME: all return false after lowering_reject() --------------------------------------- */

/* Makes operand i of the instruction available as a value of `type` (literals converted by the PTX rules:
 * integers to the type's width, floats to its format; special registers, variable addresses, r.x components,
 * negated predicates). */
bool lowering_source(Lowering *low, Op *op, int operand_index, PtxType type, Operand *out);
/* The same for any operand, such as an item of {a, b} or of a|b. *bytes (may be NULL): the width of the
 * register behind it. */
bool lowering_value(Lowering *low, Op *op, const PtxOperand *operand, PtxType type, Operand *out,
                    uint8_t *bytes);
/* CC.CF, the carry flag of add.cc, addc, ...: a hidden predicate register of the function, created on first
 * use. */
bool lowering_carry(Lowering *low, Op *op, Operand *out);
/* The register behind a destination operand; *present is false for the sink `_`. The width in bytes goes to
 * *bytes. */
bool lowering_destination(Lowering *low, Op *op, const PtxOperand *operand, Operand *out, uint8_t *bytes,
                          bool *present);
/* For an instruction that is malformed, or valid PTX but not emulated: the Op becomes a trap with this
 * detail. Returns false. */
bool lowering_reject(Lowering *low, Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));
void *lowering_allocate(Lowering *low, size_t bytes);

/* Declares and defines lower_NAME. The table of instruction_set.c has one for each row of opcodes.def. */
#define OPCODE_LOWER(name)                                                                                   \
    bool lower_##name(Lowering *low, const PtxInstruction *in, Op *op);                                      \
    bool lower_##name(Lowering *low, const PtxInstruction *in, Op *op)

#endif
