/* What the machine makes of atomics on shared memory (PtxAtomicForm).
 *
 * The forms were read from the SASS that ptxas 13.0 makes for sm_90, and their costs measured
 * (trace/access.h). Three questions about registers decide between them; all are answered for a whole
 * function, without its order:
 *
 *   is the result used?        a register is *needed* if an instruction with an effect reads it, possibly
 *                              through others that only compute
 *   is the operand 1?          a register is *constant* if it only ever holds one number
 *   is the address the same    a register is *uniform* if everything it is computed from is. One with several
 *   in all lanes?              definitions also must not get them behind a branch that splits the warp */
#include "ptx/link.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

typedef enum HeldValue { HELD_NOTHING, HELD_CONSTANT, HELD_VARIOUS } HeldValue;

typedef struct Fact { /* about a register */
    bool needed, varies;
    int definitions;
    HeldValue held;
    int64_t constant;
} Fact;

typedef struct Facts {
    const PtxProgramFunction *function;
    const PtxCode *code;
    Fact *of; /* [register index] */
    bool changed;
} Facts;

/* ---- what an instruction reads and writes ------------------------------------------------------------- */

bool ptx_only_computes(const PtxInstruction *in) {
    static const bool computes[PTX_OPCODE_COUNT] = {
#define OPCODE(name, ...) [PTX_##name] = true,
#define RECORDED(...)
#include "ptx/opcodes.def"
#undef OPCODE
    };
    return computes[in->opcode] && in->opcode != PTX_call;
}

static bool writes_first(const PtxInstruction *in) {
    switch (in->opcode) {
    case PTX_bar:
    case PTX_barrier:
        return in->operand_count > 2; /* .red */
    case PTX_brx:
    case PTX_nanosleep:
    case PTX_stackrestore:
        return false;
    default:
        return true;
    }
}

int ptx_first_source(const PtxInstruction *in) {
    bool is_written = in->operand_count > 0 && in->operands[0].kind != PTX_OPERAND_MEMORY && writes_first(in);
    return is_written ? 1 : 0;
}

typedef void (*Visit)(Facts *facts, PtxRegister *reg);

static void visit(Facts *facts, const PtxOperand *operand, Visit visitor) {
    if (operand->reg) visitor(facts, operand->reg);
    for (int i = 0; i < operand->item_count; i++) visit(facts, &operand->items[i], visitor);
}

static void visit_sources(Facts *facts, const PtxInstruction *in, Visit visitor) {
    visit(facts, &in->guard, visitor);
    for (int i = ptx_first_source(in); i < in->operand_count; i++) visit(facts, &in->operands[i], visitor);
}

static void visit_results(Facts *facts, const PtxInstruction *in, Visit visitor) {
    if (ptx_first_source(in)) visit(facts, &in->operands[0], visitor);
}

/* ---- needed results ----------------------------------------------------------------------------------- */

static void need(Facts *facts, PtxRegister *reg) {
    Fact *fact = &facts->of[reg->index];
    facts->changed |= !fact->needed;
    fact->needed = true;
}

static bool operand_is_needed(const Facts *facts, const PtxOperand *operand) {
    bool needed = operand->reg && facts->of[operand->reg->index].needed;
    for (int i = 0; i < operand->item_count; i++) needed |= operand_is_needed(facts, &operand->items[i]);
    return needed;
}

static void need_sources(Facts *facts, const PtxInstruction *in) {
    bool has_effect = !ptx_only_computes(in) || !ptx_first_source(in);
    if (has_effect || operand_is_needed(facts, &in->operands[0])) visit_sources(facts, in, need);
}

/* ---- constants ---------------------------------------------------------------------------------------- */

static HeldValue held_by(const Facts *facts, const PtxOperand *operand, int64_t *constant) {
    if (operand->kind == PTX_OPERAND_INTEGER) {
        *constant = operand->integer;
        return HELD_CONSTANT;
    }
    if (operand->kind != PTX_OPERAND_REGISTER) return HELD_VARIOUS;
    *constant = facts->of[operand->reg->index].constant;
    return facts->of[operand->reg->index].held;
}

static void hold(Facts *facts, Fact *fact, HeldValue held, int64_t constant) {
    if (held == HELD_NOTHING || fact->held == HELD_VARIOUS) return;
    if (held == HELD_CONSTANT && fact->held == HELD_CONSTANT && fact->constant == constant) return;
    fact->held = fact->held == HELD_NOTHING ? held : HELD_VARIOUS;
    fact->constant = constant;
    facts->changed = true;
}

