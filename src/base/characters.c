#include "base/characters.h"

#include "base/utf8.h"
#include <stdbool.h>
#include <string.h>

enum { ZERO_WIDTH_NON_JOINER = 0x200C, ZERO_WIDTH_JOINER = 0x200D, BYTE_ORDER_MARK = 0xFEFF };

static bool is_joiner(uint32_t character) {
    return character == ZERO_WIDTH_NON_JOINER || character == ZERO_WIDTH_JOINER;
}

static bool is_variation_selector(uint32_t character) {
    return (character >= 0xFE00 && character <= 0xFE0F) || (character >= 0xE0100 && character <= 0xE01EF);
}

/* The blocks from Arabic to Mongolian, and the Vedic and Greek extensions in between, where no other script
 * joins letters. */
static bool has_joined_letters(uint32_t glyph) {
    return glyph >= 0x600 && glyph < 0x2000;
}

static bool is_skin(uint32_t character) {
    return character >= 0x1F3FB && character <= 0x1F3FF;
}

/* Draws nothing in any position. */
static bool is_left_out(uint32_t character) {
    return is_variation_selector(character) || is_joiner(character) || character == BYTE_ORDER_MARK;
}

/* Takes a character that belongs to the cell of `base`; false: the next cell begins. */
static bool take_mark(Character *base, uint32_t character, int *count) {
    bool is_kept = is_joiner(character)
                       ? has_joined_letters(base->glyph)
                       : utf8_kind(character) == UTF8_MARK && !is_variation_selector(character);
    bool belongs = is_kept || is_left_out(character) || (is_skin(character) && base->glyph > '~');
    if (is_kept && *count < CHARACTER_MARKS) base->marks[(*count)++] = character;
    return belongs;
}

Character character_next(const char **text, int column) {
    Character out = {.glyph = utf8_next(text), .columns = 1};
    int count = 0;
    /* ASCII, the usual case. */
    if (out.glyph >= ' ' && out.glyph < 0x7f && (unsigned char)**text < 0x80) return out;
    if (out.glyph == '\t') {
        out.columns = CHARACTER_TAB_COLUMNS - column % CHARACTER_TAB_COLUMNS;
        return out;
    }
    if (is_left_out(out.glyph)) {
        out.columns = 0;
        return out;
    }
    Utf8Kind kind = utf8_kind(out.glyph);
    if (kind == UTF8_WIDE) out.columns = 2;
    if (kind > UTF8_WIDE) out.glyph = '?';
    for (const char *at = *text; (unsigned char)*at >= 0x80; *text = at)
        if (!take_mark(&out, utf8_next(&at), &count)) break;
    return out;
}

size_t character_encode(uint32_t glyph, const uint32_t marks[CHARACTER_MARKS], char out[CHARACTER_BYTES]) {
    size_t length = utf8_encode(glyph, out);
    for (int i = 0; i < CHARACTER_MARKS && marks[i]; i++) length += utf8_encode(marks[i], out + length);
    return length;
}

int characters_columns(const char *text, size_t bytes) {
    int columns = 0;
    for (const char *at = text; *at && (size_t)(at - text) < bytes;)
        columns += character_next(&at, columns).columns;
    return columns;
}

/* ---- places where a line of text may end --------------------------------------------------------------- */

static const char never_first[] =
    "、。，．！？：；）】》」』”’〉〕〗〙］｝·・…—～％℃々ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ"
    "!),.:;?]}%";
static const char never_last[] = "（【《「『“‘〈〔〖〘［｛￥([{";

static bool is_among(const char *list, uint32_t character) {
    char bytes[UTF8_BYTES + 1];
    bytes[utf8_encode(character, bytes)] = 0;
    return strstr(list, bytes) != NULL;
}

/* True if a line may end between two characters; `before` 0: at the start of the line. */
static bool may_end(uint32_t before, uint32_t after) {
    if (!before || before == ' ') return false;
    if (after == ' ') return true;
    return (utf8_columns(before) == 2 || utf8_columns(after) == 2) && !is_among(never_last, before) &&
           !is_among(never_first, after);
}

int line_break(const char *text, int columns) {
    const char *at = text, *next = text, *end = NULL; /* `end`: of the part that fits */
    uint32_t before = 0;
    for (int column = 0; *at; at = next) {
        Character character = character_next(&next, column);
        if (may_end(before, character.glyph)) end = at;
        column += character.columns;
        if (column > columns) break;
        if (character.columns) before = character.glyph;
    }
    if (!*at || *at == ' ' || !end) end = at;
    /* Nothing fits: takes the first character, so that reading advances. */
    if (end == text && *end) end = next;
    return (int)(end - text);
}
