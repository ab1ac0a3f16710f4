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

static bool holds(const PtxOperand *operand, const PtxRegister *reg) {
    if (operand->reg == reg) return true;
    for (int i = 0; i < operand->item_count; i++)
        if (holds(&operand->items[i], reg)) return true;
    return false;
}

/* A whole number as wide as the register, which is shown with its sign. */
static PtxType whole_type(const PtxRegister *reg) {
    static const PtxType types[] = {[1] = PTX_S8, [2] = PTX_S16, [4] = PTX_S32, [8] = PTX_S64};
    int bytes = ptx_type_bytes(reg->type);
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? types[bytes] : reg->type;
}

/* The type that an instruction gives the register, a float or a whole number (an address is one); PTX_NO_TYPE:
 * only bits, or it does not name it. cvt and the like have a type for the destination, then one for the
 * source. */
static PtxType type_in(const PtxInstruction *instruction, const PtxRegister *reg) {
    for (int i = 0; i < instruction->operand_count; i++) {
        const PtxOperand *operand = &instruction->operands[i];
        if (!holds(operand, reg)) continue;
        if (operand->kind == PTX_OPERAND_MEMORY) return whole_type(reg);
        int index = i && instruction->type_count > 1 ? 1 : 0;
        PtxType type = index < instruction->type_count ? instruction->types[index] : PTX_NO_TYPE;
        if (type == PTX_NO_TYPE || ptx_type_bytes(type) != ptx_type_bytes(reg->type)) continue;
        if (ptx_type_is_float(type)) return type;
        if (*ptx_type_text(type) != 'b') return whole_type(reg);
    }
    return PTX_NO_TYPE;
}

PtxType register_type(const StepContext *context, const PtxRegister *reg) {
    if (reg->type == PTX_PRED || ptx_type_is_float(reg->type)) return reg->type;
    const PtxProgram *program = context->launch->program;
    PtxType found = PTX_NO_TYPE;
    for (int pc = 0; pc < program->code_count && !ptx_type_is_float(found); pc++) {
        PtxType type = type_in(program->code[pc].instruction, reg);
        if (found == PTX_NO_TYPE || ptx_type_is_float(type)) found = type;
    }
    return found == PTX_NO_TYPE ? reg->type : found;
}

void register_print(const StepContext *context, PtxType type, uint64_t bits, char *out, size_t bytes) {
    if (type == PTX_PRED)
        snprintf(out, bytes, "%d", (int)(bits & 1));
    else
        step_context_print_typed(context, type, bits, out, bytes);
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
