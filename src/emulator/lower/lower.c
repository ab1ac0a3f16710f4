/* Lowering: from the instructions of a program to Ops, slot layouts and constants (lowered.h).
 *
 * What an opcode does is decided by its lower_NAME, which the caller hands over; here are the parts that all of them need: places for
 * operands, and the classification by which the scheduler steps through the program. */
#include "emulator/lower/lowered.h"

#include "emulator/lower/address_space.h"
#include "ptx/approximate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LANE_BITS_8(first)                                                                                   \
    1u << (first), 1u << ((first) + 1), 1u << ((first) + 2), 1u << ((first) + 3), 1u << ((first) + 4),       \
        1u << ((first) + 5), 1u << ((first) + 6), 1u << ((first) + 7)
const uint32_t lane_bit[WARP_LANES] = {LANE_BITS_8(0), LANE_BITS_8(8), LANE_BITS_8(16), LANE_BITS_8(24)};

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
        lowered->constants_memory = memory_resize(lowered->constants_memory, lowered->constant_capacity);
    }
    uint8_t *place = (uint8_t *)lowered->constants_memory + old;
    memset(place, 0, size);
    constant_fill(place, bits, bytes);
    lowered->constant_bytes = needed;
    ConstantEntry entry = {bits, bytes, (uint32_t)old};
    array_push(low->constants, low->constant_count, low->constant_capacity, entry);
    low->constant_table[at & mask] = low->constant_count;
    return (Operand){entry.offset, true};
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
    if (operand->float_bytes == 4) return single_bits; /* keeps the payload of a NaN */
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
        return lowering_reject(low, op, "shared variable %s has no place", variable->name);
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

/* ---- shared memory ---------------------------------------------------------------------------------- */

/* Cooperative groups keep their barriers in shared memory that the system reserves (%reserved_smem_offset_1).
 */
static void mark_reserved(LoweredProgram *lowered, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_SPECIAL ||
        strncmp(operand->name, "%reserved_smem", strlen("%reserved_smem")) != 0)
        return;
    if (lowered->reserved_shared_bytes) return;
    SharedPlace place = {NULL, "reserved", 0, RESERVED_SHARED_BYTES};
    array_push(lowered->shared, lowered->shared_count, lowered->shared_capacity, place);
    lowered->reserved_shared_bytes = RESERVED_SHARED_BYTES;
}

static void mark_shared(LoweredProgram *lowered, const PtxOperand *operand) {
    for (int i = 0; i < operand->item_count; i++) mark_shared(lowered, &operand->items[i]);
    mark_reserved(lowered, operand);
    const PtxVariable *variable = operand->variable;
    if (!variable || (variable->space != PTX_SPACE_SHARED && variable->space != PTX_SPACE_SHARED_CLUSTER))
        return;
    for (int i = 0; i < lowered->shared_count; i++)
        if (lowered->shared[i].variable == variable) return;
    SharedPlace place = {variable, ptx_readable_name(lowered->program->module, variable->name), 0, 0};
    array_push(lowered->shared, lowered->shared_count, lowered->shared_capacity, place);
}

static int shared_rank(const LoweredProgram *lowered, const PtxVariable *variable) {
    if (!variable) return -1;             /* what is reserved */
    if (!variable->bytes) return 1 << 30; /* the dynamic part */
    const PtxModule *module = lowered->program->module;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i] == variable) return i;
    return 1 << 29; /* of a function: in order of first use */
}

static const TraceSymbol *find_symbol(const TraceLaunch *launch, const char *name) {
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED && !strcmp(launch->symbols[i].name, name))
            return &launch->symbols[i];
    return NULL;
}

