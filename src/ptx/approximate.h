/* Approximate: instructions whose result PTX does not define to the bit. It bounds that of .approx and
 * div.full: two machines may give different bits for the same operands, both right. And what a clock shows,
 * or which multiprocessor a block is on, only the machine knows. */
#ifndef PTX_APPROXIMATE_H
#define PTX_APPROXIMATE_H

#include "ptx/ptx.h"

bool ptx_is_approximate(const PtxInstruction *instruction);
/* A mov from %clock, %globaltimer, %smid and the like. */
bool ptx_reads_machine(const PtxInstruction *instruction);

/* May a machine give `result` where the true result, rounded to the type, is `nearest`? `argument`: the
 * operand that the bound depends on (the first source); all are bits of the instruction's type, of packed
 * types both halves are looked at. */
bool ptx_is_within_bound(const PtxInstruction *instruction, uint64_t argument, uint64_t nearest,
                         uint64_t result);

#endif
