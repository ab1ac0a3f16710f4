/* Finds the products of each basic block and their uses, fuses them in the order of the rule, and rewrites
 * the statements. */
#include "ptx/contract.h"

#include "ptx/link.h"
#include "ptx/names.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

enum { NONE = -1 };

typedef struct ContractNode { /* an instruction */
    const PtxInstruction *in;
    int statement;
    int target;  /* of bra: node; NONE: another instruction, or the end of the function */
    bool begins; /* a basic block */
    int block;
    bool is_dead;
    bool is_removed;
    /* of its result, if it is a product or a copy of one */
    int product;   /* node; NONE: another value */
    bool is_minus; /* the negated product */
    int copied;    /* of a copy: node whose result it copies */
    int readers;   /* operands of live instructions */
    /* of a product */
    bool is_blocked;
    int uses, uses_in_text;
    /* of an add or sub */
    bool is_sum;
    int operand[2]; /* node of the product, or of the copy; NONE */
    int fused;      /* the operand that is fused; NONE */
} ContractNode;

typedef struct Contraction {
    PtxModule *module;
    PtxFunction *function;
    ContractNode *nodes;
    int count;
    int *value;             /* [register] the node of the present block that wrote it last; NONE */
    int block_count, words; /* words: of 64 registers, a bit each */
    uint64_t *live_in;      /* [block][word] */
    uint64_t *live;         /* [word] of one place */
    bool any;
    int kept_count; /* registers that keep factors */
} Contraction;

/* ---- kinds of instructions ----------------------------------------------------------------------------- */

static bool is_guarded(const PtxInstruction *in) {
    return in->guard.kind != PTX_OPERAND_NONE;
}

static bool is_contracted_type(PtxType type) {
    return type == PTX_F32 || type == PTX_F64 || type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 ||
           type == PTX_BF16X2;
}

static bool is_plain_register(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_REGISTER && operand->component < 0 && operand->reg->vector == 1;
}

static bool is_bits(PtxType type) {
    return type == PTX_B16 || type == PTX_B32 || type == PTX_B64;
}

/* Only its type, .ftz and, if it may, .sat. */
static bool is_contractible(const PtxInstruction *in, bool may_saturate) {
    if (in->type_count != 1 || !is_contracted_type(in->types[0]) || in->operand_count != 3) return false;
    for (int i = 0; i < in->modifier_count; i++) {
        PtxModifierKind kind = in->modifiers[i].kind;
        if (kind != PTX_MOD_TYPE && kind != PTX_MOD_FTZ && (kind != PTX_MOD_SAT || !may_saturate))
            return false;
    }
    int bytes = ptx_type_bytes(in->types[0]);
    for (int i = 0; i < 3; i++) {
        const PtxOperand *operand = &in->operands[i];
        bool is_register = is_plain_register(operand) && ptx_type_bytes(operand->reg->type) == bytes &&
                           (operand->reg->type == in->types[0] || is_bits(operand->reg->type));
        if (!is_register && (!i || operand->kind != PTX_OPERAND_FLOAT)) return false;
    }
    return true;
}

static bool is_product(const PtxInstruction *in) {
    return in->opcode == PTX_mul && !is_guarded(in) && is_contractible(in, false) &&
           (in->operands[1].kind == PTX_OPERAND_REGISTER || in->operands[2].kind == PTX_OPERAND_REGISTER);
}

static bool is_sum(const PtxInstruction *in) {
    return (in->opcode == PTX_add || in->opcode == PTX_sub) && is_contractible(in, true);
}

static bool are_alike(const PtxInstruction *product, const PtxInstruction *sum) {
    return product->types[0] == sum->types[0] &&
           ptx_instruction_has(product, PTX_MOD_FTZ) == ptx_instruction_has(sum, PTX_MOD_FTZ);
}

/* 1 or -1; 0: another operand. */
static int unit_of(const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_FLOAT) return 0;
    double number = operand->number;
    float single;
    uint32_t bits = (uint32_t)operand->float_bits;
    if (operand->float_bytes == 8) memcpy(&number, &operand->float_bits, sizeof number);
    if (operand->float_bytes == 4) memcpy(&single, &bits, sizeof single), number = single;
    return number == 1 ? 1 : number == -1 ? -1 : 0;
}

