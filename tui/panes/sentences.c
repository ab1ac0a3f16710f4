#include "tui/panes/sentences.h"

#include "base/characters.h"
#include "base/text.h"

#include <string.h>

static bool begins_with(const char *text, const char *mark) {
    return !strncmp(text, mark, strlen(mark));
}

/* Bytes of the first part, including the space after it, which Chinese does not have. "..." ends no part. */
static size_t first_part(const char *text, SentencePart part) {
    static const char full_stop[] = "。", semicolon[] = "；";
    for (size_t i = 1; text[i]; i++) {
        if (begins_with(text + i, full_stop)) return i + strlen(full_stop);
        if (part == PART_CLAUSE && begins_with(text + i, semicolon)) return i + strlen(semicolon);
        if (text[i] != ' ') continue;
        bool is_sentence = text[i - 1] == '.' && (i < 2 || text[i - 2] != '.');
        if (is_sentence || (part == PART_CLAUSE && text[i - 1] == ';')) return i + 1;
    }
    return strlen(text);
}

static int count_rows(const char *text, int columns) {
    int rows = 0;
    for (; *text; rows++) {
        text += line_break(text, columns);
        text += strspn(text, " ");
    }
    return rows;
}

static void shorten(Text *text, size_t length) {
    text->length = length;
    if (text->data) text->data[length] = 0;
}

int sentences_draw(Canvas *canvas, Rectangle area, int row, Role role, const char *text, SentencePart part) {
    Text shown = {0};
    for (const char *rest = text; *rest;) {
        size_t length = first_part(rest, part), before = shown.length;
        text_add_bytes(&shown, rest, length);
        rest += length;
        if (row + count_rows(text_string(&shown), area.columns) > area.rows) shorten(&shown, before);
    }
    if (!row && !shown.length) text_add(&shown, text);
    static const char *const semicolons[] = {"; ", "；"};
    for (size_t i = 0; i < sizeof semicolons / sizeof *semicolons; i++)
        if (text_ends_with(text_string(&shown), semicolons[i]))
            shorten(&shown, shown.length - strlen(semicolons[i]));
    int rows = canvas_paragraph(canvas, area, row, role, text_string(&shown));
    text_done(&shown);
    return rows;
}
