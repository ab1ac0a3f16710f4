#include "base/line_break.h"

#include "base/characters.h"
#include "base/utf8.h"
#include <stdbool.h>
#include <string.h>

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
