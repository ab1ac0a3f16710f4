/* Structures of --args matched with the members that the kernel reads: PTX has a parameter's size only, but
 * its loads say where members begin, how many bytes they have, and what they are used for. */
#include "plan/arguments.h"

typedef enum MemberUse { USE_UNKNOWN, USE_POINTER, USE_FLOAT, USE_INTEGER } MemberUse;

static bool reads(const PtxInstruction *instruction, const PtxRegister *reg) {
    for (int i = 1; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == PTX_OPERAND_REGISTER && instruction->operands[i].reg == reg)
            return true;
    return false;
}

/* The type by which the first instruction uses the register. */
static MemberUse use_of(const PtxFunction *entry, const PtxRegister *reg) {
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !instruction->operand_count) continue;
        if (!strcmp(instruction->name, "cvta") && reads(instruction, reg)) return USE_POINTER;
        bool is_plain = !strcmp(instruction->name, "add") || !strcmp(instruction->name, "mul") ||
                        !strcmp(instruction->name, "setp") || !strcmp(instruction->name, "fma") ||
                        !strcmp(instruction->name, "mad") || !strcmp(instruction->name, "sub");
        if (!is_plain || !instruction->type_count || !reads(instruction, reg)) continue;
        PtxType type = instruction->types[0];
        return ptx_type_is_float(type) ? USE_FLOAT : ptx_type_bytes(type) <= 4 ? USE_INTEGER : USE_UNKNOWN;
    }
    return USE_UNKNOWN;
}

static MemberUse use_of_load(const PtxFunction *entry, const PtxInstruction *load, PtxType type) {
    const PtxOperand *to = &load->operands[0];
    if (ptx_type_is_float(type)) return USE_FLOAT;
    return to->kind == PTX_OPERAND_REGISTER && to->reg ? use_of(entry, to->reg) : USE_UNKNOWN;
}

static const char *name_of(MemberUse use) {
    return use == USE_POINTER ? "a pointer" : use == USE_FLOAT ? "a float" : "a whole number";
}

static bool check_load(ArgumentReader *reader, Span span, const Item *item, const PtxInstruction *load) {
    int at = (int)load->operands[1].integer, number = reader->launch->argument_count + 1;
    PtxType type = load->types[load->type_count - 1];
    int bytes = ptx_type_bytes(type);
    const ItemMember *member = NULL;
    for (int i = 0; i < item->member_count; i++)
        if (item->members[i].at == at) member = &item->members[i];
    if (!member)
        return argument_fail(
            reader, span,
            "the kernel reads %d byte%s at %d of parameter %d, where the structure has no member "
            "(members at %.200s)",
            bytes, bytes == 1 ? "" : "s", at, number, item->places);
    MemberUse use = use_of_load(reader->entry, load, type), given = member->is_pointer ? USE_POINTER
                                                                    : member->is_float ? USE_FLOAT
                                                                                       : USE_INTEGER;
    bool is_zero_or_address = use == USE_POINTER && member->bytes == 8 && !member->is_float;
    bool is_other = use != USE_UNKNOWN && use != given && !is_zero_or_address;
    if (is_other || (given == USE_POINTER && bytes < 8))
        return argument_fail(reader, span,
                             "the kernel reads %s at %d of parameter %d, where the structure has %s",
                             name_of(use == USE_UNKNOWN ? USE_INTEGER : use), at, number, name_of(given));
    return true;
}

bool argument_check_members(ArgumentReader *reader, Span span, const PtxVariable *parameter,
                            const Item *item) {
    for (int i = 0; i < reader->entry->statement_count; i++) {
        const PtxInstruction *load = reader->entry->statements[i].instruction;
        if (reader->entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || strcmp(load->name, "ld") != 0 ||
            load->operand_count < 2 || !load->type_count || load->space != PTX_SPACE_PARAM ||
            load->vector > 1)
            continue;
        const PtxOperand *from = &load->operands[1];
        if (from->variable == parameter && !from->reg && !check_load(reader, span, item, load)) return false;
    }
    return true;
}
