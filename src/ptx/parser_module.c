/* The module's level of the grammar ("Directives").
 *
 *   module    = {directive | [linkage] (variables ";" | function)}
 *   directive = ".version" n | ".target" names | ".address_size" n | ".file" ... |
 *               ".section" name "{" ... "}" | ".pragma" strings ";" | ".alias" name "," name ";" | ...
 *   function  = {linkage} (".entry" | ".func" [attribute] [parameters]) name [parameters] {performance}
 *               ([";"] | "{" body "}")
 *
 * Bodies are only measured here, so that choosing one of many entries does not parse the others. */
#include "ptx/messages.h"
#include "ptx/parser.h"
#include "ptx/versions.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- tokens ------------------------------------------------------------------------------------------ */

bool ptx_fail(PtxParser *parser, const PtxToken *at, const char *format, ...) {
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return ptx_fail_at(parser->module, at->begin, at->line, at->column, parser->error, "%s", message);
}

bool ptx_unexpected(PtxParser *parser, const char *wanted) {
    const PtxToken *token = &parser->token;
    if (token->kind == PTX_TOKEN_BAD) return ptx_fail(parser, token, "%s", token->problem);
    if (token->kind == PTX_TOKEN_END)
        return ptx_fail(parser, token, "expected %s, found the end of the text", wanted);
    int shown = (int)(token->length < 40 ? token->length : 40);
    return ptx_fail(parser, token, "expected %s, found '%.*s'", wanted, shown, token->begin);
}

void ptx_advance(PtxParser *parser) {
    parser->previous = parser->token;
    parser->token = ptx_lexer_next(&parser->lexer);
}

bool ptx_accept(PtxParser *parser, int kind) {
    if (parser->token.kind != kind) return false;
    ptx_advance(parser);
    return true;
}

bool ptx_expect(PtxParser *parser, int kind, const char *wanted) {
    if (ptx_accept(parser, kind)) return true;
    return kind == ';' ? ptx_unended(parser, wanted) : ptx_unexpected(parser, wanted);
}

bool ptx_unended(PtxParser *parser, const char *wanted) {
    const PtxToken *token = &parser->token, *previous = &parser->previous;
    if (token->kind == PTX_TOKEN_END || token->kind == PTX_TOKEN_BAD || token->line == previous->line)
        return ptx_unexpected(parser, wanted);
    return ptx_fail_at(parser->module, previous->begin + previous->length, previous->line,
                       previous->column + (int)previous->length, parser->error,
                       "expected %s at the end of this line", wanted);
}

bool ptx_token_is(const PtxToken *token, const char *text) {
    return token->length == strlen(text) && !memcmp(token->begin, text, token->length);
}

PtxName *ptx_token_name(PtxParser *parser, const PtxToken *token) {
    return ptx_names_get(parser->module->names, token->begin, token->length);
}

static bool ends_value(int kind) {
    return kind == PTX_TOKEN_NAME || kind == PTX_TOKEN_NUMBER || kind == ')' || kind == ']';
}

static bool spaced(const PtxToken *left, const PtxToken *right) {
    if (left->kind == '(' || left->kind == '[' || left->kind == '{') return false;
    if (right->kind == ')' || right->kind == ']' || right->kind == '}' || right->kind == ',' ||
        right->kind == ';' || right->kind == '[')
        return false;
    return !(right->kind == '(' &&
             (left->kind == PTX_TOKEN_NAME || left->kind == PTX_TOKEN_NUMBER || left->kind == PTX_TOKEN_DOT));
}

const char *ptx_text_since(PtxParser *parser, const PtxToken *begin) {
    PtxLexer lexer = {.at = begin->begin,
                      .end = parser->previous.begin + parser->previous.length,
                      .line_begin = begin->begin};
    Text text = {0};
    PtxToken left = {0};
    bool sign = false;  /* `left` is the sign of a number */
    bool count = false; /* inside name<count> */
    for (PtxToken token = ptx_lexer_next(&lexer); token.kind < PTX_TOKEN_END || token.kind > PTX_TOKEN_END;
         token = ptx_lexer_next(&lexer)) {
        bool opens = token.kind == '<' && left.kind == PTX_TOKEN_NAME;
        if (left.kind && !sign && !opens && !count && spaced(&left, &token)) text_add(&text, " ");
        count = opens || (count && token.kind != '>');
        text_add_bytes(&text, token.begin, token.length);
        sign = token.kind == '-' && !ends_value(left.kind);
        left = token;
    }
    const char *result = arena_copy_text(&parser->module->arena, text_string(&text), text.length);
    text_done(&text);
    return result;
}

