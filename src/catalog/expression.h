/* Expression: the small arithmetic of --args: numbers, names, + - * / % and parentheses.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/" | "%") factor }
 *   factor  = NUMBER | NAME | "(" sum ")" | ("-" | "+") factor
 *
 * Integers are 64 bits, overflow is an error; a number with a point or an exponent is a float, and so is what
 * is computed with it. */
#ifndef CATALOG_EXPRESSION_H
#define CATALOG_EXPRESSION_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

typedef struct ExpressionValue {
    bool is_float;
    int64_t integer; /* !is_float */
    double number;   /* always */
} ExpressionValue;

typedef struct ExpressionName {
    const char *name;
    ExpressionValue value;
} ExpressionName;

ExpressionValue expression_integer(int64_t integer);

/* Evaluates all of `text`, `length` bytes. The error's message quotes it and says what is wrong. */
bool expression_evaluate(const char *text, size_t length, const ExpressionName *names, int name_count,
                         ExpressionValue *value, Error *error);

#endif
