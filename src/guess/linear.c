#include "guess/linear.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const Linear unknown = {0};

static Linear constant(int64_t value) {
    Linear result = {.is_known = true, .count = value != 0};
    result.terms[0].coefficient = value;
    return result;
}

static Linear symbol(int number) {
    Linear result = constant(1);
    result.terms[0].factors[0] = (uint8_t)number;
    return result;
}

static bool add_term(Linear *sum, LinearTerm term) {
    for (int i = 0; i < sum->count; i++) {
        if (memcmp(sum->terms[i].factors, term.factors, sizeof term.factors) != 0) continue;
        sum->terms[i].coefficient += term.coefficient;
        if (!sum->terms[i].coefficient) sum->terms[i] = sum->terms[--sum->count];
        return true;
    }
    if (sum->count == LINEAR_TERMS) return false;
    if (term.coefficient) sum->terms[sum->count++] = term;
    return true;
}

Linear linear_add(const Linear *a, const Linear *b, int64_t factor) {
    Linear result = *a;
    if (!a->is_known || !b->is_known) return unknown;
    for (int i = 0; i < b->count; i++) {
        LinearTerm term = b->terms[i];
        if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient) || !add_term(&result, term))
            return unknown;
    }
    return result;
}

static bool multiply_terms(const LinearTerm *a, const LinearTerm *b, LinearTerm *out) {
    int count = 0, i = 0, k = 0;
    *out = (LinearTerm){0};
    if (__builtin_mul_overflow(a->coefficient, b->coefficient, &out->coefficient)) return false;
    for (;;) {
        uint8_t x = i < LINEAR_FACTORS ? a->factors[i] : 0, y = k < LINEAR_FACTORS ? b->factors[k] : 0;
        if (!x && !y) return true;
        if (count == LINEAR_FACTORS) return false;
        out->factors[count++] = x > y ? x : y;
        if (x > y)
            i++;
        else
            k++;
    }
}

static Linear multiply(const Linear *a, const Linear *b) {
    Linear result = constant(0);
    if (!a->is_known || !b->is_known) return unknown;
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++) {
            LinearTerm term;
            if (!multiply_terms(&a->terms[i], &b->terms[k], &term) || !add_term(&result, term))
                return unknown;
        }
    return result;
}

bool linear_has(const Linear *linear, int number) {
    for (int i = 0; i < linear->count; i++)
        for (int k = 0; k < LINEAR_FACTORS; k++)
            if (linear->terms[i].factors[k] == number) return true;
    return false;
}

int64_t linear_coefficient(const Linear *linear, int number, int by) {
    uint8_t factors[LINEAR_FACTORS] = {(uint8_t)(number > by ? number : by),
                                       (uint8_t)(number > by ? by : number)};
    for (int i = 0; i < linear->count; i++)
        if (!memcmp(linear->terms[i].factors, factors, sizeof factors)) return linear->terms[i].coefficient;
    return 0;
}

/* ---- operands and instructions ---------------------------------------------------------------------------- */

static Linear special(const char *name) {
    static const struct {
        const char *name;
        int first;
    } specials[] = {{"%tid.", LINEAR_TID},
                    {"%ntid.", LINEAR_NTID},
                    {"%ctaid.", LINEAR_CTAID},
                    {"%nctaid.", LINEAR_NCTAID}};
    for (size_t i = 0; name && i < sizeof specials / sizeof *specials; i++) {
        size_t length = strlen(specials[i].name);
        if (strncmp(name, specials[i].name, length) != 0) continue;
        int axis = name[length] - 'x';
        return axis >= 0 && axis < 3 ? symbol(specials[i].first + axis) : unknown;
    }
    return unknown;
}

static Linear parameter(const PtxFunction *entry, const PtxOperand *operand) {
    for (int i = 0; i < entry->parameter_count && i < 64; i++)
        if (entry->parameters[i] == operand->variable && !operand->integer)
            return symbol(LINEAR_PARAMETER + i);
    return unknown;
}

Linear linear_operand(const LinearValues *values, const PtxOperand *operand) {
    Linear result;
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return operand->component < 0 ? values->of[operand->reg->index] : unknown;
    case PTX_OPERAND_INTEGER:
        return constant(operand->integer);
    case PTX_OPERAND_SPECIAL:
        return special(operand->name);
    case PTX_OPERAND_MEMORY:
        if (!operand->reg) return unknown;
        result = constant(operand->integer);
        return linear_add(&values->of[operand->reg->index], &result, 1);
    default:
        return unknown;
    }
}

