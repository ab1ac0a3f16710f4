#include "guess/host_type.h"

#include <ctype.h>
#include <string.h>

uint64_t host_type_bytes(const char *name, size_t length) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"char", 1},      {"bool", 1},      {"short", 2},   {"int", 4},      {"unsigned", 4},
                 {"long", 8},      {"float", 4},     {"double", 8},  {"half", 2},     {"__half", 2},
                 {"size_t", 8},    {"int8_t", 1},    {"uint8_t", 1}, {"int16_t", 2},  {"uint16_t", 2},
                 {"int32_t", 4},   {"uint32_t", 4},  {"int64_t", 8}, {"uint64_t", 8}, {"uint", 4},
                 {"uchar", 1},     {"float2", 8},    {"float4", 16}, {"int2", 8},     {"int4", 16},
                 {"double2", 16},  {"half2", 4},     {"__half2", 4}, {"signed", 4},   {"nv_bfloat16", 2},
                 {"ptrdiff_t", 8}, {"float3", 12},   {"uint4", 16},  {"uchar4", 4},   {"__nv_bfloat16", 2},
                 {"cl_int", 4},    {"longlong", 8},  {"ulong", 8},   {"real", 4},     {"clock_t", 8},
                 {"intptr_t", 8},  {"uintptr_t", 8}, {"ushort", 2}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && !memcmp(types[i].name, name, length)) return types[i].bytes;
    return 0;
}

uint64_t host_type_of(const HostText *text, HostSpan span) {
    uint64_t bytes = 0;
    for (size_t at = span.begin; at < span.end;) {
        char c = text->text[at];
        if (isspace((unsigned char)c) || c == '&' || c == ':') {
            at++;
        } else if (c == '*' && bytes) {
            return 8;
        } else {
            HostSpan word = host_word(text, at);
            if (word.end == word.begin || word.end > span.end) return 0;
            uint64_t part = host_type_bytes(text->text + word.begin, word.end - word.begin);
            bool is_qualifier = host_span_is(text, word, "const") || host_span_is(text, word, "std") ||
                                host_span_is(text, word, "void") || host_span_is(text, word, "volatile");
            if (!part && !is_qualifier) return 0;
            if (host_span_is(text, word, "void")) part = 1;
            if (part && (!bytes || part != 4)) bytes = part; /* unsigned char, long int */
            at = word.end;
        }
    }
    return bytes;
}

uint64_t host_declared_bytes(HostText *text, HostSpan name, size_t place) {
    const HostFunction *function = host_text_function_at(text, place);
    size_t from = function ? function->parameters.begin : 0;
    for (int pass = 0; pass < 2; pass++, from = 0)
        for (size_t at = from; (at = host_text_find(text, name, at, text->length)) != SIZE_MAX; at++) {
            size_t begin = at;
            while (begin > 0 &&
                   (host_is_word(text->text[begin - 1]) || strchr(" \t*&,", text->text[begin - 1])))
                begin--;
            while (begin < at) {
                HostSpan word = host_word(text, begin);
                uint64_t bytes = host_type_bytes(text->text + word.begin, word.end - word.begin);
                if (bytes) return bytes;
                begin = word.end + (word.end == begin);
            }
        }
    return 0;
}

static bool has_word(HostText *text, HostSpan span, HostSpan name) {
    return host_text_find(text, name, span.begin, span.end) != SIZE_MAX;
}

/* Of a type that a template leaves to be deduced: that of what a call gives for a parameter which is made of it; where no
 * call says it, a float's, which is also what its kernels are instances for (host_guess_argument()). */
static uint64_t deduced_bytes(HostText *text, const HostDefinition *definition, HostSpan name) {
    HostSpan head, arguments, angles, parameter, given;
    size_t at;
    if (!host_list_item(text, definition->function->head, definition->index, &head)) return 0;
    HostSpan kind = host_word(text, head.begin);
    if (!host_span_is(text, kind, "typename") && !host_span_is(text, kind, "class")) return 0;
    bool is_called = host_text_find_call(text, definition->function, &arguments, &angles, &at);
    for (int i = 0; is_called && host_list_item(text, definition->function->parameters, i, &parameter) &&
                    host_list_item(text, arguments, i, &given);
         i++) {
        size_t begin = given.begin;
        while (begin < given.end && !host_is_word(text->text[begin])) begin++;
        uint64_t bytes =
            has_word(text, parameter, name) ? host_declared_bytes(text, host_word(text, begin), at) : 0;
        if (bytes) return bytes;
    }
    return 4;
}

uint64_t host_named_type(HostText *text, HostSpan name, size_t place) {
    HostDefinition definition = host_text_define(text, name, place);
    HostSpan arguments, angles, item;
    size_t at;
    if (definition.kind == HOST_MACRO) return host_type_of(text, definition.value);
    if (definition.kind == HOST_VALUE) return host_type_of(text, definition.value); /* using T = float */
    if (definition.kind == HOST_TEMPLATE &&
        host_text_find_call(text, definition.function, &arguments, &angles, &at) &&
        host_list_item(text, angles, definition.index, &item))
        return host_type_of(text, item);
    if (definition.kind == HOST_TEMPLATE) return deduced_bytes(text, &definition, name);
    for (size_t i = 0; (i = host_text_find(text, name, i, text->length)) != SIZE_MAX;
         i++) { /* typedef float T; */
        size_t begin = i;
        while (begin > 0 && !strchr(";{}\n", text->text[begin - 1])) begin--;
        HostSpan word = host_word(text, host_skip_blanks(text, begin, i));
        if (host_span_is(text, word, "typedef")) return host_type_of(text, (HostSpan){word.end, i});
    }
    return 0;
}
