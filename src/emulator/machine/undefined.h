/* Undefined: follows undefined values of shuffles and of unwritten local memory to their use. A shuffle gives
 * one to a lane whose source lane takes no part. Private to the emulator.
 *
 * Such a value harms nobody as long as it stays in registers: the last steps of a shuffle ladder make many that no lane
 * looks at. It is *used* where memory, an address, a branch, an atomic or a barrier depends on it; the launch's
 * observer learns of that. Registers, parameters of functions and local memory are followed; an instruction whose result does
 * not depend on the value (selp that takes the other operand, `and` with 0) makes a defined one.
 *
 * Products of 32 bits that have wrapped are followed in the same way, as long as what is made of them is an index: then an
 * address is the only use.
 *
 * Copies of a structure move its padding, too, which nobody writes: bytes are followed one by one through memory, moves and
 * conversions; what else depends on one of them is undefined as a whole.
 *
 * Shuffles are followed in blocks with an observer only; and each block follows only from its first such value on:
 * block->follows. */
#ifndef EMULATOR_MACHINE_UNDEFINED_H
#define EMULATOR_MACHINE_UNDEFINED_H

#include "emulator/machine/machine_access.h"

struct UndefinedValue {
    uint32_t lanes;
    int32_t origin[WARP_LANES]; /* of these lanes: pc of the shuffle, or of the load, that it came from */
    uint16_t bytes[WARP_LANES]; /* of these lanes: a bit for each byte of the value that is undefined */
};

/* The shuffle at `pc` has given something undefined to `lanes`, in the register at `place`. */
void undefined_begin(Warp *warp, int pc, Operand place, uint32_t lanes);
/* The gang is about to execute an index product (lower/index_products.h): of lanes where it wraps, the result is followed to
 * the accesses that it is the address of. */
void undefined_watch_product(const Op *op, const Gang *gang);
/* A load of local memory is about to read bytes that nobody has written: a bit for each byte of the access, by lane. */
void undefined_load(const Access *access, const uint32_t *unwritten);
void undefined_forget_frame(Frame *frame);
void undefined_forget_local(Warp *warp);

/* While block->follows, before the instruction is executed: ---- */

/* Any instruction, by the current fragment: its guard, and what depends on registers alone. */
void undefined_follow(Warp *warp, const Op *op);
/* An access of one space; its mask is set. */
void undefined_access(const Access *access);
/* Lane l of `lanes` gets in the register `to` what `from` has in lane source[l]; source[l] < 0: nothing undefined. */
void undefined_shuffle(Warp *warp, Operand from, Operand to, bool has_to, uint32_t lanes,
                       const int32_t *source);
/* `lanes` get in `to` (and `second`) what depends on `from` in all lanes of `of[lane]`. */
void undefined_gather(Warp *warp, Operand from, const Operand *to, int to_count, uint32_t lanes,
                      const uint32_t *of);
/* All lanes get in each of `to` what depends on all of `from` in all lanes. */
void undefined_gather_all(Warp *warp, const Operand *from, int from_count, const Operand *to, int to_count);
/* A value is passed to or from a function. */
void undefined_pass(const Frame *from, const CallValue *source, Frame *to, const CallValue *destination,
                    uint32_t mask);

#endif
