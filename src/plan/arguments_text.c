/* Pieces of --args and --launch, and errors that show their place in the text. */
#include "plan/arguments.h"

#include <ctype.h>
#include <stdarg.h>

Span argument_trim(Span span) {
    while (span.length && isspace((unsigned char)span.text[0])) span.text++, span.length--;
    while (span.length && isspace((unsigned char)span.text[span.length - 1])) span.length--;
    return span;
}

Span argument_cut(Span span, size_t begin, size_t end) {
    return argument_trim((Span){span.text + begin, end > begin ? end - begin : 0});
}

size_t argument_find(Span span, char wanted) {
    size_t at = 0;
    while (at < span.length && span.text[at] != wanted) at++;
    return at;
}

size_t argument_end(Span list) {
    int depth = 0;
    for (size_t i = 0; i < list.length; i++) {
        char c = list.text[i];
        depth += (c == '(' || c == '{') - (c == ')' || c == '}');
        if (c == ',' && depth <= 0) return i;
    }
    return list.length;
}

int argument_shown(Span span) {
    return (int)(span.length > 100 ? 100 : span.length);
}

bool argument_equals(Span span, const char *text) {
    return strlen(text) == span.length && memcmp(text, span.text, span.length) == 0;
}

bool argument_begins(Span span, const char *text) {
    return span.length >= strlen(text) && memcmp(text, span.text, strlen(text)) == 0;
}

bool argument_is_name(Span span) {
    if (!span.length || isdigit((unsigned char)span.text[0])) return false;
    for (size_t i = 0; i < span.length; i++)
        if (!isalnum((unsigned char)span.text[i]) && span.text[i] != '_') return false;
    return true;
}

bool argument_fail(const ArgumentReader *reader, Span at, const char *format, ...) {
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    const char *whole = reader->source.text;
    size_t length = strlen(whole);
    error_set(reader->error, "%s: %s", reader->source.option, message);
    if (!reader->error || at.text < whole || at.text > whole + length) return false;
    reader->error->column = (int)(at.text - whole) + 1;
    error_show_line(reader->error, whole, length);
    return false;
}

bool argument_evaluate(ArgumentReader *reader, Span span, ExpressionValue *value) {
    Error inner = {0};
    if (expression_evaluate(span.text, span.length, reader->names, reader->name_count, value, &inner))
        return true;
    return argument_fail(reader, span, "%s", inner.message);
}

int argument_buffer(const ArgumentReader *reader, Span name) {
    for (int i = 0; i < reader->plan->buffer_count; i++)
        if (argument_equals(name, reader->plan->buffers[i].name)) return i;
    return -1;
}
