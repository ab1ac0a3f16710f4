/* Code that the matrix instructions share (mma.c, run_matrix.c). Private to them. */
#ifndef EMULATOR_INSTRUCTIONS_MATRIX_LOWER_H
#define EMULATOR_INSTRUCTIONS_MATRIX_LOWER_H

#include "emulator/machine/product.h"

/* False after a trap: the instruction needs all 32 lanes. */
bool matrix_has_all_lanes(Block *block, Warp *warp, const Op *op, uint32_t mask);
/* The registers in the braces of operand `index` (or the single one): the fragment has as many. */
bool matrix_lower_registers(Lowering *low, Op *op, int index, const PtxFragment *fragment, bool is_written,
                            MatrixRegisters *registers);
/* The same for any number of registers. */
bool matrix_lower_items(Lowering *low, Op *op, int index, const PtxFragment *fragment, bool is_written,
                        MemoryValue *items);
/* Item `item` in the braces of an operand; without braces, the operand itself. */
const PtxOperand *matrix_item(const PtxOperand *operand, int item);
int matrix_item_count(const PtxOperand *operand);
/* wmma.load, wmma.store */
bool matrix_lower_access(Lowering *low, const PtxInstruction *in, Op *op);

#endif
