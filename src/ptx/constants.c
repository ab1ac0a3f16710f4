/* Constants: number literals and constant expressions ("Constants", "Constant Expressions").
 *
 *   constant    = binary ["?" constant ":" constant]
 *   binary      = unary {operator unary}         precedence as in C
 *   unary       = ("+" | "-" | "!" | "~") unary | "(" (".s64" | ".u64" | ".f64") ")" unary |
 *                 "(" constant ")" | number | WARP_SZ
 *
 * Integers have 64 bits and are signed unless they have the suffix U or do not fit. */
#include "ptx/parser.h"

#include <errno.h>
#include <stdlib.h>

static bool hex_bits(const char *digits, size_t length, uint64_t *bits) {
    *bits = 0;
    for (size_t i = 0; i < length; i++) {
        char c = digits[i];
        int value = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (value < 0) return false;
        *bits = *bits << 4 | (uint64_t)value;
    }
    return true;
}

/* 0f3F800000, 0d3FF0000000000000 */
static bool exact_float(const char *text, size_t length, PtxConstant *out) {
    size_t digits = (text[1] | 32) == 'f' ? 8 : 16;
    if (length != digits + 2 || !hex_bits(text + 2, digits, &out->bits)) return false;
    out->is_float = true;
    out->bits_bytes = (uint8_t)(digits / 2);
    if (digits == 8) {
        uint32_t bits = (uint32_t)out->bits;
        float number;
        memcpy(&number, &bits, sizeof number);
        out->number = number;
    } else {
        memcpy(&out->number, &out->bits, sizeof out->number);
    }
    return true;
}

static bool decimal_float(const char *text, size_t length, PtxConstant *out) {
    char copy[128], *end;
    if (length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    out->is_float = true;
    out->number = strtod(copy, &end);
    return *end == 0;
}

static bool integer(const char *text, size_t length, PtxConstant *out) {
    if (length > 1 && text[length - 1] == 'U') {
        out->is_unsigned = true;
        length--;
    }
    unsigned base = 10;
    if (length > 1 && text[0] == '0') {
        base = (text[1] | 32) == 'x' ? 16 : (text[1] | 32) == 'b' ? 2 : 8;
        size_t prefix = base == 8 ? 1 : 2;
        if (length == prefix) return false;
        text += prefix;
        length -= prefix;
    }
    out->integer = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'                 ? (unsigned)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (unsigned)((c | 32) - 'a' + 10)
                                                              : 99;
        if (digit >= base || out->integer > (UINT64_MAX - digit) / base) return false;
        out->integer = out->integer * base + digit;
    }
    if (out->integer > INT64_MAX) out->is_unsigned = true;
    return true;
}

static bool is_decimal_float(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] == '.' || text[i] == 'e' || text[i] == 'E') return true;
    return false;
}

static bool number(PtxParser *parser, PtxConstant *out) {
    const char *text = parser->token.begin;
    size_t length = parser->token.length;
    *out = (PtxConstant){0};
    char mark = length > 1 && text[0] == '0' ? (char)(text[1] | 32) : 0;
    bool good = mark == 'f' || mark == 'd'                      ? exact_float(text, length, out)
                : mark != 'x' && is_decimal_float(text, length) ? decimal_float(text, length, out)
                                                                : integer(text, length, out);
    if (!good)
        return ptx_fail(parser, &parser->token, "'%.*s' is not a number, or does not fit 64 bits",
                        (int)(length < 40 ? length : 40), text);
    ptx_advance(parser);
    return true;
}

bool ptx_constant_begins(const PtxParser *parser) {
    const PtxToken *token = &parser->token;
    if (token->kind == PTX_TOKEN_DOT) return token->begin[1] >= '0' && token->begin[1] <= '9';
    return token->kind == PTX_TOKEN_NUMBER || token->kind == '-' || token->kind == '+' ||
           token->kind == '~' || token->kind == '!' || token->kind == '(' ||
           (token->kind == PTX_TOKEN_NAME && ptx_token_is(token, "WARP_SZ"));
}

static bool constant(PtxParser *parser, PtxConstant *out, int depth);

static PtxConstant from_integer(uint64_t value, bool is_unsigned) {
    return (PtxConstant){.integer = value, .is_unsigned = is_unsigned};
}
static PtxConstant from_float(double value) {
    return (PtxConstant){.is_float = true, .number = value};
}
static double as_float(const PtxConstant *c) {
    return c->is_float ? c->number : c->is_unsigned ? (double)c->integer : (double)(int64_t)c->integer;
}
static bool is_true(const PtxConstant *c) {
    return c->is_float ? c->number != 0 : c->integer != 0;
}

