/* Lowering: from the instructions of a program to Ops, slot layouts and constants (lowered.h).
 *
 * The caller supplies a lower_NAME per opcode, which decides what the opcode does. This file lowers the
 * functions one after another and classifies the instructions for the scheduler; operands.c places the
 * operands. */
#include "emulator/lower/lowered.h"

#include "ptx/approximate.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

/* ---- the layout of a block's variables in shared memory ------------------------------------------------ */

/* Cooperative groups keep their barriers in the reserved shared memory (%reserved_smem_offset_1). */
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
    if (!variable) return -1;             /* the reserved part */
    if (!variable->bytes) return 1 << 30; /* the dynamic part */
    const PtxModule *module = lowered->program->module;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i] == variable) return i;
    return 1 << 29; /* variables of a function: in order of first use */
}

/* Places the shared variables that the program names: the reserved part, then static variables (those of the
 * module first), then the dynamic part. */
static void shared_places_find(LoweredProgram *lowered, uint32_t dynamic_bytes) {
    for (int pc = 0; pc < lowered->op_count; pc++) {
        const PtxInstruction *in = lowered->program->code[pc].instruction;
        for (int i = 0; i < in->operand_count; i++) mark_shared(lowered, &in->operands[i]);
    }
    for (int i = 1; i < lowered->shared_count; i++) { /* insertion sort is stable */
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
    /* too much: the launch fails */
    lowered->shared_bytes = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
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

/* Places them as another producer did, because stored addresses depend on the layout; does nothing if `like`
 * lacks one of them. */
static void shared_places_take_over(LoweredProgram *lowered, const TraceLaunch *like) {
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

/* ---- instructions -------------------------------------------------------------------------------------- */

#define LANE_BITS_8(first)                                                                                   \
    1u << (first), 1u << ((first) + 1), 1u << ((first) + 2), 1u << ((first) + 3), 1u << ((first) + 4),       \
        1u << ((first) + 5), 1u << ((first) + 6), 1u << ((first) + 7)
const uint32_t lane_bit[WARP_LANES] = {LANE_BITS_8(0), LANE_BITS_8(8), LANE_BITS_8(16), LANE_BITS_8(24)};

static bool is_recorded_approximation(const LoweringOptions *options, const PtxInstruction *in) {
    return options->records_approximate && (ptx_is_approximate(in) || ptx_reads_machine(in));
}

static int count_read(const Op *op) {
    int count = OP_SOURCES;
    while (count > op->source_count && !op->s[count - 1].constant && !op->s[count - 1].offset) count--;
    return count;
}

/* True if every register mentioned since `first` is a register of the Op. */
static bool lists_registers(const Lowering *low, const Op *op, int first) {
    uint32_t carry = low->layout->carry_offset;
    for (int i = first; i < low->mention_count; i++) {
        const Mention *mention = &low->mentions[i];
        uint32_t offset = low->layout->register_offset[mention->reg];
        bool is_result = (op->has_d && op->d.offset == offset) || (op->has_p && op->p.offset == offset);
        bool is_source = op->guarded && op->guard.offset == offset;
        for (int s = 0; s < op->read_count; s++) is_source |= !op->s[s].constant && op->s[s].offset == offset;
        if (low->layout->function->registers[mention->reg]->vector > 1) return false;
        if (mention->defines ? !is_result : !is_source) return false;
    }
    bool carries = op->p.offset == carry;
    for (int s = 0; s < OP_SOURCES; s++) carries |= !op->s[s].constant && op->s[s].offset == carry;
    return !carries;
}

static void lower_instruction(Lowering *low, int pc) {
    LoweredProgram *lowered = low->lowered;
    const PtxInstruction *in = lowered->program->code[pc].instruction;
    Op *op = &lowered->ops[pc];
    int first_mention = low->mention_count;
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
    /* These two read the text of some modifiers themselves. */
    bool reads_text = in->opcode == PTX_cvt || in->opcode == PTX_wgmma;
    if (in->opcode == PTX_OTHER || (!reads_text && ptx_instruction_has(in, PTX_MOD_OTHER))) {
        Text text = {0};
        ptx_instruction_print(in, &text);
        lowering_reject(low, op, "not emulated: %s", text_string(&text));
        text_done(&text);
        return;
    }
    if (!low->instructions->lower[in->opcode](low, in, op)) return;
    op->read_count = count_read(op);
    op->lists_registers = lists_registers(low, op, first_mention);
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
    return error_set(error, "%s takes %u bytes of parameters, but %zu were given; check --args",
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

/* Lowers function `f`; the entry's parameters are already known. */
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
    ClearedSlot carry = {layout->carry_offset, REGISTER_SLOT_ALIGNMENT, 0};
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
    shared_places_find(lowered, launch->dynamic_shared_bytes);
    if (options->shared_as) shared_places_take_over(lowered, options->shared_as);
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
        lowering_align_constants(lowered);
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
    free(lowered->constants);
    arena_done(&lowered->arena);
    free(lowered);
}

/* ---- listing: prints a lowered program as text (--dump-ops), to debug the front end -------------------- */

/* r128: 128 bytes into the call frame's registers; c64: 64 bytes into the program's constants. */
static void print_operand(Operand operand, Text *out) {
    text_print(out, " %c%u", operand.constant ? 'c' : 'r', operand.offset);
}

static void print_op(const LoweredProgram *lowered, int pc, Text *out) {
    static const char *const steps[] = {[STEP_LANES] = "lanes",
                                        [STEP_NO_EFFECT] = "no effect",
                                        [STEP_JUMP] = "jump",
                                        [STEP_BRANCH] = "branch",
                                        [STEP_ORDERED] = "ordered"};
    const Op *op = &lowered->ops[pc];
    const char *kind = op->op_class == OP_TRAP ? "trap" : steps[lowered->step[pc]];
    Text operands = {0};
    if (op->guarded) {
        text_add(&operands, op->guard_negated ? " unless" : " if");
        print_operand(op->guard, &operands);
    }
    if (op->has_d) print_operand(op->d, &operands);
    if (op->has_p) print_operand(op->p, &operands);
    if (op->source_count) text_add(&operands, " <-");
    for (int i = 0; i < op->source_count; i++) print_operand(op->s[i], &operands);
    text_print(out, "%6d %-9s %c%-32s  ", pc, kind, lowered->recorded[pc] ? '*' : ' ',
               text_string(&operands));
    ptx_instruction_print(op->instruction, out);
    text_add(out, "\n");
    text_done(&operands);
}

/* Prints the registers of a function, slot by slot: registers on one line are never live at the same time. */
static void print_slots(const FunctionLayout *layout, Text *out) {
    const PtxFunction *function = layout->function;
    for (uint32_t offset = 0; offset < layout->register_bytes; offset += 4) {
        bool is_first = true;
        for (int i = 0; i < function->register_count; i++) {
            if (layout->register_offset[i] != offset) continue;
            if (is_first) text_print(out, "  r%-8u", offset);
            text_print(out, " %s", function->registers[i]->name);
            is_first = false;
        }
        if (!is_first) text_add(out, "\n");
    }
}

void lowered_print(const LoweredProgram *lowered, Text *out) {
    text_print(
        out,
        "constants %zu bytes, shared %u bytes (r128: byte 128 of the registers, c128: of the constants, "
        "*: records events)\n",
        lowered->constant_bytes, lowered->shared_bytes);
    for (int f = 0; f < lowered->program->function_count; f++) {
        const FunctionLayout *layout = &lowered->functions[f];
        text_print(out, "%s%s: registers %u bytes, local %u bytes%s\n", f ? "\n" : "", layout->function->name,
                   layout->register_bytes, layout->local_bytes,
                   layout->shares_slots ? ", registers share slots" : "");
        print_slots(layout, out);
        for (int pc = layout->begin; pc < layout->end; pc++) print_op(lowered, pc, out);
    }
}
