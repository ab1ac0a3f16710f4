/* What names of host code mean: definitions, parameters, calls, members. */
#include "compile/host_reader.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static HostNumber free_size(HostValues *values, size_t at) {
    int i = 0;
    while (i < values->free_count && values->free_places[i] != at) i++;
    if (i == values->free_count && i < HOST_ROOTS) values->free_places[values->free_count++] = at;
    if (!values->free_size) return host_unknown;
    HostNumber result = host_number((int64_t)values->free_size);
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
    if (host_text_find_call(text, definition->function, &arguments, &angles, &at) &&
        host_list_item(text, is_template ? angles : arguments, definition->index, &item))
        return host_evaluate(values, item, at, NULL);
    HostSpan list = is_template ? definition->function->head : definition->function->parameters;
    if (host_list_item(text, list, definition->index, &item)) { /* int n = 1024 */
        if (memchr(text->text + item.begin, '*', item.end - item.begin))
            return host_unknown; /* a pointer is no size */
        const char *equal = memchr(text->text + item.begin, '=', item.end - item.begin);
        if (equal)
            return host_evaluate(values, (HostSpan){(size_t)(equal - text->text) + 1, item.end}, item.begin, NULL);
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

HostNumber host_read_named(HostReader *reader, HostSpan name) {
    HostValues *values = reader->values;
    for (const HostScope *scope = reader->scope; scope; scope = scope->outer) {
        HostSpan item;
        for (int i = 0; host_list_item(values->text, scope->names, i, &item); i++) {
            size_t word = item.end; /* int n: the last word */
            while (word > item.begin && host_is_word(values->text->text[word - 1])) word--;
            HostSpan value;
            if (host_spans_equal(values->text, (HostSpan){word, item.end}, name) &&
                host_list_item(values->text, scope->values, i, &value))
                return host_evaluate(values, value, scope->at, scope->outer);
        }
    }
    if (host_span_is(values->text, name, "true") || host_span_is(values->text, name, "false"))
        return host_number(host_span_is(values->text, name, "true"));
    if (host_span_is(values->text, name, "warpSize")) return host_number(32);
    if (host_span_is(values->text, name, "INT_MAX")) return host_number(INT32_MAX);
    if (host_span_is(values->text, name, "INT_MIN")) return host_number(INT32_MIN);
    if (host_span_is(values->text, name, "FLT_MAX")) return host_float(3.402823466e38);
    HostDefinition definition = host_text_define(values->text, name, reader->place);
    for (int i = 0; i < values->override_count; i++)
        if (definition.kind != HOST_UNDEFINED && values->overrides[i].at == definition.at) {
            note_root(values, definition.at, values->overrides[i].value);
            return host_number(values->overrides[i].value);
        }
    if (definition.kind == HOST_PARAMETER || definition.kind == HOST_TEMPLATE)
        return parameter_value(values, &definition);
    if (definition.kind == HOST_UNDEFINED) return asked_value(values, name, reader->place);
    if (definition.kind != HOST_VALUE && definition.kind != HOST_MACRO) return host_unknown;
    HostNumber result = host_evaluate(values, definition.value, definition.at, NULL);
    for (int i = 0; !result.is_known && definition.kind == HOST_VALUE && i < 4;
         i++) { /* if (argc > 1) n = atoi(..) */
        HostDefinition before = host_text_define(values->text, name, definition.at);
        if (before.kind != HOST_VALUE || before.at >= definition.at) break;
        HostNumber usual = host_evaluate(values, before.value, before.at, NULL);
        definition = before;
        if (usual.is_known && usual.number > 0) result = usual;
    }
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

HostNumber host_read_call(HostReader *reader, HostSpan name) {
    HostText *text = reader->values->text;
    size_t close = host_skip_brackets(text, reader->at, reader->end);
    HostSpan list = {reader->at + 1, close - 1}, item, value;
    reader->at = close;
    HostDefinition macro = host_text_define(text, name, reader->place);
    const HostFunction *function = host_text_find_function(text, name);
    HostScope scope = {.values = list, .at = reader->place, .outer = reader->scope};
    if (macro.kind == HOST_MACRO && macro.is_called) {
        scope.names = macro.parameters;
        return host_evaluate(reader->values, macro.value, macro.at, &scope);
    }
    if (function && only_returns(text, function, &value)) {
        scope.names = function->parameters;
        return host_evaluate(reader->values, value, function->body.begin, &scope);
    }
    HostNumber given[2] = {host_unknown, host_unknown};
    int count = 0;
    bool is_known;
    for (; count < 2 && host_list_item(text, list, count, &item); count++)
        given[count] = host_evaluate(reader->values, item, reader->place, reader->scope);
    bool is_divided = count == 2 && !function && macro.kind == HOST_UNDEFINED && names_division(text, name);
    if (is_divided && given[0].is_known && given[1].is_known && given[1].number > 0) {
        HostNumber quotient = host_number((int64_t)ceil(given[0].number / given[1].number));
        quotient.is_free = given[0].is_free || given[1].is_free;
        return quotient;
    }
    HostNumber result = host_apply_function(text->text + name.begin, name.end - name.begin, given, count, &is_known);
    return function ? host_unknown : result;
}

HostNumber host_read_member(HostReader *reader, HostSpan object) {
    HostText *text = reader->values->text;
    bool is_arrow = text->text[reader->at] == '-';
    reader->at += is_arrow ? 2 : 1;
    HostSpan name = host_word(text, reader->at), item;
    reader->at = name.end;
    bool is_call = host_reader_peek(reader) == '(';
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
            if (host_reader_peek(reader) == '[') reader->at = host_skip_brackets(text, reader->at, reader->end);
            return host_number(properties[i].value);
        }
    int axis = host_span_is(text, name, "x")   ? 0
               : host_span_is(text, name, "y") ? 1
               : host_span_is(text, name, "z") ? 2
                                               : -1;
    HostDefinition definition = host_text_define(text, object, reader->place);
    if (definition.kind != HOST_VALUE) return host_unknown;
    if (axis >= 0) {
        HostSpan list = host_trim(text, definition.value), word = host_word(text, list.begin);
        if (host_span_is(text, word, "dim3")) { /* = dim3(a, b) */
            size_t open = host_skip_blanks(text, word.end, list.end);
            list = (HostSpan){open + 1, host_skip_brackets(text, open, list.end) - 1};
        }
        if (!host_list_item(text, list, axis, &item)) return host_number(1);
        return host_evaluate(reader->values, item, definition.at, NULL);
    }
    bool is_size = is_call && host_span_is(text, name, "size") && definition.is_called;
    int items = 0;
    while (is_size && text->text[definition.value.begin - 1] == '{' &&
           host_list_item(text, definition.value, items, &item))
        items++;
    if (items > 1) return host_number(items); /* v{3, 1, 4} */
    if (is_size && host_list_item(text, definition.value, 0, &item))
        return host_evaluate(reader->values, item, definition.at, NULL);
    return host_unknown;
}
