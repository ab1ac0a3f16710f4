#include "base/error.h"

#include "base/characters.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

static void fill(Error *error, const char *file, int line, int column, const char *format, va_list list) {
    if (!error) return;
    memset(error, 0, sizeof *error);
    if (file) snprintf(error->file, sizeof error->file, "%s", file);
    error->line = line;
    error->column = column;
    vsnprintf(error->message, sizeof error->message, format, list);
    utf8_drop_half(error->file);
    utf8_drop_half(error->message);
}

bool error_set(Error *error, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fill(error, NULL, 0, 0, format, list);
    va_end(list);
    return false;
}

bool error_set_at(Error *error, const char *file, int line, int column, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fill(error, file, line, column, format, list);
    va_end(list);
    return false;
}

void error_show_line(Error *error, const char *line, size_t length) {
    if (!error || error->column < 1) return;
    size_t room = sizeof error->excerpt - 1, at = (size_t)error->column - 1,
           skip = at < room ? 0 : at - room / 2;
    if (length && line[length - 1] == '\r') length--;
    if (at > length) return;
    if (length - skip < room) room = length - skip;
    for (size_t i = 0; i < room; i++) error->excerpt[i] = line[skip + i] ? line[skip + i] : '?';
    error->excerpt[room] = 0;
    error->caret = (int)(at - skip) + 1;
}

/* The columns of the excerpt before byte `count`; a tab is printed as one space. */
static int excerpt_columns(const char *excerpt, int count) {
    int columns = 0;
    for (const char *at = excerpt; *at && at - excerpt < count;) {
        bool is_escaped = *at == '\n' || *at == '\r';
        columns += is_escaped ? (at++, 2) : *at == '\t' ? (at++, 1) : character_next(&at, 0).columns;
    }
    return columns;
}

/* Prints as an interface draws it: line ends as \n and \r; other controls, malformed bytes and marks of
 * direction as '?'. */
static void print_safely(const char *text, char tab, FILE *to) {
    while (*text) {
        char bytes[CHARACTER_BYTES] = "";
        if (*text == '\n' || *text == '\r') {
            fputs(*text++ == '\n' ? "\\n" : "\\r", to);
            continue;
        }
        Character character = character_next(&text, 0);
        if (character.glyph == '\t') character.glyph = (uint32_t)tab;
        if (character.columns)
            fwrite(bytes, 1, character_encode(character.glyph, character.marks, bytes), to);
    }
}

void error_print(const Error *error, FILE *to) {
    fputs("redviz: ", to);
    if (error->file[0]) {
        print_safely(error->file, '?', to);
        if (error->line) fprintf(to, ":%d", error->line);
        if (error->line && error->column) fprintf(to, ":%d", error->column);
        fputs(": ", to);
    }
    print_safely(error->message, '?', to);
    fputc('\n', to);
    if (!error->excerpt[0]) return;
    fputs("  ", to);
    print_safely(error->excerpt, ' ', to);
    int column = error->caret ? error->caret : error->column, length = (int)strlen(error->excerpt);
    int before = column > 0 ? column - 1 : 0, behind = before > length ? before - length : 0;
    fprintf(to, "\n  %*s^\n", excerpt_columns(error->excerpt, before) + behind, "");
}