/* ---- basic blocks ------------------------------------------------------------------------------------ */

static bool is_fence(const PtxInstruction *in) {
    return !ptx_instruction_has(in, PTX_MOD_PROXY) && !ptx_instruction_has(in, PTX_MOD_MBARRIER_INIT);
}

static bool is_division_with_branches(const PtxInstruction *in) {
    PtxType type = in->type_count ? in->types[0] : PTX_NO_TYPE;
    if (!ptx_type_is_float(type)) return type != PTX_U32;
    return !ptx_instruction_has(in, PTX_MOD_APPROX) && !ptx_instruction_has(in, PTX_MOD_FULL);
}

static bool splits(const PtxInstruction *in) {
    switch (in->opcode) {
    case PTX_call:
    case PTX_ret:
    case PTX_exit:
    case PTX_trap:
    case PTX_brkpt:
    case PTX_pmevent:
        return true;
    case PTX_membar:
    case PTX_fence:
        return is_guarded(in) || is_fence(in);
    case PTX_griddepcontrol:
        return is_guarded(in) || ptx_instruction_has(in, PTX_MOD_LAUNCH_DEPENDENTS);
    case PTX_div:
    case PTX_rem:
        return is_division_with_branches(in);
    case PTX_rcp:
    case PTX_sqrt:
        return !ptx_instruction_has(in, PTX_MOD_APPROX);
    case PTX_bra: /* is_branch() */
    case PTX_brx:
        return false;
    case PTX_ld:
        return is_guarded(in) && in->space != PTX_SPACE_PARAM && in->space != PTX_SPACE_CONST;
    default:
        return is_guarded(in) && (!ptx_only_computes(in) || !ptx_first_source(in));
    }
}

static bool jumps(const PtxInstruction *in) {
    PtxOpcode opcode = in->opcode;
    return opcode == PTX_bra || opcode == PTX_brx || opcode == PTX_ret || opcode == PTX_exit ||
           opcode == PTX_trap;
}

/* A branch to the next instruction is none. */
static bool is_branch(const Contraction *c, int node) {
    return c->nodes[node].in->opcode == PTX_bra && c->nodes[node].target != node + 1;
}

static void find_nodes(Contraction *c) {
    const PtxFunction *function = c->function;
    int *node_at = memory_new(((size_t)function->statement_count + 1) * sizeof *node_at);
    for (int i = 0; i < function->statement_count; i++) {
        node_at[i] = c->count;
        if (function->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        c->nodes[c->count++] = (ContractNode){.in = function->statements[i].instruction,
                                              .statement = i,
                                              .target = NONE,
                                              .product = NONE,
                                              .copied = NONE,
                                              .operand = {NONE, NONE},
                                              .fused = NONE};
    }
    for (int i = 0; i < c->count; i++) {
        const PtxInstruction *in = c->nodes[i].in;
        const PtxLabel *label = in->opcode == PTX_bra && in->operand_count ? in->operands[0].label : NULL;
        if (label && label->statement >= 0) c->nodes[i].target = node_at[label->statement];
        bool ends = is_branch(c, i) || in->opcode == PTX_brx || splits(in);
        if (i + 1 < c->count) c->nodes[i + 1].begins |= ends;
        if (is_branch(c, i) && c->nodes[i].target < c->count && c->nodes[i].target >= 0)
            c->nodes[c->nodes[i].target].begins = true;
    }
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *list = &function->statements[i];
        for (int k = 0; list->kind == PTX_STATEMENT_TARGETS && !list->is_call_targets && k < list->name_count;
             k++) {
            const PtxLabel *label = list->targets[k].label;
            int node = label && label->statement >= 0 ? node_at[label->statement] : c->count;
            if (node < c->count) c->nodes[node].begins = true;
        }
    }
    for (int i = 0; i < c->count; i++) {
        c->nodes[i].begins |= !i;
        c->block_count += c->nodes[i].begins;
        c->nodes[i].block = c->block_count - 1;
    }
    free(node_at);
}

static int block_end(const Contraction *c, int begin) {
    int end = begin + 1;
    while (end < c->count && !c->nodes[end].begins) end++;
    return end;
}

/* ---- live registers ---------------------------------------------------------------------------------- */

