#include "guess/host_deduce.h"
#include "guess/host_type.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 3 };

static bool deduce(HostText *text, const HostFunction *function, int index, HostSpan arguments, size_t place,
                   int depth, Text *out);

static bool is_any(const HostText *text, HostSpan word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (host_span_is(text, word, words[i])) return true;
    return false;
}

static bool is_qualifier(const HostText *text, HostSpan word) {
    static const char *const words[] = {"const",        "static",     "constexpr",  "volatile",
                                        "extern",       "typename",   "struct",     "inline",
                                        "__restrict__", "__restrict", "__device__", "__managed__"};
    return is_any(text, word, words, sizeof words / sizeof *words);
}

static bool is_statement_word(const HostText *text, HostSpan word) {
    static const char *const words[] = {"return", "delete", "new",   "else",   "goto",
                                        "case",   "throw",  "using", "typedef"};
    return is_any(text, word, words, sizeof words / sizeof *words);
}

/* The name of parameter `index` of the template, where it is a type. */
static bool type_parameter(const HostText *text, const HostFunction *function, int index, HostSpan *name) {
    HostSpan item;
    if (!host_list_item(text, function->head, index, &item)) return false;
    item = host_trim(text, item);
    HostSpan first = host_word(text, item.begin);
    *name = host_declared_name(text, item);
    return (host_span_is(text, first, "typename") || host_span_is(text, first, "class")) &&
           name->begin > first.begin && name->end > name->begin;
}

/* Does `T` alone, but for qualifiers, stand before the parameter's name? `*is_pointer`: T *p. */
static bool has_type(const HostText *text, HostSpan item, HostSpan type, bool *is_pointer) {
    HostSpan name = host_declared_name(text, host_trim(text, item));
    bool found = false;
    *is_pointer = false;
    for (size_t at = item.begin; at < name.begin;) {
        HostSpan word = host_word(text, at);
        char c = text->text[at];
        *is_pointer |= c == '*';
        if (word.end == word.begin && !isspace((unsigned char)c) && !strchr("*&", c)) return false;
        if (word.end > word.begin && !is_qualifier(text, word)) {
            if (found || !host_spans_equal(text, word, type)) return false;
            found = true;
        }
        at = word.end > at ? word.end : at + 1;
    }
    return found;
}

/* The type that a declaration begins with: "unsigned int", "thrust::device_vector<int>". Empty: it is none. */
static HostSpan leading_type(const HostText *text, size_t at, size_t end) {
    HostSpan type = {at, at};
    for (;;) {
        at = host_skip_blanks(text, at, end);
        HostSpan word = host_word(text, at);
        if (word.end == word.begin || word.end > end || is_statement_word(text, word)) return type;
        bool is_builtin = host_type_bytes(text->text + word.begin, word.end - word.begin) > 0;
        if (is_qualifier(text, word)) {
            at = word.end;
            if (type.end > type.begin) return type;
            continue;
        }
        if (type.end > type.begin && !is_builtin) return type;
        if (type.end == type.begin) type.begin = word.begin;
        type.end = at = word.end;
        while (text->text[at] == ':' && text->text[at + 1] == ':')
            type.end = at = host_word(text, at + 2).end;
        if (text->text[at] == '<') type.end = at = host_skip_angles(text, at, end);
        if (!is_builtin) return type;
    }
}

/* The function whose parameters, or whose body, `at` lies in; NULL: none. */
static const HostFunction *owner_of(const HostText *text, size_t at) {
    for (int i = 0; i < text->function_count; i++) {
        HostSpan parameters = text->functions[i].parameters;
        if (at >= parameters.begin && at < parameters.end) return &text->functions[i];
    }
    return host_text_function_at(text, at);
}

/* The type of what `name` is declared as before `place`, in the function there or outside of all; `elements`: of an element
 * of a pointer, an array or a vector. Empty: not found. */
static HostSpan declared_type(HostText *text, HostSpan name, size_t place, bool elements) {
    const HostFunction *function = host_text_function_at(text, place);
    HostSpan found = {0, 0};
    for (size_t at = 0; (at = host_text_find(text, name, at, place)) != SIZE_MAX; at++) {
        const HostFunction *owner = owner_of(text, at);
        bool is_parameter = owner && at < owner->parameters.end;
        if (owner && owner != function) continue;
        size_t begin = at;
        while (begin > 0 && !strchr(";{}()", text->text[begin - 1]) &&
               !(is_parameter && text->text[begin - 1] == ','))
            begin--;
        HostSpan type = leading_type(text, begin, at);
        size_t after = host_skip_blanks(text, type.end, at + 1);
        bool is_declaration =
            type.end > type.begin && type.end < at &&
            (after == at || strchr("*&", text->text[after]) || host_is_word(text->text[after]));
        if (!is_declaration) continue;
        if (elements && text->text[type.end - 1] == '>') { /* vector<T> */
            size_t open = host_open_angle(text, type.end);
            HostSpan item;
            if (open == SIZE_MAX || !host_list_item(text, (HostSpan){open + 1, type.end - 1}, 0, &item))
                continue;
            type = host_trim(text, item);
        }
        found = type;
    }
    return found;
}

