/* Places for operands: constants, slots of registers and of the frame, addresses (op.h, lowered.h). An
 * instruction that cannot be lowered becomes an Op that traps. */
#include "emulator/lower/lowered.h"

#include "emulator/lower/address_space.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- special registers and the lifetime of their values (lower_specials.def) --------------------------- */

static const struct {
    const char *name;
    SpecialLifetime lifetime;
} specials[] = {
#define SPECIAL(id, name, lifetime, value) {name, SPECIAL_OF_##lifetime},
#include "emulator/lower/lower_specials.def"
#undef SPECIAL
};

/* row of lower_specials.def, or -1 */
static int special_find(const char *name) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(specials[i].name, name)) return (int)i;
    return strncmp(name, "%envreg", 7) == 0 ? special_find("%envreg0") : -1;
}

SpecialLifetime special_lifetime(int special) {
    return specials[special].lifetime;
}

enum { SLOT_ALIGNMENT = REGISTER_SLOT_ALIGNMENT, UNUSED = -1 };

void *lowering_allocate(Lowering *low, size_t bytes) {
    return arena_new(&low->lowered->arena, bytes);
}

bool lowering_reject(Lowering *low, Op *op, const char *format, ...) {
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    op->op_class = OP_TRAP;
    op->extra = arena_copy_string(&low->lowered->arena, text);
    return false;
}

/* ---- constants -------------------------------------------------------------------------------------- */

typedef struct ConstantEntry {
    uint64_t bits;
    int bytes; /* 0: predicate */
    uint32_t offset;
} ConstantEntry;

static uint32_t constant_hash(uint64_t bits, int bytes) {
    return (uint32_t)((bits * 0x9e3779b97f4a7c15u + (uint64_t)bytes * 0xc2b2ae3d27d4eb4fu) >> 32);
}

static void constant_table_grow(Lowering *low) {
    int size = low->constant_table_size ? low->constant_table_size * 2 : 256;
    free(low->constant_table);
    low->constant_table = memory_new((size_t)size * sizeof *low->constant_table);
    low->constant_table_size = size;
    for (int i = 0; i < low->constant_count; i++) {
        uint32_t at = constant_hash(low->constants[i].bits, low->constants[i].bytes);
        while (low->constant_table[at & (uint32_t)(size - 1)]) at++;
        low->constant_table[at & (uint32_t)(size - 1)] = i + 1;
    }
}

static void constant_fill(uint8_t *at, uint64_t bits, int bytes) {
    uint32_t predicate = bits ? ALL_LANES : 0;
    if (!bytes) memcpy(at, &predicate, sizeof predicate);
    int each = bytes > 8 ? 8 : bytes; /* the high half of a 128-bit constant is 0 */
    for (int lane = 0; bytes && lane < WARP_LANES; lane++) memcpy(at + lane * each, &bits, (size_t)each);
}

Operand lowering_constant(Lowering *low, uint64_t bits, int bytes) {
    LoweredProgram *lowered = low->lowered;
    if (bytes == 1) bytes = 2, bits &= 0xff;
    if (bytes == 2) bits &= 0xffff;
    if (bytes == 4) bits &= 0xffffffffu;
    if (bytes == 0) bits = bits != 0;
    if (low->constant_count * 2 >= low->constant_table_size) constant_table_grow(low);
    uint32_t at = constant_hash(bits, bytes), mask = (uint32_t)low->constant_table_size - 1;
    for (; low->constant_table[at & mask]; at++) {
        const ConstantEntry *entry = &low->constants[low->constant_table[at & mask] - 1];
        if (entry->bits == bits && entry->bytes == bytes) return (Operand){entry->offset, true};
    }
    size_t size = bytes ? (size_t)bytes * WARP_LANES : SLOT_ALIGNMENT, old = lowered->constant_bytes;
    size_t needed = old + size;
    if (needed > lowered->constant_capacity) {
        lowered->constant_capacity = needed * 2 + 4096;
        lowered->constants = memory_resize(lowered->constants, lowered->constant_capacity);
    }
    uint8_t *place = lowered->constants + old;
    memset(place, 0, size);
    constant_fill(place, bits, bytes);
    lowered->constant_bytes = needed;
    ConstantEntry entry = {bits, bytes, (uint32_t)old};
    array_push(low->constants, low->constant_count, low->constant_capacity, entry);
    low->constant_table[at & mask] = low->constant_count;
    return (Operand){entry.offset, true};
}

