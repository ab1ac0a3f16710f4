#include "compile/compiler_messages.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_LIMIT_BYTES = 16 << 20 };

typedef struct Message {
    char file[256];
    int line, column;
    const char *text; /* up to the end of its line */
} Message;

static size_t line_length(const char *text) {
    return strcspn(text, "\n");
}

/* "12" or "12:3", then `after`. */
static const char *take_place(const char *at, Message *message, const char *after) {
    char *end;
    if (!isdigit((unsigned char)*at)) return NULL;
    message->line = (int)strtol(at, &end, 10);
    message->column = 0;
    if (*after == ':' && *end == ':' && isdigit((unsigned char)end[1]))
        message->column = (int)strtol(end + 1, &end, 10);
    size_t length = strlen(after);
    return strncmp(end, after, length) == 0 ? end + length : NULL;
}

static const char *skip_word(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

/* True for a line "FILE(12): error: TEXT", "FILE(12): error #20: TEXT", or "FILE:12:3: error: TEXT". */
static bool read_message(const char *line, Message *message) {
    static const char *const kinds[] = {"catastrophic error", "fatal error", "error"};
    const char *end = line + line_length(line);
    for (const char *at = line; at < end; at++) {
        const char *rest = *at == '('   ? take_place(at + 1, message, "): ")
                           : *at == ':' ? take_place(at + 1, message, ": ")
                                        : NULL;
        if (!rest || at == line || (size_t)(at - line) >= sizeof message->file) continue;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const char *text = skip_word(rest, end, kinds[i]);
            const char *colon = text ? memchr(text, ':', (size_t)(end - text)) : NULL;
            if (!colon || (*text != ':' && *text != ' ')) continue;
            memcpy(message->file, line, (size_t)(at - line));
            message->file[at - line] = 0;
            message->text = colon + 1 + strspn(colon + 1, " ");
            return true;
        }
    }
    return false;
}

/* nvcc draws a caret below the line, which it indents by two; 0: the next lines are no such drawing. */
static int caret_column(const char *message) {
    const char *source = message + line_length(message);
    if (*source != '\n' || strncmp(source, "\n  ", 3) != 0) return 0;
    const char *caret = source + 1 + line_length(source + 1);
    if (*caret != '\n') return 0;
    size_t blanks = strspn(caret + 1, " \t");
    return caret[1 + blanks] == '^' && blanks >= 2 ? (int)blanks - 1 : 0;
}

static bool is_name_part(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The column of the name, of `length` bytes, in the line, as a whole word; 0: not found. */
static int column_of(const char *name, size_t length, const char *line, size_t line_bytes) {
    for (size_t i = 0; i + length <= line_bytes; i++)
        if (!memcmp(line + i, name, length) && (!i || !is_name_part(line[i - 1])) &&
            (i + length == line_bytes || !is_name_part(line[i + length])))
            return (int)i + 1;
    return 0;
}

/* nvcc's caret marks a position in its own rendering of the line, but the message quotes the names concerned.
 * Returns the column of the first quoted name in the line, or `column` if there is none. */
static int column_of_quoted(const char *message, const char *line, size_t line_bytes, int column) {
    const char *end = message + line_length(message);
    for (const char *quote = memchr(message, '"', (size_t)(end - message)); quote;) {
        const char *name = quote + 1;
        size_t length = 0, whole = strcspn(name, "\"\n");
        while (is_name_part(name[length]) || (name[length] == '.' && name[whole] == '"')) length++;
        int found = length ? column_of(name, length, line, line_bytes) : 0;
        if (found) return found;
        quote = name[whole] == '"' ? memchr(name + whole + 1, '"', (size_t)(end - (name + whole + 1))) : NULL;
    }
    return column;
}

static void show_source(const Message *message, bool has_exact_column, Error *error) {
    char *text;
    size_t length;
    if (!error || !text_read_file(error->file, SOURCE_LIMIT_BYTES, &text, &length, NULL)) return;
    const char *line = text;
    for (int i = 1; i < error->line && *line; i++) {
        line += line_length(line);
        line += *line == '\n';
    }
    if (!has_exact_column)
        error->column = column_of_quoted(message->text, line, line_length(line), error->column);
    if (!error->column || (size_t)error->column > line_length(line))
        error->column = (int)strspn(line, " \t") + 1;
    error_show_line(error, line, line_length(line));
    free(text);
}

/* The line that says what is wrong; a linker's first line only says where: "main.o: in function `main':". */
static const char *find_complaint(const char *output) {
    static const char *const words[] = {"undefined reference", "multiple definition", "cannot find", "error"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(output, words[i]);
        if (!found) continue;
        if (i >= 2) /* the whole line */
            while (found > output && found[-1] != '\n') found--;
        return found;
    }
    return output + strspn(output, " \t\r\n");
}

/* nvcc and clang, of a kernel that launches another one. */
static bool is_device_launch(const char *message) {
    const char *nvcc = strstr(message, "kernel launch from __device__ or __global__ functions"),
               *clang = strstr(message, "reference to __global__ function"),
               *end = message + line_length(message);
    return (nvcc && nvcc < end) || (clang && clang < end);
}

bool messages_to_error(const char *output, const char *compiler, Error *error) {
    Message message, first = {0};
    int count = 0;
    for (const char *line = output; *line; line += line_length(line), line += *line == '\n') {
        if (!read_message(line, &message)) continue;
        if (!count++) first = message;
    }
    if (!count) {
        output = find_complaint(output);
        return error_set(error, "%s: %.*s", compiler, (int)(*output ? line_length(output) : 24),
                         *output ? output : "failed without a message");
    }
    bool has_exact_column = first.column;
    if (!has_exact_column) first.column = caret_column(first.text);
    int length = (int)line_length(first.text);
    if (length > 400) length = 400;
    char more[48] = "";
    if (count > 1) snprintf(more, sizeof more, ", and %d more", count - 1);
    if (is_device_launch(first.text))
        error_set_at(error, first.file, first.line, first.column,
                     "this launches a kernel from a kernel (dynamic parallelism), which is not emulated");
    else
        error_set_at(error, first.file, first.line, first.column, "%.*s (%s%s)", length, first.text, compiler,
                     more);
    if (error) error->not_emulated = is_device_launch(first.text);
    show_source(&first, has_exact_column, error);
    return false;
}
