/* Undefined: follows undefined values of shuffles, registers and memory to their use. The result of a shuffle
 * is undefined in a lane whose source lane does not participate; a register, local memory and shared memory
 * are undefined until something writes them. Private to the emulator.
 *
 * The result of wgmma.mma_async is undefined until wgmma.wait_group; the first instruction that reads it is
 * reported.
 *
 * Any other such value is harmless in registers: the last steps of a shuffle ladder produce many that no
 * lane reads, and a tile may be read to its end where only some rows are stored. It is *used* when other
 * memory, an address, a branch, an atomic or a barrier depends on it; then the launch's observer is notified.
 * Values are followed through registers, function parameters and local memory, those of unwritten shared
 * memory through the block's shared memory, too: there they stay unwritten. An instruction whose result
 * does not depend on the value (selp of the other operand, `and` with 0) produces a defined one.
 *
 * Wrapped 32-bit products are followed in the same way as long as the results are indices; then an address is
 * the only use.
 *
 * Copies of a structure also move its unwritten padding, so bytes are followed one by one through memory,
 * moves and conversions; any other result that depends on an undefined byte is undefined as a whole.
 *
 * An unwritten register is not followed where bits are put together (bfi, prmt, lop3, ...), nor are vector
 * registers, CC.CF and those of functions with .reg parameters: no finding there is better than a wrong one.
 *
 * Shuffles and registers are followed only in blocks with an observer, and each block starts with its first
 * such value: block->follows. Compilers write registers before they read them, so few blocks start at
 * once. */
#ifndef EMULATOR_MACHINE_UNDEFINED_H
#define EMULATOR_MACHINE_UNDEFINED_H

#include "emulator/machine/machine_access.h"

struct UndefinedValue {
    uint32_t lanes;
    int32_t origin[WARP_LANES]; /* per lane: pc of the originating shuffle or load; < 0: a register */
    uint16_t bytes[WARP_LANES]; /* per lane: one bit per undefined byte of the value */
};

/* The shuffle at `pc` gave an undefined value to `lanes`, in the register at `place`. */
void undefined_begin(Warp *warp, int pc, Operand place, uint32_t lanes);
/* The registers of a new frame that may be read before they are written (FunctionLayout.cleared). */
void undefined_begin_frame(Warp *warp, Frame *frame);
/* The gang is about to execute an index product (lower/index_products.h): in lanes where it wraps, the result
 * is followed to the accesses that use it as an address. */
void undefined_watch_product(const Op *op, const Gang *gang);
/* A wait has ended products of wgmma.mma_async: the results of those that are not in flight are defined. */
void undefined_end_products(Warp *warp);
/* An `ld` of local or shared memory is about to read unwritten bytes: one bit per byte of the access, by
 * lane. */
void undefined_load(const Access *access, const uint32_t *unwritten);
/* Any other access that reads such bytes of shared memory is a use of them. */
void undefined_use_shared(const Access *access, const uint32_t *unwritten, uint32_t lanes);
void undefined_forget_frame(Frame *frame);
void undefined_forget_memory(Warp *warp); /* local and shared */

/* While block->follows, before the instruction is executed: ---- */

/* Any instruction, by the current fragment: its guard, and results that depend only on registers. */
void undefined_follow(Warp *warp, const Op *op);
/* An access of one space; its mask is set. */
void undefined_access(const Access *access);
/* The undefined part of a register; NULL: not kept. */
const UndefinedValue *undefined_find(const Frame *frame, Operand place);
/* Lane l of `lanes` receives in the register `to` the value of `from` (NULL: defined) in lane source[l];
 * source[l] < 0: a defined value. */
void undefined_shuffle(Warp *warp, const UndefinedValue *from, Operand to, bool has_to, uint32_t lanes,
                       const int32_t *source);
/* `lanes` receive in `to` (and `second`) a value that depends on `from` in all lanes of `of[lane]`. */
void undefined_gather(Warp *warp, const UndefinedValue *from, const Operand *to, int to_count, uint32_t lanes,
                      const uint32_t *of);
/* All lanes receive in each of `to` a value that depends on all of `from` in all lanes. */
void undefined_gather_all(Warp *warp, const Operand *from, int from_count, const Operand *to, int to_count);
/* A value is passed to or from a function. */
void undefined_pass(const Frame *from, const CallValue *source, Frame *to, const CallValue *destination,
                    uint32_t mask);

#endif