static void hold_various(Facts *facts, PtxRegister *reg) {
    hold(facts, &facts->of[reg->index], HELD_VARIOUS, 0);
}

static void hold_result(Facts *facts, const PtxInstruction *in) {
    int64_t constant = 0;
    if (in->opcode != PTX_mov || in->operand_count != 2 || in->operands[0].kind != PTX_OPERAND_REGISTER) {
        visit_results(facts, in, hold_various);
        return;
    }
    HeldValue held = held_by(facts, &in->operands[1], &constant);
    hold(facts, &facts->of[in->operands[0].reg->index], held, constant);
}

static bool is_constant(const Facts *facts, const PtxOperand *operand, uint32_t wanted) {
    int64_t constant;
    return held_by(facts, operand, &constant) == HELD_CONSTANT && (uint32_t)constant == wanted;
}

/* ---- uniform registers -------------------------------------------------------------------------------- */

static bool is_uniform_special(const char *name) {
    static const char *const names[] = {
        "%ntid",          "%ctaid",          "%nctaid",          "%warpid",          "%nwarpid",
        "%smid",          "%nsmid",          "%gridid",          "%clusterid",       "%nclusterid",
        "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank"};
    size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], name, length)) return true;
    return false;
}

static bool is_uniform(const Facts *facts, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_SPECIAL) return is_uniform_special(operand->name);
    if (operand->reg && facts->of[operand->reg->index].varies) return false;
    if (operand->variable && operand->variable->space == PTX_SPACE_LOCAL) return false;
    for (int i = 0; i < operand->item_count; i++)
        if (!is_uniform(facts, &operand->items[i])) return false;
    return true;
}

/* False: a parameter of a function, or what a call returned. */
static bool is_of_kernel(const Facts *facts, const PtxVariable *parameter) {
    const PtxFunction *function = facts->function->function;
    if (!parameter) return function->is_entry;
    for (int i = 0; function->is_entry && i < function->parameter_count; i++)
        if (function->parameters[i] == parameter) return true;
    return false;
}

/* Sources that agree in all lanes give a result that does. */
static bool keeps_uniform(const Facts *facts, const PtxInstruction *in) {
    if (in->space == PTX_SPACE_LOCAL) return false;
    if (in->opcode != PTX_ld) return ptx_only_computes(in);
    return in->space != PTX_SPACE_PARAM || is_of_kernel(facts, in->operands[1].variable);
}

static bool gives_uniform(const Facts *facts, const PtxInstruction *in) {
    if (!is_uniform(facts, &in->guard)) return false;
    switch (in->opcode) {
    case PTX_vote:
    case PTX_redux:
    case PTX_activemask:
        return true;
    case PTX_shfl: /* all lanes read lane b */
        return ptx_instruction_has(in, PTX_MOD_IDX) && in->operand_count > 3 &&
               is_uniform(facts, &in->operands[2]) && is_constant(facts, &in->operands[3], 31);
    default:
        break;
    }
    if (in->operand_count < 2 || !keeps_uniform(facts, in)) return false;
    for (int i = ptx_first_source(in); i < in->operand_count; i++)
        if (!is_uniform(facts, &in->operands[i])) return false;
    return true;
}

static void vary(Facts *facts, PtxRegister *reg) {
    Fact *fact = &facts->of[reg->index];
    facts->changed |= !fact->varies;
    fact->varies = true;
}

static void vary_if_chosen(Facts *facts, PtxRegister *reg) {
    if (facts->of[reg->index].definitions > 1) vary(facts, reg);
}

/* The lanes may run what lies between a branch and their reconvergence different numbers of times. */
static void vary_behind(Facts *facts, int pc) {
    const PtxCode *branch = &facts->code[pc];
    const PtxInstruction *in = branch->instruction;
    bool splits = (in->opcode == PTX_bra && !is_uniform(facts, &in->guard)) ||
                  (in->opcode == PTX_brx && !is_uniform(facts, &in->operands[0]));
    if (!splits) return;
    int begin = branch->target >= 0 && branch->target < pc ? branch->target : pc;
    int end = branch->reconvergence > begin ? branch->reconvergence : facts->function->end;
    for (int i = begin; i < end; i++) visit_results(facts, facts->code[i].instruction, vary_if_chosen);
}

static void vary_result(Facts *facts, int pc) {
    const PtxInstruction *in = facts->code[pc].instruction;
    if (!gives_uniform(facts, in)) visit_results(facts, in, vary);
    vary_behind(facts, pc);
}

/* ---- forms -------------------------------------------------------------------------------------------- */

static bool is_atomic(const PtxInstruction *in) {
    return in->opcode == PTX_atom || in->opcode == PTX_red;
}