typedef void (*VisitRegister)(Contraction *c, int node, const PtxOperand *operand);

static void visit(Contraction *c, int node, const PtxOperand *operand, VisitRegister visitor) {
    if (operand->reg) visitor(c, node, operand);
    for (int i = 0; i < operand->item_count; i++) visit(c, node, &operand->items[i], visitor);
}

/* What a call or an unknown instruction writes, it may also read. */
static bool is_opaque(const PtxInstruction *in) {
    return in->opcode == PTX_call || in->opcode == PTX_OTHER;
}

static void visit_sources(Contraction *c, int node, VisitRegister visitor) {
    const PtxInstruction *in = c->nodes[node].in;
    visit(c, node, &in->guard, visitor);
    for (int i = is_opaque(in) ? 0 : ptx_first_source(in); i < in->operand_count; i++)
        visit(c, node, &in->operands[i], visitor);
}

static void visit_results(Contraction *c, int node, VisitRegister visitor) {
    const PtxInstruction *in = c->nodes[node].in;
    if (is_opaque(in) || ptx_first_source(in)) visit(c, node, &in->operands[0], visitor);
}

static bool is_live(const uint64_t *live, const PtxRegister *reg) {
    return live[reg->index / 64] >> (reg->index % 64) & 1;
}

static bool has_live(const Contraction *c, const PtxOperand *operand) {
    bool has = operand->reg && is_live(c->live, operand->reg);
    for (int i = 0; i < operand->item_count; i++) has |= has_live(c, &operand->items[i]);
    return has;
}

static void use(Contraction *c, int node, const PtxOperand *operand) {
    (void)node;
    c->live[operand->reg->index / 64] |= UINT64_C(1) << (operand->reg->index % 64);
}

static bool writes_whole(const PtxInstruction *in, const PtxOperand *operand) {
    return !is_guarded(in) && !is_opaque(in) && operand->component < 0;
}

static void kill_register(Contraction *c, int node, const PtxOperand *operand) {
    if (writes_whole(c->nodes[node].in, operand))
        c->live[operand->reg->index / 64] &= ~(UINT64_C(1) << (operand->reg->index % 64));
}

/* From the registers that are live after the instruction to those before it. */
static void step_back(Contraction *c, int node) {
    const PtxInstruction *in = c->nodes[node].in;
    bool is_load = in->opcode == PTX_ld && !ptx_instruction_is_ordered(in);
    bool computes = (ptx_only_computes(in) || is_load) && ptx_first_source(in);
    c->nodes[node].is_dead = computes && !has_live(c, &in->operands[0]);
    if (c->nodes[node].is_dead) return;
    visit_results(c, node, kill_register);
    visit_sources(c, node, use);
}

static uint64_t *live_before(const Contraction *c, int node) {
    return &c->live_in[(size_t)c->nodes[node].block * (size_t)c->words];
}

static void join(Contraction *c, int node) {
    for (int i = 0; node >= 0 && node < c->count && i < c->words; i++) c->live[i] |= live_before(c, node)[i];
}

/* The registers that are live after a block. */
static void start_at_end(Contraction *c, int end) {
    const ContractNode *last = &c->nodes[end - 1];
    memset(c->live, 0, (size_t)c->words * sizeof *c->live);
    if (!jumps(last->in) || is_guarded(last->in) || last->target == end) join(c, end);
    if (last->in->opcode == PTX_bra) join(c, last->target);
    for (int i = 0; last->in->opcode == PTX_brx && i < c->count; i++)
        if (c->nodes[i].begins) join(c, i);
}

static void find_live(Contraction *c) {
    size_t bytes = (size_t)c->words * sizeof *c->live;
    for (bool changes = true; changes;) {
        changes = false;
        for (int end = c->count, begin = end - 1; end > 0; end = begin, begin = end - 1) {
            while (!c->nodes[begin].begins) begin--;
            start_at_end(c, end);
            for (int i = end - 1; i >= begin; i--) step_back(c, i);
            changes |= memcmp(live_before(c, begin), c->live, bytes) != 0;
            memcpy(live_before(c, begin), c->live, bytes);
        }
    }
}

/* ---- products and their uses --------------------------------------------------------------------------- */