void *ptx_keep(PtxModule *module, void *items, size_t count, size_t item_bytes) {
    void *result = count ? arena_copy(&module->arena, items, count * item_bytes) : NULL;
    free(items);
    return result;
}

/* Moves past the brace that closes `brace`. After an unterminated comment no brace counts. */
static bool skip_braces(PtxParser *parser, const PtxToken *brace) {
    PtxToken comment = {0};
    if (ptx_lexer_skip_braces(&parser->lexer, &comment)) return true;
    if (comment.begin) return ptx_fail(parser, &comment, "%s", comment.problem);
    return ptx_fail(parser, brace, "this brace is never closed");
}

/* ---- directives -------------------------------------------------------------------------------------- */

static void add_directive(PtxParser *parser, const char *text) {
    PtxItem item = {.kind = PTX_ITEM_DIRECTIVE, .text = text};
    array_push(parser->items, parser->item_count, parser->item_capacity, item);
}

static bool version(PtxParser *parser) {
    const PtxToken *token = &parser->token;
    PtxModule *module = parser->module;
    if (module->version_major) return ptx_fail(parser, &parser->previous, "a module has only one .version");
    char *dot = NULL, why[128];
    long major = token->kind == PTX_TOKEN_NUMBER ? strtol(token->begin, &dot, 10) : 0;
    const char *end = token->begin + token->length;
    if (!dot || dot >= end || *dot != '.' || major < 1 || major > 99)
        return ptx_unexpected(parser, "a version such as 7.8");
    module->version_major = (int)major;
    for (const char *c = dot + 1; c < end; c++) {
        if (*c < '0' || *c > '9' || c > dot + 2) return ptx_unexpected(parser, "a version such as 7.8");
        module->version_minor = module->version_minor * 10 + (*c - '0');
    }
    if (!ptx_version_exists(module->version_major, module->version_minor, why, sizeof why))
        return ptx_fail(parser, token, "%s", why);
    ptx_advance(parser);
    return true;
}

static bool target(PtxParser *parser) {
    PtxModule *module = parser->module;
    do {
        PtxToken at = parser->token;
        char why[128];
        if (!ptx_expect(parser, PTX_TOKEN_NAME, "a target such as sm_75")) return false;
        const char *name = ptx_token_name(parser, &at)->text;
        if (module->target && ptx_target_option_exists(name)) continue;
        if (!ptx_target_exists(name, module->version_major, module->version_minor, why, sizeof why))
            return ptx_fail(parser, &at, "%s", why);
        if (!module->target) module->target = name;
    } while (ptx_accept(parser, ','));
    return true;
}

static bool address_size(PtxParser *parser) {
    PtxToken at = parser->token;
    int64_t bits;
    if (!ptx_constant_integer(parser, 32, 64, "the address size", &bits)) return false;
    if (bits != 32 && bits != 64) return ptx_fail(parser, &at, "the address size must be 32 or 64");
    parser->module->address_bytes = (int)bits / 8;
    return true;
}

/* Decodes, in place, a path as nvcc and clang write it: \ and three octal digits are a byte beyond ASCII; \\
 * and \" stand for the character after the backslash. */
