/* Instructions and operands ("Instruction Operands").
 *
 *   instruction = name {"." modifier} [operand {"," operand}]
 *   operand     = simple ["|" simple]
 *   simple      = ["!" | "-"] name ["." part] ["[" constant "]"] | constant | "_" | "{" list "}" |
 *                 "[" address "]" ["." part] | "(" [list] ")"      the last in calls only
 *   list        = operand {"," operand}
 *   address     = [name | constant] [("+" | "-") constant] | list      the latter in textures, bulk copies
 *   part        = x y z w r g b a, or a selector of video operands (b0, h1, ...) */
#include "ptx/opcodes.h"
#include "ptx/parser.h"

#include <stdlib.h>

enum { OPERAND_NESTING = 8 };

typedef struct OperandOwner { /* what the operand belongs to */
    const PtxInstruction *instruction;
    int depth;
    bool in_list, in_brackets; /* an item of {...} or (...); of [...] */
} OperandOwner;

static bool operand(PtxParser *parser, OperandOwner place, PtxOperand *out);

static const char *copy_token(PtxParser *parser, const PtxToken *token) {
    return ptx_token_name(parser, token)->text;
}

/* ---- lists ------------------------------------------------------------------------------------------- */

typedef struct List {
    PtxOperand *items;
    size_t count, capacity;
} List;

static bool operands_until(PtxParser *parser, OperandOwner place, int close, const char *wanted, List *list) {
    if (place.depth > OPERAND_NESTING)
        return ptx_fail(parser, &parser->token, "this operand is nested too deeply");
    if (parser->token.kind == close) return true;
    do {
        PtxOperand item;
        if (!operand(parser, place, &item)) return false;
        array_push(list->items, list->count, list->capacity, item);
    } while (ptx_accept(parser, ','));
    if (parser->token.kind == close) return true;
    return close == ';' ? ptx_unended(parser, wanted) : ptx_unexpected(parser, wanted);
}

static bool brackets(PtxParser *parser, OperandOwner place, PtxOperandKind kind, int close,
                     const char *wanted, PtxOperand *out) {
    List list = {0};
    place.depth++;
    place.in_list = true;
    ptx_advance(parser);
    bool good = operands_until(parser, place, close, wanted, &list) && ptx_accept(parser, close);
    out->kind = kind;
    out->item_count = (int)list.count;
    out->items = ptx_keep(parser->module, list.items, list.count, sizeof *list.items);
    return good;
}

/* ---- names ------------------------------------------------------------------------------------------- */

static int component_of(const PtxToken *dot) {
    static const char letters[] = "xyzwrgba";
    const char *found = dot->length == 2 ? strchr(letters, dot->begin[1]) : NULL;
    return found && *found ? (int)(found - letters) % 4 : -1;
}

static PtxRegister *range_register(PtxParser *parser, PtxName *name, const PtxMeaning *range) {
    PtxMeaning *meaning = ptx_names_declare_member(parser->module->names, name, range);
    return meaning->reg = ptx_new_register(parser, name->text, range->type, range->vector);
}

/* ".x" or ".h1" after a register, ".unified" after an address. */
static void part(PtxParser *parser, PtxOperand *out) {
    if (parser->token.kind != PTX_TOKEN_DOT) return;
    int component = component_of(&parser->token);
    if (out->kind == PTX_OPERAND_REGISTER && out->reg->vector > 1 && component >= 0) {
        out->component = (int8_t)component;
    } else {
        PtxToken rest = parser->token;
        rest.begin++;
        rest.length--;
        out->selector = copy_token(parser, &rest);
    }
    ptx_advance(parser);
}

static bool special(PtxParser *parser, PtxName *name, PtxOperand *out) {
    out->kind = PTX_OPERAND_SPECIAL;
    out->name = name->text;
    if (parser->token.kind != PTX_TOKEN_DOT) return true;
    int component = component_of(&parser->token);
    if (component < 0 ||
        component_of(&parser->token) != (int)(strchr("xyzw", parser->token.begin[1]) ? component : -1))
        return ptx_unexpected(parser, "a component .x .y .z or .w");
    out->component = (int8_t)component;
    out->name = arena_print(&parser->module->arena, "%s%.*s", name->text, (int)parser->token.length,
                            parser->token.begin);
    ptx_advance(parser);
    return true;
}

