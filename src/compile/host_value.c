#include "compile/host_value.h"
#include "compile/host_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 48 };

static HostNumber read_expression(HostReader *reader, int least);

static void skip_blanks(HostReader *reader) {
    for (; reader->at < reader->end; reader->at++) {
        char c = reader->text[reader->at];
        if (!isspace((unsigned char)c) && !(c == '\\' && reader->text[reader->at + 1] == '\n')) break;
    }
}

char host_reader_peek(HostReader *reader) {
    skip_blanks(reader);
    return reader->at < reader->end ? reader->text[reader->at] : 0;
}

static HostNumber read_sizeof(HostReader *reader) {
    HostText *text = reader->values->text;
    char next = host_reader_peek(reader);
    size_t close = reader->at;
    if (next == '(') close = host_skip_brackets(text, reader->at, reader->end);
    while (next != '(' && close < reader->end &&
           (text->text[close] == '*' || host_is_word(text->text[close])))
        close++;
    if (close == reader->at) return host_unknown;
    HostSpan inside =
        next == '(' ? host_trim(text, (HostSpan){reader->at + 1, close - 1}) : (HostSpan){reader->at, close};
    reader->at = close;
    uint64_t bytes = host_type_of(text, inside);
    if (bytes) return host_number((int64_t)bytes);
    bool is_element = text->text[inside.begin] == '*' || text->text[inside.end - 1] == ']';
    size_t begin = inside.begin;
    while (begin < inside.end && strchr("* (&", text->text[begin])) begin++;
    HostSpan name = host_word(text, begin);
    HostDefinition definition = host_text_define(text, name, reader->place);
    bytes = definition.kind == HOST_UNDEFINED ? host_named_type(text, name, reader->place) : 0;
    if (!bytes) bytes = host_declared_bytes(text, name, reader->place);
    if (bytes && definition.kind == HOST_ARRAY && !is_element) {
        HostNumber count = host_evaluate(reader->values, definition.value, definition.at, NULL);
        return count.is_known ? host_number(count.integer * (int64_t)bytes) : host_unknown;
    }
    if (!bytes) bytes = host_named_type(text, name, reader->place);
    return bytes ? host_number((int64_t)bytes) : host_unknown;
}

static HostNumber read_literal(HostReader *reader) {
    char digits[64];
    size_t length = 0, at = reader->at;
    const char *text = reader->text;
    bool is_hex = text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X');
    for (; at < reader->end && length + 1 < sizeof digits; at++) {
        char c = text[at];
        if (c == '\'') continue;
        bool has_sign = (c == '+' || c == '-') && !is_hex && length && strchr("eE", digits[length - 1]);
        if (!host_is_word(c) && c != '.' && !has_sign) break;
        digits[length++] = c;
    }
    digits[length] = 0;
    reader->at = at;
    bool is_float = !is_hex && strpbrk(digits, ".eEfF") != NULL;
    return is_float ? host_float(strtod(digits, NULL)) : host_number((int64_t)strtoull(digits, NULL, 0));
}

static HostNumber read_name(HostReader *reader) {
    HostText *text = reader->values->text;
    HostSpan name = host_word(text, reader->at);
    reader->at = name.end;
    while (host_reader_peek(reader) == ':' && reader->text[reader->at + 1] == ':') {
        reader->at += 2;
        skip_blanks(reader);
        name = host_word(text, reader->at);
        reader->at = name.end;
    }
    bool is_cast = host_span_is(text, name, "static_cast") || host_span_is(text, name, "reinterpret_cast");
    if (host_span_is(text, name, "sizeof")) return read_sizeof(reader);
    char next = host_reader_peek(reader);
    if (next == '<') {
        size_t end = host_skip_angles(text, reader->at, reader->end),
               after = host_skip_blanks(text, end, reader->end);
        if (end > reader->at && after < reader->end && text->text[after] == '(' &&
            (is_cast || host_span_is(text, name, "min") || host_span_is(text, name, "max"))) {
            HostSpan type = host_trim(text, (HostSpan){reader->at + 1, end - 1});
            reader->at = after;
            if (!is_cast) return host_read_call(reader, name);
            size_t close = host_skip_brackets(text, after, reader->end);
            HostNumber value =
                host_evaluate(reader->values, (HostSpan){after + 1, close - 1}, reader->place, reader->scope);
            reader->at = close;
            bool to_float = host_span_is(text, type, "float") || host_span_is(text, type, "double");
            if (!to_float) return host_to_integer(value);
            HostNumber number = value.is_known ? host_float(value.number) : host_unknown;
            number.is_free = value.is_free;
            return number;
        }
    }
    if (next == '(') return host_read_call(reader, name);
    if (next == '.' || (next == '-' && reader->text[reader->at + 1] == '>'))
        return host_read_member(reader, name);
    if (next == '[') {
        reader->at = host_skip_brackets(text, reader->at, reader->end);
        return host_unknown;
    }
    return host_read_named(reader, name);
}