static int value_of(const Contraction *c, const PtxOperand *operand) {
    return operand->reg ? c->value[operand->reg->index] : NONE;
}

/* The product that the operand holds; NONE: another value. */
static int product_of(const Contraction *c, const PtxOperand *operand) {
    int value = value_of(c, operand);
    return value == NONE ? NONE : c->nodes[value].product;
}

static void block_product(Contraction *c, int node, const PtxOperand *operand) {
    (void)node;
    int product = product_of(c, operand);
    if (product == NONE) return;
    c->nodes[product].is_blocked = true;
}

/* A value that is 1 or -1 may stand in a register. */
static int unit_in(const Contraction *c, const PtxOperand *operand) {
    int value = value_of(c, operand);
    const PtxInstruction *in = value == NONE ? NULL : c->nodes[value].in;
    if (in && in->opcode == PTX_mov && !is_guarded(in)) operand = &in->operands[1];
    return unit_of(operand);
}

/* The operand that is a product and that the instruction only copies or negates; 0: it does something
 * else. */
static int copied_operand(const Contraction *c, const PtxInstruction *in, bool *negates) {
    *negates = in->opcode == PTX_neg;
    if (is_guarded(in) || in->operand_count < 2 || !is_plain_register(&in->operands[0])) return 0;
    if (in->opcode == PTX_mul && is_product(in)) {
        for (int i = 1; i < 3; i++) {
            int product = product_of(c, &in->operands[i]), unit = unit_in(c, &in->operands[3 - i]);
            *negates = unit < 0;
            if (product != NONE && unit && are_alike(c->nodes[product].in, in) &&
                (unit > 0 || in->types[0] != PTX_BF16X2))
                return i;
        }
        return 0;
    }
    if ((in->opcode != PTX_mov && in->opcode != PTX_neg) || !is_plain_register(&in->operands[1])) return 0;
    int product = product_of(c, &in->operands[1]);
    if (product == NONE ||
        ptx_type_bytes(in->operands[0].reg->type) != ptx_type_bytes(in->operands[1].reg->type))
        return 0;
    if (in->opcode == PTX_neg &&
        (in->types[0] != c->nodes[product].in->types[0] || in->types[0] == PTX_BF16X2))
        return 0;
    return 1;
}

static void add_sum(Contraction *c, int node) {
    ContractNode *sum = &c->nodes[node];
    int products[2];
    sum->is_sum = true;
    for (int i = 0; i < 2; i++) {
        products[i] = product_of(c, &sum->in->operands[i + 1]);
        if (products[i] == NONE) continue;
        sum->operand[i] = value_of(c, &sum->in->operands[i + 1]);
        c->nodes[sum->operand[i]].readers++;
        c->nodes[products[i]].uses++;
        if (!are_alike(c->nodes[products[i]].in, sum->in)) c->nodes[products[i]].is_blocked = true;
    }
    if (products[0] != NONE && products[0] == products[1]) c->nodes[products[0]].is_blocked = true;
}

static void write_value(Contraction *c, int node, const PtxOperand *operand) {
    if (!writes_whole(c->nodes[node].in, operand) && !c->nodes[node].is_dead) block_product(c, node, operand);
    c->value[operand->reg->index] = node;
}

static void forget_value(Contraction *c, int node, const PtxOperand *operand) {
    (void)node;
    c->value[operand->reg->index] = NONE;
}

static void read_node(Contraction *c, int node) {
    ContractNode *here = &c->nodes[node];
    bool negates = false;
    int copied = copied_operand(c, here->in, &negates);
    if (here->is_dead) {
    } else if (copied) {
        here->copied = value_of(c, &here->in->operands[copied]);
        here->product = c->nodes[here->copied].product;
        here->is_minus = c->nodes[here->copied].is_minus != negates;
        c->nodes[here->copied].readers++;
    } else if (is_sum(here->in)) {
        add_sum(c, node);
    } else {
        visit_sources(c, node, block_product);
        if (is_product(here->in)) here->product = node;
    }
    visit_results(c, node, write_value);
}

