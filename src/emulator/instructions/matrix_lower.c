/* Lowering of fragments, and the check that a warp is whole (matrix_lower.h). */
#include "emulator/instructions/matrix_lower.h"

bool matrix_has_all_lanes(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    if (mask == ALL_LANES) return true;
    raise_trap(block, TRAP_NOT_EMULATED, warp, op->pc, mask, NULL,
               "%s without all 32 lanes of the warp: its result is undefined in PTX", op->instruction->name);
    return false;
}

const PtxOperand *matrix_item(const PtxOperand *operand, int item) {
    return operand->kind == PTX_OPERAND_VECTOR ? &operand->items[item] : operand;
}

int matrix_item_count(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_VECTOR ? operand->item_count : 1;
}

bool matrix_lower_items(Lowering *low, Op *op, int index, const PtxFragment *fragment, bool is_written,
                        MemoryValue *items) {
    const PtxInstruction *in = op->instruction;
    const PtxOperand *operand = &in->operands[index];
    if (matrix_item_count(operand) != fragment->registers)
        return lowering_reject(low, op, "operand %d of %s has %d registers, not %d", index + 1, in->name,
                               matrix_item_count(operand), fragment->registers);
    PtxType type = fragment->register_bytes == 8 ? PTX_F64 : fragment->type == PTX_F32 ? PTX_F32 : PTX_B32;
    for (int r = 0; r < fragment->registers; r++) {
        MemoryValue *value = &items[r];
        value->present = true;
        bool good =
            is_written ? lowering_destination(low, op, matrix_item(operand, r), &value->place, &value->bytes,
                                              &value->present)
                       : lowering_value(low, op, matrix_item(operand, r), type, &value->place, &value->bytes);
        if (!good) return false;
        if (!value->present || value->bytes != fragment->register_bytes)
            return lowering_reject(low, op, "%s: a register of %d bits is needed", in->name,
                                   8 * fragment->register_bytes);
    }
    return true;
}

bool matrix_lower_registers(Lowering *low, Op *op, int index, const PtxFragment *fragment, bool is_written,
                            MatrixRegisters *registers) {
    registers->fragment = *fragment;
    return matrix_lower_items(low, op, index, fragment, is_written, registers->items);
}
