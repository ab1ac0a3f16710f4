/* Elements of arrays and vectors of the host: what was assigned to one, or what their initial list has. */
#include "guess/host_element.h"

#include <string.h>

bool host_find_assignment(HostText *text, HostSpan name, size_t place, HostSpan *value, size_t *at) {
    const HostFunction *function = host_text_function_at(text, place);
    bool found = false;
    for (size_t i = function ? function->body.begin : place;
         (i = host_text_find(text, name, i, place)) != SIZE_MAX; i++) {
        size_t open = host_skip_blanks(text, i + (name.end - name.begin), place);
        size_t before = host_back_over_blanks(text, i);
        bool is_definition =
            before > 0 && (host_is_word(text->text[before - 1]) || strchr("*&>", text->text[before - 1]));
        if (open >= place || text->text[open] != '[' || is_definition) continue;
        size_t sign = host_skip_blanks(text, host_skip_brackets(text, open, place), place), end = sign;
        if (sign + 1 >= place || text->text[sign] != '=' || text->text[sign + 1] == '=') continue;
        while (end < text->length && text->text[end] != ';') end++;
        *value = (HostSpan){sign + 1, end};
        *at = i;
        found = true;
    }
    return found;
}

bool host_find_items(HostText *text, HostSpan name, size_t place, HostSpan *items) {
    HostDefinition definition = host_text_define(text, name, place);
    HostSpan list = host_trim(text, definition.kind == HOST_ARRAY ? definition.parameters : definition.value);
    if (definition.kind == HOST_VALUE && definition.is_called && text->text[list.begin - 1] == '{')
        list = (HostSpan){list.begin - 1, list.end + 1};
    if ((definition.kind != HOST_ARRAY && definition.kind != HOST_VALUE) || list.end <= list.begin ||
        text->text[list.begin] != '{')
        return false;
    *items = (HostSpan){list.begin + 1, host_skip_brackets(text, list.begin, list.end) - 1};
    return true;
}

bool host_find_range(HostText *text, const HostDefinition *range, HostSpan *items) {
    HostSpan value = host_trim(text, range->value), name = host_word(text, value.begin);
    if (value.end > value.begin && text->text[value.begin] == '{') {
        *items = (HostSpan){value.begin + 1, value.end - 1};
        return true;
    }
    return name.end == value.end && host_find_items(text, name, range->at, items);
}
