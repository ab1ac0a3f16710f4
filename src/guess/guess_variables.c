/* Variables of the module that a kernel stores to, as buffers of a result. */
#include "guess/guess_state.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 }; /* of a variable that is compared */

/* ---- the type of the elements -------------------------------------------------------------------------- */

static bool names(const PtxOperand *operand, const PtxVariable *variable, const bool *holds) {
    if (operand->variable == variable) return true;
    return operand->reg && holds[operand->reg->index];
}

/* What moves an address on: conversions and sums. */
static bool hands_on(const PtxInstruction *instruction) {
    static const char *const all[] = {"mov", "cvta", "add", "mad", "cvt"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(instruction->name, all[i])) return true;
    return false;
}

/* Marks the registers that hold an address within the variable. */
static void follow(const PtxFunction *entry, const PtxVariable *variable, bool *holds) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < entry->statement_count; i++) {
            const PtxInstruction *instruction = entry->statements[i].instruction;
            if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !hands_on(instruction)) continue;
            const PtxOperand *to = &instruction->operands[0];
            if (to->kind != PTX_OPERAND_REGISTER || !to->reg || holds[to->reg->index]) continue;
            for (int k = 1; k < instruction->operand_count; k++)
                if (names(&instruction->operands[k], variable, holds)) holds[to->reg->index] = changed = true;
        }
    }
}

/* Of what is stored to the variable, or added to it; NO_TYPE: nothing is. */
static PtxType stored_type(const PtxFunction *entry, const PtxVariable *variable) {
    bool *holds = memory_new((size_t)entry->register_count + 1);
    PtxType type = PTX_NO_TYPE;
    follow(entry, variable, holds);
    for (int i = 0; i < entry->statement_count && type == PTX_NO_TYPE; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !instruction->type_count) continue;
        int at = !strcmp(instruction->name, "atom")                                      ? 1
                 : !strcmp(instruction->name, "st") || !strcmp(instruction->name, "red") ? 0
                                                                                         : -1;
        if (at < 0 || at >= instruction->operand_count) continue;
        if (names(&instruction->operands[at], variable, holds))
            type = instruction->types[instruction->type_count - 1];
    }
    free(holds);
    return type;
}

/* As a buffer of the plan has it; NO_TYPE: no launch stores to it. */
static PtxType written_type(const Guess *guess, const PtxVariable *variable) {
    PtxType type = PTX_NO_TYPE;
    int i = 0;
    while (i < guess->launch_count && type == PTX_NO_TYPE) type = stored_type(guess->entries[i++], variable);
    if (type == PTX_NO_TYPE || ptx_type_is_float(variable->type))
        return type == PTX_NO_TYPE ? type : variable->type;
    return type == PTX_U64
               ? PTX_S64
               : guess_element_type(guess->entries[i - 1], type); /* long long is stored so, too */
}

/* ---- buffers ------------------------------------------------------------------------------------------- */

/* The emulator's bytes of a variable that was launched; NULL: it has none. */
static void *bytes_of(const GuessRun *run, const PtxVariable *variable) {
    for (int i = run->done->buffer_count; i < run->trace->buffer_count; i++)
        if (!strcmp(run->trace->buffers[i].name, variable->name) &&
            run->trace->buffers[i].bytes == variable->bytes)
            return run->bytes[i];
    return NULL;
}

static void copy_plan(const Plan *plan, int more, Plan *copy) {
    *copy = *plan;
    copy->buffer_capacity = plan->buffer_count + more;
    copy->buffers = memory_new(((size_t)copy->buffer_capacity + 1) * sizeof *copy->buffers);
    if (plan->buffer_count)
        memcpy(copy->buffers, plan->buffers, (size_t)plan->buffer_count * sizeof *plan->buffers);
}

GuessVariables guess_variables(const Guess *guess, const GuessRun *run) {
    const PtxModule *module = guess->request.module;
    GuessVariables result = {0};
    copy_plan(run->filled, module->variable_count, &result.filled);
    copy_plan(run->done, module->variable_count, &result.done);
    if (!run->bytes) return result;
    result.zeros = memory_new(MOST_BYTES);
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *variable = module->variables[i];
        if (variable->space != PTX_SPACE_GLOBAL || !variable->bytes || variable->bytes > MOST_BYTES) continue;
        PtxType type = written_type(guess, variable);
        void *bytes = bytes_of(run, variable);
        if (type == PTX_NO_TYPE || !bytes) continue;
        PlanBuffer buffer = {.name = variable->name,
                             .type = type,
                             .count = variable->bytes / (uint64_t)ptx_type_bytes(type),
                             .fill = FILL_ZERO,
                             .bytes = bytes};
        result.done.buffers[result.done.buffer_count++] = buffer;
        buffer.bytes = variable->initial ? (void *)variable->initial : result.zeros;
        result.filled.buffers[result.filled.buffer_count++] = buffer;
    }
    return result;
}

void guess_variables_done(GuessVariables *variables) {
    free(variables->filled.buffers);
    free(variables->done.buffers);
    free(variables->zeros);
}