static void read_block(Contraction *c, int begin, int end) {
    start_at_end(c, end);
    uint64_t *live_out = memory_new((size_t)c->words * sizeof *live_out);
    memcpy(live_out, c->live, (size_t)c->words * sizeof *live_out);
    for (int i = end - 1; i >= begin; i--) step_back(c, i);
    for (int i = begin; i < end; i++) read_node(c, i);
    for (int i = 0; i < c->function->register_count; i++) {
        int value = c->value[i], product = value == NONE ? NONE : c->nodes[value].product;
        if (product != NONE && is_live(live_out, c->function->registers[i]))
            c->nodes[product].is_blocked = true;
    }
    for (int i = begin; i < end; i++) {
        visit_results(c, i, forget_value);
        c->nodes[i].uses_in_text = c->nodes[i].uses;
    }
    free(live_out);
}

/* ---- the order of the rule ----------------------------------------------------------------------------- */

/* The product of the operand (0 or 1) of a sum, if it is fusable now; else NULL. */
static ContractNode *fusable(const Contraction *c, const ContractNode *sum, int operand) {
    int value = sum->operand[operand];
    ContractNode *product = value == NONE ? NULL : &c->nodes[c->nodes[value].product];
    return product && !product->is_blocked ? product : NULL;
}

static void drop_reader(Contraction *c, int node) {
    while (node != NONE && !--c->nodes[node].readers) {
        c->nodes[node].is_removed = true;
        node = c->nodes[node].copied;
    }
}

static void fuse(Contraction *c, ContractNode *sum, int operand) {
    int other = sum->operand[1 - operand];
    sum->fused = operand;
    c->nodes[c->nodes[sum->operand[operand]].product].uses--;
    if (other != NONE) c->nodes[c->nodes[other].product].is_blocked = true;
    drop_reader(c, sum->operand[operand]);
    c->any = true;
}

static void fuse_block(Contraction *c, int begin, int end) {
    for (int i = begin; i < end; i++) {
        ContractNode *sum = &c->nodes[i];
        for (int k = 0; k < 2 && sum->is_sum && sum->fused == NONE; k++)
            if (fusable(c, sum, k) && fusable(c, sum, k)->uses == 1) fuse(c, sum, k);
    }
    for (int i = begin; i < end; i++) {
        ContractNode *sum = &c->nodes[i];
        if (!sum->is_sum || sum->fused != NONE) continue;
        const ContractNode *first = fusable(c, sum, 0), *second = fusable(c, sum, 1);
        if (first && second)
            fuse(c, sum, second->uses_in_text < first->uses_in_text);
        else if (first || second)
            fuse(c, sum, !first);
    }
}

/* ---- the new statements -------------------------------------------------------------------------------- */

typedef struct KeptFactor { /* a factor in a register of its own, written before the product's place */
    int product;
    const PtxRegister *factor;
    PtxRegister *reg;
} KeptFactor;

typedef struct Rewriting {
    Contraction *c;
    KeptFactor *kept;
    int count, capacity;
} Rewriting;

static bool names_result(const PtxOperand *operand, const PtxRegister *reg) {
    bool names = operand->reg == reg;
    for (int i = 0; i < operand->item_count; i++) names |= names_result(&operand->items[i], reg);
    return names;
}

/* True if the register has another value at the sum than at the product. */
static bool is_written_between(const Contraction *c, int product, int sum, const PtxRegister *reg) {
    for (int i = product; i < sum; i++) {
        const PtxInstruction *in = c->nodes[i].in;
        bool writes = in->operand_count && (is_opaque(in) || ptx_first_source(in));
        if (!c->nodes[i].is_removed && writes && names_result(&in->operands[0], reg)) return true;
    }
    return false;
}

static PtxRegister *add_register(Contraction *c, const PtxRegister *like) {
    PtxFunction *function = c->function;
    size_t count = (size_t)function->register_count;
    PtxRegister **registers = arena_new(&c->module->arena, (count + 1) * sizeof(PtxRegister *)),
                *reg = arena_new(&c->module->arena, sizeof *reg);
    if (count) memcpy(registers, function->registers, count * sizeof(PtxRegister *));
    *reg = *like;
    reg->name = arena_print(&c->module->arena, "%%redviz_factor%d", c->kept_count++);
    reg->index = function->register_count++;
    registers[count] = reg;
    function->registers = registers;
    return reg;
}

