#include "tui/view/registers.h"

#include <stdio.h>

static void add_register(Registers *registers, const PtxRegister *reg) {
    for (int i = 0; i < registers->count; i++)
        if (registers->items[i] == reg) return;
    if (registers->count < MOST_REGISTERS) registers->items[registers->count++] = reg;
}

static void add_operand(Registers *registers, const PtxOperand *operand) {
    if (operand->reg) add_register(registers, operand->reg);
    for (int i = 0; i < operand->item_count; i++) add_operand(registers, &operand->items[i]);
}

void registers_of(const PtxInstruction *instruction, Registers *out) {
    out->count = 0;
    if (!instruction) return;
    for (int i = 0; i < instruction->operand_count; i++) add_operand(out, &instruction->operands[i]);
    add_operand(out, &instruction->guard);
}

bool register_values(const StepContext *context, const PtxRegister *reg, RegisterValues *out) {
    const Scene *scene = context->scene;
    if (context->trap) return false; /* the instruction was never executed */
    return scene->questions.registers && scene_can_replay(scene, context->view->place.block) &&
           scene->questions.registers(scene->questions.context, context->view->place.block,
                                      context->event_number, context->event.warp, reg->name, out->bits,
                                      out->weight, out->producer);
}

/* Registers may be declared as bits: the instruction determines their type. */
static PtxType type_of(const StepContext *context, const PtxRegister *reg) {
    const PtxInstruction *instruction = context->code ? context->code->instruction : NULL;
    if (ptx_type_is_float(reg->type) || ptx_type_is_signed(reg->type) || !instruction) return reg->type;
    for (int i = 0; i < instruction->type_count; i++)
        if (ptx_type_bytes(instruction->types[i]) == ptx_type_bytes(reg->type)) return instruction->types[i];
    return reg->type;
}

void register_print(const StepContext *context, const PtxRegister *reg, uint64_t bits, char *out,
                    size_t bytes) {
    if (reg->type == PTX_PRED)
        snprintf(out, bytes, "%d", (int)(bits & 1));
    else
        step_context_print_typed(context, type_of(context, reg), bits, out, bytes);
}

const PtxRegister *register_chosen(const StepContext *context) {
    Registers registers;
    bool has_values = context->event.has_result && context->event.kind != TRACE_BRANCH;
    int choice = context->view->selection.reg;
    if (!choice && has_values) return NULL;
    registers_of(context->code ? context->code->instruction : NULL, &registers);
    if (!registers.count) return NULL;
    int among = registers.count + has_values; /* the event's own values are one of the choices */
    choice %= among;
    return has_values ? choice ? registers.items[choice - 1] : NULL : registers.items[choice];
}
