/* The shape of an entry: dimensions of threads and blocks, and the elements of a block. */
#include "guess/uses.h"

#include "ptx/program.h"

#include <string.h>

static bool is(const PtxInstruction *instruction, const char *name) {
    return !strcmp(instruction->name, name);
}

/* ---- dimensions --------------------------------------------------------------------------------------------- */

static bool hands_on(const PtxInstruction *instruction) {
    static const char *const names[] = {"mov", "cvt", "add", "sub", "mul", "mad", "shl", "neg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(instruction, names[i])) return true;
    return false;
}

/* x + extent.x * y + extent.x * extent.y * z counts in one dimension, whatever y and z are. */
static bool is_linear_rank(const Linear *value, int index, int extent) {
    int64_t x = linear_coefficient(value, index, 0);
    for (int axis = 1; axis < 3; axis++)
        if (linear_has(value, index + axis)) {
            LinearTerm wanted = {x, {(uint8_t)extent, (uint8_t)(index + axis)}};
            if (axis == 2)
                memcpy(wanted.factors,
                       (uint8_t[4]){(uint8_t)(extent + 1), (uint8_t)extent, (uint8_t)(index + 2), 0}, 4);
            bool found = false;
            for (int i = 0; i < value->count; i++) {
                uint8_t sorted[LINEAR_FACTORS] = {0};
                memcpy(sorted, wanted.factors, sizeof sorted);
                for (int a = 0; a < LINEAR_FACTORS; a++)
                    for (int b = a + 1; b < LINEAR_FACTORS; b++)
                        if (sorted[b] > sorted[a]) {
                            uint8_t swap = sorted[a];
                            sorted[a] = sorted[b];
                            sorted[b] = swap;
                        }
                int64_t c = value->terms[i].coefficient;
                found |= !memcmp(sorted, value->terms[i].factors, sizeof sorted) && (x ? c == x : c > 0);
            }
            if (!found) return false;
        }
    return true;
}

/* x + y + z == 0: is it the first of all? */
static bool is_first_test(const LinearValues *values, const PtxInstruction *instruction) {
    if (!is(instruction, "setp") || instruction->operand_count < 3) return false;
    if (!ptx_instruction_has(instruction, PTX_MOD_EQ) && !ptx_instruction_has(instruction, PTX_MOD_NE))
        return false;
    Linear a = linear_operand(values, &instruction->operands[1]),
           b = linear_operand(values, &instruction->operands[2]);
    Linear difference = linear_add(&a, &b, -1);
    for (int i = 0; i < difference.count; i++)
        if (!difference.terms[i].factors[0] || difference.terms[i].factors[1]) return false;
    return difference.is_known && difference.count > 0;
}

/* The dimensions that an operand counts in, [0] of threads, [1] of blocks: `most` grows to them. */
static void note_dimensions(const LinearValues *values, const PtxInstruction *instruction,
                            const PtxOperand *operand, int most[2]) {
    Linear value = {0};
    if (operand->kind != PTX_OPERAND_MEMORY || operand->reg) value = linear_operand(values, operand);
    for (int index = LINEAR_TID; value.is_known && index <= LINEAR_CTAID; index += LINEAR_CTAID - LINEAR_TID)
        for (int axis = 1; axis < 3; axis++) {
            bool counts = linear_has(&value, index + axis) &&
                          !is_linear_rank(&value, index, index + LINEAR_NTID - LINEAR_TID) &&
                          !is_first_test(values, instruction);
            int *of = &most[index == LINEAR_CTAID];
            if (counts && axis + 1 > *of) *of = axis + 1;
        }
    for (int i = 0; i < operand->item_count; i++)
        note_dimensions(values, instruction, &operand->items[i], most);
}

UseShape uses_shape(const PtxFunction *entry) {
    LinearValues values = linear_values(entry);
    int most[2] = {1, 1};
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        if (is(instruction, "or")) continue; /* x | y | z: is it the first of all? */
        const PtxOperand *to = instruction->operands;
        bool goes_on = instruction->operand_count && hands_on(instruction) && to->reg &&
                       to->kind == PTX_OPERAND_REGISTER && values.of[to->reg->index].is_known;
        for (int k = 0; !goes_on && k < instruction->operand_count; k++)
            note_dimensions(&values, instruction, &instruction->operands[k], most);
    }
    linear_done(&values);
    return (UseShape){most[0], most[1]};
}