static HostNumber read_primary(HostReader *reader) {
    HostText *text = reader->values->text;
    char c = host_reader_peek(reader);
    if (isdigit((unsigned char)c) || c == '.') return read_literal(reader);
    if (isalpha((unsigned char)c) || c == '_') return read_name(reader);
    if (c == '-' || c == '+' || c == '!') {
        reader->at++;
        HostNumber value = read_primary(reader);
        if (c == '!') return host_apply('=', value, host_number(0));
        return c == '+' ? value : host_apply('-', host_number(0), value);
    }
    if (c != '(') {
        reader->at = reader->end;
        return host_unknown;
    }
    size_t close = host_skip_brackets(text, reader->at, reader->end);
    HostSpan inside = host_trim(text, (HostSpan){reader->at + 1, close - 1});
    if (host_type_of(text, inside)) { /* a cast */
        reader->at = close;
        HostNumber value = read_primary(reader);
        size_t begin = inside.begin;
        HostSpan word = host_word(text, begin);
        bool to_float = host_span_is(text, word, "float") || host_span_is(text, word, "double");
        HostNumber number = value.is_known && to_float ? host_float(value.number) : host_to_integer(value);
        number.is_free = value.is_free;
        return number;
    }
    HostNumber value = host_evaluate(reader->values, inside, reader->place, reader->scope);
    reader->at = close;
    return value;
}

/* The binary operator that comes next: its sign for host_apply(), how strongly it binds, its length. */
static int peek_operator(HostReader *reader, int *strength, int *length) {
    char c = host_reader_peek(reader),
         d = c && reader->at + 1 < reader->end ? reader->text[reader->at + 1] : 0;
    static const struct {
        const char *text;
        char sign;
        int strength;
    } operators[] = {{"<<", 'l', 8}, {">>", 'r', 8}, {"<=", '{', 7}, {">=", '}', 7}, {"==", '=', 6},
                     {"!=", '!', 6}, {"&&", 'a', 2}, {"||", 'o', 1}, {"*", '*', 10}, {"/", '/', 10},
                     {"%", '%', 10}, {"+", '+', 9},  {"-", '-', 9},  {"<", '<', 7},  {">", '>', 7},
                     {"&", '&', 5},  {"^", '^', 4},  {"|", '|', 3}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const char *text = operators[i].text;
        if (text[0] != c || (text[1] && text[1] != d)) continue;
        *strength = operators[i].strength;
        *length = text[1] ? 2 : 1;
        return operators[i].sign;
    }
    return 0;
}

static HostNumber read_expression(HostReader *reader, int least) {
    HostNumber left = read_primary(reader);
    int strength, length;
    for (int sign; (sign = peek_operator(reader, &strength, &length)) && strength >= least;) {
        reader->at += (size_t)length;
        left = host_apply(sign, left, read_expression(reader, strength + 1));
    }
    if (least == 0 && host_reader_peek(reader) == '?') {
        reader->at++;
        HostNumber yes = read_expression(reader, 0);
        if (host_reader_peek(reader) == ':') reader->at++;
        HostNumber no = read_expression(reader, 0);
        return !left.is_known ? host_unknown : left.number != 0 ? yes : no;
    }
    return left;
}

HostNumber host_evaluate(HostValues *values, HostSpan span, size_t place, const HostScope *scope) {
    if (values->depth >= DEEPEST || values->text->budget < 64) return host_unknown;
    values->depth++;
    values->text->budget -= 64;
    span = host_trim(values->text, span);
    HostReader reader = {values, values->text->text, span.begin, span.end, place, scope};
    HostNumber result = span.begin < span.end ? read_expression(&reader, 0) : host_unknown;
    if (host_reader_peek(&reader) != 0) result = host_unknown;
    values->depth--;
    return result;
}

HostNumber host_value(HostValues *values, HostSpan span, size_t at) {
    values->depth = values->root_count = values->free_count = 0;
    return host_evaluate(values, span, at, NULL);
}