static void decode_path(char *path) {
    char *to = path;
    for (const char *at = path; *at; to++) {
        bool is_octal = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && strspn(at + 1, "01234567") >= 3;
        if (at[0] == '\\' && (at[1] == '\\' || at[1] == '"')) at++;
        *to = is_octal ? (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0')) : *at;
        at += is_octal ? 4 : 1;
    }
    *to = 0;
}

static bool file(PtxParser *parser) { /* .file 1 "path" [, timestamp, size] */
    int64_t number, ignored;
    if (!ptx_constant_integer(parser, 0, INT32_MAX, "the number of a file", &number)) return false;
    PtxToken path = parser->token;
    if (!ptx_expect(parser, PTX_TOKEN_STRING, "a path in quotes")) return false;
    while (ptx_accept(parser, ','))
        if (!ptx_constant_integer(parser, 0, INT64_MAX, "this", &ignored)) return false;
    char *name = arena_copy_text(&parser->module->arena, path.begin + 1, path.length - 2);
    decode_path(name);
    PtxSourceFile entry = {(int)number, name};
    array_push(parser->files, parser->file_count, parser->file_capacity, entry);
    return true;
}

/* .section .debug_str { ... }: kept as written; lines end its data directives. */
static bool section(PtxParser *parser, const PtxToken *begin) {
    if (parser->token.kind != PTX_TOKEN_DOT && parser->token.kind != PTX_TOKEN_NAME)
        return ptx_unexpected(parser, "a section's name");
    ptx_advance(parser);
    PtxToken brace = parser->token;
    if (brace.kind != '{') return ptx_unexpected(parser, "'{'");
    if (!skip_braces(parser, &brace)) return false;
    add_directive(parser, arena_copy_text(&parser->module->arena, begin->begin,
                                          (size_t)(parser->lexer.at - begin->begin)));
    ptx_advance(parser);
    return true;
}

static bool pragma(PtxParser *parser) {
    do {
        if (!ptx_expect(parser, PTX_TOKEN_STRING, "a string")) return false;
    } while (ptx_accept(parser, ','));
    return true;
}

static bool alias(PtxParser *parser) { /* both names are known by now */
    PtxToken left = parser->token;
    if (!ptx_expect(parser, PTX_TOKEN_NAME, "a function's name") || !ptx_expect(parser, ',', "','"))
        return false;
    PtxToken right = parser->token;
    if (!ptx_expect(parser, PTX_TOKEN_NAME, "a function's name")) return false;
    const PtxMeaning *from = ptx_token_name(parser, &left)->top, *to = ptx_token_name(parser, &right)->top;
    if (!from || from->kind != PTX_MEANS_FUNCTION)
        return ptx_fail(parser, &left, ".alias needs a function that is declared before");
    if (!to || to->kind != PTX_MEANS_FUNCTION || to->function == from->function || to->function->alias_of ||
        from->function->has_body)
        return ptx_fail(parser, &right, ".alias needs another function, which is declared before");
    from->function->alias_of = to->function;
    return true;
}

/* ---- functions --------------------------------------------------------------------------------------- */

static bool dimensions(PtxParser *parser, const char *what, uint32_t out[3]) {
    int64_t value;
    for (int i = 0; i < 3; i++) out[i] = 1;
    for (int i = 0; i < 3; i++) {
        if (!ptx_constant_integer(parser, 0, UINT32_MAX, what, &value)) return false;
        out[i] = (uint32_t)value;
        if (i == 2 || !ptx_accept(parser, ',')) break;
    }
    return true;
}

/* "Cluster Dimension Directives". */
static bool cluster_directive(PtxParser *parser, const PtxToken *word, PtxFunction *function, bool *good) {
    static const char what[] = "a number of blocks";
    int64_t most;
    *good = true;
    if (ptx_token_is(word, ".explicitcluster")) return function->needs_cluster = true;
    if (ptx_token_is(word, ".blocksareclusters")) return function->blocks_are_clusters = true;
    if (ptx_token_is(word, ".reqnctapercluster")) {
        *good = dimensions(parser, what, function->required_cluster);
        return true;
    }
    if (!ptx_token_is(word, ".maxclusterrank")) return false;
    *good = ptx_constant_integer(parser, 1, UINT32_MAX, what, &most);
    if (*good) function->maximum_cluster = (uint32_t)most;
    return true;
}

/* Directives between a function's parameters and its body; unknown ones with numbers or strings are kept as
 * text. */
static bool performance(PtxParser *parser, PtxFunction *function) {
    PtxToken word = parser->token;
    ptx_advance(parser);
    static const char threads[] = "a number of threads";
    bool good;
    if (ptx_token_is(&word, ".maxntid")) return dimensions(parser, threads, function->maximum_threads);
    if (ptx_token_is(&word, ".reqntid")) return dimensions(parser, threads, function->required_threads);
    if (cluster_directive(parser, &word, function, &good)) return good;
    if (ptx_token_is(&word, ".noreturn")) return function->is_noreturn = true;
    if (ptx_token_is(&word, ".pragma")) {
        if (!pragma(parser)) return false;
        PtxLexer ahead = parser->lexer;
        int next = ptx_lexer_next(&ahead).kind;
        if (parser->token.kind == ';' && (next == '{' || next == ';')) ptx_advance(parser); /* its own ';' */
        return true;
    }
    while (parser->token.kind == PTX_TOKEN_STRING || ptx_constant_begins(parser)) {
        PtxConstant ignored;
        if (parser->token.kind == PTX_TOKEN_STRING)
            ptx_advance(parser);
        else if (!ptx_constant(parser, &ignored))
            return false;
        if (!ptx_accept(parser, ',')) break;
    }
    return true;
}

/* Compilers up to CUDA 4 wrote no ';' after declarations of functions: the first word of the next item ends
 * them. */
static bool begins_item(const PtxToken *token) {
    static const char *const words[] = {".visible", ".extern", ".weak",    ".common", ".entry",
                                        ".func",    ".global", ".const",   ".shared", ".local",
                                        ".tex",     ".file",   ".section", ".alias"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_token_is(token, words[i])) return true;
    return false;
}

/* [parameters] name [parameters] {performance}; the results of a .func come before its name. */
static bool signature(PtxParser *parser, PtxFunction *function, PtxToken *name) {
    if (ptx_token_is(&parser->token, ".attribute")) { /* .func .attribute(.unified(1, 2)) */
        ptx_advance(parser);
        while (parser->token.kind != ')' && parser->token.kind != PTX_TOKEN_END && parser->token.kind != '{')
            ptx_advance(parser);
        while (ptx_accept(parser, ')')) {
        }
    }
    if (parser->token.kind == '(' &&
        !ptx_parse_parameters(parser, &function->results, &function->result_count))
        return false;
    *name = parser->token;
    if (!ptx_expect(parser, PTX_TOKEN_NAME, "a function's name")) return false;
    if (parser->token.kind == '(' &&
        !ptx_parse_parameters(parser, &function->parameters, &function->parameter_count))
        return false;
    PtxToken begin = parser->token;
    while (parser->token.kind == PTX_TOKEN_DOT && !begins_item(&parser->token))
        if (!performance(parser, function)) return false;
    function->directives = begin.begin != parser->token.begin ? ptx_text_since(parser, &begin) : "";
    return true;
}

bool ptx_parse_prototype(PtxParser *parser, PtxFunction *function) {
    PtxToken name;
    if (!signature(parser, function, &name)) return false;
    function->name = ptx_token_name(parser, &name)->text;
    return true;
}

static bool measure_body(PtxParser *parser, PtxFunction *function) {
    PtxToken brace = parser->token;
    function->has_body = true;
    function->body_begin = (size_t)(brace.begin - parser->module->text);
    function->body_line = brace.line;
    function->body_line_begin = function->body_begin - (size_t)(brace.column - 1);
    if (!skip_braces(parser, &brace)) return false;
    function->body_end = (size_t)(parser->lexer.at - parser->module->text);
    ptx_advance(parser);
    return true;
}

/* Merges a declaration with earlier ones of that name. On success *function is the one to continue with. */
static bool enter_function(PtxParser *parser, const PtxToken *at, PtxFunction **function) {
    PtxName *name = ptx_token_name(parser, at);
    PtxMeaning *meaning = ptx_names_declare(parser->module->names, name, PTX_MEANS_FUNCTION);
    if (meaning) {
        (*function)->name = name->text;
        meaning->function = *function;
        (*function)->index = (int)parser->function_count;
        array_push(parser->functions, parser->function_count, parser->function_capacity, *function);
        return true;
    }
    PtxFunction *before = name->top->function, *now = *function;
    if (name->top->kind != PTX_MEANS_FUNCTION || before->is_entry != now->is_entry)
        return ptx_fail(parser, at, "'%.80s' is already the name of something else", name->text);
    if (before->has_body && now->has_body)
        return ptx_fail(parser, at, "the function '%.80s' has two bodies", name->text);
    now->name = name->text;
    now->index = before->index;
    now->is_visible |= before->is_visible;
    now->is_weak |= before->is_weak;
    now->is_noreturn |= before->is_noreturn;
    if (now->has_body) *before = *now;
    *function = before;
    return true;
}

/* Parameters and results must have distinct names. */
static bool check_parameters(PtxParser *parser, const PtxToken *at, PtxFunction *function) {
    ptx_names_open(parser->module->names);
    bool good = true;
    for (int i = 0; good && i < function->parameter_count + function->result_count; i++) {
        PtxVariable *variable = i < function->result_count ? function->results[i]
                                                           : function->parameters[i - function->result_count];
        PtxName *name = ptx_names_get(parser->module->names, variable->name, strlen(variable->name));
        if (!ptx_names_declare(parser->module->names, name, PTX_MEANS_VARIABLE))
            good = ptx_fail(parser, at, "two parameters of this function are named '%.80s'", name->text);
    }
    ptx_names_close(parser->module->names);
    return good;
}

static bool function(PtxParser *parser, const PtxToken *begin, const PtxFunction *linkage) {
    PtxFunction *function = arena_new(&parser->module->arena, sizeof *function);
    *function = *linkage;
    function->is_entry = ptx_token_is(&parser->token, ".entry");
    function->line = begin->line;
    ptx_advance(parser);
    PtxToken name;
    if (!signature(parser, function, &name)) return false;
    const char *header = ptx_text_since(parser, begin);
    bool is_definition = parser->token.kind == '{';
    if (is_definition && !check_parameters(parser, &name, function)) return false;
    if (is_definition && !measure_body(parser, function)) return false;
    if (!is_definition && !ptx_accept(parser, ';') && !begins_item(&parser->token))
        return ptx_unexpected(parser, "';' or the function's body");
    if (!enter_function(parser, &name, &function)) return false;
    for (int i = 0; i < function->parameter_count; i++) function->parameters[i]->function = function;
    for (int i = 0; i < function->result_count; i++) function->results[i]->function = function;
    PtxItem item = {
        .kind = PTX_ITEM_FUNCTION, .text = header, .function = function, .is_definition = is_definition};
    array_push(parser->items, parser->item_count, parser->item_capacity, item);
    return true;
}

/* A declaration: looks past the linkage to see whether a function or variables follow. */
static bool declaration(PtxParser *parser) {
    PtxToken begin = parser->token;
    PtxParser saved = *parser;
    PtxFunction linkage = {0};
    for (;; ptx_advance(parser)) {
        if (ptx_token_is(&parser->token, ".extern"))
            linkage.is_extern = true;
        else if (ptx_token_is(&parser->token, ".visible"))
            linkage.is_visible = true;
        else if (ptx_token_is(&parser->token, ".weak"))
            linkage.is_weak = true;
        else
            break;
    }
    if (ptx_token_is(&parser->token, ".entry") || ptx_token_is(&parser->token, ".func"))
        return function(parser, &begin, &linkage);
    parser->token = saved.token;
    parser->previous = saved.previous;
    parser->lexer = saved.lexer;
    return ptx_parse_variables(parser) && ptx_expect(parser, ';', "';'");
}

static bool item(PtxParser *parser) {
    static const struct {
        const char *text;
        bool (*parse)(PtxParser *parser);
        bool semicolon;
    } directives[] = {
        {".version", version, false}, {".target", target, false}, {".address_size", address_size, false},
        {".file", file, false},       {".pragma", pragma, true},  {".alias", alias, true}};
    PtxToken begin = parser->token;
    if (ptx_accept(parser, ';')) return true; /* an empty statement */
    if (begin.kind != PTX_TOKEN_DOT) return ptx_unexpected(parser, "a directive such as .visible or .global");
    if (ptx_token_is(&begin, ".section")) {
        ptx_advance(parser);
        return section(parser, &begin);
    }
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        if (!ptx_token_is(&begin, directives[i].text)) continue;
        ptx_advance(parser);
        if (!directives[i].parse(parser)) return false;
        if (directives[i].semicolon && !ptx_expect(parser, ';', "';'")) return false;
        add_directive(parser, ptx_text_since(parser, &begin));
        return true;
    }
    return declaration(parser);
}