static bool may_name_label(const PtxInstruction *instruction) {
    return instruction->opcode == PTX_bra || instruction->opcode == PTX_brx ||
           instruction->opcode == PTX_call || instruction->opcode == PTX_mov ||
           instruction->opcode == PTX_OTHER;
}

static bool names_only_labels(const PtxInstruction *instruction, const PtxParser *parser) {
    return instruction->opcode == PTX_bra || (instruction->opcode == PTX_brx && parser->token.kind != ',');
}

static bool name_operand(PtxParser *parser, OperandOwner place, PtxOperand *out) {
    PtxToken at = parser->token;
    ptx_advance(parser);
    if (ptx_token_is(&at, "_")) {
        out->kind = PTX_OPERAND_SINK;
        return true;
    }
    PtxName *name = ptx_token_name(parser, &at);
    PtxMeaning *member = NULL;
    bool only_label = names_only_labels(place.instruction, parser);
    PtxMeaning *meaning = only_label ? NULL : ptx_names_lookup(parser->module->names, name, &member);
    if (member || (meaning && meaning->kind == PTX_MEANS_REGISTER)) {
        out->kind = PTX_OPERAND_REGISTER;
        out->reg = member ? range_register(parser, name, member) : meaning->reg;
        part(parser, out);
        return true;
    }
    if (meaning && meaning->kind == PTX_MEANS_VARIABLE) {
        out->kind = PTX_OPERAND_VARIABLE;
        out->variable = meaning->variable;
        return true;
    }
    out->name = name->text;
    if (meaning) {
        out->kind = PTX_OPERAND_FUNCTION;
        out->function = meaning->function;
        return true;
    }
    if (name->is_special && !only_label) return special(parser, name, out);
    if (at.begin[0] == '%' && !only_label)
        return ptx_fail(parser, &at, "the register '%.80s' is not declared", name->text);
    if (!may_name_label(place.instruction))
        return ptx_fail(parser, &at, "'%.80s' is not declared", name->text);
    out->kind = PTX_OPERAND_LABEL;
    parser->names_labels = true;
    parser->label_token = at;
    return true;
}

bool ptx_parse_target(PtxParser *parser, PtxOperand *out, bool is_function) {
    *out = (PtxOperand){.kind = PTX_OPERAND_LABEL, .component = -1};
    PtxToken at = parser->token;
    if (!ptx_expect(parser, PTX_TOKEN_NAME, is_function ? "a function's name" : "a label")) return false;
    PtxName *name = ptx_token_name(parser, &at);
    out->name = name->text;
    if (!is_function) return true;
    if (!name->top || name->top->kind != PTX_MEANS_FUNCTION)
        return ptx_fail(parser, &at, "the function '%.80s' is not declared", name->text);
    out->kind = PTX_OPERAND_FUNCTION;
    out->function = name->top->function;
    return true;
}

bool ptx_parse_guard(PtxParser *parser, PtxOperand *guard) {
    static const PtxInstruction nothing = {.opcode = PTX_exit};
    *guard = (PtxOperand){.component = -1};
    bool negated = ptx_accept(parser, '!');
    PtxToken at = parser->token;
    if (at.kind != PTX_TOKEN_NAME) return ptx_unexpected(parser, "a predicate");
    if (!name_operand(parser, (OperandOwner){.instruction = &nothing}, guard)) return false;
    guard->negated = negated;
    if (guard->kind != PTX_OPERAND_REGISTER || guard->reg->type != PTX_PRED)
        return ptx_fail(parser, &at, "a guard must be a predicate register");
    return true;
}

/* ---- constants, addresses ---------------------------------------------------------------------------- */

