/* Structural comparison of two modules: whether print(parse(x)), parsed again, is the same IR. Everything but
 * places in the text is compared. Returns NULL if they are the same, else a few words on the difference. */
#ifndef TESTS_SAME_IR_H
#define TESTS_SAME_IR_H

#include "ptx/ptx.h"
#include <string.h>

#define SAME(condition, what)                                                                                \
    do {                                                                                                     \
        if (!(condition)) return what;                                                                       \
    } while (0)

static inline bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

static inline bool same_bits(const void *a, const void *b, size_t bytes) {
    return !a == !b && (!a || !bytes || !memcmp(a, b, bytes));
}

static inline const char *same_variable(const PtxVariable *a, const PtxVariable *b) {
    SAME(!a == !b, "a variable is missing");
    if (!a) return NULL;
    SAME(same_text(a->name, b->name) && same_text(a->text, b->text), "name or text of a variable");
    SAME(a->space == b->space && a->type == b->type && a->vector == b->vector, "space or type of a variable");
    SAME(a->alignment == b->alignment && a->count == b->count && a->bytes == b->bytes, "shape of a variable");
    SAME(a->is_extern == b->is_extern && a->is_visible == b->is_visible && a->is_weak == b->is_weak &&
             a->is_common == b->is_common,
         "linkage of a variable");
    SAME(same_bits(a->initial, b->initial, a->bytes), "initial value of a variable");
    SAME(a->relocation_count == b->relocation_count, "addresses in an initial value");
    for (int i = 0; i < a->relocation_count; i++) {
        const PtxRelocation *x = &a->relocations[i], *y = &b->relocations[i];
        SAME(x->offset == y->offset && x->bytes == y->bytes && x->shift == y->shift &&
                 same_text(x->symbol, y->symbol) && x->addend == y->addend && x->generic == y->generic,
             "an address in an initial value");
    }
    return NULL;
}

static inline const char *same_register(const PtxRegister *a, const PtxRegister *b) {
    SAME(!a == !b, "a register is missing");
    if (!a) return NULL;
    SAME(same_text(a->name, b->name) && a->type == b->type && a->vector == b->vector && a->index == b->index,
         "a register");
    return NULL;
}