void lowering_align_constants(LoweredProgram *lowered) {
    size_t bytes = lowered->constant_bytes;
    uint8_t *aligned = memory_new_aligned(bytes + SLOT_ALIGNMENT);
    if (bytes) memcpy(aligned, lowered->constants, bytes);
    free(lowered->constants);
    lowered->constants = aligned;
}

/* ---- slots ------------------------------------------------------------------------------------------ */

static uint32_t slot_new(FunctionLayout *layout, int bytes, int components) {
    uint32_t size = (uint32_t)(bytes ? bytes * WARP_LANES : SLOT_ALIGNMENT) * (uint32_t)components;
    uint32_t offset = layout->register_bytes;
    layout->register_bytes += size;
    return offset;
}

Operand lowering_temporary(Lowering *low, int bytes) {
    return (Operand){slot_new(low->layout, bytes, 1), false};
}

static bool place_register(Lowering *low, const PtxOperand *operand, bool defines, Operand *out,
                           uint8_t *bytes) {
    if (operand->kind != PTX_OPERAND_REGISTER || !operand->reg) return false;
    const PtxRegister *reg = operand->reg;
    int width = register_type_bytes(reg->type);
    uint32_t *offset = &low->layout->register_offset[reg->index];
    if (*offset == UINT32_MAX) *offset = slot_new(low->layout, width, reg->vector > 1 ? reg->vector : 1);
    int component = operand->component > 0 ? operand->component : 0;
    if (component >= (reg->vector > 1 ? reg->vector : 1)) return false;
    *out = (Operand){*offset + (uint32_t)(component * (width ? width * WARP_LANES : SLOT_ALIGNMENT)), false};
    *bytes = (uint8_t)width;
    Mention mention = {low->pc, reg->index, defines};
    array_push(low->mentions, low->mention_count, low->mention_capacity, mention);
    return true;
}

bool lowering_register(Lowering *low, const PtxOperand *operand, Operand *out, uint8_t *bytes) {
    return place_register(low, operand, false, out, bytes);
}

static Operand slot_of_special(Lowering *low, int special, uint32_t local_offset, int bytes) {
    FunctionLayout *layout = low->layout;
    for (int i = 0; i < layout->slot_count; i++) {
        const FrameSlot *slot = &layout->slots[i];
        if (slot->special == special && slot->local_offset == local_offset && slot->bytes == bytes)
            return (Operand){slot->offset, false};
    }
    FrameSlot slot = {special, local_offset, slot_new(layout, bytes, 1), (uint8_t)bytes};
    array_push(layout->slots, layout->slot_count, layout->slot_capacity, slot);
    return (Operand){slot.offset, false};
}

static Prelude *prelude_add(Lowering *low, Op *op, PreludeKind kind) {
    Prelude *prelude = lowering_allocate(low, sizeof *prelude);
    prelude->kind = kind;
    prelude->next = op->prelude;
    op->prelude = prelude;
    return prelude;
}

/* ---- operands --------------------------------------------------------------------------------------- */

static uint64_t float_literal(const PtxOperand *operand, PtxType type) {
    float single;
    uint32_t single_bits = (uint32_t)operand->float_bits;
    memcpy(&single, &single_bits, sizeof single);
    double number = operand->float_bytes == 4 ? (double)single : operand->number;
    if (operand->float_bytes == 8) memcpy(&number, &operand->float_bits, sizeof number);
    uint64_t bits;
    if (ptx_type_bytes(type) == 8) {
        memcpy(&bits, &number, sizeof bits);
        return bits;
    }
    if (operand->float_bytes == 4) return single_bits; /* keeps a NaN's payload */
    single = (float)number;
    memcpy(&single_bits, &single, sizeof single_bits);
    return single_bits;
}