static bool constant_operand(PtxParser *parser, PtxOperand *out) {
    PtxToken begin = parser->token;
    PtxConstant value;
    if (!ptx_constant(parser, &value)) return false;
    out->kind = value.is_float ? PTX_OPERAND_FLOAT : PTX_OPERAND_INTEGER;
    out->integer = (int64_t)value.integer;
    out->number = value.number;
    out->float_bits = value.bits;
    out->float_bytes = value.bits_bytes;
    bool one_token = parser->previous.begin == begin.begin;
    out->name = one_token ? copy_token(parser, &begin) : ptx_text_since(parser, &begin);
    return true;
}

static bool offset(PtxParser *parser, int64_t *out) { /* ("+" | "-") constant */
    bool minus = parser->token.kind == '-';
    ptx_advance(parser);
    PtxToken at = parser->token;
    PtxConstant value;
    if (!ptx_constant(parser, &value)) return false;
    if (value.is_float) return ptx_fail(parser, &at, "an offset must be an integer");
    *out = (int64_t)(minus ? 0 - value.integer : value.integer);
    return true;
}

static bool is_address(const PtxOperand *base) {
    return (base->kind == PTX_OPERAND_REGISTER && base->component < 0 && !base->negated) ||
           base->kind == PTX_OPERAND_VARIABLE || base->kind == PTX_OPERAND_INTEGER;
}

static bool address(PtxParser *parser, OperandOwner place, PtxOperand *out) {
    PtxToken begin = parser->token;
    List list = {0};
    place.depth++;
    place.in_brackets = true;
    ptx_advance(parser);
    bool good = true;
    PtxOperand base = {.component = -1};
    good = operand(parser, place, &base);
    if (good && is_address(&base) && (parser->token.kind == '+' || parser->token.kind == '-'))
        good = offset(parser, &base.integer);
    if (good && is_address(&base) && ptx_accept(parser, ']')) {
        base.kind = PTX_OPERAND_MEMORY;
        base.name = NULL;
        *out = base;
        part(parser, out);
        return true;
    }
    if (!good) return false;
    if (is_address(&base)) base.name = NULL;
    if (base.kind == PTX_OPERAND_REGISTER || base.kind == PTX_OPERAND_VARIABLE ||
        base.kind == PTX_OPERAND_INTEGER)
        base.kind = PTX_OPERAND_MEMORY;
    array_push(list.items, list.count, list.capacity, base);
    good = parser->token.kind == ']' ||
           (ptx_expect(parser, ',', "']'") && operands_until(parser, place, ']', "']'", &list));
    out->kind = PTX_OPERAND_OTHER;
    out->item_count = (int)list.count;
    out->items = ptx_keep(parser->module, list.items, list.count, sizeof *list.items);
    if (!good || !ptx_expect(parser, ']', "']'")) return false;
    out->name = ptx_text_since(parser, &begin);
    part(parser, out);
    return true;
}

/* array[constant]: an element by its index ("Arrays as Operands"). In mov its address, elsewhere the memory
 * itself. */
static bool element(PtxParser *parser, OperandOwner place, PtxOperand *out) {
    PtxToken at = parser->token;
    ptx_advance(parser);
    int64_t index;
    if (!ptx_constant_integer(parser, 0, INT32_MAX, "an index", &index) || !ptx_expect(parser, ']', "']'"))
        return false;
    if (out->variable->space == PTX_SPACE_REG) return ptx_fail(parser, &at, "registers have no elements");
    out->integer = index * ptx_type_bytes(out->variable->type) * out->variable->vector;
    if (place.instruction->opcode != PTX_mov) out->kind = PTX_OPERAND_MEMORY;
    return true;
}

static bool signed_operand(PtxParser *parser, OperandOwner place,
                           PtxOperand *out) { /* !p, -r, or a constant */
    PtxLexer ahead = parser->lexer;
    PtxToken next = ptx_lexer_next(&ahead);
    if (next.kind != PTX_TOKEN_NAME || ptx_token_is(&next, "WARP_SZ")) return constant_operand(parser, out);
    ptx_advance(parser);
    PtxToken at = parser->token;
    if (!name_operand(parser, place, out)) return false;
    out->negated = true;
    return out->kind == PTX_OPERAND_REGISTER || ptx_fail(parser, &at, "only a register can be negated");
}

