#define _POSIX_C_SOURCE 200809L
/* Recursive descent over the text; the grammar is in the header. */
#include "plan/expression.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEEPEST = 64, LONGEST_NUMBER = 64 };

typedef struct ExpressionReader {
    const char *text, *at, *end;
    const ExpressionName *names;
    int name_count, depth;
    const char *failed_at; /* where the error is; NULL: none */
    Error *error;
} ExpressionReader;

static bool read_or(ExpressionReader *reader, ExpressionValue *value);

static bool fail(ExpressionReader *reader, const char *problem) {
    int length = (int)(reader->end - reader->text);
    reader->failed_at = reader->at;
    return error_set(reader->error, "'%.*s': %s", length > 200 ? 200 : length, reader->text, problem);
}

ExpressionValue expression_integer(int64_t integer) {
    return (ExpressionValue){.integer = integer, .number = (double)integer};
}

static char peek(ExpressionReader *reader) {
    while (reader->at < reader->end && isspace((unsigned char)*reader->at)) reader->at++;
    return reader->at < reader->end ? *reader->at : 0;
}

/* The length of a suffix u, l, ul, ll, ull in either case. */
static size_t integer_suffix(const char *at, ExpressionValue *value) {
    static const char *const suffixes[] = {"ull", "ul", "u", "ll", "l"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t length = strlen(suffixes[i]);
        if (strncasecmp(at, suffixes[i], length) != 0) continue;
        value->bytes = length == 1 && *suffixes[i] == 'u' && value->integer <= UINT32_MAX ? 4 : 8;
        return length;
    }
    return 0;
}