/* What an argument is: (int *)p and static_cast<int *>(p) say it, Sum<int>() and Sum{} do; of a name its declaration. */
static HostSpan type_of_argument(HostText *text, HostSpan item, size_t place, bool is_pointer) {
    item = host_trim(text, item);
    if (text->text[item.begin] == '(') return leading_type(text, item.begin + 1, item.end);
    if (text->text[item.begin] == '&') item.begin++;
    HostSpan word = host_word(text, item.begin);
    if (host_span_is(text, word, "static_cast") || host_span_is(text, word, "reinterpret_cast"))
        return leading_type(text, word.end + 1, item.end);
    if (host_span_is(text, word, "thrust") || host_span_is(text, word, "raw_pointer_cast"))
        for (size_t at = item.begin; at < item.end; at++)
            if (text->text[at] == '(' && is_pointer)
                return type_of_argument(text, (HostSpan){at + 1, item.end - 1}, place, true);
    HostSpan type = leading_type(text, item.begin, item.end);
    size_t after = host_skip_blanks(text, type.end, item.end);
    bool makes_object =
        !is_pointer && type.end > type.begin && after < item.end && strchr("({", text->text[after]);
    if (makes_object) return type;
    return word.end > word.begin ? declared_type(text, word, place, is_pointer) : word;
}

/* What the caller of the template around `place` has for its parameter `word`; *is_one: it is such a parameter. */
static bool add_of_caller(HostText *text, HostSpan word, size_t place, int depth, bool *is_one, Text *out) {
    const HostFunction *function = host_text_function_at(text, place);
    HostSpan name, arguments, angles, item;
    size_t at;
    *is_one = false;
    for (int i = 0; function && host_list_item(text, function->head, i, &item); i++) {
        if (!type_parameter(text, function, i, &name) || !host_spans_equal(text, name, word)) continue;
        *is_one = true;
        if (depth == DEEPEST || !host_text_find_call(text, function, &arguments, &angles, &at)) return false;
        if (!host_list_item(text, angles, i, &item))
            return deduce(text, function, i, arguments, at, depth + 1, out);
        item = host_trim(text, item);
        text_add_bytes(out, text->text + item.begin, item.end - item.begin);
        return true;
    }
    return false;
}

/* Sum<T>: words that are parameters of the template around the call are what its own caller has. */
static bool add_type(HostText *text, HostSpan type, size_t place, int depth, Text *out) {
    for (size_t at = type.begin; at < type.end;) {
        HostSpan word = host_word(text, at);
        bool is_parameter = false;
        size_t end = word.end > at ? word.end : at + 1;
        if (word.end > word.begin && !add_of_caller(text, word, place, depth, &is_parameter, out) &&
            is_parameter)
            return false;
        if (!is_parameter) text_add_bytes(out, text->text + at, end - at);
        at = end;
    }
    return true;
}

static bool deduce(HostText *text, const HostFunction *function, int index, HostSpan arguments, size_t place,
                   int depth, Text *out) {
    HostSpan type, item, argument;
    if (!type_parameter(text, function, index, &type)) return false;
    for (int i = 0; host_list_item(text, function->parameters, i, &item); i++) {
        bool is_pointer;
        if (!has_type(text, item, type, &is_pointer) || !host_list_item(text, arguments, i, &argument))
            continue;
        HostSpan found = type_of_argument(text, argument, place, is_pointer);
        size_t begin = out->length;
        bool is_type = found.end > found.begin && !host_span_is(text, found, "auto") &&
                       !host_span_is(text, found, "void");
        if (is_type && add_type(text, found, place, depth, out)) return true;
        text_cut(out, begin);
    }
    return false;
}

bool host_deduce_argument(HostText *text, const HostFunction *function, int index, HostSpan arguments,
                          size_t place, Text *out) {
    return deduce(text, function, index, arguments, place, 0, out);
}

bool host_calls_parameter(HostText *text, const HostFunction *function, int index) {
    HostSpan type, item;
    if (!type_parameter(text, function, index, &type)) return false;
    for (int i = 0; host_list_item(text, function->parameters, i, &item); i++) {
        bool is_pointer;
        if (!has_type(text, item, type, &is_pointer) || is_pointer) continue;
        HostSpan name = host_declared_name(text, host_trim(text, item));
        for (size_t at = function->body.begin;
             (at = host_text_find(text, name, at, function->body.end)) != SIZE_MAX; at++)
            if (text->text[host_skip_blanks(text, at + (name.end - name.begin), text->length)] == '(')
                return true;
    }
    return false;
}
