#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool number_read_digits(const char **cursor, uint64_t *value) {
    bool hexadecimal = cursor[0][0] == '0' && (cursor[0][1] == 'x' || cursor[0][1] == 'X');
    const char *digits = *cursor + (hexadecimal ? 2 : 0);
    if (!*digits || !strchr(hexadecimal ? "0123456789abcdefABCDEF" : "0123456789", *digits)) return false;
    char *end;
    errno = 0;
    *value = strtoull(digits, &end, hexadecimal ? 16 : 10);
    *cursor = end;
    return errno == 0;
}

bool number_read(const char **cursor, uint64_t *value) {
    if (!number_read_digits(cursor, value)) return false;
    if (**cursor != '^') return true;
    uint64_t exponent, power = 1;
    (*cursor)++;
    if (!number_read_digits(cursor, &exponent)) return false;
    if (*value < 2) { /* any exponent is small enough */
        *value = *value || !exponent;
        return true;
    }
    for (; exponent; exponent--)
        if (__builtin_mul_overflow(power, *value, &power)) return false;
    *value = power;
    return true;
}

bool number_parse(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value) {
    uint64_t number;
    if (!number_read(&text, &number) || *text || number < minimum || number > maximum) return false;
    *value = number;
    return true;
}

bool number_parse_option(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
                         uint64_t *value, Error *error) {
    if (number_parse(text, minimum, maximum, value)) return true;
    if (maximum == UINT64_MAX)
        return error_set(error, "--%s: '%s' is not a whole number from %llu on (4096, 0x1000 or 2^12)",
                         option, text, (unsigned long long)minimum);
    return error_set(error, "--%s: '%s' is not a whole number from %llu to %llu (4096, 0x1000 or 2^12)",
                     option, text, (unsigned long long)minimum, (unsigned long long)maximum);
}

uint64_t number_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