/* Bit for bit: NaN is itself, and -0 is not 0. */
static inline bool same_number(double a, double b) {
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

static inline const char *same_operand(const PtxOperand *a, const PtxOperand *b) {
    SAME(a->kind == b->kind, "kind of an operand");
    SAME(a->negated == b->negated && a->component == b->component && same_text(a->selector, b->selector),
         "an operand's part");
    SAME(a->integer == b->integer && same_text(a->name, b->name), "an operand's value");
    SAME(a->float_bytes == b->float_bytes && a->float_bits == b->float_bits &&
             same_number(a->number, b->number),
         "a float");
    SAME(!a->function == !b->function && (!a->function || same_text(a->function->name, b->function->name)),
         "an operand's function");
    SAME(!a->label == !b->label && (!a->label || (same_text(a->label->name, b->label->name) &&
                                                  a->label->statement == b->label->statement)),
         "an operand's label");
    SAME(!a->variable == !b->variable && (!a->variable || same_text(a->variable->name, b->variable->name)),
         "an operand's variable");
    SAME(a->item_count == b->item_count, "items of an operand");
    const char *difference = same_register(a->reg, b->reg);
    for (int i = 0; !difference && i < a->item_count; i++)
        difference = same_operand(&a->items[i], &b->items[i]);
    return difference;
}

static inline const char *same_instruction(const PtxInstruction *a, const PtxInstruction *b) {
    SAME(a->opcode == b->opcode && same_text(a->name, b->name), "an opcode");
    SAME(a->modifier_count == b->modifier_count && a->type_count == b->type_count, "number of modifiers");
    SAME(a->space == b->space && a->vector == b->vector && a->loc == b->loc, "decoded modifiers");
    for (int i = 0; i < a->modifier_count; i++)
        SAME(a->modifiers[i].kind == b->modifiers[i].kind &&
                 same_text(a->modifiers[i].text, b->modifiers[i].text),
             "a modifier");
    for (int i = 0; i < a->type_count; i++) SAME(a->types[i] == b->types[i], "a type");
    SAME(a->operand_count == b->operand_count, "number of operands");
    const char *difference = same_operand(&a->guard, &b->guard);
    for (int i = 0; !difference && i < a->operand_count; i++)
        difference = same_operand(&a->operands[i], &b->operands[i]);
    return difference;
}

static inline const char *same_header(const PtxFunction *a, const PtxFunction *b) {
    SAME(!a == !b, "a prototype is missing");
    if (!a) return NULL;
    SAME(same_text(a->name, b->name) && same_text(a->directives, b->directives),
         "name or directives of a function");
    SAME(a->is_entry == b->is_entry && a->is_extern == b->is_extern && a->is_visible == b->is_visible &&
             a->is_weak == b->is_weak && a->has_body == b->has_body && a->is_noreturn == b->is_noreturn,
         "kind of a function");
    SAME(!memcmp(a->required_threads, b->required_threads, sizeof a->required_threads) &&
             !memcmp(a->maximum_threads, b->maximum_threads, sizeof a->maximum_threads),
         "threads of a function");
    SAME(!memcmp(a->required_cluster, b->required_cluster, sizeof a->required_cluster) &&
             a->maximum_cluster == b->maximum_cluster && a->needs_cluster == b->needs_cluster &&
             a->blocks_are_clusters == b->blocks_are_clusters,
         "clusters of a function");
    SAME(!a->alias_of == !b->alias_of && (!a->alias_of || same_text(a->alias_of->name, b->alias_of->name)),
         "an alias");
    SAME(a->parameter_count == b->parameter_count && a->result_count == b->result_count,
         "number of parameters");
    const char *difference = NULL;
    for (int i = 0; !difference && i < a->parameter_count; i++)
        difference = same_variable(a->parameters[i], b->parameters[i]);
    for (int i = 0; !difference && i < a->result_count; i++)
        difference = same_variable(a->results[i], b->results[i]);
    return difference;
}

static inline const char *same_statement(const PtxStatement *a, const PtxStatement *b) {
    SAME(a->kind == b->kind && a->index == b->index && a->name_count == b->name_count &&
             a->is_call_targets == b->is_call_targets,
         "a statement");
    SAME(same_text(a->text, b->text), "text of a statement");
    SAME(!a->label == !b->label && (!a->label || (same_text(a->label->name, b->label->name) &&
                                                  a->label->statement == b->label->statement)),
         "a label");
    const char *difference = same_variable(a->variable, b->variable);
    if (!difference) difference = same_header(a->prototype, b->prototype);
    for (int i = 0; !difference && i < a->name_count; i++)
        difference = same_operand(&a->targets[i], &b->targets[i]);
    if (!difference && a->instruction) difference = same_instruction(a->instruction, b->instruction);
    return difference;
}

static inline const char *same_function(const PtxFunction *a, const PtxFunction *b) {
    const char *difference = same_header(a, b);
    if (difference) return difference;
    SAME(a->statement_count == b->statement_count && a->register_count == b->register_count &&
             a->loc_count == b->loc_count,
         "size of a body");
    for (int i = 0; !difference && i < a->register_count; i++)
        difference = same_register(a->registers[i], b->registers[i]);
    for (int i = 0; !difference && i < a->statement_count; i++)
        difference = same_statement(&a->statements[i], &b->statements[i]);
    for (int i = 0; !difference && i < a->loc_count; i++) {
        const PtxLoc *x = &a->locs[i], *y = &b->locs[i];
        SAME(x->file == y->file && x->line == y->line && x->column == y->column &&
                 same_text(x->function_name, y->function_name) &&
                 x->function_name_addend == y->function_name_addend && x->inlined_file == y->inlined_file &&
                 x->inlined_line == y->inlined_line && x->inlined_column == y->inlined_column,
             "a .loc");
    }
    return difference;
}

static inline const char *same_module(const PtxModule *a, const PtxModule *b) {
    SAME(a->version_major == b->version_major && a->version_minor == b->version_minor &&
             same_text(a->target, b->target) && a->address_bytes == b->address_bytes,
         "version or target");
    SAME(a->file_count == b->file_count && a->function_count == b->function_count &&
             a->variable_count == b->variable_count && a->item_count == b->item_count,
         "size of the module");
    const char *difference = NULL;
    for (int i = 0; i < a->file_count; i++)
        SAME(a->files[i].number == b->files[i].number && same_text(a->files[i].path, b->files[i].path),
             "a .file");
    for (int i = 0; !difference && i < a->variable_count; i++)
        difference = same_variable(a->variables[i], b->variables[i]);
    for (int i = 0; !difference && i < a->function_count; i++)
        difference = same_function(a->functions[i], b->functions[i]);
    return difference;
}

#undef SAME

#endif
