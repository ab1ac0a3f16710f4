/* Declarations of variables, registers and parameters ("State Spaces, Types, and Variables").
 *
 *   variables  = {linkage} head declarator {"," declarator}
 *   linkage    = ".extern" | ".visible" | ".weak" | ".common"
 *   head       = {space | ".attribute" "(" ... ")" | ".align" n | ".ptr" [space] [".align" n] |
 *                 ".v2" ... | type}
 *   declarator = name {"[" [n] "]"} ["=" initial]
 *   registers  = ".reg" {".v2" ... | type | ".align" n} name ["<" n ">"] {"," name ["<" n ">"]} */
#include "ptx/parser.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAXIMUM_HEAD = 1024, MAXIMUM_NAME = 65536 }; /* bytes; heads are copied for each name */

typedef struct DeclarationHead { /* what comes before the names */
    PtxSpace space;
    PtxType type;
    int vector;
    int64_t alignment; /* 0: natural */
    bool is_extern, is_visible, is_weak, is_common;
    bool is_opaque; /* .texref .samplerref .surfref: 64-bit handles */
    const char *text;
} DeclarationHead;

static const struct {
    const char *text;
    PtxSpace space;
} spaces[] = {{".reg", PTX_SPACE_REG},
              {".const", PTX_SPACE_CONST},
              {".global", PTX_SPACE_GLOBAL},
              {".local", PTX_SPACE_LOCAL},
              {".param", PTX_SPACE_PARAM},
              {".shared", PTX_SPACE_SHARED},
              {".tex", PTX_SPACE_TEX},
              {".shared::cta", PTX_SPACE_SHARED},
              {".shared::cluster", PTX_SPACE_SHARED_CLUSTER}};

static bool space_of(const PtxToken *token, PtxSpace *out) {
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (ptx_token_is(token, spaces[i].text)) {
            *out = spaces[i].space;
            return true;
        }
    return false;
}

static bool skip_parentheses(PtxParser *parser) { /* .attribute(.unified(19, 95)) */
    if (!ptx_expect(parser, '(', "'('")) return false;
    for (int depth = 1; depth;) {
        int kind = parser->token.kind;
        if (kind == PTX_TOKEN_END || kind == PTX_TOKEN_BAD || kind == ';' || kind == '{' || kind == '}')
            return ptx_unexpected(parser, "')'");
        depth += kind == '(' ? 1 : kind == ')' ? -1 : 0;
        ptx_advance(parser);
    }
    return true;
}

static bool alignment(PtxParser *parser, int64_t *out) {
    PtxToken at = parser->token;
    if (!ptx_constant_integer(parser, 1, 1 << 20, "an alignment", out)) return false;
    if (*out & (*out - 1)) return ptx_fail(parser, &at, "an alignment must be a power of two");
    return true;
}

static bool pointer_attribute(PtxParser *parser) { /* after .ptr: what a parameter points to */
    PtxSpace space;
    int64_t ignored;
    if (parser->token.kind == PTX_TOKEN_DOT && space_of(&parser->token, &space)) ptx_advance(parser);
    if (!ptx_token_is(&parser->token, ".align")) return true;
    ptx_advance(parser);
    return alignment(parser, &ignored);
}

static bool head_word(PtxParser *parser, DeclarationHead *head) { /* one word that begins with a dot */
    PtxToken token = parser->token;
    ptx_advance(parser);
    if (space_of(&token, &head->space)) return true;
    if (ptx_token_is(&token, ".align")) return alignment(parser, &head->alignment);
    if (ptx_token_is(&token, ".ptr")) return pointer_attribute(parser);
    if (ptx_token_is(&token, ".attribute")) return skip_parentheses(parser);
    if (ptx_token_is(&token, ".extern")) return head->is_extern = true;
    if (ptx_token_is(&token, ".visible")) return head->is_visible = true;
    if (ptx_token_is(&token, ".weak")) return head->is_weak = true;
    if (ptx_token_is(&token, ".common")) return head->is_common = true;
    if (ptx_token_is(&token, ".v2") || ptx_token_is(&token, ".v4") || ptx_token_is(&token, ".v8")) {
        head->vector = token.begin[2] - '0';
        return true;
    }
    if (ptx_token_is(&token, ".texref") || ptx_token_is(&token, ".samplerref") ||
        ptx_token_is(&token, ".surfref")) {
        head->type = PTX_B64;
        return head->is_opaque = true;
    }
    const PtxName *name = ptx_names_find(parser->module->names, token.begin + 1, token.length - 1);
    if (!name || name->type == PTX_NO_TYPE)
        return ptx_fail(parser, &token, "'%.*s' is not a state space, type or attribute of a variable",
                        (int)(token.length < 40 ? token.length : 40), token.begin);
    head->type = name->type;
    return true;
}

