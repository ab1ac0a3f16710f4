/* Function bodies: statements, scopes and labels ("Statements", "Control Flow Instructions: {}").
 *
 *   body      = "{" {statement} "}"
 *   statement = label ":" [targets] | "{" | "}" | registers ";" | variables ";" | loc |
 *               ".pragma" strings ";" | ["@" ["!"] p] instruction ";"
 *   targets   = ".branchtargets" label {"," label} ";" | ".calltargets" function {"," function} ";" |
 *               ".callprototype" prototype ";"
 *   loc       = ".loc" file line [column] {"," attribute}
 *   attribute = "function_name" label ["+" n] | "inlined_at" file line column
 *
 * A label may be named before it is declared, in its own scope or one around it, so names of labels wait in
 * `pending` until the scope that they are in closes. */
#include "ptx/opcodes.h"
#include "ptx/parser.h"

#include <stdlib.h>

static PtxStatement *add(PtxParser *parser, PtxStatement statement) {
    array_push(parser->statements, parser->statement_count, parser->statement_capacity, statement);
    return &parser->statements[parser->statement_count - 1];
}

static bool loc_number(PtxParser *parser, int *out) {
    int64_t value;
    if (parser->token.kind != PTX_TOKEN_NUMBER) return ptx_unexpected(parser, "a number");
    if (!ptx_constant_integer(parser, 0, INT32_MAX, "this", &value)) return false;
    *out = (int)value;
    return true;
}

static bool loc_attribute(PtxParser *parser, PtxLoc *loc) {
    if (ptx_token_is(&parser->token, "inlined_at")) {
        ptx_advance(parser);
        return loc_number(parser, &loc->inlined_file) && loc_number(parser, &loc->inlined_line) &&
               loc_number(parser, &loc->inlined_column);
    }
    if (!ptx_token_is(&parser->token, "function_name"))
        return ptx_unexpected(parser, "function_name or inlined_at");
    ptx_advance(parser);
    PtxToken name = parser->token;
    if (name.kind != PTX_TOKEN_NAME && name.kind != PTX_TOKEN_DOT)
        return ptx_unexpected(parser, "a label of .debug_str");
    ptx_advance(parser);
    loc->function_name = ptx_token_name(parser, &name)->text;
    return !ptx_accept(parser, '+') || loc_number(parser, &loc->function_name_addend);
}

static bool loc(PtxParser *parser) {
    PtxLoc loc = {0};
    ptx_advance(parser);
    if (!loc_number(parser, &loc.file) || !loc_number(parser, &loc.line)) return false;
    if (parser->token.kind == PTX_TOKEN_NUMBER && !loc_number(parser, &loc.column)) return false;
    while (ptx_accept(parser, ','))
        if (!loc_attribute(parser, &loc)) return false;
    ptx_accept(parser, ';');
    add(parser, (PtxStatement){.kind = PTX_STATEMENT_LOC, .index = (int)parser->loc_count});
    array_push(parser->locs, parser->loc_count, parser->loc_capacity, loc);
    return true;
}

/* ---- labels and what may follow them
 * ---------------------------------------------------------------- */

static void pend(PtxParser *parser, PtxOperand *operand, const PtxToken *at, bool is_branch) {
    PtxPending pending = {operand, *at, ptx_names_depth(parser->module->names), is_branch};
    array_push(parser->pending, parser->pending_count, parser->pending_capacity, pending);
}

static bool targets(PtxParser *parser, PtxLabel *label, bool is_call) {
    PtxOperand *list = NULL;
    PtxToken *tokens = NULL;
    size_t count = 0, capacity = 0, token_count = 0, token_capacity = 0;
    bool good = true;
    do {
        PtxOperand operand;
        array_push(tokens, token_count, token_capacity, parser->token);
        good = ptx_parse_target(parser, &operand, is_call);
        if (good) array_push(list, count, capacity, operand);
    } while (good && ptx_accept(parser, ','));
    PtxStatement statement = {
        .kind = PTX_STATEMENT_TARGETS, .label = label, .is_call_targets = is_call, .name_count = (int)count};
    statement.targets = ptx_keep(parser->module, list, count, sizeof *list);
    statement.names = arena_new(&parser->module->arena, (count + 1) * sizeof *statement.names);
    for (size_t i = 0; i < count; i++) {
        statement.names[i] = statement.targets[i].name;
        if (!is_call) pend(parser, &statement.targets[i], &tokens[i], true);
    }
    free(tokens);
    if (good) add(parser, statement);
    return good;
}