static PtxRegister *keep_factor(Rewriting *rewrite, int product, const PtxRegister *factor) {
    for (int i = 0; i < rewrite->count; i++)
        if (rewrite->kept[i].product == product && rewrite->kept[i].factor == factor)
            return rewrite->kept[i].reg;
    KeptFactor kept = {product, factor, add_register(rewrite->c, factor)};
    array_push(rewrite->kept, rewrite->count, rewrite->capacity, kept);
    return kept.reg;
}

/* Equal names are one pointer. */
static const char *text_of_name(PtxModule *module, const char *text) {
    return ptx_names_get(module->names, text, strlen(text))->text;
}

static PtxModifier *modifiers_of_fma(PtxModule *module, const PtxInstruction *sum) {
    PtxModifier *modifiers = arena_new(&module->arena, ((size_t)sum->modifier_count + 1) * sizeof *modifiers);
    modifiers[0] = (PtxModifier){PTX_MOD_RN, text_of_name(module, "rn")};
    memcpy(modifiers + 1, sum->modifiers, (size_t)sum->modifier_count * sizeof *modifiers);
    return modifiers;
}

static void negate(PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_REGISTER) {
        operand->negated = !operand->negated;
        return;
    }
    operand->name = NULL; /* a literal */
    operand->number = -operand->number;
    if (operand->float_bytes) operand->float_bits ^= UINT64_C(1) << (8 * operand->float_bytes - 1);
}

static PtxInstruction *make_fma(Rewriting *rewrite, int node) {
    Contraction *c = rewrite->c;
    PtxModule *module = c->module;
    const ContractNode *sum = &c->nodes[node], *value = &c->nodes[sum->operand[sum->fused]];
    const PtxInstruction *product = c->nodes[value->product].in;
    PtxFused *fused = arena_new(&module->arena, sizeof *fused);
    *fused = (PtxFused){product, sum->in};
    PtxInstruction *fma = arena_copy(&module->arena, sum->in, sizeof *fma);
    PtxOperand operands[] = {sum->in->operands[0], product->operands[1], product->operands[2],
                             sum->in->operands[2 - sum->fused]};
    for (int i = 1; i < 3; i++)
        if (operands[i].reg && is_written_between(c, value->product, node, operands[i].reg))
            operands[i].reg = keep_factor(rewrite, value->product, operands[i].reg);
    bool subtracts = sum->in->opcode == PTX_sub;
    int minus = operands[1].kind == PTX_OPERAND_REGISTER ? 1 : 2;
    if (value->is_minus != (subtracts && sum->fused == 1)) negate(&operands[minus]);
    if (subtracts && sum->fused == 0) negate(&operands[3]);
    fma->opcode = PTX_fma;
    fma->name = "fma";
    fma->modifiers = modifiers_of_fma(module, sum->in);
    fma->modifier_count++;
    fma->operands = arena_copy(&module->arena, operands, sizeof operands);
    fma->operand_count = 4;
    fma->fused = fused;
    return fma;
}

static PtxInstruction *make_copy(PtxModule *module, const KeptFactor *kept, const PtxInstruction *product) {
    PtxInstruction *copy = arena_copy(&module->arena, product, sizeof *copy);
    int bits = 8 * ptx_type_bytes(product->types[0]);
    PtxType type = bits == 16 ? PTX_B16 : bits == 32 ? PTX_B32 : PTX_B64;
    PtxModifier modifier = {PTX_MOD_TYPE, text_of_name(module, ptx_type_text(type))};
    PtxOperand operands[] = {
        {.kind = PTX_OPERAND_REGISTER, .component = -1, .reg = kept->reg},
        {.kind = PTX_OPERAND_REGISTER, .component = -1, .reg = (PtxRegister *)kept->factor}};
    copy->opcode = PTX_mov;
    copy->name = "mov";
    copy->types[0] = type;
    copy->modifiers = arena_copy(&module->arena, &modifier, sizeof modifier);
    copy->modifier_count = 1;
    copy->operands = arena_copy(&module->arena, operands, sizeof operands);
    copy->operand_count = 2;
    return copy;
}

static void put(PtxFunction *function, const PtxStatement *statement) {
    function->statements[function->statement_count++] = *statement;
}

