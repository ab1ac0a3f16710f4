/* Whole numbers as users write them: 4096, 0x1000, 2^12. Decimal unless they begin with 0x: 010 is ten. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/error.h"
#include <stdint.h>

/* The number at the cursor, which then stands behind it: 4096 or 0x1000. false: there is none, or it needs more than 64
 * bits. */
bool number_read_digits(const char **cursor, uint64_t *value);
/* The same, or a power: 2^12. */
bool number_read(const char **cursor, uint64_t *value);
/* All of `text`, in the range; `value` is set only then. */
bool number_parse(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value);
/* The same; the error names the option of the command line, "n". */
bool number_parse_option(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                         uint64_t *value, Error *error);

/* The greatest that divides both; the other one where one is 0. */
uint64_t number_common_divisor(uint64_t a, uint64_t b);

#endif
