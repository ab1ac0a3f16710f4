/* Values that are others by the time they are used. */
#include "compile/host_changed.h"

#include <string.h>

/* name *= ..., as in a loop over the sides of an array; not in the head of a loop, whose body sees the first value. */
static bool is_multiplied(const HostText *text, HostSpan name, size_t at) {
    size_t after = host_skip_blanks(text, at + (name.end - name.begin), text->length),
           before = host_back_over_blanks(text, at);
    if (!before || !strchr(";{})", text->text[before - 1]) || text->text[after] != '*' ||
        text->text[after + 1] != '=')
        return false;
    int depth = 0;
    for (size_t i = at; i > 0 && depth <= 0 && !strchr("{}", text->text[i - 1]); i--)
        depth += (text->text[i - 1] == '(') - (text->text[i - 1] == ')');
    return depth <= 0;
}

/* Parameter `index` of the function that this text defines is a reference. */
static bool takes_reference(const HostText *text, HostSpan function, int index) {
    const HostFunction *found = host_text_find_function(text, function);
    HostSpan item;
    return found && host_list_item(text, found->parameters, index, &item) &&
           memchr(text->text + item.begin, '&', item.end - item.begin) != NULL;
}

/* f(&name), or f(name) of a function that takes a reference: it may give it another value. */
static bool is_passed_on(const HostText *text, HostSpan name, size_t at) {
    size_t length = name.end - name.begin, after = host_skip_blanks(text, at + length, text->length),
           before = host_back_over_blanks(text, at);
    bool by_address = before > 1 && text->text[before - 1] == '&' && text->text[before - 2] != '&';
    if (by_address) before = host_back_over_blanks(text, before - 1);
    if (before < 2 || !strchr("(,", text->text[before - 1]) || !strchr(",)", text->text[after])) return false;
    int depth = 0, index = 0;
    size_t open = before;
    for (; open > 0 && depth <= 0 && !strchr(";{}", text->text[open - 1]); open--) {
        char c = text->text[open - 1];
        depth += (c == '(') - (c == ')');
        index += c == ',' && !depth;
    }
    size_t end = host_back_over_blanks(text, open), begin = end;
    while (begin > 0 && host_is_word(text->text[begin - 1])) begin--;
    return depth > 0 && end > begin && (by_address || takes_reference(text, (HostSpan){begin, end}, index));
}

bool host_is_changed(HostText *text, HostSpan name, const HostDefinition *definition, HostNumber value,
                     size_t place) {
    const HostFunction *function = host_text_function_at(text, place);
    size_t length = name.end - name.begin;
    if (definition->kind != HOST_VALUE || !value.is_known || value.is_free || !function ||
        host_text_function_at(text, definition->at) != function)
        return false;
    for (size_t at = definition->value.end; (at = host_text_find(text, name, at, place)) != SIZE_MAX;
         at += length)
        if (is_multiplied(text, name, at) || (value.number <= 0 && is_passed_on(text, name, at))) return true;
    return false;
}
