/* Reads words, texts and numbers of a claim. */
#include "lecture/claim_reader.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool claim_fail_at(ClaimReader *reader, const char *at, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t offset = (size_t)(at - reader->of->text);
    error_set_at(reader->error, reader->path, reader->of->place.line, reader->of->place.column + (int)offset,
                 "%s", message);
    if (reader->error) {
        error_show_line(reader->error, reader->of->text, strlen(reader->of->text));
        reader->error->caret = reader->error->caret ? reader->error->caret : (int)offset + 1;
    }
    return false;
}

char claim_peek(ClaimReader *reader) {
    while (isspace((unsigned char)*reader->at)) reader->at++;
    return *reader->at;
}

bool claim_take(ClaimReader *reader, const char *sign) {
    claim_peek(reader);
    size_t length = strlen(sign);
    if (strncmp(reader->at, sign, length) != 0) return false;
    reader->at += length;
    return true;
}

static bool is_letter(char character) {
    return isalnum((unsigned char)character) || character == '_';
}

size_t claim_name_length(ClaimReader *reader) {
    claim_peek(reader);
    size_t length = 0;
    if (isalpha((unsigned char)*reader->at) || *reader->at == '_')
        while (is_letter(reader->at[length])) length++;
    return length;
}

bool claim_take_word(ClaimReader *reader, const char *word) {
    size_t length = claim_name_length(reader);
    if (length != strlen(word) || memcmp(reader->at, word, length) != 0) return false;
    reader->at += length;
    return true;
}

bool claim_read_name(ClaimReader *reader, char out[CLAIM_NAME_BYTES], const char *what) {
    size_t length = claim_name_length(reader);
    if (!length) return claim_fail_at(reader, reader->at, "%s is expected here", what);
    if (length >= CLAIM_NAME_BYTES) return claim_fail_at(reader, reader->at, "no name is so long");
    memcpy(out, reader->at, length);
    out[length] = 0;
    reader->at += length;
    return true;
}

bool claim_read_string(ClaimReader *reader, char out[CLAIM_STRING_BYTES]) {
    const char *begin = reader->at;
    const char *closing = claim_peek(reader) == '"' ? strpbrk(reader->at + 1, "\"\n") : NULL;
    if (!closing || *closing != '"')
        return claim_fail_at(reader, begin, "a text in double quotes is expected here");
    size_t length = (size_t)(closing - reader->at - 1);
    if (length >= CLAIM_STRING_BYTES)
        return claim_fail_at(reader, reader->at, "no line or row holds so long a text");
    memcpy(out, reader->at + 1, length);
    out[length] = 0;
    reader->at = closing + 1;
    return true;
}

/* 4096, 0x10, 1.7, 1e-6 */
static bool read_digits(ClaimReader *reader, double *value) {
    char digits[CLAIM_NAME_BYTES] = "";
    size_t length = 0;
    const char *begin = reader->at;
    if (!isdigit((unsigned char)*begin) && *begin != '.')
        return claim_fail_at(reader, begin, "a number is expected here");
    while (length < sizeof digits - 1) {
        char next = *reader->at;
        bool exponent =
            (next == '-' || next == '+') && length && strchr("eE", digits[length - 1]) && digits[1] != 'x';
        if (!is_letter(next) && next != '.' && !exponent) break;
        digits[length++] = next;
        reader->at++;
    }
    digits[length] = 0;
    char *stop;
    *value = strtod(digits, &stop);
    return (!*stop && isfinite(*value)) ||
           claim_fail_at(reader, begin, "this is not a number: 4096, 2^20, 0x10, 1.7");
}

/* A number, or one to the power of another: 2^20. */
bool claim_read_number(ClaimReader *reader, double *value) {
    double power = 0;
    claim_peek(reader);
    const char *begin = reader->at;
    if (!read_digits(reader, value)) return false;
    if (*reader->at != '^') return true;
    reader->at++;
    if (!read_digits(reader, &power)) return false;
    *value = pow(*value, power);
    return isfinite(*value) || claim_fail_at(reader, begin, "this number is too large");
}

bool claim_read_whole(ClaimReader *reader, const char *what, double most, int64_t *value) {
    double number = 0;
    claim_peek(reader);
    const char *begin = reader->at;
    if (!claim_read_number(reader, &number)) return false;
    *value = (int64_t)(number <= most ? number : 0);
    if (number <= most && (double)*value == number) return true;
    return claim_fail_at(reader, begin, "%s is a whole number up to %.0f", what, most);
}

bool claim_expect(ClaimReader *reader, const char *sign) {
    return claim_take(reader, sign) || claim_fail_at(reader, reader->at, "'%s' is expected here", sign);
}