/* ---- the module -------------------------------------------------------------------------------------- */

static bool check_uses(PtxParser *parser) {
    for (size_t i = 0; i < parser->use_count; i++)
        if (!parser->uses[i].name->top)
            return ptx_fail(parser, &parser->uses[i].token, "'%.80s' is not declared",
                            parser->uses[i].name->text);
    return true;
}

static bool module(PtxParser *parser) {
    PtxModule *module = parser->module;
    const char *foreign = ptx_foreign_format(module->text, module->length);
    if (foreign) return error_set_at(parser->error, module->file, 0, 0, "%s", foreign);
    const char *zero = memchr(module->text, 0, module->length);
    if (zero) { /* strings of the IR end at a zero byte */
        PtxToken at = {.begin = zero, .line = 1, .column = 1};
        for (const char *c = module->text; c < zero; c++) {
            at.column = *c == '\n' ? 1 : at.column + 1;
            at.line += *c == '\n';
        }
        return ptx_fail(parser, &at, "a zero byte: this is not PTX text");
    }
    ptx_advance(parser);
    if (!ptx_token_is(&parser->token, ".version"))
        return ptx_fail(parser, &parser->token, "this is not PTX: it must begin with .version");
    while (parser->token.kind != PTX_TOKEN_END)
        if (!item(parser)) return false;
    if (!module->target) return ptx_unexpected(parser, ".target");
    return check_uses(parser);
}

