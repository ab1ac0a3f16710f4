/* Whole numbers as users write them: 4096, 0x1000, 2^12. Decimal unless they begin with 0x: 010 is ten. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/error.h"
#include <stdint.h>

/* Reads the number at the cursor, 4096 or 0x1000, and moves past it. False: no number, or more than 64
 * bits. */
bool number_read_digits(const char **cursor, uint64_t *value);
/* As above, or a power: 2^12. */
bool number_read(const char **cursor, uint64_t *value);
/* Reads all of `text`; false, with `value` unchanged: not a number in the range. */
bool number_parse(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value);
/* As above; the error names the command-line option, "n". */
bool number_parse_option(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                         uint64_t *value, Error *error);

/* The greatest common divisor; if one is 0, the other one. */
uint64_t number_common_divisor(uint64_t a, uint64_t b);

#endif