static bool head(PtxParser *parser, DeclarationHead *out) {
    PtxToken begin = parser->token;
    *out = (DeclarationHead){.vector = 1};
    while (parser->token.kind == PTX_TOKEN_DOT)
        if (!head_word(parser, out)) return false;
    if (out->space == PTX_SPACE_GENERIC)
        return ptx_fail(parser, &begin, "this declaration names no state space");
    if (out->type == PTX_NO_TYPE) return ptx_unexpected(parser, "a type such as .u32");
    if (out->type == PTX_PRED && out->space != PTX_SPACE_REG)
        return ptx_fail(parser, &begin, ".pred variables must be registers");
    if (parser->previous.begin - begin.begin > MAXIMUM_HEAD)
        return ptx_fail(parser, &begin, "this declaration has too many attributes");
    out->text = ptx_text_since(parser, &begin);
    return true;
}

PtxRegister *ptx_new_register(PtxParser *parser, const char *name, PtxType type, int vector) {
    PtxRegister *reg = arena_new(&parser->module->arena, sizeof *reg);
    *reg = (PtxRegister){.name = name, .type = type, .vector = vector, .index = (int)parser->register_count};
    array_push(parser->registers, parser->register_count, parser->register_capacity, reg);
    return reg;
}

static bool declared_twice(PtxParser *parser, const PtxToken *at, const PtxName *name) {
    return ptx_fail(parser, at, "'%.80s' is declared twice in this scope", name->text);
}

bool ptx_parse_registers(PtxParser *parser) {
    PtxToken begin = parser->token;
    DeclarationHead what;
    if (!head(parser, &what)) return false;
    do {
        PtxToken at = parser->token;
        if (!ptx_expect(parser, PTX_TOKEN_NAME, "a register's name")) return false;
        PtxName *name = ptx_token_name(parser, &at);
        int64_t count = 0;
        bool range = ptx_accept(parser, '<');
        if (range && (parser->token.kind != PTX_TOKEN_NUMBER || !ptx_constant_begins(parser)))
            return ptx_unexpected(parser, "a number of registers");
        if (range) { /* not an expression: '>' would belong to it */
            char *end;
            count = strtoll(parser->token.begin, &end, 0);
            if (end != parser->token.begin + parser->token.length || count < 0 || count > INT32_MAX)
                return ptx_fail(parser, &parser->token, "a number of registers must be from 0 to %d",
                                INT32_MAX);
            ptx_advance(parser);
            if (!ptx_expect(parser, '>', "'>'")) return false;
        }
        PtxMeaning *meaning =
            ptx_names_declare(parser->module->names, name, range ? PTX_MEANS_RANGE : PTX_MEANS_REGISTER);
        if (!meaning) return declared_twice(parser, &at, name);
        meaning->count = (uint32_t)count;
        meaning->type = what.type;
        meaning->vector = what.vector;
        if (!range) meaning->reg = ptx_new_register(parser, name->text, what.type, what.vector);
    } while (ptx_accept(parser, ','));
    PtxStatement statement = {.kind = PTX_STATEMENT_REGISTERS, .text = ptx_text_since(parser, &begin)};
    array_push(parser->statements, parser->statement_count, parser->statement_capacity, statement);
    return true;
}

enum { MAXIMUM_DIMENSIONS = 16, MAXIMUM_FAMILY = 4096 };

typedef struct Shape {
    uint64_t dimensions[MAXIMUM_DIMENSIONS]; /* 0: not given (only the first) */
    int count;
} Shape;

