#include "tui/panes/output_lines.h"

#include "base/characters.h"

#include <string.h>

enum { ESCAPE = 27, BELL = 7, LAST_LINE_BYTES = 1 << 14 };

OutputLines output_lines(const Program *program) {
    const char *text = text_string(&program->output);
    return (OutputLines){.at = text, .end = text + program->output.length};
}

/* Behind the escape sequence that begins here: ESC [ parameters letter, ESC ] text BEL, or ESC and one byte. */
static const char *skip_escape(const char *at, const char *end) {
    char kind = ++at < end ? *at++ : 0;
    if (kind == '[') {
        while (at < end && *at >= 0x20 && *at < 0x40) at++;
        return at < end && *at != '\n' ? at + 1 : at;
    }
    if (kind != ']') return at < end ? at : end;
    while (at < end && *at != BELL && *at != '\n' && *at != ESCAPE) at++;
    if (at + 1 < end && *at == ESCAPE && at[1] == '\\') return at + 2;
    return at < end && *at == BELL ? at + 1 : at;
}

bool output_next_line(OutputLines *lines) {
    bool returned = false; /* the next character overwrites the line */
    text_clear(&lines->line);
    if (lines->at >= lines->end) return false;
    while (lines->at < lines->end && *lines->at != '\n') {
        if (*lines->at == ESCAPE) {
            lines->at = skip_escape(lines->at, lines->end);
            continue;
        }
        if (*lines->at == '\r') {
            returned = true;
        } else {
            if (returned) text_clear(&lines->line);
            returned = false;
            text_add_bytes(&lines->line, *lines->at ? lines->at : "\1", 1);
        }
        lines->at++;
    }
    lines->at += lines->at < lines->end;
    return true;
}

void output_last_line(const Program *program, Text *out) {
    OutputLines lines = output_lines(program);
    if (lines.end - lines.at > LAST_LINE_BYTES) lines.at = lines.end - LAST_LINE_BYTES;
    text_clear(out);
    while (output_next_line(&lines)) {
        const char *line = text_string(&lines.line);
        line += strspn(line, " \t");
        if (!*line) continue;
        text_clear(out);
        text_add(out, line);
    }
    text_done(&lines.line);
}

int output_fit(const char *text, int columns) {
    const char *at = text;
    for (int column = 0; *at;) {
        const char *next = at;
        int width = character_next(&next, column).columns;
        if (at > text && column + width > columns) break;
        column += width;
        at = next;
    }
    return (int)(at - text);
}