static PtxConstant cast(const PtxConstant *value, bool to_float, bool to_unsigned) {
    if (to_float) return from_float(as_float(value));
    if (!value->is_float) return from_integer(value->integer, to_unsigned);
    if (!(value->number > -9.3e18 && value->number < 1.8e19)) return from_integer(0, to_unsigned);
    return from_integer(value->number < 9.2e18 ? (uint64_t)(int64_t)value->number : (uint64_t)value->number,
                        to_unsigned);
}

static PtxConstant negative(const PtxConstant *value) {
    if (!value->is_float) return from_integer(0 - value->integer, value->is_unsigned);
    PtxConstant result = *value;
    result.number = -value->number;
    if (value->bits_bytes) result.bits ^= (uint64_t)1 << (value->bits_bytes * 8 - 1);
    return result;
}

static bool dot_float(PtxParser *parser, PtxConstant *out) { /* ".5": the lexer reads it as a modifier */
    const PtxToken *token = &parser->token;
    *out = (PtxConstant){0};
    if (!decimal_float(token->begin, token->length, out))
        return ptx_fail(parser, token, "'%.*s' is not a number",
                        (int)(token->length < 40 ? token->length : 40), token->begin);
    ptx_advance(parser);
    return true;
}

static bool parenthesis(PtxParser *parser, PtxConstant *out, int depth);

static bool unary(PtxParser *parser, PtxConstant *out, int depth) {
    *out = (PtxConstant){0};
    if (depth > PTX_NESTING_LIMIT)
        return ptx_fail(parser, &parser->token, "this expression is nested too deeply");
    int kind = parser->token.kind;
    if (kind == PTX_TOKEN_NUMBER) return number(parser, out);
    if (kind == PTX_TOKEN_DOT && ptx_constant_begins(parser)) return dot_float(parser, out);
    if (kind == PTX_TOKEN_NAME && ptx_token_is(&parser->token, "WARP_SZ")) {
        *out = from_integer(32, false);
        ptx_advance(parser);
        return true;
    }
    if (kind == '(') return parenthesis(parser, out, depth);
    if (kind != '+' && kind != '-' && kind != '~' && kind != '!') return ptx_unexpected(parser, "a number");
    PtxToken sign = parser->token;
    ptx_advance(parser);
    PtxConstant value;
    if (!unary(parser, &value, depth + 1)) return false;
    if (kind == '~' && value.is_float) return ptx_fail(parser, &sign, "~ needs an integer");
    *out = kind == '+'   ? value
           : kind == '-' ? negative(&value)
           : kind == '~' ? from_integer(~value.integer, value.is_unsigned)
                         : from_integer(!is_true(&value), false);
    return true;
}

static bool parenthesis(PtxParser *parser, PtxConstant *out, int depth) {
    ptx_advance(parser);
    const PtxToken *token = &parser->token;
    bool is_signed = ptx_token_is(token, ".s64"), is_unsigned = ptx_token_is(token, ".u64"),
         is_float = ptx_token_is(token, ".f64");
    if (is_signed || is_unsigned || is_float) {
        ptx_advance(parser);
        PtxConstant value;
        if (!ptx_expect(parser, ')', "')'") || !unary(parser, &value, depth + 1)) return false;
        *out = cast(&value, is_float, is_unsigned);
        return true;
    }
    return constant(parser, out, depth + 1) && ptx_expect(parser, ')', "')'");
}

/* clang-format off */
static int precedence(int kind) {
    switch (kind) {
    case '*': case '/': case '%': return 10;
    case '+': case '-': return 9;
    case PTX_TOKEN_SHIFT_LEFT: case PTX_TOKEN_SHIFT_RIGHT: return 8;
    case '<': case '>': case PTX_TOKEN_LESS_EQUAL: case PTX_TOKEN_GREATER_EQUAL: return 7;
    case PTX_TOKEN_EQUAL: case PTX_TOKEN_NOT_EQUAL: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case PTX_TOKEN_AND: return 2;
    case PTX_TOKEN_OR: return 1;
    default: return 0;
    }
}

static bool fold_float(int kind, double a, double b, PtxConstant *out) {
    switch (kind) {
    case '+': *out = from_float(a + b); return true;
    case '-': *out = from_float(a - b); return true;
    case '*': *out = from_float(a * b); return true;
    case '/': *out = from_float(a / b); return true;
    case '<': *out = from_integer(a < b, false); return true;
    case '>': *out = from_integer(a > b, false); return true;
    case PTX_TOKEN_LESS_EQUAL: *out = from_integer(a <= b, false); return true;
    case PTX_TOKEN_GREATER_EQUAL: *out = from_integer(a >= b, false); return true;
    case PTX_TOKEN_EQUAL: *out = from_integer(a == b, false); return true;
    case PTX_TOKEN_NOT_EQUAL: *out = from_integer(a != b, false); return true;
    default: return false;
    }
}

/* clang-format on */