static bool shape(PtxParser *parser, Shape *out) {
    out->count = 0;
    while (ptx_accept(parser, '[')) {
        if (out->count == MAXIMUM_DIMENSIONS)
            return ptx_fail(parser, &parser->previous, "an array has at most %d dimensions",
                            MAXIMUM_DIMENSIONS);
        int64_t size = 0;
        PtxToken at = parser->token;
        if (parser->token.kind != ']' &&
            !ptx_constant_integer(parser, 0, (int64_t)PTX_VARIABLE_LIMIT, "the size of an array", &size))
            return false;
        if (!size && out->count)
            return ptx_fail(parser, &at, "only the first dimension of an array may be left out");
        out->dimensions[out->count++] = (uint64_t)size;
        if (!ptx_expect(parser, ']', "']'")) return false;
    }
    return true;
}

static bool measure(PtxParser *parser, const PtxToken *at, PtxVariable *variable, const Shape *form) {
    variable->count = 1;
    uint64_t element = (uint64_t)ptx_type_bytes(variable->type) * (uint64_t)variable->vector;
    for (int i = 0; i < form->count; i++) {
        if (form->dimensions[i] && variable->count > PTX_VARIABLE_LIMIT / form->dimensions[i] / element)
            return ptx_fail(parser, at, "this variable is too large; the limit is 2^40 bytes");
        variable->count *= form->dimensions[i];
    }
    variable->bytes = variable->count * element;
    return true;
}

static PtxVariable *new_variable(PtxParser *parser, const DeclarationHead *what, const char *name, int line) {
    PtxVariable *variable = arena_new(&parser->module->arena, sizeof *variable);
    int natural = ptx_type_bytes(what->type) * what->vector;
    *variable = (PtxVariable){.name = name,
                              .function = parser->function,
                              .space = what->space,
                              .type = what->type,
                              .vector = what->vector,
                              .alignment = what->alignment ? (int)what->alignment
                                           : natural       ? natural
                                                           : 1,
                              .is_extern = what->is_extern,
                              .is_visible = what->is_visible,
                              .is_weak = what->is_weak,
                              .is_common = what->is_common,
                              .line = line};
    return variable;
}

/* { addr_mode_0 = wrap, filter_mode = linear }: kept as text. */
static bool sampler_fields(PtxParser *parser) {
    if (!ptx_expect(parser, '{', "'{'")) return false;
    while (!ptx_accept(parser, '}')) {
        int kind = parser->token.kind;
        if (kind != PTX_TOKEN_NAME && kind != PTX_TOKEN_NUMBER && kind != '=' && kind != ',')
            return ptx_unexpected(parser, "'}'");
        ptx_advance(parser);
    }
    return true;
}

/* Enters a module variable. A declaration after .extern, and .extern after a definition, refer to the same
 * variable. */
static bool enter_global(PtxParser *parser, const PtxToken *at, PtxVariable *variable) {
    PtxName *name = ptx_token_name(parser, at);
    PtxMeaning *meaning = ptx_names_declare(parser->module->names, name, PTX_MEANS_VARIABLE);
    if (meaning) {
        meaning->variable = variable;
        variable->index = (int)parser->variable_count;
        array_push(parser->variables, parser->variable_count, parser->variable_capacity, variable);
        return true;
    }
    PtxVariable *before = name->top->variable;
    if (name->top->kind != PTX_MEANS_VARIABLE || (!before->is_extern && !variable->is_extern))
        return declared_twice(parser, at, name);
    variable->index = before->index;
    if (before->is_extern) *before = *variable;
    return true;
}

static void add(PtxParser *parser, PtxVariable *variable, const char *text) {
    variable->text = text;
    if (parser->function) {
        PtxStatement statement = {.kind = PTX_STATEMENT_VARIABLE, .variable = variable};
        array_push(parser->statements, parser->statement_count, parser->statement_capacity, statement);
    } else {
        PtxItem item = {.kind = PTX_ITEM_VARIABLE, .text = text, .variable = variable};
        array_push(parser->items, parser->item_count, parser->item_capacity, item);
    }
}

static bool enter(PtxParser *parser, const PtxToken *at, PtxVariable *variable, const char *text) {
    add(parser, variable, text);
    if (!parser->function) return enter_global(parser, at, variable);
    PtxName *name = ptx_token_name(parser, at);
    PtxMeaning *meaning = ptx_names_declare(parser->module->names, name, PTX_MEANS_VARIABLE);
    if (!meaning) return declared_twice(parser, at, name);
    meaning->variable = variable;
    return true;
}

