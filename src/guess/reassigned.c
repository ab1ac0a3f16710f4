/* Values that are others by the time they are used. */
#include "guess/reassigned.h"

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

/* f(&name), or f(name) of a function that takes a reference, or may: it may give it another value. */
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
    HostSpan function = {begin, end};
    bool has_others = index > 0 || text->text[after] == ',', /* from which it is computed */
        may_take_it = has_others && !host_text_find_function(text, function);
    return depth > 0 && end > begin && (by_address || may_take_it || takes_reference(text, function, index));
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

/* The braces that are open at `to` and were not at `from`; -1: some are closed that were open. */
static int count_open(const HostText *text, size_t from, size_t to, size_t *last) {
    int depth = 0;
    for (size_t i = from; i < to && depth >= 0; i++) {
        if (text->text[i] == '{' && depth++ == 0) *last = i;
        depth -= text->text[i] == '}';
    }
    return depth;
}

/* `if (CONDITION)` ends at `end`. */
static bool find_condition(const HostText *text, size_t end, HostSpan *condition) {
    if (!end || text->text[end - 1] != ')') return false;
    int depth = 0;
    size_t open = end;
    do {
        open--;
        depth += (text->text[open] == ')') - (text->text[open] == '(');
    } while (open > 0 && depth > 0);
    size_t word = host_back_over_blanks(text, open), begin = word;
    while (begin > 0 && host_is_word(text->text[begin - 1])) begin--;
    *condition = (HostSpan){open + 1, end - 1};
    return host_span_is(text, (HostSpan){begin, word}, "if");
}

/* name++; name += AMOUNT; ++name; of which `begin` is the first character. */
static bool read_step(const HostText *text, HostSpan name, size_t at, size_t *begin, HostStep *step) {
    size_t after = host_skip_blanks(text, at + (name.end - name.begin), text->length), end = after;
    const char *next = text->text + after, *last = text->text + at;
    while (end < text->length && !strchr(";{}", text->text[end])) end++;
    *step = (HostStep){.at = at};
    *begin = at;
    bool is_before = at > 1 && (last[-1] == '+' || last[-1] == '-') && last[-2] == last[-1],
         is_behind = (next[0] == '+' || next[0] == '-') && next[1] == next[0],
         is_sum = (next[0] == '+' || next[0] == '-') && next[1] == '=';
    if (is_before) *begin = at - 2;
    if (is_sum) step->amount = (HostSpan){after + 2, end};
    step->sign = is_before ? last[-1] : next[0];
    return text->text[end] == ';' && (is_sum || (is_before && after == end) ||
                                      (is_behind && host_skip_blanks(text, after + 2, end) == end));
}

bool host_find_step(HostText *text, HostSpan name, size_t from, size_t place, HostStep *step) {
    size_t length = name.end - name.begin;
    for (size_t at = from; (at = host_text_find(text, name, at, place)) != SIZE_MAX; at += length) {
        size_t begin, brace = 0;
        if (!read_step(text, name, at, &begin, step)) continue;
        size_t before = host_back_over_blanks(text, begin);
        int depth = count_open(text, from, begin, &brace);
        bool is_conditional =
            find_condition(text, before, &step->condition) ||
            (depth == 1 && find_condition(text, host_back_over_blanks(text, brace), &step->condition));
        if (!is_conditional) step->condition = (HostSpan){0, 0};
        bool is_alone = strchr(";{}", text->text[before - 1]) != NULL;
        if (is_conditional ? depth <= 1 : is_alone && depth == 0) return true;
    }
    return false;
}
