#include "guess/host_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool host_is_word(int c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- what is no code ------------------------------------------------------------------------------------ */

static void blank(char *from, const char *to) {
    for (; from < to; from++)
        if (*from != '\n') *from = ' ';
}

static char *skip_quoted(char *at) {
    char quote = *at++;
    while (*at && *at != quote && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

static void blank_comments(char *text) {
    for (char *at = text; *at;) {
        char *end = NULL;
        if (at[0] == '/' && at[1] == '/') end = at + strcspn(at, "\n");
        if (at[0] == '/' && at[1] == '*')
            end = strstr(at + 2, "*/") ? strstr(at + 2, "*/") + 2 : at + strlen(at);
        bool is_character = *at == '\'' && (at == text || !host_is_word(at[-1]));
        if (*at == '"' || is_character) {
            end = skip_quoted(at);
            if (end > at + 1) blank(at + 1, end - 1);
        } else if (end) {
            blank(at, end);
        }
        at = end ? end : at + 1;
    }
}

/* `<< <grid, block> >>`, as some editors break it, becomes `<<<  grid, block>>>  `: places stay those of the file. */
static void join_chevrons(char *text) {
    static const char marks[] = "<>";
    for (char *at = text; *at; at++) {
        const char *mark = strchr(marks, *at);
        char *places[3] = {at, NULL, NULL}, *next = at;
        for (int i = 1; mark && i < 3 && next; i++) {
            next += 1 + strspn(next + 1, " \t");
            places[i] = next = *next == *mark ? next : NULL;
        }
        if (!mark || !places[2] || places[2] == at + 2) continue;
        if (places[1] != at + 1 && places[2] != places[1] + 1)
            continue; /* a > b > c, three templates that end */
        char c = *mark;
        *places[1] = *places[2] = ' ';
        at[1] = at[2] = c;
        at += 2;
    }
}

static bool begins(const char *at, const char *word) {
    return !strncmp(at, word, strlen(word)) && !host_is_word(at[strlen(word)]);
}

/* What stands between #if 0 and its #else or #endif. */
static void blank_disabled(char *text) {
    int depth = 0, hidden = 0;
    for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char *at = line + strspn(line, " \t");
        if (*at == '#') {
            at += 1 + strspn(at + 1, " \t");
            if (!strncmp(at, "if", 2)) depth++;
            if (begins(at, "if") && !hidden && at[2 + strspn(at + 2, " \t")] == '0') hidden = depth;
            if (depth == hidden && begins(at, "else")) hidden = 0;
            if (begins(at, "endif")) {
                if (depth == hidden) hidden = 0;
                depth -= depth > 0;
            }
        } else if (hidden) {
            blank(line, line + strcspn(line, "\n"));
        }
    }
}

/* ---- pieces --------------------------------------------------------------------------------------------- */

size_t host_skip_blanks(const HostText *text, size_t at, size_t end) {
    while (at < end && isspace((unsigned char)text->text[at])) at++;
    return at;
}

HostSpan host_trim(const HostText *text, HostSpan span) {
    span.begin = host_skip_blanks(text, span.begin, span.end);
    while (span.end > span.begin && isspace((unsigned char)text->text[span.end - 1])) span.end--;
    return span;
}

bool host_span_is(const HostText *text, HostSpan span, const char *word) {
    return strlen(word) == span.end - span.begin && !memcmp(text->text + span.begin, word, strlen(word));
}

bool host_spans_equal(const HostText *text, HostSpan a, HostSpan b) {
    return a.end - a.begin == b.end - b.begin && a.end > a.begin &&
           !memcmp(text->text + a.begin, text->text + b.begin, a.end - a.begin);
}

HostSpan host_word(const HostText *text, size_t at) {
    HostSpan word = {at, at};
    if (at < text->length && isdigit((unsigned char)text->text[at])) return word;
    while (word.end < text->length && host_is_word(text->text[word.end])) word.end++;
    return word;
}

size_t host_skip_brackets(const HostText *text, size_t at, size_t end) {
    int depth = 0;
    while (at < end) {
        char c = text->text[at++];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (depth <= 0) return at;
    }
    return end;
}

size_t host_skip_angles(const HostText *text, size_t at, size_t end) {
    int depth = 0;
    for (size_t i = at; i < end; i++) {
        char c = text->text[i];
        if (c == '(') {
            i = host_skip_brackets(text, i, end) - 1;
            continue;
        }
        if (c == ';' || c == '{' || c == '}') return at;
        depth += (c == '<') - (c == '>');
        if (depth <= 0) return i + 1;
    }
    return at;
}

bool host_list_item(const HostText *text, HostSpan list, int index, HostSpan *item) {
    size_t at = list.begin, begin = at;
    list = host_trim(text, list);
    if (list.begin == list.end) return false;
    for (int i = 0; at <= list.end; at++) {
        char c = at < list.end ? text->text[at] : ',';
        if (c == '(' || c == '[' || c == '{') {
            at = host_skip_brackets(text, at, list.end) - 1;
            continue;
        }
        if (c == '<' && at > list.begin && host_is_word(text->text[at - 1])) {
            size_t after = host_skip_angles(text, at, list.end);
            if (after > at) at = after - 1;
            continue;
        }
        if (c != ',') continue;
        if (i++ == index) {
            *item = host_trim(text, (HostSpan){begin, at});
            return true;
        }
        begin = at + 1;
    }
    return false;
}

size_t host_back_over_blanks(const HostText *text, size_t at) {
    while (at > 0 && isspace((unsigned char)text->text[at - 1])) at--;
    return at;
}

HostSpan host_declared_name(const HostText *text, HostSpan item) {
    size_t end = item.begin;
    while (end < item.end && text->text[end] != '=' && text->text[end] != '[') end++;
    end = host_back_over_blanks(text, end);
    size_t begin = end;
    while (begin > item.begin && host_is_word(text->text[begin - 1])) begin--;
    return (HostSpan){begin, end};
}

size_t host_open_angle(const HostText *text, size_t at) {
    int depth = 0;
    for (size_t i = at; i-- > 0;) {
        char c = text->text[i];
        if (c == ')') depth += 100;
        if (c == '(') depth -= 100;
        if (c == ';' || c == '{' || c == '}') break;
        depth += (c == '>') - (c == '<');
        if (depth <= 0) return i;
    }
    return SIZE_MAX;
}

bool host_is_in_directive(const HostText *text, size_t at) {
    size_t line = at;
    while (line > 0 && (text->text[line - 1] != '\n' || (line > 1 && text->text[line - 2] == '\\'))) line--;
    return text->text[host_skip_blanks(text, line, text->length)] == '#';
}

/* ---- functions ------------------------------------------------------------------------------------------ */

/* The bracket that opens what ends at `at`, searched backwards; SIZE_MAX: none. */
static size_t open_of(const HostText *text, size_t at) {
    int depth = 0;
    for (size_t i = at + 1; i-- > 0;) {
        char c = text->text[i];
        depth += (c == ')') - (c == '(');
        if (depth <= 0) return i;
        if (c == ';' || c == '{' || c == '}') break;
    }
    return SIZE_MAX;
}

/* template <...> before the function that begins at or before `at`. */
static HostSpan find_head(const HostText *text, size_t at) {
    size_t begin = at;
    while (begin > 0 && !strchr(";}{#", text->text[begin - 1])) begin--;
    for (; begin + 8 < at; begin++)
        if (!memcmp(text->text + begin, "template", 8)) {
            size_t open = host_skip_blanks(text, begin + 8, at), end = host_skip_angles(text, open, at);
            if (end > open + 1) return (HostSpan){open + 1, end - 1};
        }
    return (HostSpan){0, 0};
}

static bool read_function(const HostText *text, size_t brace, HostFunction *function) {
    size_t before = host_back_over_blanks(text, brace);
    if (!before || text->text[before - 1] != ')') return false;
    size_t open = open_of(text, before - 1);
    if (open == SIZE_MAX) return false;
    size_t name_end = host_back_over_blanks(text, open), name = name_end;
    while (name > 0 && host_is_word(text->text[name - 1])) name--;
    if (name == name_end) return false;
    *function = (HostFunction){.name = {name, name_end},
                               .parameters = {open + 1, before - 1},
                               .body = {brace + 1, host_skip_brackets(text, brace, text->length) - 1},
                               .head = find_head(text, name)};
    return !host_span_is(text, function->name, "if") && !host_span_is(text, function->name, "for") &&
           !host_span_is(text, function->name, "while") && !host_span_is(text, function->name, "switch");
}

static void find_functions(HostText *text) {
    for (size_t at = 0; at < text->length; at++) {
        HostFunction function;
        if (text->text[at] != '{' || !read_function(text, at, &function)) continue;
        array_push(text->functions, text->function_count, text->function_capacity, function);
        if (function.body.end > at) at = function.body.end;
    }
}

const HostFunction *host_text_function_at(const HostText *text, size_t at) {
    for (int i = 0; i < text->function_count; i++)
        if (text->functions[i].body.begin <= at && at <= text->functions[i].body.end)
            return &text->functions[i];
    return NULL;
}

const HostFunction *host_text_find_function(const HostText *text, HostSpan name) {
    for (int i = 0; i < text->function_count; i++)
        if (host_spans_equal(text, text->functions[i].name, name)) return &text->functions[i];
    return NULL;
}

/* ---- names ---------------------------------------------------------------------------------------------- */

size_t host_text_find(HostText *text, HostSpan name, size_t from, size_t end) {
    size_t length = name.end - name.begin;
    const char *word = text->text + name.begin;
    while (length && from + length <= end) {
        const char *found = memchr(text->text + from, *word, end - from);
        size_t at = found ? (size_t)(found - text->text) : end;
        uint64_t looked_at = at - from + 1;
        if (!found || text->budget < looked_at) return SIZE_MAX;
        text->budget -= looked_at;
        if (at + length <= end && !memcmp(found, word, length) && !host_is_word(text->text[at + length]) &&
            (at == 0 || !host_is_word(text->text[at - 1])))
            return at;
        from = at + 1;
    }
    return SIZE_MAX;
}

static char last_before(const HostText *text, size_t at) {
    at = host_back_over_blanks(text, at);
    return at ? text->text[at - 1] : 0;
}

/* Where an initial value ends: at ; or , or a bracket that it did not open. */
static size_t end_of_value(const HostText *text, size_t at) {
    while (at < text->length) {
        char c = text->text[at];
        if (c == '(' || c == '[' || c == '{') {
            at = host_skip_brackets(text, at, text->length);
            continue;
        }
        if (strchr(";,)]}", c)) break;
        at++;
    }
    return at;
}

static bool is_operator_word(const HostText *text, size_t end) {
    static const char *const words[] = {"return", "new", "else", "case", "delete", "throw", "sizeof"};
    size_t begin = end;
    while (begin > 0 && host_is_word(text->text[begin - 1])) begin--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (host_span_is(text, (HostSpan){begin, end}, words[i])) return true;
    return false;
}

/* The comma at `at` is one of `dim3 grid(8), block(256)`: two words begin its statement, and no bracket is open. */
static bool is_declaration(const HostText *text, size_t at) {
    int depth = 0;
    while (at > 0 && depth >= 0 && !strchr(";{}", text->text[at - 1])) {
        at--;
        depth += (text->text[at] == ')') - (text->text[at] == '(');
    }
    HostSpan type = host_word(text, host_skip_blanks(text, at, text->length)),
             name = host_word(text, host_skip_blanks(text, type.end, text->length));
    return depth == 0 && type.end > type.begin && name.end > name.begin && !is_operator_word(text, type.end);
}

/* Is the name at `at` defined there? */
static bool read_definition(const HostText *text, size_t at, size_t length, HostDefinition *definition) {
    size_t before = host_back_over_blanks(text, at),
           after = host_skip_blanks(text, at + length, text->length);
    char last = before ? text->text[before - 1] : 0, next = after < text->length ? text->text[after] : 0;
    if (last == '.' || (last == '>' && before > 1 && text->text[before - 2] == '-')) return false;
    if (next == '=' && text->text[after + 1] != '=') {
        if (last == '[' || last == '(') { /* for (i = 0 */
            size_t word = host_back_over_blanks(text, before - 1);
            if (last == '[' || word == 0 || !host_is_word(text->text[word - 1])) return false;
        }
        size_t end = end_of_value(text, after + 1);
        if (last == ';' && end < text->length && text->text[end] == ')')
            return false; /* for (..; ..; i = i / 2) */
        *definition = (HostDefinition){HOST_VALUE, at, {after + 1, end}, {0, 0}, false, NULL, 0};
        return true;
    }
    if (next == ':' && text->text[after + 1] != ':' && (host_is_word(last) || last == '&')) {
        size_t end = end_of_value(text, after + 1), open = before;
        while (open > 0 && !strchr("(;{}?", text->text[open - 1])) open--;
        if (!open || text->text[open - 1] != '(' || text->text[end] != ')') return false;
        *definition = (HostDefinition){.kind = HOST_RANGE, .at = at, .value = {after + 1, end}};
        return true;
    }
    bool after_type = (host_is_word(last) && !is_operator_word(text, before)) || last == '>' ||
                      (last == ',' && next != '{');
    after_type |= last == '*' && next == '[';
    if (!after_type || !next || !strchr("({[", next)) return false;
    size_t end = host_skip_brackets(text, after, text->length),
           next_place = host_skip_blanks(text, end, text->length);
    char beyond = text->text[next_place];
    if (beyond != ';' && beyond != ',' && beyond != '=' && beyond != '[') return false;
    if (next != '[' && end <= after + 1) return false;
    *definition = (HostDefinition){.kind = next == '[' ? HOST_ARRAY : HOST_VALUE,
                                   .at = at,
                                   .value = {after + 1, end - 1},
                                   .is_called = next != '['};
    if (next == '[' && beyond == '=')
        definition->parameters = (HostSpan){next_place + 1, end_of_value(text, next_place + 1)};
    return last != ',' || next == '[' || is_declaration(text, before - 1); /* f(a, b(c)) defines nothing */
}

/* The braces around it close before `end`: whether it was executed depends on a condition. */
static bool is_closed_before(HostText *text, size_t at, size_t end) {
    int depth = 0;
    if (text->budget < end - at) return false;
    text->budget -= end - at;
    for (; at < end && depth >= 0; at++) depth += (text->text[at] == '{') - (text->text[at] == '}');
    return depth < 0;
}

/* It only says that something comes later: 0, -1, nullptr. */
static bool is_placeholder(const HostText *text, HostSpan value) {
    static const char *const words[] = {"", "0", "-1", "0.0", "nullptr", "NULL"};
    value = host_trim(text, value);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (host_span_is(text, value, words[i])) return true;
    return false;
}

/* The last one before `end`, but for those under a condition, where another one gives a value. */
static bool last_definition(HostText *text, HostSpan name, size_t from, size_t end,
                            HostDefinition *definition) {
    bool found = false, is_certain = false;
    for (size_t at = from; (at = host_text_find(text, name, at, end)) != SIZE_MAX; at++) {
        HostDefinition next;
        if (!read_definition(text, at, name.end - name.begin, &next)) continue;
        bool is_conditional = is_certain && is_closed_before(text, at, end);
        if (is_conditional) continue;
        *definition = next;
        found = true;
        is_certain = next.kind == HOST_VALUE && !is_placeholder(text, next.value);
    }
    return found;
}

bool host_text_find_alternative(HostText *text, HostSpan name, const HostDefinition *first, size_t use,
                                HostDefinition *other) {
    if (first->kind != HOST_VALUE || !is_closed_before(text, first->at, use)) return false;
    for (size_t at = first->value.end; (at = host_text_find(text, name, at, use)) != SIZE_MAX; at++)
        if (read_definition(text, at, name.end - name.begin, other) && is_closed_before(text, at, use))
            return true;
    return false;
}

static bool find_in_list(HostText *text, HostSpan list, HostSpan name, int *index) {
    HostSpan item;
    for (*index = 0; host_list_item(text, list, *index, &item); ++*index) {
        size_t at = host_text_find(text, name, item.begin, item.end);
        if (at == SIZE_MAX) continue;
        size_t after = host_skip_blanks(text, at + (name.end - name.begin), item.end);
        if (after == item.end || text->text[after] == '=' || text->text[after] == '[') return true;
    }
    return false;
}

static bool find_macro(HostText *text, HostSpan name, HostDefinition *definition) {
    bool found = false;
    for (size_t at = 0; (at = host_text_find(text, name, at, text->length)) != SIZE_MAX; at++) {
        size_t word_end = host_back_over_blanks(text, at);
        if (word_end < 7 || memcmp(text->text + word_end - 6, "define", 6) != 0) continue;
        size_t end = at + (name.end - name.begin), stop = end;
        *definition = (HostDefinition){.kind = HOST_MACRO, .at = at};
        if (text->text[end] == '(') {
            size_t close = host_skip_brackets(text, end, text->length);
            definition->parameters = (HostSpan){end + 1, close - 1};
            definition->is_called = true;
            end = stop = close;
        }
        while (stop < text->length && text->text[stop] != '\n')
            stop += text->text[stop] == '\\' && text->text[stop + 1] == '\n' ? 2 : 1;
        definition->value = (HostSpan){end, stop};
        found = true;
    }
    return found;
}

/* Outside of every function. */
static bool find_global(HostText *text, HostSpan name, HostDefinition *definition) {
    size_t from = 0;
    bool found = false;
    for (int i = 0; i <= text->function_count && !found; i++) {
        size_t end = i < text->function_count ? text->functions[i].parameters.begin : text->length;
        found = from < end && last_definition(text, name, from, end, definition);
        if (i < text->function_count) from = text->functions[i].body.end;
    }
    return found;
}

HostDefinition host_text_define(HostText *text, HostSpan name, size_t at) {
    HostDefinition definition = {.kind = HOST_UNDEFINED};
    const HostFunction *function = host_text_function_at(text, at);
    int index;
    if (function && last_definition(text, name, function->body.begin, at, &definition)) return definition;
    if (function && find_in_list(text, function->parameters, name, &index))
        return (HostDefinition){
            .kind = HOST_PARAMETER, .at = function->parameters.begin, .function = function, .index = index};
    if (function && find_in_list(text, function->head, name, &index))
        return (HostDefinition){
            .kind = HOST_TEMPLATE, .at = function->head.begin, .function = function, .index = index};
    if (find_macro(text, name, &definition) || find_global(text, name, &definition)) return definition;
    definition.kind = HOST_UNDEFINED;
    return definition;
}

bool host_text_find_call(HostText *text, const HostFunction *function, HostSpan *arguments, HostSpan *angles,
                         size_t *at) {
    for (size_t i = 0; (i = host_text_find(text, function->name, i, text->length)) != SIZE_MAX; i++) {
        const HostFunction *around = host_text_function_at(text, i);
        size_t after = host_skip_blanks(text, i + (function->name.end - function->name.begin), text->length);
        *angles = (HostSpan){0, 0};
        if (!around || around == function) continue;
        if (text->text[after] == '<' && text->text[after + 1] != '<') {
            size_t end = host_skip_angles(text, after, text->length);
            if (end == after) continue;
            *angles = (HostSpan){after + 1, end - 1};
            after = host_skip_blanks(text, end, text->length);
        }
        if (text->text[after] != '(' || last_before(text, i) == '.') continue;
        *arguments = (HostSpan){after + 1, host_skip_brackets(text, after, text->length) - 1};
        *at = i;
        return true;
    }
    return false;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

void host_text_read(HostText *text, const char *file) {
    enum { LOOKS = 1 << 28 };
    *text = (HostText){.text = memory_new(strlen(file) + 2), .length = strlen(file), .budget = LOOKS};
    memcpy(text->text, file, text->length);
    blank_comments(text->text);
    blank_disabled(text->text);
    join_chevrons(text->text);
    find_functions(text);
}

void host_text_done(HostText *text) {
    free(text->text);
    free(text->functions);
    *text = (HostText){0};
}
