/* The comparisons in an entry, of loaded values and numbers. */
#include "guess/uses.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_of(const PtxInstruction *instruction, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(instruction->name, *names)) return true;
    return false;
}

static bool is_data(const PtxOperand *operand, const bool *data) {
    bool found = operand->reg && operand->kind == PTX_OPERAND_REGISTER && data[operand->reg->index];
    for (int i = 0; i < operand->item_count; i++) found |= is_data(&operand->items[i], data);
    return found;
}

static bool mark(const PtxOperand *operand, bool *data) {
    bool changed = false;
    if (operand->reg && operand->kind == PTX_OPERAND_REGISTER && !data[operand->reg->index])
        data[operand->reg->index] = changed = true;
    for (int i = 0; i < operand->item_count; i++) changed |= mark(&operand->items[i], data);
    return changed;
}

/* One pass over the entry; false: no more registers hold elements than before it. */
static bool follow(const PtxFunction *entry, bool *data) {
    static const char *const sources[] = {"ld", "ldu", "shfl", "atom", NULL}, *const moves[] = {
                                                                                  "mov", "selp", "cvt", "add",
                                                                                  "sub", "abs",  "neg", "mul",
                                                                                  "fma", "mad",  NULL};
    bool changed = false;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || instruction->operand_count < 2)
            continue;
        bool loads = is_one_of(instruction, sources) && instruction->space != PTX_SPACE_PARAM,
             hands_on = false;
        if (is_one_of(instruction, moves))
            for (int k = 1; k < instruction->operand_count; k++)
                hands_on |= is_data(&instruction->operands[k], data);
        if (loads || hands_on) changed |= mark(&instruction->operands[0], data);
    }
    return changed;
}

/* min, max, in registers or in memory; a predicate of two elements. */
static bool compares(const PtxInstruction *instruction, const bool *data) {
    static const char *const extremes[] = {"min", "max", NULL}, *const updates[] = {"atom", "red", "redux",
                                                                                    NULL};
    if (is_one_of(instruction, extremes)) {
        bool all = instruction->operand_count > 2;
        for (int k = 1; k < instruction->operand_count; k++) all &= is_data(&instruction->operands[k], data);
        return all;
    }
    if (is_one_of(instruction, updates))
        return ptx_instruction_has(instruction, PTX_MOD_MIN) ||
               ptx_instruction_has(instruction, PTX_MOD_MAX) || ptx_instruction_has(instruction, PTX_MOD_CAS);
    return !strcmp(instruction->name, "setp") && instruction->operand_count > 2 &&
           is_data(&instruction->operands[1], data) && is_data(&instruction->operands[2], data);
}

bool uses_compares(const PtxFunction *entry) {
    bool *data = memory_new((size_t)entry->register_count + 1), found = false;
    while (follow(entry, data)) {
    }
    for (int i = 0; i < entry->statement_count && !found; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
            found = compares(instruction, data) || !strcmp(instruction->name, "call");
    }
    free(data);
    return found;
}

static void add_bound(uint64_t *numbers, int *count, int most, uint64_t number) {
    for (int i = 0; i < *count; i++)
        if (numbers[i] == number) return;
    if (*count < most) numbers[(*count)++] = number;
}

int uses_bounds(const PtxFunction *entry, uint64_t *numbers, int most) {
    enum { LEAST = 16 };
    int count = 0;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || strcmp(instruction->name, "setp") != 0)
            continue;
        for (int k = 1; k < instruction->operand_count; k++) {
            const PtxOperand *operand = &instruction->operands[k];
            if (operand->kind != PTX_OPERAND_INTEGER || operand->integer < LEAST) continue;
            add_bound(numbers, &count, most, (uint64_t)operand->integer + 1);
            add_bound(numbers, &count, most, (uint64_t)operand->integer);
        }
    }
    return count;
}
