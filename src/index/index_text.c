#include "index/index_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const IndexPreset index_presets[INDEX_PRESETS] = {
    {"stride", "tid * 2", 0, 4},
    {"pad", "tid * 2 + tid / 16", 1, 4},
    {"xor", "lane * 32 + (lane ^ 5)", 1, 4},
    {"column", "lane * 32 + 5", 0, 4},
    {"broadcast", "lane / 32", 0, 4},
    {"vector", "tid", -1, 16},
    {"bytes", "tid * 1", 0, 1},
    /* a column of a tensor copy's tile: the mask is 28, 12, 4, 0 for a swizzle of 128, 64, 32, no bytes */
    {"swizzle", "lane * 32 ^ (lane * 32 >> 3 & 28)", 3, 4},
};

static bool is_of_name(char character) {
    return isalnum((unsigned char)character) || character == '_';
}

int index_numbers(const char *text, IndexNumber out[INDEX_NUMBERS]) {
    int count = 0;
    for (const char *at = text; *at && count < INDEX_NUMBERS;) {
        const char *begin = at;
        char *end = NULL;
        if (!is_of_name(*at)) {
            at++;
            continue;
        }
        while (is_of_name(*at)) at++; /* a name or a number, with its suffix */
        if (!isdigit((unsigned char)*begin)) continue;
        int64_t value = strtoll(begin, &end, 0);
        out[count++] = (IndexNumber){(int)(begin - text), (int)(end - begin), value};
    }
    return count;
}

bool index_put_number(char text[INDEX_TEXT_BYTES], const IndexNumber *number, int64_t value) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    size_t rest = strlen(text + number->begin + number->length);
    if ((size_t)number->begin + (size_t)length + rest >= INDEX_TEXT_BYTES) return false;
    memmove(text + number->begin + length, text + number->begin + number->length, rest + 1);
    memcpy(text + number->begin, digits, (size_t)length);
    return true;
}