static bool prototype(PtxParser *parser, PtxLabel *label) {
    PtxToken begin = parser->token;
    PtxFunction *function = arena_new(&parser->module->arena, sizeof *function);
    if (!ptx_parse_prototype(parser, function)) return false;
    add(parser, (PtxStatement){.kind = PTX_STATEMENT_PROTOTYPE,
                               .label = label,
                               .prototype = function,
                               .text = ptx_text_since(parser, &begin)});
    return true;
}

static bool label(PtxParser *parser, const PtxToken *name) { /* after the ':' */
    PtxMeaning *meaning =
        ptx_names_declare(parser->module->names, ptx_token_name(parser, name), PTX_MEANS_LABEL);
    if (!meaning) {
        const PtxLabel *first =
            ptx_names_label(ptx_token_name(parser, name), ptx_names_depth(parser->module->names))->label;
        return ptx_fail(parser, name, "the label '%.80s' is declared twice in this scope", first->name);
    }
    PtxLabel *label = meaning->label = arena_new(&parser->module->arena, sizeof *label);
    *label = (PtxLabel){meaning->name->text, (int)parser->statement_count};
    bool branches = ptx_token_is(&parser->token, ".branchtargets"),
         calls = ptx_token_is(&parser->token, ".calltargets");
    bool is_prototype = ptx_token_is(&parser->token, ".callprototype");
    if (!branches && !calls && !is_prototype) {
        add(parser, (PtxStatement){.kind = PTX_STATEMENT_LABEL, .label = label});
        return true;
    }
    ptx_advance(parser);
    bool good = is_prototype ? prototype(parser, label) : targets(parser, label, calls);
    return good && ptx_expect(parser, ';', "';'");
}

