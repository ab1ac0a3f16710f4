/* Approximate: instructions whose result PTX does not define to the bit.
 *
 * PTX bounds the error of .approx and div.full: two machines may give different bits for the same operands,
 * both right. Clocks, and the multiprocessor of a block, are known only to the machine. */
#ifndef PTX_APPROXIMATE_H
#define PTX_APPROXIMATE_H

#include "ptx/ptx.h"

bool ptx_is_approximate(const PtxInstruction *instruction);
/* A mov from %clock, %globaltimer, %smid or a similar register. */
bool ptx_reads_machine(const PtxInstruction *instruction);

/* True if a machine may give `result` for a true result that rounds to `nearest`. `argument`: the operand
 * that the bound depends on (the first source). All are bits of the instruction's type; packed types check
 * both halves. */
bool ptx_is_within_bound(const PtxInstruction *instruction, uint64_t argument, uint64_t nearest,
                         uint64_t result);

#endif
