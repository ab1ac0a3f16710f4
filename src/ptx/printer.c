/* Printer: the IR as PTX text that parses to the same IR. */
#include "ptx/parser.h"

/* ---- operands ---------------------------------------------------------------------------------------- */

static void print_operand(const PtxOperand *operand, Text *out);

static void print_items(const PtxOperand *operand, const char *open, const char *between, const char *close,
                        Text *out) {
    text_add(out, open);
    for (int i = 0; i < operand->item_count; i++) {
        if (i) text_add(out, between);
        print_operand(&operand->items[i], out);
    }
    text_add(out, close);
}

static void print_offset(int64_t offset, Text *out) {
    if (offset > 0) text_print(out, "+%lld", (long long)offset);
    if (offset < 0) text_print(out, "+-%llu", 0 - (unsigned long long)offset);
}

static void print_memory(const PtxOperand *operand, Text *out) {
    text_add(out, "[");
    if (operand->reg)
        text_add(out, operand->reg->name);
    else if (operand->variable)
        text_add(out, operand->variable->name);
    if (operand->reg || operand->variable)
        print_offset(operand->integer, out);
    else
        text_print(out, "%lld", (long long)operand->integer);
    text_add(out, "]");
}

static void print_float(const PtxOperand *operand, Text *out) {
    uint64_t bits = operand->float_bits;
    if (!operand->float_bytes) memcpy(&bits, &operand->number, sizeof bits);
    if (operand->float_bytes == 4)
        text_print(out, "0f%08X", (unsigned)bits);
    else
        text_print(out, "0d%016llX", (unsigned long long)bits);
}

static void print_operand(const PtxOperand *operand, Text *out) {
    static const char components[] = "xyzw";
    bool is_predicate = operand->kind == PTX_OPERAND_REGISTER && operand->reg->type == PTX_PRED;
    if (operand->negated) text_add(out, is_predicate ? "!" : "-");
    switch (operand->kind) {
    case PTX_OPERAND_NONE:
        break;
    case PTX_OPERAND_REGISTER:
        text_add(out, operand->reg->name);
        if (operand->component >= 0) text_print(out, ".%c", components[operand->component]);
        break;
    case PTX_OPERAND_INTEGER:
        if (operand->name)
            text_add(out, operand->name);
        else
            text_print(out, "%lld", (long long)operand->integer);
        break;
    case PTX_OPERAND_FLOAT:
        if (operand->name)
            text_add(out, operand->name);
        else
            print_float(operand, out);
        break;
    case PTX_OPERAND_VARIABLE:
        text_add(out, operand->variable->name);
        print_offset(operand->integer, out);
        break;
    case PTX_OPERAND_FUNCTION:
        text_add(out, operand->function->name);
        break;
    case PTX_OPERAND_LABEL:
        text_add(out, operand->label ? operand->label->name : operand->name);
        break;
    case PTX_OPERAND_SPECIAL:
    case PTX_OPERAND_OTHER:
        text_add(out, operand->name);
        break;
    case PTX_OPERAND_MEMORY:
        print_memory(operand, out);
        break;
    case PTX_OPERAND_VECTOR:
        print_items(operand, "{", ", ", "}", out);
        break;
    case PTX_OPERAND_PAIR:
        print_items(operand, "", "|", "", out);
        break;
    case PTX_OPERAND_ARGUMENTS:
        print_items(operand, "(", ", ", ")", out);
        break;
    case PTX_OPERAND_SINK:
        text_add(out, "_");
        break;
    }
    if (operand->selector) text_print(out, ".%s", operand->selector);
}

static void print_instruction(const PtxInstruction *instruction, bool is_kept_apart, Text *out) {
    if (instruction->guard.kind != PTX_OPERAND_NONE) {
        text_add(out, "@");
        print_operand(&instruction->guard, out);
        text_add(out, " ");
    }
    text_add(out, instruction->name);
    if (is_kept_apart) text_add(out, ".rn");
    for (int i = 0; i < instruction->modifier_count; i++)
        text_print(out, ".%s", instruction->modifiers[i].text);
    for (int i = 0; i < instruction->operand_count; i++) {
        text_add(out, i ? ", " : " ");
        print_operand(&instruction->operands[i], out);
    }
    text_add(out, ";");
}

void ptx_instruction_print(const PtxInstruction *instruction, Text *out) {
    print_instruction(instruction, false, out);
}

/* "%f3" is "%redviz_minus1" where an fma negates it. */
static PtxOperand minus_of(const PtxOperand *operand, PtxRegister *minus, int number) {
    static const char *const names[] = {"%redviz_minus0", "%redviz_minus1", "%redviz_minus2",
                                        "%redviz_minus3"};
    *minus = (PtxRegister){.name = names[number], .type = operand->reg->type, .vector = 1};
    return (PtxOperand){.kind = PTX_OPERAND_REGISTER, .component = -1, .reg = minus};
}

