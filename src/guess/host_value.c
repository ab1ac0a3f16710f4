#include "guess/host_value.h"
#include "guess/reassigned.h"
#include "guess/host_element.h"
#include "guess/host_number.h"
#include "guess/host_type.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 48 };

typedef struct HostScope HostScope;

struct HostScope { /* the parameters of a macro, or of a function that returns an expression */
    HostSpan names, values;
    size_t at;
    const HostScope *outer; /* of the values */
};

typedef struct HostReader {
    HostValues *values;
    const char *text;
    size_t at, end, place;
    const HostScope *scope;
} HostReader;

static HostNumber read_expression(HostReader *reader, int least);
static HostNumber evaluate(HostValues *values, HostSpan span, size_t place, const HostScope *scope);

static void skip_blanks(HostReader *reader) {
    for (; reader->at < reader->end; reader->at++) {
        char c = reader->text[reader->at];
        if (!isspace((unsigned char)c) && !(c == '\\' && reader->text[reader->at + 1] == '\n')) break;
    }
}

static char peek(HostReader *reader) {
    skip_blanks(reader);
    return reader->at < reader->end ? reader->text[reader->at] : 0;
}

/* ---- names ---------------------------------------------------------------------------------------------- */

static HostNumber free_size(HostValues *values, size_t at) {
    int i = 0;
    while (i < values->free_count && values->free_places[i] != at) i++;
    if (i == values->free_count && i < HOST_ROOTS) values->free_places[values->free_count++] = at;
    bool is_chosen = values->known_place && at == values->known_place;
    if (!values->free_size && !is_chosen) return host_unknown;
    HostNumber result = host_number((int64_t)(is_chosen ? values->known_size : values->free_size));
    result.is_free = true;
    return result;
}

static void note_root(HostValues *values, size_t at, int64_t value) {
    for (int i = 0; i < values->root_count; i++)
        if (values->roots[i].at == at) return;
    if (values->root_count < HOST_ROOTS) values->roots[values->root_count++] = (HostRoot){at, value};
}

/* Is it made of digits and operators only, 1 << 20? */
static bool is_plain(const HostText *text, HostSpan span) {
    bool has_digit = false;
    for (size_t i = span.begin; i < span.end; i++) {
        char c = text->text[i];
        if (isalpha((unsigned char)c) && !has_digit) return false;
        if (isalpha((unsigned char)c) && !strchr("uUlLxXeEfabcdABCDF", c)) return false;
        has_digit |= isdigit((unsigned char)c) != 0;
    }
    return has_digit;
}

/* `return EXPRESSION;` is all that the function does. */
static bool only_returns(const HostText *text, const HostFunction *function, HostSpan *value) {
    HostSpan body = host_trim(text, function->body), word = host_word(text, body.begin);
    if (!host_span_is(text, word, "return") || body.end < 2 || text->text[body.end - 1] != ';') return false;
    *value = (HostSpan){word.end, body.end - 1};
    return memchr(text->text + value->begin, ';', value->end - value->begin) == NULL;
}

static HostNumber parameter_value(HostValues *values, const HostDefinition *definition) {
    HostText *text = values->text;
    HostSpan arguments, angles, item;
    size_t at;
    bool is_template = definition->kind == HOST_TEMPLATE;
    if (!is_template && !definition->index && host_span_is(text, definition->function->name, "main"))
        return host_number(1); /* argc: a program is first run without arguments */
    if (host_text_find_call(text, definition->function, &arguments, &angles, &at) &&
        host_list_item(text, is_template ? angles : arguments, definition->index, &item))
        return evaluate(values, item, at, NULL);
    HostSpan list = is_template ? definition->function->head : definition->function->parameters;
    if (host_list_item(text, list, definition->index, &item)) { /* int n = 1024 */
        if (memchr(text->text + item.begin, '*', item.end - item.begin))
            return host_unknown; /* a pointer is no size */
        const char *equal = memchr(text->text + item.begin, '=', item.end - item.begin);
        if (equal)
            return evaluate(values, (HostSpan){(size_t)(equal - text->text) + 1, item.end}, item.begin, NULL);
    }
    return is_template
               ? host_unknown
               : free_size(values, definition->function->parameters.begin + (size_t)definition->index);
}