static void put_kept(Rewriting *rewrite, int product) {
    Contraction *c = rewrite->c;
    for (int i = 0; i < rewrite->count; i++)
        if (rewrite->kept[i].product == product)
            put(c->function, &(PtxStatement){.kind = PTX_STATEMENT_INSTRUCTION,
                                             .instruction = make_copy(c->module, &rewrite->kept[i],
                                                                      c->nodes[product].in)});
}

static void declare_kept(Rewriting *rewrite) {
    for (int i = 0; i < rewrite->count; i++) {
        const PtxRegister *reg = rewrite->kept[i].reg;
        put(rewrite->c->function,
            &(PtxStatement){.kind = PTX_STATEMENT_REGISTERS,
                            .text = arena_print(&rewrite->c->module->arena, ".reg .%s %s",
                                                ptx_type_text(reg->type), reg->name)});
    }
}

static void rewrite_statements(Contraction *c) {
    Rewriting rewrite = {.c = c};
    PtxFunction *function = c->function;
    PtxInstruction **made = memory_new((size_t)c->count * sizeof(PtxInstruction *));
    for (int i = 0; i < c->count; i++)
        if (c->nodes[i].fused != NONE) made[i] = make_fma(&rewrite, i);
    const PtxStatement *old = function->statements;
    int old_count = function->statement_count, node = 0;
    function->statements =
        arena_new(&c->module->arena, (size_t)(old_count + 2 * rewrite.count) * sizeof *function->statements);
    function->statement_count = 0;
    declare_kept(&rewrite);
    for (int i = 0; i < old_count; i++) {
        PtxStatement statement = old[i];
        if (statement.kind == PTX_STATEMENT_INSTRUCTION) {
            put_kept(&rewrite, node);
            if (made[node])
                statement.instruction = made[node];
            else if (is_product(statement.instruction) || is_sum(statement.instruction))
                statement.instruction->is_kept_apart = true;
            if (c->nodes[node++].is_removed) continue;
        }
        if (statement.kind == PTX_STATEMENT_LABEL || statement.kind == PTX_STATEMENT_TARGETS ||
            statement.kind == PTX_STATEMENT_PROTOTYPE)
            statement.label->statement = function->statement_count;
        put(function, &statement);
    }
    free(rewrite.kept);
    free(made);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static bool is_left_alone(const PtxModule *module) {
    for (int i = 0; i < module->item_count; i++)
        if (ptx_item_is_directive(&module->items[i], ".target") && strstr(module->items[i].text, "debug"))
            return true;
    return module->keeps_products;
}

/* Few blocks have both a product and a sum. */
static bool has_both(const Contraction *c, int begin, int end) {
    bool has_product = false;
    for (int i = begin; i < end; i++) {
        if (has_product && is_sum(c->nodes[i].in)) return true;
        has_product |= is_product(c->nodes[i].in);
    }
    return false;
}

static bool may_fuse(const Contraction *c) {
    for (int begin = 0, end; begin < c->count; begin = end) {
        end = block_end(c, begin);
        if (has_both(c, begin, end)) return true;
    }
    return false;
}

static void contract(Contraction *c) {
    size_t registers = (size_t)c->function->register_count;
    c->words = c->function->register_count / 64 + 1;
    c->value = memory_new((registers + 1) * sizeof *c->value);
    c->live = memory_new((size_t)c->words * sizeof *c->live);
    c->live_in = memory_new((size_t)c->words * (size_t)c->block_count * sizeof *c->live_in);
    for (size_t i = 0; i < registers; i++) c->value[i] = NONE;
    find_live(c);
    for (int begin = 0, end; begin < c->count; begin = end) {
        end = block_end(c, begin);
        if (!has_both(c, begin, end)) continue;
        read_block(c, begin, end);
        fuse_block(c, begin, end);
    }
    if (c->any) rewrite_statements(c);
    free(c->value);
    free(c->live);
    free(c->live_in);
}

void ptx_contract(PtxModule *module, PtxFunction *function) {
    if (function->is_contracted || !function->is_parsed || is_left_alone(module)) return;
    function->is_contracted = true;
    Contraction c = {.module = module, .function = function};
    c.nodes = memory_new(((size_t)function->statement_count + 1) * sizeof *c.nodes);
    find_nodes(&c);
    if (may_fuse(&c)) contract(&c);
    free(c.nodes);
}