/* PTX has no fma that negates an operand, and ptxas makes one of neg and fma. */
static void print_fused(const PtxInstruction *fused, Text *out) {
    PtxInstruction plain = *fused;
    PtxOperand operands[4];
    PtxRegister minus[4];
    const char *type = ptx_type_text(fused->types[0]);
    memcpy(operands, fused->operands, sizeof operands);
    plain.operands = operands;
    text_add(out, "\t{\n");
    for (int i = 1; i < 4; i++) {
        if (!operands[i].negated) continue;
        const char *name = operands[i].reg->name;
        operands[i] = minus_of(&operands[i], &minus[i], i);
        text_print(out, "\t.reg .b%d %s;\n", 8 * ptx_type_bytes(fused->types[0]), minus[i].name);
        text_print(out, "\tneg.%s %s, %s;\n", type, minus[i].name, name);
    }
    text_add(out, "\t");
    ptx_instruction_print(&plain, out);
    text_add(out, "\n\t}\n");
}

static bool negates(const PtxInstruction *in) {
    return in->fused && (in->operands[1].negated || in->operands[2].negated || in->operands[3].negated);
}

/* ---- statements -------------------------------------------------------------------------------------- */

static void print_loc(const PtxLoc *loc, Text *out) {
    text_print(out, "\t.loc\t%d %d %d", loc->file, loc->line, loc->column);
    if (loc->function_name) text_print(out, ", function_name %s", loc->function_name);
    if (loc->function_name && loc->function_name_addend) text_print(out, "+%d", loc->function_name_addend);
    if (loc->inlined_file || loc->inlined_line || loc->inlined_column)
        text_print(out, ", inlined_at %d %d %d", loc->inlined_file, loc->inlined_line, loc->inlined_column);
    text_add(out, "\n");
}

static void print_targets(const PtxStatement *statement, Text *out) {
    text_print(out, "%s: %s", statement->label->name,
               statement->is_call_targets ? ".calltargets" : ".branchtargets");
    for (int i = 0; i < statement->name_count; i++)
        text_print(out, "%s %s", i ? "," : "", statement->names[i]);
    text_add(out, ";\n");
}

void ptx_statement_print(const PtxFunction *function, const PtxStatement *statement, Text *out) {
    switch (statement->kind) {
    case PTX_STATEMENT_INSTRUCTION:
        if (negates(statement->instruction)) {
            print_fused(statement->instruction, out);
            break;
        }
        text_add(out, "\t");
        print_instruction(statement->instruction, statement->instruction->is_kept_apart, out);
        text_add(out, "\n");
        break;
    case PTX_STATEMENT_LABEL:
        text_print(out, "%s:\n", statement->label->name);
        break;
    case PTX_STATEMENT_LOC:
        print_loc(&function->locs[statement->index], out);
        break;
    case PTX_STATEMENT_REGISTERS:
    case PTX_STATEMENT_OTHER:
        text_print(out, "\t%s;\n", statement->text);
        break;
    case PTX_STATEMENT_VARIABLE:
        text_print(out, "\t%s;\n", statement->variable->text);
        break;
    case PTX_STATEMENT_OPEN:
        text_add(out, "{\n");
        break;
    case PTX_STATEMENT_CLOSE:
        text_add(out, "}\n");
        break;
    case PTX_STATEMENT_TARGETS:
        print_targets(statement, out);
        break;
    case PTX_STATEMENT_PROTOTYPE:
        text_print(out, "%s: .callprototype %s;\n", statement->label->name, statement->text);
        break;
    }
}

bool ptx_item_is_directive(const PtxItem *item, const char *name) {
    size_t length = strlen(name);
    return item->kind == PTX_ITEM_DIRECTIVE && !strncmp(item->text, name, length) &&
           (item->text[length] == ' ' || item->text[length] == '\t' || !item->text[length]);
}

void ptx_item_print(const PtxItem *item, Text *out) {
    bool ends = item->kind == PTX_ITEM_VARIABLE || (item->kind == PTX_ITEM_FUNCTION && !item->is_definition);
    text_print(out, "%s%s\n", item->text, ends ? ";" : "");
    if (item->kind != PTX_ITEM_FUNCTION || !item->is_definition) return;
    text_add(out, "{\n");
    for (int i = 0; i < item->function->statement_count; i++)
        ptx_statement_print(item->function, &item->function->statements[i], out);
    text_add(out, "}\n");
}

bool ptx_module_print(PtxModule *module, Text *out, Error *error) {
    if (!ptx_module_parse_all(module, error)) return false;
    for (int i = 0; i < module->item_count; i++) ptx_item_print(&module->items[i], out);
    return true;
}
