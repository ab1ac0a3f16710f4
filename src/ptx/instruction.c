/* Questions about one instruction that are answered by its opcode and modifiers. */
#include "ptx/ptx.h"

bool ptx_instruction_has(const PtxInstruction *instruction, PtxModifierKind kind) {
    for (int i = 0; i < instruction->modifier_count; i++)
        if (instruction->modifiers[i].kind == kind) return true;
    return false;
}

bool ptx_instruction_is_ordered(const PtxInstruction *instruction) {
    static const PtxModifierKind kinds[] = {PTX_MOD_VOLATILE, PTX_MOD_RELAXED, PTX_MOD_ACQUIRE,
                                            PTX_MOD_RELEASE,  PTX_MOD_ACQ_REL, PTX_MOD_SC,
                                            PTX_MOD_MMIO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ptx_instruction_has(instruction, kinds[i])) return true;
    return false;
}

int ptx_matrix_count(const PtxInstruction *instruction) {
    if (instruction->opcode != PTX_ldmatrix && instruction->opcode != PTX_stmatrix) return 0;
    return ptx_instruction_has(instruction, PTX_MOD_X4)   ? 4
           : ptx_instruction_has(instruction, PTX_MOD_X2) ? 2
                                                          : 1;
}