static bool simple(PtxParser *parser, OperandOwner place, PtxOperand *out) {
    *out = (PtxOperand){.component = -1};
    switch (parser->token.kind) {
    case PTX_TOKEN_NAME:
        if (ptx_constant_begins(parser)) return constant_operand(parser, out); /* WARP_SZ */
        break;
    case '{':
        return brackets(parser, place, PTX_OPERAND_VECTOR, '}', "',' or '}'", out);
    case '[':
        return place.depth > OPERAND_NESTING
                   ? ptx_fail(parser, &parser->token, "this operand is nested too deeply")
                   : address(parser, place, out);
    case '!':
    case '-':
        return signed_operand(parser, place, out);
    case '(':
        if (place.instruction->opcode == PTX_call)
            return brackets(parser, place, PTX_OPERAND_ARGUMENTS, ')', "',' or ')'", out);
        return constant_operand(parser, out);
    default:
        return ptx_constant_begins(parser) ? constant_operand(parser, out)
                                           : ptx_unexpected(parser, "an operand");
    }
    PtxToken at = parser->token;
    if (!name_operand(parser, place, out)) return false;
    if (out->kind == PTX_OPERAND_VARIABLE && parser->token.kind == '[') return element(parser, place, out);
    bool is_register = out->kind == PTX_OPERAND_REGISTER;
    if (is_register && place.in_list && place.instruction->opcode == PTX_call && out->reg->type == PTX_PRED)
        return ptx_fail(parser, &at, "a function takes and returns no predicates: pass 0 or 1 as .b32");
    if (is_register && !place.in_brackets && (parser->token.kind == '+' || parser->token.kind == '-'))
        return ptx_fail(parser, &at, "a register takes an offset only within brackets, as an address");
    if (out->kind != PTX_OPERAND_VARIABLE || place.depth ||
        (parser->token.kind != '+' && parser->token.kind != '-'))
        return true;
    return offset(parser, &out->integer); /* mov.u32 r, array+4 */
}

static bool operand(PtxParser *parser, OperandOwner place, PtxOperand *out) {
    if (!simple(parser, place, out)) return false;
    if (parser->token.kind != '|') return true;
    ptx_advance(parser);
    PtxOperand pair[2] = {*out};
    if (!simple(parser, place, &pair[1])) return false;
    *out = (PtxOperand){.kind = PTX_OPERAND_PAIR, .component = -1, .item_count = 2};
    out->items = arena_copy(&parser->module->arena, pair, sizeof pair);
    return true;
}

/* ---- instructions ------------------------------------------------------------------------------------ */

/* clang-format off */
static PtxSpace space_of(PtxModifierKind kind) {
    switch (kind) {
    case PTX_MOD_REG: return PTX_SPACE_REG;
    case PTX_MOD_CONST: return PTX_SPACE_CONST;
    case PTX_MOD_GLOBAL: return PTX_SPACE_GLOBAL;
    case PTX_MOD_LOCAL: return PTX_SPACE_LOCAL;
    case PTX_MOD_PARAM: case PTX_MOD_PARAM_ENTRY: case PTX_MOD_PARAM_FUNC: return PTX_SPACE_PARAM;
    case PTX_MOD_SHARED: case PTX_MOD_SHARED_CTA: return PTX_SPACE_SHARED;
    case PTX_MOD_SHARED_CLUSTER: return PTX_SPACE_SHARED_CLUSTER;
    case PTX_MOD_TEX: return PTX_SPACE_TEX;
    default: return PTX_SPACE_GENERIC;
    }
}

/* clang-format on */

static void decode(PtxInstruction *instruction, PtxModifierKind kind, PtxType type) {
    if (type != PTX_NO_TYPE && instruction->type_count < 4)
        instruction->types[instruction->type_count++] = type;
    if (instruction->space == PTX_SPACE_GENERIC) instruction->space = space_of(kind);
    if (kind == PTX_MOD_V2) instruction->vector = 2;
    if (kind == PTX_MOD_V4) instruction->vector = 4;
    if (kind == PTX_MOD_V8) instruction->vector = 8;
}

