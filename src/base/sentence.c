#include "base/sentence.h"

#include "base/characters.h"
#include <inttypes.h>
#include <string.h>

const char *count_text(uint64_t count, CountText *buffer) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *at = buffer->text; /* cppcheck-suppress ctuuninitvar ; it is filled here */
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
    return buffer->text;
}

const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

void sentence_print(Text *out, const char *bullet, const char *sentence) {
    enum { WIDTH = 80 };
    size_t indent = strlen(bullet);
    for (const char *at = sentence; *at;) {
        size_t length = (size_t)line_break(at, WIDTH - (int)indent);
        if (at == sentence)
            text_add(out, bullet);
        else
            text_print(out, "%*s", (int)indent, "");
        text_add_bytes(out, at, length);
        text_add(out, "\n");
        at += length;
        while (*at == ' ') at++;
    }
}
