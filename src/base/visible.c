/* Printable text (visible.h). */
#include "base/visible.h"

#include "base/utf8.h"

#include <string.h>

/* The character at *at, which moves past it. */
static void add_character(Text *out, const char **at) {
    const char *from = *at;
    uint32_t c = utf8_next(at);
    if ((unsigned char)*from >= 0x80 && *at - from == 1)
        text_print(out, "\\x%02x", (unsigned char)*from);
    else if (utf8_kind(c) == UTF8_CONTROL || c == 0xfffe || c == 0xffff)
        text_print(out, c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
    else
        text_add_bytes(out, from, (size_t)(*at - from));
}

void visible_add(Text *out, const char *text) {
    while (*text) add_character(out, &text);
}

void visible_add_xml(Text *out, const char *text) {
    while (*text) {
        const char *name = *text == '<'   ? "&lt;"
                           : *text == '>' ? "&gt;"
                           : *text == '&' ? "&amp;"
                           : *text == '"' ? "&quot;"
                                          : NULL;
        if (!name) {
            add_character(out, &text);
            continue;
        }
        text_add(out, name);
        text++;
    }
}