static int by_offset(const void *a, const void *b) {
    const SharedPlace *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Places shared variables as another producer did, since stored addresses depend on it; changes nothing where `like`
 * lacks one of them. */
static void place_shared_as(LoweredProgram *lowered, const TraceLaunch *like) {
    uint64_t first = UINT32_MAX, end = 0;
    for (int i = 0; i < lowered->shared_count; i++)
        if (!find_symbol(like, lowered->shared[i].name)) return;
    for (int i = 0; i < lowered->shared_count; i++) {
        SharedPlace *place = &lowered->shared[i];
        place->offset = (uint32_t)find_symbol(like, place->name)->window_offset;
        if (place->variable && place->offset < first) first = place->offset;
        if (place->offset + (uint64_t)place->bytes > end) end = place->offset + (uint64_t)place->bytes;
    }
    if (!end) return;
    qsort(lowered->shared, (size_t)lowered->shared_count, sizeof *lowered->shared, by_offset);
    lowered->shared_bytes = (uint32_t)end;
    if (first > lowered->reserved_shared_bytes) lowered->reserved_shared_bytes = (uint32_t)first;
}

/* What is reserved, then static variables that the program names, those of the module first, then the dynamic
 * part. */
static void place_shared(LoweredProgram *lowered, uint32_t dynamic_bytes) {
    for (int pc = 0; pc < lowered->op_count; pc++) {
        const PtxInstruction *in = lowered->program->code[pc].instruction;
        for (int i = 0; i < in->operand_count; i++) mark_shared(lowered, &in->operands[i]);
    }
    for (int i = 1; i < lowered->shared_count; i++) { /* insertion keeps the order of equals */
        SharedPlace place = lowered->shared[i];
        int j = i, rank = shared_rank(lowered, place.variable);
        for (; j > 0 && shared_rank(lowered, lowered->shared[j - 1].variable) > rank; j--)
            lowered->shared[j] = lowered->shared[j - 1];
        lowered->shared[j] = place;
    }
    uint64_t reserved = lowered->reserved_shared_bytes, at = reserved, end = reserved;
    for (int i = reserved != 0; i < lowered->shared_count; i++) {
        SharedPlace *place = &lowered->shared[i];
        uint64_t alignment = (uint64_t)(place->variable->alignment > 0 ? place->variable->alignment : 1);
        bool dynamic = !place->variable->bytes;
        if (dynamic && alignment < 16) alignment = 16;
        at = (at + alignment - 1) / alignment * alignment;
        place->offset = (uint32_t)at;
        place->bytes = dynamic ? dynamic_bytes : (uint32_t)place->variable->bytes;
        uint64_t place_end = at + (dynamic ? dynamic_bytes : place->variable->bytes);
        if (place_end > end) end = place_end;
        if (!dynamic) at = place_end, lowered->static_shared_bytes = (uint32_t)(at - reserved);
    }
    uint64_t with_dynamic = reserved + lowered->static_shared_bytes + dynamic_bytes;
    uint64_t all = end > with_dynamic ? end : with_dynamic;
    lowered->shared_bytes =
        all > UINT32_MAX ? UINT32_MAX : (uint32_t)all; /* too much: the launch is refused */
}

/* ---- instructions ----------------------------------------------------------------------------------- */

static bool is_recorded_approximation(const LoweringOptions *options, const PtxInstruction *in) {
    return options->records_approximate && (ptx_is_approximate(in) || ptx_reads_machine(in));
}

static void lower_instruction(Lowering *low, int pc) {
    LoweredProgram *lowered = low->lowered;
    const PtxInstruction *in = lowered->program->code[pc].instruction;
    Op *op = &lowered->ops[pc];
    low->pc = pc;
    low->instruction = in;
    op->instruction = in;
    op->pc = pc;
    if (in->guard.kind == PTX_OPERAND_REGISTER) {
        uint8_t bytes;
        op->guarded = true;
        op->guard_negated = in->guard.negated;
        if (!lowering_register(low, &in->guard, &op->guard, &bytes) || bytes) {
            lowering_reject(low, op, "the guard of %s is not a predicate", in->name);
            return;
        }
    }
    if (in->opcode == PTX_OTHER || (in->opcode != PTX_cvt && ptx_instruction_has(in, PTX_MOD_OTHER))) {
        Text text = {0};
        ptx_instruction_print(in, &text);
        lowering_reject(low, op, "not emulated: %s", text_string(&text));
        text_done(&text);
        return;
    }
    if (!low->instructions->lower[in->opcode](low, in, op)) return;
    if (op->op_class == OP_LANES && op->prelude) {
        Op *inner = arena_copy(&lowered->arena, op, sizeof *op);
        op->run = low->instructions->run_after_preludes;
        op->extra = inner;
    }
    if (op->op_class == OP_LANES && is_recorded_approximation(low->options, in))
        low->instructions->lower_recorded_result(low, op);
}

static StepKind step_of(const LoweredProgram *lowered, int pc) {
    const Op *op = &lowered->ops[pc];
    switch (op->op_class) {
    case OP_LANES:
        return STEP_LANES;
    case OP_NO_EFFECT:
        return STEP_NO_EFFECT;
    case OP_CONTROL:
        if (op->instruction->opcode != PTX_bra || op->prelude) return STEP_ORDERED;
        return op->guarded ? STEP_BRANCH : STEP_JUMP;
    default:
        (void)lowered;
        return STEP_ORDERED;
    }
}

static void classify(LoweredProgram *lowered, const LoweringOptions *options) {
    const PtxProgram *program = lowered->program;
    bool *join = memory_new((size_t)lowered->op_count + 1);
    for (int pc = 0; pc < lowered->op_count; pc++)
        if (program->code[pc].reconvergence >= 0) join[program->code[pc].reconvergence] = true;
    for (int f = 0; f < program->function_count; f++) join[program->functions[f].end] = true;
    for (int pc = lowered->op_count - 1; pc >= 0; pc--) {
        StepKind step = step_of(lowered, pc);
        const PtxInstruction *in = program->code[pc].instruction;
        lowered->step[pc] = (uint8_t)step;
        lowered->recorded[pc] =
            trace_kind_of(in) != TRACE_NOT_RECORDED || is_recorded_approximation(options, in);
        bool straight = step == STEP_LANES || step == STEP_NO_EFFECT;
        bool goes_on = straight && pc + 1 < lowered->op_count && !join[pc + 1];
        lowered->run_end[pc] = !straight ? pc : goes_on ? lowered->run_end[pc + 1] : pc + 1;
    }
    free(join);
}

static bool is_terminator(const PtxInstruction *in) {
    if (in->guard.kind != PTX_OPERAND_NONE) return false;
    return in->opcode == PTX_ret || in->opcode == PTX_exit || in->opcode == PTX_bra ||
           in->opcode == PTX_brx || in->opcode == PTX_trap;
}

static void find_open_ends(LoweredProgram *lowered) {
    const PtxProgram *program = lowered->program;
    for (int f = 0; f < program->function_count; f++) {
        const PtxProgramFunction *function = &program->functions[f];
        if (function->end == function->begin || !is_terminator(program->code[function->end - 1].instruction))
            lowered->may_fall_off = true;
    }
    lowered->step[lowered->op_count] = STEP_ORDERED;
    lowered->run_end[lowered->op_count] = lowered->op_count;
}

static bool check_parameters(const Launch *launch, const FunctionLayout *entry, Error *error) {
    if (launch->parameter_bytes >= entry->parameter_bytes) return true;
    return error_set(error, "%s takes %u bytes of parameters, %zu were given; check --args",
                     entry->function->name, entry->parameter_bytes, launch->parameter_bytes);
}

static void layout_begin(Lowering *low, int index) {
    const PtxProgramFunction *function = &low->lowered->program->functions[index];
    FunctionLayout *layout = &low->lowered->functions[index];
    layout->function = function->function;
    layout->begin = function->begin;
    layout->end = function->end;
    layout->carry_offset = UINT32_MAX;
    size_t count = (size_t)function->function->register_count;
    layout->register_offset = memory_new((count + 1) * sizeof *layout->register_offset);
    for (size_t i = 0; i < count; i++) layout->register_offset[i] = UINT32_MAX;
    low->layout = layout;
    for (int i = 0; i < function->function->parameter_count; i++)
        lowering_parameter_place(low, function->function->parameters[i]);
    for (int i = 0; i < function->function->result_count; i++)
        lowering_parameter_place(low, function->function->results[i]);
    low->instructions->lower_call_interface(low);
}

static void align_constants(LoweredProgram *lowered) {
    size_t bytes = lowered->constant_bytes;
    uint8_t *memory = memory_new(bytes + 2 * SLOT_ALIGNMENT);
    uint8_t *aligned = memory + (SLOT_ALIGNMENT - (uintptr_t)memory % SLOT_ALIGNMENT) % SLOT_ALIGNMENT;
    if (bytes) memcpy(aligned, lowered->constants_memory, bytes);
    free(lowered->constants_memory);
    lowered->constants_memory = memory;
    lowered->constants = aligned;
}

/* Lowers function `f`; the entry's parameters are known before. */
static void lower_function(Lowering *low, int f) {
    LoweredProgram *lowered = low->lowered;
    const FunctionLayout *layout = &lowered->functions[f];
    low->layout = &lowered->functions[f];
    low->mention_count = 0;
    for (int pc = layout->begin; pc < layout->end; pc++) {
        lower_instruction(low, pc);
        if (lowered->ops[pc].op_class == OP_TRAP) low->instructions->lower_trap(low, &lowered->ops[pc]);
    }
}

/* Lowers the function again, with its registers in new slots. */
static void lower_again(Lowering *low, int f) {
    FunctionLayout *layout = &low->lowered->functions[f];
    layout->shares_slots = true;
    layout->slot_count = 0;
    bool carries = layout->carry_offset != UINT32_MAX;
    layout->carry_offset = UINT32_MAX;
    memset(&low->lowered->ops[layout->begin], 0, (size_t)(layout->end - layout->begin) * sizeof(Op));
    lower_function(low, f);
    ClearedSlot carry = {layout->carry_offset, SLOT_ALIGNMENT};
    if (carries) array_push(layout->cleared, layout->cleared_count, layout->cleared_capacity, carry);
}

LoweredProgram *lowered_new(const Launch *launch, const InstructionSet *instructions,
                            const LoweringOptions *options, AddressOf address_of, void *context,
                            Error *error) {
    const PtxProgram *program = launch->program;
    LoweredProgram *lowered = memory_new(sizeof *lowered);
    size_t count = (size_t)program->code_count;
    lowered->program = program;
    lowered->op_count = program->code_count;
    lowered->ops = memory_new((count + 1) * sizeof *lowered->ops);
    lowered->step = memory_new(count + 1);
    lowered->run_end = memory_new((count + 1) * sizeof *lowered->run_end);
    lowered->recorded = memory_new(count + 1);
    lowered->functions = memory_new((size_t)program->function_count * sizeof *lowered->functions);
    place_shared(lowered, launch->dynamic_shared_bytes);
    if (options->shared_as) place_shared_as(lowered, options->shared_as);
    Lowering low = {.lowered = lowered,
                    .launch = launch,
                    .instructions = instructions,
                    .options = options,
                    .address_of = address_of,
                    .context = context};
    for (int f = 0; f < program->function_count; f++) layout_begin(&low, f);
    bool enough = check_parameters(launch, &lowered->functions[0], error);
    for (int f = 0; enough && f < program->function_count; f++) {
        lower_function(&low, f);
        if (options->shares_registers && register_slots_allocate(lowered, f, low.mentions, low.mention_count))
            lower_again(&low, f);
    }
    free(low.mentions);
    if (enough) {
        align_constants(lowered);
        classify(lowered, options);
        find_open_ends(lowered);
    }
    free(low.constants);
    free(low.constant_table);
    if (enough) return lowered;
    lowered_free(lowered);
    return NULL;
}

void lowered_free(LoweredProgram *lowered) {
    if (!lowered) return;
    for (int f = 0; f < lowered->program->function_count; f++) {
        free(lowered->functions[f].register_offset);
        free(lowered->functions[f].slots);
        free(lowered->functions[f].cleared);
        free(lowered->functions[f].parameters);
        free(lowered->functions[f].locals);
    }
    free(lowered->functions);
    free(lowered->ops);
    free(lowered->step);
    free(lowered->run_end);
    free(lowered->recorded);
    free(lowered->shared);
    free(lowered->constants_memory);
    arena_done(&lowered->arena);
    free(lowered);
}
