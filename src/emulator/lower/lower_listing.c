/* Listing: prints a lowered program as text (--dump-ops), to debug the front end. */
#include "emulator/lower/lowered.h"

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