static void modifiers(PtxParser *parser, PtxInstruction *instruction) {
    PtxModifier *list = NULL;
    size_t count = 0, capacity = 0;
    while (parser->token.kind == PTX_TOKEN_DOT) {
        const PtxName *name =
            ptx_names_get(parser->module->names, parser->token.begin + 1, parser->token.length - 1);
        PtxModifier modifier = {name->modifier, name->text};
        array_push(list, count, capacity, modifier);
        decode(instruction, name->modifier, name->type);
        ptx_advance(parser);
    }
    instruction->modifier_count = (int)count;
    instruction->modifiers = ptx_keep(parser->module, list, count, sizeof *list);
}

static bool is_opcode_name(const PtxToken *token) {
    for (size_t i = 0; i < token->length; i++) {
        char c = token->begin[i];
        if (!((c >= 'a' && c <= 'z') || (i && ((c >= '0' && c <= '9') || c == '_')))) return false;
    }
    return true;
}

static const char *form_of(int vector) {
    return vector == 2 ? "a vector of 2" : vector == 4 ? "a vector of 4" : "one value";
}

/* A vector register is passed as a whole, to a register of the same form. */
static bool passes_vectors(PtxParser *parser, const PtxToken *at, const PtxOperand *list, PtxVariable **to,
                           int count) {
    for (int i = 0; i < list->item_count && i < count; i++) {
        const PtxOperand *item = &list->items[i];
        int vector = item->kind == PTX_OPERAND_REGISTER && item->component < 0 ? item->reg->vector : 1;
        bool is_register = to[i]->space == PTX_SPACE_REG;
        int wanted = is_register ? to[i]->vector : 1;
        if (vector == wanted || item->kind == PTX_OPERAND_SINK || (vector < 2 && wanted < 2)) continue;
        return ptx_fail(parser, at, "the call passes '%.80s', %s, where the function has %s",
                        item->kind == PTX_OPERAND_REGISTER ? item->reg->name : "a constant", form_of(vector),
                        is_register ? form_of(wanted) : "a .param variable");
    }
    return true;
}

static bool check_call(PtxParser *parser, const PtxToken *at, const PtxInstruction *call) {
    const PtxFunction *function = NULL;
    bool good = true;
    for (int i = 0; i < call->operand_count; i++)
        if (call->operands[i].kind == PTX_OPERAND_FUNCTION) function = call->operands[i].function;
    if (!function) return true;
    for (int i = 0, is_target_past = 0; good && i < call->operand_count; i++) {
        const PtxOperand *operand = &call->operands[i];
        if (operand->kind == PTX_OPERAND_FUNCTION) is_target_past = 1;
        if (operand->kind != PTX_OPERAND_ARGUMENTS) continue;
        good = is_target_past
                   ? passes_vectors(parser, at, operand, function->parameters, function->parameter_count)
                   : passes_vectors(parser, at, operand, function->results, function->result_count);
    }
    return good;
}

bool ptx_parse_instruction(PtxParser *parser, const PtxToken *token, const PtxOperand *guard,
                           PtxInstruction **out) {
    const PtxName *name = ptx_token_name(parser, token);
    if (!is_opcode_name(token)) return ptx_fail(parser, token, "'%.80s' is no instruction", name->text);
    PtxInstruction *instruction = *out = arena_new(&parser->module->arena, sizeof *instruction);
    *instruction = (PtxInstruction){.opcode = name->opcode,
                                    .name = name->text,
                                    .vector = 1,
                                    .guard = *guard,
                                    .line = token->line,
                                    .column = token->column};
    modifiers(parser, instruction);
    List list = {0};
    bool good = operands_until(parser, (OperandOwner){.instruction = instruction}, ';', "',' or ';'", &list);
    instruction->operand_count = (int)list.count;
    instruction->operands = ptx_keep(parser->module, list.items, list.count, sizeof *list.items);
    return good && (instruction->opcode != PTX_call || check_call(parser, token, instruction));
}