/* Does `int`, or another type of whole numbers, stand before the name at `at`? */
static bool declares_integer(const HostText *text, size_t at) {
    size_t end = at, begin;
    while (end > 0 && isspace((unsigned char)text->text[end - 1])) end--;
    for (begin = end; begin > 0 && host_is_word(text->text[begin - 1]);) begin--;
    HostSpan word = {begin, end};
    bool is_float = host_span_is(text, word, "float") || host_span_is(text, word, "double") ||
                    host_span_is(text, word, "real");
    return !is_float && host_type_bytes(text->text + begin, end - begin) > 0;
}

/* What the runtime writes through `&name`: properties of the GPU, an H200, and how many blocks it holds. */
static HostNumber asked_value(HostValues *values, HostSpan name, size_t place) {
    static const struct {
        const char *word;
        int64_t value;
    } answers[] = {{"cudaDevAttrMultiProcessorCount", 132},
                   {"cudaDevAttrMaxThreadsPerBlock", 1024},
                   {"cudaDevAttrMaxThreadsPerMultiProcessor", 2048},
                   {"cudaDevAttrWarpSize", 32},
                   {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", 8}};
    HostText *text = values->text;
    const HostFunction *function = host_text_function_at(text, place);
    for (size_t at = function ? function->body.begin : 0;
         (at = host_text_find(text, name, at, place)) != SIZE_MAX; at++) {
        size_t begin = at, end = at;
        if (!at || text->text[at - 1] != '&') continue;
        while (begin > 0 && !strchr(";{}", text->text[begin - 1])) begin--;
        while (end < text->length && text->text[end] != ';') end++;
        for (size_t i = begin; i < end; i++)
            for (size_t k = 0; k < sizeof answers / sizeof *answers; k++)
                if (host_span_is(text, host_word(text, i), answers[k].word))
                    return host_number(answers[k].value);
    }
    return host_unknown;
}

static HostNumber first_of_range(HostValues *values, const HostDefinition *range) {
    HostSpan items, item;
    if (!host_find_range(values->text, range, &items) || !host_list_item(values->text, items, 0, &item))
        return host_unknown;
    return evaluate(values, item, range->at, NULL);
}

/* name[index], from the bracket on. */
static HostNumber read_element(HostReader *reader, HostSpan name) {
    HostText *text = reader->values->text;
    size_t open = reader->at, at;
    HostSpan value, items;
    reader->at = host_skip_brackets(text, open, reader->end);
    if (host_find_assignment(text, name, reader->place, &value, &at))
        return evaluate(reader->values, value, at, NULL);
    if (!host_find_items(text, name, reader->place, &items)) return host_unknown;
    HostNumber index =
        evaluate(reader->values, (HostSpan){open + 1, reader->at - 1}, reader->place, reader->scope);
    bool is_index = index.is_known && !index.is_float && !index.is_free && index.integer >= 0;
    if (!host_list_item(text, items, is_index && index.integer < 1 << 20 ? (int)index.integer : 0, &value))
        return host_unknown;
    return evaluate(reader->values, value, reader->place, NULL);
}

/* Its value after `blocks++` and the like, as far as they are executed. */
static HostNumber follow_steps(HostReader *reader, HostSpan name, const HostDefinition *definition,
                               HostNumber value) {
    HostText *text = reader->values->text;
    HostStep step;
    if (definition->kind != HOST_VALUE ||
        host_text_function_at(text, definition->at) != host_text_function_at(text, reader->place))
        return value;
    for (size_t from = definition->value.end;
         value.is_known && host_find_step(text, name, from, reader->place, &step); from = step.at + 1) {
        bool is_always = step.condition.end == step.condition.begin;
        HostNumber holds =
            is_always ? host_number(1) : evaluate(reader->values, step.condition, step.at, NULL);
        if (!holds.is_known || holds.number == 0) continue;
        HostNumber amount = step.amount.end > step.amount.begin
                                ? evaluate(reader->values, step.amount, step.at, NULL)
                                : host_number(1);
        value = host_apply(step.sign, value, amount);
    }
    return value;
}

/* Its value was replaced: it is a root as before. */
static bool is_overridden(HostValues *values, const HostDefinition *definition, HostNumber *value) {
    for (int i = 0; i < values->override_count; i++)
        if (definition->kind != HOST_UNDEFINED && values->overrides[i].at == definition->at) {
            note_root(values, definition->at, values->overrides[i].value);
            *value = host_number(values->overrides[i].value);
            return true;
        }
    return false;
}

static HostNumber name_value(HostReader *reader, HostSpan name) {
    HostValues *values = reader->values;
    for (const HostScope *scope = reader->scope; scope; scope = scope->outer) {
        HostSpan item;
        for (int i = 0; host_list_item(values->text, scope->names, i, &item); i++) {
            size_t word = item.end; /* int n: the last word */
            while (word > item.begin && host_is_word(values->text->text[word - 1])) word--;
            HostSpan value;
            if (host_spans_equal(values->text, (HostSpan){word, item.end}, name) &&
                host_list_item(values->text, scope->values, i, &value))
                return evaluate(values, value, scope->at, scope->outer);
        }
    }
    const HostBinding *binding = host_binding_find(&values->bindings, values->text, name, reader->place);
    if (binding && !binding->is_pointer) return binding->value;
    if (host_span_is(values->text, name, "true") || host_span_is(values->text, name, "false"))
        return host_number(host_span_is(values->text, name, "true"));
    if (host_span_is(values->text, name, "warpSize")) return host_number(32);
    if (host_span_is(values->text, name, "INT_MAX")) return host_number(INT32_MAX);
    if (host_span_is(values->text, name, "INT_MIN")) return host_number(INT32_MIN);
    if (host_span_is(values->text, name, "FLT_MAX")) return host_float(3.402823466e38);
    HostDefinition definition = host_text_define(values->text, name, reader->place);
    HostNumber replaced;
    if (is_overridden(values, &definition, &replaced)) return replaced;
    if (definition.kind == HOST_PARAMETER || definition.kind == HOST_TEMPLATE)
        return parameter_value(values, &definition);
    if (definition.kind == HOST_RANGE) {
        HostNumber first = first_of_range(values, &definition);
        return first.is_known ? first : free_size(values, definition.at);
    }
    if (definition.kind == HOST_UNDEFINED) return asked_value(values, name, reader->place);
    if (definition.kind != HOST_VALUE && definition.kind != HOST_MACRO) return host_unknown;
    HostNumber result = evaluate(values, definition.value, definition.at, NULL);
    for (int i = 0; !result.is_known && definition.kind == HOST_VALUE && i < 4;
         i++) { /* if (argc > 1) n = atoi(..) */
        HostDefinition before = host_text_define(values->text, name, definition.at);
        if (before.kind != HOST_VALUE || before.at >= definition.at) break;
        if (is_overridden(values, &before, &replaced)) return replaced;
        HostNumber usual = evaluate(values, before.value, before.at, NULL);
        definition = before;
        if (usual.is_known && usual.number > 0) result = usual;
    }
    if (host_is_changed(values->text, name, &definition, result, reader->place)) result = host_unknown;
    result = follow_steps(reader, name, &definition, result);
    if (result.is_float && declares_integer(values->text, definition.at))
        result = host_to_integer(result); /* int n = 1e6 */
    if (result.is_known && !result.is_float && is_plain(values->text, definition.value))
        note_root(values, definition.at, result.integer);
    size_t before = definition.at;
    while (before > 0 && strchr(" \t", values->text->text[before - 1])) before--;
    bool is_pointer = before > 0 && values->text->text[before - 1] == '*';
    if (definition.kind == HOST_VALUE &&
        (!result.is_known || !result.number)) { /* int count = 0; ask(&count) */
        HostNumber asked = asked_value(values, name, reader->place);
        if (asked.is_known) return asked;
    }
    if (!result.is_known && definition.kind == HOST_VALUE && !is_pointer)
        return free_size(values, definition.at);
    return result;
}

/* div_up, CeilDiv, SDIV: of a header that is not here, it tells how many blocks hold all elements. */
static bool names_division(const HostText *text, HostSpan name) {
    for (size_t i = name.begin; i + 3 <= name.end; i++)
        if (tolower((unsigned char)text->text[i]) == 'd' &&
            tolower((unsigned char)text->text[i + 1]) == 'i' &&
            tolower((unsigned char)text->text[i + 2]) == 'v')
            return true;
    return false;
}

static HostNumber call(HostReader *reader, HostSpan name) {
    HostText *text = reader->values->text;
    size_t close = host_skip_brackets(text, reader->at, reader->end);
    HostSpan list = {reader->at + 1, close - 1}, item, value;
    reader->at = close;
    HostDefinition macro = host_text_define(text, name, reader->place);
    const HostFunction *function = host_text_find_function(text, name);
    HostScope scope = {.values = list, .at = reader->place, .outer = reader->scope};
    if (macro.kind == HOST_MACRO && macro.is_called) {
        scope.names = macro.parameters;
        return evaluate(reader->values, macro.value, macro.at, &scope);
    }
    if (function && only_returns(text, function, &value)) {
        scope.names = function->parameters;
        return evaluate(reader->values, value, function->body.begin, &scope);
    }
    HostNumber given[2] = {host_unknown, host_unknown};
    int count = 0;
    bool is_known;
    for (; count < 2 && host_list_item(text, list, count, &item); count++)
        given[count] = evaluate(reader->values, item, reader->place, reader->scope);
    bool is_divided = count == 2 && !function && macro.kind == HOST_UNDEFINED && names_division(text, name);
    if (is_divided && given[0].is_known && given[1].is_known && given[1].number > 0) {
        HostNumber quotient = host_number((int64_t)ceil(given[0].number / given[1].number));
        quotient.is_free = given[0].is_free || given[1].is_free;
        return quotient;
    }
    HostNumber result =
        host_apply_function(text->text + name.begin, name.end - name.begin, given, count, &is_known);
    return function ? host_unknown : result;
}

/* .size() of std::vector<T> v(COUNT), .x of a dim3, a property of the device. */
static HostNumber member(HostReader *reader, HostSpan object) {
    HostText *text = reader->values->text;
    bool is_arrow = text->text[reader->at] == '-';
    reader->at += is_arrow ? 2 : 1;
    HostSpan name = host_word(text, reader->at), item;
    reader->at = name.end;
    bool is_call = peek(reader) == '(';
    if (is_call) reader->at = host_skip_brackets(text, reader->at, reader->end);
    static const struct {
        const char *name;
        int64_t value;
    } properties[] = {{"multiProcessorCount", 132},
                      {"maxThreadsPerBlock", 1024},
                      {"maxThreadsDim", 1024},
                      {"maxThreadsPerMultiProcessor", 2048},
                      {"sharedMemPerBlock", 48 << 10},
                      {"maxGridSize", INT32_MAX},
                      {"warpSize", 32}};
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        if (host_span_is(text, name, properties[i].name)) {
            if (peek(reader) == '[') reader->at = host_skip_brackets(text, reader->at, reader->end);
            return host_number(properties[i].value);
        }
    int axis = host_span_is(text, name, "x")   ? 0
               : host_span_is(text, name, "y") ? 1
               : host_span_is(text, name, "z") ? 2
                                               : -1;
    HostDefinition definition = host_text_define(text, object, reader->place);
    bool names_size = host_span_is(text, name, "size") || (!is_call && host_span_is(text, name, "size_"));
    if (definition.kind == HOST_PARAMETER && names_size)
        return free_size(reader->values, definition.at + (size_t)definition.index);
    if (definition.kind != HOST_VALUE) return host_unknown;
    if (axis >= 0) {
        HostSpan list = host_trim(text, definition.value), word = host_word(text, list.begin);
        if (host_span_is(text, word, "dim3")) { /* = dim3(a, b) */
            size_t open = host_skip_blanks(text, word.end, list.end);
            list = (HostSpan){open + 1, host_skip_brackets(text, open, list.end) - 1};
        } else if (text->text[list.begin] == '{') { /* = {a, b} */
            list = (HostSpan){list.begin + 1, host_skip_brackets(text, list.begin, list.end) - 1};
        }
        if (!host_list_item(text, list, axis, &item)) return host_number(1);
        return evaluate(reader->values, item, definition.at, NULL);
    }
    bool is_size = definition.is_called && names_size; /* vector<T> v(COUNT), Buffer<T> b(COUNT) */
    int items = 0;
    while (is_size && text->text[definition.value.begin - 1] == '{' &&
           host_list_item(text, definition.value, items, &item))
        items++;
    if (items > 1) return host_number(items); /* v{3, 1, 4} */
    if (is_size && host_list_item(text, definition.value, 0, &item))
        return evaluate(reader->values, item, definition.at, NULL);
    return host_unknown;
}

/* ---- the grammar ---------------------------------------------------------------------------------------- */

static HostNumber count_items(HostText *text, HostSpan name, size_t place) {
    HostSpan items, item;
    int count = 0;
    if (!host_find_items(text, name, place, &items)) return host_unknown;
    while (host_list_item(text, items, count, &item) && item.end > item.begin) count++;
    return count ? host_number(count) : host_unknown;
}

static HostNumber read_sizeof(HostReader *reader) {
    HostText *text = reader->values->text;
    char next = peek(reader);
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
    bool is_type = definition.kind == HOST_UNDEFINED || definition.kind == HOST_MACRO ||
                   definition.kind == HOST_TEMPLATE;
    bytes = is_type ? host_named_type(text, name, reader->place) : 0;
    if (!bytes) bytes = host_declared_bytes(text, name, reader->place);
    if (bytes && definition.kind == HOST_ARRAY && !is_element) {
        HostNumber count = evaluate(reader->values, definition.value, definition.at, NULL);
        if (!count.is_known) count = count_items(text, name, reader->place); /* a[] = {3, 1, 4} */
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
    while (peek(reader) == ':' && reader->text[reader->at + 1] == ':') {
        reader->at += 2;
        skip_blanks(reader);
        name = host_word(text, reader->at);
        reader->at = name.end;
    }
    bool is_cast = host_span_is(text, name, "static_cast") || host_span_is(text, name, "reinterpret_cast");
    if (host_span_is(text, name, "sizeof")) return read_sizeof(reader);
    char next = peek(reader);
    if (next == '<') {
        size_t end = host_skip_angles(text, reader->at, reader->end),
               after = host_skip_blanks(text, end, reader->end);
        if (end > reader->at && after < reader->end && text->text[after] == '(' &&
            (is_cast || host_span_is(text, name, "min") || host_span_is(text, name, "max"))) {
            HostSpan type = host_trim(text, (HostSpan){reader->at + 1, end - 1});
            reader->at = after;
            if (!is_cast) return call(reader, name);
            size_t close = host_skip_brackets(text, after, reader->end);
            HostNumber value =
                evaluate(reader->values, (HostSpan){after + 1, close - 1}, reader->place, reader->scope);
            reader->at = close;
            bool to_float = host_span_is(text, type, "float") || host_span_is(text, type, "double");
            if (!to_float) return host_to_integer(value);
            HostNumber number = value.is_known ? host_float(value.number) : host_unknown;
            number.is_free = value.is_free;
            return number;
        }
    }
    if (next == '(') return call(reader, name);
    if (next == '.' || (next == '-' && reader->text[reader->at + 1] == '>')) return member(reader, name);
    if (next == '[') return read_element(reader, name);
    return name_value(reader, name);
}

static HostNumber read_primary(HostReader *reader) {
    HostText *text = reader->values->text;
    char c = peek(reader);
    if (c == ':' && reader->text[reader->at + 1] == ':') { /* ::n */
        reader->at += 2;
        c = peek(reader);
    }
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
    HostNumber value = evaluate(reader->values, inside, reader->place, reader->scope);
    reader->at = close;
    return value;
}

/* The binary operator that comes next: its sign for host_apply(), how strongly it binds, its length. */
static int peek_operator(HostReader *reader, int *strength, int *length) {
    char c = peek(reader), d = c && reader->at + 1 < reader->end ? reader->text[reader->at + 1] : 0;
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
    if (least == 0 && peek(reader) == '?') {
        reader->at++;
        HostNumber yes = read_expression(reader, 0);
        if (peek(reader) == ':') reader->at++;
        HostNumber no = read_expression(reader, 0);
        bool is_missing = no.is_known && no.number <= 0 && yes.is_free; /* argc > 1 ? atoi(argv[1]) : 0 */
        return !left.is_known ? host_unknown : left.number != 0 || is_missing ? yes : no;
    }
    return left;
}

static HostNumber evaluate(HostValues *values, HostSpan span, size_t place, const HostScope *scope) {
    if (values->depth >= DEEPEST || values->text->budget < 64) return host_unknown;
    values->depth++;
    values->text->budget -= 64;
    span = host_trim(values->text, span);
    HostReader reader = {values, values->text->text, span.begin, span.end, place, scope};
    HostNumber result = span.begin < span.end ? read_expression(&reader, 0) : host_unknown;
    if (peek(&reader) != 0) result = host_unknown;
    values->depth--;
    return result;
}

HostNumber host_value(HostValues *values, HostSpan span, size_t at) {
    values->depth = values->root_count = values->free_count = 0;
    return evaluate(values, span, at, NULL);
}
