/* Approximate: instructions whose result PTX bounds but does not define to the bit: .approx, and div.full.
 * Two machines may give different bits for the same operands, both right. */
#ifndef PTX_APPROXIMATE_H
#define PTX_APPROXIMATE_H

#include "ptx/ptx.h"

bool ptx_is_approximate(const PtxInstruction *instruction);

/* May a machine give `result` where the true result, rounded to the type, is `nearest`? `argument`: the
 * operand that the bound depends on (the first source); all are bits of the instruction's type, of packed
 * types both halves are looked at. */
bool ptx_is_within_bound(const PtxInstruction *instruction, uint64_t argument, uint64_t nearest,
                         uint64_t result);

#endif