/* For the innermost scope, which is about to close. */
static bool resolve_labels(PtxParser *parser) {
    int depth = ptx_names_depth(parser->module->names);
    size_t first = parser->pending_count; /* those of this scope and of nested ones are the last */
    while (first > 0 && parser->pending[first - 1].depth >= depth) first--;
    size_t kept = first;
    for (size_t i = first; i < parser->pending_count; i++) {
        PtxPending pending = parser->pending[i];
        const PtxName *name =
            ptx_names_get(parser->module->names, pending.operand->name, strlen(pending.operand->name));
        const PtxMeaning *meaning = ptx_names_label(name, depth);
        if (meaning) {
            pending.operand->label = meaning->label;
        } else if (depth > 1) {
            pending.depth = depth - 1;
            parser->pending[kept++] = pending;
        } else {
            return ptx_fail(parser, &pending.token,
                            pending.is_branch ? "the label '%.80s' is not declared"
                                              : "'%.80s' is not declared",
                            name->text);
        }
    }
    parser->pending_count = kept;
    return true;
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static void pend_operands(PtxParser *parser, PtxOperand *operands, int count, const PtxToken *at,
                          bool is_branch) {
    for (int i = 0; i < count; i++) {
        if (operands[i].kind == PTX_OPERAND_LABEL) pend(parser, &operands[i], at, is_branch);
        if (operands[i].item_count)
            pend_operands(parser, operands[i].items, operands[i].item_count, at, is_branch);
    }
}

static bool instruction(PtxParser *parser, const PtxToken *name, const PtxOperand *guard) {
    PtxInstruction *instruction;
    parser->names_labels = false;
    PtxToken at = *name;
    if (!ptx_parse_instruction(parser, &at, guard, &instruction) || !ptx_expect(parser, ';', "',' or ';'"))
        return false;
    instruction->loc = (int)parser->loc_count - 1;
    bool is_branch = instruction->opcode == PTX_bra || instruction->opcode == PTX_brx;
    if (parser->names_labels)
        pend_operands(parser, instruction->operands, instruction->operand_count, &parser->label_token,
                      is_branch);
    add(parser, (PtxStatement){.kind = PTX_STATEMENT_INSTRUCTION, .instruction = instruction});
    return true;
}

static bool guarded(PtxParser *parser) {
    PtxOperand guard;
    ptx_advance(parser);
    if (!ptx_parse_guard(parser, &guard)) return false;
    PtxToken name = parser->token;
    return ptx_expect(parser, PTX_TOKEN_NAME, "an instruction") && instruction(parser, &name, &guard);
}

static bool named(PtxParser *parser) { /* a label or an instruction */
    PtxToken name = parser->token;
    ptx_advance(parser);
    if (ptx_accept(parser, ':')) return label(parser, &name);
    PtxOperand none = {.component = -1};
    return instruction(parser, &name, &none);
}

/* ---- statements -------------------------------------------------------------------------------------- */

static bool open_scope(PtxParser *parser) {
    if (ptx_names_depth(parser->module->names) >= PTX_NESTING_LIMIT)
        return ptx_fail(parser, &parser->token, "scopes are nested too deeply");
    ptx_advance(parser);
    ptx_names_open(parser->module->names);
    add(parser, (PtxStatement){.kind = PTX_STATEMENT_OPEN});
    return true;
}

static bool close_scope(PtxParser *parser) {
    if (!resolve_labels(parser)) return false;
    ptx_advance(parser);
    ptx_names_close(parser->module->names);
    add(parser, (PtxStatement){.kind = PTX_STATEMENT_CLOSE});
    return true;
}

static bool pragma(PtxParser *parser) {
    PtxToken begin = parser->token;
    ptx_advance(parser);
    do {
        if (!ptx_expect(parser, PTX_TOKEN_STRING, "a string")) return false;
    } while (ptx_accept(parser, ','));
    add(parser, (PtxStatement){.kind = PTX_STATEMENT_OTHER, .text = ptx_text_since(parser, &begin)});
    return ptx_expect(parser, ';', "';'");
}

static bool statement(PtxParser *parser) {
    switch (parser->token.kind) {
    case ';':
        ptx_advance(parser);
        return true; /* an empty statement */
    case '{':
        return open_scope(parser);
    case '}':
        return close_scope(parser);
    case '@':
        return guarded(parser);
    case PTX_TOKEN_NAME:
        return named(parser);
    case PTX_TOKEN_DOT:
        break;
    default:
        return ptx_unexpected(parser, "an instruction, a label or a directive");
    }
    if (ptx_token_is(&parser->token, ".loc")) return loc(parser);
    if (ptx_token_is(&parser->token, ".pragma")) return pragma(parser);
    if (ptx_token_is(&parser->token, ".reg"))
        return ptx_parse_registers(parser) && ptx_expect(parser, ';', "',' or ';'");
    return ptx_parse_variables(parser) && ptx_expect(parser, ';', "',' or ';'");
}

static void declare_parameters(PtxParser *parser, PtxVariable **variables, int count) {
    for (int i = 0; i < count; i++) {
        PtxName *name = ptx_names_get(parser->module->names, variables[i]->name, strlen(variables[i]->name));
        bool is_register = variables[i]->space == PTX_SPACE_REG;
        PtxMeaning *meaning = ptx_names_declare(parser->module->names, name,
                                                is_register ? PTX_MEANS_REGISTER : PTX_MEANS_VARIABLE);
        if (!meaning) continue; /* checked with the header */
        meaning->variable = variables[i];
        if (is_register)
            meaning->reg = ptx_new_register(parser, name->text, variables[i]->type, variables[i]->vector);
    }
}

static bool body(PtxParser *parser) {
    declare_parameters(parser, parser->function->results, parser->function->result_count);
    declare_parameters(parser, parser->function->parameters, parser->function->parameter_count);
    ptx_advance(parser);
    if (!ptx_expect(parser, '{', "'{'")) return false;
    while (ptx_names_depth(parser->module->names) > 1 || parser->token.kind != '}')
        if (!statement(parser)) return false;
    return resolve_labels(parser);
}

bool ptx_function_parse(PtxModule *module, PtxFunction *function, Error *error) {
    if (function->is_parsed || !function->has_body) return true;
    PtxParser parser = {.module = module, .error = error, .function = function};
    parser.lexer = (PtxLexer){module->text + function->body_begin, module->text + function->body_end,
                              module->text + function->body_line_begin, function->body_line};
    ptx_names_open(module->names);
    bool good = body(&parser);
    while (ptx_names_depth(module->names) > 0) ptx_names_close(module->names);
    PtxStatement *statements =
        ptx_keep(module, parser.statements, parser.statement_count, sizeof *parser.statements);
    PtxRegister **registers =
        ptx_keep(module, parser.registers, parser.register_count, sizeof(PtxRegister *));
    PtxLoc *locs = ptx_keep(module, parser.locs, parser.loc_count, sizeof *parser.locs);
    free(parser.pending);
    free(parser.uses);
    if (!good) return false;
    function->statements = statements;
    function->statement_count = (int)parser.statement_count;
    function->registers = registers;
    function->register_count = (int)parser.register_count;
    function->locs = locs;
    function->loc_count = (int)parser.loc_count;
    return function->is_parsed = true;
}

bool ptx_module_parse_all(PtxModule *module, Error *error) {
    for (int i = 0; i < module->function_count; i++)
        if (!ptx_function_parse(module, module->functions[i], error)) return false;
    return true;
}