static uint32_t find_place(const ParameterPlace *places, int count, const PtxVariable *variable) {
    for (int i = 0; i < count; i++)
        if (places[i].variable == variable) return places[i].offset;
    return UINT32_MAX;
}

static uint32_t align_up(uint64_t value, uint64_t alignment) {
    if (alignment < 1) alignment = 1;
    return (uint32_t)((value + alignment - 1) / alignment * alignment);
}

uint32_t lowering_parameter_place(Lowering *low, const PtxVariable *variable) {
    FunctionLayout *layout = low->layout;
    uint32_t offset = find_place(layout->parameters, layout->parameter_count, variable);
    if (offset != UINT32_MAX) return offset;
    offset = align_up(layout->parameter_bytes, (uint64_t)variable->alignment);
    ParameterPlace place = {variable, offset};
    array_push(layout->parameters, layout->parameter_count, layout->parameter_capacity, place);
    layout->parameter_bytes = offset + (uint32_t)variable->bytes;
    return offset;
}

static uint32_t local_place(Lowering *low, const PtxVariable *variable) {
    FunctionLayout *layout = low->layout;
    uint32_t offset = find_place(layout->locals, layout->local_count, variable);
    if (offset != UINT32_MAX) return offset;
    offset = align_up(layout->local_bytes, (uint64_t)variable->alignment);
    ParameterPlace place = {variable, offset};
    array_push(layout->locals, layout->local_count, layout->local_capacity, place);
    layout->local_bytes = align_up(offset + variable->bytes, 16);
    return offset;
}

static bool is_parameter_of(const PtxFunction *function, const PtxVariable *variable) {
    for (int i = 0; i < function->parameter_count; i++)
        if (function->parameters[i] == variable) return true;
    return false;
}

static bool variable_address(Lowering *low, Op *op, const PtxOperand *operand, int bytes, Operand *out) {
    const PtxVariable *variable = operand->variable;
    uint64_t addend = (uint64_t)operand->integer;
    switch (variable->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        for (int i = 0; i < low->lowered->shared_count; i++) {
            if (low->lowered->shared[i].variable != variable) continue;
            *out = lowering_constant(low, low->lowered->shared[i].offset + addend, bytes);
            return true;
        }
        return lowering_reject(low, op, "shared variable %s has no address", variable->name);
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        *out = lowering_constant(low, low->address_of(low->context, variable) + addend, bytes);
        return true;
    case PTX_SPACE_LOCAL:
        *out = slot_of_special(low, UNUSED, local_place(low, variable) + (uint32_t)addend, bytes);
        return true;
    case PTX_SPACE_PARAM: {
        uint64_t base = low->layout->function->is_entry && is_parameter_of(low->layout->function, variable)
                            ? 0
                            : FRAME_PARAMETERS;
        *out = lowering_constant(low, base + lowering_parameter_place(low, variable) + addend, bytes);
        return true;
    }
    default:
        return lowering_reject(low, op, "the address of %s cannot be taken", variable->name);
    }
}

static bool function_address(Lowering *low, Op *op, const PtxOperand *operand, int bytes, Operand *out) {
    const PtxModule *module = low->lowered->program->module;
    for (int i = 0; i < module->function_count; i++) {
        if (module->functions[i] != operand->function) continue;
        *out = lowering_constant(low, FUNCTION_BASE + (uint64_t)i * FUNCTION_STRIDE, bytes);
        return true;
    }
    return lowering_reject(low, op, "function %s is not in this module", operand->name ? operand->name : "?");
}