/* name "<" n ">": n variables name0, name1, ... ("Parameterized Variable Names"). */
static bool family(PtxParser *parser, const DeclarationHead *what, const PtxToken *at) {
    char *end;
    long long count = strtoll(parser->token.begin, &end, 10);
    if (parser->token.kind != PTX_TOKEN_NUMBER || end != parser->token.begin + parser->token.length ||
        count < 1 || count > MAXIMUM_FAMILY)
        return ptx_fail(parser, &parser->token, "a number of variables must be from 1 to %d", MAXIMUM_FAMILY);
    if (at->length > MAXIMUM_HEAD) return ptx_fail(parser, at, "this name is too long");
    ptx_advance(parser);
    for (long long i = 0; i < count; i++) {
        const char *name = arena_print(&parser->module->arena, "%.*s%lld", (int)at->length, at->begin, i);
        PtxVariable *variable = new_variable(parser, what, name, at->line);
        PtxToken token = *at;
        token.begin = name;
        token.length = strlen(name);
        if (!measure(parser, at, variable, &(Shape){.count = 0})) return false;
        if (!enter(parser, &token, variable, arena_print(&parser->module->arena, "%s %s", what->text, name)))
            return false;
    }
    return ptx_expect(parser, '>', "'>'");
}

static bool declarator(PtxParser *parser, const DeclarationHead *what) {
    PtxToken at = parser->token;
    if (!ptx_expect(parser, PTX_TOKEN_NAME, "a variable's name")) return false;
    if (at.length > MAXIMUM_NAME) return ptx_fail(parser, &at, "this name is too long");
    if (ptx_accept(parser, '<')) return family(parser, what, &at);
    PtxVariable *variable = new_variable(parser, what, ptx_token_name(parser, &at)->text, at.line);
    Shape form;
    if (!shape(parser, &form) || !measure(parser, &at, variable, &form)) return false;
    if (ptx_accept(parser, '=')) {
        if (parser->function && what->space != PTX_SPACE_CONST && what->space != PTX_SPACE_GLOBAL)
            return ptx_fail(parser, &parser->previous,
                            "only .global and .const variables have initial values");
        bool good = what->is_opaque ? sampler_fields(parser)
                                    : ptx_parse_initial(parser, variable, form.dimensions, form.count);
        if (!good) return false;
    } else if (variable->bytes == 0 &&
               !(what->is_extern || what->space == PTX_SPACE_PARAM || what->space == PTX_SPACE_SHARED)) {
        return ptx_fail(parser, &at, "the array '%.80s' has no size", variable->name);
    }
    const char *rest = ptx_text_since(parser, &at);
    return enter(parser, &at, variable, arena_print(&parser->module->arena, "%s %s", what->text, rest));
}

bool ptx_parse_variables(PtxParser *parser) {
    DeclarationHead what;
    if (!head(parser, &what)) return false;
    if (what.space == PTX_SPACE_REG)
        return ptx_fail(parser, &parser->previous, "registers are declared inside functions");
    do {
        if (!declarator(parser, &what)) return false;
    } while (ptx_accept(parser, ','));
    return true;
}

bool ptx_parse_parameters(PtxParser *parser, PtxVariable ***out, int *count) {
    PtxVariable **list = NULL;
    size_t used = 0, capacity = 0;
    bool good = ptx_expect(parser, '(', "'('");
    while (good && parser->token.kind != ')') {
        PtxToken begin = parser->token;
        DeclarationHead what;
        Shape form;
        good = head(parser, &what);
        PtxToken at = parser->token;
        if (!good || !(good = ptx_expect(parser, PTX_TOKEN_NAME, "a parameter's name"))) break;
        if (what.space != PTX_SPACE_PARAM && what.space != PTX_SPACE_REG)
            good = ptx_fail(parser, &begin, "a parameter must be .param or .reg");
        else if (what.type == PTX_PRED)
            good =
                ptx_fail(parser, &begin, "a function takes and returns no predicates: pass 0 or 1 as .b32");
        PtxVariable *variable = new_variable(parser, &what, ptx_token_name(parser, &at)->text, at.line);
        good = good && shape(parser, &form) && measure(parser, &at, variable, &form);
        if (!good) break;
        variable->text = ptx_text_since(parser, &begin);
        array_push(list, used, capacity, variable);
        if (!ptx_accept(parser, ',')) break;
    }
    *out = ptx_keep(parser->module, list, used, sizeof *list);
    *count = (int)used;
    return good && ptx_expect(parser, ')', "')'");
}
