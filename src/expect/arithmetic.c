#include "expect/arithmetic.h"

#include "expect/reference.h"
#include "ptx/matrix.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

static void take(PtxType *narrowest, PtxType type) {
    if (type && (!*narrowest || reference_roundoff(type) > reference_roundoff(*narrowest))) *narrowest = type;
}

static bool is_narrow(PtxType type) {
    return type == PTX_F16 || type == PTX_BF16;
}

static bool adds_atomically(const PtxInstruction *in) {
    return (in->opcode == PTX_atom || in->opcode == PTX_red) && ptx_instruction_has(in, PTX_MOD_ADD);
}

/* The loop around compare-and-swap with which kernels add types that have no atomic addition. */
static bool swaps(const PtxInstruction *in) {
    return in->opcode == PTX_atom && ptx_instruction_has(in, PTX_MOD_CAS);
}

uint64_t arithmetic_additions(const PtxInstruction *in) {
    PtxProduct product;
    PtxWarpgroupProduct share;
    switch (in->opcode) {
    case PTX_add:
    case PTX_sub:
    case PTX_fma:
    case PTX_mad:
        return ptx_type_computed(in->types[0]) != PTX_NO_TYPE;
    case PTX_mma:
    case PTX_wmma:
        return ptx_product(in, &product) && ptx_type_computed(product.d.type) ? (uint64_t)product.k : 0;
    case PTX_wgmma:
        return ptx_warpgroup_product(in, &share) && ptx_type_computed(share.product.d.type)
                   ? (uint64_t)share.product.a.columns /* of sparse A, those stored */
                   : 0;
    default:
        return 0;
    }
}

/* ---- values that are narrowed in between --------------------------------------------------------------- */

/* cvt from a wider type; NO_TYPE: another instruction. */
static PtxType narrowed_to(const PtxInstruction *in) {
    PtxType to = ptx_type_computed(in->types[0]), from = ptx_type_computed(in->types[1]);
    bool narrows = in->opcode == PTX_cvt && to && from && reference_roundoff(to) > reference_roundoff(from);
    return narrows ? to : PTX_NO_TYPE;
}

/* Passes its operands on as they are. */
static bool is_move(const PtxInstruction *in) {
    return in->opcode == PTX_mov || in->opcode == PTX_prmt || in->opcode == PTX_selp ||
           in->opcode == PTX_shl || in->opcode == PTX_or ||
           (in->opcode == PTX_cvt && !ptx_type_computed(in->types[0]) && !ptx_type_computed(in->types[1]));
}

typedef struct Marks { /* [register] of one function: the type that its value was narrowed to */
    uint8_t *of;
    bool changed;
} Marks;

static PtxType mark_of(const Marks *marks, const PtxOperand *operand) {
    PtxType type = PTX_NO_TYPE;
    if (operand->kind == PTX_OPERAND_REGISTER) return (PtxType)marks->of[operand->reg->index];
    for (int i = 0; i < operand->item_count; i++) take(&type, mark_of(marks, &operand->items[i]));
    return type;
}

static void set_mark(Marks *marks, const PtxOperand *operand, PtxType type) {
    if (operand->kind == PTX_OPERAND_REGISTER && marks->of[operand->reg->index] != type) {
        take(&type, (PtxType)marks->of[operand->reg->index]);
        marks->changed |= marks->of[operand->reg->index] != type;
        marks->of[operand->reg->index] = (uint8_t)type;
    }
    for (int i = 0; i < operand->item_count; i++) set_mark(marks, &operand->items[i], type);
}

static PtxType mark_of_sources(const Marks *marks, const PtxInstruction *in, int first) {
    PtxType type = PTX_NO_TYPE;
    for (int i = first; i < in->operand_count; i++) take(&type, mark_of(marks, &in->operands[i]));
    return type;
}

static bool is_global_store(const PtxInstruction *in) {
    return in->opcode == PTX_st && (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC);
}

/* A narrowed value that goes anywhere but to global memory is used again. */
static void find_narrowed(Arithmetic *arithmetic, const PtxProgram *program,
                          const PtxProgramFunction *function, const uint64_t *lanes) {
    Marks marks = {.of = memory_new((size_t)function->function->register_count + 1), .changed = true};
    while (marks.changed) {
        marks.changed = false;
        for (int pc = function->begin; pc < function->end; pc++) {
            const PtxInstruction *in = program->code[pc].instruction;
            if (!in->operand_count || (lanes && !lanes[pc])) continue;
            PtxType type = narrowed_to(in);
            if (!type && is_move(in)) type = mark_of_sources(&marks, in, 1);
            if (type) set_mark(&marks, &in->operands[0], type);
        }
    }
    for (int pc = function->begin; pc < function->end; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        PtxType type = mark_of_sources(&marks, in, in->opcode == PTX_st ? 0 : 1);
        if (!type || (lanes && !lanes[pc]) || is_move(in)) continue;
        take(is_global_store(in) ? &arithmetic->stored : &arithmetic->sums, type);
        if (is_global_store(in) && lanes) arithmetic->stores += lanes[pc] * (uint64_t)in->vector;
    }
    free(marks.of);
}

void arithmetic_add(Arithmetic *arithmetic, const PtxProgram *program, const uint64_t *lanes) {
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        PtxType type = ptx_type_computed(in->types[0]);
        PtxProduct product;
        PtxWarpgroupProduct share;
        if (swaps(in) && lanes) arithmetic->atomics += lanes[pc];
        if ((lanes && !lanes[pc]) || !type) continue;
        if ((in->opcode == PTX_mma || in->opcode == PTX_wmma) && ptx_product(in, &product))
            type = ptx_type_computed(product.d.type);
        /* Sums of e4m3 and e5m2 keep 13 bits: f16 is the next format that has no more. */
        if (ptx_warpgroup_product(in, &share) && share.product.kept_bits < 23) type = PTX_F16;
        if (arithmetic_additions(in) || adds_atomically(in)) take(&arithmetic->sums, type);
        if (adds_atomically(in) && lanes) arithmetic->atomics += lanes[pc];
        switch (in->opcode) {
        case PTX_mul:
        case PTX_div:
        case PTX_rcp:
        case PTX_sqrt:
        case PTX_rsqrt:
        case PTX_ex2:
        case PTX_lg2:
        case PTX_tanh:
            if (is_narrow(type)) take(&arithmetic->terms, type);
            break;
        default:
            break;
        }
    }
    for (int f = 0; f < program->function_count; f++)
        find_narrowed(arithmetic, program, &program->functions[f], lanes);
}