static Linear result_of(const LinearValues *values, const PtxInstruction *instruction) {
    const PtxOperand *operands = instruction->operands;
    const char *name = instruction->name;
    Linear a, b, c;
    if (!strcmp(name, "ld"))
        return instruction->space == PTX_SPACE_PARAM ? parameter(values->entry, &operands[1]) : unknown;
    for (int i = 0; i < instruction->type_count; i++)
        if (ptx_type_is_float(instruction->types[i])) return unknown;
    a = linear_operand(values, &operands[1]);
    if (!strcmp(name, "mov") || !strcmp(name, "cvt") || !strcmp(name, "cvta")) return a;
    if (!strcmp(name, "neg")) {
        b = constant(0);
        return linear_add(&b, &a, -1);
    }
    if (instruction->operand_count < 3) return unknown;
    b = linear_operand(values, &operands[2]);
    if (!strcmp(name, "add")) return linear_add(&a, &b, 1);
    if (!strcmp(name, "sub")) return linear_add(&a, &b, -1);
    bool is_high = ptx_instruction_has(instruction, PTX_MOD_HI);
    if (!strcmp(name, "mul") && !is_high) return multiply(&a, &b);
    if (!strcmp(name, "shl") && b.is_known && b.count == 1 && !b.terms[0].factors[0] &&
        b.terms[0].coefficient > 0 && b.terms[0].coefficient < 40) {
        b = constant(INT64_C(1) << b.terms[0].coefficient);
        return multiply(&a, &b);
    }
    if (strcmp(name, "mad") != 0 || is_high || instruction->operand_count < 4) return unknown;
    c = linear_operand(values, &operands[3]);
    a = multiply(&a, &b);
    return linear_add(&a, &c, 1);
}

static void count_writes(const PtxFunction *entry, int *writes) {
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !instruction->operand_count) continue;
        const PtxOperand *to = &instruction->operands[0];
        if (to->reg && to->kind == PTX_OPERAND_REGISTER) writes[to->reg->index]++;
        for (int k = 0; k < to->item_count; k++)
            if (to->items[k].reg) writes[to->items[k].reg->index]++;
    }
}

/* r = r + x, or, by way of another register, t = r + x; r = t. */
static bool only_adds(const PtxFunction *entry, const PtxInstruction *instruction, const PtxRegister *reg) {
    if (!strcmp(instruction->name, "add"))
        for (int k = 1; k < instruction->operand_count; k++)
            if (instruction->operands[k].kind == PTX_OPERAND_REGISTER && instruction->operands[k].reg == reg)
                return true;
    if (strcmp(instruction->name, "mov") != 0 || instruction->operands[1].kind != PTX_OPERAND_REGISTER)
        return false;
    const PtxRegister *from = instruction->operands[1].reg;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *writer = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || strcmp(writer->name, "add") != 0)
            continue;
        if (writer->operands[0].reg != from) continue;
        for (int k = 1; k < writer->operand_count; k++)
            if (writer->operands[k].kind == PTX_OPERAND_REGISTER && writer->operands[k].reg == reg)
                return true;
    }
    return false;
}

static LinearValues find_values(const PtxFunction *entry, bool first_round) {
    enum { PASSES = 4 }; /* definitions stand before their uses, but for blocks in another order */
    size_t count = (size_t)entry->register_count + 1;
    LinearValues values = {entry, memory_new(count * sizeof *values.of)};
    int *writes = memory_new(count * sizeof *writes);
    count_writes(entry, writes);
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < entry->statement_count; i++) {
            const PtxInstruction *instruction = entry->statements[i].instruction;
            if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || instruction->operand_count < 2)
                continue;
            const PtxOperand *to = &instruction->operands[0];
            if (to->kind != PTX_OPERAND_REGISTER || !to->reg || instruction->guard.kind != PTX_OPERAND_NONE ||
                values.of[to->reg->index].is_known)
                continue;
            int times = writes[to->reg->index];
            bool is_start = first_round && times == 2 && !only_adds(entry, instruction, to->reg);
            if (times == 1 || is_start) values.of[to->reg->index] = result_of(&values, instruction);
        }
    free(writes);
    return values;
}

LinearValues linear_values(const PtxFunction *entry) {
    return find_values(entry, false);
}

LinearValues linear_first_values(const PtxFunction *entry) {
    return find_values(entry, true);
}

void linear_done(LinearValues *values) {
    free(values->of);
    values->of = NULL;
}
