/* The shared array or buffer to which each address must belong. Follows addresses through registers, in any
 * order of computation. */
#include "emulator/lower/lowered.h"
#include "ptx/opcodes.h"

#include <stdlib.h>
#include <string.h>

/* of a register: no array; several arrays, or unknown */
enum { NO_ARRAY = -1, SEVERAL = -2 };

typedef struct Bases {
    const LoweredProgram *lowered;
    const Launch *launch; /* for its parameters, while its entry is processed; otherwise NULL */
    RegionAt region_at;
    void *context;
    /* [register] of the function: NO_ARRAY, SEVERAL, an index in lowered->shared, or that count plus a
     * region's index */
    int *of;
    bool changed;
} Bases;

static int joined(int a, int b) {
    return a == NO_ARRAY || a == b ? b : b == NO_ARRAY ? a : SEVERAL;
}

static int base_of(const Bases *bases, const PtxOperand *operand) {
    int base = NO_ARRAY;
    if (operand->reg) base = bases->of[operand->reg->index];
    int found = operand->variable ? SEVERAL : NO_ARRAY; /* of another space */
    for (int i = 0; operand->variable && i < bases->lowered->shared_count; i++)
        if (bases->lowered->shared[i].variable == operand->variable) found = i;
    base = joined(base, found);
    for (int i = 0; i < operand->item_count; i++) base = joined(base, base_of(bases, &operand->items[i]));
    return base;
}

static void set(Bases *bases, const PtxOperand *operand, int base) {
    for (int i = 0; i < operand->item_count; i++) set(bases, &operand->items[i], base);
    if (!operand->reg || operand->kind == PTX_OPERAND_MEMORY) return;
    int *own = &bases->of[operand->reg->index], next = joined(*own, base);
    bases->changed |= *own != next;
    *own = next;
}

/* The target of a loaded kernel parameter, if it is a pointer. */
static int base_of_parameter(const Bases *bases, const PtxInstruction *in) {
    const PtxOperand *from = &in->operands[1];
    const PtxFunction *entry = bases->lowered->program->entry;
    size_t end = 0;
    if (!bases->launch || in->space != PTX_SPACE_PARAM || in->vector > 1 || from->reg) return SEVERAL;
    for (int i = 0; i < entry->parameter_count; i++) {
        size_t offset = launch_parameter_offset(entry->parameters[i], &end);
        uint64_t value;
        if (entry->parameters[i] != from->variable) continue;
        offset += (size_t)from->integer;
        if (from->integer < 0 || offset + sizeof value > bases->launch->parameter_bytes) return SEVERAL;
        memcpy(&value, bases->launch->parameters + offset, sizeof value);
        int region = bases->region_at(bases->context, value);
        /* a number, or perhaps the end of a buffer */
        if (region < 0) return value >> 32 ? SEVERAL : NO_ARRAY;
        return bases->lowered->shared_count + region;
    }
    return SEVERAL;
}

/* The base of an instruction's result. */
static int result_of(const Bases *bases, const PtxInstruction *in) {
    int base = NO_ARRAY;
    int bytes = in->type_count ? ptx_type_bytes(in->types[0]) : 8;
    switch (in->opcode) {
    case PTX_ld:
    case PTX_ldu:
    case PTX_atom:
        if (bytes != 8) return NO_ARRAY; /* an index; otherwise perhaps a pointer */
        return in->opcode == PTX_ld ? base_of_parameter(bases, in) : SEVERAL;
    case PTX_call:
    case PTX_mapa:
        return SEVERAL;
    default:
        for (int i = 1; i < in->operand_count; i++) base = joined(base, base_of(bases, &in->operands[i]));
        break;
    }
    bool is_distance = in->opcode == PTX_sub && base_of(bases, &in->operands[2]) != NO_ARRAY;
    if (is_distance) return SEVERAL;
    bool moves = in->opcode == PTX_mov || in->opcode == PTX_add || in->opcode == PTX_sub ||
                 in->opcode == PTX_mad || in->opcode == PTX_cvta || in->opcode == PTX_cvt ||
                 in->opcode == PTX_selp;
    return moves || base == NO_ARRAY ? base : SEVERAL;
}

static bool has_result(const PtxInstruction *in) {
    return in->operand_count && in->opcode != PTX_st && in->opcode != PTX_red && in->opcode != PTX_bra;
}

static const PtxOperand *memory_operand(const PtxInstruction *in) {
    bool accesses =
        in->opcode == PTX_ld || in->opcode == PTX_st || in->opcode == PTX_atom || in->opcode == PTX_red;
    for (int i = 0; accesses && i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_MEMORY) return &in->operands[i];
    return NULL;
}

static void find_in_function(Bases *bases, const PtxProgramFunction *function, const PtxCode *code,
                             LoweredProgram *lowered) {
    int count = function->function->register_count;
    bases->of = memory_new((size_t)(count + 1) * sizeof *bases->of);
    for (int i = 0; i < count; i++) bases->of[i] = NO_ARRAY;
    do {
        bases->changed = false;
        for (int pc = function->begin; pc < function->end; pc++)
            if (has_result(code[pc].instruction))
                set(bases, &code[pc].instruction->operands[0], result_of(bases, code[pc].instruction));
    } while (bases->changed);
    for (int pc = function->begin; pc < function->end; pc++) {
        const PtxOperand *operand = memory_operand(code[pc].instruction);
        int base = operand ? base_of(bases, operand) : NO_ARRAY;
        if (base < 0) continue;
        if (base >= lowered->shared_count) {
            lowered->buffers[pc] = base - lowered->shared_count;
            continue;
        }
        const PtxVariable *variable = lowered->shared[base].variable;
        if (variable && variable->bytes) lowered->arrays[pc] = base;
    }
    free(bases->of);
}

static int *new_indices(LoweredProgram *lowered) {
    int *indices = arena_new(&lowered->arena, (size_t)(lowered->op_count + 1) * sizeof *indices);
    for (int pc = 0; pc < lowered->op_count; pc++) indices[pc] = NO_ARRAY;
    return indices;
}

void lowered_find_arrays(LoweredProgram *lowered, const Launch *launch, RegionAt region_at, void *context) {
    const PtxProgram *program = lowered->program;
    Bases bases = {.lowered = lowered, .region_at = region_at, .context = context};
    lowered->arrays = new_indices(lowered);
    lowered->buffers = new_indices(lowered);
    for (int f = 0; f < program->function_count; f++) {
        bases.launch = f ? NULL : launch; /* the entry is function 0 */
        find_in_function(&bases, &program->functions[f], program->code, lowered);
    }
}
