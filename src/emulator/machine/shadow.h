/* Shadow: beside each floating-point value, what it would be without rounding. Private to the emulator.
 *
 * A run with a shadow does each addition, product and function of floats twice: as PTX says, and in long
 * double on the shadows of the operands (the method of FpDebug, Benz et al., PLDI 2012, and Herbgrind,
 * Sanchez-Stern et al., PLDI 2018). Moves, shuffles, memory and atomics carry the shadow along. Comparisons,
 * branches and conversions to integers follow the value. So the shadow of a result is the result of this
 * very run, with its order and its threads, but for rounding: `value - shadow` is rounding, and `shadow -
 * reference` is what the kernel leaves out or counts twice.
 *
 * A value without a kept number is its own shadow: inputs, literals, integers. A number is kept with the
 * bits of its value, so that whatever else writes a register or a word invalidates it.
 *
 * Adding a literal of 1.5 * 2^23 and the like rounds to an integer, as a conversion does: there the shadow
 * is the value again.
 *
 * Where bits are taken apart the shadow is the value again, too, and SHADOW_IS_CUT says so of all that
 * depends on it. */
#ifndef EMULATOR_MACHINE_SHADOW_H
#define EMULATOR_MACHINE_SHADOW_H

#include "emulator/machine/machine_access.h"
#include "emulator/machine/product.h"

typedef enum ShadowFlag {
    SHADOW_IS_CUT = 1,     /* depends on a rounded value whose shadow was not followed */
    SHADOW_OF_LITERAL = 2, /* depends on a literal, or a parameter, that is rounded to f32 */
    SHADOW_IS_LITERAL = 4, /* is one itself; large ones round what they are added to */
    SHADOW_IS_LOW =
        8, /* the lower 4 bytes of an f64, as shuffles move them; the shadow is the whole number's */
    SHADOW_IS_HIGH = 16
} ShadowFlag;

typedef struct ShadowNumber {
    long double shadow;
    uint64_t bits; /* of the value */
    uint8_t type;  /* PtxType: f16, bf16, f32, f64; NO_TYPE: not known */
    uint8_t bytes; /* 2, 4, 8; 0: none */
    uint8_t flags;
} ShadowNumber;

/* ---- memory: numbers by the host address of their value (shadow_pages.c) ---- */

typedef struct ShadowPages ShadowPages;
ShadowPages *shadow_pages_new(void);
void shadow_pages_free(ShadowPages *memory);
/* The number of the value `bits` at `at`. False: none is kept. */
bool shadow_pages_find(ShadowPages *memory, const void *at, int bytes, uint64_t bits, ShadowNumber *found);
/* False: no number of so many bytes is kept. */
bool shadow_pages_keep_width(const ShadowPages *memory, int bytes);
/* False: nothing is kept near `at`. */
bool shadow_pages_may_keep(const ShadowPages *memory, const void *at);
void shadow_pages_keep(ShadowPages *memory, const void *at, const ShadowNumber *number);
void shadow_pages_forget(ShadowPages *memory, const uint8_t *at, size_t bytes);
/* `bytes` bytes have been copied. */
void shadow_pages_move(ShadowPages *memory, const uint8_t *to, const uint8_t *from, size_t bytes);
/* Numbers went where they cannot be followed: nothing more can be said of the run. */
void shadow_pages_lose(ShadowPages *memory);
bool shadow_pages_is_lost(const ShadowPages *memory);

static inline uint64_t shadow_part_bits(uint64_t bits, int at, int bytes) {
    return bytes < 8 ? bits >> 8 * at & ((UINT64_C(1) << 8 * bytes) - 1) : bits;
}

/* The numbers in a value of up to 8 bytes: of the whole, and of its parts. */
enum { SHADOW_PARTS = 4 };
typedef struct ShadowParts {
    int count;
    uint8_t at[SHADOW_PARTS]; /* byte in the value */
    ShadowNumber number[SHADOW_PARTS];
} ShadowParts;

/* 64 bytes of a frame's registers: 2 bytes of each lane. */
struct ShadowSlot {
    uint32_t lanes; /* that may have a number from here on */
    ShadowNumber number[WARP_LANES];
};

/* ---- registers and instructions (shadow.c, shadow_lanes.c, shadow_moves.c) ---- */

typedef struct ShadowLanes { /* an instruction in a warp */
    const Op *op;
    Warp *warp;
    Frame *frame;
    uint32_t mask;
} ShadowLanes;

/* What is no arithmetic of floats. */
void shadow_move(const ShadowLanes *lanes);
/* A conversion that rounds to an integer, also to one of a float type. */
bool shadow_rounds_to_integer(const PtxInstruction *in);
/* Executes lane arithmetic in some warps, in each for the lanes of its mask. */
void shadow_run(const Op *op, Warp *const *warps, const uint32_t *masks, int count);
void shadow_forget_frame(Frame *frame);
/* The registers of a block that starts are unwritten. */
void shadow_begin_frame(const Frame *frame);
/* From the register on; allocated on first use. */
ShadowSlot *shadow_slots(Frame *frame, Operand place);
ShadowParts shadow_of_register(const Frame *frame, Operand place, int bytes, int lane, uint64_t bits);
/* `lanes` of `to` get the numbers of `from` in lane source[l], WARP_LANES: none; NULL: in the same lane. */
void shadow_copy_register(Frame *frame, Operand from, Operand to, int bytes, uint32_t lanes,
                          const uint8_t *source);
void shadow_set_register(Frame *frame, Operand place, int bytes, int lane, const ShadowParts *parts);
/* The instruction at `pc` has given this number to `value` (Grid.deviation). */
void shadow_note(const Warp *warp, int pc, const ShadowNumber *number, long double value);
/* Some of these lanes may have numbers there; they have none. */
bool shadow_is_kept(const Frame *frame, Operand place, int bytes, uint32_t lanes);
void shadow_forget(const Frame *frame, Operand place, int bytes, uint32_t lanes);
ShadowParts shadow_of_bytes(ShadowPages *memory, const uint8_t *at, int bytes);
/* They replace what was kept there. */
void shadow_set_bytes(ShadowPages *memory, const uint8_t *at, int bytes, const ShadowParts *parts);
/* The number of a value that has `parts`. */
ShadowNumber shadow_number(const ShadowParts *parts, PtxType type, int at, uint64_t bits);
double shadow_value(PtxType type, uint64_t bits);
/* The shadow is another number than the value, or is not known. */
bool shadow_is_rounded(const ShadowNumber *number);
/* Flags of a literal, by its decimal digits. */
uint8_t shadow_literal(PtxType type, double value);

/* ---- memory and other lanes (shadow_access.c) ---- */

/* The values of an access have moved. */
void shadow_moved(const Access *access);
/* An atomic of one lane is about to replace `old` by `new` in element `element`. */
void shadow_atomic(const Access *access, int lane, int element, uint8_t *host, uint64_t old, uint64_t new);
/* D is about to become `result`, the bits of its registers by lane. */
void shadow_product(const Warp *warp, const ProductOp *product, uint64_t result[][WARP_LANES]);
void shadow_pass(const Warp *warp, const Frame *from, const CallValue *source, Frame *to,
                 const CallValue *destination, uint32_t mask);

#endif
