/* The undefined part of a value, by lane and byte, and the place where it is kept (undefined.h). Private to
 * undefined.c. */
#ifndef EMULATOR_MACHINE_UNDEFINED_VALUE_H
#define EMULATOR_MACHINE_UNDEFINED_VALUE_H

#include "emulator/machine/undefined.h"

enum { ALL_BYTES = 0xffff };

/* A bit for each of so many bytes. */
static inline uint32_t bytes_mask(int bytes) {
    return bytes >= 16 ? ALL_BYTES : (UINT32_C(1) << bytes) - 1;
}

/* [register slots, then words of parameters] of the frame; made at the first question. */
UndefinedValue *undefined_values_of(Frame *frame);
/* Of a register; NULL: nothing of the frame, or a constant. */
UndefinedValue *undefined_find_place(const Frame *frame, Operand place);
/* Of 4 bytes of parameters; NULL: nothing of the frame. */
UndefinedValue *undefined_find_parameter(const Frame *frame, uint64_t offset);
/* Of 4 bytes of local memory; NULL: nothing, and `make` does not ask for it. */
UndefinedValue *undefined_find_local(Warp *warp, uint64_t offset, bool make);

/* These bytes of the lane's value are undefined, too. */
void undefined_add(UndefinedValue *value, int lane, uint32_t bytes, int origin);
/* Only bytes of the mask stay undefined, of those from `shift` on, which become the low ones. */
void undefined_keep(UndefinedValue *value, int shift, uint32_t mask);
/* What depends on a byte of it is undefined as a whole. */
void undefined_spread(UndefinedValue *value);
/* What is undefined in either; the bytes of `from` (NULL: nothing) move up by `shift`. */
void undefined_join(UndefinedValue *into, const UndefinedValue *from, int shift);
/* `lanes` of `to` (NULL: it is not kept) become what `from` has. */
void undefined_assign(UndefinedValue *to, const UndefinedValue *from, uint32_t lanes);

#endif