static bool special_operand(Lowering *low, Op *op, const PtxOperand *operand, int bytes, Operand *out) {
    if (!strcmp(operand->name, "WARP_SZ")) {
        *out = lowering_constant(low, WARP_LANES, bytes);
        return true;
    }
    if (!strcmp(operand->name, "%is_explicit_cluster") && !bytes) { /* the only predicate */
        *out = lowering_constant(low, launch_has_clusters(low->launch), 0);
        return true;
    }
    int special = special_find(operand->name);
    if (special < 0 || !bytes)
        return lowering_reject(low, op, "special register %s is not emulated", operand->name);
    if (special_lifetime(special) != SPECIAL_OF_ANEW) {
        *out = slot_of_special(low, special, 0, bytes);
        return true;
    }
    *out = lowering_temporary(low, bytes);
    Prelude *prelude = prelude_add(low, op, PRELUDE_SPECIAL);
    prelude->to = *out;
    prelude->special = special;
    prelude->bytes = (uint8_t)bytes;
    return true;
}

bool lowering_carry(Lowering *low, Op *op, Operand *out) {
    (void)op;
    if (low->layout->carry_offset == UINT32_MAX) low->layout->carry_offset = slot_new(low->layout, 0, 1);
    *out = (Operand){low->layout->carry_offset, false};
    return true;
}

bool lowering_value(Lowering *low, Op *op, const PtxOperand *operand, PtxType type, Operand *out,
                    uint8_t *bytes) {
    uint8_t unused;
    if (!bytes) bytes = &unused;
    int width = type == PTX_PRED ? 0 : register_type_bytes(type);
    *bytes = (uint8_t)width;
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        if (!lowering_register(low, operand, out, bytes))
            return lowering_reject(low, op, "malformed register operand");
        if ((*bytes == 0) != (width == 0) || *bytes < width)
            return lowering_reject(low, op, "register %s has the wrong size for .%s", operand->reg->name,
                                   ptx_type_text(type));
        if (operand->negated && width == 0) {
            Prelude *prelude = prelude_add(low, op, PRELUDE_NOT);
            prelude->from = *out;
            prelude->to = *out = lowering_temporary(low, 0);
        }
        return true;
    case PTX_OPERAND_SPECIAL:
        return special_operand(low, op, operand, width, out);
    case PTX_OPERAND_INTEGER:
        if (type == PTX_F32 || type == PTX_F64) {
            PtxOperand literal = {.number = (double)operand->integer};
            *out = lowering_constant(low, float_literal(&literal, type), width);
        } else {
            *out = lowering_constant(low, operand->negated ? !operand->integer : (uint64_t)operand->integer,
                                     width);
        }
        return true;
    case PTX_OPERAND_FLOAT:
        *out = lowering_constant(low, float_literal(operand, type), width);
        return true;
    case PTX_OPERAND_VARIABLE:
        return width >= 4 ? variable_address(low, op, operand, width, out)
                          : lowering_reject(low, op, "an address does not fit .%s", ptx_type_text(type));
    case PTX_OPERAND_FUNCTION:
        return width == 8
                   ? function_address(low, op, operand, width, out)
                   : lowering_reject(low, op, "a function's address does not fit .%s", ptx_type_text(type));
    default:
        return lowering_reject(low, op, "%s: this kind of operand is not emulated", low->instruction->name);
    }
}

bool lowering_source(Lowering *low, Op *op, int index, PtxType type, Operand *out) {
    if (index >= low->instruction->operand_count)
        return lowering_reject(low, op, "%s has too few operands", low->instruction->name);
    uint8_t bytes;
    if (!lowering_value(low, op, &low->instruction->operands[index], type, out, &bytes)) return false;
    if (out >= op->s && out < op->s + OP_SOURCES) op->s_bytes[out - op->s] = bytes;
    return true;
}

bool lowering_destination(Lowering *low, Op *op, const PtxOperand *operand, Operand *out, uint8_t *bytes,
                          bool *present) {
    *present = false;
    *bytes = 0;
    if (operand->kind == PTX_OPERAND_SINK) {
        *out = lowering_temporary(low, 16);
        return true;
    }
    *present = true;
    if (!place_register(low, operand, true, out, bytes))
        return lowering_reject(low, op, "%s: the destination is not a register", low->instruction->name);
    return true;
}
