#include "emulator/lower/index_products.h"

#include "ptx/opcodes.h"

#include <stdlib.h>

bool lower_index_is_carried_by(PtxOpcode opcode) {
    return opcode == PTX_mov || opcode == PTX_add || opcode == PTX_addc || opcode == PTX_sub ||
           opcode == PTX_subc || opcode == PTX_mul || opcode == PTX_mad || opcode == PTX_shl ||
           opcode == PTX_cvt || opcode == PTX_cvta || opcode == PTX_selp || opcode == PTX_neg;
}

bool lower_index_is_product(const PtxInstruction *in) {
    if (!in->type_count || ptx_type_bytes(in->types[0]) != 4 || ptx_type_is_float(in->types[0])) return false;
    if (in->opcode == PTX_shl) return true;
    return (in->opcode == PTX_mul || in->opcode == PTX_mad) && ptx_instruction_has(in, PTX_MOD_LO);
}

/* ---- products that form addresses -------------------------------------------------------------------- */

static bool mark(bool *registers, const PtxOperand *operand) {
    bool changed = false;
    if (operand->reg && !registers[operand->reg->index]) changed = registers[operand->reg->index] = true;
    for (int i = 0; i < operand->item_count; i++) changed |= mark(registers, &operand->items[i]);
    return changed;
}

static bool is_marked(const bool *registers, const PtxOperand *operand) {
    bool marked = operand->reg && registers[operand->reg->index];
    for (int i = 0; i < operand->item_count; i++) marked |= is_marked(registers, &operand->items[i]);
    return marked;
}

static bool is_index_step(const PtxInstruction *in) {
    return in->operand_count > 1 && lower_index_is_carried_by(in->opcode);
}

static void find_in_function(LoweredProgram *lowered, const PtxProgramFunction *function) {
    const PtxCode *code = lowered->program->code;
    bool *registers = memory_new((size_t)(function->function->register_count + 1) * sizeof *registers);
    for (int pc = function->begin; pc < function->end; pc++) {
        const PtxInstruction *in = code[pc].instruction;
        bool is_private =
            in->space == PTX_SPACE_PARAM || in->space == PTX_SPACE_LOCAL || in->space == PTX_SPACE_CONST;
        for (int i = 0; i < in->operand_count && !is_private; i++)
            if (in->operands[i].kind == PTX_OPERAND_MEMORY) mark(registers, &in->operands[i]);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int pc = function->end - 1; pc >= function->begin; pc--) {
            const PtxInstruction *in = code[pc].instruction;
            if (!is_index_step(in) || !is_marked(registers, &in->operands[0])) continue;
            for (int i = 1; i < in->operand_count; i++) changed |= mark(registers, &in->operands[i]);
        }
    }
    for (int pc = function->begin; pc < function->end; pc++) {
        const PtxInstruction *in = code[pc].instruction;
        Op *op = &lowered->ops[pc];
        op->is_index_product = op->op_class == OP_LANES && !op->prelude && is_index_step(in) &&
                               lower_index_is_product(in) && is_marked(registers, &in->operands[0]);
    }
    free(registers);
}

void lowered_find_products(LoweredProgram *lowered) {
    const PtxProgram *program = lowered->program;
    for (int f = 0; f < program->function_count; f++) find_in_function(lowered, &program->functions[f]);
    lowered->products =
        arena_new(&lowered->arena, (size_t)(lowered->op_count + 1) * sizeof *lowered->products);
    for (int pc = 0; pc < lowered->op_count; pc++)
        lowered->products[pc + 1] = lowered->products[pc] + lowered->ops[pc].is_index_product;
}

/* ---- narrow indices ----------------------------------------------------------------------------------- */

/* The bits of the integer that it extends with its sign: cvt.s64.s16, or shr.s64 by 48 or less by the
 * scale. */
static int extended_bits(const PtxInstruction *in, int width) {
    if (in->opcode == PTX_cvt && in->type_count > 1 && ptx_type_is_signed(in->types[1]) &&
        ptx_type_bytes(in->types[1]) <= 2 && !ptx_type_is_float(in->types[0]))
        return 8 * ptx_type_bytes(in->types[1]);
    if (in->opcode != PTX_shr || !in->type_count || !ptx_type_is_signed(in->types[0]) ||
        in->operand_count < 3 || in->operands[2].kind != PTX_OPERAND_INTEGER)
        return 0;
    int bits =
        8 * ptx_type_bytes(in->types[0]) - (int)in->operands[2].integer - __builtin_ctz((unsigned)width);
    return bits == 8 || bits == 16 ? bits : 0;
}

/* A load writes the register. */
static bool is_loaded(const PtxProgram *program, const PtxProgramFunction *function,
                      const PtxOperand *operand) {
    for (int pc = function->begin; pc < function->end; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        if (in->opcode == PTX_ld && operand->reg && in->operands[0].reg == operand->reg) return true;
    }
    return false;
}

int lower_index_narrow_bits(const PtxProgram *program, int pc, int width) {
    const PtxProgramFunction *function = &program->functions[program->code[pc].function];
    const PtxInstruction *access = program->code[pc].instruction;
    bool *registers = memory_new((size_t)(function->function->register_count + 1) * sizeof *registers);
    int bits = 0;
    for (int i = 0; i < access->operand_count; i++)
        if (access->operands[i].kind == PTX_OPERAND_MEMORY) mark(registers, &access->operands[i]);
    for (bool changed = true; changed && !bits;) {
        changed = false;
        for (int at = function->end - 1; at >= function->begin; at--) {
            const PtxInstruction *in = program->code[at].instruction;
            if (in->operand_count < 2 || !is_marked(registers, &in->operands[0])) continue;
            int extended = extended_bits(in, width);
            if (extended && !is_loaded(program, function, &in->operands[1])) bits = extended;
            if (!is_index_step(in)) continue;
            for (int i = 1; i < in->operand_count; i++) changed |= mark(registers, &in->operands[i]);
        }
    }
    free(registers);
    return bits;
}

/* ---- overflow ---------------------------------------------------------------------------------------- */

static uint32_t largest(const uint32_t *values) {
    uint32_t bits = 0;
    for (int l = 0; l < WARP_LANES; l++) bits |= values[l];
    return bits;
}

static bool fits(uint64_t as_signed, uint64_t as_unsigned) {
    return as_signed + (UINT64_C(1) << 31) <= UINT32_MAX || as_unsigned <= UINT32_MAX;
}

uint32_t lower_index_product_wraps(const Op *op, const Warp *warp, uint32_t mask) {
    static const uint32_t nothing[WARP_LANES];
    bool is_shift = op->instruction->opcode == PTX_shl, adds = op->instruction->opcode == PTX_mad;
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = adds ? operand_at(warp, op->s[2]) : nothing;
    uint32_t wraps = 0, times = largest(b);
    if (is_shift ? times < 32 && (uint64_t)largest(a) << times <= UINT32_MAX
                 : (uint64_t)largest(a) * times + largest(c) <= UINT32_MAX)
        return 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t by = is_shift ? UINT64_C(1) << (b[l] < 32 ? b[l] : 32) : b[l];
        uint64_t wide = is_shift ? by : (uint64_t)(int64_t)(int32_t)b[l];
        uint64_t as_signed = (uint64_t)(int64_t)(int32_t)a[l] * wide + (uint64_t)(int64_t)(int32_t)c[l];
        if (!fits(as_signed, (uint64_t)a[l] * by + c[l])) wraps |= lane_bit[l];
    }
    return wraps;
}