static bool may_be_shared(const PtxInstruction *in) {
    return in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_SHARED_CLUSTER ||
           in->space == PTX_SPACE_GENERIC;
}

static bool is_reduction_of_warp(const PtxInstruction *in, bool is_used) {
    if (ptx_instruction_has(in, PTX_MOD_ADD)) return true;
    return !is_used && (ptx_instruction_has(in, PTX_MOD_MIN) || ptx_instruction_has(in, PTX_MOD_MAX) ||
                        ptx_instruction_has(in, PTX_MOD_AND) || ptx_instruction_has(in, PTX_MOD_OR) ||
                        ptx_instruction_has(in, PTX_MOD_XOR));
}

static PtxAtomicForm form_of_word(const Facts *facts, const PtxInstruction *in) {
    int address = in->opcode == PTX_atom ? 1 : 0;
    const PtxOperand *operand = &in->operands[address + 1];
    bool is_used = address && operand_is_needed(facts, &in->operands[0]);
    bool adds_one = (ptx_instruction_has(in, PTX_MOD_ADD) && is_constant(facts, operand, 1)) ||
                    (ptx_instruction_has(in, PTX_MOD_INC) && is_constant(facts, operand, UINT32_MAX));
    if (adds_one && !is_used && in->space == PTX_SPACE_SHARED) return PTX_ATOMIC_COUNTED;
    if (!is_uniform(facts, &in->operands[address]) || !(adds_one || is_reduction_of_warp(in, is_used)))
        return PTX_ATOMIC_LANES;
    return is_used && !is_uniform(facts, operand) ? PTX_ATOMIC_SCANNED : PTX_ATOMIC_COMBINED;
}

static PtxAtomicForm form_of(const Facts *facts, const PtxInstruction *in) {
    PtxType type = in->types[0];
    bool adds = ptx_instruction_has(in, PTX_MOD_ADD), is_generic = in->space != PTX_SPACE_SHARED;
    if (ptx_instruction_has(in, PTX_MOD_ASYNC)) return PTX_ATOMIC_UNKNOWN;
    if (ptx_instruction_has(in, PTX_MOD_CAS))
        return ptx_type_bytes(type) == 2 ? PTX_ATOMIC_COMPARED_HALF : PTX_ATOMIC_COMPARED;
    if (ptx_instruction_has(in, PTX_MOD_EXCH)) return PTX_ATOMIC_LANES;
    if (type == PTX_F16 || type == PTX_BF16) return PTX_ATOMIC_SWAPPED;
    if (ptx_type_bytes(type) == 4 && !ptx_type_is_float(type)) return form_of_word(facts, in);
    if (is_generic && adds && !ptx_type_is_float(type)) return PTX_ATOMIC_LANES; /* ATOM.ADD.64 */
    return is_generic ? PTX_ATOMIC_TRIED : PTX_ATOMIC_SPUN;
}

static void count_definition(Facts *facts, PtxRegister *reg) {
    facts->of[reg->index].definitions++;
}

static void find_facts(Facts *facts) {
    int begin = facts->function->begin, end = facts->function->end;
    for (int pc = begin; pc < end; pc++) visit_results(facts, facts->code[pc].instruction, count_definition);
    for (int i = 0; i < facts->function->function->register_count; i++)
        facts->of[i].varies = !facts->of[i].definitions; /* a parameter */
    do {
        facts->changed = false;
        for (int pc = end - 1; pc >= begin; pc--) need_sources(facts, facts->code[pc].instruction);
        for (int pc = begin; pc < end; pc++) {
            hold_result(facts, facts->code[pc].instruction);
            vary_result(facts, pc);
        }
    } while (facts->changed);
}

void ptx_atomic_forms_find(PtxProgram *program, const PtxProgramFunction *function) {
    int first = function->begin;
    while (first < function->end && !is_atomic(program->code[first].instruction)) first++;
    if (first == function->end) return;
    size_t registers = (size_t)function->function->register_count + 1;
    Facts facts = {function, program->code, memory_new(registers * sizeof(Fact)), false};
    find_facts(&facts);
    for (int pc = first; pc < function->end; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        bool is_complete = in->type_count && in->operand_count > (in->opcode == PTX_atom ? 2 : 1);
        if (!is_atomic(in) || !is_complete) continue;
        program->code[pc].drops_result =
            in->opcode == PTX_atom && !operand_is_needed(&facts, &in->operands[0]);
        if (may_be_shared(in)) program->code[pc].atomic_form = form_of(&facts, in);
    }
    free(facts.of);
}
