#include "base/utf8.h"

#include <string.h>

static const struct {
    Utf8Kind kind;
    uint32_t first, last;
} ranges[] = {
#define RANGE(kind, first, last) {UTF8_##kind, first, last},
#include "base/utf8_kinds.def"
#undef RANGE
};

/* Bytes of the character that begins with `byte`; 0: none does. */
static int length_of(unsigned char byte) {
    return byte < 0x80 ? 1 : byte < 0xC2 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 0;
}

uint32_t utf8_next(const char **text) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)*text;
    int length = length_of(*at);
    *text += 1;
    if (length == 1) return *at;
    if (length == 0) return '?';
    uint32_t character = *at & (0x7FU >> length);
    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return '?';
        character = character << 6 | (at[i] & 0x3FU);
    }
    if (character < smallest[length] || character > 0x10FFFF) return '?';
    if (character >= 0xD800 && character <= 0xDFFF) return '?';
    *text += length - 1;
    return character;
}

size_t utf8_encode(uint32_t character, char out[UTF8_BYTES]) {
    size_t count = 0;
    if (character < 0x80) {
        out[count++] = (char)character;
        return count;
    }
    int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    out[count++] = (char)((0xFU << (7 - more) & 0xFF) | character >> 6 * more);
    while (more-- > 0) out[count++] = (char)(0x80 | (character >> 6 * more & 0x3F));
    return count;
}

Utf8Kind utf8_kind(uint32_t character) {
    size_t low = 0, high = sizeof ranges / sizeof *ranges;
    if (character >= ' ' && character <= '~') return UTF8_NARROW;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (character > ranges[middle].last)
            low = middle + 1;
        else if (character < ranges[middle].first)
            high = middle;
        else
            return ranges[middle].kind;
    }
    return UTF8_NARROW;
}

int utf8_columns(uint32_t character) {
    Utf8Kind kind = utf8_kind(character);
    return kind == UTF8_NARROW ? 1 : kind == UTF8_WIDE ? 2 : 0;
}

void utf8_drop_half(char *text) {
    size_t end = strlen(text), begin = end;
    while (begin > 0 && end - begin < UTF8_BYTES - 1 && (text[begin - 1] & 0xC0) == 0x80) begin--;
    if (begin == 0) return;
    begin--;
    if (length_of((unsigned char)text[begin]) > (int)(end - begin)) text[begin] = 0;
}