int uses_dimensions(const PtxFunction *entry) {
    UseShape shape = uses_shape(entry);
    return shape.of_grid > shape.of_block ? shape.of_grid : shape.of_block;
}

/* ---- elements of a block -------------------------------------------------------------------------------------- */

/* The distance between the elements that two neighbouring blocks begin with, of a load: in elements, and in blocks of
 * threads. 0, 0: it is not known. */
static void add_reach(const LinearValues *values, const PtxInstruction *instruction, UseReach *reach) {
    Linear place = linear_operand(values, &instruction->operands[1]);
    int bytes = instruction->type_count ? ptx_type_bytes(instruction->types[instruction->type_count - 1]) : 0;
    if (!place.is_known || !bytes) return;
    bool has_parameter = false;
    for (int i = 0; i < place.count; i++)
        has_parameter |= place.terms[i].factors[0] >= LINEAR_PARAMETER && !place.terms[i].factors[1] &&
                         place.terms[i].coefficient == 1;
    int64_t elements = linear_coefficient(&place, LINEAR_CTAID, 0) / bytes,
            blocks = linear_coefficient(&place, LINEAR_CTAID, LINEAR_NTID) / bytes;
    if (!has_parameter || (elements <= 0 && blocks <= 0)) return;
    reach->is_known = true;
    reach->goes_on |= linear_has(&place, LINEAR_NCTAID);
    if (elements > 0 && (uint64_t)elements > reach->elements) reach->elements = (uint64_t)elements;
    if (blocks > 0 && (uint64_t)blocks > reach->blocks) reach->blocks = (uint64_t)blocks;
}

UseReach uses_reach(const PtxFunction *entry) {
    LinearValues values = linear_first_values(entry);
    UseReach reach = {0};
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        bool loads = !strncmp(instruction->name, "ld", 2) && instruction->operand_count > 1 &&
                     (instruction->space == PTX_SPACE_GLOBAL || instruction->space == PTX_SPACE_GENERIC);
        if (loads) add_reach(&values, instruction, &reach);
    }
    linear_done(&values);
    return reach;
}

uint64_t uses_block_reach(const PtxFunction *entry, uint64_t threads) {
    UseReach reach = uses_reach(entry);
    uint64_t by_threads = reach.blocks * threads,
             most = reach.elements > by_threads ? reach.elements : by_threads;
    return most > threads ? most : threads;
}

/* ---- what it leaves behind -------------------------------------------------------------------------------- */

bool uses_cut_off(const PtxFunction *entry) {
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind == PTX_STATEMENT_INSTRUCTION && is(instruction, "cvt") &&
            instruction->type_count > 1 && ptx_type_is_float(instruction->types[1]) &&
            !ptx_type_is_float(instruction->types[0]))
            return true;
    }
    return false;
}

static bool calls_known(const PtxInstruction *instruction) {
    for (int i = 0; i < instruction->operand_count; i++) {
        const PtxFunction *called = instruction->operands[i].function;
        if (called && ptx_external_find(called->name) != PTX_EXTERNAL_NONE) return true;
    }
    return false;
}

bool uses_store(const PtxFunction *entry) {
    static const char *const names[] = {"st", "atom", "red", "cp", "wmma", "multimem"};
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        if (is(instruction, "call") && !calls_known(instruction)) return true; /* it may */
        bool is_global = instruction->space == PTX_SPACE_GLOBAL || instruction->space == PTX_SPACE_GENERIC;
        for (size_t k = 0; is_global && k < sizeof names / sizeof *names; k++)
            if (is(instruction, names[k])) return true;
    }
    return false;
}
