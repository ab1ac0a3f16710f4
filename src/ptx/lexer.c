/* Lexer: tokens of PTX text, and the fast skip over bodies that makes indexing a large module cheap. */
#include "ptx/lexer.h"

#include <string.h>

static const char open_comment[] = "this comment has no end; close it with */";

enum { SPACE = 1, START = 2, FOLLOW = 4, DIGIT = 8 };

/* Classes of characters: "Identifiers". A name starts with a letter, _, $ or %, and continues with letters,
 * digits, _ and $. */
static unsigned char_class(unsigned char c) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') return SPACE;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$') return START | FOLLOW;
    if (c >= '0' && c <= '9') return FOLLOW | DIGIT;
    return c == '%' ? START : 0;
}

static bool is(const PtxLexer *lexer, const char *c, unsigned classes) {
    return c < lexer->end && char_class((unsigned char)*c) & classes;
}

static void new_line(PtxLexer *lexer) { /* `at` points to the newline */
    lexer->at++;
    lexer->line++;
    lexer->line_begin = lexer->at;
}

/* Skips a comment that starts at `at`; false: no comment starts here or, with *open set, it has no end. */
static bool skip_comment(PtxLexer *lexer, bool *open) {
    if (lexer->end - lexer->at < 2 || lexer->at[0] != '/') return false;
    if (lexer->at[1] == '/') {
        const char *stop = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
        lexer->at = stop ? stop : lexer->end;
        return true;
    }
    if (lexer->at[1] != '*') return false;
    PtxLexer inside = *lexer;
    for (inside.at += 2; inside.end - inside.at >= 2;) {
        if (inside.at[0] == '*' && inside.at[1] == '/') {
            inside.at += 2;
            *lexer = inside;
            return true;
        }
        if (*inside.at == '\n')
            new_line(&inside);
        else
            inside.at++;
    }
    *open = true;
    return false;
}

static PtxToken finish(PtxLexer *lexer, PtxToken token, int kind, const char *end) {
    token.kind = kind;
    token.length = (size_t)(end - token.begin);
    lexer->at = end;
    return token;
}

static PtxToken bad(PtxLexer *lexer, PtxToken token, const char *problem) {
    token.problem = problem;
    return finish(lexer, token, PTX_TOKEN_BAD, lexer->end);
}

/* A number extends over all letters and digits that follow, so that "12ab" is one bad number, not two
 * tokens. */
static const char *number_end(const PtxLexer *lexer, const char *c) {
    bool decimal = !(c[0] == '0' && is(lexer, c + 1, START) && c[1] != 'e' && c[1] != 'E' && c[1] != 'U');
    while (is(lexer, c, DIGIT)) c++;
    if (decimal && c < lexer->end && *c == '.' && !is(lexer, c + 1, START)) {
        c++;
        while (is(lexer, c, DIGIT)) c++;
    }
    if (decimal && c + 1 < lexer->end && (*c == 'e' || *c == 'E')) {
        const char *exponent = c + 1 + (c[1] == '+' || c[1] == '-');
        if (is(lexer, exponent, DIGIT)) c = exponent;
    }
    while (is(lexer, c, FOLLOW)) c++;
    return c;
}

static const char *dot_end(const PtxLexer *lexer, const char *c) {
    for (;;) {
        while (is(lexer, c, FOLLOW)) c++;
        if (lexer->end - c < 3 || c[0] != ':' || c[1] != ':' || !is(lexer, c + 2, FOLLOW)) return c;
        c += 2;
    }
}

static PtxToken operator_token(PtxLexer *lexer, PtxToken token) {
    static const struct {
        char text[3];
        int kind;
    } pairs[] = {{"<<", PTX_TOKEN_SHIFT_LEFT},    {">>", PTX_TOKEN_SHIFT_RIGHT}, {"<=", PTX_TOKEN_LESS_EQUAL},
                 {">=", PTX_TOKEN_GREATER_EQUAL}, {"==", PTX_TOKEN_EQUAL},       {"!=", PTX_TOKEN_NOT_EQUAL},
                 {"&&", PTX_TOKEN_AND},           {"||", PTX_TOKEN_OR}};
    const char *c = lexer->at;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (lexer->end - c >= 2 && c[0] == pairs[i].text[0] && c[1] == pairs[i].text[1])
            return finish(lexer, token, pairs[i].kind, c + 2);
    if (*c && strchr("{}()[]<>,;:@!|=+-*/%&^~?", *c)) return finish(lexer, token, *c, c + 1);
    return bad(lexer, token, "this character has no meaning in PTX");
}

PtxToken ptx_lexer_next(PtxLexer *lexer) {
    bool open = false;
    for (;;) {
        while (is(lexer, lexer->at, SPACE)) lexer->at++;
        if (lexer->at < lexer->end && *lexer->at == '\n')
            new_line(lexer);
        else if (!skip_comment(lexer, &open))
            break;
    }
    const char *c = lexer->at;
    PtxToken token = {.begin = c, .line = lexer->line, .column = (int)(c - lexer->line_begin) + 1};
    if (open) return bad(lexer, token, open_comment);
    if (c == lexer->end) return finish(lexer, token, PTX_TOKEN_END, c);
    if (is(lexer, c, DIGIT)) return finish(lexer, token, PTX_TOKEN_NUMBER, number_end(lexer, c));
    if (is(lexer, c, START) && (*c != '%' || is(lexer, c + 1, FOLLOW))) {
        for (c++; is(lexer, c, FOLLOW);) c++;
        return finish(lexer, token, PTX_TOKEN_NAME, c);
    }
    if (*c == '.' && is(lexer, c + 1, FOLLOW))
        return finish(lexer, token, PTX_TOKEN_DOT, dot_end(lexer, c + 1));
    if (*c == '"') {
        for (c++; c < lexer->end && *c != '"' && *c != '\n';)
            c += *c == '\\' && lexer->end - c > 1 && c[1] != '\n' ? 2 : 1;
        if (c >= lexer->end || *c != '"')
            return bad(lexer, token, "this string has no end on its line; close it with \"");
        return finish(lexer, token, PTX_TOKEN_STRING, c + 1);
    }
    return operator_token(lexer, token);
}

bool ptx_lexer_skip_braces(PtxLexer *lexer, PtxToken *comment) {
    size_t depth = 1;
    while (lexer->at < lexer->end) {
        bool open = false;
        switch (*lexer->at) {
        case '\n':
            new_line(lexer);
            continue;
        case '/':
            if (skip_comment(lexer, &open)) continue;
            if (open) {
                *comment = (PtxToken){.begin = lexer->at,
                                      .line = lexer->line,
                                      .column = (int)(lexer->at - lexer->line_begin) + 1,
                                      .problem = open_comment};
                lexer->at = lexer->end;
            }
            break;
        case '"':
            for (lexer->at++; lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n';)
                lexer->at += *lexer->at == '\\' && lexer->end - lexer->at > 1 && lexer->at[1] != '\n' ? 2 : 1;
            if (lexer->at < lexer->end && *lexer->at == '\n') continue;
            break;
        case '{':
            depth++;
            break;
        case '}':
            if (--depth == 0) {
                lexer->at++;
                return true;
            }
            break;
        default:
            break;
        }
        if (lexer->at < lexer->end) lexer->at++;
    }
    return false;
}