/* Division by zero is rejected earlier. The one signed quotient that overflows wraps. */
static uint64_t quotient(uint64_t a, uint64_t b, bool is_unsigned, bool want_rest) {
    if (is_unsigned) return want_rest ? a % b : a / b;
    if (b == UINT64_MAX) return want_rest ? 0 : 0 - a;
    int64_t x = (int64_t)a, y = (int64_t)b;
    return (uint64_t)(want_rest ? x % y : x / y);
}

static uint64_t shift(uint64_t a, uint64_t count, bool right, bool is_unsigned) {
    bool fill = right && !is_unsigned && a >> 63;
    if (count > 63) return fill ? UINT64_MAX : 0;
    if (!right) return a << count;
    return a >> count | (fill && count ? UINT64_MAX << (64 - count) : 0);
}

static PtxConstant fold_integer(int kind, const PtxConstant *x, const PtxConstant *y) {
    uint64_t a = x->integer, b = y->integer;
    bool is_unsigned = x->is_unsigned || y->is_unsigned;
    bool less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
    switch (kind) {
    case '*':
        return from_integer(a * b, is_unsigned);
    case '/':
        return from_integer(quotient(a, b, is_unsigned, false), is_unsigned);
    case '%':
        return from_integer(quotient(a, b, is_unsigned, true), is_unsigned);
    case '+':
        return from_integer(a + b, is_unsigned);
    case '-':
        return from_integer(a - b, is_unsigned);
    case PTX_TOKEN_SHIFT_LEFT:
        return from_integer(shift(a, b, false, x->is_unsigned), x->is_unsigned);
    case PTX_TOKEN_SHIFT_RIGHT:
        return from_integer(shift(a, b, true, x->is_unsigned), x->is_unsigned);
    case '<':
        return from_integer(less, false);
    case '>':
        return from_integer(!less && a != b, false);
    case PTX_TOKEN_LESS_EQUAL:
        return from_integer(less || a == b, false);
    case PTX_TOKEN_GREATER_EQUAL:
        return from_integer(!less, false);
    case PTX_TOKEN_EQUAL:
        return from_integer(a == b, false);
    case PTX_TOKEN_NOT_EQUAL:
        return from_integer(a != b, false);
    case '&':
        return from_integer(a & b, is_unsigned);
    case '^':
        return from_integer(a ^ b, is_unsigned);
    case '|':
        return from_integer(a | b, is_unsigned);
    case PTX_TOKEN_AND:
        return from_integer(a && b, false);
    default:
        return from_integer(a || b, false);
    }
}

static bool fold(PtxParser *parser, const PtxToken *at, const PtxConstant *left, const PtxConstant *right,
                 PtxConstant *out) {
    if (left->is_float || right->is_float)
        return fold_float(at->kind, as_float(left), as_float(right), out) ||
               ptx_fail(parser, at, "this operator needs integers");
    if ((at->kind == '/' || at->kind == '%') && right->integer == 0)
        return ptx_fail(parser, at, "division by zero");
    *out = fold_integer(at->kind, left, right);
    return true;
}

static bool binary(PtxParser *parser, PtxConstant *out, int weakest, int depth) {
    if (!unary(parser, out, depth)) return false;
    for (int strength; (strength = precedence(parser->token.kind)) >= weakest && strength;) {
        PtxToken operator_token = parser->token;
        ptx_advance(parser);
        PtxConstant right;
        if (!binary(parser, &right, strength + 1, depth + 1)) return false;
        PtxConstant left = *out;
        if (!fold(parser, &operator_token, &left, &right, out)) return false;
    }
    return true;
}

static bool constant(PtxParser *parser, PtxConstant *out, int depth) {
    if (!binary(parser, out, 1, depth)) return false;
    if (!ptx_accept(parser, '?')) return true;
    PtxConstant yes, no;
    if (!constant(parser, &yes, depth + 1) || !ptx_expect(parser, ':', "':'") ||
        !constant(parser, &no, depth + 1))
        return false;
    *out = is_true(out) ? yes : no;
    return true;
}

bool ptx_constant(PtxParser *parser, PtxConstant *out) {
    return constant(parser, out, 0);
}

bool ptx_constant_integer(PtxParser *parser, int64_t minimum, int64_t maximum, const char *what,
                          int64_t *out) {
    PtxToken at = parser->token;
    PtxConstant value;
    if (!ptx_constant(parser, &value)) return false;
    if (value.is_float) return ptx_fail(parser, &at, "%s must be an integer", what);
    int64_t number_value = (int64_t)value.integer;
    if (number_value < minimum || number_value > maximum || (value.is_unsigned && value.integer > INT64_MAX))
        return ptx_fail(parser, &at, "%s must be from %lld to %lld", what, (long long)minimum,
                        (long long)maximum);
    *out = number_value;
    return true;
}
