/* Expression: the small arithmetic of --args and --index: numbers, names, + - * / % & | ^ << >> and
 * parentheses.
 *
 *   or      = xor { "|" xor }              the operators bind as in C
 *   xor     = and { "^" and }
 *   and     = shift { "&" shift }
 *   shift   = sum { ("<<" | ">>") sum }
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/" | "%") factor }
 *   factor  = NUMBER | NAME | "(" or ")" | ("-" | "+") factor
 *
 * Integers are 64 bits, overflow is an error; a number with a point or an exponent is a float, and so is what
 * is computed with it. A number may have a suffix of C's, which says how many bytes it has in a structure. */
#ifndef PLAN_EXPRESSION_H
#define PLAN_EXPRESSION_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

typedef struct ExpressionValue {
    bool is_float;
    int64_t integer; /* !is_float */
    double number;   /* always */
    int bytes;       /* 4 or 8, where a suffix says so (3.5f, 7u, 7l); else 0 */
} ExpressionValue;

typedef struct ExpressionName {
    const char *name;
    ExpressionValue value;
} ExpressionName;

ExpressionValue expression_integer(int64_t integer);

/* Evaluates all of `text`, `length` bytes. The error's message quotes it and says what is wrong; its
 * column, without a file, is the place in `text`. */
bool expression_evaluate(const char *text, size_t length, const ExpressionName *names, int name_count,
                         ExpressionValue *value, Error *error);

/* The name is in the text, as a whole word. */
bool expression_mentions(const char *text, const char *name);

#endif
