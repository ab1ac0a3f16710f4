/* Lexer: PTX text as tokens ("Syntax" in the PTX ISA). Private to src/ptx.
 *
 * A token is a range of the text, never a copy. Its reader interprets numbers. */
#ifndef PTX_LEXER_H
#define PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>

/* Single characters are their own kind. */
typedef enum PtxTokenKind {
    PTX_TOKEN_END = 256,
    PTX_TOKEN_NAME,   /* add  %r1  $L__BB0_2  _Z3sumPi */
    PTX_TOKEN_DOT,    /* .f32  .shared::cta  .m16n8k16: with the dot */
    PTX_TOKEN_NUMBER, /* 12  0x1F  0f3F800000  1.5e3  7U */
    PTX_TOKEN_STRING, /* with its quotes */
    PTX_TOKEN_SHIFT_LEFT,
    PTX_TOKEN_SHIFT_RIGHT,
    PTX_TOKEN_LESS_EQUAL,
    PTX_TOKEN_GREATER_EQUAL,
    PTX_TOKEN_EQUAL,
    PTX_TOKEN_NOT_EQUAL,
    PTX_TOKEN_AND,
    PTX_TOKEN_OR,
    PTX_TOKEN_BAD /* `problem` says what is wrong */
} PtxTokenKind;

typedef struct PtxToken {
    int kind;
    const char *begin;
    size_t length;
    int line, column; /* from 1; a column is a byte */
    const char *problem;
} PtxToken;

typedef struct PtxLexer {
    const char *at, *end;
    const char *line_begin;
    int line;
} PtxLexer;

PtxToken ptx_lexer_next(PtxLexer *lexer);

/* With the lexer just after an opening brace: moves it past the closing brace, skipping comments and strings.
 * Returns false at the end of the text; *comment is then the unterminated comment, if any. */
bool ptx_lexer_skip_braces(PtxLexer *lexer, PtxToken *comment);

#endif