PtxModule *ptx_module_parse(const char *text, size_t length, const char *file_name, Error *error) {
    if (length > PTX_TEXT_LIMIT) {
        error_set_at(error, file_name, 0, 0, "%zu bytes of PTX are too many; the limit is 512 MB", length);
        return NULL;
    }
    while (length && !text[length - 1]) length--; /* the terminator of embedded PTX */
    PtxModule *result = memory_new(sizeof *result);
    result->file = arena_copy_string(&result->arena, file_name);
    result->text = arena_copy_text(&result->arena, text, length);
    result->length = length;
    result->address_bytes = 4; /* "Module-Level Directives: .address_size": the default is 32 */
    result->names = ptx_names_new(&result->arena);
    PtxParser parser = {.module = result, .error = error};
    parser.lexer = (PtxLexer){result->text, result->text + length, result->text, 1};
    bool good = module(&parser);
    result->items = ptx_keep(result, parser.items, parser.item_count, sizeof *parser.items);
    result->item_count = (int)parser.item_count;
    result->functions = ptx_keep(result, parser.functions, parser.function_count, sizeof(PtxFunction *));
    result->function_count = (int)parser.function_count;
    result->variables = ptx_keep(result, parser.variables, parser.variable_count, sizeof(PtxVariable *));
    result->variable_count = (int)parser.variable_count;
    result->files = ptx_keep(result, parser.files, parser.file_count, sizeof *parser.files);
    result->file_count = (int)parser.file_count;
    free(parser.uses);
    if (good) return result;
    ptx_module_free(result);
    return NULL;
}

void ptx_module_free(PtxModule *module) {
    if (!module) return;
    ptx_names_free(module->names);
    arena_done(&module->arena);
    free(module);
}

PtxFunction *ptx_module_find(const PtxModule *module, const char *name) {
    const PtxName *found = ptx_names_find(module->names, name, strlen(name));
    return found && found->top && found->top->kind == PTX_MEANS_FUNCTION ? found->top->function : NULL;
}
