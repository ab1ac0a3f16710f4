/* Questions about one instruction that its opcode and modifiers answer. */
#include "ptx/opcodes.h"
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

bool ptx_instruction_stores(const PtxInstruction *in) {
    return in->opcode == PTX_st || in->opcode == PTX_stmatrix || in->opcode == PTX_sust ||
           (in->opcode == PTX_wmma && ptx_instruction_has(in, PTX_MOD_STORE));
}

int ptx_matrix_count(const PtxInstruction *instruction) {
    if (instruction->opcode != PTX_ldmatrix && instruction->opcode != PTX_stmatrix) return 0;
    return ptx_instruction_has(instruction, PTX_MOD_X4)   ? 4
           : ptx_instruction_has(instruction, PTX_MOD_X2) ? 2
                                                          : 1;
}

static PtxAsync bulk_form(const PtxInstruction *in) {
    return ptx_instruction_has(in, PTX_MOD_COMMIT_GROUP) ? PTX_ASYNC_BULK_COMMIT
           : ptx_instruction_has(in, PTX_MOD_WAIT_GROUP) ? PTX_ASYNC_BULK_WAIT
           : ptx_instruction_has(in, PTX_MOD_PREFETCH)   ? PTX_ASYNC_BULK_PREFETCH
           : ptx_instruction_has(in, PTX_MOD_REDUCE)     ? PTX_ASYNC_BULK_REDUCE
                                                         : PTX_ASYNC_BULK_COPY;
}

PtxAsync ptx_asynchronous(const PtxInstruction *instruction) {
    const PtxInstruction *in = instruction;
    if (!ptx_instruction_has(in, PTX_MOD_ASYNC)) return PTX_ASYNC_NOT;
    switch (in->opcode) {
    case PTX_st:
        return PTX_ASYNC_STORE;
    case PTX_red:
        return PTX_ASYNC_RED;
    case PTX_cp:
        break;
    default:
        return PTX_ASYNC_NOT;
    }
    if (ptx_instruction_has(in, PTX_MOD_BULK)) return bulk_form(in);
    return ptx_instruction_has(in, PTX_MOD_COMMIT_GROUP) ? PTX_ASYNC_COMMIT
           : ptx_instruction_has(in, PTX_MOD_WAIT_GROUP) ? PTX_ASYNC_WAIT
           : ptx_instruction_has(in, PTX_MOD_WAIT_ALL)   ? PTX_ASYNC_WAIT_ALL
           : ptx_instruction_has(in, PTX_MOD_MBARRIER)   ? PTX_ASYNC_ARRIVE
                                                         : PTX_ASYNC_COPY;
}

/* ---- types of PTX: their names, sizes and classes (types.def) ------------------------------------------ */

static const struct {
    const char *text;
    int bytes;
} types[PTX_TYPE_COUNT] = {
    [PTX_NO_TYPE] = {"", 0},
#define TYPE(id, name, size) [PTX_##id] = {name, size},
#include "ptx/types.def"
#undef TYPE
};

int ptx_type_bytes(PtxType type) {
    return types[type].bytes;
}
const char *ptx_type_text(PtxType type) {
    return types[type].text;
}

/* clang-format off */
bool ptx_type_is_float(PtxType type) {
    switch (type) {
    case PTX_F16: case PTX_F16X2: case PTX_BF16: case PTX_BF16X2: case PTX_TF32: case PTX_F32:
    case PTX_F32X2: case PTX_F64:
    case PTX_E4M3: case PTX_E5M2: case PTX_E4M3X2: case PTX_E5M2X2: case PTX_E2M1X2: case PTX_E2M3X2:
    case PTX_E3M2X2:
    case PTX_UE8M0X2: case PTX_E4M3X4: case PTX_E5M2X4: case PTX_E2M1X4: case PTX_E2M3X4:
    case PTX_E3M2X4: return true;
    default: return false;
    }
}

/* clang-format on */

PtxType ptx_type_computed(PtxType type) {
    switch (type) {
    case PTX_F16:
    case PTX_F16X2:
        return PTX_F16;
    case PTX_BF16:
    case PTX_BF16X2:
        return PTX_BF16;
    case PTX_F32:
    case PTX_F32X2:
    case PTX_TF32:
        return PTX_F32;
    case PTX_F64:
        return PTX_F64;
    default:
        return PTX_NO_TYPE;
    }
}

bool ptx_type_is_signed(PtxType type) {
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64 || type == PTX_S16X2;
}