static bool read_number(ExpressionReader *reader, ExpressionValue *value) {
    char digits[LONGEST_NUMBER + 1], *stop;
    size_t left = (size_t)(reader->end - reader->at);
    size_t length = left < LONGEST_NUMBER ? left : LONGEST_NUMBER;
    memcpy(digits, reader->at, length);
    digits[length] = 0;
    errno = 0;
    long long integer = strtoll(digits, &stop, 0);
    if (stop == digits || *stop == '.' || *stop == 'e' || *stop == 'E') {
        double number = strtod(digits, &stop);
        if (stop == digits) return fail(reader, "a number is expected");
        *value = (ExpressionValue){.is_float = true, .number = number};
        if (*stop == 'f' || *stop == 'F') stop++, value->bytes = 4;
    } else {
        if (errno == ERANGE) return fail(reader, "the number does not fit 64 bits");
        *value = expression_integer(integer);
        stop += integer_suffix(stop, value);
    }
    reader->at += stop - digits;
    if (reader->at < reader->end && (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
        return fail(reader, "letters follow a number");
    return true;
}

static bool unknown_name(ExpressionReader *reader, const char *name, size_t length) {
    char known[160] = "";
    size_t used = 0;
    for (int i = 0; i < reader->name_count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                 i + 1 == reader->name_count ? " and " : ", ", reader->names[i].name);
    reader->failed_at = name;
    return error_set(reader->error, "'%.*s' is not known: use numbers%s", (int)(length > 100 ? 100 : length),
                     name, known);
}

static bool read_name(ExpressionReader *reader, ExpressionValue *value) {
    const char *begin = reader->at;
    while (reader->at < reader->end && (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
        reader->at++;
    size_t length = (size_t)(reader->at - begin);
    for (int i = 0; i < reader->name_count; i++) {
        const ExpressionName *name = &reader->names[i];
        if (strlen(name->name) == length && memcmp(name->name, begin, length) == 0) {
            *value = name->value;
            return true;
        }
    }
    return unknown_name(reader, begin, length);
}

/* Bits, and shifts: '<' and '>' stand for << and >>. */
static bool apply_bits(ExpressionReader *reader, char operation, int64_t a, int64_t b, int64_t *result) {
    bool shifts = operation == '<' || operation == '>';
    if (shifts && (b < 0 || b > 63)) return fail(reader, "a shift is by 0 to 63 bits");
    if (operation == '&') *result = a & b;
    if (operation == '|') *result = a | b;
    if (operation == '^') *result = a ^ b;
    if (operation == '>') *result = a < 0 ? ~(~a >> b) : a >> b;
    if (operation == '<' && (b == 63 ? a != 0 : __builtin_mul_overflow(a, (int64_t)1 << b, result)))
        return fail(reader, "the value does not fit 64 bits");
    if (operation == '<' && b == 63) *result = 0;
    return true;
}

static bool apply(ExpressionReader *reader, char operation, ExpressionValue *left, ExpressionValue right) {
    int bytes = left->bytes > right.bytes ? left->bytes : right.bytes;
    if (left->is_float != right.is_float) bytes = left->is_float ? left->bytes : right.bytes;
    bool is_bits = strchr("&|^<>", operation) != NULL;
    if (is_bits && (left->is_float || right.is_float))
        return fail(reader, "& | ^ << >> are for whole numbers");
    if (left->is_float || right.is_float) {
        double a = left->number, b = right.number, result = 0;
        switch (operation) {
        case '+':
            result = a + b;
            break;
        case '-':
            result = a - b;
            break;
        case '*':
            result = a * b;
            break;
        case '/':
            result = a / b;
            break;
        case '%':
            result = fmod(a, b);
            break;
        }
        *left = (ExpressionValue){.is_float = true, .number = result, .bytes = bytes};
        return true;
    }
    int64_t a = left->integer, b = right.integer, result = 0;
    bool overflow = false;
    switch (operation) {
    case '+':
        overflow = __builtin_add_overflow(a, b, &result);
        break;
    case '-':
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
    case '*':
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
    case '&':
    case '|':
    case '^':
    case '<':
    case '>':
        if (!apply_bits(reader, operation, a, b, &result)) return false;
        break;
    default:
        if (b == 0) return fail(reader, "division by zero");
        overflow = a == INT64_MIN && b == -1;
        if (!overflow) result = operation == '/' ? a / b : a % b;
    }
    if (overflow) return fail(reader, "the value does not fit 64 bits");
    *left = expression_integer(result);
    left->bytes = bytes;
    return true;
}

static bool read_factor(ExpressionReader *reader, ExpressionValue *value) {
    char next = peek(reader);
    bool good;
    *value = expression_integer(0);
    if (isdigit((unsigned char)next) || next == '.') return read_number(reader, value);
    if (isalpha((unsigned char)next) || next == '_') return read_name(reader, value);
    if (next != '(' && next != '-' && next != '+')
        return fail(reader, next ? "a number, a name or '(' is expected" : "something is missing at the end");
    if (++reader->depth > DEEPEST) return fail(reader, "nested too deeply");
    reader->at++;
    if (next == '(') {
        good = read_or(reader, value);
        if (good && peek(reader) != ')') return fail(reader, "')' is missing");
        reader->at++;
    } else {
        ExpressionValue operand;
        good = read_factor(reader, &operand);
        if (good && next == '+') *value = operand;
        if (good && next == '-') {
            if (operand.is_float)
                *value =
                    (ExpressionValue){.is_float = true, .number = -operand.number, .bytes = operand.bytes};
            else
                good = apply(reader, '-', value, operand);
        }
    }
    reader->depth--;
    return good;
}

/* The operators from loose to tight, as in C. */
static const char *const levels[] = {"|", "^", "&", "<>", "+-", "*/%"};
enum { LEVELS = sizeof levels / sizeof *levels };

/* The operator of this level that comes next, '<' and '>' for << and >>; 0: none. */
static char operator_at(ExpressionReader *reader, int level) {
    char next = peek(reader);
    if (!next || !strchr(levels[level], next)) return 0;
    bool is_shift = next == '<' || next == '>';
    return is_shift && (reader->end - reader->at < 2 || reader->at[1] != next) ? 0 : next;
}

static bool read_level(ExpressionReader *reader, int level, ExpressionValue *value) {
    if (level == LEVELS) return read_factor(reader, value);
    if (!read_level(reader, level + 1, value)) return false;
    for (char next; (next = operator_at(reader, level)) != 0;) {
        ExpressionValue right;
        const char *operator= reader->at;
        reader->at += next == '<' || next == '>' ? 2 : 1;
        if (!read_level(reader, level + 1, &right)) return false;
        if (apply(reader, next, value, right)) continue;
        reader->failed_at = operator;
        return false;
    }
    return true;
}

static bool read_or(ExpressionReader *reader, ExpressionValue *value) {
    return read_level(reader, 0, value);
}

bool expression_evaluate(const char *text, size_t length, const ExpressionName *names, int name_count,
                         ExpressionValue *value, Error *error) {
    ExpressionReader reader = {.text = text,
                               .at = text,
                               .end = text + length,
                               .names = names,
                               .name_count = name_count,
                               .error = error};
    if (read_or(&reader, value) && (peek(&reader) == 0 || fail(&reader, "an operator is expected")))
        return true;
    if (error) error->column = reader.failed_at ? (int)(reader.failed_at - text) + 1 : 0;
    return false;
}

bool expression_mentions(const char *text, const char *name) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    for (const char *at = text; *at;) {
        size_t length = strspn(at, word);
        if (length && length == strlen(name) && !memcmp(at, name, length)) return true;
        at += length ? length : 1;
    }
    return false;
}
