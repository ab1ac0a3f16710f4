/* Parser: the declarations that its files share. Private to src/ptx.
 *
 * A recursive-descent parser with one token of lookahead. Each file opens with its part of the grammar:
 *   parser_module.c    directives, functions' headers, the extent of bodies
 *   parser_variable.c  declarations of variables and parameters
 *   parser_initial.c   initial values
 *   parser_body.c      statements, scopes, labels
 *   parser_operand.c   instructions and their operands
 *   constants.c        numbers and constant expressions
 * Every function that returns bool returns false after ptx_fail(). Nesting is limited, so recursion is
 * bounded. */
#ifndef PTX_PARSER_H
#define PTX_PARSER_H

#include "ptx/lexer.h"
#include "ptx/names.h"

enum {
    PTX_NESTING_LIMIT = 200,               /* of scopes; of brackets in expressions and operands */
    PTX_TEXT_LIMIT = 512 * 1024 * 1024,    /* bytes of a module */
    PTX_INITIAL_LIMIT = 256 * 1024 * 1024, /* bytes of all initial values of a module */
};
#define PTX_VARIABLE_LIMIT ((uint64_t)1 << 40) /* bytes of one variable */

typedef struct PtxPending { /* a label used before its scope has shown whether it is declared */
    PtxOperand *operand;
    PtxToken token;
    int depth;
    bool is_branch;
} PtxPending;

typedef struct PtxSymbolUse { /* a name in an initial value, checked at the end */
    PtxName *name;
    PtxToken token;
} PtxSymbolUse;

typedef struct PtxParser {
    PtxModule *module;
    PtxLexer lexer;
    PtxToken token; /* the current one */
    PtxToken previous;
    Error *error;
    /* Growing arrays of the part being parsed; moved into the arena when it ends. */
    PtxItem *items;
    size_t item_count, item_capacity;
    PtxFunction **functions;
    size_t function_count, function_capacity;
    PtxVariable **variables;
    size_t variable_count, variable_capacity;
    PtxSourceFile *files;
    size_t file_count, file_capacity;
    PtxSymbolUse *uses;
    size_t use_count, use_capacity;
    uint64_t initial_bytes;
    /* Body. */
    PtxFunction *function;
    PtxStatement *statements;
    size_t statement_count, statement_capacity;
    PtxRegister **registers;
    size_t register_count, register_capacity;
    PtxLoc *locs;
    size_t loc_count, loc_capacity;
    PtxPending *pending;
    size_t pending_count, pending_capacity;
    bool names_labels; /* the present statement has label operands; the last one: */
    PtxToken label_token;
} PtxParser;

/* ---- tokens (parser_module.c) */
bool ptx_fail(PtxParser *parser, const PtxToken *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ptx_unexpected(PtxParser *parser, const char *wanted); /* "expected WANTED, found 'x'" */
/* The same for what ends a statement, whose line is the one that lacks it. */
bool ptx_unended(PtxParser *parser, const char *wanted);
void ptx_advance(PtxParser *parser);
bool ptx_accept(PtxParser *parser, int kind); /* takes the token if it is of that kind */
bool ptx_expect(PtxParser *parser, int kind, const char *wanted);
bool ptx_token_is(const PtxToken *token, const char *text);
PtxName *ptx_token_name(PtxParser *parser, const PtxToken *token);
/* The tokens from `begin` to the end of the previous token, with normalized spacing. */
const char *ptx_text_since(PtxParser *parser, const PtxToken *begin);
/* Moves a growing array into the module's arena and frees it. */
void *ptx_keep(PtxModule *module, void *items, size_t count, size_t item_bytes);

/* ---- constants.c */
typedef struct PtxConstant {
    bool is_float, is_unsigned;
    uint64_t integer; /* two's complement */
    double number;
    uint64_t bits;      /* bits of 0f and 0d literals */
    uint8_t bits_bytes; /* 4, 8; 0: decimal */
} PtxConstant;
bool ptx_constant(PtxParser *parser, PtxConstant *out); /* a whole expression */
bool ptx_constant_integer(PtxParser *parser, int64_t minimum, int64_t maximum, const char *what,
                          int64_t *out);
bool ptx_constant_begins(const PtxParser *parser); /* true if the current token can begin an expression */

/* ---- parser_variable.c */
/* Parses declarations up to the ';' (left for the caller). Module scope: adds items; body: adds
 * statements. */
bool ptx_parse_variables(PtxParser *parser);
/* "(" parameter, ... ")" of a function or prototype. */
bool ptx_parse_parameters(PtxParser *parser, PtxVariable ***out, int *count);
bool ptx_parse_registers(PtxParser *parser); /* .reg, up to the ';' */
PtxRegister *ptx_new_register(PtxParser *parser, const char *name, PtxType type, int vector);

/* ---- parser_initial.c: after "=" */
bool ptx_parse_initial(PtxParser *parser, PtxVariable *variable, const uint64_t *dimensions,
                       int dimension_count);

/* ---- parser_operand.c */
bool ptx_parse_instruction(PtxParser *parser, const PtxToken *name, const PtxOperand *guard,
                           PtxInstruction **out);
bool ptx_parse_guard(PtxParser *parser, PtxOperand *guard);                  /* after "@" */
bool ptx_parse_target(PtxParser *parser, PtxOperand *out, bool is_function); /* one name of a target list */

/* ---- parser_module.c */
bool ptx_parse_prototype(PtxParser *parser, PtxFunction *function); /* after ".callprototype" */

#endif
